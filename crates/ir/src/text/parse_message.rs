//! Parses messages.

use super::cursor::Cursor;
use super::parse_program::Parser;
use super::{NESTING_LIMIT, ParseError};
use crate::arena::ArenaId;
use crate::message::{
    ByteOrder, Case, Extent, Field, FieldId, Form, Formula, Item, Label, Message, MessageId, Reference, Repeat, Root,
    Switch,
};
use crate::program::Program;
use crate::types::{Integer, Type, TypeNames};
use flux_source::deep;

/// Adds the message that `line` declares, where it declares one, by its name alone: types may name it.
pub(super) fn declare_message(mut line: Cursor<'_>, program: &mut Program) -> Result<(), ParseError> {
    if line.eat_word("message") {
        let span = line.span()?;
        let name = line.declared_name("the message's name")?;
        program.messages.add(Message::new(name, span));
    }
    Ok(())
}

/// Reads the line of the message `id`, whose name is known.
pub(super) fn message_line(
    mut line: Cursor<'_>,
    types: &TypeNames,
    id: MessageId,
    program: &mut Program,
) -> Result<(), ParseError> {
    line.expect_word("message")?;
    line.span()?;
    line.declared_name("the message's name")?;
    let parameters = line.list("(", ")", |line| line.parameter(types))?;
    let max_size = match line.eat_word("max") {
        true => Some(line.number("how many bytes it may have")?),
        false => None,
    };
    let is_origin = line.eat_word("origin");
    line.expect("{")?;
    let message = &mut program.messages[id];
    (message.parameters, message.max_size, message.is_origin) = (parameters, max_size, is_origin);
    line.finish()
}

