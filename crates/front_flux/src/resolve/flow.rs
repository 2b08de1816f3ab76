//! Flows and sources: chains, constants, the lines of a dispatch.

use super::Resolver;
use crate::ids;
use crate::syntax::{self, Flow, Name, NameOrAny, Patterns, QualifiedName, Statement};
use flux_diagnostic::{Diagnostic, nearest};
use flux_ir::cpp_keyword::is_keyword;
use flux_ir::external::ExternalRole;
use flux_ir::program::{
    Action, Application, Body, Chain, Constant, Each, Line, NodeId, Origin, Parallel, PredicateId, Source, Step,
    StepNumber,
};
use flux_source::deep;
use std::collections::HashMap;

impl<'syntax> Resolver<'syntax, '_, '_> {
    /// Flows and sources in the order of the text, as nodes that are only mentioned are numbered by it.
    pub(super) fn resolve_flows(&mut self) {
        let syntax = self.syntax;
        // The flow without patterns of each node that has one.
        let mut plain: HashMap<NodeId, &Flow> = HashMap::new();
        for statement in &syntax.statements {
            match statement {
                Statement::Flow(flow) if self.generic(&flow.node).is_some() => {}
                Statement::Flow(flow) => {
                    let id = self.node(&flow.node, flow.span);
                    let first_plain = plain.get(&id).copied();
                    self.add_flow(id, flow, first_plain);
                    if flow.patterns.is_none() {
                        plain.entry(id).or_insert(flow);
                    }
                }
                Statement::Source(source) => self.add_source(source),
                _ => {}
            }
        }
    }

    fn add_source(&mut self, source: &'syntax syntax::Source<'syntax>) {
        let origin = match &source.origin {
            syntax::Origin::Node(application) => Origin::Node(self.application(application)),
            syntax::Origin::Timer(period_ms) => Origin::Timer(*period_ms),
        };
        let session = source.session.as_ref().map(|function| self.function(function, ExternalRole::Session));
        let target = self.node(&source.target, source.target.span);
        self.scope.program.sources.push(Source {
            origin,
            session,
            target,
            arguments: None,
            on_loops: false,
            span: source.span,
        });
    }

    /// Adds a flow to the node `id`; `first_plain` is the one without patterns that it has already. A line without
    /// patterns among lines that have some is their catch-all.
    fn add_flow(&mut self, id: NodeId, flow: &'syntax Flow<'syntax>, first_plain: Option<&Flow>) {
        let mut chain = self.chain(&flow.chain);
        chain.number_steps();
        let patterns = flow.patterns.as_ref().map_or(vec![], |patterns| self.patterns(id, patterns, &flow.node));
        if let (None, Some(first)) = (&flow.patterns, first_plain) {
            return self.report_second_flow(flow, first);
        }
        let line = Line { patterns, chain, span: flow.span };
        let body = &mut self.scope.program.nodes[id].body;
        match body {
            Body::Computed(_) => self.report_body_and_flow(flow),
            Body::Dispatch(lines) if lines.is_empty() && flow.patterns.is_none() => *body = Body::Chain(line.chain),
            Body::Dispatch(lines) => lines.push(line),
            // Which nodes are functions is known when all flows are.
            Body::External(_) => {}
            Body::Chain(first) => {
                let span = first_plain.map_or(first.span, |plain| plain.span);
                let first = Line { patterns: vec![], chain: std::mem::replace(first, line.chain.clone()), span };
                *body = Body::Dispatch(vec![first, line]);
            }
        }
    }

    fn report_body_and_flow(&mut self, flow: &Flow) {
        let headline = format!("the node `{}` has both a body and a flow", flow.node);
        let error = Diagnostic::error(ids::BODY_AND_FLOW, headline, flow.node.span);
        self.report(error.help("a node has only one of them: give the body to another node, and use that in the flow"));
    }

    fn report_second_flow(&mut self, flow: &Flow, first: &Flow) {
        let node = &flow.node;
        let diagnostic = Diagnostic::error(
            ids::DUPLICATE_FLOW,
            format!("the node `{node}` has two flows without patterns"),
            flow.node.span,
        )
        .mark(first.node.span, "the first one")
        .help(format!("remove one, or say when each is taken: `{node}:[…] = …;`"));
        self.report(diagnostic);
    }

    /// One pattern for each input: those that name theirs leave the others out, which match anything.
    fn patterns(
        &mut self,
        id: NodeId,
        patterns: &'syntax Patterns<'syntax>,
        node: &'syntax QualifiedName<'syntax>,
    ) -> Vec<Option<PredicateId>> {
        let found: Vec<_> = patterns.list.iter().map(|pattern| self.pattern(pattern)).collect();
        if patterns.inputs.iter().all(Option::is_none) {
            return found;
        }
        let Some(signature) = self.scope.program.nodes[id].signature.as_ref() else {
            let headline = format!("the inputs of `{node}` are not declared, so no pattern can name one");
            let help = format!("declare them: `{node} (…) => (…);`");
            self.report(Diagnostic::error(ids::NAMED_PATTERN, headline, patterns.span).help(help));
            return found;
        };
        let names: Vec<String> = signature.inputs.iter().map(|input| input.name.clone()).collect();
        let mut placed: Vec<Option<Option<PredicateId>>> = vec![None; names.len()];
        for (input, pattern) in patterns.inputs.iter().zip(found) {
            let Some(input) = input else {
                let headline = format!("some patterns of `{}` name their inputs, and some do not", node);
                let error = Diagnostic::error(ids::NAMED_PATTERN, headline, patterns.span);
                self.report(error.help("name all of them, or write one for each input, in their order"));
                return vec![None; names.len()];
            };
            let position = names.iter().position(|name| *name == input.text);
            match position.and_then(|position| placed.get_mut(position)) {
                Some(place @ None) => *place = Some(pattern),
                Some(Some(_)) => {
                    let headline = format!("the input `{}` has two patterns", input.text);
                    let error = Diagnostic::error(ids::NAMED_PATTERN, headline, input.span);
                    self.report(error.help("write a line for each of them, or one predicate type for both"));
                }
                None => self.report_unknown_input(input, id, &names),
            }
        }
        placed.into_iter().map(Option::flatten).collect()
    }

