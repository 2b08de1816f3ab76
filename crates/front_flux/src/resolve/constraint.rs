//! Constraints: one scope each, keys that are inputs.

use super::Resolver;
use crate::ids;
use crate::syntax::{self, Atomic, Name, QualifiedName, Statement};
use flux_diagnostic::{Diagnostic, nearest};
use flux_ir::program::{Constraint, ConstraintId, Mode, NodeId, Requirement, Scope};
use flux_source::Span;
use std::collections::HashMap;

/// A message lists the inputs of a node up to this many.
const LISTED_INPUTS: usize = 8;

/// The first key of each keyed constraint met so far: of how many values, and where.
type FirstKeys = HashMap<ConstraintId, (usize, Span)>;

impl<'syntax> Resolver<'syntax, '_, '_> {
    pub(super) fn resolve_constraints(&mut self) {
        let syntax = self.syntax;
        let mut first_keys = self.first_keys();
        for statement in &syntax.statements {
            let Statement::Atomic(atomic) = statement else { continue };
            let node = self.existing_node(&atomic.node, "constraints");
            for constraint in &atomic.constraints {
                // The constraint is named all the same where the node is unknown.
                let id = self.constraint(constraint);
                self.check_key_length(constraint, id, &mut first_keys);
                if let Some(node) = node {
                    let key = self.key(constraint, id, node, atomic);
                    let requirement = Requirement { constraint: id, mode: constraint.mode, key, span: constraint.span };
                    let table = self.scope.program.constraints[id].table;
                    let whole = |constraint| Requirement {
                        constraint,
                        mode: Mode::Intent,
                        key: vec![],
                        span: requirement.span,
                    };
                    let both = table.map(whole).into_iter().chain([requirement.clone()]);
                    self.scope.program.nodes[node].requirements.extend(both);
                }
            }
        }
    }

    /// Those of the files before this one.
    fn first_keys(&self) -> FirstKeys {
        let mut first = FirstKeys::new();
        let nodes = self.scope.program.nodes.iter();
        for required in nodes.flat_map(|(_, node)| &node.requirements).filter(|required| !required.key.is_empty()) {
            let is_first = self.scope.program.constraints[required.constraint].span == required.span;
            let key = (required.key.len(), required.span);
            let known = first.entry(required.constraint).or_insert(key);
            if is_first {
                *known = key;
            }
        }
        first
    }

    /// The constraint that is mentioned, with the scope of its first mention.
    fn constraint(&mut self, mention: &syntax::Constraint<'syntax>) -> ConstraintId {
        let (module, own) = mention.name.parts();
        let name = mention.name.declared();
        let scope = match mention.scope {
            syntax::Scope::Program => Scope::Program,
            syntax::Scope::Session(_) => Scope::Session,
            syntax::Scope::Keyed(_) => Scope::Keyed,
        };
        let known = self.scope.constraint(module, own);
        // With a key it is the row of a state.
        let row = known.filter(|_| scope == Scope::Keyed).and_then(|table| self.rows_of(table));
        let Some(known) = row.or(known) else {
            return self.scope.add_constraint(Constraint { name, scope, table: None, span: mention.span });
        };
        let first = &self.scope.program.constraints[known];
        if first.scope != scope && self.reported.insert((ids::CONSTRAINT_SCOPE, name.clone())) {
            let diagnostic = Diagnostic::error(
                ids::CONSTRAINT_SCOPE,
                format!("the constraint `{name}` has two scopes"),
                mention.span,
            )
            .label(shared_by(scope))
            .mark(first.span, format!("{} here", shared_by(first.scope)))
            .help("a constraint has one scope: write the same one, or use two names");
            self.report(diagnostic);
        }
        known
    }

    /// A key has as many values wherever its constraint is named: `account(a)` and `account(a, b)` are never equal, and
    /// would guard nothing against each other.
    fn check_key_length(
        &mut self,
        mention: &'syntax syntax::Constraint<'syntax>,
        constraint: ConstraintId,
        first_keys: &mut FirstKeys,
    ) {
        let syntax::Scope::Keyed(names) = &mention.scope else { return };
        let (length, first) = *first_keys.entry(constraint).or_insert((names.len(), mention.span));
        let name = mention.name.declared();
        let has_two_scopes = self.reported.contains(&(ids::CONSTRAINT_SCOPE, name.clone()));
        if length == names.len() || has_two_scopes || !self.reported.insert((ids::KEY_LENGTH, name.clone())) {
            return;
        }
        let headline = format!("the keys of `{name}` have different numbers of values");
        let diagnostic = Diagnostic::error(ids::KEY_LENGTH, headline, mention.span)
            .label(values(names.len()))
            .mark(first, format!("{} here", values(length)))
            .help(format!(
                "write the same number everywhere, or use two names; two keys of a node are `{name}(…), {name}(…)`"
            ));
        self.report(diagnostic);
    }

