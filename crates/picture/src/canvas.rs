//! A picture while it is being drawn: frames are opened and closed around what they contain.

use crate::{Arrow, Frame, Item, Picture, Shape, ShapeId};

/// A picture being drawn.
pub(crate) struct Canvas {
    picture: Picture,
    /// The open frames, outermost first.
    open: Vec<Frame>,
}

impl Canvas {
    /// An empty picture.
    pub(crate) fn new(title: &str) -> Self {
        Self { picture: Picture { title: title.to_owned(), items: vec![], arrows: vec![] }, open: vec![] }
    }

    fn add(&mut self, item: Item) {
        self.open.last_mut().map_or(&mut self.picture.items, |frame| &mut frame.items).push(item);
    }

    /// Adds a shape to the innermost open frame.
    pub(crate) fn shape(&mut self, shape: Shape) {
        self.add(Item::Shape(shape));
    }

    /// Puts two shapes beside each other.
    pub(crate) fn beside(&mut self, one: ShapeId, other: ShapeId) {
        self.add(Item::Beside(one, other));
    }

    /// Adds an arrow.
    pub(crate) fn arrow(&mut self, arrow: Arrow) {
        self.picture.arrows.push(arrow);
    }

    /// Opens a frame inside the innermost open one.
    pub(crate) fn open_frame(&mut self, frame: Frame) {
        self.open.push(frame);
    }

    /// Closes the innermost open frame.
    pub(crate) fn close_frame(&mut self) {
        if let Some(frame) = self.open.pop() {
            self.add(Item::Frame(frame));
        }
    }

    /// The whole picture, all frames closed.
    pub(crate) fn finish(self) -> Picture {
        self.picture
    }
}
