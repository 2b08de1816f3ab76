//! What is kept of a message while it is read: which fields are found by an offset that is always the same, which by
//! one that is noted, and which are noted themselves. And the order of reading, in which fields of a fixed size that
//! follow each other are one run.

use super::derived::{Fields, conditions};
use super::stored::{machine, type_name};
use flux_ir::compute::Term;
use flux_ir::message::{
    Extent, Field, FieldId, Form, Formula, Item, Message, MessageId, Repeat, Root, Switch, has_streams,
    is_inside_itself,
};
use flux_ir::program::Program;
use flux_ir::types::Integer;
use std::collections::{BTreeSet, HashSet};

/// How a field is found again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Store {
    /// It is not: nobody can ask for it.
    Nothing,
    /// So many bits after the first byte of the message, or after what the member of this name says.
    Offset(Option<String>, u64),
    /// The member is where it is, a `message_part`.
    Part(String),
    /// The member is its value.
    Value(String),
    /// The member is where it is, a `message_parts`.
    Parts(String),
    /// The member has its places.
    Places(String, MessageId),
    /// The member is where it is, and its places are found when somebody asks.
    Passed(String, MessageId),
    /// It is computed again.
    Computed,
}

/// A field in a run: its bits after the first of the run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Placed {
    pub field: FieldId,
    pub skipped: u64,
    pub bits: u64,
}

/// A step of reading.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Step<'p> {
    /// Fields of a fixed size: they, how many bytes they have, and the member that says where they begin.
    Run(Vec<Placed>, u64, Option<String>),
    /// One field.
    Field(FieldId),
    /// A condition, what follows if it holds and if not, and the member that says which.
    If(&'p Formula, Vec<Self>, Vec<Self>, String),
    /// A choice, what follows in each of its cases, and the member that says which.
    Switch(&'p Switch, Vec<Vec<Self>>, String),
}

/// Where a field stands in a choice.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Taken {
    /// The member that says which way was taken.
    pub choice: String,
    /// Its value there.
    pub way: usize,
}

/// All of this of a message.
#[derive(Default)]
pub(super) struct Plan<'p> {
    pub steps: Vec<Step<'p>>,
    /// By field.
    pub stores: Vec<Store>,
    /// By field; none of those that are always there.
    pub taken: Vec<Option<Taken>>,
    /// The members that have the parameters.
    pub parameters: Vec<String>,
    /// The members that say which way a choice took.
    pub choices: Vec<String>,
    /// The members that say where a run begins.
    pub anchors: Vec<String>,
    /// The members that have a value only once their case was taken: in groups, of which one at a time has one.
    pub late: Vec<Vec<String>>,
    /// The fields that formulas of the message name.
    pub asked: HashSet<FieldId>,
    /// The variables that are computed when somebody asks.
    pub derived: HashSet<FieldId>,
    /// Whether there is anything that is to be done once, also where what is before it is looked at again.
    pub has_updates: bool,
}

/// A constant length that is part of a run.
fn fixed_bits(field: &Field) -> Option<u64> {
    if field.is_list() || field.parse_at.is_some() || field.is_stream {
        return None;
    }
    match (&field.form, &field.extent) {
        (Form::Integer(integer, _), None) => Some(u64::from(integer.bits)),
        (Form::Bits(width), None) => Some(u64::from(*width)),
        (Form::Bytes | Form::Text, Some(Extent::Length(length))) => {
            let length = u64::try_from(length.constant()?).ok()?;
            let most = field.max_size.unwrap_or(u64::MAX);
            (length <= most && length <= 4096 && length > 0).then_some(8 * length)
        }
        _ => None,
    }
}

/// The C++ type of a member. Fields of different cases of a choice share members of one type, as only one case is
/// there.
#[derive(Clone, PartialEq, Eq, Debug)]
enum MemberType {
    Part,
    Parts,
    Places(MessageId),
    Value(String),
}

/// A member, and its type.
type Member = (MemberType, String);

struct Planner<'p> {
    program: &'p Program,
    id: MessageId,
    message: &'p Message,
    members: BTreeSet<String>,
    plan: Plan<'p>,
    /// How many bits after the first byte of the message the next one is; none where that is not always the same.
    offset: Option<u64>,
    taken: Option<Taken>,
    /// The members so far that fields have.
    made: Vec<Member>,
    /// Those among them that only fields of other cases have.
    free: Vec<Member>,
}

/// What the member is called that has a parameter or a field: as that, but where every message has such a member.
fn member_name(name: &str) -> String {
    match name.trim_end_matches('_') {
        "whole" | "origin" | "updated" => format!("{name}_"),
        _ => name.to_owned(),
    }
}

