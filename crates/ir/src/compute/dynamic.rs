//! What a `value` can be, and what becomes one: the rules that typing, `verify` and back ends share.
//!
//! A `value` has what JSON has. So what is made of a value of the language is what JSON would write of it: a record is
//! a map of its fields, an enumerator its name, bytes are a text, and an optional is what it has, or undefined.

use crate::arena::Arena;
use crate::program::{TypeBody, TypeDeclaration, TypeId};
use crate::types::{Float, Integer, Type, TypeKind};
use flux_source::deep;
use std::collections::BTreeSet;

/// What a `value` is that is not undefined.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Dynamic {
    /// `bool`
    Bool,
    /// `int64`
    Int64,
    /// `float64`
    Float64,
    /// `text`
    Text,
    /// `list<value>`
    List,
    /// `map<text, value>`
    Map,
}

impl Dynamic {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Bool, Self::Int64, Self::Float64, Self::Text, Self::List, Self::Map];

    /// The type that such a value has then.
    pub fn ty(self) -> Type {
        let value = || Type::of_kind(TypeKind::Value);
        Type::of_kind(match self {
            Self::Bool => TypeKind::Bool,
            Self::Int64 => TypeKind::Integer(Integer { signed: true, bits: 64 }),
            Self::Float64 => TypeKind::Float(Float::Double),
            Self::Text => TypeKind::Text,
            Self::List => TypeKind::List(value()),
            Self::Map => TypeKind::Map(Type::of_kind(TypeKind::Text), value()),
        })
    }
}

/// Whether the values of a type become a `value`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum BecomesValue {
    /// All do.
    Always,
    /// Integers above those of `int64` do not: they fail.
    MayFail,
    /// There is no such conversion.
    Never,
}

/// Whether values of `ty` become a `value`. O(fields of the records in it · log).
pub fn becomes_value(types: &Arena<TypeDeclaration>, ty: &Type) -> BecomesValue {
    becomes(types, ty, &mut BTreeSet::new())
}

/// As above; what the records say that were `seen` is known. The recursion is as deep as records are in each other.
fn becomes(types: &Arena<TypeDeclaration>, ty: &Type, seen: &mut BTreeSet<TypeId>) -> BecomesValue {
    deep(|| match ty.kind() {
        TypeKind::Bool | TypeKind::Float(_) | TypeKind::Text | TypeKind::Bytes | TypeKind::Value => {
            BecomesValue::Always
        }
        TypeKind::Enum(_) => BecomesValue::Always,
        TypeKind::List(inner) | TypeKind::Optional(inner) => becomes(types, inner, seen),
        TypeKind::Map(key, value) if *key.kind() == TypeKind::Text => becomes(types, value, seen),
        TypeKind::Map(..) => BecomesValue::Never,
        TypeKind::Record(id) if !seen.insert(*id) => BecomesValue::Always,
        TypeKind::Record(id) => match types.find(*id).map(|declared| &declared.body) {
            Some(TypeBody::Record(fields)) => {
                let all = fields.iter().map(|field| becomes(types, &field.ty, seen));
                all.max().unwrap_or(BecomesValue::Always)
            }
            _ => BecomesValue::Never,
        },
        _ => match ty.integer() {
            Some(integer) if (Integer { signed: true, bits: 64 }).includes(integer) => BecomesValue::Always,
            Some(_) => BecomesValue::MayFail,
            None => BecomesValue::Never,
        },
    })
}

/// Whether a `value` can be read as one of this type, which fails where it is another: `int64(v)`, `text(v)`,
/// `list(v)`.
pub fn is_read_from_value(ty: &Type) -> bool {
    let is_number = ty.integer().is_some() || matches!(ty.kind(), TypeKind::Float(_));
    is_number || *ty.kind() == TypeKind::Bytes || Dynamic::ALL.into_iter().any(|dynamic| dynamic.ty() == *ty)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::ArenaId;
    use crate::name::Name;
    use crate::program::Parameter;
    use flux_source::Span;

    #[test]
    fn what_json_has_becomes_a_value() {
        let becomes = |ty: &str| becomes_value(&Arena::default(), &Type::new(ty));
        for ty in ["bool", "int8", "uint32", "long", "float32", "bytes", "map<text, list<int64>>", "optional<text>"] {
            assert_eq!(becomes(ty), BecomesValue::Always, "{ty}");
        }
        for ty in ["uint64", "size_t", "list<uint64>", "map<text, optional<uint64>>"] {
            assert_eq!(becomes(ty), BecomesValue::MayFail, "{ty}");
        }
        for ty in ["map<int8, text>", "char *", "image", "list<map<bool, text>>", "std::string_view"] {
            assert_eq!(becomes(ty), BecomesValue::Never, "{ty}");
        }
    }

    #[test]
    fn a_record_becomes_a_value_where_all_its_fields_do() {
        let record = |of: &[&str]| {
            let field = |ty: &&str| Parameter { ty: Type::new(ty), name: "x".to_owned(), span: Span::default() };
            let mut types = Arena::default();
            let body = TypeBody::Record(of.iter().map(field).collect());
            types.add(TypeDeclaration { name: Name::new("hit"), body, span: Span::default() });
            let mut names = crate::types::TypeNames::default();
            names.add(&Name::new("hit"), crate::types::Declared::Record(ArenaId::new(0)));
            becomes_value(&types, &names.read("list<hit>", ""))
        };
        assert_eq!(record(&["text", "int64"]), BecomesValue::Always);
        assert_eq!(record(&["text", "uint64"]), BecomesValue::MayFail);
        assert_eq!(record(&["uint64", "map<int8, bool>"]), BecomesValue::Never);
    }

    #[test]
    fn a_value_is_read_as_what_it_can_be() {
        for ty in ["bool", "uint8", "float32", "text", "bytes", "list<value>", "map<text, value>"] {
            assert!(is_read_from_value(&Type::new(ty)), "{ty}");
        }
        for ty in ["list<text>", "optional<value>", "map<text, text>", "image"] {
            assert!(!is_read_from_value(&Type::new(ty)), "{ty}");
        }
    }
}
