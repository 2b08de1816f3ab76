//! The premise of the theorem that no program can deadlock (`docs/deadlock.md`). The checker tests it on the flow that
//! will run.
//!
//! The checker walks a function once for each context of its calls. The context has the constraints held around the
//! call, and the inputs that carry the values of the held keys. The checker knows a value by its origin: an input of
//! the function, a constant, or the step that made the value. If two inputs carry one value, the first of them names
//! it. The checker requires in every context:
//!
//! - Each acquisition comes after all held constraints in the one order: scope, then name. The order of two keys of one
//!   constraint is unknown. A step may take such keys together, because the runtime sorts them; two steps may not.
//! - Each node runs with all its required constraints held, in a sufficient mode and with the node's own key.
//! - The callers hold the constraints that a function expects from them.
//!
//! A parallel step has one more rule. Branches that may be inside at once must not both rely on a hold of the
//! surrounding flow that only one of them may have. The same rule applies to the instances of an each step.
//!
//! Some held constraints come before all constraints that a function mentions. The function cannot miss or exceed them,
//! and the checker leaves them out of the context. The walk is therefore near-linear even if many callers share a node.

use super::Violations;
use crate::flow::{
    Acquisition, Branch, Callee, Each, EachOrder, Flow, Function, FunctionId, Held, HeldKey, Operand, Step, StepId,
};
use crate::name::Name;
use crate::program::{Constant, ConstraintId, Mode, NodeId, Scope};
use flux_source::Span;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Checks a well-formed flow with ordered constraints. O(contexts · size of the function).
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
    // The loop also walks functions that no entry reaches. Callers come after their callees, and the reverse order
    // visits callers first.
    for function in flow.functions.ids().rev() {
        if checker.called.get(function.index()) == Some(&false) {
            checker.root(function);
        }
    }
}

/// The position of a constraint in the one order.
type Rank<'a> = (Scope, &'a Name);

/// A value, known by its origin, in terms of one function in one context.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Value {
    /// The input at this index carries the value. Later inputs may carry it, too.
    Input(usize),
    /// The value is a known constant.
    Constant(Constant),
    /// A step of the function made the value.
    Made(StepId, usize),
    /// The function has no name for the value.
    Unknown,
}

/// A constraint that is held, or that must be held.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Hold {
    constraint: ConstraintId,
    key: Vec<Value>,
    mode: Mode,
}

impl Hold {
    /// Whether this hold is enough for the hold `wanted`.
    fn suffices(&self, wanted: &Self) -> bool {
        let known = |value: &Value| *value != Value::Unknown;
        self.constraint == wanted.constraint
            && self.mode.suffices(wanted.mode)
            && self.key == wanted.key
            && self.key.iter().all(known)
    }

    /// Whether two executions that rely on these holds must not be inside at once. Two keys are known to differ only if
    /// both are constants, and neither of them is an option.
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

/// A function in the context of a call.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Context {
    function: FunctionId,
    /// The value that each input carries: the value of an earlier input, or a constant. Each input has its own value if
    /// the function and its callees mention no key.
    inputs: Vec<Value>,
    /// The constraints held around the call.
    held: BTreeSet<Hold>,
}

/// The constraints that a function and its callees mention, in any context.
#[derive(Default)]
struct Summary<'a> {
    /// The first mentioned constraint in the one order.
    first: Option<Rank<'a>>,
    /// Whether a mentioned constraint has a key.
    keyed: bool,
    /// The holds that nodes inside require and that no step inside takes. The function's callers must hold them.
    needs: BTreeSet<Hold>,
}

struct Checker<'a, 'b> {
    flow: &'a Flow,
    violations: &'b mut Violations,
    /// The summary of each function, in the order of the functions; callees come first.
    summaries: Vec<Summary<'a>>,
    seen: HashSet<Context>,
    open: Vec<Context>,
    /// For each function, whether the checker has walked it.
    called: Vec<bool>,
}

