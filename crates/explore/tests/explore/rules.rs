//! Each rule of order, by a program that is sound with all of them and faulty without that one.
//!
//! What would come of the program without the rule is in `faulty`: the functions of the flow, after the program.

use crate::compile::{lower, order, program, verified};
use flux_explore::{Bounds, Cancellation, Discipline, Fault, Verdict, explore};
use flux_ir::flow::{Callee, EachOrder, Flow, Step};
use flux_ir::program::Constant;
use flux_ir::text::{Options, parse_flow};

/// A rule, and what it is for.
struct Case {
    /// As in the page.
    rule: &'static str,
    /// What comes of the program without it.
    without: &'static str,
    /// Statements of a program: `Listen` and `Hear` are sources, and every node but the sources is declared with
    /// `(int from, int to) => (int from, int to)`.
    program: &'static str,
    /// What happens without the rule.
    fault: Fault,
}

const CASES: [Case; 11] = [
    Case {
        rule: "What is held in a sufficient mode is not taken again",
        without: include_str!("faulty/reentrancy.ir"),
        program: "A = B; atomic A:{x}; atomic B:{x};",
        fault: Fault::Deadlock,
    },
    Case {
        rule: "What is held by a reader and needed by a writer is taken by a writer",
        without: include_str!("faulty/promotion.ir"),
        program: "A = B; atomic A:{x?}; atomic B:{x};",
        fault: Fault::LostExclusion,
    },
    Case {
        rule: "What is out of order is taken further out",
        without: include_str!("faulty/moving_up.ir"),
        program: "A = B; C = D; atomic A:{x}; atomic B:{y}; atomic C:{y}; atomic D:{x};",
        fault: Fault::Deadlock,
    },
    Case {
        rule: "It is taken by the outermost step that holds something later",
        without: include_str!("faulty/outermost.ir"),
        program: "A = P; P = Q; C = D; atomic A:{y}; atomic P:{z}; atomic Q:{x}; atomic C:{x}; atomic D:{y};",
        fault: Fault::Deadlock,
    },
    Case {
        rule: "What a step takes is sorted, moved acquisitions included",
        without: include_str!("faulty/sorting.ir"),
        program: "A = B; C = D; atomic A:{x}; atomic B:{y}; atomic C:{y}; atomic D:{x};",
        fault: Fault::Deadlock,
    },
    Case {
        rule: "Two keys of one constraint are taken in one step",
        without: include_str!("faulty/keys_together.ir"),
        program: "A = B; atomic A:{x(from)}; atomic B:{x(to)};",
        fault: Fault::Deadlock,
    },
    Case {
        rule: "Keys are the same where their values have the same origin",
        without: include_str!("faulty/origins.ir"),
        program: "A = B; atomic A:{x(from)}; atomic B:{x(to)};",
        fault: Fault::LostExclusion,
    },
    Case {
        rule: "A handler runs without the constraints of the node whose place it takes",
        without: include_str!("faulty/handlers.ir"),
        program: "A = B; handle error B => C; atomic B:{x}; atomic C:{x};",
        fault: Fault::LostExclusion,
    },
    Case {
        rule: "A branch starts with what is held around its step",
        without: include_str!("faulty/branches.ir"),
        program: "A = (B & C); atomic A:{x}; atomic B:{x};",
        fault: Fault::Deadlock,
    },
    Case {
        rule: "Branches that conflict run one after the other",
        without: include_str!("faulty/serialising.ir"),
        program: "A = (B & C); atomic A:{y}; atomic B:{x}; atomic C:{x};",
        fault: Fault::LostExclusion,
    },
    Case {
        rule: "A function is compiled once for each set that its callers hold",
        without: include_str!("faulty/specialising.ir"),
        program: "A = B; B = D; C = B; atomic A:{x}; atomic D:{x};",
        fault: Fault::LostExclusion,
    },
];

