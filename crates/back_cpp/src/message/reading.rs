//! The function that reads a message: one step after the other, and what formulas say of them.

mod choice;
mod ends;
mod known;
mod list;

use super::formula::{Known, Said, literal, said};
use super::plan::{Placed, Plan, Step, Store, is_changed, is_changing, is_once, only_size};
use super::sized::none_taken;
use super::stored::{From, decoded, type_name};
use super::{Messages, accessor};
use crate::tree::{Declarator, Expression as Cpp, Initial, Statement};
use flux_contract::message as runtime;
use flux_ir::message::{Extent, Field, FieldId, Form, Formula, Message, MessageId, Reference, Root};
use flux_ir::types::Type;
use flux_source::Deep;
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};

/// Writes the function of one message.
pub(super) struct Reading<'m, 'p> {
    messages: &'m Messages<'p>,
    id: MessageId,
    message: &'p Message,
    plan: &'m Plan<'p>,
    /// The names that are taken.
    names: RefCell<HashSet<String>>,
    /// The fields that are variables of the function.
    locals: RefCell<HashMap<FieldId, Said>>,
    /// The runs whose ends have been looked for, with their names.
    ends: RefCell<HashMap<FieldId, String>>,
    uses_fits: Cell<bool>,
    /// How many times variables have been updated so far.
    updates: Cell<usize>,
    /// Whether the message has been read before: then nothing is asked.
    is_known: bool,
}

/// What the names in a formula are: the fields of the message, and the value whose formula it is.
struct Own<'a> {
    value: Option<&'a Said>,
    /// Where the places are of the message that it is.
    unit: Option<(MessageId, &'a str)>,
}

const NO_VALUE: Own<'static> = Own { value: None, unit: None };

fn call(function: &str, arguments: Vec<Cpp>) -> Cpp {
    Cpp::name(function).call(arguments)
}

fn text(name: &str) -> Cpp {
    Cpp::Text(name.to_owned())
}

/// A class of messages as an argument.
fn kind(class: &str) -> Cpp {
    Cpp::Instance(runtime::KIND.to_owned(), vec![Cpp::name(class)]).call(vec![])
}

fn unless(condition: Cpp, body: Vec<Statement>) -> Statement {
    Statement::Unless(condition, body)
}

fn infix(left: Cpp, operator: &'static str, right: Cpp) -> Cpp {
    Cpp::Infix(Deep::new(left), operator, Deep::new(right))
}

fn constant(ty: &str, name: &str, value: Cpp) -> Statement {
    Statement::Variable(Declarator::constant(ty, name), Initial::Value(value))
}

impl<'m, 'p> Reading<'m, 'p> {
    pub(super) fn new(messages: &'m Messages<'p>, id: MessageId) -> Self {
        let names = ["in", "at", "fits", "flux", "std", "element", "is_last"].map(str::to_owned);
        Self {
            messages,
            id,
            message: &messages.program.messages[id],
            plan: messages.plan(id),
            names: RefCell::new(names.into_iter().collect()),
            locals: RefCell::new(HashMap::new()),
            ends: RefCell::new(HashMap::new()),
            uses_fits: Cell::new(false),
            updates: Cell::new(0),
            is_known: false,
        }
    }

    /// What the function does.
    pub(super) fn body(&self) -> Vec<Statement> {
        let mut body = vec![];
        let looks_back = self.message.fields.iter().any(|field| field.parse_at.is_some());
        let is_origin = self.message.is_origin && self.messages.needs_origin(self.id);
        if looks_back || is_origin {
            body.push(constant("std::uint32_t", "begin", call("in.position", vec![])));
            self.names.borrow_mut().insert("begin".to_owned());
        }
        self.steps(&self.plan.steps, &mut body);
        if self.uses_fits.get() {
            let fits = Statement::Variable(Declarator::new("bool", "fits"), Initial::Value(Cpp::name("true")));
            body.insert(0, fits);
        }
        body.push(Statement::Return(call("in.next", vec![])));
        body
    }

    fn claim(&self, wanted: &str) -> String {
        let wanted = accessor(self.message, if wanted.is_empty() { "value" } else { wanted });
        let mut name = wanted.clone();
        let mut number = 2;
        while !self.names.borrow_mut().insert(name.clone()) {
            name = format!("{wanted}_{number}");
            number += 1;
        }
        name
    }

