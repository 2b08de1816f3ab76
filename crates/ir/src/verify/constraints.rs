//! The premise of the theorem that no program can deadlock (`docs/deadlock.md`), checked on a flow as it will run.
//!
//! A function is walked once for each context in which it is called: what is held around it, and which of its inputs
//! carry the values of the keys that are held. A value is known by its origin: an input of the function, a constant, or
//! the step that made it; where two inputs carry one value, both are called by the first of them. In every context:
//!
//! - what is acquired exceeds all that is held, in the one order: scope, then name. Of two keys of one constraint
//!   nobody knows which comes first: they are taken in one step, where the runtime sorts them, or not at all;
//! - every node is called with all it requires held, in a mode that suffices, with its own key;
//! - what a function says its callers hold, they hold.
//!
//! And of a parallel step: branches that may be inside at once do not both rely on a hold of the flow around them that
//! only one of them may have. Nor do instances of an each step.
//!
//! What is held and comes before all that a function mentions can neither be missed nor be exceeded there, so it is
//! left out of the context: the walk is near-linear even where a node is shared by many.

use super::Violations;
use crate::flow::{
    Acquisition, Branch, Callee, Each, EachOrder, Flow, Function, FunctionId, Held, HeldKey, Operand, Step, StepId,
};
use crate::name::Name;
use crate::program::{Constant, ConstraintId, Mode, NodeId, Scope};
use flux_source::Span;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// What must hold of a well-formed flow whose constraints are ordered. O(contexts · size of the function).
pub(super) fn check(flow: &Flow, violations: &mut Violations) {
    let mut checker = Checker {
        flow,
        violations,
        summaries: vec![],
        seen: HashSet::new(),
        open: vec![],
        called: vec![false; flow.functions.len()],
    };
    for (_, function) in flow.functions.iter() {
        let summary = checker.summary(function);
        checker.summaries.push(summary);
    }
    for entry in &flow.entries {
        entry.produce.into_iter().chain([entry.run]).for_each(|function| checker.root(function));
    }
    // What no entry reaches is called by nobody: callers come after what they call.
    for function in flow.functions.ids().rev() {
        if checker.called.get(function.index()) == Some(&false) {
            checker.root(function);
        }
    }
}

/// The place of a constraint in the one order.
type Rank<'a> = (Scope, &'a Name);

/// A value by its origin, in terms of one function in one context.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Value {
    /// It came in as this input, and perhaps as later ones too.
    Input(usize),
    /// It is known.
    Constant(Constant),
    /// A step of the function made it.
    Made(StepId, usize),
    /// It cannot be named here.
    Unknown,
}

/// A constraint that is held, or that must be.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Hold {
    constraint: ConstraintId,
    key: Vec<Value>,
    mode: Mode,
}

impl Hold {
    /// Whether holding this is enough for what `wanted` asks for.
    fn suffices(&self, wanted: &Self) -> bool {
        let known = |value: &Value| *value != Value::Unknown;
        self.constraint == wanted.constraint
            && self.mode.suffices(wanted.mode)
            && self.key == wanted.key
            && self.key.iter().all(known)
    }

    /// Whether two that rely on these may not be inside at once: only two constants are certain to differ, and no
    /// options.
    fn conflicts(&self, other: &Self) -> bool {
        let differ = |(left, right): (&Value, &Value)| match (left, right) {
            (Value::Constant(left), Value::Constant(right)) => left.surely_differs(right),
            _ => false,
        };
        self.constraint == other.constraint
            && self.mode.excludes(other.mode)
            && !self.key.iter().zip(&other.key).any(differ)
    }
}

/// A function as it is called.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Context {
    function: FunctionId,
    /// What each input carries: an earlier input's value, or a constant. All its own where no key is mentioned inside.
    inputs: Vec<Value>,
    /// What is held around the call.
    held: BTreeSet<Hold>,
}

/// What a function mentions, those it calls included, whatever its context.
#[derive(Default)]
struct Summary<'a> {
    /// The first in the one order of the constraints it mentions.
    first: Option<Rank<'a>>,
    /// A keyed constraint is among them.
    keyed: bool,
    /// What nodes inside require and nothing inside takes: its callers hold it.
    needs: BTreeSet<Hold>,
}

