//! Checks how messages contain each other, and that one byte decides every choice. Requires: names are ids.
//! Establishes: no message begins with itself, every other way of a message into itself has a bound, one byte decides
//! every choice by the next byte, nothing looks back at bytes of a stream, and no formula looks into a message that may
//! contain its own again.

use crate::ids;
use flux_diagnostic::{Diagnostic, Diagnostics};
use flux_ir::message::{
    ByteSet, Extent, Field, Firsts, Item, Message, MessageId, Reference, Repeat, Root, Switch, all_lists,
    is_inside_itself, unit_of,
};
use flux_ir::program::Program;
use flux_source::Span;
use std::collections::{HashMap, HashSet};

/// A message that another one contains, and where.
type Inside = (MessageId, Span);

/// Reports what is wrong with the shapes of messages. O(size of the messages · choices in one `switch`).
pub fn check_message_shapes(program: &Program, diagnostics: &mut Diagnostics) {
    let firsts = Firsts::of(program);
    // What begins with itself may begin with everything that is in it, so nothing is said of its choices.
    let begins: HashMap<_, _> =
        program.messages.iter().map(|(id, message)| (id, beginnings(message, &message.items, &firsts))).collect();
    if let Some(circle) = find_circle(program, &begins) {
        let (headline, span) = describe(program, &circle, "begins with itself");
        let error = Diagnostic::error(ids::MESSAGE_LEFT_RECURSION, headline, span);
        diagnostics.push(error.help("let something that is always there come first, such as a length or a literal"));
        return;
    }
    for (_, message) in program.messages.iter() {
        for item in all_lists(&message.items).into_iter().flatten() {
            match item {
                Item::Switch(switch) if switch.on.is_none() => check_switch(message, switch, &firsts, diagnostics),
                Item::Field(id) => {
                    message.field(*id).iter().for_each(|field| check_list(field, &firsts, diagnostics));
                }
                _ => {}
            }
        }
    }
    let is_open = |field: &&Field| field.max_depth.is_none();
    let contains = |message: &Message| {
        let fields = message.fields.iter().filter(is_open);
        fields.filter_map(|field| Some((unit_of(field)?, field.span))).collect::<Vec<_>>()
    };
    let contained = program.messages.iter().map(|(id, message)| (id, contains(message))).collect();
    if let Some(circle) = find_circle(program, &contained) {
        let (headline, span) = describe(program, &circle, "may be inside of itself, as often as the peer likes");
        let error = Diagnostic::error(ids::MESSAGE_UNBOUNDED, headline, span);
        diagnostics.push(error.help("say how deep on this field: `&max_depth = 8`"));
    }
    check_streams(program, diagnostics);
    check_depths(program, diagnostics);
    check_paths(program, diagnostics);
}

/// How many fields of a program may have a `&max_depth`: a reader counts each of them.
const MOST_DEPTHS: usize = 64;

/// A reader has room for the depths of so many fields.
fn check_depths(program: &Program, diagnostics: &mut Diagnostics) {
    let fields = program.messages.iter().flat_map(|(_, message)| &message.fields);
    if let Some(field) = fields.filter(|field| field.max_depth.is_some()).nth(MOST_DEPTHS) {
        let headline = format!("more than {MOST_DEPTHS} fields of the program have a `&max_depth`");
        let error = Diagnostic::error(ids::MESSAGE_UNBOUNDED, headline, field.span);
        diagnostics.push(error.help("say it once on each way of a message into itself"));
    }
}

/// No formula looks into a field that may contain the formula's own message again: where the fields of such a message
/// are is not kept.
fn check_paths(program: &Program, diagnostics: &mut Diagnostics) {
    for (id, message) in program.messages.iter() {
        let conditions = all_lists(&message.items).into_iter().flatten().filter_map(|item| match item {
            Item::If(condition, ..) => Some((None, condition)),
            Item::Switch(switch) => switch.on.as_ref().map(|formula| (None, formula)),
            Item::Field(_) => None,
        });
        let formulas =
            message.fields.iter().flat_map(|field| field.formulas().into_iter().map(move |one| (Some(field), one)));
        for (field, formula) in formulas.chain(conditions) {
            for reference in &formula.names {
                if let Some(name) = looks_into_itself(program, id, field, reference) {
                    let headline =
                        format!("`{name}` may contain this message again, so nothing can be asked of its fields");
                    let error = Diagnostic::error(ids::MESSAGE_LATER, headline, reference.span);
                    diagnostics.push(error.help("ask before it is read, or read what is asked for in this message"));
                }
            }
        }
    }
}

