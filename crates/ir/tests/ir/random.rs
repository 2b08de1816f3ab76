//! Random programs and flows of any shape: every field of every struct takes all sorts of values, sensible or not.
//!
//! They are made from a list of choices, so that proptest can shrink the list and with it the program; when the list is
//! at its end every choice is the first, which is always the smallest.

use flux_ir::arena::ArenaId;
use flux_ir::compute::{
    self, Callable, Comprehension, Computation, ComputedPredicate, Expression, Operator, Statement, Term, Variable,
    VariableId, Walk,
};
use flux_ir::effects::Effects;
use flux_ir::error_code::ErrorPart;
use flux_ir::error_code::{Code, CodeName, Errno, ErrorCode};
use flux_ir::external::{Convention, External, ExternalRole, Language, Outcome, Passing, PlainFunction};
use flux_ir::flow::*;
use flux_ir::message::{FieldId, Given, Message};
use flux_ir::name::Name;
use flux_ir::program::{self, *};
use flux_ir::provenance::{Provenance, Rewrite};
use flux_ir::types::{Declared, TypeNames};
use flux_source::{Deep, FileId, Span};
use proptest::prelude::*;
use std::fmt;

/// The choices for one program.
pub fn choices() -> impl Strategy<Value = Chosen> {
    prop::collection::vec(any::<u16>(), 0..1500).prop_map(Chosen)
}

/// All choices for one program; a failing test shows the program, which says more.
#[derive(Clone)]
pub struct Chosen(Vec<u16>);

impl fmt::Debug for Chosen {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} choices", self.0.len())
    }
}

/// Choices that are left.
pub struct Choices<'a> {
    left: std::slice::Iter<'a, u16>,
    /// The types that the program declares.
    types: TypeNames,
}

impl<'a> Choices<'a> {
    pub fn new(choices: &'a Chosen) -> Self {
        Self { left: choices.0.iter(), types: TypeNames::default() }
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        self.left.next().map_or(0, |choice| usize::from(*choice) % limit)
    }

    pub fn chance(&mut self) -> bool {
        self.below(2) == 1
    }

    /// One of `all`.
    pub fn of<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())].clone()
    }

    /// At most `limit` items.
    pub fn list<T>(&mut self, limit: usize, mut item: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..self.below(limit + 1)).map(|_| item(self)).collect()
    }

    /// The id of one of `count` things, rarely of one that there is not.
    fn id<T>(&mut self, count: usize) -> ArenaId<T> {
        ArenaId::new(if self.below(20) == 19 { self.below(1000) } else { self.below(count.max(1)) })
    }

    fn number(&mut self) -> u64 {
        match self.below(4) {
            0 => 0,
            1 => self.below(10) as u64,
            2 => u64::MAX,
            _ => (self.below(65536) * self.below(65536)) as u64,
        }
    }

    fn exits(&mut self) -> Exits {
        if self.chance() {
            Exits { done: self.number(), failed: self.number(), ended: self.number() }
        } else {
            Exits::default()
        }
    }

    fn span(&mut self) -> Span {
        if self.chance() {
            return Span::default();
        }
        let start = self.below(5000) as u32;
        Span { file: FileId(self.below(3) as u32), start, end: start + self.below(100) as u32 }
    }

    fn name(&mut self) -> String {
        const NAMES: [&str; 16] = [
            "A",
            "B",
            "in",
            "out",
            "node",
            "function",
            "http.Send",
            "every",
            "_",
            "error",
            "ns::f",
            "true",
            "a b",
            "\"\n@//\\",
            "",
            "é\u{7f}",
        ];
        let name = self.of(&NAMES).to_owned();
        if self.chance() { format!("{name}{}", self.below(100)) } else { name }
    }

    /// The name of a declaration, of a module or of none.
    fn declared(&mut self) -> Name {
        let module = self.chance().then(|| self.name());
        Name::of(module, self.name())
    }

    fn parameter(&mut self) -> Parameter {
        const TYPES: [&str; 16] = [
            "int",
            "text",
            "map<std::string, list<T0>>",
            "T1",
            "T0 *",
            "M0",
            "list<net::M1>",
            "image_tag *",
            "unsigned int",
            "std::map<int, T> *",
            "a < b",
            "T &&",
            "auto (*)(int) -> int",
            "\"@\"",
            "a // b",
            " (",
        ];
        let (ty, array) = (self.of(&TYPES), self.of(&["", "", "[3]", "[f(1, 2)][x[0]]", "]"]));
        let ty = self.types.read(ty, array);
        Parameter { ty, name: self.name(), span: self.span() }
    }

    fn constant(&mut self) -> Constant {
        match self.below(5) {
            4 => Constant::Option(self.id(2)),
            0 => Constant::Integer(self.below(100) as i64),
            1 => Constant::Integer(self.of(&[i64::MIN, i64::MAX, -1])),
            2 => Constant::Text(self.name()),
            _ => Constant::Boolean(self.chance()),
        }
    }

    fn mode(&mut self) -> Mode {
        self.of(&[Mode::Read, Mode::Write])
    }
}

