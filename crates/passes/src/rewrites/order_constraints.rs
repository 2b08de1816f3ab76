//! The pass orders the acquisitions of a flow. Afterwards no two flows can wait for each other. The pass requires a
//! lowered flow: each step has the acquisitions that its own node requires. The pass establishes two properties. Every
//! acquisition comes after all holds around it in the one order, and no step takes a held constraint again. (Flux
//! paper, section 3.1.1; `docs/deadlock.md` has the proof.)
//!
//! The pass compiles a function once for each set of constraints that its callers hold, as far as the set matters to
//! the function. A shared node therefore never takes a constraint that only one of its callers needs. Within a function
//! and a held set, the pass has three rules for an acquisition of c:
//!
//! 1. c is held in a sufficient mode: the step does not take c.
//! 2. c is held by a reader and needed by a writer: the acquisition that holds it becomes a writer.
//! 3. Some d that does not come before c is held: the pass adds c to the outermost step that holds such a d.
//!
//! Rules 2 and 3 may move an acquisition out of the function. The acquisition then escapes to the caller. The caller's
//! step takes it, unless a caller further out must take it. The pass looks at a step again after each addition. A step
//! only gains acquisitions, and the repetition therefore ends. A failure block runs with the constraints held around
//! its step. A branch of a parallel step starts with the constraints held around the step. Branches run one after the
//! other if they would share a hold that only one of them may have.

use crate::rewrites::constraint_diagnostics as report;
use flux_diagnostic::Diagnostics;
use flux_ir::arena::Arena;
use flux_ir::flow::{
    Acquisition, Block, Branch, Callee, Each, EachOrder, End, Flow, Function, FunctionId, Held, HeldKey, Line, Operand,
    Step,
};
use flux_ir::program::{Constant, ConstraintId, Mode, NodeId};
use flux_ir::provenance::{Provenance, Rewrite};
use flux_source::{Span, deep};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::Hash;

/// The maximum number of held sets for one function. In a program that takes its constraints in order, the held set of
/// a callee matters little. Out of order, each constraint that may or may not be held doubles the number of sets.
const CONTEXT_LIMIT: usize = 256;

/// Orders the acquisitions of the whole flow. If the pass reports an error, it leaves the flow unchanged.
/// O(functions · held sets that differ for them).
pub fn order_constraints(flow: &mut Flow, diagnostics: &mut Diagnostics) {
    if flow.program.constraints.is_empty() {
        return;
    }
    let mut told = Diagnostics::new();
    let mut order = Order::new(flow, &mut told);
    let mut entries = flow.entries.clone();
    for entry in &mut entries {
        entry.produce = entry.produce.map(|function| order.root(function));
        entry.run = order.root(entry.run);
    }
    let mut roots: Vec<_> = entries.iter().flat_map(|entry| entry.produce.into_iter().chain([entry.run])).collect();
    // The pass also compiles functions that no source reaches. Callers come first in this loop, and a function that is
    // still unreached has no caller.
    for function in flow.functions.ids().rev() {
        if !order.reached.contains(&function) {
            roots.push(order.root(function));
        }
    }
    if let Some(function) = order.crowded {
        // Other diagnostics describe a program that has to change anyway.
        return report::too_many_contexts(flow, function, CONTEXT_LIMIT, diagnostics);
    }
    // A rejected program stays unchanged, because the compiled functions are incomplete.
    if order.refused.is_empty() {
        (flow.functions, flow.entries) = (order.made, entries);
        remove_uncalled(flow, roots);
    }
    diagnostics.append(told);
}

/// Removes functions compiled for held sets that no call uses in the end, because the callers had to take more.
fn remove_uncalled(flow: &mut Flow, mut open: Vec<FunctionId>) {
    let mut called = HashSet::new();
    while let Some(function) = open.pop() {
        if called.insert(function) {
            let steps = flow.functions.find(function).map(|function| function.body.all_steps()).unwrap_or_default();
            open.extend(steps.iter().flat_map(|step| step.callee.functions()));
        }
    }
    if called.len() == flow.functions.len() {
        return;
    }
    let kept: Vec<_> = flow.functions.ids().filter(|id| called.contains(id)).collect();
    let number: HashMap<_, _> = kept.iter().enumerate().map(|(at, id)| (*id, FunctionId::new(at))).collect();
    let renumber = |id: &mut FunctionId| *id = number.get(id).copied().unwrap_or(*id);
    let mut functions: Arena<Function> = kept.into_iter().map(|id| flow.functions[id].clone()).collect();
    for (_, function) in functions.iter_mut() {
        renumber_callees(&mut function.body, &renumber);
    }
    flow.functions = functions;
    for entry in &mut flow.entries {
        entry.produce.iter_mut().chain([&mut entry.run]).for_each(renumber);
    }
}

