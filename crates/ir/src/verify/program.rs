//! What must hold of a program: every id leads somewhere, names are unique, and later all lists have the lengths that
//! the signatures say.

use super::{Violations, types};
use crate::arena::Arena;
use crate::program::{
    Action, Application, Argument, Body, Chain, Constant, ConstraintId, Line, ModuleId, NamedInput, Node, NodeId,
    OptionKind, Origin, Parameter, Program, Requirement, Scope, ServerOption, StepNumber,
};
use flux_source::Span;
use std::collections::HashSet;
use std::fmt::Display;
use std::hash::Hash;

/// What must hold as soon as names are ids.
pub(super) fn check_resolved(program: &Program, violations: &mut Violations) {
    unique_names(program, violations);
    types::check(program, violations);
    preamble(program, violations);
    let mut checker = Checker { program, violations };
    for (_, node) in program.nodes.iter() {
        node.requirements.iter().for_each(|requirement| checker.requirement(requirement));
        node.chains().for_each(|chain| checker.chain(chain));
        if let Body::Dispatch(lines) = &node.body {
            checker
                .violations
                .require(!lines.is_empty(), node.span, || format!("the dispatch of `{}` has no line", node.name));
            lines.iter().for_each(|line| checker.patterns(line));
        }
    }
    for source in &program.sources {
        if let Origin::Node(application) = &source.origin {
            checker.application(application);
        }
        checker.node(source.target, source.span);
    }
    for handler in &program.handlers {
        checker.violations.require(!handler.path.is_empty(), handler.span, || "a handler is for no node".to_owned());
        handler.path.iter().flatten().for_each(|node| checker.node(*node, handler.span));
        if let Some(node) = handler.target.node() {
            checker.node(node, handler.span);
        }
    }
}

/// A name means one module, one type, one option, one error code, one node, one predicate, one constraint.
fn unique_names(program: &Program, violations: &mut Violations) {
    fn check<'a, T, N: Eq + Hash + Display + 'a>(
        things: &'a Arena<T>,
        kind: &str,
        name: impl Fn(&'a T) -> (&'a N, Span),
        violations: &mut Violations,
    ) {
        let mut seen = HashSet::new();
        for (_, thing) in things.iter() {
            let (name, span) = name(thing);
            violations.require(seen.insert(name), span, || format!("two {kind} are called `{name}`"));
        }
    }
    check(&program.modules, "modules", |module| (&module.name, module.span), violations);
    check(&program.types, "types", |declared| (&declared.name, declared.span), violations);
    check(&program.messages, "messages", |message| (&message.name, message.span), violations);
    check(&program.options, "options", |option| (&option.name, option.span), violations);
    check(&program.codes, "error codes", |code| (&code.name, code.span), violations);
    check(&program.nodes, "nodes", |node| (&node.name, node.span), violations);
    check(&program.predicates, "predicates", |predicate| (&predicate.name, predicate.span), violations);
    check(&program.constraints, "constraints", |constraint| (&constraint.name, constraint.span), violations);
}

/// Modules use modules before them, and the default of an option is one of its values.
fn preamble(program: &Program, violations: &mut Violations) {
    for (id, module) in program.modules.iter() {
        let after = |used: &ModuleId| used.index() < id.index();
        violations.require(module.uses.iter().all(after), module.span, || {
            format!("the module `{}` uses one that is not before it", module.name)
        });
    }
    let known = program.uses.iter().all(|used| program.modules.find(*used).is_some());
    violations.require(known, Span::default(), || "a module is used that there is not".to_owned());
    for (_, code) in program.codes.iter() {
        violations.require(code.number != 0, code.span, || format!("`{}` is the code of success", code.name));
    }
    for (_, option) in program.options.iter() {
        let fits = match (&option.default, option.kind) {
            (None, _)
            | (Some(Constant::Integer(_)), OptionKind::Int)
            | (Some(Constant::Text(_)), OptionKind::Text | OptionKind::Path)
            | (Some(Constant::Boolean(_)), OptionKind::Bool) => true,
            (Some(Constant::Integer(value)), OptionKind::Duration | OptionKind::Size) => *value >= 0,
            _ => false,
        };
        violations.require(fits, option.span, || format!("the default of `{}` is none of its values", option.name));
    }
}

