//! Whatever way a flow goes, the number of its path leads back to what was called on it.

use crate::random::{self, Choices};
use crate::sound::sound_flow;
use flux_ir::compute::{Failure, Value};
use flux_ir::external::ExternalId;
use flux_ir::flow::{Exit, Flow, FunctionId};
use flux_ir::paths::{self, Event, graph};
use flux_ir::program::{Constant, NodeId, OptionId, Parameter, PredicateId};
use flux_ir::run::{World, run};
use flux_ir::text;
use flux_ir::types::Type;
use proptest::prelude::*;

/// A world in which values are nothing and chance decides; it writes down what is called.
struct Chance<'a> {
    flow: &'a Flow,
    choices: Choices<'a>,
    called: Vec<String>,
    cut: bool,
}

impl Chance<'_> {
    fn call(&mut self, name: String) -> Result<(), ()> {
        self.called.push(name);
        if self.choices.below(3) == 0 { Err(()) } else { Ok(()) }
    }
}

impl World for Chance<'_> {
    type Value = ();

    fn node(&mut self, node: NodeId, inputs: Vec<()>) -> Result<Vec<()>, ()> {
        let node = &self.flow.program.nodes[node];
        assert_eq!(inputs.len(), node.inputs().len());
        self.call(node.name.to_string())?;
        Ok(vec![(); node.outputs().len()])
    }

    fn external(&mut self, external: ExternalId, _: NodeId, _: Vec<()>, _: bool, (): &()) -> Result<(), ()> {
        self.call(self.flow.program.externals[external].name.to_string())
    }

    fn test(&mut self, _: PredicateId, (): ()) -> Option<bool> {
        Some(self.choices.chance())
    }

    fn constant(&mut self, _: &Constant) {}

    fn fault(&mut self) {}

    fn elements(&mut self, (): ()) -> Vec<()> {
        vec![(); self.choices.below(3)]
    }

    fn list(&mut self, _: Vec<()>) {}

    fn open(&mut self, _: &Type, (): &()) -> Value {
        Value::Truth(self.choices.chance())
    }

    fn close(&mut self, _: &Type, _: Value) {}

    fn failure(&mut self, _: &Failure) {}

    fn option(&mut self, _: OptionId) -> Value {
        Value::Truth(self.choices.chance())
    }

    fn takes(&mut self, parameters: &[&Parameter], values: &[()]) -> bool {
        assert_eq!(parameters.len(), values.len());
        true
    }

    fn cut_ends(&mut self, _: FunctionId, _: Exit, _: u64) {
        self.cut = true;
    }
}

/// Whether some of what was called is left out of `told`, and nothing else is told.
fn is_part(told: &[String], called: &[String]) -> bool {
    let mut called = called.iter();
    told.iter().all(|one| called.any(|other| other == one))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_path_leads_back_to_what_was_called(choices in random::choices(), ways in random::choices()) {
        let mut flow = sound_flow(&mut Choices::new(&choices));
        paths::number(&mut flow);
        let graph = graph(&flow);
        let mut world = Chance { flow: &flow, choices: Choices::new(&ways), called: vec![], cut: false };
        for (id, function) in flow.functions.iter() {
            (world.called, world.cut) = (vec![], false);
            let ran = run(&flow, id, vec![(); function.inputs.len()], &mut world);
            let ran = ran.unwrap_or_else(|| panic!("{} of\n{}", function.name, text::print_flow(&flow)));
            prop_assert!(ran.number < function.paths.get(ran.exit), "{}", text::print_flow(&flow));
            let is_given = ran.exit == Exit::Done;
            prop_assert_eq!(ran.values.len(), if is_given { function.outputs.len() } else { 0 });
            if world.cut {
                continue;
            }
            let events = graph.decode(id, ran.exit, ran.number).unwrap();
            let calls = events.iter().filter(|event| matches!(event, Event::Node(_) | Event::External(_)));
            let called: Vec<_> = calls.map(|event| event.text(&flow)).collect();
            match events.contains(&Event::Either) {
                true => prop_assert!(is_part(&called, &world.called), "{}", text::print_flow(&flow)),
                false => prop_assert_eq!(&called, &world.called, "{}", text::print_flow(&flow)),
            }
        }
    }
}