fn renumber_callees(block: &mut Block, renumber: &impl Fn(&mut FunctionId)) {
    for step in &mut block.steps {
        match &mut step.callee {
            Callee::Function(function) => renumber(function),
            Callee::Fork(branches) => branches.iter_mut().for_each(|branch| renumber(&mut branch.function)),
            Callee::Each(each) => renumber(&mut each.function),
            Callee::Node(_) | Callee::External { .. } => {}
        }
        renumber_callees(&mut step.failure, renumber);
    }
    if let End::Dispatch { lines, .. } = &mut block.end {
        lines.iter_mut().for_each(|line| renumber_callees(&mut line.block, renumber));
    }
}

/// An acquisition that a caller must make.
#[derive(Clone, Debug)]
pub struct Escape {
    /// The acquisition. Its key is in terms of the function that it escapes from.
    pub acquisition: Acquisition,
    /// Whether a reader already holds the constraint there, and a writer must hold it. Otherwise the constraint is not
    /// held.
    pub promote: bool,
}

/// A constraint that a function needs and that its callers hold.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Use {
    constraint: ConstraintId,
    mode: Mode,
    key: Vec<Operand>,
}

type Specialised = Result<FunctionId, Vec<Escape>>;

struct Order<'a> {
    flow: &'a Flow,
    diagnostics: &'a mut Diagnostics,
    /// The position of each constraint in the one order.
    rank: HashMap<ConstraintId, usize>,
    /// The constraints that each function or its callees take.
    touched: HashMap<FunctionId, BTreeSet<ConstraintId>>,
    known: HashMap<(FunctionId, Vec<Held>), Specialised>,
    /// The number of held sets that the pass has compiled or tried for each function.
    contexts: HashMap<FunctionId, usize>,
    /// A function that needs more than [`CONTEXT_LIMIT`] held sets.
    crowded: Option<FunctionId>,
    instances: HashMap<(FunctionId, Vec<Held>), FunctionId>,
    uses: HashMap<FunctionId, Vec<Use>>,
    made: Arena<Function>,
    names: HashSet<String>,
    reached: HashSet<FunctionId>,
    /// The reported moves: the place of the acquisition in the program, and the constraint that is taken in addition.
    warned: HashSet<(Span, ConstraintId)>,
    /// The constraints that the pass moved up above branches that share them.
    serialised: HashSet<ConstraintId>,
    /// The keys that cannot be taken at the required step: the place of the acquisition, and the node that the step
    /// calls.
    refused: HashSet<(Span, Option<NodeId>)>,
}

/// A walk through one function under one held set.
struct Walk {
    held: Vec<Held>,
    escapes: Vec<Escape>,
    uses: Vec<Use>,
}

impl<'a> Order<'a> {
    fn new(flow: &'a Flow, diagnostics: &'a mut Diagnostics) -> Self {
        let mut ranked: Vec<_> = flow.program.constraints.iter().collect();
        ranked.sort_by_key(|(_, constraint)| (constraint.scope, &constraint.name));
        let rank = ranked.iter().enumerate().map(|(rank, (id, _))| (*id, rank)).collect();
        Self {
            flow,
            diagnostics,
            rank,
            touched: touched(flow),
            known: HashMap::new(),
            contexts: HashMap::new(),
            crowded: None,
            instances: HashMap::new(),
            uses: HashMap::new(),
            made: Arena::default(),
            names: HashSet::new(),
            reached: HashSet::new(),
            warned: HashSet::new(),
            serialised: HashSet::new(),
            refused: HashSet::new(),
        }
    }

    /// Compiles a function without callers. The function starts without holds, and no acquisition can escape.
    fn root(&mut self, function: FunctionId) -> FunctionId {
        self.specialise(function, vec![]).unwrap_or(function)
    }

