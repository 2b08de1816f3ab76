//! What may be nested deep: how deep a program may be, and how the compiler goes through it without a stack overflow.
//!
//! Two limits hold in every notation: [`NESTING_LIMIT`] for what is in each other, and [`CHAIN_LIMIT`] for operators
//! one after the other. Parsers report what exceeds them. A tree within the limits may still be several thousand levels
//! deep, more than the stack of a thread holds in a debug build. So each function that recurses over such a tree calls
//! itself through [`deep`], and the tree's own boxes are [`Deep`].

use std::fmt;
use std::ops::{Deref, DerefMut};

/// How deep parentheses, lists, blocks, types, parallel steps and other brackets may be in each other.
pub const NESTING_LIMIT: usize = 256;

/// How many operators, fields and elements may follow each other in one value.
pub const CHAIN_LIMIT: usize = 4096;

/// A call has at least so many bytes of stack until the next call of [`deep`].
const RESERVE_BYTES: usize = 256 << 10;
/// How many bytes a new piece of stack has.
const PIECE_BYTES: usize = 8 << 20;

/// Calls `walk`, on a new piece of stack if little is left of this one.
pub fn deep<R>(walk: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(RESERVE_BYTES, PIECE_BYTES, walk)
}

/// A [`Box`] for the inner parts of a tree: it may be dropped, cloned, compared and shown however deep the tree is.
pub struct Deep<T>(Option<Box<T>>);

impl<T> Deep<T> {
    /// A box of `inner`.
    pub fn new(inner: T) -> Self {
        Self(Some(Box::new(inner)))
    }

    /// What is in it.
    pub fn into_inner(mut self) -> T {
        match self.0.take() {
            Some(inner) => *inner,
            None => unreachable!("only its end empties a box"),
        }
    }
}

impl<T> Deref for Deep<T> {
    type Target = T;

    fn deref(&self) -> &T {
        match &self.0 {
            Some(inner) => inner,
            None => unreachable!("only its end empties a box"),
        }
    }
}

impl<T> DerefMut for Deep<T> {
    fn deref_mut(&mut self) -> &mut T {
        match &mut self.0 {
            Some(inner) => inner,
            None => unreachable!("only its end empties a box"),
        }
    }
}

impl<T> Drop for Deep<T> {
    fn drop(&mut self) {
        if let Some(inner) = self.0.take() {
            deep(|| drop(inner));
        }
    }
}

impl<T: Clone> Clone for Deep<T> {
    fn clone(&self) -> Self {
        deep(|| Self::new((**self).clone()))
    }
}

impl<T: PartialEq> PartialEq for Deep<T> {
    fn eq(&self, other: &Self) -> bool {
        deep(|| **self == **other)
    }
}

impl<T: Eq> Eq for Deep<T> {}

impl<T: fmt::Debug> fmt::Debug for Deep<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        deep(|| (**self).fmt(out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, PartialEq, Eq, Debug)]
    enum Tree {
        Leaf,
        Inner(Deep<Tree>),
    }

    fn depth(tree: &Tree) -> usize {
        match tree {
            Tree::Leaf => 0,
            Tree::Inner(inner) => deep(|| 1 + depth(inner)),
        }
    }

    #[test]
    fn a_tree_may_be_deeper_than_a_stack() {
        let tree = (0..200_000).fold(Tree::Leaf, |tree, _| Tree::Inner(Deep::new(tree)));
        let copy = tree.clone();
        assert_eq!(depth(&copy), 200_000);
        assert!(copy == tree && format!("{copy:?}").len() > 200_000);
        let Tree::Inner(inner) = tree else { return assert_eq!(tree, copy) };
        assert_eq!(depth(&inner.into_inner()), 199_999);
    }
}
