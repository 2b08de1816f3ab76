//! Random programs full of constraints: nests of three levels, nodes with several parents, parallel steps, each steps,
//! dispatch, handlers, keys and sessions. All nodes take and give the same two values, so that any node can follow any
//! other. Only around an each step, one node makes a list of the first value, and others make a single value of it
//! again.

use flux_ir::external::{ExternalId, ExternalNames, ExternalRole};
use flux_ir::name::Name;
use flux_ir::program::{
    Action, Application, Body, Chain, Constant, Constraint, ConstraintId, Each, Handler, HandlerStep, HandlerTarget,
    Line, Mode, Node, NodeId, Origin, Parallel, Parameter, Predicate, PredicateId, Program, Requirement, Scope,
    Signature, Source, Step, StepNumber, TestedBy,
};
use flux_ir::types::Type;
use flux_source::Span;

/// A random number generator: xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift generators").
pub struct Random(u64);

impl Random {
    /// The sequence of `seed`.
    pub fn new(seed: u64) -> Self {
        let mut random = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        (0..4).for_each(|_| _ = random.next());
        random
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next()).unwrap() % bound
    }

    /// True so many times of a hundred.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// The program of a seed.
pub fn generate(seed: u64) -> Program {
    let mut generator =
        Generator { random: Random::new(seed), program: Program::default(), lists: [NodeId::new(0); 3] };
    generator.program.name = format!("random_{seed}");
    generator.constraints();
    let tested_by = TestedBy::External(generator.external("is_even", ExternalRole::Predicate));
    generator.program.predicates.add(Predicate { name: Name::new("even"), tested_by, span: Span::default() });
    generator.lists();
    let mut below = generator.layer("Node", 3, &[]);
    let handlers = below.clone();
    for (level, width) in [(1, 2), (2, 2), (3, 1)] {
        let width = 1 + generator.random.below(width);
        let layer = generator.layer(&format!("Level{level}_"), width, &below);
        if level > 1 {
            generator.handler(layer[0], &handlers);
        }
        below.extend(layer);
    }
    for node in below.clone() {
        if generator.random.chance(15) && !handlers.contains(&node) {
            generator.handler(node, &handlers);
        }
    }
    generator.program.handlers.dedup_by_key(|handler| handler.path.clone());
    generator.sources(&below);
    generator.program
}

/// Adds error handlers on paths of two nodes, the first of which may be any. The last is abstract, handlers are not.
pub fn add_path_handlers(program: &mut Program, seed: u64) {
    let mut random = Random::new(seed ^ 0x70_6174_6873);
    let is_any = |signature: &Signature| signature.inputs == values() && signature.outputs == values();
    let nodes = program.nodes.iter().filter(|(_, node)| node.signature.as_ref().is_some_and(is_any));
    let (concrete, composed): (Vec<_>, Vec<_>) = nodes.partition(|(_, node)| node.body.is_external());
    let ids = |nodes: Vec<(NodeId, &Node)>| nodes.into_iter().map(|(id, _)| id).collect::<Vec<_>>();
    let (concrete, composed) = (ids(concrete), ids(composed));
    let mut draw = |nodes: &[NodeId]| nodes[random.below(nodes.len())];
    for _ in 0..3 {
        let before = draw(&[&concrete[..], &composed[..]].concat());
        let path = vec![Some(before).filter(|before| *before != composed[0]), Some(draw(&composed))];
        let target = HandlerTarget::Run(HandlerStep::Node(draw(&concrete)));
        if program.handlers.iter().all(|handler| handler.path != path) {
            program.handlers.push(Handler { path, target, replacements: vec![], span: Span::default() });
        }
    }
}

struct Generator {
    random: Random,
    program: Program,
    /// What makes a list, what follows a step with a width, and what follows a loop.
    lists: [NodeId; 3],
}

