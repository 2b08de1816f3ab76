//! What happens: one [`Function`] for each flow and each abstract node, with every call, dispatch, acquisition and
//! failure explicit. Every back end reads this, so the server, the simulator, the picture and the path numbers cannot
//! disagree.
//!
//! The form is structured, not a general graph. A [`Block`] is a list of [`Step`]s and an [`End`]; a step holds its
//! constraints from before its call until after it, whatever way the call ends, so that a constraint cannot be leaked
//! by construction; a step's `failure` block runs after they were released. The only joins are a function's exits and
//! [`End::Resume`] or [`End::GoOn`]. Functions call each other and are never copied, so that size stays linear in the
//! program.

use crate::arena::{Arena, ArenaId};
use crate::error_code::ErrorPart;
use crate::external::ExternalId;
use crate::program::{Constant, ConstraintId, Mode, NodeId, Parameter, PredicateId, Program, Requirement};
use crate::provenance::{Provenance, Rewrite};
use flux_source::Span;

/// A function of a [`Flow`].
pub type FunctionId = ArenaId<Function>;

/// A program and all that happens in it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Flow {
    /// What the author said; every signature is known.
    pub program: Program,
    /// Callees before callers.
    pub functions: Arena<Function>,
    /// One for each source of the program, in the same order.
    pub entries: Vec<Entry>,
}

/// How the flows of one source come about and run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Makes the values a flow starts with: [`Role::Produce`]. None for a timer.
    pub produce: Option<FunctionId>,
    /// What the flow does with them: [`Role::Run`]; its inputs are the outputs of `produce`.
    pub run: FunctionId,
}

/// One function of the generated program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    /// Its name in the generated code, unique: `Handler`, `Listen_produce`, `Listen_run`, `Handler_holding_cache`.
    pub name: String,
    /// What it is the function of.
    pub role: Role,
    /// What it is called with.
    pub inputs: Vec<Parameter>,
    /// What it gives when it is done.
    pub outputs: Vec<Parameter>,
    /// The constraints that every caller holds: a function is specialised for each such set.
    pub held: Vec<Held>,
    /// What it does.
    pub body: Block,
    /// Where something outside a node may throw (a predicate, a key, the copy of a C++ object), the path offset of that
    /// way out, which is a failure of this function; none where nothing can.
    pub fault: Option<u64>,
    /// How many paths lead to each exit.
    pub paths: Exits,
    /// The statement it stands for.
    pub span: Span,
}

/// What a function is the function of.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Role {
    /// An abstract node.
    Abstract(NodeId),
    /// A branch of a parallel step of this node, or the instances of an each step.
    Branch(NodeId),
    /// The producing side of the source at this index: runs where the source does, before the flow is queued.
    Produce(usize),
    /// The flow of the source at this index.
    Run(usize),
}

/// A constraint that is held around a call, by a caller.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Held {
    /// Which.
    pub constraint: ConstraintId,
    /// How.
    pub mode: Mode,
    /// The key, for a keyed one.
    pub key: Vec<HeldKey>,
    /// The pass that put the acquisition where it is; none where the author did. It does not say for whom: a function
    /// is the same whomever the constraint was moved for.
    pub moved_by: Option<Rewrite>,
}

/// A value of a key that a caller holds, as the function sees it: by where the value comes from, not by its name.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum HeldKey {
    /// The value that reaches the function as these inputs, ascending.
    Inputs(Vec<usize>),
    /// A constant.
    Constant(Constant),
    /// A value that does not reach the function.
    Lost,
}

/// A way out of a function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Exit {
    /// It gave its outputs.
    Done,
    /// It failed, and nobody has taken care of that yet.
    Failed,
    /// A handler took care of a failure, and with that the flow ends.
    Ended,
}

impl Exit {
    /// All three, in order.
    pub const ALL: [Self; 3] = [Self::Done, Self::Failed, Self::Ended];
}

/// A number for each exit.
#[derive(Clone, Copy, PartialEq, Eq, Default, Hash, Debug)]
pub struct Exits {
    /// For [`Exit::Done`].
    pub done: u64,
    /// For [`Exit::Failed`].
    pub failed: u64,
    /// For [`Exit::Ended`].
    pub ended: u64,
}

