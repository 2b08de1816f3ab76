//! What a program means: its types go into the model, and whatever does not fit is reported.
//!
//! First all types, then what processes and functions are given, then what they do: so declarations come in any order.
//! The types of values, and the rules for them, are those of the model ([`flux_ir::compute::Typing`]). Channels are no
//! values: what they are is in [`kind`].

mod block;
mod call;
mod declare;
mod event;
mod fold;
mod joined;
pub mod kind;
mod limit;
mod lower;
mod made;
mod once;
mod over;
mod process;
mod pure;
mod recursion;
mod send;
mod settled;
mod types;
mod value;
mod view;
mod wire;

pub(crate) use self::send::REPLIES;
use crate::check::kind::{Kind, Signature};
use crate::check::made::{End, Made};
use crate::syntax::{Declaration, Function, Syntax};
use flux_diagnostic::{Diagnostic, Severity};
use flux_front::scope::Scope;
use flux_front_flux::syntax::Name;
use flux_ir::compute::{Expression, Typing, VariableId};
use flux_ir::message::MessageId;
use flux_ir::program::NodeId;
use flux_ir::types::Type;
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
        given: 0,
        block: 0,
        bodies: HashMap::new(),
        pure: HashMap::new(),
        made: Made::default(),
        lowers: false,
        only_types: false,
    };
    let before = checker.scope.diagnostics.count(Severity::Error);
    checker.declare(syntax);
    checker.check_recursion(syntax);
    checker.declare_pure(syntax);
    for declaration in &syntax.declarations {
        match declaration {
            Declaration::Process(process) => checker.process(process),
            Declaration::Function(function) => checker.function(function),
            _ => {}
        }
    }
    if checker.scope.diagnostics.count(Severity::Error) == before {
        checker.lower(syntax);
    }
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
    /// How many of them the function or the process is given; and where those of the block begin.
    given: usize,
    block: usize,
    /// The functions that are written here.
    bodies: HashMap<&'syntax str, &'syntax Function<'syntax>>,
    /// Those without effects, which are nodes.
    pure: HashMap<&'syntax str, NodeId>,
    /// What is made of the body that is being checked.
    made: Made,
    /// Whether all was checked, and rules are lowered: nothing is reported again.
    lowers: bool,
    /// Whether a block is only asked for the type of its value: nothing is reported.
    only_types: bool,
}

/// A record that shows some of the fields of a message.
struct View<'syntax> {
    message: MessageId,
    fields: Vec<&'syntax str>,
    span: Span,
    /// Whether the message has no others, so that a value is made by all of them, as of a record.
    is_whole: bool,
}

/// What a name stands for.
#[derive(Clone)]
struct Binding<'syntax> {
    name: &'syntax str,
    /// None of a name whose value was reported: nothing is said of what is made of it.
    kind: Option<Kind>,
    /// Whether it is state, and may be changed.
    is_state: bool,
    stands: Stands,
    span: Span,
}

impl Binding<'_> {
    /// Which channel it is, where that is known.
    fn end(&self) -> Option<End> {
        match &self.stands {
            Stands::End(end) => Some(end.clone()),
            Stands::Variable(_) | Stands::Literal(_) | Stands::Nothing => None,
        }
    }
}

/// What there is in the model for a name.
#[derive(Clone)]
enum Stands {
    /// Nothing yet: of a channel, or state, in a function that is only checked.
    Nothing,
    /// A variable of the body.
    Variable(VariableId),
    /// A literal: what a fold begins with, as long as its type is not known.
    Literal(Expression),
    /// A channel of the process.
    End(End),
}

impl<'syntax> Checker<'syntax, '_, '_> {
    fn report(&mut self, diagnostic: Diagnostic) -> Reported {
        if self.lowers || self.only_types {
            return Reported;
        }
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

    /// Binds a name, which is no state.
    fn bind(&mut self, name: &'syntax Name<'syntax>, kind: Option<Kind>, stands: Stands) {
        self.bound.push(Binding { name: name.as_str(), kind, is_state: false, stands, span: name.span });
    }

    /// Binds a name to a new variable, which the node is given, or which a walk has.
    fn bind_variable(&mut self, name: &'syntax Name<'syntax>, ty: &Type) -> VariableId {
        let variable = self.new_variable(name.as_str(), ty);
        self.bind(name, Some(Kind::Value(ty.clone())), Stands::Variable(variable));
        variable
    }

    /// Runs a rule; what it binds is bound there alone.
    fn scoped<T>(&mut self, rule: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.bound.len();
        let around = std::mem::replace(&mut self.block, before);
        let result = rule(self);
        self.block = around;
        self.bound.truncate(before);
        result
    }
}
