//! Inputs that take a value by its name, `Send(socket: backend)`: which inputs can, and what is wrong where one cannot.

use crate::analyses::edges::{Edge, Port};
use crate::analyses::fit::{show, show_one};
use crate::analyses::visible_values::{Made, Missing, VisibleValues};
use crate::ids;
use flux_diagnostic::{Diagnostic, Diagnostics, nearest};
use flux_ir::program::{Argument, NamedInput, Node, Parameter, Program};
use std::collections::HashSet;

/// How many values a message shows that could be meant.
const SHOWN: usize = 4;

/// Whether each named input of an edge is one of the node's that nothing else is bound to; reports those that are not.
pub fn check(program: &Program, edge: &Edge, diagnostics: &mut Diagnostics) -> bool {
    let Port::In(id, bound) = edge.to else { return true };
    let node = &program.nodes[id];
    let mut seen = HashSet::new();
    let mut sound = true;
    for named in &edge.named {
        let error = match node.inputs().iter().position(|input| input.name == named.input) {
            None => no_such_input(node, named),
            Some(index) if index < bound => twice(node, named, "a constant is already bound to it"),
            Some(index) if !seen.insert(index) => twice(node, named, "it already takes a value by name"),
            Some(_) => continue,
        };
        sound = false;
        diagnostics.push(error);
    }
    sound
}

fn no_such_input(node: &Node, named: &NamedInput) -> Diagnostic {
    let headline = format!("`{}` has no input `{}`", node.name, named.input);
    let error = Diagnostic::error(ids::NAMED_INPUT, headline, named.span)
        .mark(node.span, format!("takes ({})", show(node.inputs())));
    match nearest(&named.input, node.inputs().iter().map(|input| input.name.as_str())) {
        Some(meant) => error.help(format!("did you mean `{meant}`?")),
        None => error.help("write `input: value`, with an input of the node before the colon"),
    }
}

fn twice(node: &Node, named: &NamedInput, why: &str) -> Diagnostic {
    let headline = format!("the input `{}` of `{}` is bound twice", named.input, node.name);
    let error = Diagnostic::error(ids::NAMED_INPUT, headline, named.span).fact(why);
    error.mark(node.span, format!("takes ({})", show(node.inputs()))).help("leave one of them out")
}

/// What is along an edge but for the inputs that take other values, and the values that they take from it: the values
/// with their positions in the whole list, and the inputs.
pub fn without(
    named: &[NamedInput],
    given: &[Parameter],
    taken: &[Parameter],
) -> (Vec<usize>, Vec<Parameter>, Vec<Parameter>) {
    let mut chosen = HashSet::new();
    for (named, input) in named.iter().filter_map(|named| Some((named, input(taken, named)?))) {
        chosen.extend(given.iter().rposition(|value| value.name == named.value && input.ty.takes(&value.ty)));
    }
    let left: Vec<usize> = (0..given.len()).filter(|position| !chosen.contains(position)).collect();
    let values = left.iter().filter_map(|position| given.get(*position)).cloned().collect();
    let is_named = |input: &&Parameter| named.iter().any(|named| named.input == input.name);
    (left, values, taken.iter().filter(|input| !is_named(input)).cloned().collect())
}

fn input<'a>(inputs: &'a [Parameter], named: &NamedInput) -> Option<&'a Parameter> {
    inputs.iter().find(|input| input.name == named.input)
}

/// The values of `inputs`, of which those that are not named take `others`, in order; none where one that is named has
/// no value, which is reported.
pub fn bind(
    node: &Node,
    inputs: &[Parameter],
    named: &[NamedInput],
    others: Vec<Argument>,
    values: &mut VisibleValues<'_>,
    diagnostics: &mut Diagnostics,
) -> Option<Vec<Argument>> {
    let mut others = others.into_iter();
    let mut bound = vec![];
    for input in inputs {
        bound.push(match named.iter().find(|named| named.input == input.name) {
            None => others.next(),
            Some(named) => match values.find(&named.value, input) {
                Ok(argument) => Some(argument),
                Err(missing) => {
                    diagnostics.push(no_value(node, input, named, missing, values));
                    None
                }
            },
        });
    }
    bound.into_iter().collect()
}

fn no_value(
    node: &Node,
    input: &Parameter,
    named: &NamedInput,
    missing: Missing<'_>,
    values: &VisibleValues<'_>,
) -> Diagnostic {
    let value = &named.value;
    let error = |headline: String| Diagnostic::error(ids::NAMED_VALUE, headline, named.span);
    match missing {
        Missing::Unknown => {
            let error = error(format!("nothing before `{}` gives `{value}`", node.name));
            let mut seen = HashSet::new();
            let others = values.names(input).filter(|name| seen.insert(*name)).take(SHOWN);
            let others: Vec<_> = others.map(|name| format!("`{name}`")).collect();
            match nearest(value, values.names(input)) {
                Some(meant) => error.help(format!("did you mean `{meant}`?")),
                None if others.is_empty() => error
                    .help(format!("let an earlier step give `{}`, or make it an input of the flow", show_one(input))),
                None => error.help(format!("of the type of `{}` there is {}", input.name, others.join(", "))),
            }
        }
        Missing::Type(given) => {
            error(format!("`{}` takes `{}`, but `{value}` is `{}`", node.name, show_one(input), show_one(given)))
                .mark(input.span, "taken here")
                .mark(given.span, "given here")
                .help("change one of the two declarations, or convert the value in a node between them")
        }
        Missing::Uncopied(given) => error(format!("a branch gets copies, and `{value}` cannot be copied"))
            .fact(format!("{:#} cannot be copied", given.ty))
            .help("take it before the parallel step, or after it"),
        Missing::Taken(taker) if input.ty.is_move_only() => error(format!("`{taker}` took `{value}`"))
            .fact(format!("{:#} cannot be copied", input.ty))
            .help(format!("let `{taker}` give it back: `=> ({})`", show_one(input))),
        // There is one that was made last.
        Missing::Taken(taker) | Missing::Two(Made { maker: taker, .. }, _) => {
            error(format!("`{taker}` took `{value}` and did not give it back"))
                .fact("a step that takes a pointer may destroy what it points to")
                .help(format!("let `{taker}` give it back: `=> ({})`", show_one(input)))
        }
    }
}
