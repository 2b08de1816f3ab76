//! The function that makes a message of its parameters and fields: what says how large others are follows from them,
//! then the fields are written in order, and what was written is read again, where that could say anything else
//! ([`straight`](super::straight)). So a value that cannot be there, or that would be read as another, makes no
//! message.

use super::formula::{Known, Said, literal, range_of, said_of_narrow};
use super::plan::{Plan, Step, Store};
use super::stored::{From, machine, type_name};
use super::straight::is_written_once;
use super::{Messages, accessor};
use crate::tree::{Declaration, Declarator, Expression as Cpp, Function, Initial, Statement};
use flux_contract::message as runtime;
use flux_ir::message::{
    ByteOrder, Extent, Field, FieldId, Form, Formula, Label, Message, MessageId, Reference, Repeat, Root, Switch,
    is_before_streams, unit_of,
};
use flux_ir::types::{Integer, Type};
use flux_source::Deep;
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};

/// Writes the function of one message.
pub(super) struct Writing<'m, 'p> {
    pub(super) messages: &'m Messages<'p>,
    id: MessageId,
    pub(super) message: &'p Message,
    pub(super) plan: &'m Plan<'p>,
    pub(super) given: HashSet<FieldId>,
    /// The fields whose values follow from others, and the variables.
    pub(super) locals: RefCell<HashMap<FieldId, Said>>,
    uses_fits: Cell<bool>,
    /// Whether the places are noted while it is written, and it is not read again.
    pub(super) is_straight: bool,
}

pub(super) fn infix(left: Cpp, operator: &'static str, right: Cpp) -> Cpp {
    Cpp::Infix(Deep::new(left), operator, Deep::new(right))
}

impl Messages<'_> {
    /// In the class, the declaration of what makes a message.
    pub(super) fn making_declarations(&self, id: MessageId) -> Vec<Declaration> {
        let message: &Message = &self.program.messages[id];
        let parameter = Declarator::new("const fields &", if message.given().is_empty() { "" } else { "of" });
        let make = Function {
            result: format!("{}<{}, int>", flux_contract::EXPECTED.spelling, message.name.own()),
            name: "make".to_owned(),
            parameters: vec![parameter],
            body: vec![],
            caught: vec![],
        };
        vec![
            Declaration::Blank,
            Declaration::Comment("The values of which one is made.".to_owned()),
            Declaration::Member(Declarator::new("struct", "fields"), None),
            Declaration::Comment("Fails with EINVAL where these are no such message.".to_owned()),
            Declaration::Declared("static ", make, ""),
        ]
    }

    /// The values of which a message is made. They may be messages of the same class, so it comes first.
    pub(super) fn fields_declaration(&self, id: MessageId) -> Vec<Declaration> {
        let message: &Message = &self.program.messages[id];
        let member = |ty: String, name: &str| {
            Declaration::Member(Declarator::new(ty, format!("{}{{}}", accessor(message, name))), None)
        };
        let parameters = message.parameters.iter().map(|parameter| member(type_name(&parameter.ty), &parameter.name));
        let fields = message.made_of().into_iter().filter_map(|field| {
            let ty = self.given_type(id, field)?;
            Some(member(ty, &message.field(field)?.name))
        });
        let name = format!("{}::fields", message.name.own());
        vec![Declaration::Blank, Declaration::Derived(name, String::new(), parameters.chain(fields).collect())]
    }

    /// The type of a value that is given.
    fn given_type(&self, id: MessageId, at: FieldId) -> Option<String> {
        let message: &Message = &self.program.messages[id];
        let field = message.field(at)?;
        let one = match &field.form {
            Form::Unit(unit, _) => self.class(*unit),
            Form::Integer(integer, _) | Form::Digits(integer, _) => machine(*integer),
            Form::Bits(width) => machine(Integer { signed: false, bits: *width }),
            _ => "std::string_view".to_owned(),
        };
        let one = if field.is_list() { format!("std::vector<{one}>") } else { one };
        let is_optional = self.plan(id).taken.get(at.index()).is_some_and(Option::is_some);
        Some(if is_optional { format!("std::optional<{one}>") } else { one })
    }

    /// The function that makes a message.
    pub(super) fn making(&self, id: MessageId) -> Declaration {
        Writing::new(self, id).function()
    }
}