fn any_predicate(choices: &mut Choices) -> Predicate {
    let (name, span) = (choices.declared(), choices.span());
    if choices.chance() {
        return Predicate { name, tested_by: TestedBy::External(choices.id(EXTERNALS)), span };
    }
    let input = choices.parameter();
    let computation = any_computation(choices, std::slice::from_ref(&input));
    Predicate { name, tested_by: TestedBy::Computed(ComputedPredicate { input, computation }), span }
}

/// How many functions a program mostly calls.
const EXTERNALS: usize = 4;

fn any_external(choices: &mut Choices) -> External {
    let effects = choices.of(&[Effects::Unknown, Effects::Silent, Effects::Pure]);
    let language = choices.of(&[Language::Cpp, Language::C]);
    let convention = match choices.below(4) {
        2 => Convention::Of2006,
        3 => Convention::Plain(PlainFunction {
            declaration: choices.name(),
            outcome: choices.of(&Outcome::ALL),
            passing: choices.list(3, |choices| choices.of(&Passing::ALL)),
        }),
        _ => Convention::Structs,
    };
    let ty = |choices: &mut Choices| {
        let named = choices.parameter().ty;
        choices.types.read(named.written(), "")
    };
    let types = choices.list(1, ty);
    // Any text of it is read back, whatever there is at these places.
    let functions = if types.is_empty() { vec![] } else { vec![NodeId::new(3), NodeId::new(0)] };
    let role = choices.of(&ExternalRole::ALL);
    External { name: choices.declared(), types, functions, role, effects, language, convention }
}

/// The name of a type; every other one is of a module.
fn type_name(index: usize) -> Name {
    Name::of((index % 2 == 1).then_some("store"), format!("T{index}"))
}

/// The name of a message; every other one is of a module.
fn message_name(index: usize) -> Name {
    Name::of((index % 2 == 1).then_some("net"), format!("M{index}"))
}

/// Adds types, whose names differ: any parameter may name one.
fn add_types(program: &mut Program, choices: &mut Choices) {
    let messages = choices.below(3);
    for index in 0..messages {
        choices.types.add(&message_name(index), Declared::Message(ArenaId::new(index)));
    }
    let enums: Vec<bool> = choices.list(3, Choices::chance);
    for (index, is_enum) in enums.iter().enumerate() {
        let id = ArenaId::new(index);
        choices.types.add(&type_name(index), if *is_enum { Declared::Enum(id) } else { Declared::Record(id) });
    }
    for index in 0..messages {
        let (max_size, is_origin, parameters) =
            (choices.chance().then(|| choices.number()), choices.chance(), choices.list(2, Choices::parameter));
        let message = Message::new(message_name(index), choices.span());
        program.messages.add(Message { parameters, max_size, is_origin, ..message });
    }
    for (index, is_enum) in enums.into_iter().enumerate() {
        let body = match is_enum {
            true => TypeBody::Enum(choices.list(3, Choices::name)),
            false => TypeBody::Record(choices.list(3, Choices::parameter)),
        };
        program.types.add(TypeDeclaration { name: type_name(index), body, span: choices.span() });
    }
}

