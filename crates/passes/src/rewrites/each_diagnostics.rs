//! Reports what is wrong with an each step: it has no list or two, its elements or outputs cannot be in a list, or it
//! hands on a value as one of another type.

use crate::analyses::each_steps::{EachStep, Lists, first_application};
use crate::analyses::fit::{show, show_one};
use crate::ids;
use flux_diagnostic::{Diagnostic, Diagnostics};
use flux_ir::program::{Each, Parameter, Program};
use flux_ir::types::Type;

/// An each step, with what is known of it.
pub struct EachPlace<'a, 'p> {
    /// The program that it is in.
    pub program: &'p Program,
    /// The step.
    pub each: &'p Each,
    /// What it takes and gives.
    pub known: &'a EachStep<'a>,
}

/// The element of the step, and the position of its list in what is given to it; none where there is an error, which is
/// reported unless another one led to it.
pub fn check<'a>(place: &EachPlace<'a, '_>, diagnostics: &mut Diagnostics) -> Option<(&'a Parameter, usize)> {
    let known = place.known;
    let Some(element) = &known.element else {
        diagnostics.push(place.takes_nothing());
        return None;
    };
    if element.ty.is_array() {
        diagnostics.push(place.array("takes", element));
        return None;
    }
    let given = known.given.as_deref()?;
    let list = match known.list {
        Ok(list) => list,
        Err(Lists::None) => {
            diagnostics.push(place.no_list(element, given));
            return None;
        }
        Err(Lists::Two(one, other)) => {
            diagnostics.push(place.two_lists(element, (given.get(one)?, given.get(other)?)));
            return None;
        }
    };
    let outputs = known.outputs.as_deref().unwrap_or_default();
    if let Some(array) = outputs.iter().find(|output| output.ty.is_array()) {
        diagnostics.push(place.array("gives", array));
        return None;
    }
    let carried = known.carried.iter().filter_map(|(at, input)| Some((outputs.get(*at)?, input)));
    if let Some((output, input)) = carried.into_iter().find(|(output, input)| output.ty != input.ty) {
        diagnostics.push(place.carries_another(output, input));
        return None;
    }
    Some((element, list))
}

impl EachPlace<'_, '_> {
    /// "`Fetch`", which takes the element.
    fn taker(&self) -> String {
        let first = first_application(&self.each.chain);
        first.map_or_else(|| "the chain".to_owned(), |one| format!("`{}`", self.program.nodes[one.node].name))
    }

    fn takes_nothing(&self) -> Diagnostic {
        let headline = format!("{} takes no element of a list", self.taker());
        let error = Diagnostic::error(ids::EACH_ELEMENT, headline, self.each.span);
        error.help("the element is the first input of the chain that neither a constant nor a name is bound to")
    }

    fn array(&self, takes: &str, parameter: &Parameter) -> Diagnostic {
        let headline = format!("an each step {takes} `{}`, and an array cannot be in a list", show_one(parameter));
        Diagnostic::error(ids::EACH_ELEMENT, headline, self.each.span)
            .mark(parameter.span, "declared here")
            .help("put the array into a struct")
    }

    fn no_list(&self, element: &Parameter, given: &[Parameter]) -> Diagnostic {
        let (taker, list) = (self.taker(), Type::list_of(&element.ty));
        let headline =
            format!("{taker} takes the element `{}`, but what comes before is no `{list}`", show_one(element));
        let error = Diagnostic::error(ids::EACH_LIST, headline, self.each.span);
        let error = error.label(format!("is given ({})", show(given))).mark(element.span, "the element");
        let mut other = given.iter().filter(|value| value.ty == element.ty);
        error.help(match (other.next(), other.next()) {
            (Some(one), None) => format!("`{}` is one element already: leave out the brackets", one.name),
            _ => {
                format!("let the step before give a `{list}`, or let the chain begin with what takes an element of it")
            }
        })
    }

    fn two_lists(&self, element: &Parameter, (one, other): (&Parameter, &Parameter)) -> Diagnostic {
        let headline = format!("`{}` and `{}` are both lists of what {} takes", one.name, other.name, self.taker());
        Diagnostic::error(ids::EACH_LIST, headline, self.each.span)
            .mark(one.span, "one is given here")
            .mark(other.span, "the other here")
            .mark(element.span, "the element")
            .help("an each step goes through one list: let the step before give one of them, and reach the other")
    }

    fn carries_another(&self, output: &Parameter, input: &Parameter) -> Diagnostic {
        let headline =
            format!("a loop hands on `{}`, but the next instance takes `{}`", show_one(output), show_one(input));
        Diagnostic::error(ids::EACH_CARRIED, headline, self.each.span)
            .mark(output.span, "given here")
            .mark(input.span, "taken here")
            .help("an output of a loop that is called as an input is handed on: use one type, or another name")
    }
}