    fn from() -> From {
        From { bytes: "in.bytes()".to_owned(), places: "at".to_owned(), view: "in.view" }
    }

    fn reference(&self, reference: &Reference, own: &Own<'_>) -> Said {
        if let (Root::Own, [field]) = (reference.root, reference.path.as_slice())
            && let Some(local) = self.locals.borrow().get(field)
        {
            return local.clone();
        }
        if let (Root::Value, [_, ..], Some((unit, places))) = (reference.root, reference.path.as_slice(), own.unit) {
            let from = From { places: places.to_owned(), ..Self::from() };
            if let Some(said) = self.messages.at_path(unit, &reference.path, &from) {
                return said;
            }
        }
        self.messages.reference(self.id, reference, &Self::from(), own.value)
    }

    /// The value of a formula; what does not fit ends the reading.
    fn formula(&self, formula: &Formula, own: &Own<'_>, field: &str, body: &mut Vec<Statement>) -> Said {
        let (said, is_checked) = said(formula, &|reference| self.reference(reference, own));
        if !is_checked {
            return said;
        }
        self.uses_fits.set(true);
        let name = self.claim(&format!("{}_{}", if field.is_empty() { "computed" } else { field }, "value"));
        let ty = match &said.known {
            Known::Integer { signed, .. } => {
                if *signed {
                    "std::int64_t"
                } else {
                    "std::uint64_t"
                }
            }
            Known::Truth => "bool",
            Known::View => "std::string_view",
            Known::Made => "std::string",
        };
        body.push(constant(ty, &name, said.cpp));
        self.ask(Cpp::name("fits"), self.wrong(field, "does_not_fit"), body);
        Said { cpp: Cpp::name(name), known: said.known }
    }

    /// Ends the reading where this does not hold.
    fn ask(&self, holds: Cpp, otherwise: Cpp, body: &mut Vec<Statement>) {
        if !self.is_known {
            body.push(unless(holds, vec![Statement::Return(otherwise)]));
        }
    }

    fn wrong(&self, field: &str, what: &str) -> Cpp {
        call("in.wrong", vec![text(field), Cpp::name(format!("in.{what}"))])
    }

    /// A length, a number or an offset: never below zero.
    fn number(&self, formula: &Formula, field: &str, body: &mut Vec<Statement>) -> Cpp {
        let value = self.formula(formula, &NO_VALUE, field, body);
        match value.known {
            Known::Integer { low, .. } if low < 0 => {
                let below = Cpp::Infix(Deep::new(value.cpp.clone()), "<", Deep::new(Cpp::name("0")));
                body.push(Statement::If(below, vec![Statement::Return(self.wrong(field, "does_not_fit"))], vec![]));
                Cpp::Instance("static_cast".to_owned(), vec![Cpp::name("std::uint64_t")]).call(vec![value.cpp])
            }
            _ => value.cpp,
        }
    }

