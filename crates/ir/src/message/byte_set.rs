//! A set of bytes.

use std::fmt;

/// A set of bytes, one bit for each.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct ByteSet([u64; 4]);

impl ByteSet {
    /// All bytes.
    pub const ALL: Self = Self([u64::MAX; 4]);

    /// None.
    pub const fn new() -> Self {
        Self([0; 4])
    }

    /// This one.
    pub fn of(byte: u8) -> Self {
        [byte].into_iter().collect()
    }

    /// Adds a byte.
    pub fn insert(&mut self, byte: u8) {
        if let Some(word) = self.0.get_mut(usize::from(byte / 64)) {
            *word |= 1 << (byte % 64);
        }
    }

    /// Whether it has `byte`.
    pub fn contains(self, byte: u8) -> bool {
        self.0.get(usize::from(byte / 64)).is_some_and(|word| word >> (byte % 64) & 1 == 1)
    }

    /// What is in one of both.
    pub fn union(self, other: Self) -> Self {
        Self(std::array::from_fn(|at| self.word(at) | other.word(at)))
    }

    /// What is in both.
    pub fn intersection(self, other: Self) -> Self {
        Self(std::array::from_fn(|at| self.word(at) & other.word(at)))
    }

    /// What is not in it.
    pub fn complement(self) -> Self {
        Self(self.0.map(|word| !word))
    }

    /// Whether it has none.
    pub fn is_empty(self) -> bool {
        self == Self::new()
    }

    /// Its bytes, in order.
    pub fn iter(self) -> impl Iterator<Item = u8> {
        (0..=u8::MAX).filter(move |byte| self.contains(*byte))
    }

    fn word(self, at: usize) -> u64 {
        self.0.get(at).copied().unwrap_or(0)
    }
}

impl FromIterator<u8> for ByteSet {
    fn from_iter<I: IntoIterator<Item = u8>>(bytes: I) -> Self {
        let mut set = Self::new();
        bytes.into_iter().for_each(|byte| set.insert(byte));
        set
    }
}

impl fmt::Debug for ByteSet {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_set().entries(self.iter().map(|byte| byte.escape_ascii().to_string())).finish()
    }
}
