//! Rules for what goes wrong, `| error broken backends => apologise(client)`. Each event of a channel that has some is
//! a source of its own, and their end has the run go on:
//!
//! ```text
//! source flick.Faults("Proxy(…): …; broken backends", 1, 0, backends) => Proxy_backends_broken;
//! Proxy_backends_broken = Proxy_backends_broken_whole;
//! Proxy_backends_broken_whole = Proxy_backends_broken_rules -> flick.Answer;
//! handle error Proxy_backends_broken_whole => flick.GiveUp;
//! ```
//!
//! Where a channel has rules for `failed`, a handler of its other rules tells that source:
//!
//! ```text
//! Proxy_client = Proxy_client_whole;
//! Proxy_client_whole = Proxy_client_rules -> flick.Deliver;
//! handle error Proxy_client_whole => Proxy_client_fails;
//! Proxy_client_fails = flick.Fail(0);
//! ```

use super::lower::{Channel, Known, Needs, Work, applied, number, parameter, parameter_of, rules_for};
use super::{Checked, Checker, Reported};
use crate::syntax::{Event, Process};
use flux_ir::compute::Computation;
use flux_ir::program::{Constant, Handler, HandlerStep, HandlerTarget, NodeId, Origin, Source};
use flux_ir::types::Type;
use flux_source::Span;

/// What is done where something goes wrong.
pub(super) struct Answer {
    /// With the channel at this place.
    pub at: usize,
    event: Event,
    computation: Computation,
    pub needs: Needs,
    /// What the rules are given.
    given: Type,
}

impl<'syntax> Checker<'syntax, '_, '_> {
    pub(super) fn answers(
        &mut self,
        process: &'syntax Process<'syntax>,
        channels: &[Channel<'syntax>],
        known: &[Known<'syntax>],
    ) -> Checked<Vec<Answer>> {
        let mut answers = vec![];
        for (at, channel) in channels.iter().enumerate() {
            for event in Event::ALL {
                let rules = rules_for(process, channel.name, Some(event));
                if !rules.is_empty() {
                    let (computation, needs, given) = self.settled_body(channels, Work::Rules(&rules), known)?;
                    let given = given.ok_or(Reported)?;
                    answers.push(Answer { at, event, computation, needs, given });
                }
            }
        }
        Ok(answers)
    }

    /// The source of an event, and what follows it.
    pub(super) fn add_answer(
        &mut self,
        process: &'syntax Process<'syntax>,
        channels: &[Channel<'syntax>],
        known: &[Known<'syntax>],
        what: &str,
        answer: Answer,
    ) -> Checked<()> {
        let span = process.span;
        let channel = channels.get(answer.at).ok_or(Reported)?;
        let name = format!("{}_{}_{}", process.name.text, channel.name, answer.event.name());
        let rules = (answer.computation, &answer.needs);
        let mut steps = self.rule_steps(process, channels, (&name, Some(&answer.given)), known, rules)?;
        steps.push((self.standard("Answer")?, vec![]));

        let inputs = vec![
            parameter("flick::instance", "self", span),
            parameter("flick::trouble", "wrong", span),
            parameter_of(&answer.given, "message", span),
        ];
        let all = self.chain_node(&format!("{name}_whole"), (inputs.clone(), vec![]), steps, vec![], span);
        let give_up = self.standard("GiveUp")?;
        self.handle(all, give_up, span);
        let target = self.chain_node(&name, (inputs, vec![]), vec![(all, vec![])], vec![], span);

        let event = Event::ALL.iter().position(|event| *event == answer.event).ok_or(Reported)?;
        let constants =
            vec![Constant::Text(what.to_owned()), number(answer.at), number(event), Constant::Option(channel.binding)];
        let origin = Origin::Node(applied(self.standard("Faults")?, constants, span));
        self.scope.program.sources.push(Source {
            origin,
            session: None,
            target,
            arguments: None,
            on_loops: true,
            span,
        });
        Ok(())
    }

    /// The steps of a channel's rules, whose failure is told to its rules for that; `target` follows the source.
    pub(super) fn failing(
        &mut self,
        process: &'syntax Process<'syntax>,
        (name, at): (&str, usize),
        target: NodeId,
        steps: Vec<(NodeId, Vec<Constant>)>,
    ) -> Checked<Vec<(NodeId, Vec<Constant>)>> {
        let span = process.span;
        let inputs = self.scope.program.nodes[target].inputs().to_vec();
        let all = self.chain_node(&format!("{name}_whole"), (inputs, vec![]), steps, vec![], span);
        let inputs = vec![
            parameter("flux::connection *", "connection", span),
            parameter("flick::instance", "self", span),
            parameter("int", "error", span),
        ];
        let fails = vec![(self.standard("Fail")?, vec![number(at)])];
        let fails = self.chain_node(&format!("{name}_fails"), (inputs, vec![]), fails, vec![], span);
        self.handle(all, fails, span);
        Ok(vec![(all, vec![])])
    }

    pub(super) fn handle(&mut self, failing: NodeId, by: NodeId, span: Span) {
        let target = HandlerTarget::Run(HandlerStep::Node(by));
        let handler = Handler { path: vec![Some(failing)], target, replacements: vec![], span };
        self.scope.program.handlers.push(handler);
    }
}

/// `; broken backends, malformed client`: for what a process has rules.
pub(super) fn described(answers: &[Answer], channels: &[Channel<'_>]) -> String {
    let each = |answer: &Answer| Some(format!("{} {}", answer.event.name(), channels.get(answer.at)?.name));
    let all: Vec<String> = answers.iter().filter_map(each).collect();
    if all.is_empty() { String::new() } else { format!("; {}", all.join(", ")) }
}
