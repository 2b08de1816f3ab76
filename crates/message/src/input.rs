//! The bytes that have come and are still needed, and how a reader waits for more.

use crate::tree::Failure;
use std::cell::RefCell;
use std::future::poll_fn;
use std::task::Poll;

/// The bytes of the message that is being read, and what has come after them.
#[derive(Default)]
pub struct Input(RefCell<Buffer>);

#[derive(Default)]
struct Buffer {
    bytes: Vec<u8>,
    /// The index in `bytes` of the first that is still needed.
    begin: usize,
    /// Its offset in the message.
    first: u64,
    /// Whether no more will come.
    closed: bool,
}

impl Buffer {
    /// The offset in the message after the last byte that has come.
    fn end(&self) -> u64 {
        self.first + (self.bytes.len() - self.begin) as u64
    }

    fn index(&self, offset: u64) -> Option<usize> {
        Some(self.begin + usize::try_from(offset.checked_sub(self.first)?).ok()?)
    }

    /// Gives up what is before `offset`. Bytes are moved once as much has been given up as is left, so each is moved a
    /// bounded number of times.
    fn discard(&mut self, offset: u64) {
        if let Some(index) = self.index(offset) {
            self.begin = index.min(self.bytes.len());
            self.first = offset;
        }
        if self.begin > self.bytes.len() / 2 {
            self.bytes.drain(..self.begin);
            self.begin = 0;
        }
    }
}

/// Where a reader is, and how far it may go.
#[derive(Clone, Copy, Debug)]
pub struct Cursor {
    /// The offset in the message of the next byte.
    pub at: u64,
    /// Where the bytes of the field around it end; none where only the peer knows.
    pub end: Option<u64>,
}

impl Input {
    /// Adds bytes that have come.
    pub fn feed(&self, bytes: &[u8]) {
        self.0.borrow_mut().bytes.extend_from_slice(bytes);
    }

    /// No more will come.
    pub fn close(&self) {
        self.0.borrow_mut().closed = true;
    }

    /// Whether no byte is left.
    pub fn is_empty(&self) -> bool {
        let buffer = self.0.borrow();
        buffer.begin == buffer.bytes.len()
    }

    /// Ends a message whose last byte is before `offset`; what comes after is the next one's.
    pub fn next_message(&self, offset: u64) {
        let mut buffer = self.0.borrow_mut();
        buffer.discard(offset);
        buffer.first = 0;
    }

    /// Gives up the bytes before `offset`, which nobody will look back at.
    pub fn discard(&self, offset: u64) {
        self.0.borrow_mut().discard(offset);
    }

    /// The bytes from one offset to another that have come.
    pub fn bytes(&self, from: u64, to: u64) -> Vec<u8> {
        let buffer = self.0.borrow();
        let range = buffer.index(from).zip(buffer.index(to));
        range.and_then(|(from, to)| buffer.bytes.get(from..to)).unwrap_or_default().to_vec()
    }

    /// The bytes from `cursor` on where no more will come; else none.
    pub fn last(&self, cursor: Cursor) -> Vec<u8> {
        let buffer = self.0.borrow();
        let (closed, come) = (buffer.closed, buffer.end());
        drop(buffer);
        let end = cursor.end.map_or(come, |end| end.min(come));
        if closed { self.bytes(cursor.at, end) } else { vec![] }
    }

    /// The byte at `offset`, once it has come; none where the data ends there.
    pub async fn peek(&self, cursor: Cursor) -> Option<u8> {
        if cursor.end.is_some_and(|end| cursor.at >= end) {
            return None;
        }
        poll_fn(|_| {
            let buffer = self.0.borrow();
            match buffer.index(cursor.at).and_then(|index| buffer.bytes.get(index)) {
                Some(byte) => Poll::Ready(Some(*byte)),
                None if buffer.closed => Poll::Ready(None),
                None => Poll::Pending,
            }
        })
        .await
    }

    /// The next `size` bytes, once they have come.
    pub async fn take(&self, cursor: &mut Cursor, size: u64) -> Result<Vec<u8>, Failure> {
        let start = cursor.at;
        let end = start.saturating_add(size);
        if let Some(limit) = cursor.end.filter(|limit| end > *limit) {
            let left = limit.saturating_sub(start);
            return Err(Failure::new(
                start,
                format!("{size} bytes are wanted, and only {left} belong to what it is in"),
            ));
        }
        let missing = poll_fn(|_| {
            let buffer = self.0.borrow();
            match end.saturating_sub(buffer.end()) {
                0 => Poll::Ready(0),
                missing if buffer.closed => Poll::Ready(missing),
                _ => Poll::Pending,
            }
        })
        .await;
        if missing > 0 {
            return Err(Failure::early_end(start, missing));
        }
        cursor.at = end;
        Ok(self.bytes(start, end))
    }

    /// How many bytes after `cursor` have come, once there is one, and up to `most`; 0 where the data ends there.
    pub async fn available(&self, cursor: Cursor, most: u64) -> u64 {
        let most = cursor.end.map_or(most, |end| most.min(end.saturating_sub(cursor.at)));
        poll_fn(|_| {
            let buffer = self.0.borrow();
            match buffer.end().saturating_sub(cursor.at).min(most) {
                0 if most > 0 && !buffer.closed => Poll::Pending,
                count => Poll::Ready(count),
            }
        })
        .await
    }
}