    /// The positions of the inputs that make the key; those that do not exist are reported and left out.
    fn key(
        &mut self,
        mention: &'syntax syntax::Constraint<'syntax>,
        constraint: ConstraintId,
        node: NodeId,
        atomic: &'syntax Atomic<'syntax>,
    ) -> Vec<usize> {
        let names = match &mention.scope {
            syntax::Scope::Keyed(names) => names,
            syntax::Scope::Program => return vec![],
            syntax::Scope::Session(span) => {
                self.check_session_input(*span, node, mention);
                return vec![];
            }
        };
        // A constraint with two scopes has been reported, and may not be meant to have a key.
        if self.scope.program.constraints[constraint].scope != Scope::Keyed {
            return vec![];
        }
        if self.scope.program.nodes[node].signature.is_none() {
            if self.is_unknown(ids::UNDECLARED_KEY, &atomic.node) {
                self.report_undeclared_key(mention, &atomic.node);
            }
            return vec![];
        }
        let mut key = vec![];
        for name in names {
            match self.input_position(node, name.as_str()) {
                Some(position) => key.push(position),
                None if self.syntax.skipped_words.contains(name.as_str()) => {}
                None => self.report_unknown_key(name, mention, node),
            }
        }
        key
    }

    /// The position of the input `name` of a declared node.
    fn input_position(&mut self, node: NodeId, name: &str) -> Option<usize> {
        let inputs = self.scope.program.nodes[node].inputs().iter().zip(0..);
        let positions = || inputs.map(|(input, position)| (input.name.clone(), position)).collect();
        self.input_positions.entry(node).or_insert_with(positions).get(name).copied()
    }

    /// Warns where `(session)` could be meant as a key.
    fn check_session_input(&mut self, scope: Span, node: NodeId, mention: &syntax::Constraint) {
        let position = self.input_position(node, "session");
        let node = &self.scope.program.nodes[node];
        let Some(input) = position.and_then(|position| node.inputs().get(position)) else { return };
        let headline = format!("`(session)` is the scope of `{}`, not the input of `{}`", mention.name, node.name);
        let diagnostic = Diagnostic::warning(ids::SCOPE_NOT_KEY, headline, scope)
            .mark(input.span, "this input cannot be a key")
            .help("if the input is meant, rename it and use it as the key");
        self.report(diagnostic);
    }

    fn report_undeclared_key(&mut self, mention: &syntax::Constraint, node: &QualifiedName<'_>) {
        let headline = format!("the inputs of `{}` are not declared, so `{}` cannot have a key", node, mention.name);
        let help = format!("declare them: `{node} (…) => (…);`");
        self.report(Diagnostic::error(ids::UNDECLARED_KEY, headline, mention.span).help(help));
    }

    fn report_unknown_key(&mut self, key: &Name, mention: &syntax::Constraint, id: NodeId) {
        let may_suggest = self.may_suggest(&key.text);
        let declared = &self.scope.program.nodes[id];
        let (node, count) = (&declared.name, declared.inputs().len());
        let headline = format!("`{}` is keyed by `{}`, which is not an input of `{node}`", mention.name, key.text);
        let inputs = declared.inputs().iter().map(|input| input.name.as_str());
        let meant = if may_suggest { nearest(&key.text, inputs.clone()) } else { None };
        let help = match meant {
            Some(meant) => format!("did you mean `{meant}`?"),
            None if count == 0 => format!("`{node}` has no inputs"),
            None if count > LISTED_INPUTS => format!("write the name of an input of `{node}`"),
            None => format!(
                "the inputs of `{node}` are {}",
                inputs.map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ")
            ),
        };
        let diagnostic = Diagnostic::error(ids::UNKNOWN_KEY, headline, key.span)
            .mark(self.scope.node_name(id), "declared here")
            .help(help);
        self.report(diagnostic);
    }
}

fn shared_by(scope: Scope) -> &'static str {
    match scope {
        Scope::Program => "shared by the whole program",
        Scope::Session => "shared in a session",
        Scope::Keyed => "shared by key",
    }
}

fn values(count: usize) -> String {
    if count == 1 { "1 value".to_owned() } else { format!("{count} values") }
}