/// The first field on the way of `reference` that may contain its own message again.
fn looks_into_itself<'p>(
    program: &'p Program,
    id: MessageId,
    field: Option<&Field>,
    reference: &Reference,
) -> Option<&'p str> {
    let mut at = match reference.root {
        Root::Own => id,
        Root::Value => unit_of(field?)?,
        Root::Parameter(_) => return None,
    };
    let (_, way) = reference.path.split_last()?;
    for step in way {
        let inner = program.messages.find(at)?.field(*step)?;
        if is_inside_itself(program, at, inner) {
            return Some(&inner.name);
        }
        at = unit_of(inner)?;
    }
    None
}

/// One byte decides which case is taken.
fn check_switch(message: &Message, switch: &Switch, firsts: &Firsts, diagnostics: &mut Diagnostics) {
    let cases: Vec<_> = switch.cases.iter().filter(|case| !case.is_default).collect();
    let mut empty: Option<Span> = None;
    let mut taken: Vec<(ByteSet, Span)> = vec![];
    for case in cases {
        let first = firsts.items(message, &case.items);
        let clash =
            taken.iter().find_map(|(bytes, span)| Some((bytes.intersection(first.bytes).iter().next()?, *span)));
        if let Some((byte, span)) = clash {
            let headline = format!("two cases may begin with {}", shown(byte));
            let error = Diagnostic::error(ids::MESSAGE_LOOKAHEAD, headline, case.span).mark(span, "the other one");
            let help = "one byte decides here: let them begin differently, or read what they share and then ask for it";
            diagnostics.push(error.help(help));
        }
        if let (true, Some(span)) = (first.can_be_empty, empty) {
            let error = Diagnostic::error(ids::MESSAGE_LOOKAHEAD, "two cases may be empty", case.span);
            diagnostics.push(error.mark(span, "the other one").help("leave one of them"));
        }
        empty = empty.or(first.can_be_empty.then_some(case.span));
        taken.push((first.bytes, case.span));
    }
}

/// One byte decides whether a list goes on.
fn check_list(field: &Field, firsts: &Firsts, diagnostics: &mut Diagnostics) {
    let (Repeat::Open, Some(Extent::Until(end))) = (&field.repeat, &field.extent) else { return };
    let Some(byte) = end.first().copied().filter(|byte| firsts.element(field).bytes.contains(*byte)) else { return };
    let headline = format!("an element of `{}` may begin with {}, as what ends the list does", field.name, shown(byte));
    let help = "let elements begin with something else, a token say, or end the list by what holds of its last element";
    diagnostics.push(Diagnostic::error(ids::MESSAGE_LOOKAHEAD, headline, field.span).help(help));
}

/// A byte, as a message shows it.
fn shown(byte: u8) -> String {
    match byte.is_ascii_graphic() {
        true => format!("`{}`", char::from(byte)),
        false => format!("the byte {byte:#04x}"),
    }
}

/// The messages that `items` may begin with.
fn beginnings(message: &Message, items: &[Item], firsts: &Firsts) -> Vec<Inside> {
    let mut found = vec![];
    for item in items {
        match item {
            Item::Field(id) => {
                let field = message.field(*id).filter(|field| field.parse_at.is_none());
                found.extend(field.and_then(|field| Some((unit_of(field)?, field.span))));
            }
            Item::If(_, then, otherwise) => {
                found.extend(beginnings(message, then, firsts));
                found.extend(beginnings(message, otherwise, firsts));
            }
            Item::Switch(switch) => {
                found.extend(switch.cases.iter().flat_map(|case| beginnings(message, &case.items, firsts)));
            }
        }
        if !firsts.item(message, item).can_be_empty {
            break;
        }
    }
    found
}

/// A way from a message back to it, in order: each with the place of the next one in it.
fn find_circle(program: &Program, inside: &HashMap<MessageId, Vec<Inside>>) -> Option<Vec<Inside>> {
    let of = |id: MessageId| inside.get(&id).cloned().unwrap_or_default();
    let mut done = HashSet::new();
    for root in program.messages.ids() {
        // The messages that are open, each with where the next is in it, and what is still to be looked at.
        let mut open: Vec<(Inside, Vec<Inside>)> = vec![((root, Span::default()), of(root))];
        while let Some(((id, span), rest)) = open.last_mut() {
            let Some((next, place)) = rest.pop() else {
                done.insert(*id);
                open.pop();
                continue;
            };
            *span = place;
            if let Some(from) = open.iter().position(|((id, _), _)| *id == next) {
                return Some(open.split_off(from).into_iter().map(|(inside, _)| inside).collect());
            }
            if !done.contains(&next) {
                open.push(((next, Span::default()), of(next)));
            }
        }
    }
    None
}

