//! What handlers are told of failures when a flow is run: the code, the text of an exception, and the node.

use flux_ir::compute::{Failure, Value};
use flux_ir::external::ExternalId;
use flux_ir::flow::{Exit, Flow};
use flux_ir::paths;
use flux_ir::program::{Constant, NodeId, OptionId, Parameter, PredicateId};
use flux_ir::run::{World, run};
use flux_ir::text::{parse_flow, parse_program};
use flux_ir::types::Type;
use flux_ir::verify::{self, Stage};

/// A world in which values are texts. Nodes whose names begin with `Throw` throw, and those with `Fail` return 7.
struct Texts<'a> {
    flow: &'a Flow,
    thrown: String,
}

impl World for Texts<'_> {
    type Value = String;

    fn node(&mut self, node: NodeId, inputs: Vec<String>) -> Result<Vec<String>, String> {
        let node = &self.flow.program.nodes[node];
        let name = node.name.own();
        let throws = name.starts_with("Throw");
        self.thrown = if throws { format!("text of {name} {}", inputs.join(" ")) } else { String::new() };
        match throws || name.starts_with("Fail") {
            true => Err(if throws { "thrown" } else { "7" }.to_owned()),
            false => Ok(vec![inputs.join("|"); node.outputs().len()]),
        }
    }

    fn external(&mut self, _: ExternalId, _: NodeId, _: Vec<String>, _: bool, _: &String) -> Result<(), String> {
        Ok(())
    }

    fn test(&mut self, _: PredicateId, _: String) -> Option<bool> {
        self.thrown = "text of a predicate".to_owned();
        None
    }

    fn constant(&mut self, _: &Constant) -> String {
        String::new()
    }

    fn fault(&mut self) -> String {
        "fault".to_owned()
    }

    fn elements(&mut self, list: String) -> Vec<String> {
        list.split(',').map(str::to_owned).collect()
    }

    fn list(&mut self, elements: Vec<String>) -> String {
        elements.join(",")
    }

    fn open(&mut self, _: &Type, value: &String) -> Value {
        Value::Bytes(value.clone().into_bytes())
    }

    fn close(&mut self, _: &Type, value: Value) -> String {
        match value {
            Value::Bytes(text) => String::from_utf8(text).unwrap(),
            other => panic!("no text: {other:?}"),
        }
    }

    fn thrown(&mut self) -> String {
        std::mem::take(&mut self.thrown)
    }

    fn failure(&mut self, failure: &Failure) -> String {
        format!("{:?}", failure.reason)
    }

    fn option(&mut self, _: OptionId) -> Value {
        Value::Bytes(vec![])
    }

    fn takes(&mut self, _: &[&Parameter], _: &[String]) -> bool {
        true
    }
}

const NODES: &str = "\
program p
predicate odd = Odd
node Throw (text a) => (text a)
node ThrowMore (text a) => (text a)
node Fail (text a) => (text a)
node Body (text a) => (text a) {
  compute {
    fail 404
  }
}
node Good (text a) => (text a)
node Say (int error, text error_text, text error_node) => (text a)
node Inner (text a) => (text a) {
  flow = gives (in.a)
}
node Outer (text a) => (text a) {
  flow = gives (in.a)
}
";

/// What a handler is told by which `Outer` is replaced, where this is its body; and where the flow has other functions.
fn told(functions: &str, body: &str) -> String {
    let text = format!(
        "{NODES}{functions}function Outer (text a) => (text a) {{\n  abstract Outer\n{body}}}\n\
         function Whole (text a) => (text a) {{\n  branch Outer\n  %1 = function Outer(in.a) else {{\n    \
         %2 = node Say(error of %1, error_text of %1, error_node of %1) else failed\n    resume %2.a\n  }}\n  \
         done %1.a\n}}\n"
    );
    let mut flow = parse_flow(&text).unwrap_or_else(|error| panic!("{error:?} in\n{text}"));
    paths::number(&mut flow);
    let whole = flow.functions.ids().last().unwrap();
    let mut world = Texts { flow: &flow, thrown: String::new() };
    let ran = run(&flow, whole, vec!["x,y".to_owned()], &mut world).unwrap();
    assert_eq!(ran.exit, Exit::Done);
    ran.values.concat()
}

