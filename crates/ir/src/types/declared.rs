//! The types that a program declares, and the spellings that mean them.

use super::{BUILT_IN, Type, TypeKind, written_name};
use crate::message::MessageId;
use crate::name::Name;
use crate::program::{Program, TypeId};
use flux_source::{NESTING_LIMIT, deep};
use std::collections::HashMap;

/// A type that a program declares.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Declared {
    /// A type declared with `record`.
    Record(TypeId),
    /// A type declared with `enum`.
    Enum(TypeId),
    /// A message.
    Message(MessageId),
}

impl Declared {
    /// The record or enumeration; none for a message.
    pub fn declaration(self) -> Option<TypeId> {
        match self {
            Self::Record(id) | Self::Enum(id) => Some(id),
            Self::Message(_) => None,
        }
    }

    /// The message; none for a record or an enumeration.
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

/// The types that a program declares, by their names: `store.entry` in Flux, and `store::entry` in C++.
#[derive(Clone, Default, Debug)]
pub struct TypeNames(HashMap<String, (Declared, Name)>);

impl TypeNames {
    /// The types that `program` declares. If several types have one name, the name means the first type. A message
    /// comes after all other types.
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

    /// Adds a type with the name `name`. A spelling that already means another type keeps its meaning.
    pub fn add(&mut self, name: &Name, declared: Declared) {
        for spelling in [name.to_string(), name.joined("::"), written_name(name)] {
            self.0.entry(spelling).or_insert_with(|| (declared, name.clone()));
        }
    }

    /// The declared type with the spelling `name`, in Flux or in C++.
    pub fn find(&self, name: &str) -> Option<Declared> {
        self.0.get(name).map(|(declared, _)| *declared)
    }

    /// The type with the spelling `spelling` and with declarations that end in `array`. The `array` of `int x[3]` is
    /// `[3]`; it is empty if the type is not an array. One space separates two words; other tokens have the customary
    /// spelling: `image_tag *`, `unsigned int`, `map<text, hit>`. An array is always a C++ type. O(length of the
    /// spelling).
    pub fn read(&self, spelling: &str, array: &str) -> Type {
        let own = self.own(spelling, NESTING_LIMIT);
        match own {
            Some(own) if array.is_empty() => own,
            Some(own) => Type::foreign(own.cpp(), array),
            None => Type::foreign(spelling, array),
        }
    }

    /// The type of the language with this spelling; none for a C++ type. Lists, optionals and maps may nest up to
    /// `depth` levels. A type with deeper nesting is a C++ type.
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

/// The types `K` and `V` of `K, V`.
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
