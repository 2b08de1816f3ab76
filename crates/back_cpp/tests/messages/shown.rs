//! What is in a message as one line: in the same words of what the reference read, and as C++ that says it by the
//! functions of the classes.

use flux_back_cpp::message::accessor;
use flux_ir::message::{Field, Form, Item, Message};
use flux_ir::program::Program;
use flux_message::{Content, Tree, Value};
use std::fmt::Write as _;

fn is_shown(field: &Field) -> bool {
    !field.name.is_empty() && !field.is_stream && !matches!(field.form, Form::Literal(_))
}

/// What the reference read.
pub fn tree(program: &Program, tree: &Tree) -> String {
    let message = &program.messages[tree.message];
    let mut text = "{".to_owned();
    for (field, read) in message.fields.iter().zip(&tree.fields) {
        if let Some(read) = read.as_ref().filter(|_| is_shown(field)) {
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

fn fields_of(items: &[Item], is_optional: bool, found: &mut Vec<(usize, bool)>) {
    for item in items {
        match item {
            Item::Field(id) => found.push((id.index(), is_optional)),
            Item::If(_, then, otherwise) => {
                fields_of(then, true, found);
                fields_of(otherwise, true, found);
            }
            Item::Switch(switch) => switch.cases.iter().for_each(|case| fields_of(&case.items, true, found)),
        }
    }
}

/// A header with a function `show` for each class, and the names of those that can be read by themselves.
pub fn dumpers(program: &Program) -> String {
    let mut text = format!("#pragma once\n#include \"{}.flux.messages.h\"\n{SHOW}", program.name);
    for (_, message) in program.messages.iter() {
        writeln!(text, "inline void show(const ::{} &message, std::string &out);", message.name).unwrap();
    }
    text += LISTS;
    for (_, message) in program.messages.iter() {
        write!(text, "{}", dumper(message)).unwrap();
    }
    let first = program.messages.iter().filter(|(_, message)| message.parameters.is_empty());
    let names: Vec<_> = first.map(|(_, message)| format!("MESSAGE({})", message.name)).collect();
    text + "#define ALL_MESSAGES " + &names.join(" ") + "\n"
}

fn dumper(message: &Message) -> String {
    let mut found = vec![];
    fields_of(&message.items, false, &mut found);
    found.sort_unstable();
    let mut text = format!("inline void show(const ::{} &message, std::string &out)\n{{\n", message.name);
    text += "    static_cast<void>(message);\n    out += '{';\n";
    for (index, is_optional) in found {
        let field = &message.fields[index];
        if !is_shown(field) {
            continue;
        }
        let call = format!("message.{}()", accessor(message, &field.name));
        let name = &field.name;
        match is_optional {
            true => writeln!(
                text,
                "    if (const auto one = {call}) {{ out += \"{name}=\"; show(*one, out); out += ';'; }}"
            ),
            false => writeln!(text, "    out += \"{name}=\"; show({call}, out); out += ';';"),
        }
        .unwrap();
    }
    text + "    out += '}';\n}\n"
}

const SHOW: &str = r#"
#include <concepts>
#include <span>
inline void show(std::integral auto value, std::string &out)
{
    if constexpr (std::same_as<decltype(value), bool>) {
        out += value ? "true" : "false";
    } else {
        out += std::to_string(value);
    }
}
inline void show(std::string_view text, std::string &out)
{
    for (const char byte : text) {
        out += "0123456789abcdef"[static_cast<unsigned char>(byte) >> 4];
        out += "0123456789abcdef"[static_cast<unsigned char>(byte) & 15];
    }
}
"#;

const LISTS: &str = r#"
template <class Element>
void show(const flux::message_list<Element> &list, std::string &out)
{
    out += '[';
    bool is_first = true;
    for (const auto &one : list) {
        out += is_first ? "" : ",";
        is_first = false;
        show(one, out);
    }
    out += ']';
}
"#;
