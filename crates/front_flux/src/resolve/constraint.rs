//! Constraints: one scope each, keys that are inputs, names that are not misspelt.

use super::Resolver;
use crate::ids;
use crate::syntax::{self, Atomic, Declaration, Name, Statement};
use flux_diagnostic::{Diagnostic, nearest};
use flux_ir::program::{Constraint, ConstraintId, NodeId, Requirement, Scope, split_name};
use flux_source::Span;
use std::collections::HashMap;

/// Among more constraints than this no misspelt ones are looked for, as each is compared with each.
const COMPARISON_LIMIT: usize = 500;

/// Names shorter than this are too alike to tell a slip from intention.
const COMPARED_LENGTH: usize = 4;

/// A message lists the inputs of a node up to this many.
const LISTED_INPUTS: usize = 8;

/// The constraints met so far.
#[derive(Default)]
struct Mentions<'syntax> {
    ids: HashMap<&'syntax str, ConstraintId>,
    /// By id: how often it is named.
    counts: Vec<usize>,
    /// The first key of each keyed constraint: of how many values, and where.
    first_keys: HashMap<ConstraintId, (usize, Span)>,
}

impl<'syntax> Resolver<'syntax, '_> {
    pub(super) fn resolve_constraints(&mut self) {
        let syntax = self.syntax;
        let mut mentions = Mentions::default();
        for statement in &syntax.statements {
            let Statement::Atomic(atomic) = statement else { continue };
            let node = self.existing_node(&atomic.node, "constraints");
            for constraint in &atomic.constraints {
                // The constraint is named all the same where the node is unknown.
                let id = self.constraint(constraint, &mut mentions);
                self.check_key_length(constraint, id, &mut mentions);
                if let Some(node) = node {
                    let key = self.key(constraint, id, node, atomic);
                    let requirement = Requirement { constraint: id, mode: constraint.mode, key, span: constraint.span };
                    self.program.nodes[node].requirements.push(requirement);
                }
            }
        }
        self.warn_of_slips(&mentions);
    }

    /// The constraint that is mentioned, with the scope of its first mention.
    fn constraint(
        &mut self,
        mention: &'syntax syntax::Constraint<'syntax>,
        mentions: &mut Mentions<'syntax>,
    ) -> ConstraintId {
        let name = mention.name.as_str();
        let scope = match mention.scope {
            syntax::Scope::Program => Scope::Program,
            syntax::Scope::Session(_) => Scope::Session,
            syntax::Scope::Keyed(_) => Scope::Keyed,
        };
        let Some(known) = mentions.ids.get(name).copied() else {
            let id = self.program.constraints.add(Constraint { name: name.to_owned(), scope, span: mention.span });
            mentions.ids.insert(name, id);
            mentions.counts.push(1);
            return id;
        };
        if let Some(count) = mentions.counts.get_mut(known.index()) {
            *count += 1;
        }
        let first = &self.program.constraints[known];
        if first.scope != scope && self.reported.insert((ids::CONSTRAINT_SCOPE, name)) {
            let diagnostic = Diagnostic::error(
                ids::CONSTRAINT_SCOPE,
                format!("the constraint `{name}` has two scopes"),
                mention.span,
            )
            .label(shared_by(scope))
            .mark(first.span, format!("{} here", shared_by(first.scope)))
            .help("a name has one scope in a program: write the same one, or use two names");
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
        mentions: &mut Mentions<'syntax>,
    ) {
        let syntax::Scope::Keyed(names) = &mention.scope else { return };
        let (length, first) = *mentions.first_keys.entry(constraint).or_insert((names.len(), mention.span));
        let name = mention.name.as_str();
        let has_two_scopes = self.reported.contains(&(ids::CONSTRAINT_SCOPE, name));
        if length == names.len() || has_two_scopes || !self.reported.insert((ids::KEY_LENGTH, name)) {
            return;
        }
        let headline = format!("the keys of `{name}` have different numbers of values");
        let diagnostic = Diagnostic::error(ids::KEY_LENGTH, headline, mention.span)
            .label(values(names.len()))
            .mark(first, format!("{} here", values(length)))
            .help(format!("write as many everywhere, or use two names; two keys of a node are `{name}(…), {name}(…)`"));
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
        if self.program.constraints[constraint].scope != Scope::Keyed {
            return vec![];
        }
        let node_name = atomic.node.as_str();
        let Some(declaration) = self.declarations.get(&node).copied() else {
            if self.is_unknown(ids::UNDECLARED_KEY, node_name) {
                self.report_undeclared_key(mention, &atomic.node);
            }
            return vec![];
        };
        let mut key = vec![];
        for name in names {
            match self.input_position(node, declaration, name.as_str()) {
                Some(position) => key.push(position),
                None if self.syntax.skipped_words.contains(name.as_str()) => {}
                None => self.report_unknown_key(name, mention, declaration),
            }
        }
        key
    }

    /// The position of the input `name` of a declared node.
    fn input_position(
        &mut self,
        node: NodeId,
        declaration: &'syntax Declaration<'syntax>,
        name: &str,
    ) -> Option<usize> {
        let inputs = declaration.inputs.iter().zip(0..).map(|(input, position)| (input.name.as_str(), position));
        self.input_positions.entry(node).or_insert_with(|| inputs.collect()).get(name).copied()
    }

    /// Warns where `(session)` could be meant as a key.
    fn check_session_input(&mut self, scope: Span, node: NodeId, mention: &syntax::Constraint) {
        let Some(declaration) = self.declarations.get(&node).copied() else { return };
        let position = self.input_position(node, declaration, "session");
        let Some(input) = position.and_then(|position| declaration.inputs.get(position)) else { return };
        let (constraint, node) = (&mention.name.text, &declaration.name.text);
        let headline = format!("`(session)` is the scope of `{constraint}`, not the input of `{node}`");
        let diagnostic = Diagnostic::warning(ids::SCOPE_NOT_KEY, headline, scope)
            .mark(input.span, "this input cannot be a key")
            .help("give the input another name, and key by that where it was meant");
        self.report(diagnostic);
    }

    fn report_undeclared_key(&mut self, mention: &syntax::Constraint, node: &Name) {
        let headline =
            format!("the inputs of `{}` are not declared, so `{}` cannot be keyed", node.text, mention.name.text);
        let help = format!("declare them: `{} (…) => (…);`", node.text);
        self.report(Diagnostic::error(ids::UNDECLARED_KEY, headline, mention.span).help(help));
    }

    fn report_unknown_key(&mut self, key: &Name, mention: &syntax::Constraint, declaration: &Declaration) {
        let node = &declaration.name.text;
        let headline = format!("`{}` is keyed by `{}`, which is not an input of `{node}`", mention.name.text, key.text);
        let inputs = declaration.inputs.iter().map(|input| input.name.as_str());
        let meant = if self.may_suggest(&key.text) { nearest(&key.text, inputs.clone()) } else { None };
        let help = match meant {
            Some(meant) => format!("did you mean `{meant}`?"),
            None if declaration.inputs.is_empty() => format!("`{node}` has no inputs"),
            None if declaration.inputs.len() > LISTED_INPUTS => format!("write the name of an input of `{node}`"),
            None => format!(
                "the inputs of `{node}` are {}",
                inputs.map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ")
            ),
        };
        let diagnostic = Diagnostic::error(ids::UNKNOWN_KEY, headline, key.span)
            .mark(declaration.name.span, "declared here")
            .help(help);
        self.report(diagnostic);
    }

    /// Warns of constraints that are named once and nearly like another: two names are two things, and a misspelt one
    /// excludes nobody.
    fn warn_of_slips(&mut self, mentions: &Mentions) {
        if self.program.constraints.len() > COMPARISON_LIMIT || self.syntax.truncated {
            return;
        }
        let mut warnings = vec![];
        for (id, constraint) in self.program.constraints.iter() {
            let is_single = mentions.counts.get(id.index()) == Some(&1);
            if !is_single || self.syntax.skipped_words.contains(constraint.name.as_str()) {
                continue;
            }
            let others = self.program.constraints.iter().filter(|(other, _)| *other != id);
            let (module, name) = split_name(&constraint.name);
            let mut alike = others.filter(|(_, other)| {
                let (other_module, other) = split_name(&other.name);
                module == other_module && is_slip(name, other)
            });
            // Of two that are both named once, only the later is reported.
            let is_later = |other: ConstraintId| other < id || mentions.counts.get(other.index()) != Some(&1);
            if let Some((_, other)) = alike.find(|(other, _)| is_later(*other)) {
                warnings.push(
                    Diagnostic::warning(
                        ids::SIMILAR_CONSTRAINT,
                        format!("the constraint `{}` is named only here", constraint.name),
                        constraint.span,
                    )
                    .mark(other.span, "a similar name")
                    .help(format!("did you mean `{}`?", other.name)),
                );
            }
        }
        warnings.into_iter().for_each(|warning| self.report(warning));
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

/// Whether the names differ by one slip of the hand: in case, by a letter too many, too few or wrong, or by two
/// neighbours exchanged. `table_a` and `table_b`, or `lock1` and `lock2`, do not: a last letter alone, and any digit,
/// is changed on purpose. Linear in the shorter name.
fn is_slip(left: &str, right: &str) -> bool {
    let (left, right) = if left.len() <= right.len() {
        (left.as_bytes(), right.as_bytes())
    } else {
        (right.as_bytes(), left.as_bytes())
    };
    if left.len() < COMPARED_LENGTH {
        return false;
    }
    // One of them is the plural of the other: `entry`, `entries`; `class`, `classes`.
    let is_plural = |ending: &[u8], of: &[u8]| {
        right.strip_suffix(ending).is_some_and(|stem| left.strip_suffix(of).is_some_and(|own| own == stem))
    };
    if is_plural(b"ies", b"y") || is_plural(b"es", b"") {
        return true;
    }
    if right.len() - left.len() > 1 {
        return false;
    }
    let same = |(a, b): &(&u8, &u8)| a.eq_ignore_ascii_case(b);
    let prefix = left.iter().zip(right).take_while(same).count();
    let suffix = left.iter().rev().zip(right.iter().rev()).take_while(same).count();
    let (left_rest, right_rest) = (left.get(prefix..).unwrap_or(&[]), right.get(prefix..).unwrap_or(&[]));
    match (left_rest, right_rest) {
        ([], []) => true,
        ([a, b, ..], [c, d, ..]) if a.eq_ignore_ascii_case(d) && b.eq_ignore_ascii_case(c) => {
            prefix + 2 + suffix >= left.len()
        }
        ([_], [_]) => false,
        (_, [added, ..]) if left.len() < right.len() => prefix + suffix >= left.len() && !added.is_ascii_digit(),
        ([a, ..], [b, ..]) => prefix + suffix + 1 >= left.len() && !a.is_ascii_digit() && !b.is_ascii_digit(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::is_slip;

    #[test]
    fn slips_are_told_from_intention() {
        for (left, right) in [
            ("cache", "cahce"),
            ("cache", "Cache"),
            ("cache", "caches"),
            ("account", "acount"),
            ("cache", "cacge"),
            ("cache", "ccache"),
            ("index", "indxe"),
            ("entry", "entries"),
            ("class", "classes"),
        ] {
            assert!(is_slip(left, right) && is_slip(right, left), "{left} {right}");
        }
        for (left, right) in [
            ("x", "y"),
            ("lock1", "lock2"),
            ("table_a", "table_b"),
            ("cache", "cache2"),
            ("cache", "state"),
            ("users", "groups"),
            ("abc", "abd"),
            ("shard10", "shard1"),
            ("in_queue", "queue"),
        ] {
            assert!(!is_slip(left, right) && !is_slip(right, left), "{left} {right}");
        }
    }
}
