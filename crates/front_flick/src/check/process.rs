//! Processes: their channels, their state, and their rules.

use super::kind::{Kind, spelled};
use super::made::{Made, read};
use super::types::built_in;
use super::{Checked, Checker, Reported};
use crate::ids as own_ids;
use crate::syntax::{Parameter, Process, Rule};
use flux_diagnostic::{Diagnostic, Severity, nearest};
use flux_front_flux::ids;
use flux_ir::compute::VariableId;
use flux_ir::types::{Type, TypeKind};

impl<'syntax> Checker<'syntax, '_, '_> {
    pub(super) fn process(&mut self, process: &'syntax Process<'syntax>) {
        for parameter in &process.parameters {
            if !matches!(parameter, Parameter::Channel(_)) {
                let name = parameter.name();
                let headline = format!("`{}` is no channel, and a `proc` is given channels alone", name.text);
                let error = Diagnostic::error(own_ids::CHANNEL_DIRECTION, headline, name.span);
                self.report(error.help("state is declared inside: `local count : integer = 0`"));
            }
        }
        self.made = Made::default();
        self.scoped(|checker| {
            let channels = checker.parameters(&process.parameters, &process.name.text);
            for (channel, parameter) in channels.iter().zip(&process.parameters) {
                checker.check_wire(channel.kind.as_ref(), parameter);
            }
            checker.bound.extend(channels);
            for local in &process.locals {
                let binding = checker.state(local);
                if let Some(first) = checker.bound.iter().find(|bound| bound.name == binding.name) {
                    let headline = format!("the name `{}` is taken", binding.name);
                    let error = Diagnostic::error(own_ids::DUPLICATE_NAME, headline, binding.span);
                    let error = error.mark(first.span, "declared here first").help("give one of them another name");
                    checker.report(error);
                }
                checker.bound.push(binding);
            }
            checker.given = checker.bound.len();
            for rule in &process.rules {
                checker.rule(rule).ok();
            }
            checker.block(&process.block).ok();
        });
    }

    /// Reports a channel whose values have no form on the wire.
    fn check_wire(&mut self, kind: Option<&Kind>, parameter: &Parameter<'syntax>) {
        let Some(Kind::Channel(ways) | Kind::Channels(ways)) = kind else { return };
        if self.scope.diagnostics.count(Severity::Error) > 0 {
            return; // of a record with a mistake nothing follows
        }
        let without = ways.gives.iter().chain(&ways.takes).find(|ty| !matches!(ty.kind(), TypeKind::Message(_)));
        if let Some(ty) = without {
            let (spelled, name) = (spelled(ty), parameter.name());
            let headline = format!("nothing says how a `{spelled}` goes through the channel `{}`", name.text);
            let error = Diagnostic::error(own_ids::CHANNEL_TYPE, headline, name.span);
            let help =
                "a channel has messages, `type kv = unit { … };`, or records of numbers, strings and bytes alone";
            self.report(error.help(help));
        }
    }

    /// `| client => target_backend(backends)`
    fn rule(&mut self, rule: &'syntax Rule<'syntax>) -> Checked<()> {
        let given = self.given(rule)?;
        let span = rule.event.map_or(rule.channel.span, |(_, span)| span.to(rule.channel.span));
        self.steps(read(VariableId::new(0), &given, span), &rule.steps)
    }

    /// What comes along a rule.
    pub(super) fn given(&mut self, rule: &'syntax Rule<'syntax>) -> Checked<Type> {
        let name = &rule.channel;
        let binding = self.bound.iter().rev().find(|binding| binding.name == name.as_str()).cloned();
        let kind = match binding {
            None => {
                let channels = self.bound.iter().filter(|binding| !binding.is_state).map(|binding| binding.name);
                let help = match nearest(&name.text, channels) {
                    Some(meant) => format!("did you mean `{meant}`?"),
                    None => "a rule begins with a channel of its `proc`".to_owned(),
                };
                let headline = format!("there is no channel `{}` here", name.text);
                let error = Diagnostic::error(ids::UNKNOWN_VALUE, headline, name.span);
                return Err(self.report(error.help(help)));
            }
            Some(binding) => binding.kind.ok_or(Reported)?,
        };
        let (Kind::Channel(ways) | Kind::Channels(ways)) = kind else {
            let headline = format!("`{}` is no channel", name.text);
            let error = Diagnostic::error(own_ids::CHANNEL_DIRECTION, headline, name.span);
            return Err(self.report(error.help("a rule begins with a channel: what comes out of it goes along")));
        };
        if rule.event.is_some() {
            // What went wrong, in words.
            return built_in("string").ok_or(Reported);
        }
        ways.gives.clone().ok_or_else(|| {
            let headline = format!("nothing comes out of `{}`, which is a channel `{ways}`", name.text);
            let error = Diagnostic::error(own_ids::CHANNEL_DIRECTION, headline, name.span);
            self.report(error.help("declare what it gives, before the `/`: `cmd/cmd` or `cmd/-`"))
        })
    }
}
