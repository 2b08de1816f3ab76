//! Computations as C++: a function for each computed node, `int Worth(Worth_in &in, Worth_out &out)`, and one for each
//! computed predicate, `bool large(const hit &h)`.
//!
//! The code is what one would write by hand: members are read and set in place, and only what may fail has a name of
//! the runtime, which fails the node by an exception (`flux/flow/compute.hpp`). `fail` itself is the return of a code.
//! Where an output is an input as it is, the value is moved, at the very end, when nothing can fail any more.

use crate::Context;
use crate::names::Locals;
use crate::structs::{Side, node_struct};
use crate::tree::{Declaration, Declarator, Expression as Cpp, Function, Initial, Statement as CppStatement};
use flux_contract as contract;
use flux_ir::compute::{
    Computation, Expression, Function as Called, Operator, Statement, Term, VariableId, always_fails, any_expression,
    sets,
};
use flux_ir::program::{Body, Constant, Node, NodeId, OptionKind, Predicate, PredicateId, TypeBody};
use flux_ir::types::{Float, Type, TypeKind, record_fields};
use flux_source::Span;

/// The functions of all computed nodes and predicates, under a comment.
pub fn computations(context: &Context<'_>) -> Vec<Declaration> {
    let program = &context.flow.program;
    let predicates = program.predicates.iter().filter_map(|(id, predicate)| predicate_function(context, id, predicate));
    let nodes = program.nodes.iter().filter_map(|(id, node)| node_function(context, id, node));
    let with_comments = predicates.chain(nodes).flat_map(|(span, function)| {
        [Declaration::Blank, Declaration::Comment(context.statement(span)), Declaration::Function(function)]
    });
    with_comments.collect()
}

/// Whether there are any.
pub fn has_computations(context: &Context<'_>) -> bool {
    let program = &context.flow.program;
    program.nodes.iter().any(|(_, node)| matches!(node.body, Body::Computed(_)))
        || program.predicates.iter().any(|(_, predicate)| predicate.computed().is_some())
}

fn node_function(context: &Context<'_>, id: NodeId, node: &Node) -> Option<(Span, Function)> {
    let Body::Computed(computation) = &node.body else { return None };
    let mut locals = Locals::new(&context.names);
    let [input, output] = ["in", "out"].map(|name| locals.claim(name));
    let mut places = vec![];
    for (parameters, object) in [(node.inputs(), &input), (node.outputs(), &output)] {
        places.extend(parameters.iter().map(|parameter| Cpp::name(object).member(&parameter.name)));
    }
    let inputs = node.inputs().len();
    let is_seen = context.handlers.iter().any(|handler| handler.node == id);
    let writer = Writer { is_seen, ..Writer::new(context, computation, inputs, places, locals) };
    let mut body = writer.body();
    if !always_fails(&computation.block) {
        body.push(CppStatement::Return(Cpp::name(0)));
    }
    let parameter = |side, name: &str, from: usize, to: usize| {
        let ty = node_struct(node, side)?;
        let is_used = (from..to).any(|index| writer.names(VariableId::new(index)));
        Some(Declarator::new(format!("{ty} &"), if is_used { name } else { "" }))
    };
    let count = inputs + node.outputs().len();
    let parameters = [parameter(Side::In, &input, 0, inputs), parameter(Side::Out, &output, inputs, count)];
    let (result, name) = ("int".to_owned(), context.names.computed(id).to_owned());
    let parameters = parameters.into_iter().flatten().collect();
    Some((node.span, Function { result, name, parameters, body, caught: vec![] }))
}

fn predicate_function(context: &Context<'_>, id: PredicateId, predicate: &Predicate) -> Option<(Span, Function)> {
    let computed = predicate.computed()?;
    let computation = &computed.computation;
    let mut locals = Locals::new(&context.names);
    let name = locals.claim(&computed.input.name);
    let writer = Writer::new(context, computation, 1, vec![Cpp::name(&name)], locals);
    let mut body = writer.body();
    body.extend(computation.says.as_ref().map(|says| CppStatement::Return(writer.value(says))));
    let is_used = writer.names(VariableId(0));
    let parameters = vec![passed(&computed.input.ty, if is_used { &name } else { "" })];
    let (result, name) = ("bool".to_owned(), context.names.predicate(id).to_owned());
    Some((predicate.span, Function { result, name, parameters, body, caught: vec![] }))
}