/// A rule of the runtime for a flow that is cancelled, and what it is for: as for a `Case`, but all else goes by the
/// rules of order.
const CANCELLATIONS: [(&str, Cancellation, &str, Fault); 2] = [
    (
        "Who is cancelled gives back what it holds",
        Cancellation::KeepsHolds,
        "A = B; atomic A:{x}; atomic B:{y};",
        Fault::LeftHeld,
    ),
    (
        "Who is cancelled while it waits is given nothing any more",
        Cancellation::StaysInRow,
        "A = (B & C); atomic B:{x}; atomic C:{y};",
        Fault::LeftHeld,
    ),
];

/// A program of these statements: its flows begin at `A`, and at `C` where nothing else applies that.
fn complete(statements: &str) -> String {
    let mut text = "Listen () => (int from, int to);\nHear () => (int from, int to);\nsource Listen => A;\n".to_owned();
    for node in ["A", "B", "C", "D", "P", "Q"] {
        let words: Vec<&str> = statements.split(|letter: char| !letter.is_alphanumeric()).collect();
        if words.contains(&node) {
            let outputs = if statements.contains(&format!("{node} = (")) { "" } else { "int from, int to" };
            let branch = ["B", "C", "D"].contains(&node) && statements.contains('&');
            let outputs = if branch { "" } else { outputs };
            text += &format!("{node} (int from, int to) => ({outputs});\n");
        }
    }
    if statements.contains("C = ") {
        text += "source Hear => C;\n";
    }
    text + statements
}

/// The table that `docs/deadlock.md` shows.
fn table() -> String {
    let mut table = "| rule | fault without it | a program that shows it |\n| --- | --- | --- |\n".to_owned();
    let cases = CASES.iter().map(|case| (case.rule, case.fault, case.program));
    let cancellations = CANCELLATIONS.iter().map(|(rule, _, program, fault)| (*rule, *fault, *program));
    for (rule, fault, program) in cases.chain(cancellations) {
        let fault = match fault {
            Fault::Deadlock => "deadlock",
            Fault::LostExclusion => "lost exclusion",
            Fault::StarvedWriter => "a starved writer",
            Fault::LeftHeld => "a constraint left held",
        };
        table += &format!("| {rule} | {fault} | `{program}` |\n");
    }
    table
}

#[test]
fn the_page_shows_the_table_of_rules() {
    let page = include_str!("../../../../docs/deadlock.md");
    assert!(page.contains(&table()), "docs/deadlock.md should contain:\n{}", table());
}

fn bounds(flow: &Flow) -> Bounds {
    Bounds::of(if flow.entries.len() == 2 { &[0, 1] } else { &[0, 0] })
}

/// The flow of a case without its rule.
fn faulty(case: &Case, lowered: &Flow) -> Flow {
    let program = Options { spans: false }.print_program(&lowered.program);
    parse_flow(&(program + case.without)).unwrap_or_else(|error| panic!("{}: {error}", case.rule))
}

#[test]
fn with_all_rules_nothing_happens_and_without_any_one_its_fault_is_found() {
    for case in &CASES {
        let lowered = lower(program(&complete(case.program)));
        let flow = order(&lowered).unwrap_or_else(|| panic!("{} is refused", case.program));
        assert_eq!(verified(&flow), [""; 0], "{}", case.program);
        let verdict = explore(&flow, &bounds(&flow));
        assert!(matches!(verdict, Verdict::Sound { .. }), "{}: {verdict:?}", case.program);

        let faulty = faulty(case, &lowered);
        let verdict = explore(&faulty, &bounds(&faulty));
        assert!(matches!(&verdict, Verdict::Faulty(fault, _) if *fault == case.fault), "{}: {verdict:?}", case.rule);
        assert!(!verified(&faulty).is_empty(), "the verifier misses what happens without: {}", case.rule);
    }
}

/// A flow that is cancelled anywhere does no harm, unless it breaks one of its rules.
#[test]
fn a_flow_that_is_cancelled_lets_go() {
    for (rule, cancellation, statements, fault) in CANCELLATIONS {
        let flow = order(&lower(program(&complete(statements)))).unwrap();
        let verdict = |cancellation| explore(&flow, &Bounds { cancellation, ..bounds(&flow) });
        let Verdict::Sound { states: without } = verdict(Cancellation::Never) else { panic!("{statements}") };
        let Verdict::Sound { states } = verdict(Cancellation::LetsGo) else { panic!("{statements}") };
        assert!(states > without, "{statements}: nothing is cancelled in {states} states");
        let broken = verdict(cancellation);
        assert!(matches!(&broken, Verdict::Faulty(found, _) if *found == fault), "{rule}: {broken:?}");
    }
}

