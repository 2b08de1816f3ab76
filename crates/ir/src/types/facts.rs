//! What can be done with the values of a type, as far as its structure says it: of a C++ type only the C++ compiler
//! knows.

use super::{Type, TypeKind, record_fields};
use crate::program::{Parameter, Program, TypeId};
use flux_source::deep;
use std::collections::{BTreeMap, BTreeSet};

/// Whether values of type `ty` can be keys of constraints, or parts of them: they have a number each that equal ones
/// share. Of a C++ type the C++ compiler says it. O(fields of the records in it · log).
pub fn can_be_key(program: &Program, ty: &Type) -> bool {
    use TypeKind::{AnyMessage, Float, List, Map, Message, Optional};
    let is_key =
        |kind: &TypeKind| !matches!(kind, Float(_) | List(_) | Optional(_) | Map(..) | Message(_) | AnyMessage);
    every_part(program, ty, &mut BTreeSet::new(), &is_key)
}

/// How many values a key is made of that is of type `ty`: one, or those of the fields of a record. Records that share
/// records may have more than a number says, which then is the largest. O(fields of the records in it · log).
pub fn key_parts(program: &Program, ty: &Type) -> u64 {
    count_key_parts(program, ty, &mut BTreeMap::new())
}

/// As above; of the records in `known` it is known already.
fn count_key_parts(program: &Program, ty: &Type, known: &mut BTreeMap<TypeId, u64>) -> u64 {
    let TypeKind::Record(id) = ty.kind() else { return 1 };
    if let Some(count) = known.get(id) {
        return *count;
    }
    let parts = record_fields(program, *id).iter().map(|field| deep(|| count_key_parts(program, &field.ty, known)));
    let count = parts.fold(0, u64::saturating_add);
    known.insert(*id, count);
    count
}

/// Whether values of type `ty` have a total order, as the keys of a map must: all have but floating-point numbers, of
/// which NaN is neither less than another nor equal to it. Of a C++ type the C++ compiler says it. O(fields of the
/// records in it · log).
pub fn is_ordered(program: &Program, ty: &Type) -> bool {
    every_part(program, ty, &mut BTreeSet::new(), &|kind| !matches!(kind, TypeKind::Float(_)))
}

/// The first map in `ty` whose keys have no total order; a record is looked at where it is declared.
pub fn unordered_map<'a>(program: &Program, ty: &'a Type) -> Option<&'a Type> {
    match ty.kind() {
        TypeKind::Map(key, _) if !is_ordered(program, key) => Some(ty),
        TypeKind::Map(key, value) => unordered_map(program, key).or_else(|| unordered_map(program, value)),
        TypeKind::List(inner) | TypeKind::Optional(inner) => unordered_map(program, inner),
        _ => None,
    }
}

/// How a body writes a value of each of these fields, where that is known without the program: `fields: []`.
pub fn written_fields<'a>(fields: impl IntoIterator<Item = &'a Parameter>) -> String {
    let written = |field: &Parameter| {
        let value = match field.ty.kind() {
            TypeKind::List(_) | TypeKind::Map(..) => "[]",
            TypeKind::Optional(_) => "none",
            _ => "…",
        };
        format!("{}: {value}", field.name)
    };
    fields.into_iter().map(written).collect::<Vec<_>>().join(", ")
}

/// Whether `holds` of a type and of all that its values are made of, but for the records that were `seen`. The
/// recursion is as deep as records are in each other.
fn every_part(program: &Program, ty: &Type, seen: &mut BTreeSet<TypeId>, holds: &dyn Fn(&TypeKind) -> bool) -> bool {
    if !holds(ty.kind()) {
        return false;
    }
    match ty.kind() {
        TypeKind::Record(id) if seen.insert(*id) => {
            record_fields(program, *id).iter().all(|field| deep(|| every_part(program, &field.ty, seen, holds)))
        }
        TypeKind::List(inner) | TypeKind::Optional(inner) => every_part(program, inner, seen, holds),
        TypeKind::Map(key, value) => every_part(program, key, seen, holds) && every_part(program, value, seen, holds),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::parse_program;

    #[test]
    fn the_parts_of_a_key_are_counted_and_not_enumerated() {
        let mut text = "program p\n\nrecord r0 {\n  field int8 x\n}\n".to_owned();
        for level in 1..=100 {
            let inner = level - 1;
            text += &format!("record r{level} {{\n  field r{inner} a\n  field r{inner} b\n}}\n");
        }
        let program = parse_program(&text).unwrap();
        let names = crate::types::TypeNames::of(&program);
        let parts = |ty: &str| key_parts(&program, &names.read(ty, ""));
        assert_eq!((parts("text"), parts("r0"), parts("r10"), parts("r100")), (1, 1, 1024, u64::MAX));
    }

    #[test]
    fn what_has_a_floating_point_number_has_no_total_order() {
        let program = parse_program(
            "program p

record name {
  field text own
}
record place {
  field name called
  field list<float32> at
}

node N (name n, place p) => ()
",
        )
        .unwrap();
        let names = crate::types::TypeNames::of(&program);
        let facts = |ty: &str| {
            let ty = names.read(ty, "");
            (is_ordered(&program, &ty), can_be_key(&program, &ty))
        };
        for ty in ["int8", "text", "value", "name"] {
            assert_eq!(facts(ty), (true, true), "{ty}");
        }
        for ty in ["list<text>", "optional<name>", "map<text, list<name>>"] {
            assert_eq!(facts(ty), (true, false), "{ty}");
        }
        for ty in ["float64", "place", "optional<place>", "map<text, float32>"] {
            assert_eq!(facts(ty), (false, false), "{ty}");
        }
        let unordered = |ty: &str| unordered_map(&program, &names.read(ty, "")).map(ToString::to_string);
        assert_eq!(unordered("list<map<place, text>>").as_deref(), Some("map<place, text>"));
        assert_eq!(unordered("map<name, map<float32, text>>").as_deref(), Some("map<float32, text>"));
        assert_eq!(unordered("map<list<name>, place>"), None);
    }
}
