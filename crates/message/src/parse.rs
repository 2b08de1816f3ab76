//! Reading: a function for a message, one for its items, one for a field, and one for what a field is.

use crate::input::{Cursor, Input};
use crate::names::{update, value_of};
use crate::parser::Streams;
use crate::tree::{Content, Failure, Read, Tree, Value};
use flux_ir::message::{
    ByteOrder, Extent, Field, FieldId, Firsts, Form, Formula, Item, Label, Message, MessageId, Repeat, Switch, Token,
};
use flux_ir::program::Program;
use flux_ir::types::Integer;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

/// How deep messages may be in each other, whatever `&max_depth` says: each is a call of a function.
const DEPTH_LIMIT: usize = 200;

/// What reading gives.
type Outcome<T> = Result<T, Failure>;

/// A step of reading that calls itself.
type Step<'a, T> = Pin<Box<dyn Future<Output = Outcome<T>> + 'a>>;

/// The messages of a program, ready to be read: what is known before the first byte.
pub struct Grammar<'p> {
    program: &'p Program,
    firsts: Firsts,
    tokens: HashMap<(MessageId, FieldId), Token>,
}

/// One message that is being read.
struct Reading<'r, 'p> {
    grammar: &'r Grammar<'p>,
    streams: Streams,
    input: &'r Input,
    /// How many bytes may have come at the end of the message that is read, without those of streams; and how many that
    /// one may have.
    bound: Cell<(u64, u64)>,
    /// The bytes of streams, which do not count.
    streamed: Cell<u64>,
    /// How often each field is open, for `&max_depth`.
    depths: RefCell<HashMap<(MessageId, FieldId), u64>>,
    /// What had been read of the innermost of what is open, once a failure ends it: that becomes part of what is around
    /// it on the way out.
    so_far: Cell<Option<Content>>,
    /// Where what had been read ends then.
    reached: Cell<u64>,
}

/// A message that was not read to its end.
pub(crate) struct Broken {
    /// Why.
    pub(crate) failure: Failure,
    /// What had been read of it; the last field of each message in it may be there in part.
    pub(crate) so_far: Tree,
}

/// Where in messages a reader is.
#[derive(Clone, Copy)]
struct Place {
    /// How many messages are open.
    depth: usize,
    /// Where the last `&parse_at` led; further looks back lead to before that.
    floor: Option<u64>,
    /// The byte that `&parse_at` counts from.
    origin: u64,
}

/// Bits of a byte that have not been taken, the highest first.
#[derive(Default)]
struct Bits {
    byte: u8,
    left: u8,
}

impl<'p> Grammar<'p> {
    /// Prepares to read the messages of `program`, which passes have found right.
    pub fn new(program: &'p Program) -> Self {
        let mut tokens = HashMap::new();
        for (id, message) in program.messages.iter() {
            for (index, field) in message.fields.iter().enumerate() {
                if let Form::Token(expression) = &field.form
                    && let Ok(token) = Token::new(expression)
                {
                    tokens.insert((id, FieldId::new(index)), token);
                }
            }
        }
        Self { program, firsts: Firsts::of(program), tokens }
    }