/// Whether a constant that is an option is one that there is.
pub(super) fn is_known(program: &Program, constant: &Constant) -> bool {
    match constant {
        Constant::Option(option) => program.options.find(*option).is_some(),
        Constant::Integer(_) | Constant::Text(_) | Constant::Boolean(_) => true,
    }
}

struct Checker<'a> {
    program: &'a Program,
    violations: &'a mut Violations,
}

impl Checker<'_> {
    fn node(&mut self, node: NodeId, span: Span) {
        self.violations.require(self.program.nodes.find(node).is_some(), span, || format!("there is no node {node:?}"));
    }

    fn application(&mut self, application: &Application) {
        self.node(application.node, application.span);
        let named: Vec<_> = application.named.iter().filter_map(|one| one.value.constant()).collect();
        let bound = application.arguments.iter().flatten().filter_map(|one| match one {
            Argument::Constant(constant) => Some(constant),
            _ => None,
        });
        for constant in application.constants.iter().chain(&named).chain(bound) {
            self.violations.require(is_known(self.program, constant), application.span, || {
                "a constant is an option that there is not".to_owned()
            });
        }
    }

    fn requirement(&mut self, requirement: &Requirement) {
        constraint_and_key(
            self.program,
            self.violations,
            requirement.constraint,
            requirement.key.len(),
            requirement.span,
        );
    }

    fn patterns(&mut self, line: &Line) {
        for predicate in line.patterns.iter().flatten() {
            self.violations.require(self.program.predicates.find(*predicate).is_some(), line.span, || {
                format!("there is no predicate {predicate:?}")
            });
        }
    }

    fn chain(&mut self, chain: &Chain) {
        chain.applications().into_iter().for_each(|application| self.application(application));
        let mut numbers = HashSet::new();
        for step in chain.all_steps() {
            let StepNumber(number) = step.number;
            self.violations
                .require(numbers.insert(number), chain.span, || format!("two steps have the number {number}"));
            match &step.action {
                Action::Apply(_) => {}
                Action::Parallel(parallel) => {
                    self.violations.require(!parallel.branches.is_empty(), parallel.span, || {
                        "a parallel step has no branch".to_owned()
                    });
                }
                Action::Each(each) => width(self.program, self.violations, each.width.as_ref(), each.span),
            }
            within(self.program, self.violations, step.within.as_ref(), chain.span);
        }
    }
}

/// A deadline is a time above 0, or an option that is a duration.
pub(super) fn within(program: &Program, violations: &mut Violations, within: Option<&Constant>, span: Span) {
    let is_duration = |option: &ServerOption| option.kind == OptionKind::Duration;
    let is_time = match within {
        None => true,
        Some(Constant::Integer(time_ms)) => *time_ms > 0,
        Some(Constant::Option(option)) => program.options.find(*option).is_some_and(is_duration),
        Some(Constant::Text(_) | Constant::Boolean(_)) => false,
    };
    violations.require(is_time, span, || "a step has a deadline that is no duration".to_owned());
}

/// How many instances run at once is a number above 1, or an option that is one.
pub(super) fn width(program: &Program, violations: &mut Violations, width: Option<&Constant>, span: Span) {
    let is_number = |option: &ServerOption| option.kind == OptionKind::Int;
    let is_width = match width {
        None => true,
        Some(Constant::Integer(count)) => *count > 1,
        Some(Constant::Option(option)) => program.options.find(*option).is_some_and(is_number),
        Some(Constant::Text(_) | Constant::Boolean(_)) => false,
    };
    violations.require(is_width, span, || "an each step has a width that is no number above 1".to_owned());
}

