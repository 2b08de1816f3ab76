//! What the reference has read of a message as one line, in the words of `shown.rs`.

use crate::shown::is_shown;
use flux_ir::program::Program;
use flux_message::{Content, Tree, Value};
use std::fmt::Write as _;

/// What the reference read.
pub fn tree(program: &Program, tree: &Tree) -> String {
    let message = &program.messages[tree.message];
    let mut text = "{".to_owned();
    for (index, (field, read)) in message.fields.iter().zip(&tree.fields).enumerate() {
        if let Some(read) = read.as_ref().filter(|_| is_shown(program, message, index)) {
            write!(text, "{}={};", field.name, content(program, &read.content)).unwrap();
        }
    }
    text + "}"
}

fn content(program: &Program, content_of: &Content) -> String {
    match content_of {
        Content::Value { read, converted, .. } => match converted.as_ref().unwrap_or(read) {
            Value::Integer(value) => value.to_string(),
            Value::Truth(value) => value.to_string(),
            Value::Bytes(bytes) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        },
        Content::Unit(inner) => tree(program, inner),
        Content::List(all) => {
            let all: Vec<_> = all.iter().map(|one| content(program, &one.content)).collect();
            format!("[{}]", all.join(","))
        }
        Content::Literal | Content::Stream { .. } => String::new(),
    }
}