    /// The program whose messages they are.
    pub(crate) fn program(&self) -> &'p Program {
        self.program
    }

    /// What may begin with which byte.
    pub(crate) fn firsts(&self) -> &Firsts {
        &self.firsts
    }

    /// Reads bytes that are one message, all of them, with its streams; `parameters` are the values of its parameters.
    ///
    /// # Errors
    ///
    /// Bytes that are no such message.
    pub fn read_all(&self, id: MessageId, parameters: Vec<Value>, bytes: &[u8]) -> Outcome<Tree> {
        let input = Input::default();
        input.feed(bytes);
        input.close();
        let mut reading = pin!(self.whole(&input, (id, Streams::Kept), parameters));
        // All has come, so nothing waits.
        let Poll::Ready(tree) = reading.as_mut().poll(&mut Context::from_waker(Waker::noop())) else {
            return Err(Failure::new(0, "more bytes are wanted"));
        };
        let tree = tree.map_err(|broken| broken.failure)?;
        match bytes.len() as u64 - tree.end {
            0 => Ok(tree),
            left => Err(Failure::new(tree.end, format!("{left} bytes are left over"))),
        }
    }

    /// Reads a message that is in no other.
    pub(crate) async fn whole(
        &self,
        input: &Input,
        (id, streams): (MessageId, Streams),
        parameters: Vec<Value>,
    ) -> Result<Tree, Broken> {
        let message = &self.program.messages[id];
        let depths = RefCell::new(HashMap::new());
        let (bound, streamed) = (Cell::new((message.most_bytes(), message.most_bytes())), Cell::new(0));
        let (so_far, reached) = (Cell::new(None), Cell::new(0));
        let reading = Reading { grammar: self, streams, input, bound, streamed, depths, so_far, reached };
        let mut cursor = Cursor { at: 0, end: None };
        let place = Place { depth: 0, floor: None, origin: 0 };
        let read = reading.unit(id, parameters, &mut cursor, place).await;
        read.map_err(|failure| Broken {
            failure: failure.within(&message.name.to_string()),
            so_far: match reading.so_far.take() {
                Some(Content::Unit(tree)) => *tree,
                _ => Tree::new(message, id, 0, vec![]),
            },
        })
    }
}

