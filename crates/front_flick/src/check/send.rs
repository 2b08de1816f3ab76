//! Sending: a value, through functions, to a channel.

use super::kind::{Kind, Ways, spelled};
use super::made::{End, read, with_one_more};
use super::value::Typed;
use super::{Checked, Checker, Reported};
use crate::ids as own_ids;
use crate::syntax::{Argument, Expression, Form};
use flux_diagnostic::Diagnostic;
use flux_front_flux::ids;
use flux_front_flux::syntax::QualifiedName;
use flux_ir::compute::{Term, VariableId};
use flux_ir::types::{Type, TypeKind};
use flux_source::Span;

/// By this variable a request says how many replies it has; less than none where that cannot be told.
pub(crate) const REPLIES: &str = "replies";
/// By this one, whether a server may do twice what it asks for.
const MAY_REPEAT: &str = "may_repeat";
/// By this one, that its replies come before those to what is asked later.
pub(super) const IN_ORDER: &str = "in_order";
/// By this one a reply says that it is a mark, up to which all belongs to a request that may have had no reply.
pub(super) const IS_MARK: &str = "is_mark";

impl<'syntax> Checker<'syntax, '_, '_> {
    /// `req => backends[target]`
    pub(super) fn send(
        &mut self,
        value: &'syntax Expression<'syntax>,
        steps: &'syntax [Expression<'syntax>],
    ) -> Checked<()> {
        match self.expression(value)? {
            Typed::Other(Kind::Stream(ty), _) => self.send_stream(&ty, steps),
            Typed::Other(kind, _) => {
                let headline = format!("what is sent is a value, and this is {kind}");
                let error = Diagnostic::error(own_ids::CHANNEL_DIRECTION, headline, value.span);
                Err(self.report(error.help("what comes out of a channel is sent by a rule of the `proc`: `| a => b`")))
            }
            Typed::Nothing => {
                let error =
                    Diagnostic::error(own_ids::SEND_TARGET, "this gives nothing that could be sent", value.span);
                Err(self.report(error.help("call it on a line of its own")))
            }
            // A literal has no type yet, and takes that of the channel.
            Typed::Value(value) => self.steps(value, steps),
        }
    }

    /// What a `foldt` makes goes to a channel, one element after the other.
    fn send_stream(&mut self, ty: &Type, steps: &'syntax [Expression<'syntax>]) -> Checked<()> {
        let [only] = steps else {
            let span = steps.first().map_or(Span::default(), |first| first.span);
            let headline = "the elements of a `foldt` go straight to a channel";
            let error = Diagnostic::error(own_ids::SEND_TARGET, headline, span);
            return Err(self.report(error.help("make of each what is sent in the block of the `foldt`")));
        };
        let (ways, _) = self.target(only)?;
        // Each element is sent by what merges them.
        self.takes((&ways, None), read(VariableId::new(0), ty, only.span), only.span)
    }

    /// Where a value goes: through functions, to a channel.
    pub(super) fn steps(
        &mut self,
        from: flux_ir::compute::Expression,
        steps: &'syntax [Expression<'syntax>],
    ) -> Checked<()> {
        let mut current = from;
        let mut rest = steps;
        while let Some((step, after)) = rest.split_first() {
            let Some((name, arguments)) = self.call_of(step) else {
                let (ways, end) = self.target(step)?;
                if let Some(next) = after.first() {
                    let headline = "a channel is the end of the way, and more follows";
                    let error = Diagnostic::error(own_ids::SEND_TARGET, headline, next.span);
                    let error = error.mark(step.span, "the channel");
                    return Err(self.report(error.help("send it on a line of its own, or in a rule of its own")));
                }
                return self.takes((&ways, end), current, step.span);
            };
            match (self.function_call(name, arguments, Some(current))?, after.first()) {
                (Typed::Nothing, None) => return Ok(()),
                (Typed::Nothing, Some(next)) => {
                    let headline = format!("`{}` gives nothing that could go on", name.own);
                    let error = Diagnostic::error(own_ids::SEND_TARGET, headline, next.span);
                    let error = error.mark(step.span, "the function");
                    return Err(self.report(error.help("let it give a value, or end the way here")));
                }
                (Typed::Value(value), Some(_)) => current = value,
                (Typed::Value(value), None) => {
                    let headline = format!("what `{}` gives goes nowhere", name.own);
                    let error = Diagnostic::error(own_ids::SEND_TARGET, headline, step.span);
                    let help = format!("send the `{}` to a channel: `=> client`", spelled(&value.ty));
                    return Err(self.report(error.help(help)));
                }
                (Typed::Other(..), _) => return Err(Reported),
            }
            rest = after;
        }
        Ok(())
    }

    /// The function that a step is, and what stands in its parentheses.
    fn call_of(
        &self,
        step: &'syntax Expression<'syntax>,
    ) -> Option<(&'syntax QualifiedName<'syntax>, &'syntax [Argument<'syntax>])> {
        match &step.form {
            Form::Call(name, arguments) => Some((name, arguments)),
            Form::Name(name) if self.find(&name.own).is_none() && self.functions.contains_key(&*name.own) => {
                Some((name, &[]))
            }
            _ => None,
        }
    }

    /// The channel that a step is.
    fn target(&mut self, step: &'syntax Expression<'syntax>) -> Checked<(Ways, Option<End>)> {
        let (headline, help) = match self.expression(step)? {
            Typed::Other(Kind::Channel(ways), end) => return Ok((ways, end)),
            Typed::Other(kind @ Kind::Channels(_), _) => (
                format!("this is {kind}, and not one channel"),
                "say which one, `backends[0]`, or send to each: `for backend in backends: x => backend`",
            ),
            Typed::Other(kind, _) => (format!("nothing can be sent to {kind}"), "send to a channel"),
            Typed::Value(value) => (
                format!("nothing can be sent to a value of the type `{}`", spelled(&value.ty)),
                "send to a channel, or through a function: `x => rewrite => client`",
            ),
            Typed::Nothing => ("nothing can be sent here".to_owned(), "send to a channel"),
        };
        Err(self.report(Diagnostic::error(own_ids::SEND_TARGET, headline, step.span).help(help)))
    }

    /// A value goes to a channel, if that takes it.
    fn takes(
        &mut self,
        (ways, end): (&Ways, Option<End>),
        value: flux_ir::compute::Expression,
        at: Span,
    ) -> Checked<()> {
        let Some(wanted) = &ways.takes else {
            let headline = format!("nothing can be sent to a channel `{ways}`");
            let error = Diagnostic::error(own_ids::CHANNEL_DIRECTION, headline, at);
            let help = "declare what it takes, behind the `/`: `cmd/cmd` or `-/cmd`";
            return Err(self.report(error.help(help)));
        };
        if let Err(mistake) = self.typing().coerce(value.clone(), wanted)
            && !matches!(value.term, Term::Integer(_) | Term::Message(_))
        {
            let headline =
                format!("the channel takes `{}`, and this has the type `{}`", spelled(wanted), spelled(&value.ty));
            let error = Diagnostic::error(ids::EXPRESSION_TYPE, headline, mistake.span);
            let help = format!("make one of it: `{}(…) => …`", spelled(wanted));
            return Err(self.report(error.mark(at, format!("a channel `{ways}`")).help(help)));
        }
        let value = self.fits(value, wanted)?;
        if let Some(end) = end {
            self.add_sending(end, value, at)?;
        }
        Ok(())
    }

    /// Adds to what the rule sends at its end.
    fn add_sending(&mut self, end: End, value: flux_ir::compute::Expression, at: Span) -> Checked<()> {
        let Some(rule) = self.made.rule.as_mut() else { return Ok(()) };
        rule.targets.insert(end.channel);
        let (sends, sending) = (rule.sends, rule.sending.clone());
        let index = |value: i128| {
            let term = Term::Integer(value);
            flux_ir::compute::Expression { term, ty: Type::new("uint64"), span: at }
        };
        if let (Some(element), Some(rule)) = (&end.element, self.made.rule.as_mut()) {
            rule.elements.push((end.channel, element.clone()));
        }
        let element = end.element.unwrap_or_else(|| index(0));
        let value = self.once("what", value);
        let replies = self.said(&value, REPLIES, "int64", Term::Integer(-1))?;
        let may_repeat = self.said(&value, MAY_REPEAT, "bool", Term::Truth(false))?;
        let in_order = self.said(&value, IN_ORDER, "bool", Term::Truth(false))?;
        let what = self.fits(value, &Type::new("flux::message"))?;
        let term = Term::Record(vec![index(i128::from(end.channel)), element, what, replies, may_repeat, in_order]);
        let one = flux_ir::compute::Expression { term, ty: sending.clone(), span: at };
        self.set(sends, with_one_more(sends, &Type::list_of(&sending), one, at));
        Ok(())
    }

    /// What a message says by a variable of this name; else what is so where nobody says anything.
    fn said(
        &mut self,
        of: &flux_ir::compute::Expression,
        name: &str,
        ty: &str,
        otherwise: Term,
    ) -> Checked<flux_ir::compute::Expression> {
        let (ty, span) = (Type::new(ty), of.span);
        let field = self.says(&of.ty, name).then(|| self.typing().field(of.clone(), name, span).ok()).flatten();
        match field {
            Some(field) => self.fits(field, &ty),
            None => Ok(flux_ir::compute::Expression { term: otherwise, ty, span }),
        }
    }

    /// Whether messages of a type have a variable of this name.
    pub(super) fn says(&self, ty: &Type, name: &str) -> bool {
        let TypeKind::Message(id) = ty.kind() else { return false };
        let fields = &self.scope.program.messages[*id].fields;
        fields.iter().any(|field| field.name == name && field.is_variable())
    }
}
