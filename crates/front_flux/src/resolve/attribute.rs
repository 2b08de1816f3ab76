//! Attributes: which there are, and which can stand beside each other.

use super::Resolver;
use crate::attribute::Attribute;
use crate::ids;
use crate::syntax::Name;
use flux_diagnostic::{Diagnostic, nearest};
use flux_ir::effects::Effects;

impl<'syntax> Resolver<'syntax, '_, '_> {
    /// What the attributes of a node say, without those that say nothing new, which are reported.
    pub(super) fn node_attributes(&mut self, written: &'syntax [Name<'syntax>]) -> Vec<Attribute> {
        self.attributes(written, "a node", &Attribute::ALL)
    }

    /// What the attributes of a predicate type promise of its function.
    pub(super) fn predicate_effects(&mut self, written: &'syntax [Name<'syntax>]) -> Effects {
        self.attributes(written, "a predicate type", &Effects::PROMISES.map(Attribute::Promise));
        effects_of(written)
    }

    fn attributes(&mut self, written: &'syntax [Name<'syntax>], what: &str, allowed: &[Attribute]) -> Vec<Attribute> {
        let mut known: Vec<(Attribute, &Name)> = vec![];
        for word in written {
            match Attribute::of_name(&word.text).filter(|attribute| allowed.contains(attribute)) {
                Some(attribute) => {
                    let is_other = |first: &Attribute| match (first, attribute) {
                        (Attribute::Promise(_), Attribute::Promise(_)) => false,
                        _ => *first != attribute,
                    };
                    match known.iter().find(|(first, _)| !is_other(first)) {
                        Some((_, first)) => self.report_second_attribute(word, first),
                        None => known.push((attribute, word)),
                    }
                }
                None => self.report_unknown_attribute(word, what, allowed),
            }
        }
        known.into_iter().map(|(attribute, _)| attribute).collect()
    }

    fn report_second_attribute(&mut self, second: &Name, first: &Name) {
        let (headline, help) = match first.text == second.text {
            true => (format!("`{}` is written twice", second.text), "remove one of them"),
            false => (
                format!("a function is `{}` or `{}`, not both", first.text, second.text),
                "remove `silent`: every pure function is silent",
            ),
        };
        let error = Diagnostic::error(ids::DUPLICATE_ATTRIBUTE, headline, second.span);
        self.report(error.mark(first.span, "the first one").help(help));
    }

    fn report_unknown_attribute(&mut self, word: &'syntax Name<'syntax>, what: &str, allowed: &[Attribute]) {
        if !self.is_unknown_word(ids::UNKNOWN_ATTRIBUTE, &word.text) {
            return;
        }
        let is_elsewhere = Attribute::of_name(&word.text).is_some();
        let headline = match is_elsewhere {
            true => format!("{what} cannot be `{}`", word.text),
            false => format!("there is no attribute `{}`", word.text),
        };
        let names = || allowed.iter().map(|attribute| attribute.name());
        let help = match nearest(&word.text, names()).filter(|_| !is_elsewhere) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => {
                let quoted: Vec<_> = names().map(|name| format!("`{name}`")).collect();
                let (last, others) = quoted.split_last().map_or(("", &[][..]), |(last, others)| (last, others));
                format!("{what} can be {} or {last}; that is all", others.join(", "))
            }
        };
        self.report(Diagnostic::error(ids::UNKNOWN_ATTRIBUTE, headline, word.span).help(help));
    }
}

/// The first promise among `attributes`.
pub(super) fn effects_of(attributes: &[Name]) -> Effects {
    attributes.iter().find_map(|attribute| Effects::of_name(&attribute.text)).unwrap_or_default()
}
