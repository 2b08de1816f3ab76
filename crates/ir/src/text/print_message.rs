//! Prints messages: a field a line, then what the message consists of.

use super::lexical;
use super::printer::Printer;
use crate::message::{Extent, Field, Form, Formula, Item, Label, Message, Reference, Repeat, Root};
use crate::types::Integer;
use flux_source::deep;

impl Printer {
    pub(super) fn message(&mut self, message: &Message) {
        self.span(message.span);
        self.write(format!("message {} (", lexical::declared(&message.name)));
        self.separated(", ", &message.parameters, |printer, parameter| {
            printer.span(parameter.span);
            printer.write(lexical::parameter(parameter));
        });
        self.write(") ");
        if let Some(most) = message.max_size {
            self.write(format!("max {most} "));
        }
        self.write(if message.is_origin { "origin " } else { "" });
        self.open();
        for field in &message.fields {
            self.message_field(field);
        }
        self.message_items(&message.items);
        self.close();
    }

    fn message_field(&mut self, field: &Field) {
        self.span(field.span);
        self.write(format!("field {} = ", lexical::name(&field.name)));
        self.form(&field.form);
        match &field.repeat {
            Repeat::Once => {}
            Repeat::Times(count) => self.attribute("times", count),
            Repeat::Open => self.write(" list"),
        }
        match &field.extent {
            None => {}
            Some(Extent::Length(length)) => self.attribute("length", length),
            Some(Extent::Until(end)) => self.write(format!(" until {}", hexadecimal(end))),
            Some(Extent::UntilHolds(holds)) => self.attribute("until_holds", holds),
            Some(Extent::EndOfData) => self.write(" eod"),
        }
        for (word, number) in [("max", field.max_size), ("depth", field.max_depth)] {
            if let Some(number) = number {
                self.write(format!(" {word} {number}"));
            }
        }
        if let Some(at) = &field.parse_at {
            self.attribute("parse_at", at);
        }
        self.write(if field.is_stream { " stream" } else { "" });
        if let Some(convert) = &field.convert {
            self.attribute("convert", convert);
        }
        field.requires.iter().for_each(|requires| self.attribute("requires", requires));
        for (target, value) in &field.updates {
            self.attribute(&format!("update #{}", target.0), value);
        }
        if let Some((target, value)) = &field.serialize {
            self.attribute(&format!("serialize #{}", target.0), value);
        }
        self.end_line();
    }

    fn form(&mut self, form: &Form) {
        match form {
            Form::Integer(integer, order) => self.write(format!("{} {}", sized(*integer), order.name())),
            Form::Digits(integer, base) => self.write(format!("digits {} {base}", sized(*integer))),
            Form::Bits(bits) => self.write(format!("bits {bits}")),
            Form::Bytes => self.write("bytes"),
            Form::Text => self.write("string"),
            Form::Literal(bytes) => self.write(format!("literal {}", hexadecimal(bytes))),
            Form::Token(expression) => self.write(format!("token {}", lexical::quoted(expression))),
            Form::Unit(message, values) => {
                self.write("unit ");
                self.mention(|names| &names.messages, message.index());
                self.write(" (");
                self.separated(", ", values, Self::formula);
                self.write(")");
            }
            Form::Variable(ty, value) => {
                self.write(format!("var {} ", lexical::quoted(ty.written())));
                self.formula(value);
            }
        }
    }

    fn attribute(&mut self, word: &str, formula: &Formula) {
        self.write(format!(" {word} "));
        self.formula(formula);
    }

    fn formula(&mut self, formula: &Formula) {
        self.write("[");
        self.separated(", ", &formula.names, Self::reference);
        self.write("] ");
        self.expression(&formula.value);
    }

    fn reference(&mut self, reference: &Reference) {
        self.span(reference.span);
        self.write(match reference.root {
            Root::Own => "self".to_owned(),
            Root::Parameter(index) => format!("parameter {index}"),
            Root::Value => "value".to_owned(),
        });
        reference.path.iter().for_each(|field| self.write(format!(".{}", field.0)));
        self.write(format!(":{}", lexical::quoted(reference.ty.written())));
    }

    /// The recursion is as deep as choices are in each other, which whoever reads them bounds.
    fn message_items(&mut self, items: &[Item]) {
        deep(|| {
            for item in items {
                match item {
                    Item::Field(field) => {
                        self.write(format!("has #{}", field.0));
                        self.end_line();
                    }
                    Item::If(condition, then, otherwise) => {
                        self.write("if ");
                        self.formula(condition);
                        self.write(" ");
                        self.open();
                        self.message_items(then);
                        self.close();
                        self.write("else ");
                        self.open();
                        self.message_items(otherwise);
                        self.close();
                    }
                    Item::Switch(switch) => {
                        self.span(switch.span);
                        self.write("switch ");
                        if let Some(on) = &switch.on {
                            self.formula(on);
                            self.write(" ");
                        }
                        self.open();
                        for case in &switch.cases {
                            self.span(case.span);
                            self.write(if case.is_default { "case * (" } else { "case (" });
                            self.separated(", ", &case.labels, |printer, label| match label {
                                Label::Integer(value) => printer.write(value.to_string()),
                                Label::Bytes(bytes) => printer.write(hexadecimal(bytes)),
                            });
                            self.write(") ");
                            self.open();
                            self.message_items(&case.items);
                            self.close();
                        }
                        self.close();
                    }
                }
            }
        })
    }
}

fn sized(integer: Integer) -> String {
    format!("{} {}", if integer.signed { "signed" } else { "unsigned" }, integer.bits)
}

/// Bytes in quotes, two digits each: they need not be a text.
fn hexadecimal(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("\"{digits}\"")
}
