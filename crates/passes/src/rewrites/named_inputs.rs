//! Binds inputs that take a value by its name, `Send(socket: backend)`, and reports the inputs that cannot.

use crate::analyses::fit::{show, show_one};
use crate::analyses::visible_values::{Made, Missing, VisibleValues};
use crate::ids;
use flux_diagnostic::{Diagnostic, Diagnostics, nearest};
use flux_ir::program::{Argument, Constant, NamedInput, NamedValue, Node, OptionId, Parameter, Program};
use std::collections::HashSet;

/// A message shows at most this many candidate values.
const SHOWN: usize = 4;

/// Returns whether every named input is an input of the node and has no other binding. Constants bind the first `bound`
/// inputs, and a name may occur only once. Reports the named inputs that fail.
pub fn check(node: &Node, bound: usize, named: &[NamedInput], diagnostics: &mut Diagnostics) -> bool {
    let mut seen = HashSet::new();
    let mut sound = true;
    for named in named {
        let error = match node.inputs().iter().position(|input| input.name == named.input) {
            None => no_such_input(node, named),
            Some(index) if index < bound => twice(node, named, "a constant is already bound to it"),
            Some(index) if !seen.insert(index) => twice(node, named, "it is already given by name"),
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

/// Removes from an edge the inputs that are bound by name, and the given values that they take. Returns the positions
/// of the remaining values in the whole list, these values, and the remaining inputs. `inputs` are the inputs that no
/// positional constant is bound to. `taken` are those of them to which the edge may lead.
pub fn without(
    named: &[NamedInput],
    given: &[Parameter],
    (taken, inputs): (&[Parameter], &[Parameter]),
) -> (Vec<usize>, Vec<Parameter>, Vec<Parameter>) {
    let mut chosen = HashSet::new();
    for (named, input) in named.iter().filter_map(|named| Some((named, input(inputs, named)?))) {
        let NamedValue::Value(name) = &named.value else { continue };
        chosen.extend(given.iter().rposition(|value| value.name == *name && input.ty.takes(&value.ty)));
    }
    let left: Vec<usize> = (0..given.len()).filter(|position| !chosen.contains(position)).collect();
    let values = left.iter().filter_map(|position| given.get(*position)).cloned().collect();
    let is_named = |input: &&Parameter| named.iter().any(|named| named.input == input.name);
    (left, values, taken.iter().filter(|input| !is_named(input)).cloned().collect())
}

fn input<'a>(inputs: &'a [Parameter], named: &NamedInput) -> Option<&'a Parameter> {
    inputs.iter().find(|input| input.name == named.input)
}

/// An applied node, with its named inputs.
pub struct Named<'a> {
    /// The program.
    pub program: &'a Program,
    /// The node.
    pub node: &'a Node,
    /// The number of leading inputs that are bound to constants.
    pub bound: usize,
    /// The inputs that are bound by name, with their values.
    pub named: &'a [NamedInput],
}

/// Binds the inputs that no positional constant is bound to. An input that is not named and has no default takes the
/// next of `others`. Returns none if a named input has no value, and reports that.
pub fn bind(
    given: &Named<'_>,
    others: Vec<Argument>,
    values: &mut VisibleValues<'_>,
    diagnostics: &mut Diagnostics,
) -> Option<Vec<Argument>> {
    let (node, mut others) = (given.node, others.into_iter());
    let default = |at| node.signature.as_ref().and_then(|signature| signature.default_of(at)).cloned();
    let mut bound = vec![];
    for (at, input) in node.inputs().iter().enumerate().skip(given.bound) {
        let named = given.named.iter().find(|named| named.input == input.name);
        bound.push(match named.map(|named| (named, &named.value)) {
            None => default(at).map(Argument::Constant).or_else(|| others.next()),
            Some((_, NamedValue::Constant(constant))) => Some(Argument::Constant(constant.clone())),
            Some((named, NamedValue::Option(option))) => {
                if let Some(error) = option_or_value(given.program, named, *option, values) {
                    diagnostics.push(error);
                }
                Some(Argument::Constant(Constant::Option(*option)))
            }
            Some((named, NamedValue::Value(value))) => match values.find(value, input) {
                Ok(argument) => Some(argument),
                Err(missing) => {
                    diagnostics.push(no_value(given, input, (named, value), missing, values));
                    None
                }
            },
        });
    }
    bound.into_iter().collect()
}

/// Returns an error if a name is both an option and a value.
fn option_or_value(
    program: &Program,
    named: &NamedInput,
    option: OptionId,
    values: &mut VisibleValues<'_>,
) -> Option<Diagnostic> {
    let option = &program.options[option];
    // An element has the name of the input that takes it. The author of the step did not choose that name.
    let is_named = |made: &Made<'_>| !matches!(made.argument, Argument::Element(_));
    let value = values.latest(option.name.own()).filter(is_named)?;
    let headline = format!("`{}` is an option, and a value of the flow", option.name.own());
    let error = Diagnostic::error(ids::NAMED_VALUE, headline, named.span).mark(option.span, "the option");
    Some(error.mark(value.span, "the value").help("give one of the two another name"))
}

fn no_value(
    given: &Named<'_>,
    input: &Parameter,
    (named, value): (&NamedInput, &str),
    missing: Missing<'_>,
    values: &VisibleValues<'_>,
) -> Diagnostic {
    let node = given.node;
    let error = |headline: String| Diagnostic::error(ids::NAMED_VALUE, headline, named.span);
    match missing {
        Missing::Unknown => {
            let error = error(format!("nothing before `{}` gives `{value}`", node.name));
            let mut seen = HashSet::new();
            let others = values.names(input).filter(|name| seen.insert(*name)).take(SHOWN);
            let others: Vec<_> = others.map(|name| format!("`{name}`")).collect();
            let options = given.program.options.iter().map(|(_, option)| option.name.to_string());
            let options: Vec<_> = options.collect();
            match nearest(value, values.names(input).chain(options.iter().map(String::as_str))) {
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
        // `find` takes the latest value, so it never returns `Two`.
        Missing::Taken(taker) | Missing::Two(Made { maker: taker, .. }, _) => {
            error(format!("`{taker}` took `{value}` and did not give it back"))
                .fact("a step that takes a pointer may destroy what it points to")
                .help(format!("let `{taker}` give it back: `=> ({})`", show_one(input)))
        }
    }
}
