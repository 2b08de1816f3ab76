//! Writes the functions of a model's nodes in C++, by the paper's convention. What they have in common is in
//! `cpp/nodes.hpp`.

use crate::model::*;
use std::collections::BTreeSet;

/// The text of `nodes.cpp` for the model called `name`.
pub fn nodes_text(model: &Model, name: &str) -> String {
    let mut text = format!("#include \"{name}.flux.h\"\n\n");
    if model.is_parallel() {
        text.push_str("#define RANDOM_PROGRAM_IS_PARALLEL\n");
    }
    text.push_str("#include \"nodes.hpp\"\n\nusing namespace random_program;\n\nnamespace {\n\n");
    for (_, one) in model.constraints.iter() {
        let things = if one.scope == Scope::Program { ", 1" } else { "" };
        text.push_str(&format!("constraint {}(\"{}\"{things});\n", one.name, one.name));
    }
    for (index, source) in model.sources.iter().enumerate() {
        let name = &model.nodes[source.node].name;
        text.push_str(&format!("source the_{name}(\"{name}\", {index});\n"));
    }
    // Made last, it is destroyed first, while all that it records still stands.
    text.push_str("recorder at_the_end;\n\n} // namespace\n\n");
    for (_, predicate) in model.predicates.iter().filter(|(_, one)| one.formula.is_none()) {
        text.push_str(&predicate_function(predicate));
    }
    for ((_, node), promised) in model.nodes.iter().zip(model.promised()) {
        match &node.body {
            Body::Concrete(behaviour) if node.inputs.is_empty() => text.push_str(&source_function(node, behaviour)),
            Body::Concrete(behaviour) => text.push_str(&node_function(model, node, behaviour, &promised)),
            Body::Chain(_) | Body::Dispatch(_) | Body::Computed(_) => {}
        }
        if let Some((name, behaviour)) = node.handler.as_ref().and_then(Handler::function) {
            text.push_str(&handler_function(node, name, behaviour));
        }
    }
    for one in &model.path_handlers {
        if let (Some((name, behaviour)), Some(last)) = (one.handler.function(), one.path.last()) {
            let is_last = |id: NodeId, node: &Node| last.map_or(!node.inputs.is_empty(), |last| last == id);
            for (_, node) in model.nodes.iter().filter(|(id, node)| is_last(*id, node)) {
                text.push_str(&handler_function(node, name, behaviour));
            }
        }
    }
    text.push_str(&session_functions(model));
    text
}

/// `bool Test1(std::string value)`
fn predicate_function(predicate: &Predicate) -> String {
    let (ty, _, _) = predicate.ty.spelling();
    let gap = if ty.ends_with('*') { "" } else { " " };
    let function = &predicate.function;
    format!(
        "bool {function}({ty}{gap}value)\n{{\n{}    return holds(own, bits(value));\n}}\n\n",
        constant(&predicate.behaviour)
    )
}

fn source_function(node: &Node, behaviour: &Behaviour) -> String {
    let name = &node.name;
    let mut text = format!("int {name}({name}_out *out)\n{{\n{}", constant(behaviour));
    text.push_str(&format!("    const int flow = the_{name}.produce(own);\n"));
    text.push_str("    if (flow < 0) {\n        return 1;\n    }\n    out->flow = flow;\n");
    if node.outputs.len() > 1 {
        text.push_str("    const bits_t hash = digest(own, {bits(flow)});\n");
    }
    for (index, output) in node.outputs.iter().enumerate().skip(1) {
        let unbroken = if output.ty == Type::Fragile { " | 1" } else { "" };
        text.push_str(&format!(
            "    put(out->{}, combine(hash, 16 + {index}){unbroken}, flow_of(flow));\n",
            output.name
        ));
    }
    text.push_str("    return 0;\n}\n\n");
    text
}

fn node_function(model: &Model, node: &Node, behaviour: &Behaviour, promised: &Held) -> String {
    let name = &node.name;
    let out = if node.outputs.is_empty() { String::new() } else { format!(", {name}_out *out") };
    let mut text = format!("int {name}({name}_in *in{out})\n{{\n{}", constant(behaviour));
    for (constraint, mode) in promised {
        let constraint = &model.constraints[*constraint];
        let thing = match constraint.scope {
            Scope::Program => "0",
            Scope::Session => "in->flow / 5",
            Scope::Keyed => "in->flow",
        };
        let class = if *mode == Mode::Read { "reading" } else { "writing" };
        text.push_str(&format!("    const {class} {class}_{}({}.of({thing}));\n", constraint.name, constraint.name));
    }
    text.push_str(&format!("    call here(\"{name}\", own, in->flow, {{{}}});\n", bits(&node.inputs)));
    for (index, input) in node.inputs.iter().enumerate().skip(1).filter(|(_, input)| input.ty != Type::Error) {
        text.push_str(&format!("    here.change({index}, in->{});\n", input.name));
    }
    text.push_str("    if (const int error = here.decide(); error != 0) {\n        return error;\n    }\n");
    for (index, output) in node.outputs.iter().enumerate() {
        text.push_str(&match index {
            0 => format!("    here.give_flow(out->{});\n", output.name),
            _ => format!("    here.give({index}, out->{});\n", output.name),
        });
    }
    text.push_str("    return 0;\n}\n\n");
    text
}

fn handler_function(node: &Node, name: &str, behaviour: &Behaviour) -> String {
    let inputs = bits(&node.inputs);
    format!(
        "void {name}({}_in *in, int error)\n{{\n\
         {}    call here(\"{name}\", own, in->flow, {{{inputs}, code(error)}});\n    \
         here.decide();\n}}\n\n",
        node.name,
        constant(behaviour),
    )
}

/// One function for each name: sessions of five flows each, more or less.
fn session_functions(model: &Model) -> String {
    let mut seen = BTreeSet::new();
    let mut text = String::new();
    for source in &model.sources {
        if let Some(function) = source.session.as_ref().filter(|function| seen.insert(*function)) {
            let target = &model.nodes[source.target].name;
            text.push_str(&format!("int {function}({target}_in *in)\n{{\n    return in->flow / 5;\n}}\n\n"));
        }
    }
    text
}

/// The bits of all inputs, as arguments.
fn bits(inputs: &[Parameter]) -> String {
    let one = |input: &Parameter| match input.ty {
        Type::Error => format!("code(in->{})", input.name),
        _ => format!("bits(in->{})", input.name),
    };
    inputs.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn constant(behaviour: &Behaviour) -> String {
    let Behaviour { salt, errors, throws } = behaviour;
    format!("    constexpr behaviour own{{{salt:#x}, {errors}, {throws}}};\n")
}
