//! Lowers a program to its flow. Requires: acyclic, typed, checked, and every value bound. Establishes: the
//! [`flux_ir::flow`] of the program. Each step has its own constraints in the one order, and a failure block with the
//! nearest handler. Values go to the places that the program names. This pass does not decide which values fit.
//!
//! Shared nodes become shared functions, so the flow is linear in the program. If handlers are for paths, a node is
//! lowered once for each way to reach it that its handlers distinguish ([`crate::analyses::walks`]). Equal functions
//! are merged.

use crate::analyses::containment::callees_first;
use crate::analyses::handler_paths::Context;
use crate::analyses::walks::Walks;
use flux_ir::arena::Arena;
use flux_ir::flow::*;
use flux_ir::program::{
    self as program, Action, Application, Argument, Body, Chain, EachValues, Handler, HandlerStep, HandlerTarget,
    Line as ProgramLine, NodeId, Origin, Parallel, Parameter, PredicateId, Program, Requirement, StepNumber,
};
use flux_ir::provenance::Provenance;
use flux_ir::types::Type;
use flux_source::{Span, deep};
use std::collections::{HashMap, HashSet};

/// Returns the flow of `program`. O(size of the program · parameters · contexts). Without handlers on paths there is
/// one context.
pub fn lower_program(program: Program) -> Flow {
    let mut lowering = Lowering::new(&program);
    for node in callees_first(&program) {
        if !program.nodes[node].body.is_leaf() {
            for context in lowering.walks.entered(node) {
                lowering.node(node, context);
            }
        }
    }
    let entries = (0..program.sources.len()).filter_map(|index| lowering.source(index)).collect();
    let functions = lowering.functions;
    Flow { program, functions, entries }
}

/// A value on its way through a chain: its operand in the function, and its type and name.
type Value = (Operand, Parameter);

struct Lowering<'a> {
    program: &'a Program,
    walks: Walks<'a>,
    functions: Arena<Function>,
    /// The functions of abstract nodes and of branches, by the name before it is made unique.
    alike: HashMap<String, Vec<FunctionId>>,
    /// The function of an abstract node, by the node and the context in which its flow begins.
    of: HashMap<(NodeId, Context), FunctionId>,
    names: HashSet<String>,
    /// The name of the function of each node.
    node_names: HashMap<NodeId, String>,
}

/// The function under construction.
struct Current {
    role: Role,
    name: String,
    /// The context before the first step.
    entered: Context,
    /// The context before the next step.
    context: Context,
    /// The values that the program's names stand for, at this point of the chain under construction.
    values: HashMap<Argument, Value>,
    steps: u32,
    branches: u32,
    may_fault: bool,
}

impl<'a> Lowering<'a> {
    fn new(program: &'a Program) -> Self {
        let node_names = function_names(program);
        let names = node_names.values().cloned().collect();
        let (alike, of) = (HashMap::new(), HashMap::new());
        Self { program, walks: Walks::of(program), functions: Arena::default(), alike, of, names, node_names }
    }

    /// Returns the name of a node's function.
    fn function_name(&self, node: NodeId) -> String {
        self.node_names.get(&node).cloned().unwrap_or_default()
    }

    /// Reserves a name that nothing else has, and returns it.
    fn fresh(&mut self, wanted: &str) -> String {
        let numbered = (2..).map(|number| format!("{wanted}_{number}"));
        let mut names = std::iter::once(wanted.to_owned()).chain(numbered);
        names.find(|name| self.names.insert(name.clone())).unwrap_or_default()
    }

    /// Adds the function of an abstract node or of a branch. If another context has an equal function, returns that
    /// one.
    fn add(&mut self, entered: Context, mut function: Function) -> FunctionId {
        let alike = self.alike.entry(function.name.clone()).or_default();
        if let Some(known) = alike.iter().find(|id| self.functions[**id].body == function.body) {
            return *known;
        }
        let id = FunctionId::new(self.functions.len());
        let is_first = alike.is_empty();
        alike.push(id);
        function.name = match function.role {
            Role::Abstract(_) if is_first => function.name,
            _ if is_first => self.fresh(&function.name),
            _ => self.fresh(&format!("{}{}", function.name, self.walks.paths.way(entered))),
        };
        self.functions.add(function)
    }