impl Parser<'_> {
    /// Reads the parts of the message declared on the line before.
    pub(super) fn message(&mut self) -> Result<(), ParseError> {
        let Some(id) = self.messages.next() else { return Ok(()) };
        let mut fields = vec![];
        let mut items = vec![];
        loop {
            let mut line = self.next_line()?;
            if line.eat("}") {
                line.finish()?;
                let message = &mut self.program.messages[id];
                (message.fields, message.items) = (fields, items);
                return Ok(());
            }
            match line.eat_word("field") {
                true => fields.push(self.message_field(line)?),
                false => items.push(self.message_item(line, 0)?),
            }
        }
    }

    fn message_field(&self, mut line: Cursor<'_>) -> Result<Field, ParseError> {
        let span = line.span()?;
        let name = line.name("the field's name")?;
        line.expect("=")?;
        let form = self.form(&mut line)?;
        let mut field = Field::new(name, form, span);
        while let Some(word) = line.word() {
            match word {
                "times" => field.repeat = Repeat::Times(self.formula(&mut line)?),
                "list" => field.repeat = Repeat::Open,
                "length" => field.extent = Some(Extent::Length(self.formula(&mut line)?)),
                "until" => field.extent = Some(Extent::Until(bytes(&mut line)?)),
                "until_holds" => field.extent = Some(Extent::UntilHolds(self.formula(&mut line)?)),
                "eod" => field.extent = Some(Extent::EndOfData),
                "max" => field.max_size = Some(line.number("a size")?),
                "depth" => field.max_depth = Some(line.number("a depth")?),
                "parse_at" => field.parse_at = Some(self.formula(&mut line)?),
                "stream" => field.is_stream = true,
                "convert" => field.convert = Some(self.formula(&mut line)?),
                "requires" => field.requires.push(self.formula(&mut line)?),
                "update" => {
                    let target = field_id(&mut line)?;
                    field.updates.push((target, self.formula(&mut line)?));
                }
                "serialize" => {
                    let target = field_id(&mut line)?;
                    field.serialize = Some((target, self.formula(&mut line)?));
                }
                other => return Err(line.error(format!("a field has no `{other}`"))),
            }
        }
        line.finish()?;
        Ok(field)
    }

    fn form(&self, line: &mut Cursor<'_>) -> Result<Form, ParseError> {
        Ok(match line.word() {
            Some(word @ ("unsigned" | "signed")) => {
                let integer = Integer { signed: word == "signed", bits: line.number("how many bits")? };
                let order = line.word().and_then(ByteOrder::of_name);
                Form::Integer(integer, order.ok_or_else(|| line.error("the order of bytes is `big` or `little`"))?)
            }
            Some("digits") => {
                let signed = line.eat_word("signed");
                if !signed {
                    line.expect_word("unsigned")?;
                }
                let bits = line.number("how many bits")?;
                Form::Digits(Integer { signed, bits }, line.number("a base")?)
            }
            Some("bits") => Form::Bits(line.number("how many bits")?),
            Some("bytes") => Form::Bytes,
            Some("string") => Form::Text,
            Some("literal") => Form::Literal(bytes(line)?),
            Some("token") => Form::Token(line.text()?),
            Some("unit") => {
                let id = line.mention(&self.names.messages, "a message")?;
                let values = line.list("(", ")", |line| self.formula(line))?;
                Form::Unit(ArenaId::new(id), values)
            }
            Some("var") => {
                let ty = self.message_type(line)?;
                Form::Variable(ty, self.formula(line)?)
            }
            _ => return Err(line.expected("what a field is")),
        })
    }

    fn message_type(&self, line: &mut Cursor<'_>) -> Result<Type, ParseError> {
        line.text().map(|spelling| self.types.read(&spelling, ""))
    }

    fn formula(&self, line: &mut Cursor<'_>) -> Result<Formula, ParseError> {
        let names = line.list("[", "]", |line| {
            let span = line.span()?;
            let root = match line.word() {
                Some("self") => Root::Own,
                Some("parameter") => Root::Parameter(line.number::<u32>("an index")? as usize),
                Some("value") => Root::Value,
                _ => return Err(line.expected("`self`, `parameter` or `value`")),
            };
            let mut path = vec![];
            while line.eat(".") {
                path.push(FieldId(line.number("a field")?));
            }
            line.expect(":")?;
            Ok(Reference { root, path, ty: self.message_type(line)?, span })
        })?;
        Ok(Formula { names, value: self.expression(line, 0)? })
    }

    fn message_item(&mut self, mut line: Cursor<'_>, depth: usize) -> Result<Item, ParseError> {
        deep(|| {
            if depth > NESTING_LIMIT {
                return Err(line.error("blocks are nested too deep"));
            }
            match line.word() {
                Some("has") => {
                    let field = field_id(&mut line)?;
                    line.finish()?;
                    Ok(Item::Field(field))
                }
                Some("if") => {
                    let condition = self.formula(&mut line)?;
                    line.expect("{")?;
                    line.finish()?;
                    let then = self.message_items(depth + 1)?;
                    let mut otherwise = self.next_line()?;
                    otherwise.expect_word("else")?;
                    otherwise.expect("{")?;
                    otherwise.finish()?;
                    Ok(Item::If(condition, then, self.message_items(depth + 1)?))
                }
                Some("switch") => {
                    let span = line.span()?;
                    let on = if line.at("[") { Some(self.formula(&mut line)?) } else { None };
                    line.expect("{")?;
                    line.finish()?;
                    let mut cases = vec![];
                    loop {
                        let mut line = self.next_line()?;
                        if line.eat("}") {
                            line.finish()?;
                            return Ok(Item::Switch(Switch { on, cases, span }));
                        }
                        cases.push(self.message_case(line, depth)?);
                    }
                }
                _ => Err(line.expected("an item of a message")),
            }
        })
    }

    fn message_case(&mut self, mut line: Cursor<'_>, depth: usize) -> Result<Case, ParseError> {
        line.expect_word("case")?;
        let span = line.span()?;
        let is_default = line.eat("*");
        let labels = line.list("(", ")", |line| {
            if line.at("\"") {
                return bytes(line).map(Label::Bytes);
            }
            let minus = line.eat("-");
            let magnitude: u64 = line.number("a value")?;
            Ok(Label::Integer(if minus { -i128::from(magnitude) } else { i128::from(magnitude) }))
        })?;
        line.expect("{")?;
        line.finish()?;
        Ok(Case { labels, is_default, items: self.message_items(depth + 1)?, span })
    }

    /// Reads items up to their `}`.
    fn message_items(&mut self, depth: usize) -> Result<Vec<Item>, ParseError> {
        let mut items = vec![];
        loop {
            let mut line = self.next_line()?;
            if line.eat("}") {
                line.finish()?;
                return Ok(items);
            }
            items.push(self.message_item(line, depth)?);
        }
    }
}

fn field_id(line: &mut Cursor<'_>) -> Result<FieldId, ParseError> {
    line.expect("#")?;
    line.number("a field").map(FieldId)
}

/// Bytes in quotes, two digits each.
fn bytes(line: &mut Cursor<'_>) -> Result<Vec<u8>, ParseError> {
    let text = line.text()?;
    let pairs = text.as_bytes().chunks(2).map(|pair| {
        let digits = std::str::from_utf8(pair).ok().filter(|digits| digits.len() == 2)?;
        u8::from_str_radix(digits, 16).ok()
    });
    pairs.collect::<Option<_>>().ok_or_else(|| line.error("bytes are written with two hexadecimal digits each"))
}
