//! C++ that says what is in a message, as one line, by the functions of its class; and that makes a message of the
//! values of another. In the same words `read.rs` says what the reference read.

use flux_back_cpp::message::accessor;
use flux_ir::message::{
    Field, FieldId, Form, Given, Item, Message, all_lists, given_type, has_streams, is_before_streams, unit_of,
};
use flux_ir::program::Program;
use flux_ir::types::TypeKind;
use std::fmt::Write as _;

/// Whether what is said of a message has this field.
pub fn is_shown(program: &Program, message: &Message, index: usize) -> bool {
    let field = &message.fields[index];
    let is_known = is_before_streams(&program.messages, message, FieldId::new(index));
    !field.name.is_empty() && is_known && !matches!(field.form, Form::Literal(_))
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

/// The names of the messages that can be read by themselves.
pub fn readable(program: &Program) -> Vec<String> {
    let all = program.messages.iter().filter(|(_, message)| message.stands_alone());
    all.map(|(_, message)| class_name(message)).collect()
}

/// A header with the functions `show` and `check` for each class, and the names of those that can be read by
/// themselves.
pub fn header(program: &Program) -> String {
    let mut text = format!("#pragma once\n#include \"{}.flux.messages.h\"\n{SHOW}", program.name);
    for (_, message) in program.messages.iter() {
        let class = class(message);
        writeln!(text, "inline void show(const {class} &message, std::string &out);").unwrap();
        writeln!(text, "inline void check(const {class} &message);").unwrap();
        writeln!(text, "namespace harness {{ inline bool take_given(class given_values &in, {class} &out); }}")
            .unwrap();
    }
    text += LISTS;
    text += "#include \"harness.hpp\"\n#include \"given.hpp\"\n";
    for (_, message) in program.messages.iter() {
        text += &dumper(program, message);
        text += &maker(program, message);
        text += &taker(program, message);
    }
    let listed = |names: Vec<String>| names.iter().map(|name| format!("MESSAGE({name})")).collect::<Vec<_>>().join(" ");
    let with_parameters = program.messages.iter().filter(|(_, message)| !message.stands_alone());
    let with_parameters = with_parameters.map(|(_, message)| class_name(message)).collect();
    let (names, with_parameters) = (readable(program), listed(with_parameters));
    let (count, names) = (names.len(), listed(names));
    text + &format!(
        "#define MESSAGES {count}u\n#define ALL_MESSAGES {names}\n#define ALL_WITH_PARAMETERS {with_parameters}\n"
    )
}

/// Makes a message of values that come as words.
fn taker(program: &Program, message: &Message) -> String {
    let given = message.given().into_iter().filter_map(|given| {
        given_type(&program.messages, message, given)?;
        Some(match given {
            Given::Parameter(index) => &message.parameters[index].name,
            Given::Field(id) => &message.fields[id.index()].name,
        })
    });
    let takes: String = given.map(|name| format!("take_given(in, given.{}) && ", accessor(message, name))).collect();
    let class = class(message);
    format!(
        "namespace harness {{\ninline bool take_given([[maybe_unused]] given_values &in, {class} &out)\n{{\n    \
         {class}::fields given{{}};\n    if (!({takes}true)) {{ return false; }}\n    \
         auto made = {class}::make(given);\n    \
         if (made.has_value()) {{ out = *made; }}\n    return made.has_value();\n}}\n}}\n"
    )
}

fn class_name(message: &Message) -> String {
    message.name.to_string().replace('.', "::")
}

fn class(message: &Message) -> String {
    format!("::{}", class_name(message))
}

/// Whether what has no name in a message makes no difference, and what is made has the same bytes.
fn fidelity(program: &Program, message: &Message) -> &'static str {
    let lists = all_lists(&message.items);
    let cases = lists.iter().flat_map(|items| items.iter()).filter_map(|item| match item {
        Item::Switch(switch) if switch.on.is_none() => Some(&switch.cases),
        _ => None,
    });
    let is_named = |case: &flux_ir::message::Case| {
        let mut found = vec![];
        fields_of(&case.items, true, &mut found);
        found.iter().any(|(index, _)| {
            message.made_of().iter().any(|id| id.index() == *index) && !message.fields[*index].name.is_empty()
        })
    };
    let chooses = cases.flatten().any(|case| !is_named(case));
    let looks_back = |message: &Message| message.fields.iter().any(|field| field.parse_at.is_some());
    let mut reached = vec![message];
    let mut at = 0;
    while let Some(next) = reached.get(at) {
        at += 1;
        for unit in next.fields.iter().filter_map(unit_of) {
            let unit = &program.messages[unit];
            if !reached.iter().any(|one| one.name == unit.name) {
                reached.push(unit);
            }
        }
    }
    let looks_out = !message.is_origin && reached.into_iter().any(looks_back);
    let has_nameless = message.fields.iter().any(|field| {
        field.name.is_empty() && !field.is_variable() && (!matches!(field.form, Form::Literal(_)) || field.is_list())
    });
    let is_converted = |field: &Field| field.convert.is_some();
    let literals = message.fields.iter().any(|field| field.is_list() && matches!(field.form, Form::Literal(_)));
    // One that somebody gives, and that does not say what follows, was read so and is not made so.
    let made_of = message.made_of();
    let gives = |field: &Field| field.serialize.as_ref().is_some_and(|(target, _)| made_of.contains(target));
    let is_loose = |field: &Field| is_converted(field) || gives(field);
    if chooses || looks_out || has_nameless || literals || message.fields.iter().any(is_loose) {
        return "loose";
    }
    let digits = message.fields.iter().any(|field| matches!(field.form, Form::Digits(..)));
    if digits { "same_values" } else { "same_bytes" }
}