    /// Makes the function of an abstract node whose flow begins in `context`.
    fn node(&mut self, id: NodeId, context: Context) {
        let node = &self.program.nodes[id];
        let mut current = Current::new(Role::Abstract(id), self.function_name(id), context);
        let body = match &node.body {
            Body::Dispatch(lines) => self.dispatch(&mut current, lines, node.inputs()),
            Body::Chain(chain) => self.chain(&mut current, chain, node.inputs()),
            Body::External(_) | Body::Computed(_) => return,
        };
        let function = self.add(context, current.finish(node.inputs(), node.outputs(), body, node.span));
        self.of.insert((id, context), function);
    }

    /// Makes the functions of a source.
    fn source(&mut self, index: usize) -> Option<Entry> {
        let source = self.program.sources.get(index)?;
        let stem = match &source.origin {
            Origin::Node(application) => self.function_name(application.node),
            Origin::Timer(_) => format!("every_{}", self.function_name(source.target)),
        };
        let mut starts = vec![];
        let produce = match &source.origin {
            Origin::Node(application) => {
                let outputs = self.program.nodes[application.node].outputs();
                let name = self.fresh(&format!("{stem}_produce"));
                let mut current = Current::new(Role::Produce(index), name, Context::START);
                let mut steps = vec![];
                let values = self.apply(&mut current, &mut steps, application);
                let end = done(values.into_iter().map(|(operand, _)| operand).collect());
                starts = outputs.to_vec();
                let function = current.finish(&[], outputs, Block { steps, end }, source.span);
                Some(self.functions.add(function))
            }
            Origin::Timer(_) => None,
        };
        let started = self.walks.paths.after(Context::START, source.producer());
        let mut current = Current::new(Role::Run(index), self.fresh(&format!("{stem}_run")), started);
        current.begin(&starts);
        let arguments = source.arguments.clone();
        let target = Application {
            node: source.target,
            constants: vec![],
            named: vec![],
            arguments,
            kept: vec![],
            span: source.span,
        };
        let mut steps = vec![];
        if let Some(external) = source.session {
            let inputs = current.operands(source.arguments.as_deref());
            let callee = Callee::External { external, node: target.node };
            current.may_fault = true;
            steps.push(current.step(callee, inputs, vec![], failed(), source.span));
        }
        self.apply(&mut current, &mut steps, &target);
        let body = Block { steps, end: done(vec![]) };
        let function = current.finish(&starts, &[], body, source.span);
        Some(Entry { produce, run: self.functions.add(function) })
    }

    fn dispatch(&mut self, current: &mut Current, lines: &[ProgramLine], inputs: &[Parameter]) -> Block {
        let mut lowered = vec![];
        for line in lines {
            let patterns = line.patterns.iter().enumerate();
            let test = |(index, pattern): (usize, &Option<PredicateId>)| {
                pattern.map(|predicate| Test { predicate, value: Operand::Input(index) })
            };
            let tests: Vec<_> = patterns.filter_map(test).collect();
            current.may_fault |= !tests.is_empty();
            let last = tests.is_empty();
            let block = self.chain(current, &line.chain, inputs);
            lowered.push(Line { tests, block, span: line.span });
            if last {
                return Block { steps: vec![], end: End::Dispatch { lines: lowered, unmatched: None } };
            }
        }
        Block { steps: vec![], end: End::Dispatch { lines: lowered, unmatched: Some(0) } }
    }

    /// Lowers a chain that ends its function.
    fn chain(&mut self, current: &mut Current, chain: &Chain, inputs: &[Parameter]) -> Block {
        deep(|| {
            let mut steps = vec![];
            current.context = current.entered;
            current.begin(inputs);
            self.steps(current, &mut steps, chain);
            Block { steps, end: done(current.operands(chain.results.as_deref())) }
        })
    }

    fn steps(&mut self, current: &mut Current, steps: &mut Vec<Step>, chain: &Chain) {
        for step in &chain.steps {
            let made = match &step.action {
                Action::Apply(application) => self.apply(current, steps, application),
                Action::Parallel(parallel) => {
                    let made = self.fork(current, steps, parallel);
                    current.context = self.walks.paths.after(current.context, None);
                    made
                }
                Action::Each(each) => {
                    let made = self.each(current, steps, each, step.number);
                    current.context = self.walks.paths.after(current.context, None);
                    made
                }
            };
            current.add(step.number, made);
            if let Some(last) = steps.last_mut() {
                last.within.clone_from(&step.within);
            }
        }
    }

    /// Lowers the application of a node, and returns the outputs.
    fn apply(&mut self, current: &mut Current, steps: &mut Vec<Step>, application: &Application) -> Vec<Value> {
        let node = &self.program.nodes[application.node];
        let constants = application.constants.iter().cloned().map(Operand::Constant);
        let inputs = constants.chain(current.operands(application.arguments.as_deref())).collect();
        let kept = current.operands(Some(&application.kept));
        let step = self.call(current, application.node, (inputs, &kept), application.span);
        let id = step.id;
        steps.push(step);
        outputs_of(id, node.outputs())
    }