impl<'m, 'p> Writing<'m, 'p> {
    fn new(messages: &'m Messages<'p>, id: MessageId) -> Self {
        let message: &'p Message = &messages.program.messages[id];
        let given = message.made_of().into_iter().collect();
        let (locals, uses_fits) = (RefCell::new(HashMap::new()), Cell::new(false));
        let is_straight = messages.is_straight(id);
        Self { messages, id, message, plan: messages.plan(id), given, locals, uses_fits, is_straight }
    }

    fn function(&self) -> Declaration {
        let name = self.message.name.own();
        let mut body = vec![];
        self.settle(&mut body);
        self.steps(&self.plan.steps, &mut body);
        if self.is_straight {
            return self.straight_function(body);
        }
        let invalid = || Statement::Return(Cpp::name(runtime::UNEXPECTED).call(vec![Cpp::name("EINVAL")]));
        if let Some(fits) = self.fits() {
            body.insert(0, fits);
            let unfit = Cpp::Prefix("!", Deep::new(Cpp::name("fits")));
            body.push(Statement::If(unfit, vec![invalid()], vec![]));
        }
        let declared = |ty: &str, name: &str| Statement::Variable(Declarator::new(ty, name), Initial::Braces(vec![]));
        let mut first = vec![self.writer()];
        match self.message.parameters.is_empty() {
            true => body.extend([declared(runtime::BYTES, "bytes"), declared("places", "at")]),
            // Whoever reads what has been written so far needs them, too.
            false => {
                first.push(declared("places", "at"));
                first.extend(self.message.parameters.iter().zip(&self.plan.parameters).map(|(parameter, member)| {
                    let given = format!("of.{}", accessor(self.message, &parameter.name));
                    Statement::Assign(Cpp::name(format!("at.{member}")), Cpp::name(given))
                }));
                body.push(declared(runtime::BYTES, "bytes"));
            }
        }
        body.splice(0..0, first);
        let is_part = !self.messages.is_first(self.id) || !self.message.parameters.is_empty();
        let ends = if is_part { "is" } else { "ends" };
        let ends = Cpp::name(format!("out.{ends}<{name}>")).call(vec![Cpp::name("bytes"), Cpp::name("at")]);
        body.push(Statement::If(Cpp::Prefix("!", Deep::new(ends)), vec![invalid()], vec![]));
        let same: Vec<_> = self.message.made_of().into_iter().filter_map(|field| self.is_same(field)).collect();
        let made = Cpp::Made(name.to_owned(), vec![Cpp::name("std::move(bytes)"), Cpp::name("at")]);
        // Not constant: it is moved out.
        let made_type = Declarator::new(name, "made");
        body.push(Statement::Variable(made_type, Initial::Value(made)));
        if !same.is_empty() {
            body.push(Statement::Comment("It must be read as it was meant.".to_owned()));
            let differs = Cpp::Prefix("!", Deep::new(Cpp::name("is_as_meant")));
            let all = Statement::Variable(Declarator::constant("bool", "is_as_meant"), Initial::Value(Cpp::All(same)));
            body.extend([all, Statement::If(differs, vec![invalid()], vec![])]);
        }
        body.push(Statement::Return(Cpp::name("made")));
        self.method(body)
    }

    fn method(&self, body: Vec<Statement>) -> Declaration {
        let name = self.message.name.own();
        let parameters =
            vec![Declarator::new("const fields &", if self.message.given().is_empty() { "" } else { "of" })];
        let result = format!("{}<{name}, int>", flux_contract::EXPECTED.spelling);
        let function = Function { result, name: format!("{name}::make"), parameters, body, caught: vec![] };
        Declaration::Method(function, "")
    }

    /// The function of a message that is not read again, with what writes it.
    fn straight_function(&self, mut body: Vec<Statement>) -> Declaration {
        body.extend(self.absent_where_not_taken());
        let mut first =
            vec![self.writer(), Statement::Variable(Declarator::new("places", "at"), Initial::Braces(vec![]))];
        if let Some(fits) = self.fits() {
            first.push(fits);
            body.push(require(Cpp::name("fits")));
        }
        body.splice(0..0, first);
        let made = format!("out.made<{}>", self.message.name.own());
        body.push(Statement::Return(Cpp::name(made).call(vec![Cpp::name("at")])));
        self.method(body)
    }

