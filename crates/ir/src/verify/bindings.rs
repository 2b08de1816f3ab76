//! What must hold of the values that a program's inputs and outputs name: each is there, and of the type that is taken.
//!
//! A value is there from the step that makes it to the end of its chain, in the branches of a parallel step only where
//! they get a copy. So no step can name one that a later step makes, or another chain. Who takes a pointer may end what
//! it points to: if it does not give it back, the pointer is there no more. Nor is a value that can only be moved.

use super::Violations;
use crate::name::Name;
use crate::program::{
    Action, Argument, Chain, Handler, HandlerTarget, Node, NodeId, Origin, Parallel, Parameter, Program, Replacement,
};
use crate::types::Type;
use flux_source::Span;
use std::collections::HashMap;

/// The values that are there, with their types.
type Values<'a> = HashMap<Argument, &'a Type>;

/// What must hold of every list of arguments, in a program whose signatures are known. O(size of the program).
pub(super) fn check(program: &Program, violations: &mut Violations) {
    let mut checker = Checker { program, violations, kept: HashMap::new() };
    for (_, node) in program.nodes.iter() {
        for chain in node.chains() {
            let mut values = inputs(node.inputs());
            checker.steps(chain, &mut values);
            checker.takes(chain.results.as_deref(), types(node.outputs()), &values, chain.span, &node.name);
        }
    }
    for source in &program.sources {
        let given = match &source.origin {
            Origin::Node(application) => program.nodes[application.node].outputs(),
            Origin::Timer(_) => &[],
        };
        let target = &program.nodes[source.target];
        checker.takes(source.arguments.as_deref(), types(target.inputs()), &inputs(given), source.span, &target.name);
        checker.keeps(source.target, vec![], source.span);
    }
    checker.kept_by_handlers();
    program.handlers.iter().for_each(|handler| checker.handler(handler));
}

fn types(parameters: &[Parameter]) -> impl ExactSizeIterator<Item = &Type> {
    parameters.iter().map(|parameter| &parameter.ty)
}

fn inputs(parameters: &[Parameter]) -> Values<'_> {
    types(parameters).enumerate().map(|(index, ty)| (Argument::Input(index), ty)).collect()
}

/// Whether `node` may be the last to have what it takes as `input`.
fn takes_away(node: &Node, input: &Parameter) -> bool {
    let gives_back = || node.outputs().iter().any(|output| output.is_like(input));
    input.ty.is_move_only() || input.ty.is_pointer() && !input.ty.is_pointer_to_const() && !gives_back()
}

struct Checker<'a, 'b> {
    program: &'a Program,
    violations: &'b mut Violations,
    /// What is kept for the handlers of each node's failure, wherever it is applied.
    kept: HashMap<NodeId, Vec<Type>>,
}