#[test]
fn a_handler_is_told_what_a_node_has_thrown_and_which() {
    assert_eq!(told("", "  %1 = node Throw(in.a) else failed\n  done %1.a\n"), "thrown|text of Throw x,y|Throw");
    assert_eq!(told("", "  %1 = node Fail(in.a) else failed\n  done %1.a\n"), "7||Fail");
    assert_eq!(told("", "  %1 = node Body(in.a) else failed\n  done %1.a\n"), "Own(404)||Body");
}

#[test]
fn a_text_is_of_the_last_failure() {
    let recovered = "  %1 = node Throw(in.a) else {\n    %2 = node Good(in.a) else failed\n    resume %2.a\n  }\n";
    let body = format!("{recovered}  %3 = node Fail(in.a) else failed\n  done %3.a\n");
    assert_eq!(told("", &body), "7||Fail");
    let handler =
        "  %1 = node Fail(in.a) else {\n    %2 = node ThrowMore(in.a) else failed\n    ended\n  }\n  done %1.a\n";
    assert_eq!(told("", handler), "thrown|text of ThrowMore x,y|ThrowMore");
}

#[test]
fn a_predicate_that_throws_fails_the_node_of_its_dispatch() {
    let inner = "function Inner (text a) => (text a) {\n  abstract Inner fault +0\n  dispatch {\n    \
                 line odd(in.a) => done in.a\n    unmatched\n  }\n}\n";
    let told = told(inner, "  %1 = function Inner(in.a) else failed\n  done %1.a\n");
    assert_eq!(told, "fault|text of a predicate|Inner");
}

#[test]
fn the_first_branch_or_instance_that_fails_is_told_of() {
    let branches = "function One (text a) => (text a) {\n  branch Outer\n  %1 = node Good(in.a) else failed\n  \
                    done %1.a\n}\nfunction Two (text a) => (text a) {\n  branch Outer\n  \
                    %1 = node Throw(in.a) else failed\n  done %1.a\n}\n";
    let fork = "  %1 = fork One & Two(in.a) else failed\n  done %1.0\n";
    assert_eq!(told(branches, fork), "thrown|text of Throw x,y|Throw");
    let each = "  %1 = each Two (text a) => (text a) at once 2 (in.a) else failed\n  done %1.0\n";
    assert_eq!(told(branches, each), "thrown|text of Throw x|Throw");
}

#[test]
fn a_part_of_a_failure_has_its_type_and_is_there_in_its_failure_block() {
    let violations = |body: &str| {
        let text = format!("{NODES}function Outer (text a) => (text a) {{\n  abstract Outer\n{body}}}\n");
        verify::flow(&parse_flow(&text).unwrap(), Stage::Bound).len()
    };
    let said = |arguments: &str| {
        violations(&format!(
            "  %1 = node Fail(in.a) else {{\n    %2 = node Say({arguments}) else failed\n    resume %2.a\n  }}\n  \
             done %1.a\n"
        ))
    };
    let sound = said("error of %1, error_text of %1, error_node of %1");
    assert_eq!(said("error of %1, error_node of %1, error_text of %1"), sound, "both are texts");
    assert_eq!(said("error_text of %1, error_text of %1, error_node of %1"), sound + 1);
    assert_eq!(said("error of %1, error of %1, error_node of %1"), sound + 1);
    assert_eq!(said("error of %1, error_text of %3, error_node of %1"), sound + 1);
}

#[test]
fn a_named_code_has_the_number_of_its_name() {
    let violations = |code: &str| {
        let text = format!(
            "program p\ncode gone = 410\nnode Body (text a) => (text a) {{\n  compute {{\n    fail {code}\n  }}\n}}\n"
        );
        verify::program(&parse_program(&text).unwrap(), Stage::Typed).len()
    };
    assert_eq!(violations("410 as gone"), 0);
    assert_eq!(violations("errno ENOENT"), 0);
    assert_eq!(violations("404 as gone"), 1);
    assert_eq!(violations("404 as #1"), 1);
}