    /// Compiles a function for callers that hold `held`, or returns the acquisitions that the callers must make.
    fn specialise(&mut self, id: FunctionId, held: Vec<Held>) -> Specialised {
        self.reached.insert(id);
        let held = self.relevant(id, held);
        let key = (id, held.clone());
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let contexts = self.contexts.entry(id).or_default();
        *contexts += 1;
        if *contexts > CONTEXT_LIMIT {
            self.crowded.get_or_insert(id);
            return Ok(id);
        }
        let mut walk = Walk { held, escapes: vec![], uses: vec![] };
        // A program may nest deeper than a thread's stack.
        let body = flux_source::deep(|| self.block(&self.flow.functions[id].body, &mut walk));
        // The walk keeps each escape and each use once. A function that is called twice would otherwise double them, at
        // every level.
        keep_first(&mut walk.escapes, |one| (one.acquisition.constraint, one.acquisition.key.clone(), one.promote));
        keep_first(&mut walk.uses, |one| (one.constraint, one.key.clone(), one.mode));
        let result = match walk.escapes.is_empty() {
            true => Ok(self.instance(id, walk.held, walk.uses, body)),
            false => Err(walk.escapes),
        };
        self.known.insert(key, result.clone());
        result
    }

    /// The holds of `held` that matter to a function: constraints that it may take again, and constraints that come
    /// after one that it may take. Keys with values that do not reach the function look alike there, and become one
    /// hold.
    fn relevant(&self, id: FunctionId, held: Vec<Held>) -> Vec<Held> {
        let touched = self.touched.get(&id);
        let lowest = touched.and_then(|all| all.iter().filter_map(|one| self.rank.get(one)).min());
        let matters = |one: &Held| lowest.is_some_and(|lowest| self.rank.get(&one.constraint) >= Some(lowest));
        let mut held: Vec<_> = held.into_iter().filter(matters).collect();
        held.sort_by(|one, other| (one.constraint, &one.key).cmp(&(other.constraint, &other.key)));
        held.dedup_by(|later, kept| {
            let same = (later.constraint, &later.key) == (kept.constraint, &kept.key);
            if same {
                kept.mode = kept.mode.joined(later.mode);
                kept.moved_by = kept.moved_by.and(later.moved_by);
            }
            same
        });
        held.sort();
        held
    }

    /// The function compiled for a held set. Two sets share one instance if they differ only in constraints that the
    /// function never takes.
    fn instance(&mut self, id: FunctionId, held: Vec<Held>, uses: Vec<Use>, body: Block) -> FunctionId {
        let touched = self.touched.get(&id).cloned().unwrap_or_default();
        let held: Vec<_> = held.into_iter().filter(|one| touched.contains(&one.constraint)).collect();
        let key = (id, held);
        if let Some(known) = self.instances.get(&key) {
            return *known;
        }
        let function = &self.flow.functions[id];
        let name = self.fresh(&function.name, &key.1);
        let made = self.made.add(Function { name, held: key.1.clone(), body, ..function.clone() });
        self.instances.insert(key, made);
        self.uses.insert(made, uses);
        made
    }

    /// A unique name for a compiled function: `Handler`, `Handler_holding_cache`, `Handler_holding_cache_2`.
    fn fresh(&mut self, stem: &str, held: &[Held]) -> String {
        let names = held.iter().map(|one| self.flow.program.constraints[one.constraint].name.joined("_"));
        let holding = names.fold(String::new(), |all, name| format!("{all}_{name}"));
        let wanted = if held.is_empty() { stem.to_owned() } else { format!("{stem}_holding{holding}") };
        let numbered = (2..).map(|number| format!("{wanted}_{number}"));
        let mut names = std::iter::once(wanted.clone()).chain(numbered);
        names.find(|name| self.names.insert(name.clone())).unwrap_or_default()
    }

    fn block(&mut self, block: &Block, walk: &mut Walk) -> Block {
        deep(|| {
            let steps = block.steps.iter().map(|step| self.step(step, walk)).collect();
            let end = match &block.end {
                End::Dispatch { lines, unmatched } => {
                    let line = |line: &Line| Line { block: self.block(&line.block, walk), ..line.clone() };
                    End::Dispatch { lines: lines.iter().map(line).collect(), unmatched: *unmatched }
                }
                end => end.clone(),
            };
            Block { steps, end }
        })
    }