/// A value that is only looked at: a scalar itself, any other by reference.
fn passed(ty: &Type, name: &str) -> Declarator {
    match ty.is_scalar() {
        true => Declarator::new(ty.cpp(), name),
        false => Declarator::new(format!("const {} &", ty.cpp()), name),
    }
}

struct Writer<'a> {
    context: &'a Context<'a>,
    computation: &'a Computation,
    /// How many variables are inputs.
    inputs: usize,
    /// What each variable is called.
    places: Vec<Cpp>,
    /// What a list is called that a loop goes through and that has no name.
    list: String,
    /// Whether an error handler in C++ sees what is left of the inputs.
    is_seen: bool,
}

impl<'a> Writer<'a> {
    fn new(
        context: &'a Context<'a>,
        computation: &'a Computation,
        inputs: usize,
        mut places: Vec<Cpp>,
        mut locals: Locals<'a>,
    ) -> Self {
        let own = computation.variables.iter().skip(places.len());
        places.extend(own.map(|variable| Cpp::name(locals.claim(&variable.name))).collect::<Vec<_>>());
        let list = locals.claim("elements");
        Self { context, computation, inputs, places, list, is_seen: false }
    }

    /// Whether the code names a variable at all.
    fn names(&self, variable: VariableId) -> bool {
        self.reads(variable) || sets(&self.computation.block, variable)
    }

    fn reads(&self, variable: VariableId) -> bool {
        let mut is_it = |expression: &Expression| expression.term == Term::Variable(variable);
        let says = self.computation.says.as_ref().is_some_and(|says| says.any(&mut is_it));
        says || any_expression(&self.computation.block, &mut is_it)
    }

    fn place(&self, variable: VariableId) -> Cpp {
        self.places.get(variable.index()).cloned().unwrap_or(Cpp::name(0))
    }

    /// The statements, but for the last `return`.
    fn body(&self) -> Vec<CppStatement> {
        let mut out = vec![];
        let block = &self.computation.block;
        for (at, statement) in block.iter().enumerate() {
            self.statement(statement, self.moves(at), &mut out);
        }
        out
    }

    /// Whether the statement at `at` gives an output an input as it is, and may take it: nothing reads it later. An
    /// error handler in C++ sees what is left of the inputs, so where there is one nothing may fail after that.
    fn moves(&self, at: usize) -> bool {
        let passed_on = |statement: &Statement| match statement {
            Statement::Set { is_new: false, value: Expression { term: Term::Variable(from), ty, .. }, .. } => {
                (from.index() < self.inputs && !ty.is_array()).then_some(*from)
            }
            _ => None,
        };
        let block = &self.computation.block;
        let Some(input) = block.get(at).and_then(passed_on) else { return false };
        let later = block.get(at + 1..).unwrap_or_default();
        let is_read = any_expression(later, &mut |expression| expression.term == Term::Variable(input));
        !is_read && (!self.is_seen || later.iter().all(|statement| passed_on(statement).is_some()))
    }

    /// The recursion is as deep as blocks are in each other.
    fn block(&self, block: &[Statement]) -> Vec<CppStatement> {
        let mut out = vec![];
        block.iter().for_each(|statement| self.statement(statement, false, &mut out));
        out
    }

    fn statement(&self, statement: &Statement, moves: bool, out: &mut Vec<CppStatement>) {
        match statement {
            Statement::Set { variable, is_new: true, value } => {
                let declarator = self.declare(*variable, sets_again(&self.computation.block, *variable));
                out.push(CppStatement::Variable(declarator, Initial::Value(self.value(value))));
            }
            Statement::Set { variable, value, .. } => self.assign(*variable, value, moves, out),
            Statement::If(condition, then, otherwise) => {
                out.push(CppStatement::If(self.value(condition), self.block(then), self.block(otherwise)));
            }
            Statement::For(variable, list, block) => self.for_each(*variable, list, block, out),
            Statement::Fail(code) if self.computation.says.is_some() => {
                let fail = Cpp::name(contract::COMPUTE_FAIL.spelling).call(vec![Cpp::name(code)]);
                out.push(CppStatement::Run(fail));
            }
            Statement::Fail(code) => out.push(CppStatement::Return(Cpp::name(code))),
        }
    }