impl Exits {
    /// The number for `exit`.
    pub fn get(&self, exit: Exit) -> u64 {
        match exit {
            Exit::Done => self.done,
            Exit::Failed => self.failed,
            Exit::Ended => self.ended,
        }
    }

    /// The number for `exit`, to change.
    pub fn get_mut(&mut self, exit: Exit) -> &mut u64 {
        match exit {
            Exit::Done => &mut self.done,
            Exit::Failed => &mut self.failed,
            Exit::Ended => &mut self.ended,
        }
    }
}

/// Steps one after the other, and how it ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block {
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// What comes after the last.
    pub end: End,
}

/// How a block ends. The `offset` of an end is added to the flow's path register there (`number_paths`).
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum End {
    /// The function is done, with these outputs.
    Done {
        /// One for each output.
        values: Vec<Operand>,
        /// Added to the path register.
        offset: u64,
    },
    /// The error in hand leaves the function.
    Failed {
        /// Added to the path register.
        offset: u64,
    },
    /// A handler has taken care of the failure: the flow ends.
    Ended {
        /// Added to the path register.
        offset: u64,
    },
    /// In a failure block: the flow goes on after the step that failed, with these values as its outputs.
    Resume {
        /// One for each output of the failed step; never none.
        values: Vec<Operand>,
        /// Added to the path register.
        offset: u64,
    },
    /// In the failure block of a step without outputs: the flow goes on after it, because its handler says so.
    GoOn {
        /// Added to the path register.
        offset: u64,
    },
    /// The first line whose tests all hold goes on; only as the end of a function's body.
    Dispatch {
        /// In textual order; one without tests is the catch-all and the last.
        lines: Vec<Line>,
        /// Where no line is a catch-all: the path offset of the failure `no_match`.
        unmatched: Option<u64>,
    },
}

/// One line of a dispatch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line {
    /// All must hold.
    pub tests: Vec<Test>,
    /// What happens then.
    pub block: Block,
    /// The whole statement.
    pub span: Span,
}

/// A predicate on a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Test {
    /// Which predicate.
    pub predicate: PredicateId,
    /// Of what.
    pub value: Operand,
}

/// The number of a step, unique in its function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct StepId(pub u32);

/// One call, with what it holds and what happens when it fails.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// Names its outputs.
    pub id: StepId,
    /// What is called.
    pub callee: Callee,
    /// What it is called with, one for each input of the callee.
    pub inputs: Vec<Operand>,
    /// By when it is to have ended, in milliseconds from its beginning; what waits for constraints counts, what its
    /// failure block does does not.
    pub within: Option<Constant>,
    /// Taken in this order before the call, released in reverse after it, whatever way it ends.
    pub acquire: Vec<Acquisition>,
    /// What happens on a failure, the constraints released.
    pub failure: Block,
    /// How path numbers go through a call of a function.
    pub paths: StepPaths,
    /// Where the step is named, or the handler.
    pub span: Span,
}

/// What a step calls.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Callee {
    /// A concrete node: its function in C++, or what it computes.
    Node(NodeId),
    /// A function of the flow. When it ends as [`Exit::Ended`], so does the caller.
    Function(FunctionId),
    /// All of them concurrently, each with copies of the same inputs; the outputs are joined, one list after the other.
    /// When all have ended it has failed if one did, with the error of the first; else it has ended if one did.
    Fork(Vec<Branch>),
    /// A function once for each element of a list.
    Each(Each),
    /// A function in C++ that is no node's: an error handler, `void H(X_in *in, int error)`, or what gives a flow its
    /// session, `int F(X_in *in)`.
    External {
        /// Which.
        external: ExternalId,
        /// X, the node whose inputs it takes: the one that failed, or the target of the source. What failed may have
        /// left other values than it was given ([`Operand::Changed`]).
        node: NodeId,
    },
}

/// What an each step calls: an instance of the function for each element of a list. They end as branches do; those of a
/// loop after the first that is not done do not begin.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Each {
    /// What an instance runs: a branch, whose first input is the element.
    pub function: FunctionId,
    /// What the step takes: the list, and what each instance gets a copy of, as its further inputs.
    pub inputs: Vec<Parameter>,
    /// What the step gives: of each output of the function a list, in the order of the elements; or the last value.
    pub outputs: Vec<Parameter>,
    /// When instances begin.
    pub order: EachOrder,
}

