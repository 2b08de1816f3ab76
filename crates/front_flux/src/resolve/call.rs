//! Calls in bodies: of nodes and predicates that the program computes, and of functions in C++ that are pure.

use super::body::{BodyResolver, Reported};
use crate::body::{Argument, Form, Value};
use crate::ids;
use crate::syntax::{Name, QualifiedName};
use flux_diagnostic::Diagnostic;
use flux_ir::compute::{Callable, Expression, Statement};
use flux_ir::program::{NodeId, Parameter};
use flux_ir::types::{Type, TypeKind};
use flux_source::Span;

/// What is called: what it takes, and the types of what it gives.
struct Called {
    callee: Callable,
    inputs: Vec<Parameter>,
    outputs: Vec<Type>,
}

impl<'syntax> BodyResolver<'_, 'syntax, '_, '_> {
    /// The node or the predicate that is called `name` here.
    pub(super) fn callable(&self, name: &QualifiedName<'_>) -> Option<Callable> {
        let homes = self.homes(name);
        let node = homes.iter().find_map(|(module, own)| self.resolver.scope.node(*module, own));
        let predicate = || homes.iter().find_map(|(module, own)| self.resolver.scope.predicate(*module, own));
        node.map(Callable::Node).or_else(|| predicate().map(Callable::Predicate))
    }

    /// A call with one value.
    pub(super) fn apply(
        &mut self,
        callee: Callable,
        name: &'syntax QualifiedName<'syntax>,
        arguments: &'syntax [Argument<'syntax>],
        span: Span,
    ) -> Result<Expression, Reported> {
        let (called, arguments) = self.called(callee, name, arguments, span)?;
        match called.outputs.as_slice() {
            [ty] => Ok(self.typing().apply(called.callee, arguments, ty, span)),
            outputs => {
                let headline = format!("`{name}` gives {} values, and one is wanted here", outputs.len());
                let names: Vec<_> = (1..=outputs.len()).map(|number| format!("x{number}")).collect();
                let help = format!("name them all: `let ({}) = {}(…);`", names.join(", "), name);
                Err(self.report(Diagnostic::error(ids::EXPRESSION_TYPE, headline, span).help(help)))
            }
        }
    }

    /// `let (x, y) = Node(…);`
    pub(super) fn let_all(
        &mut self,
        names: &'syntax [Name<'syntax>],
        value: &'syntax Value<'syntax>,
    ) -> Result<Statement, Reported> {
        for name in names {
            self.resolver.check_word(&name.text, name.span, "variable");
        }
        let statement = self.taken(names.len(), value);
        let types = statement.as_ref().map_or(&[][..], |(_, _, types)| types);
        let variables: Vec<_> = names.iter().zip(types).map(|(name, ty)| self.new_variable(name, ty)).collect();
        for (at, name) in names.iter().enumerate() {
            self.name_it(name, variables.get(at).copied());
        }
        self.assignable.extend(&variables);
        let (node, arguments, _) = statement?;
        Ok(Statement::Take { variables, node, arguments, span: value.span })
    }

    /// The node that is called for `wanted` values, what it is given, and their types.
    fn taken(
        &mut self,
        wanted: usize,
        value: &'syntax Value<'syntax>,
    ) -> Result<(NodeId, Vec<Expression>, Vec<Type>), Reported> {
        let node = match &value.form {
            Form::Call(callee, arguments) => match &callee.form {
                Form::Name(name) => self.callable(name).map(|callee| (callee, name, arguments)),
                _ => None,
            },
            _ => None,
        };
        let Some((Callable::Node(node), name, arguments)) = node else {
            let headline = "only the call of a node gives several values";
            let error = Diagnostic::error(ids::EXPRESSION_TYPE, headline, value.span);
            // It may be wrong by itself.
            self.value(value)?;
            return Err(self.report(error.help("name one value: `let x = …;`")));
        };
        let (called, arguments) = self.called(Callable::Node(node), name, arguments, value.span)?;
        if called.outputs.len() != wanted {
            let count = called.outputs.len();
            let headline = format!("`{}` gives {count} values, and {wanted} are named", name);
            let error = Diagnostic::error(ids::EXPRESSION_TYPE, headline, value.span);
            return Err(self.report(error.help("every value that a node gives has a name")));
        }
        Ok((node, arguments, called.outputs))
    }

    /// What is called, if a body can, with values of the types that it takes.
    fn called(
        &mut self,
        callee: Callable,
        name: &'syntax QualifiedName<'syntax>,
        arguments: &'syntax [Argument<'syntax>],
        span: Span,
    ) -> Result<(Called, Vec<Expression>), Reported> {
        let values: Vec<_> = arguments.iter().map(|argument| self.value(&argument.value)).collect();
        let values = values.into_iter().collect::<Result<Vec<_>, _>>();
        if let Some(field) = arguments.iter().find_map(|argument| argument.field.as_ref()) {
            return Err(self.report_named_value(name, field));
        }
        let called = self.signature(callee, name)?;
        let arguments = self.typing().arguments(&name.to_string(), &called.inputs, values?, span);
        let arguments = arguments.map_err(|mistake| self.report_mistake(ids::EXPRESSION_TYPE, *mistake))?;
        Ok((called, arguments))
    }

    fn signature(&mut self, callee: Callable, name: &'syntax QualifiedName<'syntax>) -> Result<Called, Reported> {
        let program = &self.resolver.scope.program;
        let called = match callee {
            Callable::Node(id) => {
                let node = &program.nodes[id];
                let outputs = node.outputs().iter().map(|output| output.ty.clone()).collect();
                let called = Called { callee, inputs: node.inputs().to_vec(), outputs };
                self.resolver.scope.can_be_called(id).then_some(called)
            }
            Callable::Predicate(predicate) => program.predicates[predicate].computed().map(|computed| {
                let outputs = vec![Type::of_kind(TypeKind::Bool)];
                Called { callee, inputs: vec![computed.input.clone()], outputs }
            }),
        };
        let Some(called) = called else {
            let headline = format!("a body cannot call `{name}`, which may have effects");
            let error = Diagnostic::error(ids::UNKNOWN_FUNCTION, headline, name.span);
            let help = match callee {
                Callable::Node(_) => {
                    "give it a body, declare it `pure` if it is, or put it before this node in the flow"
                }
                Callable::Predicate(_) => "give it a body",
            };
            return Err(self.report(error.help(help)));
        };
        let foreign = called.inputs.iter().map(|input| &input.ty).chain(&called.outputs).find(|ty| !ty.is_value());
        if called.outputs.is_empty() || foreign.is_some() {
            let headline = match foreign {
                Some(ty) => format!("a body cannot call `{}`, which has a value of the C++ type `{ty}`", name),
                None => format!("`{}` gives nothing, so there is nothing to call it for", name),
            };
            let error = Diagnostic::error(ids::EXPRESSION_TYPE, headline, name.span);
            return Err(self.report(error.help("bodies call nodes that take and give values of the language")));
        }
        Ok(called)
    }
}