impl<'r> Reading<'r, '_> {
    fn message(&self, id: MessageId) -> &'r Message {
        &self.grammar.program.messages[id]
    }

    /// Reads a message.
    fn unit<'a>(
        &'a self,
        id: MessageId,
        parameters: Vec<Value>,
        cursor: &'a mut Cursor,
        place: Place,
    ) -> Step<'a, Tree> {
        Box::pin(async move {
            if place.depth >= DEPTH_LIMIT {
                return Err(Failure::new(cursor.at, format!("more than {DEPTH_LIMIT} messages are in each other")));
            }
            let message = self.message(id);
            let place = if message.is_origin { Place { origin: cursor.at, ..place } } else { place };
            let outer = self.bound.get();
            if let Some(most) = message.max_size {
                let bound = cursor.at.saturating_sub(self.streamed.get()).saturating_add(most);
                self.bound.set(if bound < outer.0 { (bound, most) } else { outer });
            }
            let mut tree = Tree::new(message, id, cursor.at, parameters);
            if let Err(failure) = self.items(&mut tree, &message.items, cursor, place).await {
                tree.end = self.reached.get().max(failure.offset).max(tree.start);
                return Err(self.broken(failure, Content::Unit(Box::new(tree))));
            }
            self.bound.set(outer);
            tree.end = cursor.at;
            Ok(tree)
        })
    }

    /// Reads items one after the other.
    fn items<'a>(
        &'a self,
        tree: &'a mut Tree,
        items: &'a [Item],
        cursor: &'a mut Cursor,
        place: Place,
    ) -> Step<'a, ()> {
        Box::pin(async move {
            let mut bits = Bits::default();
            for item in items {
                match item {
                    Item::Field(id) => self.field(tree, *id, cursor, &mut bits, place).await?,
                    Item::If(condition, then, otherwise) => {
                        let holds = self.formula(condition, tree, None, cursor.at)?;
                        let holds = holds.truth().map_err(|message| Failure::new(cursor.at, message))?;
                        self.items(tree, if holds { then } else { otherwise }, cursor, place).await?;
                    }
                    Item::Switch(switch) => {
                        let items = self.choose(tree, switch, *cursor).await?;
                        self.items(tree, items, cursor, place).await?;
                    }
                }
            }
            Ok(())
        })
    }

    /// The items of the case that is taken.
    async fn choose<'a>(&self, tree: &mut Tree, switch: &'a Switch, cursor: Cursor) -> Outcome<&'a [Item]> {
        let fallback = || switch.cases.iter().find(|case| case.is_default).map(|case| case.items.as_slice());
        if let Some(on) = &switch.on {
            let value = self.formula(on, tree, None, cursor.at)?;
            let wanted = match &value {
                Value::Integer(value) => Label::Integer(*value),
                Value::Bytes(bytes) => Label::Bytes(bytes.clone()),
                Value::Truth(_) => return Err(Failure::new(cursor.at, "a choice by what is true or false")),
            };
            let case = switch.cases.iter().find(|case| case.labels.contains(&wanted));
            let items = case.map(|case| case.items.as_slice()).or_else(fallback);
            return items.ok_or_else(|| Failure::new(cursor.at, format!("there is no case for {}", shown(&value))));
        }
        let byte = self.input.peek(cursor).await;
        let message = self.message(tree.message);
        let firsts: Vec<_> = switch.cases.iter().map(|case| self.grammar.firsts.items(message, &case.items)).collect();
        let by_byte = || {
            let begins = |byte| {
                firsts
                    .iter()
                    .zip(&switch.cases)
                    .position(|(first, case)| !case.is_default && first.bytes.contains(byte))
            };
            begins(byte?)
        };
        let by_default = || switch.cases.iter().position(|case| case.is_default);
        let by_nothing =
            || firsts.iter().zip(&switch.cases).position(|(first, case)| !case.is_default && first.can_be_empty);
        let found = by_byte().or_else(by_nothing).or_else(by_default);
        let Some((index, case)) = found.and_then(|index| Some((index, switch.cases.get(index)?))) else {
            let what = byte.map_or("the data ends".to_owned(), |byte| format!("`{}` comes", [byte].escape_ascii()));
            return Err(Failure::new(cursor.at, format!("{what}, with which no case begins")));
        };
        tree.choices.push(index);
        Ok(&case.items)
    }

    /// The value of a formula of a message, or of the field whose value is `own`.
    fn formula(&self, formula: &Formula, tree: &Tree, own: Option<&Content>, at: u64) -> Outcome<Value> {
        value_of(formula, tree, own).map_err(|message| Failure::new(at, message))
    }

    /// A length, a number or an offset.
    fn number(&self, formula: &Formula, tree: &Tree, at: u64) -> Outcome<u64> {
        let value = self.formula(formula, tree, None, at)?;
        let value = value.integer().map_err(|message| Failure::new(at, message))?;
        u64::try_from(value).map_err(|_| Failure::new(at, format!("{value} is below zero")))
    }

    /// Notes what had been read of what a failure ends.
    fn broken(&self, failure: Failure, so_far: Content) -> Failure {
        self.so_far.set(Some(so_far));
        failure
    }

    /// What had been read of what began at this byte, where a failure has ended it.
    fn take_so_far(&self, start: u64, failure: &Failure) -> Option<Read> {
        let content = self.so_far.take()?;
        Some(Read { start, end: self.reached.get().max(failure.offset).max(start), content })
    }

    /// Fails where the message would become too large.
    fn within_size(&self, at: u64, end: u64) -> Outcome<()> {
        let (bound, most) = self.bound.get();
        match end <= bound.saturating_add(self.streamed.get()) {
            true => Ok(()),
            false => Err(Failure::new(at, format!("the message would be larger than {most} bytes"))),
        }
    }

    /// Reads a field into `tree`.
    async fn field(
        &self,
        tree: &mut Tree,
        id: FieldId,
        cursor: &mut Cursor,
        bits: &mut Bits,
        place: Place,
    ) -> Outcome<()> {
        let message = self.message(tree.message);
        let Some(field) = message.field(id) else { return Ok(()) };
        let start = cursor.at;
        let read = self.named_field(tree, (id, field), cursor, bits, place).await;
        let (read, outcome) = match read {
            Ok(read) => (Some(read), Ok(())),
            Err(failure) => (self.take_so_far(start, &failure), Err(failure.within(&field.name))),
        };
        if let (Some(slot), Some(read)) = (tree.fields.get_mut(id.index()), read) {
            *slot = Some(read);
        }
        outcome
    }

    async fn named_field(
        &self,
        tree: &mut Tree,
        (id, field): (FieldId, &Field),
        cursor: &mut Cursor,
        bits: &mut Bits,
        place: Place,
    ) -> Outcome<Read> {
        if let Form::Bits(width) = field.form {
            let start = cursor.at - u64::from(bits.left > 0);
            let value = self.bits(width, cursor, bits).await?;
            let content = self.finish(tree, field, Content::value(Value::Integer(i128::from(value))), start)?;
            return Ok(Read { start, end: cursor.at, content });
        }
        let start = cursor.at;
        if let Some(at) = &field.parse_at {
            let content = self.look_back(tree, (id, field), at, cursor, place).await?;
            return Ok(Read { start, end: start, content });
        }
        // What has a length has its own end, and uses all bytes up to there.
        let mut inner = *cursor;
        let is_region = field.is_list() || matches!(field.form, Form::Unit(..));
        if let (Some(Extent::Length(length)), true) = (&field.extent, is_region) {
            let size = self.number(length, tree, start)?;
            let end = start.saturating_add(size);
            self.within_size(start, end)?;
            if let Some(limit) = cursor.end.filter(|limit| *limit < end) {
                let left = limit - start;
                return Err(Failure::new(
                    start,
                    format!("{size} bytes are wanted, and only {left} belong to what it is in"),
                ));
            }
            inner.end = Some(end);
        }
        let content = match &field.repeat {
            Repeat::Once => self.element(tree, (id, field), &mut inner, place).await?,
            _ => self.list(tree, (id, field), &mut inner, place).await?,
        };
        if let (Some(end), true) = (inner.end, inner.end != cursor.end && inner.at < inner.end.unwrap_or(0)) {
            let failure = Failure::new(inner.at, format!("{} bytes are left over", end - inner.at));
            return Err(self.broken(failure, content));
        }
        cursor.at = inner.at;
        Ok(Read { start, end: cursor.at, content })
    }

    /// Reads the elements of a list.
    async fn list(
        &self,
        tree: &mut Tree,
        (id, field): (FieldId, &Field),
        cursor: &mut Cursor,
        place: Place,
    ) -> Outcome<Content> {
        let times = match &field.repeat {
            Repeat::Times(count) => Some(self.number(count, tree, cursor.at)?),
            Repeat::Once | Repeat::Open => None,
        };
        let most = field.max_size.unwrap_or(u64::MAX);
        let too_many = |at| Failure::new(at, format!("there are more than {most} elements"));
        if times.is_some_and(|times| times > most) {
            return Err(too_many(cursor.at));
        }
        let mut elements: Vec<Read> = vec![];
        let outcome = loop {
            match self.list_ends(tree, field, times, &elements, cursor).await {
                Ok(true) => break Ok(()),
                Ok(false) if elements.len() as u64 == most => break Err(too_many(cursor.at)),
                Ok(false) => {}
                Err(failure) => break Err(failure),
            }
            let (start, streamed) = (cursor.at, self.streamed.get());
            match self.element(tree, (id, field), cursor, place).await {
                Ok(content) => elements.push(Read { start, end: cursor.at, content }),
                Err(failure) => {
                    let index = elements.len();
                    elements.extend(self.take_so_far(start, &failure));
                    break Err(failure.within(&format!("[{index}]")));
                }
            }
            if self.streamed.get() > streamed {
                // What is around streams in a list goes along with them.
                self.streamed.set(streamed + cursor.at - start);
            }
        };
        match outcome {
            Ok(()) => Ok(Content::List(elements)),
            Err(failure) => Err(self.broken(failure, Content::List(elements))),
        }
    }

    /// Whether a list ends here; what ends it is passed over.
    async fn list_ends(
        &self,
        tree: &Tree,
        field: &Field,
        times: Option<u64>,
        elements: &[Read],
        cursor: &mut Cursor,
    ) -> Outcome<bool> {
        Ok(match (&field.extent, times) {
            (_, Some(times)) => elements.len() as u64 == times,
            (Some(Extent::Until(end)), None) => {
                let first = end.first().copied();
                let is_end = first.is_some() && self.input.peek(*cursor).await == first;
                if is_end {
                    self.literal(end, cursor).await?;
                }
                is_end
            }
            (Some(Extent::UntilHolds(holds)), None) => match elements.last() {
                Some(last) => {
                    let holds = self.formula(holds, tree, Some(&last.content), cursor.at)?;
                    holds.truth().map_err(|message| Failure::new(cursor.at, message))?
                }
                None => false,
            },
            _ => self.input.peek(*cursor).await.is_none(),
        })
    }

    /// Reads what a field is, once.
    async fn element(
        &self,
        tree: &mut Tree,
        (id, field): (FieldId, &Field),
        cursor: &mut Cursor,
        place: Place,
    ) -> Outcome<Content> {
        let start = cursor.at;
        let integer_value = |value: i128| Content::value(Value::Integer(value));
        let content = match &field.form {
            Form::Integer(integer, order) => {
                let size = u64::from(integer.bits / 8);
                self.within_size(start, start + size)?;
                integer_value(decode(&self.input.take(cursor, size).await?, *integer, *order))
            }
            Form::Digits(integer, base) => self.digits(*integer, *base, cursor).await?,
            Form::Bits(_) => Content::Literal,
            Form::Bytes | Form::Text => self.string(tree, field, cursor).await?,
            Form::Literal(bytes) => {
                self.literal(bytes, cursor).await?;
                Content::Literal
            }
            Form::Token(_) => self.token((tree.message, id), field, cursor).await?,
            Form::Unit(..) => Content::Unit(Box::new(self.inner(tree, (id, field), cursor, place).await?)),
            Form::Variable(_, value) => Content::value(self.formula(value, tree, None, start)?),
        };
        self.finish(tree, field, content, start)
    }

    /// Converts a value, checks what it must be, and does what follows for variables.
    fn finish(&self, tree: &mut Tree, field: &Field, mut content: Content, start: u64) -> Outcome<Content> {
        match self.checked(tree, field, &mut content, start) {
            Ok(()) => Ok(content),
            Err(failure) => Err(self.broken(failure, content)),
        }
    }

    fn checked(&self, tree: &mut Tree, field: &Field, content: &mut Content, start: u64) -> Outcome<()> {
        if let Some(convert) = &field.convert {
            let value = self.formula(convert, tree, Some(content), start)?;
            if let Content::Value { converted, .. } = content {
                *converted = Some(value);
            }
        }
        for requires in &field.requires {
            let holds = self.formula(requires, tree, Some(content), start)?;
            if !holds.truth().map_err(|message| Failure::new(start, message))? {
                let what = match &*content {
                    Content::Value { read, .. } => format!("{} is not what is required", shown(read)),
                    _ => "this is not what is required".to_owned(),
                };
                return Err(Failure::new(start, what));
            }
        }
        update(field, tree, content).map_err(|message| Failure::new(start, message))
    }

    /// Reads a message inside.
    async fn inner(
        &self,
        tree: &Tree,
        (id, field): (FieldId, &Field),
        cursor: &mut Cursor,
        place: Place,
    ) -> Outcome<Tree> {
        let Form::Unit(message, values) = &field.form else {
            return Err(Failure::new(cursor.at, "this is no message"));
        };
        let parameters = values.iter().map(|value| self.formula(value, tree, None, cursor.at));
        let parameters = parameters.collect::<Result<Vec<_>, _>>()?;
        let key = (tree.message, id);
        if let Some(most) = field.max_depth {
            let mut depths = self.depths.borrow_mut();
            let depth = depths.entry(key).or_default();
            *depth += 1;
            if *depth > most {
                return Err(Failure::new(cursor.at, format!("it is in itself more than {most} times")));
            }
        }
        let place = Place { depth: place.depth + 1, ..place };
        let inner = self.unit(*message, parameters, cursor, place).await;
        if let Some(depth) = self.depths.borrow_mut().get_mut(&key) {
            *depth -= 1;
        }
        inner
    }

    /// Reads a message that is further back. Each such look leads to before the one that it is in, so they end.
    async fn look_back(
        &self,
        tree: &mut Tree,
        (id, field): (FieldId, &Field),
        at: &Formula,
        cursor: &Cursor,
        place: Place,
    ) -> Outcome<Content> {
        let offset = place.origin.saturating_add(self.number(at, tree, cursor.at)?);
        let floor = place.floor.unwrap_or(tree.start);
        if offset >= floor {
            let what = format!("byte {offset} is not before byte {floor}, where what looks back begins");
            return Err(Failure::new(cursor.at, what));
        }
        let mut back = Cursor { at: offset, end: Some(cursor.at) };
        let place = Place { floor: Some(offset), ..place };
        let inner = self.inner(tree, (id, field), &mut back, place).await?;
        self.finish(tree, field, Content::Unit(Box::new(inner)), cursor.at)
    }

    async fn bits(&self, width: u8, cursor: &mut Cursor, bits: &mut Bits) -> Outcome<u64> {
        let mut value = 0_u64;
        for _ in 0..width {
            if bits.left == 0 {
                self.within_size(cursor.at, cursor.at + 1)?;
                let byte = self.input.take(cursor, 1).await?.first().copied();
                *bits = Bits { byte: byte.unwrap_or(0), left: 8 };
            }
            bits.left -= 1;
            value = value << 1 | u64::from(bits.byte >> bits.left & 1);
        }
        Ok(value)
    }

    async fn literal(&self, bytes: &[u8], cursor: &mut Cursor) -> Outcome<()> {
        for wanted in bytes {
            match self.input.peek(*cursor).await {
                Some(found) if found == *wanted => {
                    cursor.at += 1;
                    self.within_size(cursor.at, cursor.at)?;
                }
                Some(found) => {
                    let (wanted, found) = (bytes.escape_ascii(), [found]);
                    let what = format!("`{wanted}` is wanted, and `{}` comes", found.escape_ascii());
                    return Err(Failure::new(cursor.at, what));
                }
                None => return Err(self.ends(cursor, &format!("`{}` is wanted", bytes.escape_ascii()))),
            }
        }
        Ok(())
    }

    fn ends(&self, cursor: &Cursor, wanted: &str) -> Failure {
        Failure::new(cursor.at, format!("the data ends where {wanted}"))
    }

    async fn digits(&self, wanted: Integer, base: u32, cursor: &mut Cursor) -> Outcome<Content> {
        let start = cursor.at;
        let mut spelling = vec![];
        let mut value = 0_i128;
        let mut count = 0_u32;
        let (low, high) = wanted.range();
        while let Some(byte) = self.input.peek(*cursor).await {
            let is_sign = spelling.is_empty() && wanted.signed && matches!(byte, b'-' | b'+');
            let digit = char::from(byte).to_digit(base);
            if digit.is_none() && !is_sign {
                break;
            }
            spelling.push(byte);
            cursor.at += 1;
            self.within_size(cursor.at, cursor.at)?;
            if let Some(digit) = digit {
                let digit = if spelling.first() == Some(&b'-') { -i128::from(digit) } else { i128::from(digit) };
                value = value * i128::from(base) + digit;
                count += 1;
            }
            if !(low..=high).contains(&value) || count > DIGITS_LIMIT {
                return Err(Failure::new(start, format!("this number has more than {} bits", wanted.bits)));
            }
        }
        if count == 0 {
            return Err(Failure::new(cursor.at, "a digit is wanted"));
        }
        Ok(Content::Value { read: Value::Integer(value), converted: None, spelling })
    }

    async fn token(&self, key: (MessageId, FieldId), field: &Field, cursor: &mut Cursor) -> Outcome<Content> {
        let start = cursor.at;
        let Some(token) = self.grammar.tokens.get(&key) else { return Err(Failure::new(start, "this is no token")) };
        // That of a list is how many elements it may have.
        let most = field.max_size.filter(|_| !field.is_list()).unwrap_or(u64::MAX);
        let mut state = token.start();
        let mut text = vec![];
        while !token.is_last(state)
            && let Some(byte) = self.input.peek(*cursor).await
            && let Some(next) = token.step(state, byte)
        {
            text.push(byte);
            state = next;
            cursor.at += 1;
            self.within_size(cursor.at, cursor.at)?;
            if text.len() as u64 > most {
                return Err(Failure::new(start, format!("it has more than {most} bytes")));
            }
        }
        if token.accepts(state) {
            return Ok(Content::value(Value::Bytes(text)));
        }
        let failure = match self.input.peek(*cursor).await {
            Some(byte) => Failure::new(cursor.at, format!("`{}` cannot come here", [byte].escape_ascii())),
            None => self.ends(cursor, "it has not"),
        };
        Err(self.broken(failure, Content::value(Value::Bytes(text))))
    }

    /// Reads bytes or text, up to where the extent says.
    async fn string(&self, tree: &Tree, field: &Field, cursor: &mut Cursor) -> Outcome<Content> {
        let start = cursor.at;
        let most = field.max_size.unwrap_or(u64::MAX);
        let too_long = || Failure::new(start, format!("it has more than {most} bytes"));
        let length = match &field.extent {
            Some(Extent::Length(length)) => Some(self.number(length, tree, start)?),
            _ => None,
        };
        if length.is_some_and(|length| length > most) {
            return Err(too_long());
        }
        if field.is_stream {
            return self.stream(field, length, cursor).await;
        }
        if let Some(length) = length {
            self.within_size(start, start.saturating_add(length))?;
            let taken = self.input.take(cursor, length).await;
            return match taken {
                Ok(text) => Ok(Content::value(Value::Bytes(text))),
                Err(failure) => {
                    let text = self.input.last(*cursor);
                    self.reached.set(start + text.len() as u64);
                    Err(self.broken(failure, Content::value(Value::Bytes(text))))
                }
            };
        }
        let end = match &field.extent {
            Some(Extent::Until(end)) => end.as_slice(),
            _ => &[],
        };
        let mut text: Vec<u8> = vec![];
        while let Some(byte) = self.input.peek(*cursor).await {
            text.push(byte);
            cursor.at += 1;
            self.within_size(cursor.at, cursor.at)?;
            let has_ended = !end.is_empty() && text.ends_with(end);
            let length = text.len() - if has_ended { end.len() } else { 0 };
            // What ends it may have come in part.
            if length as u64 > most.saturating_add(if has_ended { 0 } else { end.len().saturating_sub(1) as u64 }) {
                return Err(self.broken(too_long(), Content::value(Value::Bytes(text))));
            }
            if has_ended {
                text.truncate(length);
                return Ok(Content::value(Value::Bytes(text)));
            }
        }
        match end.is_empty() {
            true => Ok(Content::value(Value::Bytes(text))),
            false => {
                let failure = self.ends(cursor, &format!("`{}` is wanted", end.escape_ascii()));
                Err(self.broken(failure, Content::value(Value::Bytes(text))))
            }
        }
    }

    /// Lets bytes go along as they come.
    async fn stream(&self, field: &Field, length: Option<u64>, cursor: &mut Cursor) -> Outcome<Content> {
        let start = cursor.at;
        if let Some((limit, length)) = cursor.end.zip(length).filter(|(limit, length)| limit - start < *length) {
            let left = limit - start;
            return Err(Failure::new(
                start,
                format!("{length} bytes are wanted, and only {left} belong to what it is in"),
            ));
        }
        let most = length.or(field.max_size).unwrap_or(u64::MAX);
        let mut kept = vec![];
        loop {
            let size = cursor.at - start;
            let count = self.input.available(*cursor, most - size).await;
            if count == 0 {
                break;
            }
            let wanted = match self.streams {
                Streams::Kept => count,
                Streams::Begun(most) => count.min(most.saturating_sub(size)),
            };
            kept.extend(self.input.bytes(cursor.at, cursor.at + wanted));
            if self.streams != Streams::Kept {
                self.input.discard(cursor.at + count);
            }
            cursor.at += count;
            self.streamed.set(self.streamed.get() + count);
        }
        let size = cursor.at - start;
        let content = Content::Stream { size, kept };
        let failure = match length {
            Some(length) if size < length => Failure::early_end(cursor.at, length - size),
            None if size == most && self.input.peek(*cursor).await.is_some() => {
                Failure::new(start, format!("it has more than {most} bytes"))
            }
            _ => return Ok(content),
        };
        Err(self.broken(failure, content))
    }
}

/// How many digits a number may have: some write zeros before it.
const DIGITS_LIMIT: u32 = 64;

/// A binary integer.
fn decode(bytes: &[u8], integer: Integer, order: ByteOrder) -> i128 {
    let mut bytes = bytes.to_vec();
    if order == ByteOrder::Little {
        bytes.reverse();
    }
    let value = bytes.iter().fold(0_i128, |value, byte| value << 8 | i128::from(*byte));
    let is_negative = integer.signed && value >> (integer.bits - 1) & 1 == 1;
    if is_negative { value - (1 << integer.bits) } else { value }
}

/// A value, as a message shows it.
fn shown(value: &Value) -> String {
    match value {
        Value::Integer(value) => value.to_string(),
        Value::Truth(value) => value.to_string(),
        Value::Bytes(bytes) if bytes.len() > 40 => format!("this text of {} bytes", bytes.len()),
        Value::Bytes(bytes) => format!("`{}`", bytes.escape_ascii()),
    }
}
