//! A parser: bytes go in as they come, messages come out.

use crate::input::Input;
use crate::parse::{Broken, Grammar};
use crate::tree::{Failure, Tree, Value};
use flux_ir::message::MessageId;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// Whether the bytes of streams are kept with what is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Streams {
    /// They are: so a message can be written again.
    Kept,
    /// They go along; their number stays, and so many of the first.
    Begun(u64),
}

/// A message that was read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parsed {
    /// Where it begins in all that was fed.
    pub offset: u64,
    /// What it is.
    pub tree: Tree,
}

/// A message that has begun.
type Open<'p> = Pin<Box<dyn Future<Output = Result<Tree, Broken>> + 'p>>;

/// Reads one message after another.
pub struct Parser<'p> {
    grammar: &'p Grammar<'p>,
    input: Rc<Input>,
    message: MessageId,
    streams: Streams,
    /// What its request asks for, where it depends on that.
    asked: i128,
    /// Where the message that is being read begins in all that was fed.
    offset: u64,
    open: Option<Open<'p>>,
    /// Of a message that has failed, what had been read of it.
    broken: Option<Parsed>,
}

impl<'p> Parser<'p> {
    /// A parser of `message`, which stands alone.
    pub fn new(grammar: &'p Grammar<'p>, message: MessageId, streams: Streams) -> Self {
        let input = Rc::new(Input::default());
        Self { grammar, input, message, streams, asked: 0, offset: 0, open: None, broken: None }
    }

    /// The same of replies to requests that ask for this.
    #[must_use]
    pub fn asked(self, asked: i128) -> Self {
        Self { asked, ..self }
    }

    /// Adds bytes that have come.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.input.feed(bytes);
    }

    /// No more bytes will come.
    pub fn close(&mut self) {
        self.input.close();
    }

    /// Once a message has failed, what had been read of it: its fields up to there. Of those that the failure names
    /// there may be a part: the elements of a list, the bytes of a text up to where it broke off.
    pub fn broken(&self) -> Option<&Parsed> {
        self.broken.as_ref()
    }

    /// The next message, or why what came is none: then there is no other, and [`Self::broken`] is there. None where
    /// more bytes are needed, or no message has begun.
    pub fn next_message(&mut self) -> Option<Result<Parsed, Failure>> {
        if self.broken.is_some() || self.open.is_none() && self.input.is_empty() {
            return None;
        }
        let future = self.open.get_or_insert_with(|| {
            let (grammar, input, what) = (self.grammar, Rc::clone(&self.input), (self.message, self.streams));
            let is_asked = grammar.program().messages[self.message].is_asked();
            let parameters = if is_asked { vec![Value::Integer(self.asked)] } else { vec![] };
            Box::pin(async move { grammar.whole(&input, what, parameters).await })
        });
        let mut context = Context::from_waker(Waker::noop());
        let Poll::Ready(result) = future.as_mut().poll(&mut context) else { return None };
        self.open = None;
        let offset = self.offset;
        match result {
            Ok(tree) if tree.end == 0 => {
                self.broken = Some(Parsed { offset, tree });
                Some(Err(Failure::new(0, "the message has no bytes").within("")))
            }
            Ok(tree) => {
                self.input.next_message(tree.end);
                self.offset += tree.end;
                Some(Ok(Parsed { offset, tree }))
            }
            Err(Broken { failure, so_far }) => {
                self.broken = Some(Parsed { offset, tree: so_far });
                Some(Err(failure))
            }
        }
    }
}
