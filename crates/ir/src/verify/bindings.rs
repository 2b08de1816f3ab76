//! Checks the values that a program's inputs and outputs name: each value is available and has the required type.
//!
//! A value is available from the step that makes it to the end of the step's chain. The branches of a parallel step and
//! the instances of an each step have an outer value only if they get a copy of it. Therefore no step can name a value
//! of a later step or of another chain.
//!
//! A node that takes a pointer may end the life of the object behind it. If the node does not give the pointer back,
//! the pointer is no longer available. A move-only value is unavailable after a node has taken it.

use super::Violations;
use crate::error_code::ErrorPart;
use crate::name::Name;
use crate::program::{
    Action, Argument, Chain, Each, EachValues, Handler, Node, NodeId, Origin, Parallel, Parameter, Program,
    Replacement, StepNumber,
};
use crate::types::Type;
use flux_source::Span;
use std::collections::HashMap;

/// The available values, with their types.
type Values = HashMap<Argument, Type>;

/// Checks every list of arguments in a program whose signatures are known. O(size of the program).
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
        if let Origin::Node(application) = &source.origin {
            let node = &program.nodes[application.node];
            let open = node.inputs().get(application.constants.len()..).unwrap_or_default();
            let arguments = Some(application.arguments.as_deref().unwrap_or_default());
            checker.takes(arguments, types(open), &Values::new(), application.span, &node.name);
        }
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

fn inputs(parameters: &[Parameter]) -> Values {
    types(parameters).cloned().enumerate().map(|(index, ty)| (Argument::Input(index), ty)).collect()
}

/// True if the value that `node` takes as `input` may be unavailable after the call.
fn takes_away(node: &Node, input: &Parameter) -> bool {
    let gives_back = || node.outputs().iter().any(|output| output.is_like(input));
    input.ty.is_move_only() || input.ty.is_pointer() && !input.ty.is_pointer_to_const() && !gives_back()
}

struct Checker<'a, 'b> {
    program: &'a Program,
    violations: &'b mut Violations,
    /// The types of the values that every application of a node keeps for the handlers of its failure.
    kept: HashMap<NodeId, Vec<Type>>,
}

