//! Lists, as each steps go through them and gather them. The bits that a list carries are a hash of those of its
//! elements; who has to know the elements keeps a table of [`Lists`].

use crate::model::Type;
use crate::random::combine;
use std::collections::BTreeMap;

/// The elements of a list that a function makes are at most one less than this.
const LENGTHS: u64 = 4;

/// What a list can be of: what can be copied to each instance and out of it again.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Item {
    /// Numbers of flows alone: no function takes such a list, as it would take a [`Type::Vector`].
    Flow,
    /// [`Type::Wide`]
    Wide,
    /// [`Type::Flag`], of which C++ has a list of its own kind.
    Flag,
    /// [`Type::Text`]
    Text,
    /// [`Type::Vector`]
    Vector,
    /// [`Type::Table`]
    Table,
    /// [`Type::Tracked`]
    Tracked,
}

impl Item {
    /// Those that functions make lists of.
    pub const MADE: [Self; 6] = [Self::Wide, Self::Flag, Self::Text, Self::Vector, Self::Table, Self::Tracked];

    /// The type of an element.
    pub fn ty(self) -> Type {
        match self {
            Self::Flow => Type::Integer,
            Self::Wide => Type::Wide,
            Self::Flag => Type::Flag,
            Self::Text => Type::Text,
            Self::Vector => Type::Vector,
            Self::Table => Type::Table,
            Self::Tracked => Type::Tracked,
        }
    }

    /// The list in C++, and the stem of names for such values.
    pub(crate) fn spelling(self) -> (&'static str, &'static str) {
        match self {
            Self::Flow => ("std::vector<int>", "flows"),
            Self::Wide => ("std::vector<unsigned long>", "wides"),
            Self::Flag => ("std::vector<bool>", "flags"),
            Self::Text => ("std::vector<std::string>", "texts"),
            Self::Vector => ("std::vector<std::vector<int>>", "vectors"),
            Self::Table => ("std::vector<std::map<int, long>>", "tables"),
            Self::Tracked => ("std::vector<tracked>", "trackeds"),
        }
    }

    /// The elements of the list that a function makes of `bits`.
    pub fn elements(self, bits: u64) -> Vec<u64> {
        (0..bits % LENGTHS).map(|at| self.ty().narrow(combine(bits, 256 + at))).collect()
    }
}

/// The bits that a list of these elements carries.
pub fn list_bits(elements: &[u64]) -> u64 {
    elements.iter().fold(elements.len() as u64, |bits, element| combine(bits, *element))
}

/// The elements of all lists that there are, by the bits of each.
#[derive(Clone, Default, Debug)]
pub struct Lists(BTreeMap<u64, Vec<u64>>);

impl Lists {
    /// The list of these elements, as the bits that it carries.
    pub fn add(&mut self, elements: Vec<u64>) -> u64 {
        let bits = list_bits(&elements);
        self.0.insert(bits, elements);
        bits
    }

    /// What a value of this type carries that a function makes of `bits`.
    pub fn made(&mut self, ty: Type, bits: u64) -> u64 {
        match ty {
            Type::List(item) => self.add(item.elements(bits)),
            _ => ty.narrow(bits),
        }
    }

    /// The elements of the list that carries these bits.
    pub fn elements(&self, bits: u64) -> Vec<u64> {
        self.0.get(&bits).cloned().unwrap_or_default()
    }
}
