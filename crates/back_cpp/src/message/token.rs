//! Tokens as C++: a set of bytes that a scan goes along, or an automaton whose states are cases of a `switch`.

use super::byte_range::{ranges, within};
use super::formula::quoted;
use super::{Messages, accessor};
use crate::tree::{Declaration, Declarator, Expression as Cpp, Function, Statement};
use flux_contract::message as runtime;
use flux_ir::message::{ByteSet, Field, Form, Message, MessageId, Token, TokenState};
use flux_ir::program::Program;
use flux_source::Deep;
use std::collections::HashMap;

/// What a token is like.
#[derive(Clone)]
pub(super) enum Shape {
    /// One byte of this set.
    One(ByteSet),
    /// At least so many bytes of this set.
    Run(ByteSet, u8),
    /// Anything else.
    Automaton(Token),
}

/// The shapes of all tokens of a program, by their expressions: to find one takes as long as its automaton is large.
pub(super) fn shapes(program: &Program) -> HashMap<&str, Shape> {
    let mut all = HashMap::new();
    for field in program.messages.iter().flat_map(|(_, message)| &message.fields) {
        if let Form::Token(expression) = &field.form {
            all.entry(expression.as_str()).or_insert_with(|| shape(expression));
        }
    }
    all
}

fn shape(expression: &str) -> Shape {
    let Ok(token) = Token::new(expression) else { return Shape::Run(ByteSet::new(), 0) };
    let start = token.start();
    let set: ByteSet = (0..=u8::MAX).filter(|byte| token.step(start, *byte).is_some()).collect();
    let after: Vec<_> = (0..=u8::MAX).filter_map(|byte| token.step(start, byte)).collect();
    if let [first, rest @ ..] = after.as_slice()
        && rest.iter().all(|state| state == first)
        && token.is_last(*first)
        && token.accepts(*first)
        && !token.accepts(start)
    {
        return Shape::One(set);
    }
    let follows = |state: TokenState| {
        let next: Vec<_> = (0..=u8::MAX).map(|byte| token.step(state, byte)).collect();
        let first = next.iter().flatten().next().copied();
        let own: ByteSet = (0..=u8::MAX).filter(|byte| token.step(state, *byte).is_some()).collect();
        first.filter(|first| own == set && next.iter().flatten().all(|one| one == first))
    };
    match follows(start).map(|next| (next, follows(next))) {
        Some((next, Some(again))) if next == again && token.accepts(next) && next != start => {
            Shape::Run(set, u8::from(!token.accepts(start)))
        }
        _ => Shape::Automaton(token),
    }
}

impl Messages<'_> {
    /// What a token's set or automaton is called.
    fn token_name(&self, id: MessageId, field: &Field, what: &str) -> String {
        let message: &Message = &self.program.messages[id];
        let tokens = message.fields.iter().filter(|field| matches!(field.form, Form::Token(_)));
        let index = tokens.take_while(|other| *other != field).count();
        match field.name.as_str() {
            "" => format!("{what}_{}", index + 1),
            name => format!("{}_{what}", accessor(message, name)),
        }
    }

    /// The call that reads a token: of the part, the bound and the name of the field. `end` is where it ends, if that
    /// has been looked for.
    pub(super) fn token_call(
        &self,
        id: MessageId,
        field: &Field,
        expression: &str,
        arguments: [Cpp; 3],
        end: Option<Cpp>,
    ) -> Cpp {
        let [part, most, name] = arguments;
        let made = |what: &str| Cpp::name(self.token_name(id, field, what)).call(vec![]);
        let (function, arguments) = match self.shape(expression) {
            Shape::One(_) => ("in.one", vec![part, made(BYTES), name]),
            Shape::Run(_, least) => {
                let given = [part, made(BYTES), Cpp::name(least), most, name];
                ("in.run", given.into_iter().chain(end).collect())
            }
            Shape::Automaton(_) => ("in.token", vec![part, made(TOKEN), most, name]),
        };
        Cpp::name(function).call(arguments)
    }

    /// The set of bytes of which a token consists, and its name; none where it is one byte, or an automaton's.
    pub(super) fn token_set(&self, id: MessageId, field: &Field, expression: &str) -> Option<(ByteSet, String)> {
        match self.shape(expression) {
            Shape::Run(set, _) => Some((set, self.token_name(id, field, BYTES))),
            Shape::One(_) | Shape::Automaton(_) => None,
        }
    }

    fn shape(&self, expression: &str) -> Shape {
        self.shapes.get(expression).cloned().unwrap_or_else(|| shape(expression))
    }

    /// The set of the one byte that a token is; none where it is something else.
    pub(super) fn one_set(&self, expression: &str) -> Option<ByteSet> {
        match self.shape(expression) {
            Shape::One(set) => Some(set),
            Shape::Run(..) | Shape::Automaton(_) => None,
        }
    }

    /// The class of a token that is the element of a list.
    pub(super) fn token_element(&self, id: MessageId, field: &Field, expression: &str) -> String {
        let class = self.class(id);
        match self.shape(expression) {
            Shape::One(_) => {
                format!("{}<{class}::{}>", runtime::ONE_ELEMENT, self.token_name(id, field, BYTES))
            }
            Shape::Run(_, least) => {
                format!("{}<{class}::{}, {least}>", runtime::RUN_ELEMENT, self.token_name(id, field, BYTES))
            }
            Shape::Automaton(_) => {
                format!("{}<{class}::{}>", runtime::TOKEN_ELEMENT, self.token_name(id, field, TOKEN))
            }
        }
    }

    /// In the class of a message, the declarations of its tokens.
    pub(super) fn token_declarations(&self, id: MessageId) -> Vec<Declaration> {
        let message: &Message = &self.program.messages[id];
        let mut declared = vec![];
        for field in &message.fields {
            let Form::Token(expression) = &field.form else { continue };
            declared.push(Declaration::Comment(format!("token(\"{}\")", expression.escape_default())));
            declared.push(match self.shape(expression) {
                Shape::One(set) | Shape::Run(set, _) => Declaration::Alias(
                    self.token_name(id, field, BYTES),
                    format!("{}<{}>", runtime::BYTE_SET, named(set)),
                ),
                Shape::Automaton(_) => Declaration::Derived(
                    self.token_name(id, field, TOKEN),
                    String::new(),
                    automaton_functions()
                        .into_iter()
                        .map(|one| Declaration::Declared("static ", one, " noexcept"))
                        .collect(),
                ),
            });
        }
        declared
    }

    /// The functions of the tokens of a message, whose class is called `class` there.
    pub(super) fn token_functions(&self, id: MessageId, class: &str) -> Vec<Declaration> {
        let message: &Message = &self.program.messages[id];
        let mut written = vec![];
        for field in &message.fields {
            let Form::Token(expression) = &field.form else { continue };
            if let Shape::Automaton(token) = self.shape(expression) {
                written.extend(automaton(&token, &format!("{class}::{}", self.token_name(id, field, TOKEN))));
            }
        }
        written
    }
}

