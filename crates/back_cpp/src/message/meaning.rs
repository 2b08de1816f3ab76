//! Whether two messages of the same bytes mean the same. They may not: what a message has of its parameters is not in
//! its bytes, and what it looks back at may be before them.

use super::{Messages, accessor};
use crate::tree::{Declaration, Declarator, Expression as Cpp, Function, Statement};
use flux_contract::message as runtime;
use flux_ir::message::{Field, Message, MessageId, unit_of};
use flux_source::Deep;

impl Messages<'_> {
    /// Whether its bytes alone do not say what it means.
    pub(super) fn has_meaning(&self, id: MessageId) -> bool {
        let message: &Message = &self.program.messages[id];
        !message.parameters.is_empty() || self.looks_out(id)
    }

    /// Whether something in it may look back at what is before it.
    fn looks_out(&self, id: MessageId) -> bool {
        self.looks_back.contains(&id) && !self.program.messages[id].is_origin
    }

    /// In the class, the functions that give its parameters, and the declaration of what compares two messages.
    pub(super) fn meaning_declarations(&self, id: MessageId) -> Vec<Declaration> {
        let message: &Message = &self.program.messages[id];
        let mut declared = vec![];
        for (parameter, member) in message.parameters.iter().zip(&self.plan(id).parameters) {
            let ty = super::stored::type_name(&parameter.ty);
            let value = Cpp::name(format!("at_.{member}"));
            let value = match parameter.ty.integer() {
                Some(integer) if integer.bits < 64 => {
                    Cpp::Instance("static_cast".to_owned(), vec![Cpp::name(&ty)]).call(vec![value])
                }
                _ => value,
            };
            let name = accessor(message, &parameter.name);
            let body = vec![Statement::Return(value)];
            let function = Function { result: ty, name, parameters: vec![], body, caught: vec![] };
            declared.push(Declaration::Method(function, " const"));
        }
        if self.has_meaning(id) {
            let comment = "Whether the other has the same bytes, and means the same by them.";
            declared.extend([
                Declaration::Blank,
                Declaration::Comment(comment.to_owned()),
                Declaration::Declared("", Function { body: vec![], ..self.comparison(id) }, " const"),
            ]);
        }
        declared
    }

    /// The function that compares two messages, which needs the classes of its fields.
    pub(super) fn meaning(&self, id: MessageId) -> Vec<Declaration> {
        if !self.has_meaning(id) {
            return vec![];
        }
        let function = self.comparison(id);
        let name = format!("{}::{}", self.program.messages[id].name.own(), function.name);
        let function = Function { result: "inline bool".to_owned(), name, ..function };
        vec![Declaration::Blank, Declaration::Method(function, " const")]
    }

    fn comparison(&self, id: MessageId) -> Function {
        let message: &Message = &self.program.messages[id];
        let same = |name: &str| {
            let other = Cpp::name(format!("other.{name}"));
            Cpp::Infix(Deep::new(Cpp::name(name)), "==", Deep::new(other))
        };
        let wires = Cpp::Infix(Deep::new(Cpp::name("wire()")), "==", Deep::new(Cpp::name("other.wire()")));
        let mut all = vec![wires];
        all.extend(self.plan(id).parameters.iter().map(|member| same(&format!("at_.{member}"))));
        // What else follows from parameters is the same where they are.
        let looks = |field: &&Field| {
            let is_out = unit_of(field).is_some_and(|unit| field.parse_at.is_some() || self.looks_out(unit));
            !field.name.is_empty() && is_out && self.looks_out(id)
        };
        all.extend(message.fields.iter().filter(looks).map(|field| {
            let name = accessor(message, &field.name);
            let is_same = if field.is_list() { runtime::ARE_SAME } else { runtime::IS_SAME };
            let both = vec![Cpp::name(format!("{name}()")), Cpp::name(format!("other.{name}()"))];
            Cpp::name(is_same).call(both)
        }));
        Function {
            result: "bool".to_owned(),
            name: "means_same_as".to_owned(),
            parameters: vec![Declarator::new(format!("const {} &", message.name.own()), "other")],
            body: vec![Statement::Return(Cpp::All(all))],
            caught: vec![],
        }
    }
}