/// Makes a message of the values of another, and the messages in it, too.
fn maker(program: &Program, message: &Message) -> String {
    let class = class(message);
    let mut text = format!("inline void check(const {class} &message)\n{{\n");
    let mut found = vec![];
    fields_of(&message.items, false, &mut found);
    found.sort_unstable();
    let mut given = String::new();
    for parameter in &message.parameters {
        let name = accessor(message, &parameter.name);
        writeln!(given, "    given.{name} = message.{name}();").unwrap();
    }
    let made_of = message.made_of();
    // What streams cannot be read again.
    let inside = |field: &Field| unit_of(field).is_some_and(|unit| has_streams(&program.messages, unit));
    let mut can_be_made = !message.fields.iter().any(|field| field.is_stream || inside(field));
    for (index, is_optional) in found {
        let field = &message.fields[index];
        if !is_shown(program, message, index) {
            continue;
        }
        let name = accessor(message, &field.name);
        if unit_of(field).is_some() {
            let every = if field.is_list() { "check_all" } else { "check" };
            match is_optional {
                true => writeln!(text, "    if (const auto one = message.{name}()) {{ {every}(*one); }}"),
                false => writeln!(text, "    {every}(message.{name}());"),
            }
            .unwrap();
        }
        let is_text = |ty: &flux_ir::types::Type| matches!(ty.kind(), TypeKind::Text | TypeKind::Bytes);
        if let Some(convert) = &field.convert {
            can_be_made &= is_text(&convert.value.ty) && !field.is_list();
        }
        if !made_of.iter().any(|id| id.index() == index) {
            continue;
        }
        match (field.is_list(), is_optional) {
            (true, true) => writeln!(
                given,
                "    const auto list_{index} = message.{name}();\n    if (list_{index}) {{ \
                 given.{name}.emplace(list_{index}->begin(), list_{index}->end()); }}"
            ),
            (true, false) => writeln!(
                given,
                "    const auto list_{index} = message.{name}();\n    \
                 given.{name}.assign(list_{index}.begin(), list_{index}.end());"
            ),
            (false, _) => {
                writeln!(given, "    const auto value_{index} = message.{name}();\n    given.{name} = value_{index};")
            }
        }
        .unwrap();
    }
    if can_be_made {
        let fidelity = fidelity(program, message);
        writeln!(text, "    {class}::fields given{{}};\n{given}").unwrap();
        writeln!(text, "    harness::compare_made(message, given, harness::fidelity::{fidelity});").unwrap();
        if message.stands_alone() {
            text += &maker_of_others(&class, message);
        }
    }
    text + "    static_cast<void>(message);\n}\n"
}

/// Makes it again, and of other texts.
fn maker_of_others(class: &str, message: &Message) -> String {
    let mut text = format!(
        "    if (const auto made = {class}::make(given); made.has_value() && !message.wire().empty()) {{\n        \
         harness::compare_with_read(*made);\n    }}\n"
    );
    for field in message.made_of().into_iter().filter_map(|id| message.field(id)) {
        let is_always_there =
            message.items.iter().any(|item| matches!(item, Item::Field(id) if message.field(*id) == Some(field)));
        let is_text = matches!(field.form, Form::Bytes | Form::Text) && field.convert.is_none() && !field.is_list();
        if is_text && is_always_there {
            let name = accessor(message, &field.name);
            writeln!(
                text,
                "    harness::compare_with_other_texts<{class}>(\n        \
                 given, [](auto &fields, std::string_view text) {{ fields.{name} = text; }},\n        \
                 [](const auto &made) {{ return made.{name}(); }});"
            )
            .unwrap();
        }
    }
    text
}

fn dumper(program: &Program, message: &Message) -> String {
    let mut found = vec![];
    fields_of(&message.items, false, &mut found);
    found.sort_unstable();
    let mut text = format!("inline void show(const {} &message, std::string &out)\n{{\n", class(message));
    text += "    static_cast<void>(message);\n    out += '{';\n";
    for (index, is_optional) in found {
        let field = &message.fields[index];
        if !is_shown(program, message, index) {
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
void check_all(const auto &list)
{
    for (const auto &one : list) {
        check(one);
    }
}
"#;