    /// `bool fits = true;`, where formulas say by it whether they do.
    fn fits(&self) -> Option<Statement> {
        let fits = || Statement::Variable(Declarator::new("bool", "fits"), Initial::Value(Cpp::name("true")));
        self.uses_fits.get().then(fits)
    }

    /// What it is written with, where there is room for about all of it.
    fn writer(&self) -> Statement {
        let has_bytes =
            |field: &Field| matches!(field.form, Form::Bytes | Form::Text | Form::Unit(..)) && !field.is_list();
        let given = self.message.made_of().into_iter().filter_map(|id| self.message.field(id));
        let texts = given.filter(|field| has_bytes(field));
        let sizes: Vec<_> =
            texts.map(|field| Cpp::name(format!("of.{}", accessor(self.message, &field.name)))).collect();
        let beside = self.messages.bytes_beside_texts(self.id);
        let room = match (beside, sizes.is_empty()) {
            (0, true) => Initial::Braces(vec![]),
            (_, true) => Initial::Arguments(vec![Cpp::name(beside)]),
            (_, false) => {
                let parts = [Cpp::name(beside)].into_iter().chain(sizes).collect();
                Initial::Arguments(vec![Cpp::name(runtime::ROOM_FOR).call(parts)])
            }
        };
        // Only one that writes what was given, each once, knows how much that is.
        let writer = if self.is_straight { runtime::SIZED_WRITER } else { runtime::WRITER };
        Statement::Variable(Declarator::new(writer, "out"), room)
    }

    /// Where the reader keeps a field that it does not find by a fixed offset, or keeps its place.
    pub(super) fn kept(&self, id: FieldId) -> Option<Cpp> {
        let member = self.plan.stores.get(id.index())?.member().filter(|_| self.is_straight)?;
        Some(Cpp::name(format!("at.{member}")))
    }

    /// What keeps where a text was written, so that it need not be compared where it is found there again; with where
    /// the reader keeps that. For those that are always there, of which a length says the size.
    fn written(&self, id: FieldId) -> Option<(Cpp, String)> {
        let field = self.message.field(id)?;
        let Some(Store::Part(member)) = self.plan.stores.get(id.index()) else { return None };
        let is_text = matches!((&field.form, &field.extent), (Form::Bytes | Form::Text, Some(Extent::Length(_))));
        let is_noted = is_text
            && !self.is_straight
            && !self.is_optional(id)
            && self.given.contains(&id)
            && is_written_once(field)
            && is_before_streams(&self.messages.program.messages, self.message, id);
        is_noted.then(|| (Cpp::name(format!("at.{member}")), format!("{member}_written")))
    }

    pub(super) fn is_optional(&self, id: FieldId) -> bool {
        self.plan.taken.get(id.index()).is_some_and(Option::is_some)
    }

    /// The value that is given for a field.
    fn value(&self, id: FieldId, field: &Field) -> String {
        let name = accessor(self.message, &field.name);
        match self.is_optional(id) {
            // Copies of these would cost something.
            true if field.is_list() || unit_of(field).is_some() => format!("{}(of.{name})", runtime::OR_EMPTY),
            true => format!("of.{name}.value_or({}{{}})", self.plain_type(id)),
            false => format!("of.{name}"),
        }
    }

    fn plain_type(&self, id: FieldId) -> String {
        let ty = self.messages.given_type(self.id, id).unwrap_or_default();
        ty.strip_prefix("std::optional<").and_then(|ty| ty.strip_suffix('>')).unwrap_or(&ty).to_owned()
    }