/// The plan of a message.
pub(super) fn plan<'p>(program: &'p Program, id: MessageId, derived: &Fields) -> Plan<'p> {
    let message = &program.messages[id];
    let count = message.fields.len();
    let mut asked = HashSet::new();
    let derived: HashSet<_> = derived.iter().filter(|(of, _)| *of == id).map(|(_, field)| *field).collect();
    let read = message.fields.iter().enumerate().filter(|(index, _)| !derived.contains(&FieldId::new(*index)));
    for formula in read.flat_map(|(_, field)| field.formulas_of_reading()).chain(conditions(message)) {
        for reference in &formula.names {
            if let (Root::Own, [first, ..]) = (reference.root, reference.path.as_slice()) {
                asked.insert(*first);
            }
        }
    }
    let plan = Plan {
        steps: vec![],
        stores: vec![Store::Nothing; count],
        taken: vec![None; count],
        parameters: message.parameters.iter().map(|parameter| member_name(&parameter.name)).collect(),
        choices: vec![],
        anchors: vec![],
        late: vec![],
        asked,
        derived,
        has_updates: false,
    };
    let names = message.fields.iter().map(|field| member_name(&field.name));
    let names = names.chain(message.parameters.iter().map(|parameter| member_name(&parameter.name)));
    let members = names.chain(["whole".to_owned(), "updated".to_owned()]).filter(|name| !name.is_empty()).collect();
    let mut planner =
        Planner { program, id, message, members, plan, offset: Some(0), taken: None, made: vec![], free: vec![] };
    planner.plan.steps = planner.items(&message.items);
    let mut plan = planner.plan;
    plan.has_updates = message.fields.iter().enumerate().any(|(index, field)| {
        let id = FieldId::new(index);
        let is_given_once =
            matches!(&field.form, Form::Unit(_, given) if given.iter().any(|one| is_changing(message, one)));
        let is_set_once = match &field.form {
            Form::Variable(_, formula) => is_changed(message, id) || is_changing(message, formula),
            _ => false,
        };
        let begins_so = plan.begins_with(message, id).is_some();
        (is_set_once && !begins_so || is_given_once || is_once(message, field)) && !field.is_list()
    });
    plan.late = plan.late_members(message);
    plan
}

/// Whether a variable is changed after it was set, by what is not looked at again where a reading goes on.
pub(super) fn is_changed(message: &Message, variable: FieldId) -> bool {
    is_updated(message, variable) && !is_redone(message, variable)
}

/// Whether anything changes a variable after it was set.
pub(super) fn is_updated(message: &Message, variable: FieldId) -> bool {
    message.fields.iter().any(|field| updates(field, variable).next().is_some())
}

/// What a field makes of a variable.
fn updates(field: &Field, variable: FieldId) -> impl Iterator<Item = &Formula> {
    field.updates.iter().filter(move |(target, _)| *target == variable).map(|(_, formula)| formula)
}

/// Whether each reading, also one that goes on, sets and changes a variable in just the same way: what changes it are
/// integers, and all of it follows from integers, which are looked at each time.
fn is_redone(message: &Message, variable: FieldId) -> bool {
    let is_integer = |id: FieldId| {
        message.field(id).is_some_and(|field| {
            let is_one = !field.is_list() && field.parse_at.is_none() && field.convert.is_none();
            is_one && matches!(field.form, Form::Integer(..) | Form::Bits(_)) && field.extent.is_none()
        })
    };
    let follows = |formula: &Formula| {
        formula.names.iter().all(|name| match (name.root, name.path.as_slice()) {
            (Root::Own, [field]) => *field == variable || is_integer(*field),
            (Root::Value, []) => true,
            _ => false,
        })
    };
    let all = message.fields.iter().enumerate().map(|(index, field)| (FieldId::new(index), field));
    let is_set_so = message.field(variable).is_some_and(|field| match &field.form {
        Form::Variable(ty, formula) => ty.integer().is_some() && is_plain(field) && follows(formula),
        _ => false,
    });
    is_set_so
        && all.into_iter().all(|(id, field)| {
            let mut changes = updates(field, variable).peekable();
            changes.peek().is_none() || (is_integer(id) && changes.all(follows))
        })
}

impl Store {
    /// The member that it is.
    pub(super) fn member(&self) -> Option<&str> {
        match self {
            Self::Part(name)
            | Self::Parts(name)
            | Self::Value(name)
            | Self::Places(name, _)
            | Self::Passed(name, _) => Some(name),
            Self::Nothing | Self::Offset(..) | Self::Computed => None,
        }
    }
}

