//! What sources of 2006 define: how functions with a node's structs are declared and called, and predicates declared.

use crate::Context;
use crate::shape::{Part, Shape};
use crate::structs::{Side, struct_name};
use crate::tree::Declarator;
use flux_ir::name::Name;
use flux_ir::program::Node;
use flux_ir::types::Type;
use std::collections::BTreeMap;

/// The functions that sources define outside of namespaces, by name.
#[derive(Clone, Default, Debug)]
pub struct Definitions(BTreeMap<String, Vec<Definition>>);

/// A function that a source defines.
#[derive(Clone, Debug)]
pub struct Definition {
    /// What stands before its name: `int`.
    pub result: String,
    /// Its parameters, tokens separated by spaces: `image_tag * request`.
    pub parameters: Vec<String>,
}

impl Definitions {
    /// Adds a function.
    pub fn add(&mut self, name: String, definition: Definition) {
        self.0.entry(name).or_default().push(definition);
    }

    /// Those of this name; none of a module, which is later than 2006.
    pub(crate) fn of(&self, function: &Name) -> &[Definition] {
        let found = self.0.get(function.own()).filter(|_| !function.is_of_module());
        found.map_or(&[], Vec::as_slice)
    }

    /// What a function of this name takes and returns that is defined with structs of `node`.
    pub(crate) fn shape(&self, function: &Name, node: &Node) -> Option<Shape> {
        self.of(function).iter().filter(|definition| definition.is_linkable()).find_map(|definition| {
            let parts: Option<Vec<_>> = definition.parameters.iter().map(|parameter| part(parameter, node)).collect();
            let parts = parts.filter(|parts| parts.iter().any(|part| *part != Part::Error))?;
            Some(Shape::new(&definition.result, parts))
        })
    }

    /// The result and the parameter of a predicate that is asked about values of this type; none where nothing of the
    /// name could be it.
    pub(crate) fn predicate(
        &self,
        context: &Context<'_>,
        function: &Name,
        ty: &Type,
        value: Declarator,
    ) -> Option<(String, Declarator)> {
        let defined = self.of(function);
        let same = defined.iter().find(|definition| definition.takes_one(&format!("{}{}", ty.cpp(), ty.array())));
        let mut near = defined.iter().filter(|definition| definition.may_be_predicate(context));
        match (same, near.next(), near.next()) {
            (Some(same), ..) => Some((same.result.clone(), value)),
            // One that takes another type may take this one as well: the C++ compiler decides.
            (None, Some(near), None) => Some((near.result.clone(), Declarator::new(near.parameters.join(", "), ""))),
            _ => None,
        }
    }
}

fn part(parameter: &str, node: &Node) -> Option<Part> {
    let says = |word: &str| parameter.split(' ').any(|one| one == word);
    if says(&struct_name(node, Side::In)) {
        return Some(Part::Input);
    }
    if says(&struct_name(node, Side::Out)) {
        return Some(Part::Output);
    }
    (says("int") && !parameter.contains(['*', '&'])).then_some(Part::Error)
}

impl Definition {
    /// Whether other files can call it.
    fn is_linkable(&self) -> bool {
        !self.result.split(' ').any(|word| matches!(word, "static" | "inline"))
    }

    /// Whether it takes one value of this type.
    fn takes_one(&self, ty: &str) -> bool {
        let squeeze = |text: &str| text.chars().filter(|one| !one.is_whitespace()).collect::<String>();
        let wanted = squeeze(ty);
        let fits = |parameter: &String| {
            let unnamed = parameter.rsplit_once(' ').map_or("", |(before, _)| before);
            squeeze(parameter) == wanted || squeeze(unnamed) == wanted
        };
        self.is_linkable() && self.parameters.len() == 1 && self.parameters.iter().all(fits)
    }

    /// Whether it could be a predicate: it takes one value, which is none of a node's structs.
    fn may_be_predicate(&self, context: &Context<'_>) -> bool {
        let names_struct = |parameter: &String| {
            let mut words = parameter.split(' ');
            words.any(|word| word.ends_with("_in") || word.ends_with("_out")) && names_a_struct(context, parameter)
        };
        self.is_linkable() && self.parameters.len() == 1 && !self.parameters.iter().any(names_struct)
    }
}

fn names_a_struct(context: &Context<'_>, parameter: &str) -> bool {
    let nodes = &context.flow.program.nodes;
    let mut names = nodes.iter().flat_map(|(_, node)| [Side::In, Side::Out].map(|side| struct_name(node, side)));
    names.any(|name| parameter.split(' ').any(|word| word == name))
}