/// When the instances of an each step begin: always in the order of the list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EachOrder {
    /// One after the other, until one is not done. Of these outputs of the function the step gives the last value, and
    /// the next instance takes it as this one of its inputs; before the first it is the step's input.
    Loop(Vec<(usize, usize)>),
    /// So many at once: a number above 1, or an option. The next one begins when an earlier one has ended.
    AtOnce(Constant),
    /// One after the other, and all of them: a pass found that they conflict with themselves.
    InTurn,
}

/// A branch of a parallel step.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Branch {
    /// What it runs.
    pub function: FunctionId,
    /// It starts when the branch at this index, an earlier one, has ended; else at once.
    pub after: Option<usize>,
}

/// A value, always by where it comes from: what a step was given is called the same in its failure block.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Operand {
    /// An input of the function, by position.
    Input(usize),
    /// An output of an earlier step.
    Output(StepId, usize),
    /// For a [`Callee::External`]: an input of the concrete node that failed, as that node left it. It is the node's
    /// own, so nothing is copied.
    Changed(StepId, usize),
    /// In the failure block of this step: something of its failure.
    Error(StepId, ErrorPart),
    /// A constant.
    Constant(Constant),
}

/// A constraint taken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Acquisition {
    /// Which.
    pub constraint: ConstraintId,
    /// How.
    pub mode: Mode,
    /// The key, for a keyed one.
    pub key: Vec<Operand>,
    /// Who put it here: where that is a pass, for a node inside that asks for it.
    pub provenance: Provenance,
    /// Where it is asked for.
    pub span: Span,
}

/// How path numbers go through a call of a function, whose own numbers start at 0 for each of its exits: on coming back
/// by an exit the register becomes `before * radix(exit) + own`. All of it is idle in steps that call nodes.
#[derive(Clone, Copy, PartialEq, Eq, Default, Hash, Debug)]
pub struct StepPaths {
    /// The register may not be 0 before the call: it is saved, zeroed, and combined afterwards.
    pub save: bool,
    /// The callee's paths are counted by themselves, as the product would not fit a register.
    pub cut: bool,
    /// How many paths lead to each of the callee's exits (1 where `cut`).
    pub radix: Exits,
    /// Added when the callee ended the flow.
    pub ended_offset: u64,
}

impl Block {
    /// The steps of this block and of every block in it, outer before inner, in textual order.
    pub fn all_steps(&self) -> Vec<&Step> {
        let mut found = vec![];
        let mut open = vec![self];
        while let Some(block) = open.pop() {
            if let End::Dispatch { lines, .. } = &block.end {
                open.extend(lines.iter().rev().map(|line| &line.block));
            }
            open.extend(block.steps.iter().rev().map(|step| &step.failure));
            found.extend(&block.steps);
        }
        found
    }
}

impl End {
    /// In a failure block, what is added to the path register where the flow continues after the step that failed; none
    /// where the flow leaves the function.
    pub fn rejoins(&self) -> Option<u64> {
        match self {
            Self::Resume { offset, .. } | Self::GoOn { offset } => Some(*offset),
            Self::Done { .. } | Self::Failed { .. } | Self::Ended { .. } | Self::Dispatch { .. } => None,
        }
    }
}

impl Callee {
    /// The functions of the flow that it runs.
    pub fn functions(&self) -> Vec<FunctionId> {
        match self {
            Self::Function(function) => vec![*function],
            Self::Fork(branches) => branches.iter().map(|branch| branch.function).collect(),
            Self::Each(each) => vec![each.function],
            Self::Node(_) | Self::External { .. } => vec![],
        }
    }
}

impl Each {
    /// Whether an input of the function has another value in each instance: it is the element, or handed on.
    pub fn changes(&self, input: usize) -> bool {
        let is_carried = || matches!(&self.order, EachOrder::Loop(carried) if carried.iter().any(|one| one.1 == input));
        input == 0 || is_carried()
    }
}