    /// Whether what was made has the value that was given.
    fn is_same(&self, id: FieldId) -> Option<Cpp> {
        let field = self.message.field(id)?;
        let is_sized = self.message.fields.iter().any(|other| {
            let size = match (&other.extent, &other.repeat) {
                (Some(Extent::Length(length)), _) => Some(length),
                (_, Repeat::Times(count)) => Some(count),
                _ => None,
            };
            size.and_then(|size| self.message.solve(size, 0)).is_some_and(|(path, _)| path == [id])
        });
        if is_sized {
            return None;
        }
        if field.convert.is_some() || !is_before_streams(&self.messages.program.messages, self.message, id) {
            return self.is_same_on_wire(id, field);
        }
        if let Some((found, written)) = self.written(id) {
            return Some(infix(found, "==", Cpp::name(written)));
        }
        let name = accessor(self.message, &field.name);
        let (made, of) = (Cpp::name(format!("made.{name}()")), Cpp::name(format!("of.{name}")));
        let has_meaning = unit_of(field).is_some_and(|unit| self.messages.has_meaning(unit));
        let same = match (field.is_list(), has_meaning) {
            (true, _) => Cpp::name(runtime::ARE_SAME).call(vec![made, of.clone()]),
            (false, true) => Cpp::name(runtime::IS_SAME).call(vec![made, of.clone()]),
            (false, false) => infix(made, "==", of.clone()),
        };
        // Of a choice that was taken, what is not given is empty, or zero.
        let is_absent = || Cpp::Prefix("!", Deep::new(of));
        Some(match self.is_optional(id) {
            true => Cpp::name("").call(vec![infix(is_absent(), "||", same)]),
            false => same,
        })
    }

    /// The same of what no function gives as it is on the wire: a stream, a text behind one, a value that is converted.
    fn is_same_on_wire(&self, id: FieldId, field: &Field) -> Option<Cpp> {
        let from = From { bytes: "made.first_byte()".to_owned(), places: "at".to_owned(), view: "made.view" };
        let made = self.messages.raw(self.id, id, &from).filter(|_| !field.is_list())?;
        let same = infix(made.cpp, "==", Cpp::name(self.value(id, field)));
        let Some(Some(taken)) = self.plan.taken.get(id.index()) else { return Some(same) };
        let of = Cpp::name(format!("of.{}", accessor(self.message, &field.name)));
        let is_there = Cpp::name(format!("at.{} == {}", taken.choice, taken.way));
        let as_given = Cpp::name("").call(vec![Cpp::All(vec![is_there, same])]);
        Some(Cpp::name("").call(vec![infix(Cpp::Prefix("!", Deep::new(of)), "||", as_given)]))
    }

    fn reference(&self, reference: &Reference) -> Said {
        let missing = || Said { cpp: Cpp::name("0"), known: Known::Truth };
        if let Root::Parameter(_) = reference.root {
            let from = From { bytes: String::new(), places: "at".to_owned(), view: "out.view" };
            return self.messages.reference(self.id, reference, &from, None);
        }
        let (Root::Own, [first, rest @ ..]) = (reference.root, reference.path.as_slice()) else { return missing() };
        let Some(field) = self.message.field(*first) else { return missing() };
        let local = self.locals.borrow().get(first).cloned();
        if let Some(local) = local {
            return self.converted(field, local);
        }
        if !rest.is_empty() {
            let (mut cpp, mut at) = (self.value(*first, field), field);
            let mut known = Known::Truth;
            for step in rest {
                let Some(unit) = unit_of(at) else { return missing() };
                let inner: &Message = &self.messages.program.messages[unit];
                let Some(next) = inner.field(*step) else { return missing() };
                cpp = format!("{cpp}.{}()", accessor(inner, &next.name));
                known = match &next.convert {
                    Some(convert) => known_as(&convert.value.ty),
                    None => known_of(next),
                };
                at = next;
            }
            return Said { cpp: Cpp::name(cpp), known };
        }
        let known = if self.message.parameters.is_empty() { "" } else { "at" };
        let places = format!("out.so_far<{}>({known})", self.message.name.own());
        let from = From { bytes: String::new(), places, view: "out.view" };
        let raw = match self.given.contains(first) {
            true => Said { cpp: Cpp::name(self.value(*first, field)), known: known_of(field) },
            false => self.messages.raw(self.id, *first, &from).unwrap_or_else(missing),
        };
        self.converted(field, raw)
    }

    /// What formulas see of a field that has this value on the wire.
    fn converted(&self, field: &Field, raw: Said) -> Said {
        match &field.convert {
            Some(convert) => self.formula(convert, Some(&raw)),
            None => raw,
        }
    }