    /// Compiles a step in its context: the acquisitions of the step, and its callee for the resulting held set.
    fn step(&mut self, step: &Step, walk: &mut Walk) -> Step {
        let mut made = step.clone();
        while let Some(acquire) = self.own(&made, walk) {
            match self.callee(&step.callee, &around(&walk.held, &acquire, &made)) {
                Ok(callee) => {
                    self.warn_of_moved(&made);
                    made.callee = callee;
                    self.note_uses(&made, &acquire, walk);
                    made.acquire = acquire;
                    self.serialise(&mut made, walk);
                    break;
                }
                Err(escapes) => {
                    let grown = escapes.iter().filter(|escape| self.settle(escape, &mut made, &acquire, walk));
                    if grown.count() == 0 {
                        // A step further out takes more, or the program is rejected. The program will not run this
                        // version of the step.
                        break;
                    }
                }
            }
        }
        made.failure = self.block(&step.failure, walk);
        made
    }

    /// The acquisitions that a step must make itself, because they are not yet held. The result is none if a step
    /// further out must make one of them: it has escaped.
    fn own(&mut self, step: &Step, walk: &mut Walk) -> Option<Vec<Acquisition>> {
        let mut taken = vec![];
        let before = walk.escapes.len();
        for one in &step.acquire {
            if self.holds_all_rows(one, &walk.held) {
                continue;
            }
            match walk.held.iter().find(|held| covers(held, one)) {
                Some(held) if held.mode.suffices(one.mode) => {}
                Some(_) => walk.escapes.push(Escape { acquisition: moved(one, step, self.flow), promote: true }),
                None if self.late(one, &walk.held) => {
                    walk.escapes.push(Escape { acquisition: moved(one, step, self.flow), promote: false });
                }
                None => taken.push(one.clone()),
            }
        }
        (walk.escapes.len() == before).then_some(taken)
    }

    /// Whether `one` is the acquisition of a row, and a writer holds the whole table.
    fn holds_all_rows(&self, one: &Acquisition, held: &[Held]) -> bool {
        let table = self.flow.program.constraints[one.constraint].table;
        held.iter().any(|held| Some(held.constraint) == table && held.mode == Mode::Write)
    }

    /// Whether a held constraint does not come before `one`. The order of two keys of one constraint is unknown.
    fn late(&self, one: &Acquisition, held: &[Held]) -> bool {
        held.iter().any(|held| self.rank.get(&held.constraint) >= self.rank.get(&one.constraint))
    }

    fn callee(&mut self, callee: &Callee, inside: &[Held]) -> Result<Callee, Vec<Escape>> {
        match callee {
            Callee::Function(function) => self.specialise(*function, inside.to_vec()).map(Callee::Function),
            Callee::Fork(branches) => {
                let mut made = vec![];
                let mut escapes = vec![];
                for branch in branches {
                    match self.specialise(branch.function, inside.to_vec()) {
                        Ok(function) => made.push(Branch { function, after: None }),
                        Err(more) => escapes.extend(more),
                    }
                }
                if escapes.is_empty() { Ok(Callee::Fork(made)) } else { Err(escapes) }
            }
            Callee::Each(each) => {
                let function = self.specialise(each.function, inside.to_vec())?;
                Ok(Callee::Each(Each { function, ..each.clone() }))
            }
            Callee::Node(_) | Callee::External { .. } => Ok(callee.clone()),
        }
    }

    /// Lets this step take an escape of the callee, or sends the escape further out. Returns true if the step takes
    /// more than before.
    fn settle(&mut self, escape: &Escape, made: &mut Step, acquire: &[Acquisition], walk: &mut Walk) -> bool {
        let Some(key) = translate(&escape.acquisition.key, made) else {
            if let Some(table) = self.flow.program.constraints[escape.acquisition.constraint].table {
                return self.settle_table(table, escape, made, acquire, walk);
            }
            if self.refused.insert((escape.acquisition.span, self.flow.callee_node(&made.callee))) {
                report::unreachable_key(self.flow, made, escape, self.diagnostics);
            }
            return false;
        };
        let acquisition = Acquisition { key, ..escape.acquisition.clone() };
        let same = |one: &Acquisition| one.constraint == acquisition.constraint && one.key == acquisition.key;
        let here = acquire.iter().any(&same);
        let late = self.late(&acquisition, &walk.held);
        if (escape.promote && !here) || (!escape.promote && late) {
            walk.escapes.push(Escape { acquisition, promote: escape.promote });
            return false;
        }
        if let Some(one) = made.acquire.iter_mut().find(|one| same(one)) {
            let grows = !one.mode.suffices(acquisition.mode);
            one.mode = one.mode.joined(acquisition.mode);
            return grows;
        }
        made.acquire.push(acquisition);
        made.acquire.sort_by_key(|one| self.rank.get(&one.constraint).copied());
        true
    }