    /// Makes a call of a node, with its constraints and its handler. Moves the context behind the node. Handlers may
    /// take the values in `kept`.
    fn call(
        &mut self,
        current: &mut Current,
        id: NodeId,
        (inputs, kept): (Vec<Operand>, &[Operand]),
        span: Span,
    ) -> Step {
        let node = &self.program.nodes[id];
        let before = current.context;
        current.context = self.walks.paths.after(before, Some(id));
        let function = self.of.get(&(id, current.context));
        let callee = function.map_or(Callee::Node(id), |function| Callee::Function(*function));
        let acquire = self.acquisitions(&node.requirements, &inputs);
        current.may_fault |= any_object(node.inputs()) || any_object(node.outputs());
        current.may_fault |= acquire.iter().any(|one| !one.key.is_empty());
        let mut step = current.step(callee, inputs, acquire, failed(), span);
        if let Some(handler) = self.walks.paths.handler_of(before, id) {
            let after = current.context;
            step.failure = self.handle(current, handler, id, (&step, kept));
            current.context = after;
        }
        step
    }

    /// Makes the failure block of the step `failing`, a call of `node`. In it `handler` takes the place of the node.
    fn handle(
        &mut self,
        current: &mut Current,
        handler: &Handler,
        node: NodeId,
        (failing, kept): (&Step, &[Operand]),
    ) -> Block {
        let failed_node = &self.program.nodes[node];
        let otherwise = match handler.target {
            HandlerTarget::Run(_) => End::Ended { offset: 0 },
            HandlerTarget::GoOn(_) => End::GoOn { offset: 0 },
        };
        match handler.target.step() {
            None => Block { steps: vec![], end: otherwise },
            Some(HandlerStep::External(external)) => {
                // The function gets the inputs as the failed node left them, so it sees the node's changes. An abstract
                // node passes its inputs on and keeps none. So the function gets the inputs of the step.
                let inputs = match failed_node.body.is_leaf() {
                    true => (0..failing.inputs.len()).map(|at| Operand::Changed(failing.id, at)).collect(),
                    false => failing.inputs.clone(),
                };
                let callee = Callee::External { external, node };
                Block { steps: vec![current.step(callee, inputs, vec![], failed(), handler.span)], end: otherwise }
            }
            Some(HandlerStep::Node(target)) => {
                let bound = handler.replacements.iter().find(|one| one.failing == node);
                let operand = |argument: &Argument| match argument {
                    Argument::Input(index) => failing.inputs.get(*index).cloned(),
                    Argument::Error(part) => Some(Operand::Error(failing.id, *part)),
                    Argument::Kept(index) => kept.get(*index).cloned(),
                    Argument::Constant(constant) => Some(Operand::Constant(constant.clone())),
                    Argument::Output(..) | Argument::Element(_) => None,
                };
                let inputs = bound.into_iter().flat_map(|one| &one.arguments).filter_map(operand).collect();
                let kept: Vec<_> = bound.into_iter().flat_map(|one| &one.kept).filter_map(operand).collect();
                let step = self.call(current, target, (inputs, &kept), handler.span);
                let end = match bound.and_then(|one| one.resume.as_ref()) {
                    Some(outputs) => {
                        let values = outputs.iter().map(|index| Operand::Output(step.id, *index)).collect();
                        End::Resume { values, offset: 0 }
                    }
                    None => otherwise,
                };
                Block { steps: vec![step], end }
            }
        }
    }

    /// Lowers a parallel step: chains run concurrently, each as a function of its own.
    fn fork(&mut self, current: &mut Current, steps: &mut Vec<Step>, parallel: &Parallel) -> Vec<Value> {
        let copied = parallel.arguments.as_deref();
        let inputs = current.parameters(copied);
        current.may_fault |= any_object(&inputs);
        let mut functions = vec![];
        let mut outputs = vec![];
        for branch in &parallel.branches {
            let (function, given) = self.branch(current, "branch", branch, (copied.unwrap_or_default(), &inputs));
            current.may_fault |= any_object(&given);
            functions.push(Branch { function, after: None });
            outputs.extend(given);
        }
        let step = current.step(Callee::Fork(functions), current.operands(copied), vec![], failed(), parallel.span);
        let id = step.id;
        steps.push(step);
        outputs_of(id, &outputs)
    }

