//! What the warning about a constraint that was moved says to write: whoever writes it has nothing more to write.

use crate::compile::lower;
use crate::generate::generate;
use flux_diagnostic::Diagnostics;
use flux_ir::program::{Mode, NodeId, Program, Requirement};
use flux_passes::rewrites::order_constraints::order_constraints;
use flux_source::{FileId, Span};

/// The places of requirements, of which generated programs have none: each has one of its own, in order.
#[derive(Default)]
struct Places(usize);

impl Places {
    fn next(&mut self) -> Span {
        self.0 += 1;
        Span::new(FileId::default(), self.0..self.0 + 1)
    }
}

/// What is said of the order of the program's constraints.
fn said(program: &Program) -> Diagnostics {
    let mut diagnostics = Diagnostics::default();
    order_constraints(&mut lower(program.clone()), &mut diagnostics);
    diagnostics
}

/// The lines to write: `Node: {x, y?, z(a)}`.
fn advice(diagnostics: &Diagnostics) -> Vec<String> {
    let helps = diagnostics.sorted().into_iter().filter_map(|one| one.help.as_ref());
    let lines = helps.filter_map(|help| help.split_once("`atomic ")?.1.split_once(";`"));
    lines.map(|(line, _)| line.to_owned()).collect()
}

/// Writes such a line.
fn write(program: &mut Program, line: &str, places: &mut Places) {
    let (name, list) = line.split_once(": {").unwrap();
    let node = program.node_named(name).unwrap();
    let mut depth = 0;
    let parts = list.trim_end_matches('}').split(|character| {
        depth += i32::from(character == '(') - i32::from(character == ')');
        character == ',' && depth == 0
    });
    let requirements = parts.flat_map(|part| requirement(program, node, part.trim(), places.next())).collect();
    program.nodes[node].requirements = requirements;
}

/// `x`, `y?`, `z(session)`, `z?(a, b)`; and a row of a table, which is two.
fn requirement(program: &Program, node: NodeId, text: &str, span: Span) -> Vec<Requirement> {
    let (name, scope) = text.split_once('(').unwrap_or((text, "session)"));
    let (name, mode) = name.strip_suffix('?').map_or((name, Mode::Write), |name| (name, Mode::Read));
    let constraint = program.constraints.iter().find(|(_, one)| one.name == name).unwrap().0;
    let names = scope.trim_end_matches(')').split(", ").filter(|name| *name != "session");
    let position = |name| program.nodes[node].inputs().iter().position(|input| input.name == name).unwrap();
    let key: Vec<usize> = names.map(position).collect();
    let rows = program.constraints.iter().find(|(_, one)| one.table == Some(constraint)).filter(|_| !key.is_empty());
    match rows {
        None => vec![Requirement { constraint, mode, key, span }],
        Some((row, _)) => {
            let whole = Requirement { constraint, mode: Mode::Intent, key: vec![], span };
            vec![whole, Requirement { constraint: row, mode, key, span }]
        }
    }
}

#[test]
fn what_a_warning_says_to_write_leaves_nothing_to_say() {
    let mut advised = 0;
    for seed in 0..2000 {
        let (mut program, mut places) = (generate(seed), Places::default());
        let requirements = program.nodes.iter_mut().flat_map(|(_, node)| &mut node.requirements);
        requirements.for_each(|one| one.span = places.next());
        let before = said(&program);
        let lines = advice(&before);
        if before.has_errors() || lines.is_empty() {
            continue;
        }
        advised += 1;
        let text = flux_ir::text::print_program(&program);
        lines.iter().for_each(|line| write(&mut program, line, &mut places));
        let after = said(&program);
        assert!(!after.has_errors(), "seed {seed}: {lines:#?}\n{text}\n{after:#?}");
        assert_eq!(advice(&after), Vec::<String>::new(), "seed {seed}: {lines:#?}\n{text}");
    }
    assert!(advised > 200, "{advised}");
}
