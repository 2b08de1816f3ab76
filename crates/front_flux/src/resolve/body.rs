//! Bodies: names become variables, and every path to the end must give all outputs. [`super::expression`] resolves
//! values.
//!
//! A name that is both an input and an output, of the same type, is a variable that begins as the input: if nothing
//! gives it another value, the output is the input.

use super::Resolver;
use crate::body::{self, Body, Spelled, Value, assigned};
use crate::ids;
use crate::syntax::{Name, QualifiedName};
use flux_diagnostic::{Diagnostic, nearest};
use flux_ir::compute::{Computation, Expression, Statement, Term, Typing, Variable, VariableId, always_fails};
use flux_ir::program::Parameter;
use flux_ir::types::{Type, TypeKind};
use flux_source::{Span, deep};
use std::collections::{HashMap, HashSet};

/// A mistake was reported, or comes of one that was.
pub(super) struct Reported;

/// The body that is being resolved.
pub(super) struct BodyResolver<'resolver, 'syntax, 'run, 'scope> {
    pub(super) resolver: &'resolver mut Resolver<'syntax, 'run, 'scope>,
    /// The module of the node, whose names may stand alone.
    pub(super) module: Option<&'syntax str>,
    pub(super) computation: Computation,
    /// The names that can be seen, the innermost last; none of a variable whose value was wrong.
    pub(super) scopes: Vec<HashMap<String, Option<VariableId>>>,
    /// The variables that have a value here.
    pub(super) given: HashSet<VariableId>,
    /// The variables that `let` made, and the outputs.
    pub(super) assignable: HashSet<VariableId>,
    /// The names that are input and output, and still mean the input.
    both: HashMap<String, (VariableId, VariableId)>,
}

impl<'syntax> Resolver<'syntax, '_, '_> {
    /// The computation that a body is; none where it has a mistake, which is reported.
    pub(super) fn body(
        &mut self,
        name: &'syntax QualifiedName<'syntax>,
        (inputs, outputs): (&[Parameter], &[Parameter]),
        body: &'syntax Body<'syntax>,
    ) -> Option<Computation> {
        let (module, _) = name.parts();
        let variable = |one: &Parameter| Variable { name: one.name.clone(), ty: one.ty.clone() };
        let variables = inputs.iter().chain(outputs).map(variable).collect();
        let mut resolver = BodyResolver {
            resolver: self,
            module,
            computation: Computation { variables, ..Computation::default() },
            scopes: vec![HashMap::new()],
            given: (0..inputs.len()).map(VariableId::new).collect(),
            assignable: HashSet::new(),
            both: HashMap::new(),
        };
        resolver.begin(inputs, outputs);
        let (mut block, result) = resolver.top(&body.block);
        let mut is_right = result.is_ok();
        let ends = !always_fails(&block);
        let says = body.says.as_ref().map(|value| resolver.wanted(value, &Type::of_kind(TypeKind::Bool)));
        let says = match says {
            None => None,
            Some(Ok(says)) => Some(says),
            Some(Err(Reported)) => {
                is_right = false;
                None
            }
        };
        resolver.pass_on(&mut block, body.span);
        if is_right && ends {
            is_right = resolver.check_given(inputs.len(), outputs, body.span);
        }
        let computation = Computation { block, says, ..resolver.computation };
        is_right.then_some(computation)
    }
}

impl<'syntax> Resolver<'syntax, '_, '_> {
    /// An expression whose variables have these names and types, in this order; none where it has a mistake, which is
    /// reported.
    pub(super) fn expression_of(
        &mut self,
        variables: &[(String, Type)],
        value: &'syntax Value<'syntax>,
    ) -> Option<Expression> {
        let ids = || (0..variables.len()).map(VariableId::new);
        let named = variables.iter().zip(ids()).map(|((name, _), id)| (name.clone(), Some(id))).collect();
        let given = ids().collect();
        let variables = variables.iter().map(|(name, ty)| Variable { name: name.clone(), ty: ty.clone() }).collect();
        let mut resolver = BodyResolver {
            resolver: self,
            module: None,
            given,
            computation: Computation { variables, ..Computation::default() },
            scopes: vec![named],
            assignable: HashSet::new(),
            both: HashMap::new(),
        };
        resolver.value(value).ok()
    }
}