    /// `const uint64_t sum`
    fn declare(&self, variable: VariableId, changes: bool) -> Declarator {
        let ty = self.computation.variable(variable).map_or(String::new(), |variable| variable.ty.cpp().to_owned());
        let name = match self.place(variable) {
            Cpp::Name(name) => name,
            _ => String::new(),
        };
        let unused = if self.reads(variable) { "" } else { "[[maybe_unused]] " };
        let constant = if changes || ty.ends_with('*') { "" } else { "const " };
        Declarator::new(format!("{unused}{constant}{ty}"), name)
    }

    fn assign(&self, variable: VariableId, value: &Expression, moves: bool, out: &mut Vec<CppStatement>) {
        let to = self.place(variable);
        if value.ty.is_array() {
            let copy = Cpp::name(contract::COPY.spelling).call(vec![to, self.value(value)]);
            return out.push(CppStatement::Run(copy));
        }
        let added = added_to(variable, value);
        if !added.is_empty() {
            return out.extend(added.into_iter().map(|more| self.append(to.clone(), more)));
        }
        let value = match moves && !value.ty.is_scalar() {
            true => Cpp::name("std::move").call(vec![self.value(value)]),
            false => self.value(value),
        };
        out.push(CppStatement::Assign(to, value));
    }

    /// `to += more;`
    fn append(&self, to: Cpp, more: &Expression) -> CppStatement {
        let is_list = matches!(more.ty.kind(), TypeKind::List(_));
        let more = self.value(more);
        CppStatement::Run(match is_list {
            true => Cpp::name(contract::COMPUTE_APPEND.spelling).call(vec![to, more]),
            false => Cpp::Infix(Box::new(to), "+=", Box::new(more)),
        })
    }

    fn for_each(&self, variable: VariableId, list: &Expression, block: &[Statement], out: &mut Vec<CppStatement>) {
        let Some(element) = self.computation.variable(variable) else { return };
        let Declarator { ty, name, .. } = self.declare(variable, false);
        let ty = if element.ty.is_scalar() { ty } else { format!("{ty} &") };
        let body = self.block(block);
        let root = root_of(list);
        if root.is_some_and(|root| !sets(block, root)) {
            return out.push(CppStatement::For(Declarator::new(ty, name), self.value(list), body));
        }
        // It is looked at while it stays as it is.
        let elements = Declarator::constant(list.ty.cpp(), &self.list);
        let inner = vec![
            CppStatement::Variable(elements, Initial::Value(self.value(list))),
            CppStatement::For(Declarator::new(ty, name), Cpp::name(&self.list), body),
        ];
        out.push(CppStatement::Scope(inner));
    }

    /// An expression. The recursion is as deep as it is.
    fn value(&self, expression: &Expression) -> Cpp {
        let ty = &expression.ty;
        let call = |function: contract::Symbol, arguments: Vec<Cpp>| Cpp::name(function.spelling).call(arguments);
        match &expression.term {
            Term::Integer(value) => integer(*value),
            Term::Real(bits) => {
                let suffix = if *ty.kind() == TypeKind::Float(Float::Single) { "f" } else { "" };
                Cpp::name(format!("{:?}{suffix}", f64::from_bits(*bits)))
            }
            Term::Truth(truth) => Cpp::name(truth),
            Term::Text(text) => Cpp::Text(text.clone()),
            Term::Variable(variable) => self.place(*variable),
            Term::Option(option) => {
                let value = self.context.constant(&Constant::Option(*option));
                match self.context.flow.program.options[*option].kind {
                    OptionKind::Text | OptionKind::Path => Cpp::name("std::string").call(vec![value]),
                    _ => value,
                }
            }
            Term::Enumerator(index) => Cpp::name(format!("{}::{}", ty.cpp(), self.enumerator(ty, *index))),
            Term::None => Cpp::name("std::nullopt"),
            Term::Some(value) => Cpp::name(ty.cpp()).call(vec![self.value(value)]),
            Term::Field(of, index) => self.value(of).member(self.field(&of.ty, *index)),
            Term::Not(inner) => Cpp::Prefix("!", Box::new(self.value(inner))),
            Term::Negate(inner) => call(contract::COMPUTE_NEGATE, vec![self.value(inner)]),
            Term::Binary(operator, two) => self.binary(*operator, two, ty),
            Term::Convert(inner) => self.convert(inner, ty),
            Term::Record(values) | Term::List(values) => {
                Cpp::Made(ty.cpp().to_owned(), values.iter().map(|value| self.value(value)).collect())
            }
            Term::Element(two) => call(contract::COMPUTE_AT, two.iter().map(|one| self.value(one)).collect()),
            Term::Slice(of, from, to) => {
                let bounds = std::iter::once(from).chain(to).map(|bound| self.value(bound));
                call(contract::COMPUTE_SLICE, std::iter::once(self.object(of)).chain(bounds).collect())
            }
            Term::Call(function, arguments) => self.call(*function, arguments),
        }
    }