/// Instances of an each step that conflict run one after the other, as branches do; those of a loop do anyway.
#[test]
fn instances_that_conflict_run_one_after_the_other() {
    let text = |width: &str| {
        let nodes =
            "Listen () => (int from, int to); A (int from, int to) => (); B (int from) => (); C (int to) => ();";
        let many = "Many (int from, int to) => (std::vector<int> from, int to);";
        format!("{nodes}{many} source Listen => A; A = Many -> [B]{width} -> C; atomic A:{{y}}; atomic B:{{x}};")
    };
    for width in ["(2)", ""] {
        let flow = order(&lower(program(&text(width)))).unwrap();
        assert_eq!(verified(&flow), [""; 0], "{width}");
        let verdict = explore(&flow, &Bounds::of(&[0, 0]));
        assert!(matches!(verdict, Verdict::Sound { .. }), "{width}: {verdict:?}");
        let mut faulty = flow.clone();
        let order = faulty.functions.iter_mut().flat_map(|(_, function)| &mut function.body.steps).find_map(each_order);
        let order = order.unwrap();
        assert_eq!(*order == EachOrder::InTurn, width == "(2)", "{order:?}");
        *order = EachOrder::AtOnce(Constant::Integer(2));
        let verdict = explore(&faulty, &Bounds::of(&[0]));
        assert!(matches!(verdict, Verdict::Faulty(Fault::LostExclusion, _)), "{width}: {verdict:?}");
        let found = verified(&faulty);
        assert!(found.iter().any(|one| one.contains("two instances may be inside `x` at once")), "{found:?}");
    }
}

fn each_order(step: &mut Step) -> Option<&mut EachOrder> {
    match &mut step.callee {
        Callee::Each(each) => Some(&mut each.order),
        _ => None,
    }
}

/// A branch in conflict with two others that are not in conflict waits for both.
#[test]
fn a_branch_waits_for_all_that_it_conflicts_with() {
    let text = "A = (B & C & D); atomic A:{z}; atomic B:{x?}; atomic C:{y?}; atomic D:{x, y};";
    let flow = order(&lower(program(&complete(text)))).unwrap();
    let verdict = explore(&flow, &bounds(&flow));
    assert!(matches!(verdict, Verdict::Sound { .. }), "{verdict:?}");
    assert_eq!(verified(&flow), [""; 0]);
}

/// Of two keys nobody knows whether they differ.
#[test]
fn branches_with_keys_that_may_be_equal_conflict() {
    let text = "A = (B & C); atomic A:{z(from)}; atomic B:{x(from)}; atomic C:{x(to)};";
    let flow = order(&lower(program(&complete(text)))).unwrap();
    let verdict = explore(&flow, &bounds(&flow));
    assert!(matches!(verdict, Verdict::Sound { .. }), "{verdict:?}");
    assert_eq!(verified(&flow), [""; 0]);
}

/// Readers that join readers whoever waits starve a writer; first come, first served does not.
#[test]
fn a_starved_writer_is_found() {
    let text = complete("A = B; C = D; atomic B:{x?}; atomic D:{x};");
    let flow = order(&lower(program(&text))).unwrap();
    let verdict = |discipline| explore(&flow, &Bounds { discipline, ..Bounds::of(&[0, 0, 0, 1]) });
    let starved = verdict(Discipline::ReadersFirst);
    assert!(matches!(starved, Verdict::Faulty(Fault::StarvedWriter, _)), "{starved:?}");
    for fair in [Discipline::FirstInFirstOut, Discipline::PassedOnce] {
        let verdict = verdict(fair);
        assert!(matches!(verdict, Verdict::Sound { .. }), "{fair:?}: {verdict:?}");
    }
}
