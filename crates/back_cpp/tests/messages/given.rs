//! Random values of which messages are made: those of messages that were read, with some of them changed, and others
//! drawn from what the grammar itself says, such as the labels of its choices and the texts of its tokens.

use flux_ir::compute::{Expression, Term};
use flux_ir::message::{Extent, Field, FieldId, Form, Given, Item, Label, Message, MessageId, Token, all_lists};
use flux_ir::program::Program;
use flux_ir::types::{Integer, Type};
use flux_message::{Content, GivenMessage, GivenValue, Tree, Value};
use flux_random_program::Random;
use std::collections::HashMap;

/// How deep messages are in each other that are drawn.
const DEEPEST: usize = 4;

/// What values are drawn from.
pub struct Values<'p> {
    program: &'p Program,
    integers: Vec<i128>,
    texts: Vec<Vec<u8>>,
    tokens: HashMap<String, Token>,
    /// Messages that can be made, or were read.
    known: HashMap<MessageId, Vec<GivenMessage>>,
}

impl<'p> Values<'p> {
    /// Those of a program.
    pub fn new(program: &'p Program) -> Self {
        let mut all =
            Self { program, integers: (-1..5).collect(), texts: vec![], tokens: HashMap::new(), known: HashMap::new() };
        for (_, message) in program.messages.iter() {
            for field in &message.fields {
                all.field(field);
            }
            for item in all_lists(&message.items).into_iter().flatten() {
                match item {
                    Item::If(condition, ..) => all.constants(&condition.value),
                    Item::Switch(switch) => {
                        switch.cases.iter().flat_map(|case| &case.labels).for_each(|label| match label {
                            Label::Integer(value) => all.integers.push(*value),
                            Label::Bytes(text) => all.texts.push(text.clone()),
                        });
                    }
                    Item::Field(_) => {}
                }
            }
        }
        all
    }

    fn field(&mut self, field: &Field) {
        for formula in field.formulas() {
            self.constants(&formula.value);
        }
        if let (Form::Literal(text), _) | (_, Some(Extent::Until(text))) = (&field.form, &field.extent) {
            self.texts.push(text.clone());
        }
        if let Form::Token(expression) = &field.form {
            self.tokens.insert(expression.clone(), Token::new(expression).unwrap());
        }
    }

    fn constants(&mut self, expression: &Expression) {
        match &expression.term {
            Term::Integer(value) => self.integers.extend([*value - 1, *value, *value + 1]),
            Term::Text(text) => self.texts.push(text.as_bytes().to_vec()),
            _ => expression.parts().into_iter().for_each(|part| self.constants(part)),
        }
    }

    /// Remembers the values of a message that was read, and of those in it.
    pub fn learn(&mut self, tree: &Tree) {
        let given = self.given(tree);
        self.known.entry(tree.message).or_default().push(given);
        let contents = tree.fields.iter().flatten().map(|read| &read.content);
        contents.for_each(|content| self.learn_content(content));
    }

    fn learn_content(&mut self, content: &Content) {
        match content {
            Content::Unit(inner) => self.learn(inner),
            Content::List(all) => all.iter().take(8).for_each(|one| self.learn_content(&one.content)),
            Content::Value { .. } | Content::Literal | Content::Stream { .. } => {}
        }
    }

    /// The values of a message that was read.
    fn given(&self, tree: &Tree) -> GivenMessage {
        let message = &self.program.messages[tree.message];
        let value = |given: Given| match given {
            Given::Parameter(index) => Some(GivenValue::Value(tree.parameters[index].clone())),
            Given::Field(id) => tree.fields[id.index()].as_ref().map(|read| self.given_value(&read.content)),
        };
        GivenMessage { message: tree.message, values: message.given().into_iter().map(value).collect() }
    }