impl<'syntax> BodyResolver<'_, 'syntax, '_, '_> {
    /// Names the inputs and the outputs.
    fn begin(&mut self, inputs: &[Parameter], outputs: &[Parameter]) {
        let mut names: HashMap<String, Option<VariableId>> = HashMap::new();
        for (index, output) in outputs.iter().enumerate() {
            let id = VariableId::new(inputs.len() + index);
            names.insert(output.name.clone(), Some(id));
            self.assignable.insert(id);
        }
        for (index, input) in inputs.iter().enumerate() {
            let id = VariableId::new(index);
            let output = names.insert(input.name.clone(), Some(id)).flatten();
            if let Some(output) = output {
                self.both.insert(input.name.clone(), (id, output));
            }
        }
        self.scopes = vec![names];
    }

    pub(super) fn report(&mut self, diagnostic: Diagnostic) -> Reported {
        self.resolver.report(diagnostic);
        Reported
    }

    /// The rules of types.
    pub(super) fn typing(&self) -> Typing<'_> {
        let program = &self.resolver.scope.program;
        Typing { types: &program.types, messages: &program.messages }
    }

    /// The statements of the body itself.
    fn top(&mut self, statements: &'syntax [body::Statement<'syntax>]) -> (Vec<Statement>, Result<(), Reported>) {
        let (mut block, mut result) = (vec![], Ok(()));
        for statement in statements {
            self.begin_outputs(statement, &mut block);
            match self.statement(statement) {
                Ok(statement) => block.push(statement),
                Err(reported) => result = Err(reported),
            }
        }
        (block, result)
    }

    /// An output that is an input, too, and is given another value in a block inside `statement`, begins before that.
    fn begin_outputs(&mut self, statement: &'syntax body::Statement<'syntax>, block: &mut Vec<Statement>) {
        if matches!(statement, body::Statement::Assign(..)) {
            return;
        }
        let mut names = vec![];
        assigned(std::slice::from_ref(statement), &mut names);
        for name in names {
            if let Some((input, output)) = self.both.remove(name) {
                block.extend(self.copy(input, output, Span::default()));
                self.mean(name, output);
            }
        }
    }

    /// From here on `name` means the output that it is.
    fn mean(&mut self, name: &str, output: VariableId) {
        if let Some(outermost) = self.scopes.first_mut() {
            outermost.insert(name.to_owned(), Some(output));
        }
    }

    /// `output = input;`, where both are of one type.
    fn copy(&mut self, input: VariableId, output: VariableId, span: Span) -> Option<Statement> {
        let (from, to) = (self.computation.variable(input)?, self.computation.variable(output)?);
        if from.ty != to.ty {
            return None;
        }
        self.given.insert(output);
        let value = Expression { term: Term::Variable(input), ty: from.ty.clone(), span };
        Some(Statement::Set { variable: output, is_new: false, value })
    }

    /// The outputs that nothing gives a value are the inputs of their names.
    fn pass_on(&mut self, block: &mut Vec<Statement>, span: Span) {
        let mut both: Vec<_> = std::mem::take(&mut self.both).into_values().collect();
        both.sort();
        for (input, output) in both {
            block.extend(self.copy(input, output, span));
        }
    }

    /// Whether all outputs have values; the first that has none is reported.
    fn check_given(&mut self, inputs: usize, outputs: &[Parameter], body: Span) -> bool {
        let missing = outputs.iter().enumerate().find(|(at, _)| !self.given.contains(&VariableId::new(inputs + at)));
        let Some((_, output)) = missing else { return true };
        let headline = format!("the output `{}` has no value on some path", output.name);
        let end = Span { start: body.end.saturating_sub(1), ..body };
        let error = Diagnostic::error(ids::UNSET_VALUE, headline, end).label("the body ends here");
        let help = format!("assign it on every path, `{} = …;`, or fail", output.name);
        self.report(error.mark(output.span, "the output").help(help));
        false
    }

    /// The statements of a block in braces; what `let` names in it ends with it.
    pub(super) fn block(
        &mut self,
        statements: &'syntax [body::Statement<'syntax>],
    ) -> Result<Vec<Statement>, Reported> {
        self.scopes.push(HashMap::new());
        let (mut block, mut result) = (vec![], Ok(()));
        for statement in statements {
            match self.statement(statement) {
                Ok(statement) => block.push(statement),
                Err(reported) => result = Err(reported),
            }
        }
        self.scopes.pop();
        result.map(|()| block)
    }

    /// One statement. The recursion is as deep as blocks are in each other, which the parser bounds.
    fn statement(&mut self, statement: &'syntax body::Statement<'syntax>) -> Result<Statement, Reported> {
        deep(|| match statement {
            body::Statement::Let(name, ty, value) => self.let_value(name, ty.as_ref(), value),
            body::Statement::LetAll(names, value) => self.let_all(names, value),
            body::Statement::Put(name, key, value) => self.put(name, key, value),
            body::Statement::Assign(name, value) => self.assign(name, value),
            body::Statement::If(condition, then, otherwise) => {
                let condition = self.wanted(condition, &Type::of_kind(TypeKind::Bool));
                let before = self.given.clone();
                let then = self.block(then);
                let after_then = std::mem::replace(&mut self.given, before);
                let otherwise = self.block(otherwise);
                let (condition, then, otherwise) = (condition?, then?, otherwise?);
                match (always_fails(&then), always_fails(&otherwise)) {
                    (true, _) => {}
                    (false, true) => self.given = after_then,
                    (false, false) => self.given.retain(|variable| after_then.contains(variable)),
                }
                Ok(Statement::If(condition, then, otherwise))
            }
            body::Statement::For(names, over, block) => self.for_each(names, over, block),
            body::Statement::Fail(code, span) => self.fail_code(code, *span).map(Statement::Fail),
        })
    }

    fn let_value(
        &mut self,
        name: &'syntax Name<'syntax>,
        ty: Option<&'syntax Spelled>,
        value: &'syntax Value<'syntax>,
    ) -> Result<Statement, Reported> {
        self.resolver.check_word(&name.text, name.span, "variable");
        let (ty, value) = (ty.map(|ty| self.spelled(ty)).transpose(), self.value(value));
        let value = match (ty, value) {
            (Ok(Some(ty)), Ok(value)) => self.typed(self.typing().coerce(value, &ty)),
            (Ok(None), Ok(value)) => self.typed(self.typing().settle(value)),
            _ => Err(Reported),
        };
        let variable = value.as_ref().ok().map(|value| self.new_variable(name, &value.ty));
        if let Some(variable) = variable {
            self.assignable.insert(variable);
        }
        self.name_it(name, variable);
        match (value, variable) {
            (Ok(value), Some(variable)) => Ok(Statement::Set { variable, is_new: true, value }),
            _ => Err(Reported),
        }
    }

    /// The type that is spelled so, whose values a body knows.
    fn spelled(&mut self, Spelled { ty, span }: &'syntax Spelled) -> Result<Type, Reported> {
        let read = self.resolver.scope.type_names().read(ty, "");
        if read.is_value() {
            return Ok(read);
        }
        let error = Diagnostic::error(ids::EXPRESSION_TYPE, format!("`{ty}` is no type of the language"), *span);
        let help = match self.resolver.meant_type(&read) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => "a variable is of a type of the language: `uint32`, `text`, a record, `list<text>`".to_owned(),
        };
        Err(self.report(error.help(help)))
    }

    pub(super) fn new_variable(&mut self, name: &Name, ty: &Type) -> VariableId {
        let variable = VariableId::new(self.computation.variables.len());
        self.computation.variables.push(Variable { name: name.text.to_string(), ty: ty.clone() });
        self.given.insert(variable);
        variable
    }

    pub(super) fn name_it(&mut self, name: &Name, variable: Option<VariableId>) {
        // A name that is given again means the new one, an output too.
        self.both.retain(|both, _| self.scopes.len() > 1 || *both != name.text);
        if let Some(innermost) = self.scopes.last_mut() {
            innermost.insert(name.text.to_string(), variable);
        }
    }

    /// `x = e;` of an output, or of what `let` has made.
    fn assign(&mut self, name: &'syntax Name<'syntax>, value: &'syntax Value<'syntax>) -> Result<Statement, Reported> {
        let variable = match self.assignable(name) {
            Ok(variable) => variable,
            Err(reported) => {
                // The value may be wrong, too.
                let _ = self.value(value);
                return Err(reported);
            }
        };
        let ty = self.computation.variable(variable).map(|variable| variable.ty.clone());
        let value = self.wanted(value, &ty.unwrap_or_else(|| Type::new("bool")));
        // Also where it is wrong: nothing more is to be said of the variable.
        self.given.insert(variable);
        if self.both.remove(name.as_str()).is_some() {
            self.mean(&name.text, variable);
        }
        Ok(Statement::Set { variable, is_new: false, value: value? })
    }

    /// `x[k] = e;` of such a variable.
    fn put(
        &mut self,
        name: &'syntax Name<'syntax>,
        key: &'syntax Value<'syntax>,
        value: &'syntax Value<'syntax>,
    ) -> Result<Statement, Reported> {
        let variable = self.assignable(name);
        let (key, value) = (self.value(key), self.value(value));
        let variable = variable?;
        let Some(ty) = self.computation.variable(variable).map(|variable| variable.ty.clone()) else {
            return Err(Reported);
        };
        if !self.given.contains(&variable) {
            let headline = format!("`{}` has no value here", name.text);
            let error = Diagnostic::error(ids::UNSET_VALUE, headline, name.span);
            return Err(self.report(error.help(format!("begin with one: `{} = [];`", name.text))));
        }
        let put = self.typing().put((&ty, name.span), key?, value?);
        let (key, value) = put.map_err(|mistake| self.report_mistake(ids::EXPRESSION_TYPE, *mistake))?;
        Ok(Statement::Put { variable, key, value })
    }

    /// The variable called so that can be given a value: an output, or what `let` has made.
    fn assignable(&mut self, name: &'syntax Name<'syntax>) -> Result<VariableId, Reported> {
        let found = match self.both.get(name.as_str()) {
            Some((_, output)) => Some(Some(*output)),
            None => self.find(name.as_str()),
        };
        let Some(found) = found else { return Err(self.report_unassignable(name)) };
        let Some(variable) = found else { return Err(Reported) };
        if !self.assignable.contains(&variable) {
            let headline = format!("`{}` cannot be assigned", name.text);
            let error = Diagnostic::error(ids::ASSIGNED_VALUE, headline, name.span);
            let help = format!("declare a new variable: `let new_{} = …;`", name.text);
            return Err(self.report(error.help(help)));
        }
        Ok(variable)
    }

    fn report_unassignable(&mut self, name: &'syntax Name<'syntax>) -> Reported {
        let headline = format!("there is no output or variable `{}`", name.text);
        let error = Diagnostic::error(ids::ASSIGNED_VALUE, headline, name.span);
        let may_suggest = self.resolver.may_suggest(&name.text);
        let known = self.scopes.iter().flatten().filter(|(_, id)| id.is_some_and(|id| self.assignable.contains(&id)));
        let mut names: Vec<&str> = known.map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        let meant = if may_suggest { nearest(&name.text, names) } else { None };
        let help = match meant {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("declare a variable: `let {} = …;`", name.text),
        };
        self.report(error.help(help))
    }

    /// The variable that a name means here; inside, none where its value was wrong.
    pub(super) fn find(&self, name: &str) -> Option<Option<VariableId>> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name)).copied()
    }
}
