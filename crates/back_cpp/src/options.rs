//! The options of the server: a variable for the value of each, and the table by which the runtime sets them.
//!
//! A number is stored in the widest type and converted to the type of the input that it is given to. The table names
//! all these types, so that the runtime refuses a number that does not fit into one of them.

use crate::Context;
use crate::names::word;
use crate::tree::{Declaration, Declarator, Expression, Function, Initial, Row, Statement};
use flux_contract as contract;
use flux_ir::flow::{Callee, EachOrder, Operand};
use flux_ir::program::{Constant, OptionId, OptionKind, ServerOption};
use std::collections::BTreeSet;

/// The variables, with a comment over them.
pub fn variables(context: &Context<'_>) -> Vec<Declaration> {
    let options = &context.flow.program.options;
    if options.is_empty() {
        return vec![];
    }
    let variable = |(id, option): (OptionId, &ServerOption)| {
        let variable = Declarator::new(cpp_type(option.kind), context.names.option(id));
        Declaration::Variable(
            variable,
            Initial::Braces(option.default.iter().map(|default| context.constant(default)).collect()),
        )
    };
    let heading = [Declaration::Blank, Declaration::Comment("What the server was told when it started.".to_owned())];
    heading.into_iter().chain(options.iter().map(variable)).collect()
}

/// The struct in which the program's own start is told the options. It is one of C, too.
const STRUCT: &str = "server_options";

/// That struct, in the header of a program that has options.
pub fn structure(context: &Context<'_>) -> Vec<Declaration> {
    let options = &context.flow.program.options;
    if options.is_empty() {
        return vec![];
    }
    let ty = |kind: OptionKind| if is_number(kind) { "long" } else { cpp_type(kind) };
    let member = |option: &ServerOption| Declarator::new(ty(option.kind), word(&option.name));
    let members = options.iter().map(|(_, option)| member(option)).collect();
    let comment = "The options: `int init(const server_options &options, std::string &why)` is called with them.";
    vec![Declaration::Blank, Declaration::Comment(comment.to_owned()), Declaration::Struct(STRUCT.to_owned(), members)]
}

/// The declaration of the program's own start, which there need not be.
pub fn init() -> Declaration {
    let parameters = vec![Declarator::constant(&format!("{STRUCT} &"), "options"), why()];
    Declaration::Prototype("[[gnu::weak]] int".to_owned(), "init".to_owned(), parameters)
}

/// The function that calls it with the options, called `name`.
pub fn start(context: &Context<'_>, name: &str) -> Function {
    let options = context.flow.program.options.iter();
    let values = options.map(|(id, _)| Expression::name(context.names.option(id))).collect();
    let call = Expression::Instance(contract::START.spelling.to_owned(), vec![Expression::name(STRUCT)]);
    let arguments = vec![Expression::name("::init"), Expression::Braces(values), Expression::name("why")];
    Function {
        result: "int".to_owned(),
        name: name.to_owned(),
        parameters: vec![why()],
        body: vec![Statement::Return(call.call(arguments))],
        caught: vec![],
    }
}

fn why() -> Declarator {
    Declarator::new("std::string &", "why")
}

/// The rows of the table, in the order of `--help`: the program's own before those of its modules.
pub fn table(context: &Context<'_>) -> Vec<Row> {
    let mut rows = vec![];
    let (own, of_modules): (Vec<_>, Vec<_>) =
        context.flow.program.options.iter().partition(|(_, option)| !option.name.is_of_module());
    for (id, option) in own.into_iter().chain(of_modules) {
        rows.push(Row::Comment(context.statement(option.span)));
        let flag = Expression::Text(option.name.joined("-").replace('_', "-"));
        let kind = Expression::name(kind(option.kind).spelling);
        let fallback = match &option.default {
            Some(default) => Expression::Text(default_text(context, option.kind, default)),
            None => Expression::name("nullptr"),
        };
        let about = Expression::Text(option.about.clone());
        let arguments = vec![flag, kind, fallback, about, Expression::name(context.names.option(id))];
        let make = contract::MAKE_OPTION.spelling.to_owned();
        let make = match is_number(option.kind) {
            true => Expression::Instance(make, types(context, id).into_iter().map(Expression::Name).collect()),
            false => Expression::Name(make),
        };
        rows.push(Row::Element(make.call(arguments)));
    }
    rows
}

/// Whether its value is a number in the generated code.
pub fn is_number(kind: OptionKind) -> bool {
    matches!(kind, OptionKind::Int | OptionKind::Duration | OptionKind::Size)
}

fn cpp_type(kind: OptionKind) -> &'static str {
    match kind {
        OptionKind::Int | OptionKind::Duration | OptionKind::Size => contract::OPTION_NUMBER.spelling,
        OptionKind::Text | OptionKind::Path => "const char *",
        OptionKind::Bool => "bool",
    }
}

fn kind(kind: OptionKind) -> contract::Symbol {
    match kind {
        OptionKind::Int => contract::OPTION_INTEGER,
        OptionKind::Text => contract::OPTION_TEXT,
        OptionKind::Path => contract::OPTION_PATH,
        OptionKind::Bool => contract::OPTION_TRUTH,
        OptionKind::Duration => contract::OPTION_DURATION,
        OptionKind::Size => contract::OPTION_SIZE,
    }
}

/// The default as the command line would have it: `30s`, `64k`, `public`.
fn default_text(context: &Context<'_>, kind: OptionKind, default: &Constant) -> String {
    let with_unit = |value: i64, units: &[(i64, &str)]| {
        let unit = units.iter().find(|(factor, _)| value % factor == 0 && value != 0);
        unit.map_or_else(|| value.to_string(), |(factor, unit)| format!("{}{unit}", value / factor))
    };
    match (kind, default) {
        (OptionKind::Duration, Constant::Integer(0)) => "0ms".to_owned(),
        (OptionKind::Duration, Constant::Integer(value)) => with_unit(*value, &[(60_000, "m"), (1000, "s"), (1, "ms")]),
        (OptionKind::Size, Constant::Integer(value)) => {
            with_unit(*value, &[(1 << 30, "G"), (1 << 20, "M"), (1 << 10, "k")])
        }
        (_, Constant::Text(text)) => text.clone(),
        (_, other) => context.flow.program.constant_text(other),
    }
}

/// The types of the inputs that an option is given to, each once.
fn types(context: &Context<'_>, option: OptionId) -> BTreeSet<String> {
    let given = Operand::Constant(Constant::Option(option));
    let mut types = BTreeSet::new();
    for (_, function) in context.flow.functions.iter() {
        for step in function.body.all_steps().into_iter().filter(|step| !matches!(step.callee, Callee::Fork(_))) {
            if let Callee::Each(each) = &step.callee
                && each.order == EachOrder::AtOnce(Constant::Option(option))
            {
                types.insert(contract::EACH_WIDTH.spelling.to_owned());
            }
            let inputs = step.inputs.iter().zip(context.flow.callee_inputs(&step.callee));
            types.extend(inputs.filter(|(operand, _)| **operand == given).map(|(_, input)| input.ty.cpp().to_owned()));
        }
    }
    types
}