    pub(super) fn formula(&self, formula: &Formula, own: Option<&Said>) -> Said {
        let (said, is_checked) = said_of_narrow(formula, &|reference| match (reference.root, own) {
            (Root::Value, Some(own)) if reference.path.is_empty() => own.clone(),
            _ => self.reference(reference),
        });
        self.uses_fits.set(self.uses_fits.get() || is_checked);
        said
    }

    /// What says how large fields are gets its value, and then what `&serialize` says, in order: each where there is
    /// what it follows from.
    fn settle(&self, body: &mut Vec<Statement>) {
        let fields = || self.message.fields.iter().enumerate().map(|(index, field)| (FieldId::new(index), field));
        let mut there: HashMap<FieldId, Presence> =
            fields().filter_map(|(id, field)| Some((id, self.presence(id, field)?))).collect();
        for (id, field) in fields().filter(|(_, field)| field.parse_at.is_none()) {
            let count = || match self.given.contains(&id) {
                true => Cpp::name(format!("{}.size()", self.value(id, field))),
                false => Cpp::name(0),
            };
            let size = match (&field.extent, &field.repeat) {
                (Some(Extent::Length(length)), _) if self.given.contains(&id) => Some((length, self.size(id, field))),
                (Some(Extent::Length(length)), _) => Some((length, Cpp::name(0))),
                (_, Repeat::Times(times)) => Some((times, count())),
                _ => None,
            };
            let Some((formula, size)) = size else { continue };
            let Some((path, added)) = self.message.solve(formula, 0) else { continue };
            let ([target], Some(is_there)) = (path.as_slice(), there.get(&id).cloned()) else { continue };
            let size = wide(size);
            let size = match added {
                0 => size,
                _ if added < 0 => infix(size, "-", Cpp::name(-added)),
                _ => infix(size, "+", Cpp::name(added)),
            };
            if self.is_written(*target) {
                self.set(*target, size, is_there.condition(), body);
            }
            is_there.add_to(there.entry(*target).or_default());
        }
        for (id, field) in fields() {
            let Some((target, formula)) = &field.serialize else { continue };
            let (Some(own), Some(is_there)) = (self.own(id, field), there.get(&id).cloned()) else { continue };
            let value = self.formula(formula, Some(&own));
            self.set(*target, wide(value.cpp), is_there.condition(), body);
            is_there.add_to(there.entry(*target).or_default());
        }
    }

    /// Where a field has a value before others give it one; none where it has none. One that nobody gives has one only
    /// outside of choices.
    fn presence(&self, id: FieldId, field: &Field) -> Option<Presence> {
        match (self.is_optional(id), self.given.contains(&id)) {
            (false, _) => Some(Presence::Always),
            (true, true) => Some(Presence::Where(vec![format!("of.{}", accessor(self.message, &field.name))])),
            (true, false) => None,
        }
    }

    /// What a `&serialize` sees of its own field; none where it sees nothing.
    fn own(&self, id: FieldId, field: &Field) -> Option<Said> {
        let local = self.locals.borrow().get(&id).cloned();
        let given = || self.given.contains(&id).then(|| Cpp::name(self.value(id, field)));
        let zero = || matches!(known_of(field), Known::Integer { .. }).then(|| wide(Cpp::name(0)));
        local.or_else(|| Some(Said { cpp: given().or_else(zero)?, known: known_of(field) }))
    }

    /// Whether a field has bytes, or a `&serialize` asks for it.
    fn is_written(&self, target: FieldId) -> bool {
        let asks = |formula: &Formula| {
            formula.names.iter().any(|name| name.root == Root::Own && name.path.first() == Some(&target))
        };
        let is_asked = self.message.fields.iter().any(|field| field.serialize.iter().any(|(_, value)| asks(value)));
        is_asked || self.message.field(target).is_some_and(|field| !field.is_variable() || field.serialize.is_some())
    }