/// A program of any shape.
pub fn any_program(choices: &mut Choices) -> Program {
    let mut program = Program { name: choices.name(), ..Program::default() };
    for _ in 0..choices.below(3) {
        program.modules.add(Module {
            name: choices.name(),
            uses: choices.list(2, |choices| choices.id(2)),
            includes: choices.list(2, |choices| Include { path: choices.name(), span: choices.span() }),
            span: choices.span(),
        });
    }
    program.uses = choices.list(2, |choices| choices.id(program.modules.len()));
    for _ in 0..choices.below(3) {
        let kind = choices.of(&OptionKind::ALL);
        let default = Some(choices.constant()).filter(|constant| !matches!(constant, Constant::Option(_)));
        program.options.add(ServerOption {
            name: choices.declared(),
            kind,
            default,
            about: choices.name(),
            span: choices.span(),
        });
    }
    program.codes = choices.list(2, any_error_code).into_iter().collect();
    program.includes = choices.list(2, |choices| Include { path: choices.name(), span: choices.span() });
    program.links = choices.list(2, |choices| Link { library: choices.name(), span: choices.span() });
    let counts =
        Counts { nodes: choices.below(6), predicates: choices.below(3), constraints: choices.below(4), functions: 0 };
    add_types(&mut program, choices);
    program.externals = choices.list(EXTERNALS, any_external).into_iter().collect();
    for _ in 0..counts.predicates {
        program.predicates.add(any_predicate(choices));
    }
    for _ in 0..counts.constraints {
        let scope = choices.of(&[Scope::Program, Scope::Session, Scope::Keyed]);
        let table = choices.chance().then(|| choices.id(counts.constraints));
        program.constraints.add(Constraint { name: choices.declared(), scope, table, span: choices.span() });
    }
    for _ in 0..counts.nodes {
        program.nodes.add(any_node(choices, counts));
    }
    program.sources = choices.list(3, |choices| Source {
        origin: match choices.chance() {
            false => Origin::Node(any_application(choices, counts)),
            true => Origin::Timer(choices.number()),
        },
        session: choices.chance().then(|| choices.id(EXTERNALS)),
        target: choices.id(counts.nodes),
        arguments: any_arguments(choices),
        on_loops: choices.chance(),
        span: choices.span(),
    });
    program.handlers = choices.list(3, |choices| any_handler(choices, counts));
    program
}

fn any_handler(choices: &mut Choices, counts: Counts) -> Handler {
    let step = match choices.chance() {
        false => HandlerStep::External(choices.id(EXTERNALS)),
        true => HandlerStep::Node(choices.id(counts.nodes)),
    };
    let target = match choices.below(3) {
        0 => HandlerTarget::Run(step),
        1 => HandlerTarget::GoOn(Some(step)),
        _ => HandlerTarget::GoOn(None),
    };
    let replacements = match target.node() {
        None => vec![],
        Some(_) => choices.list(2, |choices| any_replacement(choices, counts)),
    };
    Handler {
        path: (0..=choices.below(3)).map(|_| choices.chance().then(|| choices.id(counts.nodes))).collect(),
        target,
        replacements,
        span: choices.span(),
    }
}

fn any_replacement(choices: &mut Choices, counts: Counts) -> Replacement {
    Replacement {
        failing: choices.id(counts.nodes),
        arguments: choices.list(3, any_argument),
        kept: choices.list(2, any_argument),
        resume: choices.chance().then(|| (0..=choices.below(3)).map(|_| choices.below(4)).collect()),
    }
}

/// How many there are of what can be mentioned.
#[derive(Clone, Copy)]
struct Counts {
    nodes: usize,
    predicates: usize,
    constraints: usize,
    functions: usize,
}

fn any_node(choices: &mut Choices, counts: Counts) -> Node {
    let signature = choices.chance().then(|| Signature {
        inputs: choices.list(3, Choices::parameter),
        outputs: choices.list(3, Choices::parameter),
        defaults: choices.list(2, Choices::constant),
        inferred: choices.chance(),
    });
    let known = signature.iter().flat_map(|signature| signature.inputs.iter().chain(&signature.outputs));
    let known: Vec<Parameter> = known.cloned().collect();
    Node {
        name: choices.declared(),
        signature,
        body: match choices.below(4) {
            0 => Body::External(choices.id(EXTERNALS)),
            3 => Body::Computed(any_computation(choices, &known)),
            1 => Body::Chain(any_chain(choices, counts, 3)),
            _ => Body::Dispatch((0..=choices.below(3)).map(|_| any_program_line(choices, counts)).collect()),
        },
        requirements: choices.list(2, |choices| Requirement {
            constraint: choices.id(counts.constraints),
            mode: choices.mode(),
            key: choices.list(2, |choices| choices.below(4)),
            span: choices.span(),
        }),
        blocking: choices.chance(),
        replicable: choices.chance(),
        stack: choices.chance().then(|| (choices.below(4) as u64) << 20),
        span: choices.span(),
    }
}