impl<'a> Checker<'a, '_> {
    /// Goes along a chain; adds what its steps make to `values`.
    fn steps(&mut self, chain: &'a Chain, values: &mut Values<'a>) {
        for step in &chain.steps {
            let made: Vec<&'a Type> = match &step.action {
                Action::Apply(application) => {
                    let node: &Node = &self.program.nodes[application.node];
                    let open = node.inputs().get(application.constants.len()..).unwrap_or_default();
                    self.takes(application.arguments.as_deref(), types(open), values, application.span, &node.name);
                    let kept = self.named(Some(&application.kept), values, application.span, "a handler");
                    let kept = kept.into_iter().flatten().cloned().collect();
                    self.keeps(application.node, kept, application.span);
                    let taken = application.arguments.iter().flatten().zip(open);
                    for (argument, _) in taken.filter(|(_, input)| takes_away(node, input)) {
                        values.remove(argument);
                    }
                    types(node.outputs()).collect()
                }
                Action::Parallel(parallel) => self.branches(parallel, values),
            };
            values.extend(made.into_iter().enumerate().map(|(index, ty)| (Argument::Output(step.number, index), ty)));
        }
    }

    /// What the branches of a parallel step give, given copies of some of `values`.
    fn branches(&mut self, parallel: &'a Parallel, values: &mut Values<'a>) -> Vec<&'a Type> {
        let copied = self.named(parallel.arguments.as_deref(), values, parallel.span, "a parallel step");
        let copied: Values<'a> =
            copied.into_iter().flat_map(|types| parallel.arguments.iter().flatten().copied().zip(types)).collect();
        let mut made = vec![];
        for branch in &parallel.branches {
            let mut inside = copied.clone();
            self.steps(branch, &mut inside);
            made.extend(self.named(branch.results.as_deref(), &inside, branch.span, "a branch").into_iter().flatten());
            values.retain(|argument, _| inside.contains_key(argument) || !copied.contains_key(argument));
        }
        made
    }

    /// Notes what an application of `node` keeps: every one keeps the same.
    fn keeps(&mut self, node: NodeId, kept: Vec<Type>, span: Span) {
        let known = self.kept.entry(node).or_insert_with(|| kept.clone());
        let (is_same, name) = (*known == kept, &self.program.nodes[node].name);
        self.violations.require(is_same, span, || format!("applications of `{name}` keep different values"));
    }

    /// Notes what handlers keep for their own handlers, those of a node after all by whom it is applied.
    fn kept_by_handlers(&mut self) {
        let mut open: Vec<(NodeId, &Handler, &Replacement)> = vec![];
        for handler in &self.program.handlers {
            if let HandlerTarget::Node(target) = handler.target {
                open.extend(handler.replacements.iter().map(|one| (target, handler, one)));
            }
        }
        let is_applied = |open: &[(NodeId, &Handler, &Replacement)], node| open.iter().any(|one| one.0 == node);
        while let Some(at) = open.iter().position(|(.., one)| !is_applied(&open, one.failing)) {
            let (target, handler, replacement) = open.swap_remove(at);
            let values = self.for_handlers(replacement.failing);
            let kept: Option<Vec<_>> = replacement.kept.iter().map(|one| values.get(one).cloned()).collect();
            match kept {
                Some(kept) => self.keeps(target, kept, handler.span),
                None => self.violations.add(handler.span, "a handler keeps a value that is not there".to_owned()),
            }
        }
    }

    /// The values that handlers of a failing node can take.
    fn for_handlers(&self, failing: NodeId) -> HashMap<Argument, Type> {
        let mut values = HashMap::from([(Argument::Error, Type::error_code())]);
        let inputs = self.program.nodes.find(failing).map_or(&[][..], Node::inputs);
        values.extend(types(inputs).cloned().enumerate().map(|(index, ty)| (Argument::Input(index), ty)));
        let kept = self.kept.get(&failing).into_iter().flatten().cloned().enumerate();
        values.extend(kept.map(|(index, ty)| (Argument::Kept(index), ty)));
        values
    }

    /// A handler that is a node takes what the failing one took, and gives what that would have given.
    fn handler(&mut self, handler: &Handler) {
        let HandlerTarget::Node(target) = handler.target else {
            return self.violations.require(handler.replacements.is_empty(), handler.span, || {
                "a handler that is a function takes values like a node".to_owned()
            });
        };
        let replaces = |node: &NodeId| handler.replacements.iter().any(|one| one.failing == *node);
        let known = handler.path.last().copied().flatten().is_none_or(|failing| replaces(&failing));
        let name = &self.program.nodes[target].name;
        self.violations
            .require(known, handler.span, || format!("nothing says what the handler `{name}` takes of what failed"));
        for replacement in &handler.replacements {
            self.replacement(handler, target, replacement);
        }
    }

    fn replacement(&mut self, handler: &Handler, target: NodeId, replacement: &Replacement) {
        let Some(failing) = self.program.nodes.find(replacement.failing) else {
            return self.violations.add(handler.span, format!("there is no node {:?}", replacement.failing));
        };
        let target = &self.program.nodes[target];
        let values = self.for_handlers(replacement.failing);
        let values = values.iter().map(|(argument, ty)| (*argument, ty)).collect();
        self.takes(Some(&replacement.arguments), types(target.inputs()), &values, handler.span, &target.name);
        if let Some(resume) = &replacement.resume {
            let given = resume.iter().map(|index| target.outputs().get(*index).map(|output| &output.ty));
            let fits = given.eq(types(failing.outputs()).map(Some));
            self.violations.require(fits, handler.span, || {
                format!("the handler `{}` does not give what `{}` gives", target.name, failing.name)
            });
        }
    }

    /// Requires that `arguments` are one for each of `wanted`, the inputs or outputs of `name`, and of its type.
    fn takes<'w>(
        &mut self,
        arguments: Option<&[Argument]>,
        wanted: impl ExactSizeIterator<Item = &'w Type>,
        values: &Values<'_>,
        span: Span,
        name: &Name,
    ) {
        let Some(types) = self.named(arguments, values, span, &format!("`{name}`")) else { return };
        let (named, count) = (types.len(), wanted.len());
        if named != count {
            return self.violations.add(span, format!("`{name}` has {count} values and names {named}"));
        }
        let differs = types.into_iter().zip(wanted).position(|(one, other)| one != other);
        self.violations.require(differs.is_none(), span, || {
            format!("`{name}` names a value of another type as number {}", differs.unwrap_or_default() + 1)
        });
    }

    /// The types of `arguments`, where all of them are among `values`.
    fn named<'v>(
        &mut self,
        arguments: Option<&[Argument]>,
        values: &Values<'v>,
        span: Span,
        what: &str,
    ) -> Option<Vec<&'v Type>> {
        let Some(arguments) = arguments else {
            self.violations.add(span, format!("{what} does not say which values it has"));
            return None;
        };
        let types: Option<Vec<_>> = arguments.iter().map(|argument| values.get(argument).copied()).collect();
        self.violations.require(types.is_some(), span, || format!("{what} names a value that is not there"));
        types
    }
}