    fn given_value(&self, content: &Content) -> GivenValue {
        match content {
            Content::Value { read, .. } => GivenValue::Value(read.clone()),
            Content::Stream { kept, .. } => GivenValue::Value(Value::Bytes(kept.clone())),
            Content::Literal => GivenValue::Value(Value::Bytes(vec![])),
            Content::Unit(inner) => GivenValue::Message(self.given(inner)),
            Content::List(all) => GivenValue::List(all.iter().map(|one| self.given_value(&one.content)).collect()),
        }
    }

    /// The values of some message of this kind.
    pub fn message(&self, random: &mut Random, id: MessageId, depth: usize) -> GivenMessage {
        if let Some(known) = self.known.get(&id).filter(|_| random.chance(800)) {
            let mut given = known[random.below(known.len())].clone();
            for _ in 0..random.below(4) {
                self.change(random, &mut given, depth);
            }
            return given;
        }
        let message = &self.program.messages[id];
        let values = message.given().into_iter().map(|given| {
            let is_there = !is_optional(message, given) || random.chance(400);
            is_there.then(|| self.value(random, message, given, depth))
        });
        GivenMessage { message: id, values: values.collect() }
    }

    /// Changes a value, or adds or removes one that is optional.
    fn change(&self, random: &mut Random, given: &mut GivenMessage, depth: usize) {
        let message = &self.program.messages[given.message];
        let all = message.given();
        if all.is_empty() {
            return;
        }
        let at = random.below(all.len());
        let is_optional = is_optional(message, all[at]);
        match &mut given.values[at] {
            slot @ Some(_) if is_optional && random.chance(300) => *slot = None,
            Some(GivenValue::Message(inner)) if random.chance(700) => self.change(random, inner, depth + 1),
            Some(GivenValue::List(elements)) if random.chance(800) => {
                let Given::Field(id) = all[at] else { return };
                self.change_list(random, &message.fields[id.index()], elements, depth);
            }
            slot => *slot = Some(self.value(random, message, all[at], depth)),
        }
    }

    fn change_list(&self, random: &mut Random, field: &Field, elements: &mut Vec<GivenValue>, depth: usize) {
        let at = random.below(elements.len() + 1);
        match random.below(4) {
            0 if at < elements.len() => _ = elements.remove(at),
            1 if at < elements.len() => match &mut elements[at] {
                GivenValue::Message(inner) => self.change(random, inner, depth + 1),
                one => *one = self.element(random, field, depth),
            },
            2 if at < elements.len() => {
                let other = random.below(elements.len());
                elements.swap(at, other);
            }
            _ => elements.insert(at, self.element(random, field, depth)),
        }
    }

    fn value(&self, random: &mut Random, message: &Message, given: Given, depth: usize) -> GivenValue {
        match given {
            Given::Parameter(index) => GivenValue::Value(self.parameter(random, &message.parameters[index].ty)),
            Given::Field(id) => {
                let field = &message.fields[id.index()];
                match field.is_list() {
                    true => {
                        let count = if depth < DEEPEST { random.below(4) } else { 0 };
                        GivenValue::List((0..count).map(|_| self.element(random, field, depth)).collect())
                    }
                    false => self.element(random, field, depth),
                }
            }
        }
    }

    fn parameter(&self, random: &mut Random, ty: &Type) -> Value {
        match ty.integer() {
            Some(integer) => Value::Integer(self.integer(random, integer)),
            None => Value::Truth(random.chance(500)),
        }
    }

    fn element(&self, random: &mut Random, field: &Field, depth: usize) -> GivenValue {
        match &field.form {
            Form::Unit(id, _) if depth < DEEPEST => GivenValue::Message(self.message(random, *id, depth + 1)),
            Form::Unit(id, _) => GivenValue::Message(self.smallest(random, *id)),
            Form::Integer(integer, _) | Form::Digits(integer, _) => {
                GivenValue::Value(Value::Integer(self.integer(random, *integer)))
            }
            Form::Bits(bits) => {
                GivenValue::Value(Value::Integer(self.integer(random, Integer { signed: false, bits: *bits })))
            }
            Form::Token(expression) if random.chance(900) => {
                GivenValue::Value(Value::Bytes(token(random, &self.tokens[expression])))
            }
            _ => GivenValue::Value(Value::Bytes(self.text(random, field))),
        }
    }

