//! A process that has statements in place of rules: they are done once, when its first channel is connected, and then
//! nothing more is sent.
//!
//! ```text
//! source flick.Gather("Greet(client): client > client", 0, client) => Greet;
//! Greet = Greet_whole;
//! Greet_whole = flick.Enter(0) -> Greet_rules -> flick.Bind(0, client) -> flick.Conclude;
//! handle error Greet_whole => flick.Abandon;
//! ```
//!
//! One that merges what its channels give is in [`super::fold`].

use super::lower::{Channel, Known, Work, applied, number, parameter};
use super::{Checked, Checker, Reported};
use crate::syntax::{Expression, Form, Process, Statement};
use flux_ir::program::{Constant, Origin, Source};
use flux_source::{Span, deep};

impl<'syntax> Checker<'syntax, '_, '_> {
    pub(super) fn lower_once(
        &mut self,
        process: &'syntax Process<'syntax>,
        channels: &[Channel<'syntax>],
        known: &[Known<'syntax>],
    ) -> Checked<()> {
        let (span, name) = (process.span, process.name.as_str());
        let first = channels.first().ok_or(Reported)?;
        let (computation, needs, _) = self.settled_body(channels, Work::Statements(&process.block), known)?;
        let mut steps = vec![(self.standard("Enter")?, vec![number(0)])];
        steps.extend(self.rule_steps(process, channels, (name, None), known, (computation, &needs))?);
        steps.push((self.standard("Conclude")?, vec![]));

        let inputs = vec![parameter("flick::instance", "self", span)];
        let all = self.chain_node(&format!("{name}_whole"), (inputs.clone(), vec![]), steps, vec![], span);
        let abandon = self.standard("Abandon")?;
        self.handle(all, abandon, span);
        let target = self.chain_node(name, (inputs, vec![]), vec![(all, vec![])], vec![], span);

        let what = self.described(name, channels, [(0, &needs.targets)].into_iter());
        let constants = vec![Constant::Text(what), number(0), Constant::Option(first.binding)];
        let origin = Origin::Node(applied(self.standard("Gather")?, constants, span));
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
}

/// Where statements merge channels.
pub(super) fn merges(block: &[Statement<'_>]) -> Vec<Span> {
    deep(|| {
        let merge = |value: &Expression<'_>| matches!(value.form, Form::Foldt(_)).then_some(value.span);
        let inside = |statement: &Statement<'_>| match statement {
            Statement::Let(_, _, value) | Statement::Value(value) | Statement::Send(value, _) => {
                merge(value).into_iter().collect()
            }
            Statement::If(branches, otherwise, _) => {
                let blocks = branches.iter().map(|(_, block)| block).chain(otherwise);
                blocks.flat_map(|block| merges(block)).collect()
            }
            Statement::For(_, _, block) => merges(block),
            Statement::Set(..) => vec![],
        };
        block.iter().flat_map(inside).collect()
    })
}
