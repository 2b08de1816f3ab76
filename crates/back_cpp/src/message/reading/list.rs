//! How the function of a message reads its lists: by one call each, which is given what follows after each element.

use super::super::formula::{Known, Said, literal};
use super::super::plan::{Store, counted, is_changing};
use super::{Own, Reading, call, kind, text, unless};
use crate::tree::{Declarator, Expression as Cpp, Statement};
use flux_contract::message as runtime;
use flux_ir::message::{Extent, Field, FieldId, Form, Formula};
use flux_source::Deep;

impl<'p> Reading<'_, 'p> {
    pub(super) fn list(&self, id: FieldId, field: &'p Field, body: &mut Vec<Statement>) {
        let name = field.name.as_str();
        let Some(Store::Parts(member)) = self.plan.stores.get(id.index()) else { return };
        let list = format!("at.{member}");
        let element = self.messages.element(self.id, field);
        let first = match &field.form {
            Form::Unit(unit, arguments) => self.first_places(field, *unit, arguments, body),
            _ => None,
        };
        let most = Cpp::name(field.max_size.unwrap_or(u64::from(u32::MAX)).min(u64::from(u32::MAX)));
        let ends = match &field.extent {
            Some(Extent::UntilHolds(holds)) => Some(holds),
            _ => None,
        };
        let mut each = self.each(id, field, &element, &list, ends, body);
        if first.is_some() && each.is_none() {
            each = Some(Cpp::name("in.no_more"));
        }
        let more = each.into_iter().chain(first).collect::<Vec<_>>();
        // An empty list is not in itself, so elements are counted.
        let counted_element = field.max_depth.map(|most| {
            let (number, most) = (self.messages.depth(self.id, field), most.min(u64::from(u8::MAX)));
            format!("{}<{element}, {number}, {most}>", runtime::BOUNDED_ELEMENT)
        });
        let element = counted_element.as_ref().unwrap_or(&element);
        let read = |function: &str, between: Vec<Cpp>| {
            let arguments = [vec![Cpp::name(&list), kind(element)], between, vec![text(name)], more.clone()].concat();
            call(&format!("in.{function}"), arguments)
        };
        let call_of = match (counted(field), &field.extent) {
            (Some(count), _) => {
                let count = self.number(count, name, body);
                if let Some(most) = field.max_size {
                    let over = Cpp::Infix(Deep::new(count.clone()), ">", Deep::new(Cpp::name(most)));
                    body.push(Statement::If(over, vec![Statement::Return(self.wrong(name, "too_many"))], vec![]));
                }
                read("times", vec![count])
            }
            (_, Some(Extent::Until(end))) => read("list_until", vec![Cpp::name(literal(end)), most]),
            (_, Some(Extent::UntilHolds(_))) => read("list_until_last", vec![most]),
            (_, Some(Extent::Length(length))) => {
                let size = self.number(length, name, body);
                let inner = Cpp::Lambda(vec![], false, Deep::new(read("list_rest", vec![most])));
                // What its elements change may be its size: that counts which it had when it began.
                let size = match is_changing(self.message, length) {
                    true => call("in.size_at_first", vec![Cpp::name(&list), size]),
                    false => size,
                };
                call("in.within_size", vec![size, text(name), inner])
            }
            _ => read("list_rest", vec![most]),
        };
        body.push(unless(call_of, vec![Statement::Return(Cpp::name("nullptr"))]));
    }

    /// What is done after each element of a list; its name, where there is anything.
    fn each(
        &self,
        id: FieldId,
        field: &'p Field,
        element: &str,
        list: &str,
        ends: Option<&Formula>,
        body: &mut Vec<Statement>,
    ) -> Option<Cpp> {
        if field.requires.is_empty() && field.updates.is_empty() && field.convert.is_none() && ends.is_none() {
            return None;
        }
        let mut inner = vec![];
        let wrong = |what: &str| {
            let begin = Cpp::name(format!("in.element_begin({list})"));
            call("in.wrong_at", vec![begin, text(""), Cpp::name(format!("in.{what}"))])
        };
        let unit = match field.form {
            Form::Unit(unit, _) => Some((unit, "element")),
            _ => None,
        };
        let value = unit.is_none().then(|| {
            let cpp = Cpp::name(format!("{element}::decoded(in.bytes(), element)"));
            match &field.form {
                Form::Integer(integer, _) | Form::Digits(integer, _) => {
                    Said::integer(cpp, integer.range(), integer.signed)
                }
                _ => Said { cpp, known: Known::View },
            }
        });
        let own = Own { value: value.as_ref(), unit };
        self.scoped(|| {
            self.convert(id, field, &own, &wrong, &mut inner);
            self.ask_and_update(field, &own, &wrong, &mut inner);
            if let Some(ends) = ends {
                let holds = self.formula(ends, &own, &field.name, &mut inner);
                inner.push(Statement::Assign(Cpp::name("is_last"), holds.cpp));
            }
        });
        inner.push(Statement::Return(call("in.next", vec![])));
        let name = self.claim(&format!("each_{}", if field.name.is_empty() { "one" } else { &field.name }));
        let mut parameters = vec![Declarator::new(format!("const {element}::places &"), "element")];
        let uses = format!("{inner:?}");
        if !uses.contains("element.") && !uses.contains("element)") {
            parameters = vec![Declarator::new(format!("const {element}::places &"), "")];
        }
        if ends.is_some() {
            parameters.push(Declarator::new("bool &", "is_last"));
        }
        body.push(Statement::Closure(name.clone(), parameters, inner));
        Some(Cpp::name(name))
    }
}