    fn report_unknown_input(&mut self, input: &Name<'_>, id: NodeId, names: &[String]) {
        let node = &self.scope.program.nodes[id].name;
        let headline = format!("`{node}` has no input `{}`", input.text);
        let error = Diagnostic::error(ids::NAMED_PATTERN, headline, input.span);
        let names = names.iter().map(String::as_str);
        let meant = if self.may_suggest(&input.text) { nearest(&input.text, names.clone()) } else { None };
        let help = match meant {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("it has {}", names.take(8).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")),
        };
        self.report(error.mark(self.scope.node_name(id), "declared here").help(help));
    }

    /// The predicate a pattern names; none for a wildcard, and for one that is unknown, which is reported.
    fn pattern(&mut self, pattern: &'syntax NameOrAny<'syntax>) -> Option<PredicateId> {
        let NameOrAny::Name(name) = pattern else { return None };
        let known = self.known_predicate(name);
        if known.is_none() && self.is_unknown(ids::UNKNOWN_PREDICATE, name) {
            self.report_unknown_predicate(name);
        }
        known
    }

    fn report_unknown_predicate(&mut self, name: &syntax::QualifiedName) {
        let word = &name.to_string();
        let (mut tested_by, mut meant) = (None, None);
        if is_keyword(word) {
            let diagnostic =
                Diagnostic::error(ids::UNKNOWN_PREDICATE, format!("`{word}` is not a predicate type"), name.span);
            let help = "write a predicate type, declared by `typedef`, or `_`, which matches any value";
            return self.report(diagnostic.help(help));
        }
        if self.may_suggest(word) {
            let predicates = || self.scope.program.predicates.iter().map(|(_, predicate)| predicate);
            let function = self.scope.find_function(&name.declared(), ExternalRole::Predicate);
            tested_by = predicates().find(|predicate| function.is_some() && predicate.external() == function);
            let names: Vec<_> = predicates().map(|predicate| predicate.name.to_string()).collect();
            meant = nearest(word, names.iter().map(String::as_str)).map(str::to_owned);
        }
        let diagnostic =
            Diagnostic::error(ids::UNKNOWN_PREDICATE, format!("there is no predicate type `{word}`"), name.span);
        let diagnostic = match (tested_by, meant) {
            (Some(tested), _) => diagnostic
                .mark(tested.span, format!("`{word}` is the function that tests `{}`", tested.name))
                .help(format!("write the type: `{}`", tested.name)),
            (None, Some(meant)) => diagnostic.help(format!("did you mean `{meant}`?")),
            (None, None) => {
                diagnostic.help(format!("declare it with the function that tests it: `typedef {word} YourFunction;`"))
            }
        };
        self.report(diagnostic);
    }

    /// The recursion is as deep as chains are in each other, which the parser bounds.
    fn chain(&mut self, chain: &'syntax syntax::Chain<'syntax>) -> Chain {
        deep(|| {
            let mut steps = Vec::with_capacity(chain.steps.len());
            for step in &chain.steps {
                let within = step.within.as_ref().and_then(|time| self.deadline(time));
                let action = match &step.action {
                    syntax::Action::Apply(application) => Action::Apply(self.application(application)),
                    syntax::Action::Parallel(branches, span) => {
                        let mut branches: Vec<_> = branches.iter().map(|branch| self.chain(branch)).collect();
                        match branches.as_mut_slice() {
                            // `(A -> B)` alone is `A -> B`, unless it has a deadline of its own.
                            [only] if within.is_none() || only.steps.is_empty() => {
                                steps.append(&mut only.steps);
                                continue;
                            }
                            [Chain { steps: only, .. }] if matches!(only.as_slice(), [Step { within: None, .. }]) => {
                                steps.extend(only.pop().map(|step| Step { within, ..step }));
                                continue;
                            }
                            _ => Action::Parallel(Parallel { branches, arguments: None, span: *span }),
                        }
                    }
                    syntax::Action::Each(chain, width, span) => {
                        let width = width.as_ref().and_then(|width| self.width(width));
                        // One at a time is a loop.
                        let width = width.filter(|width| *width != Constant::Integer(1));
                        Action::Each(Each { chain: self.chain(chain), width, values: None, span: *span })
                    }
                };
                steps.push(Step { number: StepNumber::default(), action, within });
            }
            Chain { steps, results: None, span: chain.span }
        })
    }

    pub(super) fn application(&mut self, application: &'syntax syntax::Application<'syntax>) -> Application {
        if let Some(generic) = self.generic(&application.node).cloned() {
            return self.generic_application(application, &generic);
        }
        let node = self.node(&application.node, application.node.span);
        let constants = application.constants.iter().filter_map(|it| self.constant(it, application)).collect();
        let named = self.named_inputs(application);
        Application { node, constants, named, arguments: None, kept: vec![], span: application.node.span }
    }
}