    fn steps(&self, steps: &[Step<'p>], body: &mut Vec<Statement>) {
        // Runs in a row are asked for at once: what must hold of one is asked before the next where not all have come.
        let mut all_here: Option<String> = None;
        for (index, step) in steps.iter().enumerate() {
            let sizes = steps.iter().skip(index).map_while(|step| match step {
                Step::Run(_, size, _) => Some(*size),
                _ => None,
            });
            let sizes: Vec<_> = sizes.collect();
            if sizes.len() > 1 && all_here.is_none() {
                let name = self.claim("all_here");
                body.push(constant("bool", &name, call("in.has", vec![Cpp::name(sizes.iter().sum::<u64>())])));
                all_here = Some(name);
            } else if sizes.is_empty() {
                all_here = None;
            }
            self.look_for_ends(steps, index, body);
            match step {
                Step::Run(placed, size, anchor) => {
                    let all_here = all_here.as_ref().map(Cpp::name);
                    let is_here = call("in.has", [Cpp::name(size)].into_iter().chain(all_here).collect());
                    self.run(placed, (*size, is_here), anchor.as_deref(), body);
                }
                Step::Field(id) => {
                    if let Some(field) = self.message.field(*id) {
                        self.field(*id, field, body);
                    }
                }
                Step::If(condition, then, otherwise, choice) => {
                    let holds = self.formula(condition, &NO_VALUE, "", body);
                    let way = |number: usize, steps: &[Step<'p>], others: &[Step<'p>]| {
                        let mut inner = vec![self.chosen(choice, number)];
                        inner.extend(self.none_of(others));
                        self.scoped(|| self.steps(steps, &mut inner));
                        inner
                    };
                    let mut holds = holds.cpp;
                    let is_changing = is_changing(self.message, condition);
                    if is_changing {
                        let taken = |way| infix(Cpp::name(format!("at.{choice}")), "==", Cpp::name(way));
                        let name = self.claim("holds");
                        let value = infix(taken(1), "||", Cpp::name("").call(vec![Cpp::All(vec![taken(0), holds])]));
                        body.push(constant("bool", &name, value));
                        holds = Cpp::name(name);
                    }
                    let then_taken = way(1, then, otherwise);
                    let otherwise = match otherwise.is_empty() && !is_changing {
                        true => self.none_of(std::slice::from_ref(step)),
                        false => way(2, otherwise, then),
                    };
                    body.push(Statement::If(holds, then_taken, otherwise));
                }
                Step::Switch(switch, ways, choice) => self.switch(switch, ways, choice, body),
            }
        }
    }

    /// Of a message whose reading sets all places: that no way was taken of the choices among these steps.
    fn none_of(&self, steps: &[Step<'p>]) -> Vec<Statement> {
        if self.messages.is_sized(self.id) { none_taken(steps) } else { vec![] }
    }

    fn chosen(&self, choice: &str, number: usize) -> Statement {
        let own = self.plan.begun_by(choice, number, self.messages.program, self.id);
        let taken = Cpp::name(format!("at.{choice}"));
        if own.is_empty() {
            return Statement::Assign(taken, Cpp::name(number));
        }
        let own = own.into_iter().map(|member| Cpp::name(format!("at.{member}")));
        Statement::Run(call("in.take", [taken, Cpp::name(number)].into_iter().chain(own).collect()))
    }

    /// Fields of a choice are known in it alone.
    fn scoped<R>(&self, inner: impl FnOnce() -> R) -> R {
        let (locals, names) = (self.locals.borrow().clone(), self.names.borrow().clone());
        let result = inner();
        *self.locals.borrow_mut() = locals;
        *self.names.borrow_mut() = names;
        result
    }

    /// Fields of a fixed size, by one comparison.
    fn run(&self, placed: &[Placed], (size, is_here): (u64, Cpp), anchor: Option<&str>, body: &mut Vec<Statement>) {
        let field = |one: &Placed| self.message.field(one.field);
        // Which of them is missing, and where, matters for who is told.
        let mut parts = vec![];
        for one in placed {
            let Some(field) = field(one) else { continue };
            let (first, end) = (one.skipped.div_ceil(8), (one.skipped + one.bits).div_ceil(8));
            let sizes = match field.form {
                Form::Bits(_) => vec![1; usize::try_from(end - first).unwrap_or(0)],
                _ => vec![end - first],
            };
            parts.extend(sizes.into_iter().map(|size| (size, field.name.as_str())));
        }
        let missing = match parts.as_slice() {
            [(size, name)] => vec![Cpp::name(size), text(name)],
            _ => {
                let row = |(size, name): &(u64, &str)| Cpp::Braces(vec![Cpp::name(size), text(name)]);
                let ty = format!("static constexpr {}", runtime::FIELD_SIZE);
                let table = Declarator { ty, name: self.claim("sizes"), array: "[]".to_owned() };
                let name = Cpp::name(&table.name);
                body.push(Statement::Variable(table, Initial::Braces(parts.iter().map(row).collect())));
                vec![name]
            }
        };
        let missing = call("in.missing", missing);
        body.push(unless(is_here, vec![Statement::Return(missing)]));
        if let Some(anchor) = anchor {
            body.push(Statement::Assign(Cpp::name(format!("at.{anchor}")), call("in.position", vec![])));
        }
        for one in placed {
            let Some(field) = field(one) else { continue };
            let is_asked = self.plan.asked.contains(&one.field);
            let is_plain = field.requires.is_empty() && field.convert.is_none() && field.updates.is_empty();
            if !is_asked && is_plain {
                continue;
            }
            let raw = decoded(&field.form, "in.next()", one.skipped).unwrap_or_else(|| {
                let at = if one.skipped == 0 { "in.next()".into() } else { format!("in.next() + {}", one.skipped / 8) };
                let values = vec![Cpp::name(at), Cpp::name(one.bits / 8)];
                Said { cpp: Cpp::Made("std::string_view".to_owned(), values), known: Known::View }
            });
            let name = self.claim(&field.name);
            let ty = match &raw.known {
                Known::Integer { signed: true, .. } => "std::int64_t",
                Known::Integer { .. } => "std::uint64_t",
                _ => "std::string_view",
            };
            let names_it = |formula: &Formula| formula.names.iter().any(|name| name.root == Root::Value);
            let is_declared = is_asked || field.formulas().into_iter().any(names_it);
            if is_declared {
                body.push(constant(ty, &name, raw.cpp));
            }
            let raw = Said { cpp: Cpp::name(name), known: raw.known };
            self.locals.borrow_mut().insert(one.field, raw.clone());
            let ahead = (one.skipped > 7).then(|| Cpp::name(one.skipped / 8));
            let wrong = |what: &str| {
                let what = Cpp::name(format!("in.{what}"));
                call("in.wrong", [text(&field.name), what].into_iter().chain(ahead.clone()).collect())
            };
            let own = Own { value: Some(&raw), unit: None };
            self.finish(one.field, field, &own, &wrong, body);
            if field.convert.is_some() && is_declared && !is_asked {
                body.push(unasked(raw.cpp));
            }
        }
        body.push(Statement::Run(call("in.skip", vec![Cpp::name(size)])));
    }

    /// What a value is converted to, what must hold of it, and the variables that change then.
    fn finish(
        &self,
        id: FieldId,
        field: &Field,
        own: &Own<'_>,
        wrong: &dyn Fn(&str) -> Cpp,
        body: &mut Vec<Statement>,
    ) {
        self.convert(id, field, own, wrong, body);
        let mut rest = vec![];
        self.ask_and_update(field, own, wrong, &mut rest);
        match is_once(self.message, field) {
            true => self.once(rest, body),
            false => body.extend(rest),
        }
    }

    /// What a value is converted to.
    fn convert(
        &self,
        id: FieldId,
        field: &Field,
        own: &Own<'_>,
        wrong: &dyn Fn(&str) -> Cpp,
        body: &mut Vec<Statement>,
    ) {
        if let Some(convert) = &field.convert {
            let (value, is_checked) = said(convert, &|reference| self.reference(reference, own));
            let ty = match &value.known {
                Known::Integer { signed: true, .. } => "std::int64_t",
                Known::Integer { .. } => "std::uint64_t",
                Known::Truth => "bool",
                Known::View => "std::string_view",
                Known::Made => "std::string",
            };
            let is_short = value.known == Known::Made;
            let (name, is_checked) = (format!("{}_converted", field.name), is_checked && !is_short);
            let cpp = self.checked((value.cpp, is_checked), ty, &name, wrong, body);
            if is_checked && !self.plan.asked.contains(&id) {
                body.push(unasked(cpp.clone()));
            }
            if !field.is_list() && !is_short {
                self.locals.borrow_mut().insert(id, Said { cpp, known: value.known });
            } else {
                self.locals.borrow_mut().remove(&id);
            }
        }
    }

    /// What must hold of a value, and the variables that change then.
    fn ask_and_update(&self, field: &Field, own: &Own<'_>, wrong: &dyn Fn(&str) -> Cpp, body: &mut Vec<Statement>) {
        for requires in &field.requires {
            let (holds, is_checked) = said(requires, &|reference| self.reference(reference, own));
            let name = format!("{}_holds", field.name);
            let holds = self.checked((holds.cpp, is_checked), "bool", &name, wrong, body);
            self.ask(holds, wrong("not_required"), body);
        }
        for (target, formula) in &field.updates {
            let Some(Store::Value(member)) = self.plan.stores.get(target.index()) else { continue };
            let (value, is_checked) = said(formula, &|reference| self.reference(reference, own));
            let ty = if value.known == Known::Truth { "bool" } else { wide_of(&value.known) };
            let cpp = self.checked((value.cpp, is_checked), ty, &format!("{member}_next"), wrong, body);
            let to = Cpp::name(format!("at.{member}"));
            body.push(match cpp {
                // What only becomes true, and the other side is what makes it so.
                Cpp::Infix(old, "||", other) if *old == to => {
                    Statement::If(other.into_inner(), vec![Statement::Assign(to, Cpp::name(true))], vec![])
                }
                cpp => Statement::Assign(to, self.narrowed(*target, cpp)),
            });
        }
    }

    /// A value as the member has it that keeps it.
    fn narrowed(&self, target: FieldId, value: Cpp) -> Cpp {
        let ty = self.message.field(target).map(|field| match &field.form {
            Form::Variable(ty, _) => ty.clone(),
            _ => Type::new(""),
        });
        match ty.and_then(|ty| ty.integer().map(|_| type_name(&ty))) {
            Some(ty) => Cpp::Instance("static_cast".to_owned(), vec![Cpp::name(ty)]).call(vec![value]),
            None => value,
        }
    }

    /// A value that may have set `fits`, as a constant that does fit.
    fn checked(
        &self,
        (cpp, is_checked): (Cpp, bool),
        ty: &str,
        name: &str,
        wrong: &dyn Fn(&str) -> Cpp,
        body: &mut Vec<Statement>,
    ) -> Cpp {
        if !is_checked {
            return cpp;
        }
        self.uses_fits.set(true);
        let name = self.claim(name);
        body.push(constant(ty, &name, cpp));
        self.ask(Cpp::name("fits"), wrong("does_not_fit"), body);
        Cpp::name(name)
    }

    /// Variables change once, also where what is before them is looked at again.
    fn once(&self, updates: Vec<Statement>, body: &mut Vec<Statement>) {
        if updates.is_empty() || self.is_known {
            return body.extend(updates);
        }
        let number = self.updates.get() + 1;
        self.updates.set(number);
        let is_before =
            |number: usize| Cpp::Infix(Deep::new(Cpp::name("at.updated")), "<", Deep::new(Cpp::name(number)));
        let done = |number: usize| Statement::Assign(Cpp::name("at.updated"), Cpp::name(number));
        // Nothing is read between one and the next: they are one.
        let mut inner = vec![];
        if let Some(Statement::If(condition, before, _)) = body.last_mut()
            && *condition == is_before(number - 1)
            && before.last() == Some(&done(number - 1))
        {
            before.pop();
            inner = std::mem::take(before);
            body.pop();
        }
        inner.extend(updates);
        inner.push(done(number));
        body.push(Statement::If(is_before(number), inner, vec![]));
    }

    fn field(&self, id: FieldId, field: &'p Field, body: &mut Vec<Statement>) {
        let name = field.name.as_str();
        if let Form::Variable(_, formula) = &field.form {
            return self.variable(id, field, formula, body);
        }
        let has_finish = !field.requires.is_empty() || field.convert.is_some() || !field.updates.is_empty();
        if field.is_list() {
            return self.list(id, field, body);
        }
        let before = body.len();
        let read = self.read(id, field, body);
        body.push(unless(read, vec![Statement::Return(Cpp::name("nullptr"))]));
        if !has_finish {
            return;
        }
        let (begin, is_told) = (self.claim(&format!("{name}_begin")), Cell::new(false));
        let wrong = |what: &str| {
            is_told.set(true);
            call("in.wrong_at", vec![Cpp::name(begin.clone()), text(name), Cpp::name(format!("in.{what}"))])
        };
        let raw = self.messages.raw(self.id, id, &Self::from());
        let places;
        let unit = match self.plan.stores.get(id.index()) {
            Some(Store::Places(member, unit)) => {
                places = format!("at.{member}");
                Some((*unit, places.as_str()))
            }
            _ => None,
        };
        let mut after = vec![];
        let own = Own { value: raw.as_ref(), unit };
        self.finish(id, field, &own, &wrong, &mut after);
        if is_told.get() {
            body.insert(before, constant("std::uint32_t", &begin, call("in.position", vec![])));
        }
        body.extend(after);
    }

    fn variable(&self, id: FieldId, field: &'p Field, formula: &Formula, body: &mut Vec<Statement>) {
        let Some(Store::Value(member)) = self.plan.stores.get(id.index()) else {
            // A text is computed where it is asked for; what does not fit or must hold is found here.
            let value = self.formula(formula, &NO_VALUE, &field.name, body);
            let own = Own { value: Some(&value), unit: None };
            self.finish(id, field, &own, &|what: &str| self.wrong(&field.name, what), body);
            return;
        };
        if self.plan.begins_with(self.message, id).is_some() {
            // Its place has that value from the beginning.
            return;
        }
        let mut inner = vec![];
        let value = self.formula(formula, &NO_VALUE, &field.name, &mut inner);
        inner.push(Statement::Assign(Cpp::name(format!("at.{member}")), self.narrowed(id, value.cpp)));
        let wrong = |what: &str| self.wrong(&field.name, what);
        let own = self.messages.raw(self.id, id, &Self::from());
        let own = Own { value: own.as_ref(), unit: None };
        self.convert(id, field, &own, &wrong, &mut inner);
        self.ask_and_update(field, &own, &wrong, &mut inner);
        match is_changed(self.message, id) || is_changing(self.message, formula) || is_once(self.message, field) {
            true => self.once(inner, body),
            false => body.extend(inner),
        }
    }

    /// An expression that reads a field which is no list, and is false where the reading has ended.
    fn read(&self, id: FieldId, field: &'p Field, body: &mut Vec<Statement>) -> Cpp {
        let name = field.name.as_str();
        let store = self.plan.stores.get(id.index()).cloned().unwrap_or(Store::Nothing);
        let member = match &store {
            Store::Part(member) | Store::Value(member) | Store::Places(member, _) | Store::Passed(member, _) => {
                Cpp::name(format!("at.{member}"))
            }
            _ => Cpp::name("at"),
        };
        let most = || Cpp::name(field.max_size.unwrap_or(u64::from(u32::MAX)).min(u64::from(u32::MAX)));
        match &field.form {
            Form::Literal(bytes) => {
                let mut arguments = vec![Cpp::name(literal(bytes))];
                if !name.is_empty() {
                    arguments.push(text(name));
                }
                call("in.literal", arguments)
            }
            Form::Digits(_, base) => call("in.digits", vec![member, Cpp::name(base), text(name)]),
            Form::Token(expression) => {
                let end = self.end_of(id);
                self.messages.token_call(self.id, field, expression, [member, most(), text(name)], end)
            }
            Form::Bytes | Form::Text => match &field.extent {
                Some(Extent::Length(length)) => {
                    let size = self.number(length, name, body);
                    let bound = field.max_size.map(Cpp::name);
                    let read = match is_changing(self.message, length) {
                        _ if field.is_stream => "in.stream",
                        true => "in.text_as_at_first",
                        false => "in.text",
                    };
                    call(read, [member, size, text(name)].into_iter().chain(bound).collect())
                }
                Some(Extent::Until(end)) => call("in.until", vec![member, Cpp::name(literal(end)), most(), text(name)]),
                _ if field.is_stream => {
                    let most = field
                        .max_size
                        .map_or_else(|| format!("{}::to_the_end", runtime::STREAM_AHEAD), |most| most.to_string());
                    call("in.stream_rest", vec![member, Cpp::name(most), text(name)])
                }
                _ => call("in.rest", vec![member, most(), text(name)]),
            },
            Form::Unit(unit, arguments) => self.unit(field, (*unit, arguments), &store, body),
            Form::Integer(..) | Form::Bits(_) | Form::Variable(..) => Cpp::name("true"),
        }
    }

    /// Reads a message inside.
    fn unit(
        &self,
        field: &'p Field,
        (unit, arguments): (MessageId, &'p [Formula]),
        store: &Store,
        body: &mut Vec<Statement>,
    ) -> Cpp {
        let name = field.name.as_str();
        let class = self.messages.class(unit);
        let (places, read) = match store {
            Store::Passed(member, _) => {
                let first = self.first_places(field, unit, arguments, body);
                let mut given = vec![Cpp::name(format!("at.{member}")), kind(&class), text(name)];
                given.extend(first);
                (String::new(), call("in.passed", given))
            }
            Store::Places(member, _) => {
                let places = format!("at.{member}");
                self.arguments(unit, arguments, &places, name, body);
                (places, Cpp::name(""))
            }
            _ => (String::new(), Cpp::name("false")),
        };
        let read = match (places.is_empty(), &field.parse_at, &field.extent) {
            (true, ..) => read,
            (_, Some(offset), _) => {
                let offset = self.number(offset, name, body);
                let offset = match (self.messages.has_origins(), self.message.is_origin) {
                    (false, _) => offset,
                    (true, true) => Cpp::Infix(Deep::new(Cpp::name("begin")), "+", Deep::new(offset)),
                    (true, false) => Cpp::Infix(Deep::new(Cpp::name("at.origin")), "+", Deep::new(offset)),
                };
                let arguments = vec![Cpp::name(places), offset, Cpp::name("begin"), text(name)];
                call("in.look_back", arguments)
            }
            (_, _, Some(Extent::Length(length))) => {
                let size = self.number(length, name, body);
                let always = only_size(&self.messages.program.messages[unit]).map(Cpp::name);
                call("in.sized", [Cpp::name(places), size].into_iter().chain(always).chain([text(name)]).collect())
            }
            _ => call("in.unit", vec![Cpp::name(places), text(name)]),
        };
        self.bounded(field, read)
    }

    /// What may be in itself, counted.
    fn bounded(&self, field: &Field, read: Cpp) -> Cpp {
        match field.max_depth {
            Some(most) => {
                let number = self.messages.depth(self.id, field);
                let inner = Cpp::Lambda(vec![], false, Deep::new(read));
                call(
                    "in.within_depth",
                    vec![Cpp::name(number), Cpp::name(most.min(u64::from(u8::MAX))), text(&field.name), inner],
                )
            }
            None => read,
        }
    }

    /// Gives a message inside the values of its parameters.
    fn arguments(&self, unit: MessageId, arguments: &[Formula], places: &str, name: &str, body: &mut Vec<Statement>) {
        let inner: &Message = &self.messages.program.messages[unit];
        let mut given = vec![];
        for (member, argument) in self.messages.plan(unit).parameters.iter().zip(arguments) {
            let value = self.formula(argument, &NO_VALUE, name, &mut given);
            given.push(Statement::Assign(Cpp::name(format!("{places}.{member}")), value.cpp));
        }
        let is_kept = places.starts_with("at.");
        match is_kept && arguments.iter().any(|argument| is_changing(self.message, argument)) {
            true => self.once(given, body),
            false => body.extend(given),
        }
        if self.messages.needs_origin(unit) && !inner.is_origin {
            let origin = if self.message.is_origin { "begin" } else { "at.origin" };
            body.push(Statement::Assign(Cpp::name(format!("{places}.origin")), Cpp::name(origin)));
        }
    }

    /// The places that elements of a list begin with, where that is not none.
    fn first_places(
        &self,
        field: &Field,
        unit: MessageId,
        arguments: &[Formula],
        body: &mut Vec<Statement>,
    ) -> Option<Cpp> {
        let inner: &Message = &self.messages.program.messages[unit];
        if inner.parameters.is_empty() && (!self.messages.needs_origin(unit) || inner.is_origin) {
            return None;
        }
        let name = self.claim(&format!("{}_first", field.name));
        let class = self.messages.class(unit);
        body.push(Statement::Variable(Declarator::new(format!("{class}::places"), &name), Initial::Braces(vec![])));
        self.arguments(unit, arguments, &name, &field.name, body);
        Some(Cpp::name(name))
    }
}

fn wide_of(known: &Known) -> &'static str {
    match known {
        Known::Integer { signed: true, .. } => "std::int64_t",
        _ => "std::uint64_t",
    }
}

/// What is computed though nobody may ask for it: it says whether it fits, or of what something else is made.
fn unasked(value: Cpp) -> Statement {
    Statement::Run(Cpp::Instance("static_cast".to_owned(), vec![Cpp::name("void")]).call(vec![value]))
}