    /// A value with members: a text that is a literal becomes one.
    fn object(&self, expression: &Expression) -> Cpp {
        match expression.term {
            Term::Text(_) => Cpp::name("std::string").call(vec![self.value(expression)]),
            _ => self.value(expression),
        }
    }

    fn enumerator(&self, ty: &Type, index: usize) -> String {
        let TypeKind::Enum(id) = ty.kind() else { return String::new() };
        match &self.context.flow.program.types[*id].body {
            TypeBody::Enum(values) => values.get(index).cloned().unwrap_or_default(),
            TypeBody::Record(_) => String::new(),
        }
    }

    fn field(&self, ty: &Type, index: usize) -> &'a str {
        let TypeKind::Record(id) = ty.kind() else { return "" };
        record_fields(&self.context.flow.program, *id).get(index).map_or("", |field| &field.name)
    }

    fn binary(&self, operator: Operator, [left, right]: &[Expression; 2], ty: &Type) -> Cpp {
        let is_literal = |one: &Expression| matches!(one.term, Term::Integer(_) | Term::Real(_) | Term::Text(_));
        let infix = |symbol, left, right| Cpp::Infix(Box::new(left), symbol, Box::new(right));
        let are_texts = matches!(left.term, Term::Text(_)) && matches!(right.term, Term::Text(_));
        if operator.is_comparison() {
            let signs = [left, right].map(|one| one.ty.integer().map(|integer| integer.signed));
            if signs[0] != signs[1] && !is_literal(left) && !is_literal(right) {
                return Cpp::name(exact(operator)).call(vec![self.value(left), self.value(right)]);
            }
            let left = if are_texts { self.object(left) } else { self.value(left) };
            return infix(operator.symbol(), left, self.value(right));
        }
        let function = match (operator, ty.kind()) {
            (Operator::And | Operator::Or, _) => {
                return infix(operator.symbol(), self.value(left), self.value(right));
            }
            (_, TypeKind::Text | TypeKind::Bytes) => {
                let left = if are_texts { self.object(left) } else { self.value(left) };
                return infix("+", left, self.value(right));
            }
            (_, TypeKind::List(_)) => contract::COMPUTE_JOINED,
            (Operator::Add, _) => contract::COMPUTE_ADD,
            (Operator::Subtract, _) => contract::COMPUTE_SUBTRACT,
            (Operator::Multiply, _) => contract::COMPUTE_MULTIPLY,
            (Operator::Divide, _) => contract::COMPUTE_DIVIDE,
            (_, _) => contract::COMPUTE_REMAINDER,
        };
        // The type is that of the left side, which a literal does not show.
        let function = match is_literal(left) {
            true => Cpp::Instance(function.spelling.to_owned(), vec![Cpp::name(ty.cpp())]),
            false => Cpp::name(function.spelling),
        };
        function.call(vec![self.value(left), self.value(right)])
    }

    fn convert(&self, inner: &Expression, to: &Type) -> Cpp {
        let from = &inner.ty;
        let is_string = |ty: &Type| matches!(ty.kind(), TypeKind::Text | TypeKind::Bytes);
        if is_string(from) && is_string(to) {
            return self.value(inner);
        }
        if is_string(to) {
            return Cpp::name(contract::COMPUTE_TEXT.spelling).call(vec![self.value(inner)]);
        }
        let is_whole = match (from.integer(), to.integer()) {
            (Some(from), Some(to)) => to.includes(from),
            (_, to) => to.is_none(),
        };
        let function = if is_string(from) {
            contract::COMPUTE_READ.spelling
        } else if is_whole {
            "static_cast"
        } else {
            contract::COMPUTE_TO.spelling
        };
        Cpp::Instance(function.to_owned(), vec![Cpp::name(to.cpp())]).call(vec![self.value(inner)])
    }

    fn call(&self, function: Called, arguments: &[Expression]) -> Cpp {
        let Some((first, rest)) = arguments.split_first() else { return Cpp::name(0) };
        let rest: Vec<Cpp> = rest.iter().map(|argument| self.value(argument)).collect();
        let member = |name: &str| self.object(first).member(name).call(rest.clone());
        let symbol = match function {
            Called::Length => return member("size"),
            Called::StartsWith => return member("starts_with"),
            Called::EndsWith => return member("ends_with"),
            Called::Has => return member("has_value"),
            Called::Contains => contract::COMPUTE_CONTAINS,
            Called::Position => contract::COMPUTE_POSITION,
            Called::Lower => contract::COMPUTE_LOWER,
            Called::Upper => contract::COMPUTE_UPPER,
            Called::Trim => contract::COMPUTE_TRIM,
            Called::Split => contract::COMPUTE_SPLIT,
            Called::Join => contract::COMPUTE_JOIN,
            Called::Value => contract::COMPUTE_VALUE,
        };
        Cpp::name(symbol.spelling).call(std::iter::once(self.value(first)).chain(rest.clone()).collect())
    }
}