impl<'a> Checker<'a, '_> {
    /// Walks a function that starts without holds, and all functions that it calls.
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

    /// Checks that the callers hold the constraints that a function expects from them.
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

    /// Checks that each acquisition of a step comes after all holds around the step.
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

    /// Checks that the constraints that the called node requires are held around the call.
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

    /// Enters the functions that a step calls, in the context that the step makes for them.
    fn calls(&mut self, step: &Step, held: &BTreeSet<Hold>, value: &impl Fn(&Operand) -> Value) {
        let passes = |at: usize| step.passed(at).map_or(Value::Unknown, value);
        let passed: Vec<Value> = (0..step.inputs.len()).map(passes).collect();
        let inside = |value: &Value| inside(value, &passed);
        // An input that only the callee has, such as an element of a list, is a value of its own in the callee.
        let own = |at: usize, value| if step.passed(at).is_some() { inside(value) } else { Value::Input(at) };
        let inputs: Vec<Value> = passed.iter().enumerate().map(|(at, value)| own(at, value)).collect();
        let held: BTreeSet<Hold> =
            held.iter().map(|hold| Hold { key: hold.key.iter().map(inside).collect(), ..hold.clone() }).collect();
        for function in step.callee.functions() {
            self.enter(Context { function, inputs: inputs.clone(), held: held.clone() });
        }
    }

    /// Checks the branches of a parallel step. Branches that may be inside at once must not rely on one hold that only
    /// one of them may have.
    fn parallel(&mut self, function: &Function, step: &Step, branches: &[Branch], value: &impl Fn(&Operand) -> Value) {
        let needs: Vec<Vec<Hold>> = branches.iter().map(|one| self.passed_needs(one.function, step, value)).collect();
        // Branches with the same needs clash with the same branches. The loop compares each kind once for each branch.
        let mut kinds: BTreeMap<&[Hold], usize> = BTreeMap::new();
        let mut kind_of: Vec<usize> = vec![];
        for (later, mine) in needs.iter().enumerate() {
            let clashes: HashMap<usize, &Hold> =
                kinds.iter().filter_map(|(theirs, kind)| Some((*kind, clash(mine, theirs)?))).collect();
            let mut awaited = branches.get(later).and_then(|branch| branch.after);
            for (earlier, kind) in kind_of.iter().enumerate().rev() {
                if awaited == Some(earlier) {
                    // The earlier branch ends before the later one starts. The branches that it waited for have ended,
                    // too.
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

    /// Checks the instances of an each step. Instances that may be inside at once must not rely on one hold that only
    /// one of them may have.
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

    /// The constraints that a function mentions and needs, by the summaries of its callees.
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

    /// The holds that a callee needs, in terms of the caller.
    fn passed_needs(&self, callee: FunctionId, step: &Step, value: &impl Fn(&Operand) -> Value) -> Vec<Hold> {
        let part = |part: &Value| match part {
            Value::Input(at) => step.passed(*at).map_or(Value::Unknown, value),
            Value::Constant(_) => part.clone(),
            Value::Made(..) | Value::Unknown => Value::Unknown,
        };
        let needs = self.summaries.get(callee.index()).map(|summary| &summary.needs).into_iter().flatten();
        needs.map(|need| Hold { key: need.key.iter().map(part).collect(), ..need.clone() }).collect()
    }

    /// The holds that the called node requires, by the author's declaration.
    fn requirements(&self, step: &Step, value: &impl Fn(&Operand) -> Value) -> Vec<Hold> {
        let Some(node) = self.flow.callee_node(&step.callee) else { return vec![] };
        let part = |at: &usize| step.inputs.get(*at).map_or(Value::Unknown, value);
        let requirements = self.flow.program.nodes[node].requirements.iter();
        requirements
            .map(|one| Hold { constraint: one.constraint, key: one.key.iter().map(part).collect(), mode: one.mode })
            .collect()
    }

    /// Whether a hold is enough for a wanted hold. The same hold is enough, and for a row a writer's hold of its table
    /// is enough.
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

/// The earlier of two positions in the one order, if there is one.
fn earlier<'a>(left: Option<Rank<'a>>, right: Option<Rank<'a>>) -> Option<Rank<'a>> {
    left.into_iter().chain(right).min()
}

/// The first hold of `mine` that conflicts with a hold of `theirs`.
fn clash<'a>(mine: &'a [Hold], theirs: &[Hold]) -> Option<&'a Hold> {
    mine.iter().find(|one| theirs.iter().any(|other| one.conflicts(other)))
}

/// The value of an operand, if the function's inputs carry `carried`.
fn value(operand: &Operand, carried: &[Value]) -> Value {
    match operand {
        Operand::Input(at) => carried.get(*at).cloned().unwrap_or(Value::Unknown),
        Operand::Output(step, at) => Value::Made(*step, *at),
        Operand::Constant(constant) => Value::Constant(constant.clone()),
        Operand::Changed(..) | Operand::Error(..) => Value::Unknown,
    }
}

/// A caller's value in terms of a callee with the inputs `passed`.
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
