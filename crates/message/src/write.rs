//! Writing: the bytes of a message that was read, perhaps with other values.
//!
//! What says how long something is follows from it: a field that `&length` or `T[n]` asks, and what `&serialize` names,
//! is given its value before it is written. So a key that has become longer needs no second change.

use crate::make::{Making, nothing};
use crate::names::{set, update, value_of};
use crate::tree::{Content, Failure, Read, Tree, Value};
use flux_ir::message::{ByteOrder, Extent, Field, FieldId, Form, Item, Label, Message, Repeat, Switch, Token};
use flux_ir::program::Program;
use flux_ir::types::Integer;
use std::cell::RefCell;
use std::collections::HashMap;

/// What writing gives.
type Outcome<T> = Result<T, Failure>;

/// The bytes of `tree`, which is of a message of `program`. A failure names the bytes that had been written before it.
///
/// # Errors
///
/// Values that the message cannot have, and streams that were not kept.
pub fn write(program: &Program, tree: &Tree) -> Result<Vec<u8>, Failure> {
    let name = &program.messages[tree.message].name;
    let mut tree = tree.clone();
    unit(program, &Tokens::default(), &mut tree, None).map_err(|failure| failure.within(&name.to_string()))
}

/// The bytes of a message, whose own fields are made to fit; `making` says what was given where it is made anew.
pub(crate) fn unit(
    program: &Program,
    tokens: &Tokens,
    tree: &mut Tree,
    making: Option<&Making<'_>>,
) -> Outcome<Vec<u8>> {
    let message = &program.messages[tree.message];
    let mut writer = Writer { program, tokens, making, sized: HashMap::new(), out: vec![], bits: (0, 0), choice: 0 };
    for (index, field) in message.fields.iter().enumerate() {
        writer.settle(tree, FieldId::new(index), field).map_err(|failure| failure.within(&field.name))?;
    }
    // Variables come first and then what is made of them.
    for (index, field) in message.fields.iter().enumerate() {
        let Some((target, value)) = &field.serialize else { continue };
        let Some(own) = content(tree, FieldId::new(index)).cloned() else { continue };
        let value =
            value_of(value, tree, Some(&own)).map_err(|message| Failure::new(0, message).within(&field.name))?;
        writer.add(tree, Some(target));
        set(tree, &[*target], value);
    }
    writer.items(tree, &message.items)?;
    Ok(writer.out)
}

fn content(tree: &Tree, field: FieldId) -> Option<&Content> {
    tree.fields.get(field.index())?.as_ref().map(|read| &read.content)
}

/// The tokens that have been written, by their expressions: reading one of these takes long.
pub(crate) type Tokens = RefCell<HashMap<String, Option<Token>>>;

struct Writer<'p> {
    program: &'p Program,
    tokens: &'p Tokens,
    /// What was given of a message that nobody has read.
    making: Option<&'p Making<'p>>,
    /// The bytes of fields whose size other fields say.
    sized: HashMap<FieldId, Vec<u8>>,
    out: Vec<u8>,
    /// Bits that fill no byte yet, and how many.
    bits: (u8, u8),
    /// How many cases have been taken that the next byte chose.
    choice: usize,
}