    /// The same as [`Self::settle`], for a row that no step further out can take. The step takes the whole table
    /// instead.
    fn settle_table(
        &mut self,
        table: ConstraintId,
        row: &Escape,
        made: &mut Step,
        acquire: &[Acquisition],
        walk: &mut Walk,
    ) -> bool {
        let wanted = &row.acquisition;
        if self.warned.insert((wanted.span, table)) {
            report::whole_table(self.flow, made, (wanted, table), self.diagnostics);
        }
        let acquisition = Acquisition { constraint: table, mode: Mode::Write, key: vec![], ..wanted.clone() };
        let is_held = walk.held.iter().any(|held| held.constraint == table);
        self.settle(&Escape { acquisition, promote: is_held }, made, acquire, walk)
    }

    /// Warns about the acquisitions that a step makes for nodes inside it; all of them are known now. The warning
    /// appears once, even if the program applies the step's node several times.
    fn warn_of_moved(&mut self, made: &Step) {
        let mut moved: Vec<_> = made.acquire.iter().filter(|one| one.provenance != Provenance::Author).collect();
        moved.sort_by_key(|one| one.span);
        let Some(own) = made.acquire.iter().rfind(|one| one.provenance == Provenance::Author) else { return };
        // Branches cannot share a constraint that the author takes around them. The warning must not suggest that.
        let may_be_written = !moved.iter().any(|one| self.serialised.contains(&one.constraint));
        for one in moved {
            if self.warned.insert((own.span, one.constraint)) {
                report::moved_up(self.flow, made, (one, own), may_be_written, self.diagnostics);
            }
        }
    }

    /// Records the holds that this function relies on, by itself and through its callee.
    fn note_uses(&mut self, made: &Step, acquire: &[Acquisition], walk: &mut Walk) {
        let own = made.acquire.iter().map(|one| self.own_use(one, &walk.held));
        let inner = made.callee.functions().into_iter().flat_map(|function| self.translated_uses(function, made));
        let taken_here =
            |one: &Use| acquire.iter().any(|taken| taken.constraint == one.constraint && taken.key == one.key);
        let uses: Vec<Use> = own.chain(inner).filter(|one| !taken_here(one)).collect();
        walk.uses.extend(uses);
    }

    /// The hold that a step relies on for one acquisition. If a writer holds the whole table, the step relies on the
    /// table. The pass may then no longer know whether two rows are the same.
    fn own_use(&self, one: &Acquisition, held: &[Held]) -> Use {
        let table = self.flow.program.constraints[one.constraint].table.filter(|_| self.holds_all_rows(one, held));
        match (table, one.mode) {
            (Some(constraint), Mode::Read) => Use { constraint, mode: Mode::Intent, key: vec![] },
            (Some(constraint), mode) => Use { constraint, mode, key: vec![] },
            (None, mode) => Use { constraint: one.constraint, mode, key: one.key.clone() },
        }
    }

    /// The holds that a callee relies on. Their keys are in terms of the caller.
    fn translated_uses(&self, function: FunctionId, made: &Step) -> Vec<Use> {
        let uses = self.uses.get(&function).into_iter().flatten();
        uses.filter_map(|one| Some(Use { key: translate(&one.key, made)?, ..one.clone() })).collect()
    }