    /// One that is not in itself again: what is in a choice or a list is not given.
    fn smallest(&self, random: &mut Random, id: MessageId) -> GivenMessage {
        let message = &self.program.messages[id];
        let values = message.given().into_iter().map(|given| match given {
            Given::Field(field) if message.fields[field.index()].is_list() => Some(GivenValue::List(vec![])),
            given => (!is_optional(message, given)).then(|| self.value(random, message, given, DEEPEST)),
        });
        GivenMessage { message: id, values: values.collect() }
    }

    /// One that the class takes for it, which may have more bits than the wire.
    fn integer(&self, random: &mut Random, Integer { signed, bits }: Integer) -> i128 {
        let machine = Integer { signed, bits: bits.next_power_of_two().max(8) };
        let (low, high) = if random.chance(900) { Integer { signed, bits }.range() } else { machine.range() };
        match random.below(5) {
            0 => low,
            1 => high,
            2 => low + (u128::from(random.word()) % (high - low + 1).unsigned_abs()).cast_signed(),
            _ => random.choose(&self.integers).unwrap().clamp(low, high),
        }
    }

    fn text(&self, random: &mut Random, field: &Field) -> Vec<u8> {
        const BYTES: &[u8] = b"abcxyz0189 -+;:,.\r\n\0\x7f\x80\xff";
        let most = usize::try_from(field.max_size.unwrap_or(12)).unwrap_or(12).min(12);
        let size = random.below(most + 2);
        match random.below(6) {
            0 => random.choose(&self.texts).unwrap_or_default(),
            1 => (0..size).map(|_| BYTES[random.below(BYTES.len())]).collect(),
            2 => random.choose(&self.integers).unwrap().to_string().into_bytes(),
            _ => (0..size).map(|_| b"abcxyz0189"[random.below(10)]).collect(),
        }
    }
}

/// Whether what is given may be left out.
fn is_optional(message: &Message, given: Given) -> bool {
    let is_always = |id: FieldId| message.items.iter().any(|item| matches!(item, Item::Field(field) if *field == id));
    matches!(given, Given::Field(id) if !is_always(id))
}

/// A text of a token, not a long one where there is a short one.
fn token(random: &mut Random, token: &Token) -> Vec<u8> {
    const LONGEST: usize = 40;
    let (mut state, mut text) = (token.start(), vec![]);
    loop {
        let next: Vec<u8> = (0..=255).filter(|byte| token.step(state, *byte).is_some()).collect();
        let ends = token.accepts(state) && (next.is_empty() || random.chance(250));
        if ends || next.is_empty() || text.len() == LONGEST {
            return text;
        }
        let byte = next[random.below(next.len())];
        text.push(byte);
        state = token.step(state, byte).unwrap();
    }
}

/// The values in words, as `given.hpp` reads them.
pub fn words(program: &Program, given: &GivenMessage, out: &mut String) {
    let message = &program.messages[given.message];
    for (what, value) in message.given().into_iter().zip(&given.values) {
        if is_optional(message, what) {
            out.push_str(if value.is_some() { " +" } else { " -" });
        }
        if let Some(value) = value {
            value_words(program, value, out);
        }
    }
}

fn value_words(program: &Program, value: &GivenValue, out: &mut String) {
    match value {
        GivenValue::Value(Value::Integer(value)) => out.push_str(&format!(" {value}")),
        GivenValue::Value(Value::Truth(value)) => out.push_str(if *value { " 1" } else { " 0" }),
        GivenValue::Value(Value::Bytes(bytes)) => {
            out.push_str(" x");
            bytes.iter().for_each(|byte| out.push_str(&format!("{byte:02x}")));
        }
        GivenValue::List(all) => {
            out.push_str(&format!(" {}", all.len()));
            all.iter().for_each(|one| value_words(program, one, out));
        }
        GivenValue::Message(inner) => words(program, inner, out),
    }
}