impl<'a> Checker<'a, '_> {
    /// Checks the steps of a chain in order, and adds the values that they make to `values`.
    fn steps(&mut self, chain: &'a Chain, values: &mut Values) {
        for step in &chain.steps {
            let made: Vec<Type> = match &step.action {
                Action::Apply(application) => {
                    let node: &Node = &self.program.nodes[application.node];
                    let open = node.inputs().get(application.constants.len()..).unwrap_or_default();
                    self.takes(application.arguments.as_deref(), types(open), values, application.span, &node.name);
                    let kept = self.named(Some(&application.kept), values, application.span, "a handler");
                    let kept = kept.into_iter().flatten().collect();
                    self.keeps(application.node, kept, application.span);
                    let taken = application.arguments.iter().flatten().zip(open);
                    for (argument, _) in taken.filter(|(_, input)| takes_away(node, input)) {
                        values.remove(argument);
                    }
                    types(node.outputs()).cloned().collect()
                }
                Action::Parallel(parallel) => self.branches(parallel, values),
                Action::Each(each) => self.each(each, step.number, values),
            };
            values.extend(made.into_iter().enumerate().map(|(index, ty)| (Argument::Output(step.number, index), ty)));
        }
    }

    /// Checks the branches of a parallel step, which get copies of some of `values`. Returns the types of the results.
    fn branches(&mut self, parallel: &'a Parallel, values: &mut Values) -> Vec<Type> {
        let copied = self.named(parallel.arguments.as_deref(), values, parallel.span, "a parallel step");
        let copied: Values =
            copied.into_iter().flat_map(|types| parallel.arguments.iter().flatten().cloned().zip(types)).collect();
        let mut made = vec![];
        for branch in &parallel.branches {
            let mut inside = copied.clone();
            self.steps(branch, &mut inside);
            made.extend(self.named(branch.results.as_deref(), &inside, branch.span, "a branch").into_iter().flatten());
            values.retain(|argument, _| inside.contains_key(argument) || !copied.contains_key(argument));
        }
        made
    }

    /// Checks an each step, which gets a list and copies of some of `values`. Returns the types of its outputs.
    fn each(&mut self, each: &'a Each, number: StepNumber, values: &mut Values) -> Vec<Type> {
        let (what, span) = ("an each step", each.span);
        let Some(EachValues { list, element, copied, carried }) = &each.values else {
            self.violations.add(span, format!("{what} does not say which values it has"));
            return vec![];
        };
        let of_list = self.named(Some(std::slice::from_ref(list)), values, span, what);
        let is_list = of_list.is_none_or(|types| types == [Type::list_of(&element.ty)]);
        self.violations.require(is_list, span, || format!("{what} is over something else than a list of its elements"));
        let inputs = self.named(Some(copied), values, span, what).unwrap_or_default();
        let outside: Values = copied.iter().cloned().zip(inputs.iter().cloned()).collect();
        let mut inside = outside.clone();
        inside.insert(Argument::Element(number), element.ty.clone());
        self.steps(&each.chain, &mut inside);
        let made = self.named(each.chain.results.as_deref(), &inside, span, "an instance").unwrap_or_default();
        values.retain(|argument, _| inside.contains_key(argument) || !outside.contains_key(argument));
        self.violations.require(carried.is_empty() || each.width.is_none(), span, || {
            "instances that run at once hand values on".to_owned()
        });
        let hands_on = |at: usize| carried.iter().find(|one| one.0 == at);
        for (output, input) in carried {
            let is_same = made.get(*output).is_some_and(|ty| inputs.get(*input) == Some(ty));
            self.violations.require(is_same, span, || "an instance hands on a value as one of another type".to_owned());
            let once = carried.iter().filter(|one| one.0 == *output || one.1 == *input).count() == 1;
            self.violations.require(once, span, || "an instance hands on two values as one".to_owned());
        }
        let gathered = |(at, ty): (usize, Type)| if hands_on(at).is_some() { ty } else { Type::list_of(&ty) };
        made.into_iter().enumerate().map(gathered).collect()
    }

    /// Records the types that an application of `node` keeps. All applications of a node keep the same types.
    fn keeps(&mut self, node: NodeId, kept: Vec<Type>, span: Span) {
        let known = self.kept.entry(node).or_insert_with(|| kept.clone());
        let (is_same, name) = (*known == kept, &self.program.nodes[node].name);
        self.violations.require(is_same, span, || format!("applications of `{name}` keep different values"));
    }

    /// Records the values that handlers keep for their own handlers. The handlers of a node come after all handlers
    /// that apply this node.
    fn kept_by_handlers(&mut self) {
        let mut open: Vec<(NodeId, &Handler, &Replacement)> = vec![];
        for handler in &self.program.handlers {
            if let Some(target) = handler.target.node() {
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
        let parts = ErrorPart::ALL.into_iter().map(|part| (Argument::Error(part), part.parameter().ty));
        let mut values: HashMap<_, _> = parts.collect();
        let inputs = self.program.nodes.find(failing).map_or(&[][..], Node::inputs);
        values.extend(types(inputs).cloned().enumerate().map(|(index, ty)| (Argument::Input(index), ty)));
        let kept = self.kept.get(&failing).into_iter().flatten().cloned().enumerate();
        values.extend(kept.map(|(index, ty)| (Argument::Kept(index), ty)));
        values
    }

    /// Checks a handler. A handler that is a node takes the inputs of the failing node and gives its outputs. If the
    /// flow goes on without values, the path ends in one node without outputs.
    fn handler(&mut self, handler: &Handler) {
        if handler.target.goes_on() {
            let failing = handler.path.last().copied().flatten().and_then(|node| self.program.nodes.find(node));
            let gives_nothing = failing.is_some_and(|node| node.outputs().is_empty());
            self.violations.require(gives_nothing, handler.span, || {
                "a flow goes on without values after what may have outputs".to_owned()
            });
        }
        let Some(target) = handler.target.node() else {
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
        self.takes(Some(&replacement.arguments), types(target.inputs()), &values, handler.span, &target.name);
        if let Some(resume) = &replacement.resume {
            let given = resume.iter().map(|index| target.outputs().get(*index));
            let may_resume = !handler.target.goes_on() && !resume.is_empty();
            let fits = may_resume
                && resume.len() == failing.outputs().len()
                && given.zip(failing.outputs()).all(|(one, wanted)| one.is_some_and(|one| wanted.ty.takes(&one.ty)));
            self.violations.require(fits, handler.span, || {
                format!("the outputs of the handler `{}` do not fit those of `{}`", target.name, failing.name)
            });
        }
    }

    /// Requires one argument for each of `wanted`, the inputs or outputs of `name`. An argument is a constant or a
    /// value of the wanted type.
    fn takes<'w>(
        &mut self,
        arguments: Option<&[Argument]>,
        wanted: impl ExactSizeIterator<Item = &'w Type>,
        values: &Values,
        span: Span,
        name: &Name,
    ) {
        let is_value = |argument: &&Argument| !matches!(argument, Argument::Constant(_));
        let all = arguments.unwrap_or_default();
        let named: Vec<_> = all.iter().filter(is_value).cloned().collect();
        let named = arguments.map(|_| named.as_slice());
        let Some(types) = self.named(named, values, span, &format!("`{name}`")) else { return };
        let (named, count) = (all.len(), wanted.len());
        if named != count {
            return self.violations.add(span, format!("`{name}` has {count} values and names {named}"));
        }
        let mut types = types.iter();
        let fits = |(wanted, argument): (&Type, &Argument)| {
            !is_value(&argument) || types.next().is_some_and(|ty| wanted.takes(ty))
        };
        let differs = wanted.zip(all).map(fits).position(|fits| !fits);
        self.violations.require(differs.is_none(), span, || {
            format!("`{name}` names a value of another type as number {}", differs.unwrap_or_default() + 1)
        });
    }

    /// The types of `arguments`, if all of them are among `values`.
    fn named(&mut self, arguments: Option<&[Argument]>, values: &Values, span: Span, what: &str) -> Option<Vec<Type>> {
        let Some(arguments) = arguments else {
            self.violations.add(span, format!("{what} does not say which values it has"));
            return None;
        };
        let types: Option<Vec<_>> = arguments.iter().map(|argument| values.get(argument).cloned()).collect();
        self.violations.require(types.is_some(), span, || format!("{what} names a value that is not there"));
        types
    }
}