struct Checker<'a, 'b> {
    flow: &'a Flow,
    violations: &'b mut Violations,
    /// One for each function, in order; callees come first.
    summaries: Vec<Summary<'a>>,
    seen: HashSet<Context>,
    open: Vec<Context>,
    /// Which functions have been walked.
    called: Vec<bool>,
}

impl<'a> Checker<'a, '_> {
    /// Walks a function that is called with nothing held, and all that it calls.
    fn root(&mut self, function: FunctionId) {
        let inputs = (0..self.flow.functions[function].inputs.len()).map(Value::Input).collect();
        self.enter(Context { function, inputs, held: BTreeSet::new() });
        while let Some(context) = self.open.pop() {
            let function = &self.flow.functions[context.function];
            if let Some(called) = self.called.get_mut(context.function.index()) {
                *called = true;
            }
            self.claims(function, &context);
            self.walk(function, &context);
        }
    }

    fn enter(&mut self, mut context: Context) {
        let Some(summary) = self.summaries.get(context.function.index()) else { return };
        if !summary.keyed {
            context.inputs = (0..context.inputs.len()).map(Value::Input).collect();
        }
        context.held.retain(|hold| summary.first.is_some_and(|first| self.rank(hold.constraint) >= first));
        if self.seen.insert(context.clone()) {
            self.open.push(context);
        }
    }

    fn rank(&self, constraint: ConstraintId) -> Rank<'a> {
        let constraint = &self.flow.program.constraints[constraint];
        (constraint.scope, &constraint.name)
    }

    /// What a function says its callers hold, they hold.
    fn claims(&mut self, function: &Function, context: &Context) {
        for Held { constraint, mode, key, .. } in &function.held {
            let part = |(part, value): (&HeldKey, &Value)| match part {
                HeldKey::Inputs(inputs) => inputs.iter().all(|at| context.inputs.get(*at) == Some(value)),
                HeldKey::Constant(constant) => *value == Value::Constant(constant.clone()),
                HeldKey::Lost => true,
            };
            let meant = |hold: &Hold| {
                hold.constraint == *constraint && hold.mode.suffices(*mode) && key.iter().zip(&hold.key).all(part)
            };
            if !context.held.iter().any(meant) {
                self.add(function, function.span, &format!("`{}` is not held by a caller", self.name(*constraint)));
            }
        }
    }

    fn walk(&mut self, function: &'a Function, context: &Context) {
        for step in function.body.all_steps() {
            let value = |operand: &Operand| value(operand, &context.inputs);
            let taken = || step.acquire.iter().map(|one| hold(one, value));
            self.order(function, step, context);
            let held: BTreeSet<Hold> = context.held.iter().cloned().chain(taken()).collect();
            self.required(function, step, &held, &value);
            self.calls(step, &held, &value);
            match &step.callee {
                Callee::Fork(branches) => self.parallel(function, step, branches, &value),
                Callee::Each(each) => self.instances(function, step, each, &value),
                _ => {}
            }
        }
    }

    /// What a step acquires exceeds all that is held around it.
    fn order(&mut self, function: &Function, step: &Step, context: &Context) {
        for Acquisition { constraint, span, .. } in &step.acquire {
            for hold in &context.held {
                if self.rank(hold.constraint) >= self.rank(*constraint) {
                    let (name, before) = (self.name(*constraint), self.name(hold.constraint));
                    self.add(function, *span, &format!("`{name}` is taken while `{before}` is held"));
                }
            }
        }
    }

    /// What the node that a step calls requires is held around the call.
    fn required(
        &mut self,
        function: &Function,
        step: &Step,
        held: &BTreeSet<Hold>,
        value: &impl Fn(&Operand) -> Value,
    ) {
        for need in self.requirements(step, value) {
            if !held.iter().any(|hold| self.is_enough(hold, &need)) {
                let name = self.name(need.constraint);
                let node = self.flow.callee_node(&step.callee);
                let node = node.map_or(String::new(), |node| self.node_name(node).to_string());
                self.add(function, step.span, &format!("`{node}` is called without `{name}` held as it must be"));
            }
        }
    }

    /// Enters the functions that a step calls, in the context that it makes for them.
    fn calls(&mut self, step: &Step, held: &BTreeSet<Hold>, value: &impl Fn(&Operand) -> Value) {
        let passes = |at: usize| step.passed(at).map_or(Value::Unknown, value);
        let passed: Vec<Value> = (0..step.inputs.len()).map(passes).collect();
        let inside = |value: &Value| inside(value, &passed);
        // What only the callee has, such as an element of a list, is a value of its own there.
        let own = |at: usize, value| if step.passed(at).is_some() { inside(value) } else { Value::Input(at) };
        let inputs: Vec<Value> = passed.iter().enumerate().map(|(at, value)| own(at, value)).collect();
        let held: BTreeSet<Hold> =
            held.iter().map(|hold| Hold { key: hold.key.iter().map(inside).collect(), ..hold.clone() }).collect();
        for function in step.callee.functions() {
            self.enter(Context { function, inputs: inputs.clone(), held: held.clone() });
        }
    }

    /// Branches of a parallel step that may be inside at once do not rely on one hold that only one may have.
    fn parallel(&mut self, function: &Function, step: &Step, branches: &[Branch], value: &impl Fn(&Operand) -> Value) {
        let needs: Vec<Vec<Hold>> = branches.iter().map(|one| self.passed_needs(one.function, step, value)).collect();
        // Branches with the same needs clash with the same others: each kind is asked once for each branch.
        let mut kinds: BTreeMap<&[Hold], usize> = BTreeMap::new();
        let mut kind_of: Vec<usize> = vec![];
        for (later, mine) in needs.iter().enumerate() {
            let clashes: HashMap<usize, &Hold> =
                kinds.iter().filter_map(|(theirs, kind)| Some((*kind, clash(mine, theirs)?))).collect();
            let mut awaited = branches.get(later).and_then(|branch| branch.after);
            for (earlier, kind) in kind_of.iter().enumerate().rev() {
                if awaited == Some(earlier) {
                    // It has ended before this one starts, and so have those that it waited for.
                    awaited = branches.get(earlier).and_then(|branch| branch.after);
                } else if let Some(clash) = clashes.get(kind) {
                    let name = self.name(clash.constraint);
                    let message = format!("branches {earlier} and {later} may be inside `{name}` at once");
                    self.add(function, step.span, &message);
                }
            }
            let next = kinds.len();
            kind_of.push(*kinds.entry(mine).or_insert(next));
        }
    }

    /// Instances that may be inside at once do not rely on one hold that only one of them may have.
    fn instances(&mut self, function: &Function, step: &Step, each: &Each, value: &impl Fn(&Operand) -> Value) {
        if !matches!(each.order, EachOrder::AtOnce(_)) {
            return;
        }
        let needs = self.passed_needs(each.function, step, value);
        if let Some(clash) = needs.iter().find(|one| needs.iter().any(|other| one.conflicts(other))) {
            let name = self.name(clash.constraint);
            self.add(function, step.span, &format!("two instances may be inside `{name}` at once"));
        }
    }

    /// What a function mentions and needs, its callees' summaries given.
    fn summary(&self, function: &'a Function) -> Summary<'a> {
        let own: Vec<Value> = (0..function.inputs.len()).map(Value::Input).collect();
        let value = |operand: &Operand| value(operand, &own);
        let mut summary = Summary::default();
        let mut mentioned: HashSet<ConstraintId> = function.held.iter().map(|held| held.constraint).collect();
        for step in function.body.all_steps() {
            let taken: Vec<Hold> = step.acquire.iter().map(|one| hold(one, value)).collect();
            mentioned.extend(taken.iter().map(|hold| hold.constraint));
            let required = self.requirements(step, &value);
            mentioned.extend(required.iter().map(|hold| hold.constraint));
            let inner = step.callee.functions().into_iter().flat_map(|callee| self.passed_needs(callee, step, &value));
            let open = required.into_iter().chain(inner);
            summary.needs.extend(open.filter(|need| !taken.iter().any(|hold| self.is_enough(hold, need))));
            for callee in step.callee.functions().iter().filter_map(|callee| self.summaries.get(callee.index())) {
                summary.first = earlier(summary.first, callee.first);
                summary.keyed |= callee.keyed;
            }
        }
        for rank in mentioned.into_iter().map(|constraint| self.rank(constraint)) {
            summary.first = earlier(summary.first, Some(rank));
            summary.keyed |= rank.0 == Scope::Keyed;
        }
        summary
    }

    /// What a callee needs held, in terms of the caller.
    fn passed_needs(&self, callee: FunctionId, step: &Step, value: &impl Fn(&Operand) -> Value) -> Vec<Hold> {
        let part = |part: &Value| match part {
            Value::Input(at) => step.passed(*at).map_or(Value::Unknown, value),
            Value::Constant(_) => part.clone(),
            Value::Made(..) | Value::Unknown => Value::Unknown,
        };
        let needs = self.summaries.get(callee.index()).map(|summary| &summary.needs).into_iter().flatten();
        needs.map(|need| Hold { key: need.key.iter().map(part).collect(), ..need.clone() }).collect()
    }

    /// What the node that a step calls requires, as its author said.
    fn requirements(&self, step: &Step, value: &impl Fn(&Operand) -> Value) -> Vec<Hold> {
        let Some(node) = self.flow.callee_node(&step.callee) else { return vec![] };
        let part = |at: &usize| step.inputs.get(*at).map_or(Value::Unknown, value);
        let requirements = self.flow.program.nodes[node].requirements.iter();
        requirements
            .map(|one| Hold { constraint: one.constraint, key: one.key.iter().map(part).collect(), mode: one.mode })
            .collect()
    }

    /// Whether holding this is enough for what is wanted: the same, or a writer's hold of the table of a row.
    fn is_enough(&self, hold: &Hold, wanted: &Hold) -> bool {
        let table = self.flow.program.constraints[wanted.constraint].table;
        hold.suffices(wanted) || (Some(hold.constraint) == table && hold.mode == Mode::Write)
    }

    fn node_name(&self, node: NodeId) -> &'a Name {
        &self.flow.program.nodes[node].name
    }

    fn name(&self, constraint: ConstraintId) -> &'a Name {
        &self.flow.program.constraints[constraint].name
    }

    fn add(&mut self, function: &Function, span: Span, message: &str) {
        self.violations.add(span, format!("function `{}`: {message}", function.name));
    }
}