impl Generator {
    fn constraints(&mut self) {
        for name in ["a", "b", "c", "d"].iter().take(2 + self.random.below(3)) {
            let scope = match self.random.below(10) {
                0..=6 => Scope::Program,
                7 => Scope::Session,
                _ => Scope::Keyed,
            };
            self.program.constraints.add(Constraint {
                name: Name::new(*name),
                scope,
                table: None,
                span: Span::default(),
            });
        }
        if self.random.chance(15) {
            let (table, row) = (Name::new("table"), Name::new("row"));
            let constraint = |name, scope, table| Constraint { name, scope, table, span: Span::default() };
            let whole = self.program.constraints.add(constraint(table, Scope::Program, None));
            self.program.constraints.add(constraint(row, Scope::Keyed, Some(whole)));
        }
    }

    fn external(&mut self, name: &str, role: ExternalRole) -> ExternalId {
        let externals = &mut self.program.externals;
        ExternalNames::of(externals).find_or_add(externals, role, &Name::new(name))
    }

    /// So many nodes, concrete where there is nothing for them to apply.
    fn layer(&mut self, stem: &str, width: usize, below: &[NodeId]) -> Vec<NodeId> {
        (1..=width).map(|number| self.node(&format!("{stem}{number}"), below)).collect()
    }

    fn node(&mut self, name: &str, below: &[NodeId]) -> NodeId {
        let line = |pattern, chain| Line { patterns: vec![pattern, None], chain, span: Span::default() };
        let body = match below {
            [] => Body::External(self.external(name, ExternalRole::Node)),
            _ if self.random.chance(20) => {
                let pattern = Some(PredicateId::new(0));
                let chains = [self.flow(below), self.flow(below)];
                let [first, second] = chains;
                Body::Dispatch(vec![line(pattern, first), line(None, second)])
            }
            _ => Body::Chain(self.flow(below)),
        };
        let signature = Some(Signature { inputs: values(), outputs: values(), defaults: vec![], inferred: false });
        let requirements = self.requirements(if below.is_empty() { 60 } else { 35 });
        let (name, span) = (Name::new(name), Span::default());
        self.program.nodes.add(Node {
            name,
            signature,
            body,
            requirements,
            blocking: false,
            replicable: false,
            stack: None,
            span,
        })
    }

    fn flow(&mut self, below: &[NodeId]) -> Chain {
        let mut chain = self.chain(below, 1);
        chain.number_steps();
        chain
    }

    fn chain(&mut self, below: &[NodeId], forks: usize) -> Chain {
        let mut steps = vec![];
        for _ in 0..1 + self.random.below(2) {
            if forks > 0 && self.random.chance(12) {
                let branches = (0..2 + self.random.below(2)).map(|_| self.chain(below, forks - 1)).collect();
                steps.push(step(Action::Parallel(Parallel { branches, arguments: None, span: Span::default() })));
            } else if forks > 0 && self.random.chance(4) {
                steps.extend(self.each(below, forks - 1));
            } else {
                // Mostly what is newest: programs nest.
                let from = if self.random.chance(70) { below.len().saturating_sub(2) } else { 0 };
                let node = below[from + self.random.below(below.len() - from)];
                let constant = Constant::Integer(i64::try_from(self.random.below(2)).unwrap());
                let constants = if self.random.chance(15) { vec![constant] } else { vec![] };
                steps.push(step(apply(node, constants)));
            }
        }
        Chain { steps, results: None, span: Span::default() }
    }

    /// The nodes around each steps.
    fn lists(&mut self) {
        let list = |name: &str| Parameter { ty: Type::list_of(&Type::new("int")), ..value(name) };
        let gathered = vec![list("from"), list("to")];
        let mut last = gathered.clone();
        last[1] = value("to");
        let mut given = values();
        given[0] = list("from");
        let nodes = [("Many", values(), given), ("Gather", gathered, values()), ("Last", last, values())];
        self.lists = nodes.map(|(name, inputs, outputs)| {
            let body = Body::External(self.external(name, ExternalRole::Node));
            let signature = Some(Signature { inputs, outputs, defaults: vec![], inferred: false });
            let (name, span) = (Name::new(name), Span::default());
            let node = Node {
                name,
                signature,
                body,
                requirements: vec![],
                blocking: false,
                replicable: false,
                stack: None,
                span,
            };
            self.program.nodes.add(node)
        });
    }