/// Whether all variables that a field changes are changed by each reading.
pub(super) fn are_redone(message: &Message, field: &Field) -> bool {
    field.updates.iter().all(|(target, _)| !is_changed(message, *target))
}

/// Whether a formula may say something else when it is asked again: it names a variable that is changed.
pub(super) fn is_changing(message: &Message, formula: &Formula) -> bool {
    let is_changed = |id: &FieldId| is_changed(message, *id);
    formula.names.iter().any(|name| name.root == Root::Own && name.path.first().is_some_and(is_changed))
}

/// Whether a reading that goes on sets the place of a field anew, as it costs nothing to find it again.
fn is_set_anew(program: &Program, message: &Message, id: FieldId, field: &Field) -> bool {
    match (&field.form, &field.extent) {
        _ if field.is_list() || field.parse_at.is_some() => false,
        (Form::Variable(_, formula), _) => {
            !is_changed(message, id) && !is_changing(message, formula) && !is_once(message, field)
        }
        (Form::Bytes | Form::Text, Some(Extent::Length(length))) => !is_changing(message, length),
        (Form::Unit(unit, _), Some(Extent::Length(length))) => {
            only_size(&program.messages[*unit]).is_some() && !is_changing(message, length)
        }
        (Form::Digits(..), _) => true,
        _ => false,
    }
}

/// How many bytes a message has, where that is always the same and any bytes are one.
pub(super) fn only_size(message: &Message) -> Option<u64> {
    let bits = message.items.iter().map(|item| match item {
        Item::Field(id) => message.field(*id).filter(|field| is_plain(field)).and_then(fixed_bits),
        Item::If(..) | Item::Switch(_) => None,
    });
    let size = bits.sum::<Option<u64>>()? / 8;
    (size > 0 && size <= message.most_bytes()).then_some(size)
}

/// Whether nothing is asked or computed of a field.
pub(super) fn is_plain(field: &Field) -> bool {
    field.requires.is_empty() && field.convert.is_none() && field.updates.is_empty()
}

/// Whether something is done once after a field, although what is before it is looked at again.
pub(super) fn is_once(message: &Message, field: &Field) -> bool {
    // It may be asked about a variable that is changed by it, or later.
    !are_redone(message, field) || field.requires.iter().any(|formula| is_changing(message, formula))
}

impl Plan<'_> {
    /// Where the fields stand that have a member: none where one of them is always there.
    fn ways_of(&self, member: &str) -> Option<Vec<&Taken>> {
        let fields = self.stores.iter().zip(&self.taken).filter(|(store, _)| store.member() == Some(member));
        fields.map(|(_, taken)| taken.as_ref()).collect()
    }

    fn late_members(&self, message: &Message) -> Vec<Vec<String>> {
        let mut late: Vec<Vec<String>> = vec![];
        let excludes = |one: &str, other: &str| {
            let (ones, others) = (self.ways_of(one).unwrap_or_default(), self.ways_of(other).unwrap_or_default());
            let differ = |one: &Taken, other: &Taken| one.choice == other.choice && one.way != other.way;
            ones.iter().all(|one| others.iter().all(|other| differ(one, other)))
        };
        for (index, store) in self.stores.iter().enumerate() {
            let Some(member) = store.member() else { continue };
            let is_new = !late.iter().flatten().any(|known| known == member);
            if is_new && self.ways_of(member).is_some() && self.begins_with(message, FieldId::new(index)).is_none() {
                match late.iter_mut().find(|group| group.iter().all(|other| excludes(member, other))) {
                    Some(group) => group.push(member.to_owned()),
                    None => late.push(vec![member.to_owned()]),
                }
            }
        }
        late
    }

    /// The members that must have a value from where this way of a choice is taken: not those that each reading of it
    /// sets before anybody asks.
    pub(super) fn begun_by(&self, choice: &str, way: usize, program: &Program, id: MessageId) -> Vec<&str> {
        let message = &program.messages[id];
        // Before a stream goes along somebody may ask for what comes after it.
        let has_streams = has_streams(&program.messages, id);
        let begins = |member: &str| {
            let fields = self.stores.iter().zip(&self.taken).zip(message.fields.iter().enumerate());
            fields
                .filter(|((store, taken), _)| {
                    let is_in = taken.as_ref().is_some_and(|taken| taken.choice == choice && taken.way == way);
                    store.member() == Some(member) && is_in
                })
                .any(|(_, (index, field))| has_streams || !is_set_anew(program, message, FieldId::new(index), field))
        };
        self.late.iter().flatten().map(String::as_str).filter(|member| begins(member)).collect()
    }

    /// The value that the member of a variable has from the beginning: where that is always the same.
    pub(super) fn begins_with(&self, message: &Message, id: FieldId) -> Option<String> {
        let field = message.field(id)?;
        let Form::Variable(_, formula) = &field.form else { return None };
        let store = self.stores.get(id.index()).filter(|store| matches!(store, Store::Value(_)))?;
        let is_own = self.stores.iter().filter(|other| *other == store).count() == 1;
        // One that is changed in each reading is set in each, too.
        let is_plain = is_plain(field) && (!is_updated(message, id) || is_changed(message, id));
        match formula.value.term {
            Term::Truth(value) if is_own && is_plain => Some(value.to_string()),
            // Whoever reads 2^31 in C++ must know its type.
            Term::Integer(value) if is_own && is_plain && (0..=i128::from(i32::MAX)).contains(&value) => {
                Some(value.to_string())
            }
            _ => None,
        }
    }
}