impl<'p> Writer<'p> {
    fn message(&self, tree: &Tree) -> &'p Message {
        &self.program.messages[tree.message]
    }

    fn failure(&self, message: impl Into<String>) -> Failure {
        Failure::new(self.out.len() as u64, message)
    }

    /// Makes the fields that say how large another one is say what it is.
    fn settle(&mut self, tree: &mut Tree, id: FieldId, field: &Field) -> Outcome<()> {
        if content(tree, id).is_none() {
            return Ok(());
        }
        if self.making.is_some() {
            self.settle_made(tree, id, field);
            return Ok(());
        }
        let fields = &self.message(tree).fields;
        if fields.iter().flat_map(|other| &other.updates).any(|(target, _)| *target == id) {
            self.variable(tree, id, field)?;
        }
        if field.parse_at.is_some() {
            return Ok(());
        }
        let size = match (&field.extent, &field.repeat) {
            (Some(Extent::Length(length)), _) => {
                let bytes = self.aside(tree, id, |writer, tree, read| writer.bytes_of(tree, field, read))?;
                let size = bytes.len();
                self.sized.insert(id, bytes);
                Some((length, size))
            }
            (_, Repeat::Times(count)) => match content(tree, id) {
                Some(Content::List(elements)) => Some((count, elements.len())),
                _ => None,
            },
            _ => None,
        };
        if let Some((formula, size)) = size
            && let Some((path, value)) = self.message(tree).solve(formula, size as i128)
        {
            set(tree, &path, Value::Integer(value));
        }
        match self.sized.contains_key(&id) {
            true => Ok(()),
            false => self.aside(tree, id, |writer, tree, read| writer.replay(tree, field, read)),
        }
    }

    /// The same of a message that is made anew: what its fields require may be of others that are not known yet.
    fn settle_made(&self, tree: &mut Tree, id: FieldId, field: &Field) {
        let Some(content) = content(tree, id).filter(|_| field.parse_at.is_none()) else { return };
        let size = match (&field.extent, &field.repeat, content) {
            (Some(Extent::Length(length)), _, content) => Some((length, given_size(&field.form, content))),
            (_, Repeat::Times(count), Content::List(elements)) => Some((count, elements.len() as u64)),
            _ => None,
        };
        if let Some((formula, size)) = size
            && let Some((path, value)) = self.message(tree).solve(formula, i128::from(size))
            && let [target] = path.as_slice()
        {
            self.add(tree, Some(target));
            set(tree, &path, Value::Integer(value));
        }
    }

    /// Of a message that is made anew, adds a field that nobody has given.
    fn add(&self, tree: &mut Tree, id: Option<&FieldId>) {
        if let (Some(_), Some(id)) = (self.making, id)
            && let Some(field) = self.message(tree).field(*id)
            && let Some(slot) = tree.fields.get_mut(id.index())
        {
            slot.get_or_insert_with(|| nothing(field));
        }
    }

    /// Does something with a field and all others, and fails where it is not there.
    fn aside<T>(
        &mut self,
        tree: &mut Tree,
        id: FieldId,
        act: impl FnOnce(&mut Self, &mut Tree, &mut Read) -> Outcome<T>,
    ) -> Outcome<T> {
        let taken = tree.fields.get_mut(id.index()).and_then(Option::take);
        let mut read = taken.ok_or_else(|| self.failure("it is not there"))?;
        let done = act(self, tree, &mut read);
        if let Some(slot) = tree.fields.get_mut(id.index()) {
            *slot = Some(read);
        }
        done
    }

    /// Gives a variable the value that it has where it stands.
    fn variable(&self, tree: &mut Tree, id: FieldId, field: &Field) -> Outcome<()> {
        let Form::Variable(_, value) = &field.form else { return Ok(()) };
        let value = value_of(value, tree, None).map_err(|message| self.failure(message))?;
        set(tree, &[id], value);
        Ok(())
    }

    /// Gives the variables that a field updates their values, as when it is read.
    fn replay(&self, tree: &mut Tree, field: &Field, read: &Read) -> Outcome<()> {
        let all = match &read.content {
            Content::List(elements) if field.is_list() => elements.iter().map(|element| &element.content).collect(),
            one => vec![one],
        };
        all.into_iter().try_for_each(|one| update(field, tree, one).map_err(|message| self.failure(message)))
    }

    /// Writes items. The recursion is as deep as choices are in each other, which whoever reads them bounds.
    fn items(&mut self, tree: &mut Tree, items: &[Item]) -> Outcome<()> {
        for item in items {
            match item {
                Item::Field(id) => self.field(tree, *id)?,
                Item::If(condition, then, otherwise) => {
                    let holds = value_of(condition, tree, None).map_err(|message| self.failure(message))?;
                    self.items(tree, if holds == Value::Truth(true) { then } else { otherwise })?;
                }
                Item::Switch(switch) => {
                    let case = self.choose(tree, switch)?;
                    if let Some(case) = switch.cases.get(case) {
                        self.items(tree, &case.items)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn choose(&mut self, tree: &Tree, switch: &Switch) -> Outcome<usize> {
        let Some(on) = &switch.on else {
            if let Some(making) = self.making {
                let chosen = making.choose(self.message(tree), switch);
                return chosen.ok_or_else(|| self.failure("nothing is given of any case"));
            }
            self.choice += 1;
            let chosen = tree.choices.get(self.choice - 1).copied();
            return chosen.ok_or_else(|| self.failure("nothing says which case is taken"));
        };
        let value = value_of(on, tree, None).map_err(|message| self.failure(message))?;
        let label = match value {
            Value::Integer(value) => Some(Label::Integer(value)),
            Value::Bytes(bytes) => Some(Label::Bytes(bytes)),
            Value::Truth(_) => None,
        };
        let is_taken = |labels: &[Label]| label.as_ref().is_some_and(|label| labels.contains(label));
        let found = switch.cases.iter().position(|case| is_taken(&case.labels));
        let found = found.or_else(|| switch.cases.iter().position(|case| case.is_default));
        found.ok_or_else(|| self.failure("there is no case for this value"))
    }

    fn field(&mut self, tree: &mut Tree, id: FieldId) -> Outcome<()> {
        let Some(field) = self.message(tree).field(id) else { return Ok(()) };
        self.add(tree, Some(&id));
        let written = self.variable(tree, id, field);
        let written =
            written.and_then(|()| self.aside(tree, id, |writer, tree, read| writer.named_field(tree, id, field, read)));
        written.map_err(|failure| failure.within(&field.name))
    }

    fn named_field(&mut self, tree: &mut Tree, id: FieldId, field: &Field, read: &mut Read) -> Outcome<()> {
        if field.is_variable() || field.parse_at.is_some() {
            return self.replay(tree, field, read);
        }
        if let (Form::Bits(width), Content::Value { read: value, .. }) = (&field.form, &read.content) {
            self.write_bits(*width, value)?;
            return self.after(tree, field, &read.content);
        }
        // Before the field changes what its own size is made of.
        let size = match (&field.extent, &field.repeat) {
            (Some(Extent::Length(size)), _) | (_, Repeat::Times(size)) => Some(value_of(size, tree, None)),
            _ => None,
        };
        let bytes = match self.sized.remove(&id) {
            Some(bytes) => {
                self.replay(tree, field, read)?;
                bytes
            }
            None => self.bytes_of(tree, field, read)?,
        };
        if let Some(said) = size {
            let size = match (&field.extent, &read.content) {
                (None, Content::List(elements)) => elements.len(),
                _ => bytes.len(),
            };
            if said.map_err(|message| self.failure(message))? != Value::Integer(size as i128) {
                return Err(self.failure(format!("it has {size}, and the message says otherwise")));
            }
        }
        self.out.extend(bytes);
        Ok(())
    }

    fn write_bits(&mut self, width: u8, value: &Value) -> Outcome<()> {
        let value = value.integer().ok().and_then(|value| u64::try_from(value).ok());
        let fits = |value: &u64| width >= 64 || *value >> width == 0;
        let Some(value) = value.filter(fits) else {
            return Err(self.failure(format!("this does not fit {width} bits")));
        };
        for bit in (0..width).rev() {
            let (byte, count) = self.bits;
            self.bits = (byte << 1 | u8::from(value >> bit & 1 == 1), count + 1);
            if self.bits.1 == 8 {
                self.out.push(self.bits.0);
                self.bits = (0, 0);
            }
        }
        Ok(())
    }

    /// The bytes of a field, with what ends it.
    fn bytes_of(&self, tree: &mut Tree, field: &Field, read: &mut Read) -> Outcome<Vec<u8>> {
        let mut bytes = match (&mut read.content, field.is_list()) {
            (Content::List(elements), true) => {
                let mut all = vec![];
                for (index, element) in elements.iter_mut().enumerate() {
                    let one = self.element(tree, field, &mut element.content);
                    all.extend(one.map_err(|failure| failure.within(&format!("[{index}]")))?);
                }
                all
            }
            (content, _) => self.element(tree, field, content)?,
        };
        if let Some(Extent::Until(end)) = &field.extent {
            let is_string = matches!(field.form, Form::Bytes | Form::Text);
            let has_end = bytes.windows(end.len().max(1)).any(|window| window == end);
            if is_string && has_end {
                return Err(self.failure(format!("`{}` is in it, which ends it", end.escape_ascii())));
            }
            bytes.extend(end);
        }
        Ok(bytes)
    }

    fn element(&self, tree: &mut Tree, field: &Field, content: &mut Content) -> Outcome<Vec<u8>> {
        let bytes = self.element_bytes(tree, field, content)?;
        self.after(tree, field, content)?;
        Ok(bytes)
    }

    /// Checks what must hold of a value or an element, and gives variables their values.
    fn after(&self, tree: &mut Tree, field: &Field, content: &Content) -> Outcome<()> {
        for requires in &field.requires {
            let holds = value_of(requires, tree, Some(content)).map_err(|message| self.failure(message))?;
            if holds != Value::Truth(true) {
                return Err(self.failure("this is not what is required"));
            }
        }
        update(field, tree, content).map_err(|message| self.failure(message))
    }

    fn element_bytes(&self, tree: &Tree, field: &Field, content: &mut Content) -> Outcome<Vec<u8>> {
        match (&field.form, content) {
            (Form::Literal(bytes), _) => Ok(bytes.clone()),
            (Form::Unit(_, values), Content::Unit(inner)) => {
                // One that is given has been made with the values of its parameters.
                if self.making.is_none() {
                    let values = values.iter().map(|value| value_of(value, tree, None));
                    inner.parameters = values.collect::<Result<_, _>>().map_err(|message| self.failure(message))?;
                }
                unit(self.program, self.tokens, inner, None)
            }
            (_, Content::Stream { kept, size }) if kept.len() as u64 == *size => Ok(kept.clone()),
            (form, Content::Value { read, spelling, .. }) => self.value(form, read, spelling),
            _ => Err(self.failure("there is nothing to write")),
        }
    }

    fn value(&self, form: &Form, value: &Value, spelling: &[u8]) -> Outcome<Vec<u8>> {
        match (form, value) {
            (Form::Integer(integer, order), Value::Integer(value)) => encode(*value, *integer, *order)
                .ok_or_else(|| self.failure(format!("{value} does not fit {} bits", integer.bits))),
            (Form::Digits(..), _) if !spelling.is_empty() => Ok(spelling.to_vec()),
            (Form::Digits(integer, base), Value::Integer(value)) => {
                let (low, high) = integer.range();
                match ((low..=high).contains(value), base) {
                    (false, _) => Err(self.failure(format!("{value} does not fit {} bits", integer.bits))),
                    (true, 16) if *value < 0 => Ok(format!("-{:x}", -value).into_bytes()),
                    (true, 16) => Ok(format!("{value:x}").into_bytes()),
                    (true, _) => Ok(value.to_string().into_bytes()),
                }
            }
            (Form::Token(expression), Value::Bytes(bytes)) => {
                let mut tokens = self.tokens.borrow_mut();
                let token = tokens.entry(expression.clone()).or_insert_with(|| Token::new(expression).ok());
                match token.as_ref().is_some_and(|token| token.matches(bytes)) {
                    true => Ok(bytes.clone()),
                    false => Err(self.failure(format!("`{}` cannot be here", bytes.escape_ascii()))),
                }
            }
            (Form::Bytes | Form::Text, Value::Bytes(bytes)) => Ok(bytes.clone()),
            _ => Err(self.failure("this is a value of another kind")),
        }
    }
}

/// How many bytes what was given has.
fn given_size(form: &Form, content: &Content) -> u64 {
    match (content, form) {
        (Content::Value { read: Value::Bytes(bytes), .. }, _) => bytes.len() as u64,
        (Content::Value { read, .. }, Form::Digits(_, base)) => {
            let value = read.integer().unwrap_or(0);
            let digits = if *base == 16 { format!("{:x}", value.abs()) } else { value.abs().to_string() };
            (digits.len() + usize::from(value < 0)) as u64
        }
        (Content::Value { .. }, Form::Integer(integer, _)) => u64::from(integer.bits / 8),
        (Content::Value { .. } | Content::Literal, _) => 0,
        (Content::Unit(tree), _) => tree.end - tree.start,
        (Content::List(all), _) => all.iter().map(|one| given_size(form, &one.content)).sum(),
        (Content::Stream { size, .. }, _) => *size,
    }
}

/// A binary integer; none where it has not so many bits.
fn encode(value: i128, integer: Integer, order: ByteOrder) -> Option<Vec<u8>> {
    let (low, high) = integer.range();
    let size = usize::from(integer.bits / 8);
    let all = (low..=high).contains(&value).then(|| value.to_be_bytes())?;
    let mut bytes = all.get(all.len().checked_sub(size)?..)?.to_vec();
    if order == ByteOrder::Little {
        bytes.reverse();
    }
    Some(bytes)
}
