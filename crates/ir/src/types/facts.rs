//! What can be done with the values of a type, as far as its structure says it: of a C++ type only the C++ compiler
//! knows.

use super::{Type, TypeKind, record_fields};
use crate::program::{Parameter, Program, TypeId};
use std::collections::BTreeSet;

/// Whether values of type `ty` can be keys of constraints, or parts of them: they have a number each that equal ones
/// share. Of a C++ type the C++ compiler says it. O(fields of the records in it · log).
pub fn can_be_key(program: &Program, ty: &Type) -> bool {
    use TypeKind::{AnyMessage, Float, List, Map, Message, Optional};
    let is_key =
        |kind: &TypeKind| !matches!(kind, Float(_) | List(_) | Optional(_) | Map(..) | Message(_) | AnyMessage);
    every_part(program, ty, &mut BTreeSet::new(), &is_key)
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
            record_fields(program, *id).iter().all(|field| every_part(program, &field.ty, seen, holds))
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