/// A constraint is one that there is, and has a key exactly where its scope is keyed.
pub(super) fn constraint_and_key(
    program: &Program,
    violations: &mut Violations,
    id: ConstraintId,
    key_length: usize,
    span: Span,
) {
    let Some(constraint) = program.constraints.find(id) else {
        return violations.add(span, format!("there is no constraint {id:?}"));
    };
    let keyed = constraint.scope == Scope::Keyed;
    violations.require(keyed == (key_length > 0), span, || match keyed {
        true => format!("the keyed constraint `{}` is held without a key", constraint.name),
        false => format!("the constraint `{}` is held with a key and is not keyed", constraint.name),
    });
}

/// What must hold once signatures are known, of a program whose ids lead somewhere.
pub(super) fn check_typed(program: &Program, violations: &mut Violations) {
    for (_, node) in program.nodes.iter() {
        violations
            .require(node.signature.is_some(), node.span, || format!("the signature of `{}` is not known", node.name));
    }
    if violations.is_empty() {
        program.nodes.iter().for_each(|(_, node)| check_lengths(program, node, violations));
        for source in &program.sources {
            if let Origin::Node(Application { node, constants, named, span, .. }) = &source.origin {
                let node = &program.nodes[*node];
                let is_constant = |one: &NamedInput| one.value.constant().is_some();
                let is_given = |input: &Parameter| named.iter().any(|one| one.input == input.name);
                let open = node.required_inputs().get(constants.len()..).unwrap_or_default();
                violations.require(named.iter().all(is_constant) && open.iter().all(is_given), *span, || {
                    format!("the source `{}` has inputs that no constant binds", node.name)
                });
            }
        }
    }
    check_acyclic(program, violations);
    super::compute::check_acyclic(program, violations);
}

/// Lists in a node are as long as signatures say.
fn check_lengths(program: &Program, node: &Node, violations: &mut Violations) {
    let inputs = node.inputs().len();
    let defaults = node.defaults();
    violations
        .require(defaults.len() <= inputs, node.span, || format!("`{}` has more defaults than inputs", node.name));
    let are_known = defaults.iter().all(|default| is_known(program, default));
    violations.require(are_known, node.span, || format!("a default of `{}` is an option that there is not", node.name));
    for requirement in &node.requirements {
        let within = requirement.key.iter().all(|input| *input < inputs);
        violations.require(within, requirement.span, || format!("a key of `{}` is not among its inputs", node.name));
    }
    if let Body::Dispatch(lines) = &node.body {
        for line in lines {
            let patterns = line.patterns.len();
            violations.require(patterns == 0 || patterns == inputs, line.span, || {
                format!("a line of `{}` has {patterns} patterns for {inputs} inputs", node.name)
            });
        }
    }
    for application in node.chains().flat_map(Chain::applications) {
        let applied = &program.nodes[application.node];
        violations.require(application.constants.len() <= applied.inputs().len(), application.span, || {
            format!("`{}` is applied to more constants than it has inputs", applied.name)
        });
    }
}

/// No node reaches itself: nodes are taken away that no node left applies, and in the end none is left (Kahn,
/// "Topological sorting of large networks", CACM 5(11), 1962).
fn check_acyclic(program: &Program, violations: &mut Violations) {
    let applied: Vec<Vec<NodeId>> = program
        .nodes
        .iter()
        .map(|(_, node)| node.chains().flat_map(Chain::applications).map(|application| application.node).collect())
        .collect();
    let mut uses = vec![0_usize; program.nodes.len()];
    for node in applied.iter().flatten() {
        if let Some(count) = uses.get_mut(node.index()) {
            *count += 1;
        }
    }
    let unused = |(index, count): (usize, &usize)| (*count == 0).then_some(index);
    let mut taken: Vec<usize> = uses.iter().enumerate().filter_map(unused).collect();
    while let Some(index) = taken.pop() {
        for node in applied.get(index).into_iter().flatten() {
            if let Some(count) = uses.get_mut(node.index()) {
                *count -= 1;
                if *count == 0 {
                    taken.push(node.index());
                }
            }
        }
    }
    let left = program.nodes.iter().zip(&uses).find(|(_, count)| **count > 0);
    if let Some(((_, node), _)) = left {
        violations.add(node.span, format!("`{}` reaches itself, or is reached by a node that does", node.name));
    }
}
