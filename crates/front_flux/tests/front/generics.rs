//! Nodes with types as inputs: which they are, and what they are with types.

use crate::{nodes, program};
use flux_ir::program::Program;
use flux_ir::types::Type;

/// The types of the inputs of the last node, and then those of its outputs.
fn types(program: &Program) -> Vec<&str> {
    let (_, node) = program.nodes.iter().last().unwrap();
    node.inputs().iter().chain(node.outputs()).map(|one| one.ty.written()).collect()
}

#[test]
fn a_type_takes_the_place_of_its_name_and_not_of_parts_of_other_names() {
    let read = program(
        "Make (type M, M one, std::vector<M> more, const M *p, ns::M other, M_x x, Mx y) => (list<M> all, int n);\n\
         record Point { x : int32; };\n\
         A = Make(Point);",
    );
    assert_eq!(nodes(&read), ["A", "Make_Point"]);
    let inputs = ["Point", "std::vector<Point>", "const Point *", "ns::M", "M_x", "Mx"];
    assert_eq!(types(&read), [&inputs[..], &["list<Point>", "int"]].concat());
}

#[test]
fn a_type_of_the_language_stays_what_it_is_and_has_the_name_of_cpp_in_other_types() {
    for (ty, cpp) in [("bytes", "std::string"), ("text", "std::string"), ("uint8", "uint8_t"), ("bool", "bool")] {
        let read = program(&format!("Make (type M, M one, std::deque<M> more) => (map<M, M> all);\nA = Make({ty});"));
        assert_eq!(types(&read), [ty, &format!("std::deque<{cpp}>"), &format!("map<{ty}, {ty}>")]);
        let (_, node) = read.nodes.iter().last().unwrap();
        assert_eq!(node.inputs()[0].ty, Type::new(ty));
    }
}

#[test]
fn an_input_is_a_type_only_where_another_or_an_output_is_of_it() {
    let is_generic = |declaration: &str| nodes(&program(&format!("{declaration};\nA = B(bytes);"))) == ["A", "B_bytes"];
    let is_plain = |declaration: &str| nodes(&program(&format!("{declaration};\nA = C;"))) == ["B", "A", "C"];
    for one in ["M one", "list<M> all", "map<text, M> all", "const M *one"] {
        assert!(is_generic(&format!("B (type M, {one}) => ()")), "{one}");
        assert!(is_generic(&format!("B (type M) => ({one})")), "{one}");
    }
    for other in ["ns::M one", "Mx one", "M_x one"] {
        assert!(is_plain(&format!("B (type M, {other}) => ()")), "{other}");
    }
    assert!(is_plain("B (type M, int x) => (type y)"), "a C++ type is called so");
}
