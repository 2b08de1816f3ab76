//! What a program means: its types go into the model, and whatever does not fit is reported.
//!
//! First all types, then what processes and functions are given, then what they do: so declarations come in any order.
//! The types of values, and the rules for them, are those of the model ([`flux_ir::compute::Typing`]). Channels are no
//! values: what they are is in [`kind`].

mod block;
mod call;
mod declare;
pub mod kind;
mod process;
mod recursion;
mod send;
mod types;
mod value;
mod view;

use crate::check::kind::{Kind, Signature};
use crate::syntax::{Declaration, Syntax};
use flux_diagnostic::Diagnostic;
use flux_front::scope::Scope;
use flux_ir::compute::Typing;
use flux_ir::message::MessageId;
use flux_source::Span;
use std::collections::HashMap;

/// A mistake was reported, and nothing that follows from it is to be.
#[derive(Clone, Copy, Debug)]
struct Reported;

/// What comes of a rule.
type Checked<T> = Result<T, Reported>;

/// Checks a file that parses, whose messages the program of `scope` has already.
pub fn check(syntax: &Syntax<'_>, scope: &mut Scope<'_>) {
    let mut checker = Checker {
        scope,
        names: HashMap::new(),
        views: HashMap::new(),
        functions: HashMap::new(),
        globals: vec![],
        bound: vec![],
    };
    checker.declare(syntax);
    for declaration in &syntax.declarations {
        match declaration {
            Declaration::Process(process) => checker.process(process),
            Declaration::Function(function) => checker.function(function),
            _ => {}
        }
    }
    checker.check_recursion(syntax);
}

struct Checker<'syntax, 'run, 'scope> {
    scope: &'run mut Scope<'scope>,
    /// What is declared: where its name stands, and what it is.
    names: HashMap<&'syntax str, (Span, &'static str)>,
    /// The records over messages, by what they are called.
    views: HashMap<&'syntax str, View<'syntax>>,
    functions: HashMap<&'syntax str, Signature<'syntax>>,
    globals: Vec<Binding<'syntax>>,
    /// What the names stand for that are bound where something is checked, the last one first.
    bound: Vec<Binding<'syntax>>,
}

/// A record that shows some of the fields of a message.
struct View<'syntax> {
    message: MessageId,
    fields: Vec<&'syntax str>,
    span: Span,
}

/// What a name stands for.
#[derive(Clone)]
struct Binding<'syntax> {
    name: &'syntax str,
    /// None of a name whose value was reported: nothing is said of what is made of it.
    kind: Option<Kind>,
    /// Whether it is state, and may be changed.
    is_state: bool,
    span: Span,
}

impl<'syntax> Checker<'syntax, '_, '_> {
    fn report(&mut self, diagnostic: Diagnostic) -> Reported {
        self.scope.diagnostics.push(diagnostic);
        Reported
    }

    fn typing(&self) -> Typing<'_> {
        Typing { types: &self.scope.program.types, messages: &self.scope.program.messages }
    }

    /// What a name stands for here.
    fn find(&self, name: &str) -> Option<&Binding<'syntax>> {
        let bound = self.bound.iter().rev().find(|binding| binding.name == name);
        bound.or_else(|| self.globals.iter().find(|binding| binding.name == name))
    }

    /// Binds a name to a value.
    fn bind(&mut self, name: &'syntax flux_front_flux::syntax::Name<'syntax>, kind: Option<Kind>) {
        self.bound.push(Binding { name: name.as_str(), kind, is_state: false, span: name.span });
    }

    /// Runs a rule; what it binds is bound there alone.
    fn scoped<T>(&mut self, rule: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.bound.len();
        let result = rule(self);
        self.bound.truncate(before);
        result
    }
}