    /// Makes branches run one after the other if they rely on one hold that only one of them may have. The new order is
    /// correct for a hold that the pass moved above the step. If the author wrote the hold there, the parallel step is
    /// an error.
    fn serialise(&mut self, made: &mut Step, walk: &Walk) {
        let branches = match &made.callee {
            Callee::Fork(branches) => branches,
            Callee::Each(Each { function, order: EachOrder::AtOnce(_), .. }) => {
                let uses = self.translated_uses(*function, made);
                return self.serialise_instances(&uses, made, walk);
            }
            _ => return,
        };
        let uses: Vec<_> = branches.iter().map(|branch| self.translated_uses(branch.function, made)).collect();
        // Conflicting branches are in one group, and run in turn. A group also contains the branches that conflict with
        // its members.
        let mut groups = Groups::new(branches.len());
        // Branches with the same uses conflict with the same branches. The loop compares each kind once for each
        // branch.
        let mut kinds: Vec<(&[Use], Vec<usize>)> = vec![];
        let mut kind_of: HashMap<&[Use], usize> = HashMap::new();
        let mut reported = HashSet::new();
        for (later, mine) in uses.iter().enumerate() {
            for (theirs, earlier) in &mut kinds {
                let Some(shared) = conflict(mine, theirs) else { continue };
                earlier.iter().for_each(|one| groups.join(*one, later));
                earlier.truncate(1); // the others are in its group now
                if reported.insert(shared.constraint) {
                    let authored = is_authored(shared, &made.acquire, &walk.held);
                    self.serialised.insert(shared.constraint);
                    report::serialised(self.flow, made, shared.constraint, authored, self.diagnostics);
                }
            }
            let kind = *kind_of.entry(mine).or_insert_with(|| {
                kinds.push((mine, vec![]));
                kinds.len() - 1
            });
            kinds.get_mut(kind).into_iter().for_each(|(_, branches)| branches.push(later));
        }
        let mut last_of = HashMap::new();
        let after: Vec<_> = (0..branches.len()).map(|branch| last_of.insert(groups.of(branch), branch)).collect();
        if let Callee::Fork(branches) = &mut made.callee {
            for (branch, after) in branches.iter_mut().zip(after) {
                branch.after = after;
            }
        }
    }

    /// Does the same for the instances of an each step. Either all instances conflict with each other, or none do.
    fn serialise_instances(&mut self, uses: &[Use], made: &mut Step, walk: &Walk) {
        let Some(shared) = conflict(uses, uses) else { return };
        let authored = is_authored(shared, &made.acquire, &walk.held);
        self.serialised.insert(shared.constraint);
        report::serialised(self.flow, made, shared.constraint, authored, self.diagnostics);
        if let Callee::Each(each) = &mut made.callee {
            each.order = EachOrder::InTurn;
        }
    }
}

/// The first hold of `left` that conflicts with a hold of `right`: one hold in modes that exclude each other. Two keys
/// are known to differ only if both are constants.
fn conflict<'a>(left: &'a [Use], right: &[Use]) -> Option<&'a Use> {
    let differ = |(a, b): (&Operand, &Operand)| match (a, b) {
        (Operand::Constant(a), Operand::Constant(b)) => a.surely_differs(b),
        _ => false,
    };
    let clash = |a: &Use, b: &Use| {
        a.constraint == b.constraint && a.mode.excludes(b.mode) && !a.key.iter().zip(&b.key).any(differ)
    };
    left.iter().find(|a| right.iter().any(|b| clash(a, b)))
}

/// Whether the author wrote the hold that `used` relies on at its current place.
fn is_authored(used: &Use, acquire: &[Acquisition], held: &[Held]) -> bool {
    let here = acquire.iter().find(|one| one.constraint == used.constraint && one.key == used.key);
    let further_out = || held.iter().find(|one| one.constraint == used.constraint);
    here.map(|one| one.provenance.pass()).or_else(|| further_out().map(|one| one.moved_by)) == Some(None)
}

/// An acquisition of a step, in the form that a step further out makes it.
fn moved(acquisition: &Acquisition, step: &Step, flow: &Flow) -> Acquisition {
    let node = acquisition.provenance.whom().or(flow.callee_node(&step.callee));
    let provenance = node.map_or(Provenance::Author, |node| Provenance::Pass(Rewrite::OrderConstraints, node));
    Acquisition { provenance, ..acquisition.clone() }
}

/// Disjoint sets of the numbers below a bound (R. E. Tarjan, "Efficiency of a good but not linear set union algorithm",
/// JACM 1975, with path halving).
struct Groups {
    parents: Vec<usize>,
}

impl Groups {
    /// A set of its own for each number.
    fn new(count: usize) -> Self {
        Self { parents: (0..count).collect() }
    }

    /// The number that represents the set of `number`.
    fn of(&mut self, mut number: usize) -> usize {
        while let Some(parent) = self.parents.get(number).copied().filter(|parent| *parent != number) {
            let above = self.parents.get(parent).copied().unwrap_or(parent);
            self.parents.get_mut(number).into_iter().for_each(|slot| *slot = above);
            number = above;
        }
        number
    }