    /// An each step, with what makes its list and what takes what it gives.
    fn each(&mut self, below: &[NodeId], depth: usize) -> [Step; 3] {
        let mut chain = self.chain(below, depth);
        // The element is the first value, so no constant is bound to that.
        let mut first = chain.steps.first_mut();
        while let Some(step) = first {
            if let Action::Apply(application) = &mut step.action {
                application.constants.clear();
            }
            first = step.action.chains_mut().first_mut().and_then(|chain| chain.steps.first_mut());
        }
        let width = [None, Some(Constant::Integer(2)), Some(Constant::Integer(3))][self.random.below(3)].clone();
        let [many, gather, last] = self.lists;
        let after = if width.is_some() { gather } else { last };
        [
            step(apply(many, vec![])),
            step(Action::Each(Each { chain, width, values: None, span: Span::default() })),
            step(apply(after, vec![])),
        ]
    }

    fn requirements(&mut self, percent: usize) -> Vec<Requirement> {
        let mut requirements = vec![];
        while self.random.chance(percent) && requirements.len() < 2 {
            let constraint = ConstraintId::new(self.random.below(self.program.constraints.len()));
            let mode = if self.random.chance(40) { Mode::Read } else { Mode::Write };
            let keyed = self.program.constraints[constraint].scope == Scope::Keyed;
            let key = if keyed { vec![self.random.below(2)] } else { vec![] };
            let span = Span::default();
            let table = self.program.constraints[constraint].table;
            requirements.extend(table.map(|whole| Requirement {
                constraint: whole,
                mode: Mode::Intent,
                key: vec![],
                span,
            }));
            requirements.push(Requirement { constraint, mode, key, span });
        }
        requirements
    }

    fn handler(&mut self, node: NodeId, handlers: &[NodeId]) {
        let step = match self.random.chance(20) {
            true => HandlerStep::External(self.external("Report", ExternalRole::Handler)),
            false => HandlerStep::Node(handlers[self.random.below(handlers.len())]),
        };
        let gives_nothing = self.program.nodes[node].outputs().is_empty();
        let target = match gives_nothing && self.random.chance(50) {
            true => HandlerTarget::GoOn(Some(step).filter(|_| self.random.chance(70))),
            false => HandlerTarget::Run(step),
        };
        if self.program.handlers.iter().all(|handler| handler.path != [Some(node)]) {
            self.program.handlers.push(Handler {
                path: vec![Some(node)],
                target,
                replacements: vec![],
                span: Span::default(),
            });
        }
    }

    fn sources(&mut self, nodes: &[NodeId]) {
        let sessions = self.program.constraints.iter().any(|(_, one)| one.scope == Scope::Session);
        for number in 1..=2 {
            let signature = Some(Signature { inputs: vec![], outputs: values(), defaults: vec![], inferred: false });
            let mut requirements = self.requirements(10);
            requirements.retain(|one| self.program.constraints[one.constraint].scope == Scope::Program);
            let (name, span) = (format!("Source{number}"), Span::default());
            let body = Body::External(self.external(&name, ExternalRole::Node));
            let name = Name::new(name);
            let node = self.program.nodes.add(Node {
                name,
                signature,
                body,
                requirements,
                blocking: false,
                replicable: false,
                stack: None,
                span,
            });
            let origin = Origin::Node(Application {
                node,
                constants: vec![],
                named: vec![],
                arguments: None,
                kept: vec![],
                span,
            });
            let target = nodes[nodes.len() - number];
            let session = sessions.then(|| self.external("session_of", ExternalRole::Session));
            self.program.sources.push(Source { origin, session, target, arguments: None, on_loops: false, span });
        }
    }
}

fn step(action: Action) -> Step {
    Step { number: StepNumber::default(), action, within: None }
}

fn apply(node: NodeId, constants: Vec<Constant>) -> Action {
    let (named, kept, span) = (vec![], vec![], Span::default());
    Action::Apply(Application { node, constants, named, kept, arguments: None, span })
}

fn value(name: &str) -> Parameter {
    Parameter { ty: Type::new("int"), name: name.to_owned(), span: Span::default() }
}

fn values() -> Vec<Parameter> {
    vec![value("from"), value("to")]
}