    /// Makes the function of a branch, or of the instances of an each step. The function takes these values. Also
    /// returns its outputs.
    fn branch(
        &mut self,
        current: &mut Current,
        kind: &str,
        chain: &Chain,
        (named, inputs): (&[Argument], &[Parameter]),
    ) -> (FunctionId, Vec<Parameter>) {
        current.branches += 1;
        let name = format!("{}_{kind}_{}", current.name, current.branches);
        let mut own = Current::new(Role::Branch(current.node()), name, current.context);
        own.values = named.iter().cloned().zip(inputs_of(inputs)).collect();
        let mut lowered = vec![];
        self.steps(&mut own, &mut lowered, chain);
        let given = own.parameters(chain.results.as_deref());
        own.may_fault |= any_object(&given);
        let body = Block { steps: lowered, end: done(own.operands(chain.results.as_deref())) };
        let function = own.finish(&distinct(inputs), &distinct(&given), body, chain.span);
        (self.add(current.entered, function), given)
    }

    /// Lowers an each step: a chain runs for each element of a list, as a function of its own.
    fn each(
        &mut self,
        current: &mut Current,
        steps: &mut Vec<Step>,
        each: &program::Each,
        number: StepNumber,
    ) -> Vec<Value> {
        let Some(EachValues { list, element, copied, carried }) = &each.values else { return vec![] };
        let named: Vec<_> = std::iter::once(Argument::Element(number)).chain(copied.iter().cloned()).collect();
        let mut taken: Vec<_> = current.parameters(Some(std::slice::from_ref(list)));
        taken.extend(current.parameters(Some(copied)));
        let mut inputs = taken.clone();
        inputs.iter_mut().take(1).for_each(|first| first.clone_from(element));
        let (function, given) = self.branch(current, "each", &each.chain, (&named, &inputs));
        // The current function makes the lists, and a list may be too large.
        current.may_fault = true;
        let is_handed_on = |at: usize| carried.iter().any(|one| one.0 == at);
        let gathered = |(at, one): (usize, &Parameter)| match is_handed_on(at) {
            true => one.clone(),
            false => Parameter { ty: Type::list_of(&one.ty), ..one.clone() },
        };
        let outputs: Vec<_> = given.iter().enumerate().map(gathered).collect();
        let order = match &each.width {
            // The element comes before the copied values.
            None => EachOrder::Loop(carried.iter().map(|(output, input)| (*output, input + 1)).collect()),
            Some(width) => EachOrder::AtOnce(width.clone()),
        };
        let operands = current.operands(Some(std::slice::from_ref(list)));
        let operands = operands.into_iter().chain(current.operands(Some(copied))).collect();
        let callee = Callee::Each(Each { function, inputs: distinct(&taken), outputs: distinct(&outputs), order });
        let step = current.step(callee, operands, vec![], failed(), each.span);
        let id = step.id;
        steps.push(step);
        outputs_of(id, &outputs)
    }

    /// Returns the constraints that a node requires, in the one order (scope, name, key). Equal constraints are merged
    /// at the stronger mode.
    fn acquisitions(&self, requirements: &[Requirement], inputs: &[Operand]) -> Vec<Acquisition> {
        let mut found: Vec<Acquisition> = vec![];
        for requirement in requirements {
            let key: Vec<_> = requirement.key.iter().filter_map(|index| inputs.get(*index).cloned()).collect();
            let same = |one: &&mut Acquisition| one.constraint == requirement.constraint && one.key == key;
            match found.iter_mut().find(same) {
                Some(one) => one.mode = one.mode.joined(requirement.mode),
                None => found.push(Acquisition {
                    constraint: requirement.constraint,
                    mode: requirement.mode,
                    key,
                    provenance: Provenance::Author,
                    span: requirement.span,
                }),
            }
        }
        let order = |one: &Acquisition| {
            let constraint = &self.program.constraints[one.constraint];
            (constraint.scope, constraint.name.clone())
        };
        found.sort_by_key(order);
        found
    }
}

impl Current {
    fn new(role: Role, name: String, entered: Context) -> Self {
        let values = HashMap::new();
        Self { role, name, entered, context: entered, values, steps: 0, branches: 0, may_fault: false }
    }

    /// Begins a chain. Its only values are the function's inputs.
    fn begin(&mut self, inputs: &[Parameter]) {
        let named = |(index, value)| (Argument::Input(index), value);
        self.values = inputs_of(inputs).into_iter().enumerate().map(named).collect();
    }

