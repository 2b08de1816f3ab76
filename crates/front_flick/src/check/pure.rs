//! Functions without effects: each is a node of the model, which bodies call, those of `.flux` too.

use super::Checker;
use super::kind::Kind;
use crate::syntax::{Declaration, Function, Syntax};
use crate::walk::names;
use flux_front::scope::NO_FLOW;
use flux_ir::compute::Computation;
use flux_ir::cpp_keyword::is_keyword;
use flux_ir::effects::Effects;
use flux_ir::name;
use flux_ir::program::{Body, Node, Parameter, Signature};
use std::collections::HashSet;

impl<'syntax> Checker<'syntax, '_, '_> {
    /// Declares the functions that are given values alone, give one, and neither send nor name state, nor call what
    /// does. Those in C++ are among them.
    pub(super) fn declare_pure(&mut self, syntax: &'syntax Syntax<'syntax>) {
        let globals: HashSet<&str> = self.globals.iter().map(|global| global.name).collect();
        let functions = syntax.declarations.iter().filter_map(|declaration| match declaration {
            Declaration::Function(function) => Some(function),
            _ => None,
        });
        // Where something else has its name, which was reported, that counts.
        let mut left: Vec<&'syntax Function<'syntax>> = vec![];
        for function in functions {
            let is_first = self.names.get(function.name.as_str()).is_some_and(|(span, _)| *span == function.name.span);
            if is_first && self.takes_values(function.name.as_str()) && !is_keyword(function.name.as_str()) {
                left.push(function);
            }
        }
        // What calls one that is not pure is not, until nothing changes. There are no circles.
        loop {
            let known: HashSet<&str> = left.iter().map(|function| function.name.as_str()).collect();
            let before = left.len();
            left.retain(|function| {
                let mut is_pure = true;
                names(function.body.as_deref().unwrap_or_default(), &mut |name, is_called| {
                    let is_other = is_called && self.functions.contains_key(name) && !known.contains(name);
                    is_pure &= !is_other && !globals.contains(name);
                });
                is_pure
            });
            if left.len() == before {
                break;
            }
        }
        left.into_iter().for_each(|function| self.declare_node(function));
    }

    fn takes_values(&self, name: &str) -> bool {
        self.functions.get(name).is_some_and(|signature| {
            let is_value =
                |(_, kind, is_state): &(&str, Option<Kind>, bool)| matches!(kind, Some(Kind::Value(_))) && !is_state;
            signature.parameters.iter().all(is_value) && matches!(signature.result, Some(Some(_)))
        })
    }

    fn declare_node(&mut self, function: &'syntax Function<'syntax>) {
        let own = function.name.as_str();
        let Some(signature) = self.functions.get(own) else { return };
        let parameter = |(name, kind, _): &(&str, Option<Kind>, bool)| match kind {
            Some(Kind::Value(ty)) => Some(Parameter { ty: ty.clone(), name: (*name).to_owned(), span: function.head }),
            _ => None,
        };
        let inputs = signature.parameters.iter().filter_map(parameter).collect();
        let result = signature.result.clone().flatten();
        let outputs = result.map(|ty| Parameter { ty, name: "result".to_owned(), span: function.head });
        let node = Node {
            name: name::Name::of(self.scope.module(), own),
            signature: Some(Signature {
                inputs,
                outputs: outputs.into_iter().collect(),
                defaults: vec![],
                inferred: false,
            }),
            body: if function.body.is_some() { Body::Computed(Computation::default()) } else { NO_FLOW },
            requirements: vec![],
            blocking: false,
            replicable: false,
            stack: None,
            span: function.span,
        };
        let id = self.scope.add_node(node, function.name.span);
        self.scope.declare_node(id, function.name.span);
        if function.body.is_none() {
            self.scope.promise(id, Effects::Pure);
        }
        self.pure.insert(own, id);
    }

    /// Says what a pure function computes; of another its body is made anew for each rule that calls it.
    pub(super) fn define_pure(&mut self, name: &str, computation: Computation) {
        if let Some(id) = self.pure.get(name) {
            self.scope.program.nodes[*id].body = Body::Computed(computation);
        }
    }
}