    /// Gives a field a value, where what it follows from is there.
    fn set(&self, target: FieldId, value: Cpp, is_there: Option<Cpp>, body: &mut Vec<Statement>) {
        let Some(field) = self.message.field(target) else { return };
        let name = format!("{}_set", if field.name.is_empty() { "value" } else { &field.name });
        let is_known = self.locals.borrow().contains_key(&target);
        if !is_known {
            let first = match self.given.contains(&target) {
                true => wide(Cpp::name(self.value(target, field))),
                false => Cpp::name(0),
            };
            body.push(Statement::Variable(Declarator::new("std::int64_t", &name), Initial::Value(first)));
            let range = (i128::from(i64::MIN), i128::from(i64::MAX));
            self.locals.borrow_mut().insert(target, Said::integer(Cpp::name(&name), range, true));
        }
        let set = Statement::Assign(Cpp::name(&name), value);
        body.push(match is_there {
            Some(is_there) => Statement::If(is_there, vec![set], vec![]),
            None => set,
        });
    }

    /// How many bytes a given value has.
    pub(super) fn size(&self, id: FieldId, field: &Field) -> Cpp {
        let value = self.value(id, field);
        match (&field.form, field.is_list()) {
            (Form::Integer(integer, _), true) => {
                infix(Cpp::name(format!("{value}.size()")), "*", Cpp::name(integer.bits / 8))
            }
            (_, true) => Cpp::name(runtime::SIZE_OF_ALL).call(vec![Cpp::name(value)]),
            (Form::Unit(..), _) => Cpp::name(format!("{value}.wire().size()")),
            _ => Cpp::name(format!("{value}.size()")),
        }
    }