    /// Adds the values that a step has made.
    fn add(&mut self, step: StepNumber, made: Vec<Value>) {
        let named = |(index, value)| (Argument::Output(step, index), value);
        self.values.extend(made.into_iter().enumerate().map(named));
    }

    /// Returns the operands of these values. Omits an unknown value; the verifier reports it.
    fn operands(&self, arguments: Option<&[Argument]>) -> Vec<Operand> {
        let operand = |argument: &Argument| match argument {
            Argument::Constant(constant) => Some(Operand::Constant(constant.clone())),
            value => self.values.get(value).map(|(operand, _)| operand.clone()),
        };
        arguments.unwrap_or_default().iter().filter_map(operand).collect()
    }

    /// Returns the types and names of these values.
    fn parameters(&self, arguments: Option<&[Argument]>) -> Vec<Parameter> {
        let values = arguments.unwrap_or_default().iter().filter_map(|argument| self.values.get(argument));
        values.map(|(_, parameter)| parameter.clone()).collect()
    }

    /// Returns the node of the function. The functions of a source have no branches, so they return a placeholder.
    fn node(&self) -> NodeId {
        match self.role {
            Role::Abstract(node) | Role::Branch(node) => node,
            Role::Produce(_) | Role::Run(_) => NodeId::new(0),
        }
    }

    fn step(
        &mut self,
        callee: Callee,
        inputs: Vec<Operand>,
        acquire: Vec<Acquisition>,
        failure: Block,
        span: Span,
    ) -> Step {
        self.steps += 1;
        let (id, paths) = (StepId(self.steps), StepPaths::default());
        Step { id, callee, inputs, within: None, acquire, failure, paths, span }
    }

    fn finish(self, inputs: &[Parameter], outputs: &[Parameter], body: Block, span: Span) -> Function {
        Function {
            name: self.name,
            role: self.role,
            inputs: inputs.to_vec(),
            outputs: outputs.to_vec(),
            held: vec![],
            body,
            fault: self.may_fault.then_some(0),
            paths: Exits::default(),
            span,
        }
    }
}

fn failed() -> Block {
    Block { steps: vec![], end: End::Failed { offset: 0 } }
}

fn done(values: Vec<Operand>) -> End {
    End::Done { values, offset: 0 }
}

/// Returns whether code outside a node may throw when such values are made, copied or moved.
fn any_object(parameters: &[Parameter]) -> bool {
    parameters.iter().any(|parameter| !parameter.ty.is_scalar())
}

/// Returns the parameters with distinct names, because members of a struct need them. The outputs of parallel branches
/// may have names in common. The first of a name keeps it, the others are numbered.
fn distinct(parameters: &[Parameter]) -> Vec<Parameter> {
    let mut taken: HashSet<String> = parameters.iter().map(|parameter| parameter.name.clone()).collect();
    let mut seen = HashSet::new();
    let mut named = vec![];
    for parameter in parameters {
        let mut name = parameter.name.clone();
        if !seen.insert(name.clone()) {
            let mut numbered = (2..).map(|number| format!("{name}_{number}"));
            name = numbered.find(|one| taken.insert(one.clone())).unwrap_or_default();
        }
        named.push(Parameter { name, ..parameter.clone() });
    }
    named
}

fn inputs_of(parameters: &[Parameter]) -> Vec<Value> {
    parameters.iter().enumerate().map(|(index, parameter)| (Operand::Input(index), parameter.clone())).collect()
}

fn outputs_of(step: StepId, parameters: &[Parameter]) -> Vec<Value> {
    parameters.iter().enumerate().map(|(index, parameter)| (Operand::Output(step, index), parameter.clone())).collect()
}

/// Returns the names of the functions of nodes: each is the name of its node. The point after a module becomes an
/// underscore. If another node already has that name, the function of the module's node is numbered.
fn function_names(program: &Program) -> HashMap<NodeId, String> {
    let (of_modules, own): (Vec<_>, Vec<_>) = program.nodes.iter().partition(|(_, node)| node.name.is_of_module());
    let mut taken: HashSet<String> = own.iter().map(|(_, node)| node.name.own().to_owned()).collect();
    let own = own.into_iter().map(|(id, node)| (id, node.name.own().to_owned()));
    let mut names: HashMap<NodeId, String> = own.collect();
    for (id, node) in of_modules {
        let wanted = node.name.joined("_");
        let numbered = (2..).map(|number| format!("{wanted}_{number}"));
        let free = std::iter::once(wanted.clone()).chain(numbered).find(|name| taken.insert(name.clone()));
        names.insert(id, free.unwrap_or_default());
    }
    names
}