impl Step {
    /// The value that what is called gets as this input, where it is one that the step has: an element of a list is
    /// none, nor is what an instance of a loop hands on.
    pub fn passed(&self, input: usize) -> Option<&Operand> {
        match &self.callee {
            Callee::Each(each) if each.changes(input) => None,
            _ => self.inputs.get(input),
        }
    }
}

impl Flow {
    /// The node that `callee` calls, concrete or abstract.
    pub fn callee_node(&self, callee: &Callee) -> Option<NodeId> {
        match callee {
            Callee::Node(node) => Some(*node),
            Callee::Function(function) => self.functions[*function].node(),
            Callee::Fork(_) | Callee::Each(_) | Callee::External { .. } => None,
        }
    }

    /// The inputs of what `callee` calls.
    pub fn callee_inputs<'a>(&'a self, callee: &'a Callee) -> &'a [Parameter] {
        match callee {
            Callee::Node(node) | Callee::External { node, .. } => self.program.nodes[*node].inputs(),
            Callee::Function(function) => &self.functions[*function].inputs,
            Callee::Fork(branches) => branches.first().map_or(&[], |branch| &self.functions[branch.function].inputs),
            Callee::Each(each) => &each.inputs,
        }
    }

    /// The outputs of what `callee` calls; only nodes and flows have some.
    pub fn callee_outputs<'a>(&'a self, callee: &'a Callee) -> Vec<&'a Parameter> {
        match callee {
            Callee::Node(node) => self.program.nodes[*node].outputs().iter().collect(),
            Callee::Function(function) => self.functions[*function].outputs.iter().collect(),
            Callee::Fork(branches) => {
                branches.iter().flat_map(|branch| &self.functions[branch.function].outputs).collect()
            }
            Callee::Each(each) => each.outputs.iter().collect(),
            Callee::External { .. } => vec![],
        }
    }

    /// What a step takes, as the language writes it: a value of the key is called as the input is that gets it.
    pub fn taken_text(&self, step: &Step, taken: &Acquisition) -> String {
        let inputs = self.callee_inputs(&step.callee);
        let name = |operand: &Operand| match operand {
            Operand::Constant(constant) => self.program.constant_text(constant),
            _ => {
                let at = step.inputs.iter().position(|input| input == operand);
                at.and_then(|at| inputs.get(at)).map_or("…", |input| &input.name).to_owned()
            }
        };
        let key: Vec<_> = taken.key.iter().map(name).collect();
        self.program.constraint_text(taken.constraint, taken.mode, &key)
    }

    /// What a node requires, as its author wrote it.
    pub fn required_text(&self, node: NodeId, required: &Requirement) -> String {
        let inputs = self.program.nodes[node].inputs();
        let key: Vec<_> = required.key.iter().filter_map(|at| inputs.get(*at)).map(|it| it.name.clone()).collect();
        self.program.constraint_text(required.constraint, required.mode, &key)
    }

    /// A line of the dispatch of `function` as its author wrote it, with all patterns: `Handler:[_, _, hit]`. Reports
    /// and generated code call it so.
    pub fn line_label(&self, function: &Function, line: &Line) -> String {
        let pattern = |input| {
            let test = line.tests.iter().find(|test| test.value == Operand::Input(input));
            test.map_or("_".to_owned(), |test| self.program.predicates[test.predicate].name.to_string())
        };
        let patterns: Vec<_> = (0..function.inputs.len()).map(pattern).collect();
        let node = match function.role {
            Role::Abstract(node) | Role::Branch(node) => self.program.nodes[node].name.to_string(),
            Role::Produce(_) | Role::Run(_) => function.name.clone(),
        };
        format!("{node}:[{}]", patterns.join(", "))
    }
}

impl Function {
    /// Whether it is that of a branch of a parallel step, or of the instances of an each step.
    pub fn is_branch(&self) -> bool {
        matches!(self.role, Role::Branch(_))
    }

    /// The node it is the function of; none for those of a source.
    pub fn node(&self) -> Option<NodeId> {
        match self.role {
            Role::Abstract(node) | Role::Branch(node) => Some(node),
            Role::Produce(_) | Role::Run(_) => None,
        }
    }
}
