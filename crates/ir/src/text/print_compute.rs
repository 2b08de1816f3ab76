//! Prints computations: a statement a line, every expression with its type.

use super::lexical;
use super::printer::Printer;
use crate::compute::{Callable, Computation, Expression, Function, Statement, Term, VariableId, Walk};
use crate::error_code::{Code, CodeName};
use crate::message::Given;
use flux_source::deep;

impl Printer {
    /// Writes the parts of a computation, of whose variables the first `known` stand elsewhere.
    pub(super) fn computation(&mut self, computation: &Computation, known: usize) {
        for variable in computation.variables.iter().skip(known) {
            self.write(format!("variable {}", lexical::typed(&variable.ty, &variable.name)));
            self.end_line();
        }
        self.statements(&computation.block);
        if let Some(says) = &computation.says {
            self.write("says ");
            self.expression(says);
            self.end_line();
        }
    }

    /// The recursion is as deep as blocks are in each other, which whoever reads them bounds.
    fn statements(&mut self, block: &[Statement]) {
        deep(|| {
            for statement in block {
                match statement {
                    Statement::Set { variable, is_new, value } => {
                        self.write(if *is_new { "let " } else { "set " });
                        self.variable(*variable);
                        self.write(" = ");
                        self.expression(value);
                        self.end_line();
                    }
                    Statement::If(condition, then, otherwise) => {
                        self.write("if ");
                        self.expression(condition);
                        self.write(" ");
                        self.open();
                        self.statements(then);
                        self.close();
                        self.write("else ");
                        self.open();
                        self.statements(otherwise);
                        self.close();
                    }
                    Statement::Take { variables, node, arguments, span } => {
                        self.span(*span);
                        self.write("take ");
                        self.separated(", ", variables, |printer, variable| printer.variable(*variable));
                        self.write(" = ");
                        self.mention(|names| &names.nodes, node.index());
                        self.write("(");
                        self.separated(", ", arguments, Self::expression);
                        self.write(")");
                        self.end_line();
                    }
                    Statement::Put { variable, key, value } => {
                        self.write("put ");
                        self.variable(*variable);
                        self.write(" [");
                        self.expression(key);
                        self.write("] = ");
                        self.expression(value);
                        self.end_line();
                    }
                    Statement::For(walk, block) => {
                        self.write("for ");
                        self.walked(walk);
                        self.write(" in ");
                        self.expression(&walk.over);
                        self.write(" ");
                        self.open();
                        self.statements(block);
                        self.close();
                    }
                    Statement::Fail(code) => {
                        self.write("fail ");
                        self.code(*code);
                        self.end_line();
                    }
                }
            }
        })
    }

    /// `404`, `errno ENOENT`, `404 as http.not_found`
    fn code(&mut self, code: Code) {
        match code.name {
            None => self.write(code.number.to_string()),
            Some(CodeName::Errno(errno)) => self.write(format!("errno {}", errno.name())),
            Some(CodeName::Declared(id)) => {
                self.write(format!("{} as ", code.number));
                self.mention(|names| &names.codes, id.index());
            }
        }
    }

    /// The variables of what is gone through.
    fn walked(&mut self, walk: &Walk) {
        self.separated(", ", std::iter::once(&walk.element).chain(&walk.value), |printer, variable| {
            printer.variable(*variable);
        });
    }

    fn variable(&mut self, variable: VariableId) {
        self.write(format!("#{}", variable.0));
    }

    pub(super) fn expression(&mut self, expression: &Expression) {
        deep(|| {
            self.span(expression.span);
            self.write(term_name(&expression.term));
            let (ty, array) = (lexical::quoted(expression.ty.written()), lexical::quoted(expression.ty.array()));
            match expression.ty.is_array() {
                true => self.write(format!(":{ty}{array}")),
                false => self.write(format!(":{ty}")),
            }
            match &expression.term {
                Term::Integer(value) => self.write(format!(" {value}")),
                Term::Real(bits) => self.write(format!(" {bits}")),
                Term::Truth(value) => self.write(format!(" {value}")),
                Term::Text(text) => self.write(format!(" = {}", lexical::quoted(text))),
                Term::Variable(variable) => self.write(format!(" {}", variable.0)),
                Term::Option(option) => self.write(format!(" {}", option.index())),
                Term::Enumerator(index) | Term::Field(_, index) => self.write(format!(" {index}")),
                Term::Code(code) => {
                    self.write(" ");
                    self.code(*code);
                }
                Term::Apply(Callable::Node(node), _) => {
                    self.write(" = ");
                    self.mention(|names| &names.nodes, node.index());
                }
                Term::Apply(Callable::Predicate(predicate), _) => {
                    self.write(" = ");
                    self.mention(|names| &names.predicates, predicate.index());
                }
                Term::Comprehension(function, it) => {
                    self.write(format!(" {} ", function.map_or("list", Function::name)));
                    self.walked(&it.walk);
                }
                Term::Message(given) => {
                    let given: Vec<_> = given.iter().map(|(given, _)| given_text(*given)).collect();
                    self.write(format!(" [{}]", given.join(", ")));
                }
                _ => {}
            }
            let parts = expression.parts();
            let has_parts = !parts.is_empty()
                || matches!(
                    expression.term,
                    Term::Record(_)
                        | Term::Message(_)
                        | Term::List(_)
                        | Term::Map(_)
                        | Term::Call(..)
                        | Term::Apply(..)
                );
            if has_parts {
                self.write("(");
                self.separated(", ", parts, Self::expression);
                self.write(")");
            }
        })
    }
}

/// A field is a number, and a parameter says that it is one.
fn given_text(given: Given) -> String {
    match given {
        Given::Parameter(index) => format!("parameter {index}"),
        Given::Field(field) => field.0.to_string(),
    }
}

/// What a term is called.
fn term_name(term: &Term) -> &'static str {
    match term {
        Term::Integer(_) => "integer",
        Term::Real(_) => "real",
        Term::Truth(_) => "truth",
        Term::Text(_) => "string",
        Term::Variable(_) => "variable",
        Term::Option(_) => "option",
        Term::Enumerator(_) => "enumerator",
        Term::Code(_) => "code",
        Term::None => "none",
        Term::Some(_) => "some",
        Term::Field(..) => "field",
        Term::Not(_) => "not",
        Term::Negate(_) => "negate",
        Term::Binary(operator, _) => operator.symbol(),
        Term::Choose(_) => "choose",
        Term::Convert(_) => "convert",
        Term::Record(_) => "record",
        Term::Message(_) => "message",
        Term::List(_) => "list",
        Term::Element(_) => "element",
        Term::Slice(..) => "slice",
        Term::Map(_) => "map",
        Term::Comprehension(..) => "comprehension",
        Term::Call(function, _) => function.name(),
        Term::Apply(Callable::Node(_), _) => "apply",
        Term::Apply(Callable::Predicate(_), _) => "ask",
    }
}