/// The headline on a circle, and where it closes.
fn describe(program: &Program, circle: &[Inside], what: &str) -> (String, Span) {
    let names: Vec<_> = circle.iter().chain(circle.first()).map(|(id, _)| &program.messages[*id].name).collect();
    let way: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    let first = names.first().map_or_else(String::new, ToString::to_string);
    let way = if circle.len() > 1 { format!(": {}", way.join(" -> ")) } else { String::new() };
    (format!("the message `{first}` {what}{way}"), circle.last().map(|(_, span)| *span).unwrap_or_default())
}

/// What has gone along in a stream cannot be looked back at, and is not counted: no field around it can have a length.
fn check_streams(program: &Program, diagnostics: &mut Diagnostics) {
    let has = |is_wanted: fn(&Field) -> bool| -> Vec<bool> {
        let own = program.messages.iter().map(|(_, message)| message.fields.iter().any(is_wanted));
        let mut found: Vec<bool> = own.collect();
        // What is inside counts. Each round goes one further out, until nothing changes.
        loop {
            let is_inside = |field: &Field| unit_of(field).is_some_and(|id| found.get(id.index()) == Some(&true));
            let reached = program.messages.iter().map(|(_, message)| message.fields.iter().any(is_inside));
            let next: Vec<bool> = reached.zip(&found).map(|(reached, own)| reached || *own).collect();
            if next == found {
                return found;
            }
            found = next;
        }
    };
    let (streams, looks) = (has(|field| field.is_stream), has(|field| field.parse_at.is_some()));
    for (_, message) in program.messages.iter() {
        for field in &message.fields {
            let is_around = unit_of(field).is_some_and(|unit| streams.get(unit.index()) == Some(&true));
            let headline = match &field.extent {
                Some(Extent::Length(_)) if is_around => "a stream cannot be in what has a `&length` itself",
                Some(Extent::Until(_)) if field.is_stream => "a stream ends after a `&length`, or at `&eod`",
                _ => continue,
            };
            let error = Diagnostic::error(ids::MESSAGE_STREAM, headline, field.span);
            diagnostics.push(error.help("take `&stream` out, or say the length of the stream alone"));
        }
    }
    for (id, message) in program.messages.iter() {
        let at = id.index();
        let is_both = |id: usize| streams.get(id) == Some(&true) && looks.get(id) == Some(&true);
        let inside = message.fields.iter().filter_map(unit_of);
        if is_both(at) && !inside.into_iter().any(|id| is_both(id.index())) {
            let headline = format!("`{}` has a stream, and looks back at bytes that may be gone", message.name);
            let error = Diagnostic::error(ids::MESSAGE_LOOKAHEAD, headline, message.span);
            diagnostics.push(error.help("take `&stream` or `&parse_at` out: streams are never all in memory"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flux_ir::text::parse_program;

    /// What is said of a message with these lines.
    fn said(lines: &str) -> Vec<String> {
        let element = "message word () {\nfield text = token \"[a-z]+\" max 8\nhas #0\n}\n";
        let program = parse_program(&format!("program p\n{element}message m () {{\n{lines}\n}}\n")).unwrap();
        let mut diagnostics = Diagnostics::new();
        check_message_shapes(&program, &mut diagnostics);
        diagnostics.sorted().iter().map(|one| one.headline.clone()).collect()
    }

    #[test]
    fn no_element_of_a_list_begins_as_what_ends_it_does() {
        let list = |end: &str| said(&format!("field all = unit word () list until \"{end}\"\nhas #0"));
        assert_eq!(list("0d0a"), [""; 0]);
        assert_eq!(list("0d61"), [""; 0], "the first byte decides");
        assert_eq!(list("610d"), ["an element of `all` may begin with `a`, as what ends the list does"]);
        let one = "field all = unit word () list until \"7a\"\nif [] truth:\"bool\" true {\nhas #0\n}\nelse {\n}";
        assert_eq!(said(one), ["an element of `all` may begin with `z`, as what ends the list does"]);
        let no_list = "field all = bytes until \"61\"\nhas #0";
        assert_eq!(said(no_list), [""; 0]);
    }
}