impl<'p> Planner<'p> {
    fn claim(&mut self, wanted: &str) -> String {
        let mut numbered = (2_u32..).map(|number| format!("{wanted}_{number}"));
        let mut name = wanted.to_owned();
        while !self.members.insert(name.clone()) {
            name = numbered.next().unwrap_or_default();
        }
        name
    }

    fn items(&mut self, items: &'p [Item]) -> Vec<Step<'p>> {
        let mut steps = vec![];
        let mut run: Vec<FieldId> = vec![];
        // Variables between bits that fill no byte yet.
        let mut later: Vec<FieldId> = vec![];
        for item in items {
            match item {
                Item::Field(id) => {
                    let Some(field) = self.message.field(*id) else { continue };
                    self.set_taken(*id);
                    if fixed_bits(field).is_some() {
                        run.push(*id);
                        // What must hold is asked before later bytes are waited for; bits fill their byte before.
                        let is_bits = matches!(field.form, Form::Bits(_));
                        if !is_bits && !is_plain(field) {
                            self.run(&mut run, &mut steps);
                        }
                        continue;
                    }
                    let bits = |id: &FieldId| self.message.field(*id).and_then(fixed_bits).unwrap_or(0);
                    if field.is_variable() && !run.iter().map(bits).sum::<u64>().is_multiple_of(8) {
                        later.push(*id);
                        continue;
                    }
                    self.run(&mut run, &mut steps);
                    later.push(*id);
                    self.later(&mut later, &mut steps);
                }
                Item::If(condition, then, otherwise) => {
                    self.run(&mut run, &mut steps);
                    self.later(&mut later, &mut steps);
                    let choice = self.choice();
                    let ways = self.ways(&choice, [then.as_slice(), otherwise]);
                    let mut ways = ways.into_iter();
                    let (then, otherwise) = (ways.next().unwrap_or_default(), ways.next().unwrap_or_default());
                    steps.push(Step::If(condition, then, otherwise, choice));
                }
                Item::Switch(switch) => {
                    self.run(&mut run, &mut steps);
                    self.later(&mut later, &mut steps);
                    let choice = self.choice();
                    let ways = self.ways(&choice, switch.cases.iter().map(|case| case.items.as_slice()));
                    steps.push(Step::Switch(switch, ways, choice));
                }
            }
        }
        self.run(&mut run, &mut steps);
        self.later(&mut later, &mut steps);
        steps
    }

    fn later(&mut self, later: &mut Vec<FieldId>, steps: &mut Vec<Step<'p>>) {
        for id in later.drain(..) {
            if let Some(field) = self.message.field(id) {
                self.field(id, field);
                steps.extend((!self.plan.derived.contains(&id)).then_some(Step::Field(id)));
            }
        }
    }

    fn choice(&mut self) -> String {
        let choice = self.claim("choice");
        self.plan.choices.push(choice.clone());
        choice
    }

    fn ways<'i>(&mut self, choice: &str, ways: impl IntoIterator<Item = &'p [Item]>) -> Vec<Vec<Step<'p>>> {
        let before = (self.offset, self.taken.clone());
        let mut steps = vec![];
        let mut ends = vec![];
        let first_made = self.made.len();
        let mut left = self.free.clone();
        let free_before = self.free.clone();
        for (way, items) in ways.into_iter().enumerate() {
            self.offset = before.0;
            self.taken = Some(Taken { choice: choice.to_owned(), way: way + 1 });
            let others = self.made.iter().skip(first_made);
            self.free = free_before.iter().chain(others).cloned().collect();
            steps.push(self.items(items));
            ends.push(self.offset);
            left.retain(|member| self.free.contains(member));
        }
        self.free = left;
        let first = ends.first().copied().flatten();
        self.offset = first.filter(|_| ends.iter().all(|end| *end == first));
        self.taken = before.1;
        steps
    }

    fn set_taken(&mut self, id: FieldId) {
        if let Some(slot) = self.plan.taken.get_mut(id.index()) {
            slot.clone_from(&self.taken);
        }
    }

    fn store(&mut self, id: FieldId, store: Store) {
        if let Some(slot) = self.plan.stores.get_mut(id.index()) {
            *slot = store;
        }
    }

    fn run(&mut self, run: &mut Vec<FieldId>, steps: &mut Vec<Step<'p>>) {
        let Some(first) = run.first() else { return };
        let is_asked = |id: &FieldId| self.message.field(*id).is_some_and(|field| !field.name.is_empty());
        let anchor = match self.offset {
            None if run.iter().any(is_asked) => {
                let name = self.message.field(*first).map_or("", |field| field.name.as_str());
                let wanted = if name.is_empty() { "fixed".to_owned() } else { format!("{name}_begin") };
                let anchor = self.claim(&wanted);
                self.plan.anchors.push(anchor.clone());
                Some(anchor)
            }
            _ => None,
        };
        let mut bits = 0;
        let mut placed = vec![];
        for id in run.drain(..) {
            let Some((field, width)) = self.message.field(id).and_then(|field| Some((field, fixed_bits(field)?)))
            else {
                continue;
            };
            placed.push(Placed { field: id, skipped: bits, bits: width });
            if !field.name.is_empty() {
                let store = Store::Offset(anchor.clone(), self.offset.unwrap_or(0) + bits);
                self.store(id, store);
            }
            bits += width;
        }
        self.offset = self.offset.map(|offset| offset + bits);
        steps.push(Step::Run(placed, bits / 8, anchor));
    }

    /// A member for a field: one that fields of other cases have, or a new one.
    fn member(&mut self, field: &str, what: &str, ty: MemberType) -> String {
        if let Some(at) = self.free.iter().position(|(free, _)| *free == ty) {
            return self.free.remove(at).1;
        }
        let name = if field.is_empty() { self.claim(what) } else { member_name(field) };
        self.made.push((ty, name.clone()));
        name
    }

    fn field(&mut self, id: FieldId, field: &'p Field) {
        if let Form::Literal(bytes) = &field.form
            && !field.is_list()
        {
            self.offset = self.offset.map(|offset| offset + 8 * bytes.len() as u64);
            return;
        }
        let member = |planner: &mut Self, what: &str, ty: MemberType| planner.member(&field.name, what, ty);
        let is_text =
            |field: &Field| field.value_type().is_some_and(|ty| ty.integer().is_none() && ty.to_string() != "bool");
        let store = match &field.form {
            _ if field.is_list() => Store::Parts(member(self, "list", MemberType::Parts)),
            Form::Variable(..) if is_text(field) || self.plan.derived.contains(&id) => Store::Computed,
            Form::Variable(..) | Form::Digits(..) | Form::Integer(..) | Form::Bits(_) => {
                Store::Value(member(self, "value", MemberType::Value(value_type(field))))
            }
            Form::Bytes | Form::Text | Form::Token(_) => Store::Part(member(self, "text", MemberType::Part)),
            Form::Literal(_) => Store::Nothing,
            Form::Unit(unit, _) => match is_inside_itself(self.program, self.id, field) {
                true => Store::Passed(member(self, "unit", MemberType::Part), *unit),
                false => Store::Places(member(self, "unit", MemberType::Places(*unit)), *unit),
            },
        };
        self.store(id, store);
        if !field.is_variable() && field.parse_at.is_none() {
            self.offset = None;
        }
    }
}

/// The C++ type of a value that is noted itself.
pub(super) fn value_type(field: &Field) -> String {
    match &field.form {
        Form::Digits(integer, _) | Form::Integer(integer, _) => machine(*integer),
        Form::Variable(ty, _) => type_name(ty),
        _ => machine(Integer { signed: false, bits: 64 }),
    }
}

/// Whether a list's elements follow in number.
pub(super) fn counted(field: &Field) -> Option<&Formula> {
    match &field.repeat {
        Repeat::Times(count) => Some(count),
        Repeat::Once | Repeat::Open => None,
    }
}

/// How many bytes a text has that is part of a run.
pub(super) fn fixed_size(field: &Field) -> Option<u64> {
    fixed_bits(field).map(|bits| bits / 8)
}