/// The literal of an integer: C++ has none for the smallest, and takes what is beyond `long` with a `u`.
fn integer(value: i128) -> Cpp {
    match value {
        _ if value == i128::from(i64::MIN) => Cpp::name(format!("(-{} - 1)", i64::MAX)),
        _ if value > i128::from(i64::MAX) => Cpp::name(format!("{value}u")),
        _ => Cpp::name(value),
    }
}

/// What compares integers of which only one has a sign.
fn exact(operator: Operator) -> &'static str {
    match operator {
        Operator::Equal => "std::cmp_equal",
        Operator::Unequal => "std::cmp_not_equal",
        Operator::Less => "std::cmp_less",
        Operator::LessOrEqual => "std::cmp_less_equal",
        Operator::Greater => "std::cmp_greater",
        _ => "std::cmp_greater_equal",
    }
}

/// The variable that a list is, or is a field of.
fn root_of(expression: &Expression) -> Option<VariableId> {
    match &expression.term {
        Term::Variable(variable) => Some(*variable),
        Term::Field(of, _) => root_of(of),
        _ => None,
    }
}

/// Whether a variable that `let` makes is given another value later.
fn sets_again(block: &[Statement], variable: VariableId) -> bool {
    block.iter().any(|statement| match statement {
        Statement::Set { variable: set, is_new, .. } => !is_new && *set == variable,
        other => other.parts().1.into_iter().any(|block| sets_again(block, variable)),
    })
}

/// What is added to the end of a text or a list, one after the other, where `value` is no more than that; none where it
/// reads the variable again.
fn added_to(variable: VariableId, value: &Expression) -> Vec<&Expression> {
    let is_sequence = matches!(value.ty.kind(), TypeKind::Text | TypeKind::Bytes | TypeKind::List(_));
    let (mut added, mut left) = (vec![], value);
    while let (true, Term::Binary(Operator::Add, two)) = (is_sequence, &left.term) {
        let [first, more] = &**two;
        added.push(more);
        left = first;
    }
    let mut is_it = |expression: &Expression| expression.term == Term::Variable(variable);
    if !is_it(left) || added.iter().any(|more| more.any(&mut is_it)) {
        return vec![];
    }
    added.reverse();
    added
}