/// A computation whose first variables are `known`; nothing else in it need make sense.
fn any_computation(choices: &mut Choices, known: &[Parameter]) -> Computation {
    let own = choices.list(2, Choices::parameter);
    let variables =
        known.iter().chain(&own).map(|one| Variable { name: one.name.clone(), ty: one.ty.clone() }).collect();
    let block = choices.list(3, |choices| any_statement(choices, 2));
    Computation { variables, block, says: choices.chance().then(|| any_expression(choices, 2)) }
}

fn any_statement(choices: &mut Choices, depth: usize) -> Statement {
    let variable = VariableId::new(choices.below(5));
    let inner = |choices: &mut Choices| match depth {
        0 => vec![],
        _ => choices.list(2, |choices| any_statement(choices, depth - 1)),
    };
    match choices.below(6) {
        0 => Statement::Fail(any_code(choices)),
        1 => Statement::Set { variable, is_new: choices.chance(), value: any_expression(choices, 3) },
        2 => Statement::If(any_expression(choices, 2), inner(choices), inner(choices)),
        3 => {
            let (key, value) = (any_expression(choices, 2), any_expression(choices, 2));
            Statement::Put { variable, key, value }
        }
        4 => Statement::Take {
            variables: (0..=choices.below(2)).map(VariableId::new).collect(),
            node: choices.id(2),
            arguments: choices.list(2, |choices| any_expression(choices, 2)),
            span: choices.span(),
        },
        _ => Statement::For(any_walk(choices, 2), inner(choices)),
    }
}

fn any_error_code(choices: &mut Choices) -> ErrorCode {
    ErrorCode { name: choices.declared(), number: choices.of(&[404, -1]), span: choices.span() }
}

fn any_code(choices: &mut Choices) -> Code {
    match choices.below(3) {
        0 => Errno::of_name("ENOENT").unwrap().into(),
        1 => Code { number: choices.of(&[1, 404]), name: Some(CodeName::Declared(choices.id(2))) },
        _ => choices.of(&[1, 0, i32::MIN, i32::MAX]).into(),
    }
}

fn any_walk(choices: &mut Choices, depth: usize) -> Walk {
    let (element, over) = (VariableId::new(choices.below(5)), any_expression(choices, depth));
    Walk { element, value: choices.chance().then(|| VariableId::new(choices.below(5))), over }
}

fn any_expression(choices: &mut Choices, depth: usize) -> Expression {
    let (ty, span) = (choices.parameter().ty, choices.span());
    let one = |choices: &mut Choices| any_expression(choices, depth.saturating_sub(1));
    let boxed = |choices: &mut Choices| Deep::new(one(choices));
    let terms = if depth == 0 { 9 } else { 23 };
    let term = match choices.below(terms) {
        0 => Term::Integer(choices.of(&[0, i128::from(u64::MAX), i128::from(i64::MIN)])),
        1 => Term::Real(choices.number()),
        2 => Term::Truth(choices.chance()),
        3 => Term::Text(choices.name()),
        4 => Term::Variable(VariableId::new(choices.below(9))),
        5 => Term::Option(choices.id(2)),
        6 => Term::Enumerator(choices.below(5)),
        7 => Term::None,
        8 => Term::Code(any_code(choices)),
        9 => Term::Some(boxed(choices)),
        10 => Term::Field(boxed(choices), choices.below(5)),
        11 => Term::Not(boxed(choices)),
        12 => Term::Negate(boxed(choices)),
        13 => Term::Binary(choices.of(&Operator::ALL), Deep::new([one(choices), one(choices)])),
        14 => Term::Convert(boxed(choices)),
        15 if choices.chance() => Term::Record(choices.list(2, one)),
        15 if choices.chance() => Term::Message(choices.list(2, |choices| {
            let index = choices.below(9);
            let given = if choices.chance() { Given::Parameter(index) } else { Given::Field(FieldId::new(index)) };
            (given, one(choices))
        })),
        15 => Term::List(choices.list(2, one)),
        16 => Term::Element(Deep::new([one(choices), one(choices)])),
        17 => {
            let (of, from, ends) = (boxed(choices), boxed(choices), choices.chance());
            Term::Slice(of, from, if ends { Some(boxed(choices)) } else { None })
        }
        21 => Term::Choose(Deep::new([one(choices), one(choices), one(choices)])),
        18 => Term::Map(choices.list(2, |choices| [one(choices), one(choices)])),
        19 => Term::Apply(
            if choices.chance() { Callable::Node(choices.id(2)) } else { Callable::Predicate(choices.id(2)) },
            choices.list(2, one),
        ),
        20 => {
            let (walk, value) = (any_walk(choices, depth - 1), one(choices));
            let condition = choices.chance().then(|| one(choices));
            let function = choices.chance().then(|| choices.of(&compute::Function::ALL));
            Term::Comprehension(function, Deep::new(Comprehension { walk, value, condition }))
        }
        _ => Term::Call(choices.of(&compute::Function::ALL), choices.list(2, one)),
    };
    Expression { term, ty, span }
}