/// What the names of sets and of automata end with.
const BYTES: &str = "bytes";
const TOKEN: &str = "token";

/// A set as the runtime names it: `a-z` is a range, and a `-` that is alone comes last.
fn named(set: ByteSet) -> String {
    let (mut wide, mut single) = (vec![], vec![]);
    for (first, last) in ranges(set) {
        match last - first {
            0 | 1 => single.extend(first..=last),
            _ => wide.push((first, last)),
        }
    }
    // After a single byte a range that begins with one would be the end of another.
    wide.sort_by_key(|(first, _)| *first != b'-');
    single.sort_by_key(|byte| *byte == b'-');
    let wide = wide.into_iter().flat_map(|(first, last)| [first, b'-', last]);
    quoted(&wide.chain(single).collect::<Vec<_>>())
}

fn automaton_functions() -> [Function; 3] {
    let state = || Declarator::new("int", "state");
    let function = |result: &str, name: &str, parameters| Function {
        result: result.to_owned(),
        name: name.to_owned(),
        parameters,
        body: vec![],
        caught: vec![],
    };
    [
        function("int", "next", vec![state(), Declarator::new("int", "byte")]),
        function("bool", "accepts", vec![state()]),
        function("bool", "is_last", vec![state()]),
    ]
}

fn automaton(token: &Token, own: &str) -> Vec<Declaration> {
    let [mut next, mut accepts, mut is_last] = automaton_functions();
    let number = |state: TokenState| token.number(state).to_string();
    let mut cases = vec![];
    for state in token.states() {
        let mut targets: Vec<(TokenState, ByteSet)> = vec![];
        for byte in 0..=u8::MAX {
            let Some(target) = token.step(state, byte) else { continue };
            match targets.iter_mut().find(|(known, _)| *known == target) {
                Some((_, set)) => set.insert(byte),
                None => targets.push((target, ByteSet::of(byte))),
            }
        }
        if targets.is_empty() {
            continue;
        }
        let mut body: Vec<_> = targets
            .into_iter()
            .map(|(target, set)| {
                Statement::If(within("byte", set), vec![Statement::Return(Cpp::name(number(target)))], vec![])
            })
            .collect();
        body.push(Statement::Return(Cpp::name("-1")));
        cases.push((vec![number(state)], body));
    }
    cases.push((vec![], vec![Statement::Return(Cpp::name("-1"))]));
    next.body = vec![Statement::Switch(Cpp::name("state"), cases)];
    let any = |states: Vec<TokenState>| {
        let is = |state| Cpp::Infix(Deep::new(Cpp::name("state")), "==", Deep::new(Cpp::name(number(state))));
        let any = states.into_iter().map(is).reduce(|one, other| Cpp::Infix(Deep::new(one), "||", Deep::new(other)));
        any.unwrap_or(Cpp::name("false"))
    };
    accepts.body = vec![Statement::Return(any(token.states().filter(|state| token.accepts(*state)).collect()))];
    is_last.body = vec![Statement::Return(any(token.states().filter(|state| token.is_last(*state)).collect()))];
    let mut written = vec![];
    for mut function in [next, accepts, is_last] {
        function.name = format!("{own}::{}", function.name);
        // Not all of them look at everything.
        let text = format!("{:?}", function.body);
        for parameter in &mut function.parameters {
            if !text.contains(&format!("\"{}", parameter.name)) {
                parameter.name.clear();
            }
        }
        written.extend([Declaration::Blank, Declaration::Method(function, " noexcept")]);
    }
    written
}
