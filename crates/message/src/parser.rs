//! A parser that takes bytes as they arrive, and returns messages.

use crate::input::Input;
use crate::parse::{Broken, Grammar};
use crate::tree::{Failure, Tree, Value};
use flux_ir::message::MessageId;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// The choice to keep the bytes of streams with a message, or to drop them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Streams {
    /// The parser keeps all bytes, and a writer can write the message again.
    Kept,
    /// The parser drops the bytes, and keeps their number. The message keeps at most this many bytes from the
    /// beginning.
    Begun(u64),
}

/// A message that the parser has read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parsed {
    /// The offset of the message's first byte in all bytes that the parser was fed.
    pub offset: u64,
    /// The tree of the message.
    pub tree: Tree,
}

/// The unfinished reading of a message that has begun.
type Open<'p> = Pin<Box<dyn Future<Output = Result<Tree, Broken>> + 'p>>;

/// A parser that reads one message after another.
pub struct Parser<'p> {
    grammar: &'p Grammar<'p>,
    input: Rc<Input>,
    message: MessageId,
    streams: Streams,
    /// The value that the request asks for, if the message depends on its request.
    asked: i128,
    /// The offset of the current message's first byte in all bytes that the parser was fed.
    offset: u64,
    open: Option<Open<'p>>,
    /// The part of a failed message that the parser had read.
    broken: Option<Parsed>,
}

impl<'p> Parser<'p> {
    /// A parser of `message`, which must stand alone.
    pub fn new(grammar: &'p Grammar<'p>, message: MessageId, streams: Streams) -> Self {
        let input = Rc::new(Input::default());
        Self { grammar, input, message, streams, asked: 0, offset: 0, open: None, broken: None }
    }

    /// The same parser, for replies to requests that ask for `asked`.
    #[must_use]
    pub fn asked(self, asked: i128) -> Self {
        Self { asked, ..self }
    }

    /// Adds bytes that have arrived.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.input.feed(bytes);
    }

    /// Closes the input: no more bytes will come.
    pub fn close(&mut self) {
        self.input.close();
    }

    /// The part of a failed message that the parser had read: the fields up to the failure. A field that the failure
    /// names may be incomplete. A list then has its first elements, and a text has its bytes up to the failure.
    pub fn broken(&self) -> Option<&Parsed> {
        self.broken.as_ref()
    }

    /// The next message, or the failure if the bytes are not a message. No message follows a failure, and
    /// [`Self::broken`] returns the part that the parser had read. The result is none if the parser needs more bytes,
    /// or if no message has begun.
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