fn any_program_line(choices: &mut Choices, counts: Counts) -> program::Line {
    program::Line {
        patterns: choices.list(3, |choices| choices.chance().then(|| choices.id(counts.predicates))),
        chain: any_chain(choices, counts, 1),
        span: choices.span(),
    }
}

fn any_chain(choices: &mut Choices, counts: Counts, depth: usize) -> Chain {
    let span = choices.span();
    let steps = choices.list(3, |choices| {
        let action = if depth > 0 && choices.below(4) == 3 {
            let branches = (0..=choices.below(3)).map(|_| any_chain(choices, counts, depth - 1)).collect();
            let (arguments, span) = (any_arguments(choices), choices.span());
            program::Action::Parallel(Parallel { branches, arguments, span })
        } else if depth > 0 && choices.below(4) == 3 {
            let (chain, span) = (any_chain(choices, counts, depth - 1), choices.span());
            let width = choices.chance().then(|| choices.constant());
            let values = choices.chance().then(|| program::EachValues {
                list: any_argument(choices),
                element: choices.parameter(),
                copied: choices.list(3, any_argument),
                carried: choices.list(2, any_pair),
            });
            program::Action::Each(program::Each { chain, width, values, span })
        } else {
            let (arguments, kept) = (any_arguments(choices), choices.list(2, any_argument));
            program::Action::Apply(Application { arguments, kept, ..any_application(choices, counts) })
        };
        let number = StepNumber(choices.below(5) as u32);
        program::Step { number, action, within: choices.chance().then(|| choices.constant()) }
    });
    Chain { steps, results: any_arguments(choices), span }
}

fn any_arguments(choices: &mut Choices) -> Option<Vec<Argument>> {
    choices.chance().then(|| choices.list(3, any_argument))
}

fn any_argument(choices: &mut Choices) -> Argument {
    match choices.below(6) {
        5 => Argument::Constant(choices.constant()),
        0 => Argument::Input(choices.below(4)),
        1 => Argument::Output(StepNumber(choices.below(5) as u32), choices.below(4)),
        2 => Argument::Kept(choices.below(3)),
        3 => Argument::Element(StepNumber(choices.below(5) as u32)),
        _ => Argument::Error(choices.of(&ErrorPart::ALL)),
    }
}

fn any_application(choices: &mut Choices, counts: Counts) -> Application {
    let node = choices.id(counts.nodes);
    let value = |choices: &mut Choices| match choices.below(3) {
        0 => NamedValue::Value(choices.name()),
        1 => NamedValue::Option(choices.id(2)),
        _ => NamedValue::Constant(choices.constant()),
    };
    let named =
        choices.list(2, |choices| NamedInput { input: choices.name(), value: value(choices), span: choices.span() });
    let (constants, span) = (choices.list(2, Choices::constant), choices.span());
    Application { named, node, constants, arguments: None, kept: vec![], span }
}

/// A flow of any shape.
pub fn any_flow(choices: &mut Choices) -> Flow {
    let program = any_program(choices);
    let counts = Counts {
        nodes: program.nodes.len(),
        predicates: program.predicates.len(),
        constraints: program.constraints.len(),
        functions: choices.below(4),
    };
    let functions = (0..counts.functions).map(|_| any_function(choices, counts)).collect();
    let entries = choices.list(2, |choices| Entry {
        produce: choices.chance().then(|| choices.id(counts.functions)),
        run: choices.id(counts.functions),
    });
    Flow { program, functions, entries }
}

