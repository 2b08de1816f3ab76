//! Things kept in order and named by a typed index.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// The index of a `T` in an [`Arena`].
pub struct ArenaId<T> {
    index: u32,
    kind: PhantomData<fn() -> T>,
}

impl<T> ArenaId<T> {
    /// The id of the element at `index`.
    pub fn new(index: usize) -> Self {
        Self { index: u32::try_from(index).unwrap_or(u32::MAX), kind: PhantomData }
    }

    /// The position, from 0.
    pub fn index(self) -> usize {
        self.index as usize
    }
}

impl<T> Clone for ArenaId<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for ArenaId<T> {}
impl<T> PartialEq for ArenaId<T> {
    fn eq(&self, other: &Self) -> bool {
        self.index == other.index
    }
}
impl<T> Eq for ArenaId<T> {}
impl<T> PartialOrd for ArenaId<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl<T> Ord for ArenaId<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.index.cmp(&other.index)
    }
}
impl<T> std::hash::Hash for ArenaId<T> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.index.hash(state);
    }
}
impl<T> fmt::Debug for ArenaId<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "#{}", self.index)
    }
}

/// A vector indexed by [`ArenaId`]. Elements are added, never removed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Arena<T> {
    elements: Vec<T>,
}

impl<T> Default for Arena<T> {
    fn default() -> Self {
        Self { elements: vec![] }
    }
}

impl<T> Arena<T> {
    /// Adds `element` and gives its id.
    pub fn add(&mut self, element: T) -> ArenaId<T> {
        self.elements.push(element);
        ArenaId::new(self.elements.len() - 1)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.elements.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.elements.is_empty()
    }

    /// The element `id`, where there is one.
    pub fn find(&self, id: ArenaId<T>) -> Option<&T> {
        self.elements.get(id.index())
    }

    /// The element `id` to change, where there is one.
    pub fn find_mut(&mut self, id: ArenaId<T>) -> Option<&mut T> {
        self.elements.get_mut(id.index())
    }

    /// The elements with their ids, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (ArenaId<T>, &T)> + ExactSizeIterator {
        self.elements.iter().enumerate().map(|(index, element)| (ArenaId::new(index), element))
    }

    /// The elements to change, with their ids, in order.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (ArenaId<T>, &mut T)> {
        self.elements.iter_mut().enumerate().map(|(index, element)| (ArenaId::new(index), element))
    }

    /// The ids, in order; does not borrow the arena.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = ArenaId<T>> + use<T> {
        (0..self.elements.len()).map(ArenaId::new)
    }
}

// An id comes from the arena that it indexes: another one is a bug of ours, and a bug asserts.
impl<T> Index<ArenaId<T>> for Arena<T> {
    type Output = T;
    #[expect(clippy::indexing_slicing, reason = "an id that is not of this arena is a bug of ours")]
    fn index(&self, id: ArenaId<T>) -> &T {
        &self.elements[id.index()]
    }
}
impl<T> IndexMut<ArenaId<T>> for Arena<T> {
    #[expect(clippy::indexing_slicing, reason = "an id that is not of this arena is a bug of ours")]
    fn index_mut(&mut self, id: ArenaId<T>) -> &mut T {
        &mut self.elements[id.index()]
    }
}
impl<T> FromIterator<T> for Arena<T> {
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Self {
        Self { elements: elements.into_iter().collect() }
    }
}