    /// Joins the sets of both numbers.
    fn join(&mut self, one: usize, other: usize) {
        let (kept, joined) = (self.of(one), self.of(other));
        self.parents.get_mut(joined).into_iter().for_each(|slot| *slot = kept);
    }
}

/// Removes each element that has the same key as an earlier element.
fn keep_first<T, K: Eq + Hash>(all: &mut Vec<T>, key: impl Fn(&T) -> K) {
    let mut seen = HashSet::new();
    all.retain(|one| seen.insert(key(one)));
}

/// The constraints that each function or its callees take; callees come first.
fn touched(flow: &Flow) -> HashMap<FunctionId, BTreeSet<ConstraintId>> {
    let mut touched: HashMap<FunctionId, BTreeSet<ConstraintId>> = HashMap::new();
    for (id, function) in flow.functions.iter() {
        let mut all = BTreeSet::new();
        for step in function.body.all_steps() {
            all.extend(step.acquire.iter().map(|one| one.constraint));
            all.extend(step.callee.functions().iter().filter_map(|callee| touched.get(callee)).flatten());
        }
        touched.insert(id, all);
    }
    touched
}

/// Whether `held` is the constraint of `wanted` with the same key, in any mode. Keys compare by the origin of their
/// values.
fn covers(held: &Held, wanted: &Acquisition) -> bool {
    let same = |(part, operand): (&HeldKey, &Operand)| match (part, operand) {
        (HeldKey::Inputs(inputs), Operand::Input(input)) => inputs.contains(input),
        (HeldKey::Constant(left), Operand::Constant(right)) => left == right,
        _ => false,
    };
    held.constraint == wanted.constraint && held.key.iter().zip(&wanted.key).all(same)
}

/// The constraints held inside a step's call, with keys in terms of the callee. A passed constant is known in two ways:
/// by its value, and by its inputs.
fn around(held: &[Held], acquire: &[Acquisition], step: &Step) -> Vec<Held> {
    let passed = |is: &dyn Fn(&Operand) -> bool| {
        let inputs = (0..step.inputs.len()).filter(|at| step.passed(*at).is_some_and(is));
        let inputs: Vec<_> = inputs.collect();
        if inputs.is_empty() { HeldKey::Lost } else { HeldKey::Inputs(inputs) }
    };
    let constant = |constant: &Constant| match passed(&|operand| *operand == Operand::Constant(constant.clone())) {
        HeldKey::Lost => vec![HeldKey::Constant(constant.clone())],
        inputs => vec![HeldKey::Constant(constant.clone()), inputs],
    };
    let outer = held.iter().flat_map(|one| {
        let part = |part: &HeldKey| match part {
            HeldKey::Inputs(inputs) => {
                vec![passed(&|operand| matches!(operand, Operand::Input(at) if inputs.contains(at)))]
            }
            HeldKey::Constant(value) => constant(value),
            HeldKey::Lost => vec![HeldKey::Lost],
        };
        each(one.key.iter().map(part)).into_iter().map(|key| Held { key, ..one.clone() })
    });
    let own = acquire.iter().flat_map(|one| {
        let part = |operand: &Operand| match operand {
            Operand::Constant(value) => constant(value),
            other => vec![passed(&|operand| operand == other)],
        };
        let held = |key| Held { constraint: one.constraint, mode: one.mode, key, moved_by: one.provenance.pass() };
        each(one.key.iter().map(part)).into_iter().map(held)
    });
    outer.chain(own).collect()
}

/// All keys that the alternatives for each part allow.
fn each(parts: impl Iterator<Item = Vec<HeldKey>>) -> Vec<Vec<HeldKey>> {
    parts.fold(vec![vec![]], |keys, parts| {
        let with = |key: &Vec<HeldKey>| parts.iter().map(|part| [key.clone(), vec![part.clone()]].concat()).collect();
        keys.iter().flat_map(|key| -> Vec<Vec<HeldKey>> { with(key) }).collect()
    })
}

/// A callee's key in terms of the calling step; none if a value of the key is made inside the call.
fn translate(key: &[Operand], step: &Step) -> Option<Vec<Operand>> {
    let part = |operand: &Operand| match operand {
        Operand::Input(at) => step.passed(*at).cloned(),
        Operand::Constant(_) => Some(operand.clone()),
        Operand::Output(..) | Operand::Changed(..) | Operand::Error(..) => None,
    };
    key.iter().map(part).collect()
}