fn any_function(choices: &mut Choices, counts: Counts) -> Function {
    Function {
        name: choices.name(),
        role: match choices.below(4) {
            0 => Role::Abstract(choices.id(counts.nodes)),
            1 => Role::Branch(choices.id(counts.nodes)),
            2 => Role::Produce(choices.below(3)),
            _ => Role::Run(choices.below(3)),
        },
        inputs: choices.list(3, Choices::parameter),
        outputs: choices.list(3, Choices::parameter),
        held: choices.list(2, |choices| Held {
            constraint: choices.id(counts.constraints),
            mode: choices.mode(),
            key: choices.list(2, any_held_key),
            moved_by: choices.chance().then_some(Rewrite::OrderConstraints),
        }),
        body: any_block(choices, counts, 3),
        fault: choices.chance().then(|| choices.number()),
        paths: choices.exits(),
        span: choices.span(),
    }
}

fn any_block(choices: &mut Choices, counts: Counts, depth: usize) -> Block {
    let steps = if depth == 0 { vec![] } else { choices.list(3, |choices| any_step(choices, counts, depth - 1)) };
    let end = match choices.below(6) {
        5 => End::GoOn { offset: choices.number() },
        0 => End::Failed { offset: choices.number() },
        1 => End::Ended { offset: choices.number() },
        2 => End::Resume { values: choices.list(3, any_operand), offset: choices.number() },
        3 if depth > 0 => End::Dispatch {
            lines: choices.list(2, |choices| flux_ir::flow::Line {
                tests: choices
                    .list(2, |choices| Test { predicate: choices.id(counts.predicates), value: any_operand(choices) }),
                block: any_block(choices, counts, depth - 1),
                span: choices.span(),
            }),
            unmatched: choices.chance().then(|| choices.number()),
        },
        _ => End::Done { values: choices.list(3, any_operand), offset: choices.number() },
    };
    Block { steps, end }
}

fn any_held_key(choices: &mut Choices) -> HeldKey {
    match choices.below(3) {
        0 => HeldKey::Lost,
        1 => HeldKey::Constant(Constant::Integer(7)),
        _ => HeldKey::Inputs((0..=choices.below(2)).collect()),
    }
}

fn any_branch(choices: &mut Choices, counts: Counts) -> Branch {
    let after = choices.chance().then(|| choices.below(3));
    Branch { function: choices.id(counts.functions), after }
}

fn any_pair(choices: &mut Choices) -> (usize, usize) {
    (choices.below(4), choices.below(4))
}

fn any_each(choices: &mut Choices, counts: Counts) -> flux_ir::flow::Each {
    let order = match choices.below(3) {
        0 => EachOrder::InTurn,
        1 => EachOrder::AtOnce(choices.constant()),
        _ => EachOrder::Loop(choices.list(2, any_pair)),
    };
    let (inputs, outputs) = (choices.list(3, Choices::parameter), choices.list(3, Choices::parameter));
    flux_ir::flow::Each { function: choices.id(counts.functions), inputs, outputs, order }
}

fn any_step(choices: &mut Choices, counts: Counts, depth: usize) -> flux_ir::flow::Step {
    flux_ir::flow::Step {
        id: StepId(choices.below(12) as u32),
        callee: match choices.below(5) {
            0 => Callee::Node(choices.id(counts.nodes)),
            1 => Callee::Function(choices.id(counts.functions)),
            2 => Callee::Fork(choices.list(3, |choices| any_branch(choices, counts))),
            3 => Callee::Each(any_each(choices, counts)),
            _ => Callee::External { external: choices.id(EXTERNALS), node: choices.id(counts.nodes) },
        },
        inputs: choices.list(3, any_operand),
        within: choices.chance().then(|| choices.constant()),
        acquire: choices.list(2, |choices| Acquisition {
            constraint: choices.id(counts.constraints),
            mode: choices.mode(),
            key: choices.list(2, any_operand),
            provenance: match choices.chance() {
                true => Provenance::Pass(Rewrite::OrderConstraints, choices.id(counts.nodes)),
                false => Provenance::Author,
            },
            span: choices.span(),
        }),
        failure: any_block(choices, counts, depth),
        paths: StepPaths {
            save: choices.chance(),
            cut: choices.chance(),
            radix: choices.exits(),
            ended_offset: choices.number(),
        },
        span: choices.span(),
    }
}

fn any_operand(choices: &mut Choices) -> Operand {
    let step = StepId(choices.below(12) as u32);
    match choices.below(5) {
        0 => Operand::Input(choices.below(4)),
        1 => Operand::Output(step, choices.below(4)),
        2 => Operand::Error(step, choices.of(&ErrorPart::ALL)),
        3 => Operand::Changed(step, choices.below(4)),
        _ => Operand::Constant(choices.constant()),
    }
}
