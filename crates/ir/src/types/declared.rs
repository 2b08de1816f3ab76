//! The types that a program declares, and what spellings mean them.

use super::{BUILT_IN, Type, TypeKind, written_name};
use crate::message::MessageId;
use crate::name::Name;
use crate::program::{Program, TypeId};
use flux_source::{NESTING_LIMIT, deep};
use std::collections::HashMap;

/// A type that a program declares.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Declared {
    /// By `record`.
    Record(TypeId),
    /// By `enum`.
    Enum(TypeId),
    /// A message.
    Message(MessageId),
}

impl Declared {
    /// Which it is of the records and enumerations, where it is one.
    pub fn declaration(self) -> Option<TypeId> {
        match self {
            Self::Record(id) | Self::Enum(id) => Some(id),
            Self::Message(_) => None,
        }
    }

    /// Which it is of the messages, where it is one.
    pub fn message(self) -> Option<MessageId> {
        match self {
            Self::Message(id) => Some(id),
            Self::Record(_) | Self::Enum(_) => None,
        }
    }

    pub(super) fn kind(self) -> TypeKind {
        match self {
            Self::Record(id) => TypeKind::Record(id),
            Self::Enum(id) => TypeKind::Enum(id),
            Self::Message(id) => TypeKind::Message(id),
        }
    }
}

/// The types that a program declares, by what they are called: here `store.entry`, and in C++ `store::entry`.
#[derive(Clone, Default, Debug)]
pub struct TypeNames(HashMap<String, (Declared, Name)>);

impl TypeNames {
    /// Those of `program`. Where two have one name, it means the first, and a message after all others.
    pub fn of(program: &Program) -> Self {
        let mut names = Self::default();
        for (id, declared) in program.types.iter() {
            names.add(&declared.name, declared.is(id));
        }
        for (id, message) in program.messages.iter() {
            names.add(&message.name, Declared::Message(id));
        }
        names
    }

    /// Adds a type that is called `name`, unless another is.
    pub fn add(&mut self, name: &Name, declared: Declared) {
        for spelling in [name.to_string(), name.joined("::"), written_name(name)] {
            self.0.entry(spelling).or_insert_with(|| (declared, name.clone()));
        }
    }

    /// The declared type that is written `name`, here or in C++.
    pub fn find(&self, name: &str) -> Option<Declared> {
        self.0.get(name).map(|(declared, _)| *declared)
    }

    /// The type that is spelled so, and whose declarations end in `array`: `[3]` of `int x[3]`, empty where it is no
    /// array. Tokens are separated by one space where both are words, and by the customary spelling elsewhere:
    /// `image_tag *`, `unsigned int`, `map<text, hit>`. An array of whatever is C++'s. O(length of the spelling).
    pub fn read(&self, spelling: &str, array: &str) -> Type {
        let own = self.own(spelling, NESTING_LIMIT);
        match own {
            Some(own) if array.is_empty() => own,
            Some(own) => Type::foreign(own.cpp(), array),
            None => Type::foreign(spelling, array),
        }
    }

    /// The type of the language that is spelled so; none where it is C++'s. Lists, optionals and maps may be
    /// in each other up to `depth`; what is deeper is C++'s.
    fn own(&self, spelling: &str, depth: usize) -> Option<Type> {
        let spelling = spelling.trim();
        if let Some((kind, _, _)) = BUILT_IN.iter().find(|(_, here, cpp)| spelling == *here || spelling == *cpp) {
            return Some(Type::own(kind.clone(), spelling.to_owned(), None));
        }
        let Some((outer, inner)) = spelling.strip_suffix('>').and_then(|open| open.split_once('<')) else {
            let (declared, name) = self.0.get(spelling)?;
            return Some(Type::own(declared.kind(), written_name(name), Some(name)));
        };
        let part = |text: &str| depth.checked_sub(1).and_then(|depth| deep(|| self.own(text, depth)));
        let (kind, inner) = match outer {
            "list" | "std::vector" => part(inner).map(|element| (TypeKind::List(element.clone()), element.to_string())),
            "optional" | "std::optional" => {
                part(inner).map(|element| (TypeKind::Optional(element.clone()), element.to_string()))
            }
            "map" | "std::map" => {
                let (key, value) = split_pair(inner)?;
                let (key, value) = (part(key)?, part(value)?);
                let written = format!("{key}, {value}");
                Some((TypeKind::Map(key, value), written))
            }
            _ => None,
        }?;
        Some(Type::own(kind, format!("{outer}<{inner}>"), None))
    }
}

/// `K` and `V` of `K, V`.
fn split_pair(inner: &str) -> Option<(&str, &str)> {
    let mut depth = 0_usize;
    let comma = inner.find(|letter| {
        match letter {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        letter == ',' && depth == 0
    })?;
    let (key, value) = inner.split_at(comma);
    Some((key, value.get(1..)?))
}