    fn steps(&self, steps: &[Step<'p>], body: &mut Vec<Statement>) {
        for step in steps {
            match step {
                Step::Run(placed, _, begin) => {
                    if let Some(begin) = begin.as_ref().filter(|_| self.is_straight) {
                        let here = Cpp::name("out.position").call(vec![]);
                        body.push(Statement::Assign(Cpp::name(format!("at.{begin}")), here));
                    }
                    placed.iter().for_each(|one| self.field(one.field, body));
                }
                Step::Field(id) => self.field(*id, body),
                Step::If(condition, then, otherwise, choice) => {
                    let holds = self.formula(condition, None);
                    let way = |number: usize, steps: &[Step<'p>]| {
                        let is_noted = number == 1 || !steps.is_empty();
                        let mut inner: Vec<_> = self.taken(choice, number).filter(|_| is_noted).into_iter().collect();
                        self.steps(steps, &mut inner);
                        inner
                    };
                    match (way(1, then), way(2, otherwise)) {
                        (then, otherwise) if then.is_empty() && otherwise.is_empty() => {}
                        (then, otherwise) => body.push(Statement::If(holds.cpp, then, otherwise)),
                    }
                }
                Step::Switch(switch, ways, choice) => {
                    let way = |index: usize| {
                        let mut inner: Vec<_> = self.taken(choice, index + 1).into_iter().collect();
                        if let Some(steps) = ways.get(index) {
                            self.steps(steps, &mut inner);
                        }
                        inner
                    };
                    let given = |index: usize| self.is_given(ways.get(index).map_or(&[], Vec::as_slice));
                    let value = switch.on.as_ref().map(|on| self.formula(on, None));
                    let last = self.last_resort(switch, &|index| given(index).is_some());
                    let fail = || vec![Statement::Run(Cpp::name("out.fail").call(vec![]))];
                    let otherwise = last.map_or_else(fail, way);
                    let is_asked = |index: usize| value.is_some() || given(index).is_some();
                    let cases = switch.cases.iter().enumerate();
                    let cases = cases.filter(|(index, case)| !case.is_default && is_asked(*index));
                    let chain =
                        cases.collect::<Vec<_>>().into_iter().rev().fold(otherwise, |otherwise, (index, case)| {
                            let is = match &value {
                                Some(value) => {
                                    case.labels
                                        .iter()
                                        .map(|label| match label {
                                            Label::Integer(label) => Cpp::name("std::cmp_equal")
                                                .call(vec![value.cpp.clone(), Cpp::name(label)]),
                                            Label::Bytes(bytes) => {
                                                infix(value.cpp.clone(), "==", Cpp::name(literal(bytes)))
                                            }
                                        })
                                        .reduce(|one, other| infix(one, "||", other))
                                }
                                None => given(index),
                            };
                            vec![Statement::If(is.unwrap_or(Cpp::name("true")), way(index), otherwise)]
                        });
                    body.extend(chain);
                }
            }
        }
    }

    /// The case that is taken where no other is. Where the next byte decides, and no field of any case is given, that
    /// is the one that may have no bytes; else the first that is made of nothing.
    fn last_resort(&self, switch: &Switch, is_made_of_any: &dyn Fn(usize) -> bool) -> Option<usize> {
        let default = switch.cases.iter().position(|case| case.is_default);
        if switch.on.is_some() || default.is_some() {
            return default;
        }
        let of_nothing = |index: &usize| !is_made_of_any(*index);
        let firsts = |index: &usize| {
            let items = switch.cases.get(*index).map(|case| self.messages.firsts.items(self.message, &case.items));
            items.is_some_and(|first| first.can_be_empty)
        };
        let mut all = (0..switch.cases.len()).filter(of_nothing);
        all.clone().find(firsts).or_else(|| all.next())
    }

    /// Whether one of the fields of a case is given; none where it has none that anybody gives.
    fn is_given(&self, steps: &[Step<'p>]) -> Option<Cpp> {
        let (mut found, mut open) = (vec![], steps.iter().collect::<Vec<_>>());
        while let Some(step) = open.pop() {
            match step {
                Step::Run(placed, ..) => found.extend(placed.iter().map(|one| one.field)),
                Step::Field(id) => found.push(*id),
                Step::If(_, then, otherwise, _) => open.extend(then.iter().chain(otherwise)),
                Step::Switch(_, ways, _) => open.extend(ways.iter().flatten()),
            }
        }
        found.sort_unstable();
        let names = found.into_iter().filter(|id| self.given.contains(id)).filter_map(|id| self.message.field(id));
        let given = names.map(|field| Cpp::name(format!("of.{}.has_value()", accessor(self.message, &field.name))));
        given.reduce(|one, other| infix(one, "||", other))
    }

    fn field(&self, id: FieldId, body: &mut Vec<Statement>) {
        let Some(field) = self.message.field(id) else { return };
        if field.parse_at.is_some() {
            return;
        }
        if let (Form::Variable(_, formula), true) = (&field.form, self.is_straight) {
            return self.note_variable(id, field, formula, body);
        }
        if let Form::Variable(ty, formula) = &field.form {
            let is_updated =
                self.message.fields.iter().any(|other| other.updates.iter().any(|(target, _)| *target == id));
            if self.locals.borrow().contains_key(&id) || is_updated || !self.plan.asked.contains(&id) {
                return;
            }
            let value = self.formula(formula, None);
            let known = if ty.integer().is_some() { known_as(ty) } else { value.known };
            self.locals.borrow_mut().insert(id, Said { cpp: value.cpp, known });
            return;
        }
        let local = self.locals.borrow().get(&id).cloned();
        let value = match local.clone() {
            Some(local) => local.cpp,
            None if self.given.contains(&id) => Cpp::name(self.value(id, field)),
            None => match field.form {
                Form::Bytes | Form::Text | Form::Token(_) | Form::Unit(..) => Cpp::Text(String::new()),
                _ => Cpp::name(0),
            },
        };
        if let (Some(Extent::Until(end)), Some(place)) = (&field.extent, self.kept(id)) {
            let most = Cpp::name(field.max_size.unwrap_or(u64::from(u32::MAX)));
            let value = Cpp::name(self.value(id, field));
            return body.push(run("out.until", vec![value, Cpp::name(literal(end)), most, place]));
        }
        let own = Said { cpp: value.clone(), known: local.map_or_else(|| known_of(field), |local| local.known) };
        if self.is_straight {
            body.extend(self.asked_of(id, field, &own));
        }
        match field.is_list() {
            true if self.given.contains(&id) => {
                let element = Declarator::new("const auto &", "element");
                let inner = self.one(id, field, Cpp::name("element")).into_iter().collect();
                body.push(Statement::For(element, value, inner));
            }
            true => {}
            false => {
                if let Some((_, written)) = self.written(id) {
                    let part = Declarator::new(runtime::PART, written);
                    body.push(Statement::Variable(part, Initial::Braces(vec![])));
                }
                body.extend(self.one(id, field, value));
            }
        }
        if let Some(Extent::Until(end)) = &field.extent {
            body.push(run("out.text", vec![Cpp::name(literal(end))]));
        }
        if self.is_straight {
            self.note_updates(field, &own, body);
        }
    }

    /// Writes a field, or an element of one that is a list.
    fn one(&self, id: FieldId, field: &Field, value: Cpp) -> Option<Statement> {
        Some(match &field.form {
            Form::Integer(integer, order) => {
                let order = if *order == ByteOrder::Big { "big" } else { "little" };
                let (ty, size) = (machine(*integer), integer.bits / 8);
                run(&format!("out.integer<{ty}, {size}, std::endian::{order}>"), vec![value])
            }
            Form::Bits(width) => {
                let value = Cpp::Instance("static_cast".to_owned(), vec![Cpp::name("std::uint64_t")]).call(vec![value]);
                run("out.bits", vec![value, Cpp::name(width)])
            }
            Form::Digits(_, base) => {
                let arguments = [value, Cpp::name(base)].into_iter().chain(self.kept(id));
                run("out.digits", arguments.collect())
            }
            Form::Literal(bytes) => run("out.text", vec![Cpp::name(literal(bytes))]),
            Form::Unit(..) if self.given.contains(&id) => {
                let wire = value.member("wire").call(vec![]);
                match self.kept(id) {
                    Some(place) => run("out.part", vec![wire, place]),
                    None => run("out.text", vec![wire]),
                }
            }
            Form::Unit(..) => return None,
            _ => {
                let place = self.kept(id).or_else(|| self.written(id).map(|(_, written)| Cpp::name(written)));
                let most = place.as_ref().and(field.max_size).map(Cpp::name);
                run("out.text", [value].into_iter().chain(place).chain(most).collect())
            }
        })
    }
}

/// Where a field of a message that is made has a value.
#[derive(Clone)]
enum Presence {
    Always,
    /// Where one of these is given.
    Where(Vec<String>),
}

impl Default for Presence {
    fn default() -> Self {
        Self::Where(vec![])
    }
}

impl Presence {
    /// What is to be asked; none where it is always there.
    fn condition(&self) -> Option<Cpp> {
        match self {
            Self::Always => None,
            Self::Where(given) => given.iter().map(Cpp::name).reduce(|one, other| infix(one, "||", other)),
        }
    }

    /// What follows from the one is there as well.
    fn add_to(&self, other: &mut Self) {
        match (self, &mut *other) {
            (_, Self::Always) => {}
            (Self::Always, _) => *other = Self::Always,
            (Self::Where(more), Self::Where(given)) => {
                let new: Vec<_> = more.iter().filter(|name| !given.contains(name)).cloned().collect();
                given.extend(new);
            }
        }
    }
}

/// An integer of 64 bits with a sign.
fn wide(value: Cpp) -> Cpp {
    Cpp::Instance("static_cast".to_owned(), vec![Cpp::name("std::int64_t")]).call(vec![value])
}

/// `out.text(…);`
pub(super) fn run(function: &str, arguments: Vec<Cpp>) -> Statement {
    Statement::Run(Cpp::name(function).call(arguments))
}

/// Without which no message is made: `out.require(…);`
pub(super) fn require(what: Cpp) -> Statement {
    run("out.require", vec![what])
}

/// What C++ knows of a field's value.
pub(super) fn known_of(field: &Field) -> Known {
    let integer = |range: (i128, i128), signed| Known::Integer { low: range.0, high: range.1, signed };
    match &field.form {
        Form::Integer(one, _) | Form::Digits(one, _) => integer(one.range(), one.signed),
        Form::Bits(width) => integer((0, (1 << width) - 1), false),
        Form::Variable(ty, _) => known_as(ty),
        _ => Known::View,
    }
}

/// What it knows of a value of this type.
fn known_as(ty: &Type) -> Known {
    match ty.integer() {
        Some(integer) => {
            let (low, high) = range_of(ty);
            Known::Integer { low, high, signed: integer.signed }
        }
        None if type_name(ty) == "bool" => Known::Truth,
        None => Known::View,
    }
}
