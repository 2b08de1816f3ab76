//! `flux message`

use crate::arguments::Message;
use crate::failure::{Failure, Result};
use crate::program::{Notes, compile_or_module, plain};
use crate::terminal::{Terminal, print};
use flux_ir::message::{Field, MessageId, has_streams};
use flux_ir::program::Program;
use flux_message::{Content, Grammar, Parsed, Parser, Read, Streams, Tree, Value};
use serde_json::json;
use std::fmt::Write as _;
use std::io::Read as _;

/// How many bytes of a text are shown to a person; of a stream to anyone.
const SHOWN: usize = 60;

/// Prints the messages on standard input, each as soon as its last byte has come.
pub fn message(arguments: &Message, terminal: &Terminal) -> Result {
    let program = compile_or_module(&arguments.program)?;
    program.report(Notes::Hidden, terminal)?;
    let model = program.compilation.program().ok_or(Failure::Program)?;
    let id = find(model, &arguments.name)?;
    let grammar = Grammar::new(model);
    let mut parser = Parser::new(&grammar, id, Streams::Begun(SHOWN as u64)).asked(arguments.asked.into());
    let mut input = std::io::stdin().lock();
    let mut chunk = vec![0; 1 << 16];
    loop {
        let count = match input.read(&mut chunk) {
            Ok(count) => count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(Failure::usage(format!("cannot read standard input: {}", plain(&error)))),
        };
        match count {
            0 => parser.close(),
            _ => parser.feed(chunk.get(..count).unwrap_or_default()),
        }
        while let Some(next) = parser.next_message() {
            match next {
                Ok(parsed) if arguments.json => print(&format!("{}\n", object(model, &parsed))),
                Ok(parsed) => print(&text(model, &parsed)),
                Err(failure) => return Err(failed(model, arguments.json, parser.broken(), &failure)),
            }
        }
        if count == 0 {
            return Ok(());
        }
    }
}

/// Prints what was read of a message that breaks off or is wrong, and says why it is none, with the offset in all that
/// was read.
fn failed(program: &Program, json: bool, broken: Option<&Parsed>, failure: &flux_message::Failure) -> Failure {
    let offset = broken.map_or(0, |broken| broken.offset) + failure.offset;
    if json {
        let mut object = broken.map_or_else(|| json!({}), |broken| object(program, broken));
        if let Some(members) = object.as_object_mut() {
            let error = json!({ "offset": offset, "field": failure.field, "message": failure.message });
            members.insert("error".to_owned(), error);
        }
        print(&format!("{object}\n"));
        return Failure::Program;
    }
    if let Some(broken) = broken {
        let name = &program.messages[broken.tree.message].name;
        print(&format!("{:>8} {name} (not whole)\n{}", broken.offset, fields_text(program, broken)));
    }
    Failure::Bytes(format!("byte {offset}: `{}`: {}", failure.field, failure.message))
}

/// The message that is called so, which needs nothing to be read.
fn find(program: &Program, name: &str) -> Result<MessageId> {
    let found = program.messages.iter().find(|(_, message)| message.name == name);
    let Some((id, message)) = found else {
        let names: Vec<_> = program.messages.iter().map(|(_, message)| message.name.to_string()).collect();
        return Err(Failure::usage(match names.as_slice() {
            [] => "the program declares no message: `type command = unit { … };`".to_owned(),
            _ => format!("there is no message `{name}`; there are {}", names.join(", ")),
        }));
    };
    match message.stands_alone() {
        true => Ok(id),
        false => Err(Failure::usage(format!("`{name}` has parameters: name a message that contains it"))),
    }
}

/// A message for a person: a line for it, and one for each field, with the offset in all that was read.
fn text(program: &Program, parsed: &Parsed) -> String {
    let mut out = String::new();
    let message = &program.messages[parsed.tree.message];
    let size = parsed.tree.end - parsed.tree.start;
    let in_streams = match streamed(&parsed.tree) {
        0 => String::new(),
        count => format!(", {count} of them in streams"),
    };
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{:>8} {} ({size} bytes{in_streams})", parsed.offset, message.name);
    out + &fields_text(program, parsed)
}

fn fields_text(program: &Program, parsed: &Parsed) -> String {
    let mut out = String::new();
    fields(program, &parsed.tree, (parsed.offset, 1), &mut out);
    out
}

fn fields(program: &Program, tree: &Tree, place: (u64, usize), out: &mut String) {
    for (field, read) in named(program, tree) {
        line(program, &field.name, read, place, out);
    }
}