/// The earlier of two places in the one order, where there is one.
fn earlier<'a>(left: Option<Rank<'a>>, right: Option<Rank<'a>>) -> Option<Rank<'a>> {
    left.into_iter().chain(right).min()
}

/// What one of `mine` needs that one of `theirs` must not have at the same time.
fn clash<'a>(mine: &'a [Hold], theirs: &[Hold]) -> Option<&'a Hold> {
    mine.iter().find(|one| theirs.iter().any(|other| one.conflicts(other)))
}

/// The value of an operand, where the function's inputs carry `carried`.
fn value(operand: &Operand, carried: &[Value]) -> Value {
    match operand {
        Operand::Input(at) => carried.get(*at).cloned().unwrap_or(Value::Unknown),
        Operand::Output(step, at) => Value::Made(*step, *at),
        Operand::Constant(constant) => Value::Constant(constant.clone()),
        Operand::Changed(..) | Operand::Error(..) => Value::Unknown,
    }
}

/// A value as a callee sees it to which `passed` is passed.
fn inside(value: &Value, passed: &[Value]) -> Value {
    match value {
        Value::Constant(_) => value.clone(),
        Value::Unknown => Value::Unknown,
        Value::Input(_) | Value::Made(..) => {
            passed.iter().position(|one| one == value).map_or(Value::Unknown, Value::Input)
        }
    }
}

fn hold(acquisition: &Acquisition, value: impl Fn(&Operand) -> Value) -> Hold {
    let key = acquisition.key.iter().map(value).collect();
    Hold { constraint: acquisition.constraint, key, mode: acquisition.mode }
}