fn line(program: &Program, name: &str, read: &Read, (offset, depth): (u64, usize), out: &mut String) {
    let start = format!("{:>8} {}{name}", offset + read.start, "  ".repeat(depth));
    let _ = match &read.content {
        Content::Value { read, converted, .. } => {
            writeln!(out, "{start} = {}", shown(converted.as_ref().unwrap_or(read)))
        }
        // The offset is that of its first byte, so the number says where it ends.
        Content::Stream { size, kept } => {
            let more = if kept.len() as u64 == *size { "" } else { "…" };
            let bytes = if *size == 1 { "byte" } else { "bytes" };
            writeln!(out, "{start} = \"{}\"{more} (stream of {size} {bytes})", kept.escape_ascii())
        }
        Content::Literal => Ok(()),
        Content::Unit(inner) => {
            let _ = writeln!(out, "{start}:");
            fields(program, inner, (offset, depth + 1), out);
            Ok(())
        }
        Content::List(elements) => {
            let _ = writeln!(out, "{start}: {}", elements.len());
            for (index, element) in elements.iter().enumerate() {
                line(program, &format!("[{index}]"), element, (offset, depth + 1), out);
            }
            Ok(())
        }
    };
}

/// How many bytes of a message are in streams: what whoever pulls them is given.
fn streamed(tree: &Tree) -> u64 {
    fn of(content: &Content) -> u64 {
        match content {
            Content::Stream { size, .. } => *size,
            Content::Unit(inner) => streamed(inner),
            Content::List(elements) => elements.iter().map(|element| of(&element.content)).sum(),
            Content::Value { .. } | Content::Literal => 0,
        }
    }
    tree.fields.iter().flatten().map(|read| of(&read.content)).sum()
}

/// The fields that were read and have names.
fn named<'a>(program: &'a Program, tree: &'a Tree) -> impl Iterator<Item = (&'a Field, &'a Read)> {
    let fields = &program.messages[tree.message].fields;
    let read = fields.iter().zip(&tree.fields).filter_map(|(field, read)| Some((field, read.as_ref()?)));
    read.filter(|(field, _)| !field.name.is_empty())
}

fn shown(value: &Value) -> String {
    match value {
        Value::Integer(value) => value.to_string(),
        Value::Truth(value) => value.to_string(),
        Value::Bytes(bytes) => beginning(bytes.get(..SHOWN).unwrap_or(bytes), bytes.len() as u64),
    }
}

/// The first bytes of so many.
fn beginning(bytes: &[u8], size: u64) -> String {
    let more = if bytes.len() as u64 == size { String::new() } else { format!("… ({size} bytes)") };
    format!("\"{}\"{more}", bytes.escape_ascii())
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A message for a program: its fields by name, each with its offset.
fn object(program: &Program, parsed: &Parsed) -> serde_json::Value {
    let message = &program.messages[parsed.tree.message];
    let size = parsed.tree.end - parsed.tree.start;
    let mut object = json!({
        "message": message.name.to_string(),
        "offset": parsed.offset,
        "size": size,
        "fields": objects(program, &parsed.tree, parsed.offset),
    });
    if let Some(fields) = object.as_object_mut().filter(|_| has_streams(&program.messages, parsed.tree.message)) {
        fields.insert("streamed".to_owned(), json!(streamed(&parsed.tree)));
    }
    object
}

fn objects(program: &Program, tree: &Tree, offset: u64) -> Vec<serde_json::Value> {
    named(program, tree).map(|(field, read)| one(program, Some(&field.name), read, offset)).collect()
}

fn one(program: &Program, name: Option<&str>, read: &Read, offset: u64) -> serde_json::Value {
    let mut object = serde_json::Map::new();
    object.extend(name.map(|name| ("name".to_owned(), json!(name))));
    object.insert("offset".to_owned(), json!(offset + read.start));
    object.insert("size".to_owned(), json!(read.end - read.start));
    let (key, value) = match &read.content {
        Content::Value { read, converted, .. } => match converted.as_ref().unwrap_or(read) {
            Value::Integer(value) => {
                ("value", i64::try_from(*value).map_or_else(|_| json!(value.to_string()), |it| json!(it)))
            }
            Value::Truth(value) => ("value", json!(value)),
            Value::Bytes(bytes) => ("bytes", json!(hexadecimal(bytes))),
        },
        Content::Literal => ("literal", json!(true)),
        Content::Stream { size, kept } => ("stream", json!({ "size": size, "begins": hexadecimal(kept) })),
        Content::Unit(inner) => ("fields", json!(objects(program, inner, offset))),
        Content::List(elements) => {
            ("elements", elements.iter().map(|element| one(program, None, element, offset)).collect())
        }
    };
    object.insert(key.to_owned(), value);
    serde_json::Value::Object(object)
}
