//! The C++ file as a whole: what it includes, the enumerations and locks, the functions, the tables, `main`.

use crate::Context;
use crate::compute::{computations, conversions, headers};
use crate::copies::copies;
use crate::each::lists_structs;
use crate::fork::branch_structs;
use crate::function::function;
use crate::given::record_sizes;
use crate::keys::keys;
use crate::message::messages_code;
use crate::names::NAMESPACE;
use crate::options::{self, variables};
use crate::tables::tables;
use crate::tree::{Declaration, Declarator, Expression, Function, Initial, Statement};
use flux_contract as contract;
use flux_ir::program::{Constraint, ConstraintId, Scope};

/// The whole file.
pub fn unit(context: &Context<'_>) -> Vec<Declaration> {
    // The header of the runtime comes first: GCC takes a precompiled header only there.
    let mut unit = vec![
        Declaration::Comment(context.banner(None)),
        Declaration::SystemInclude(contract::HEADER.spelling.to_owned()),
        directive(format!("if {} != {}", contract::VERSION.spelling, contract::SUPPORT_VERSION)),
        directive(format!("error \"{VERSIONS_DIFFER}\"")),
        directive("endif"),
        Declaration::Blank,
    ];
    let own = Declaration::Include(context.header_name());
    if context.options.interface_2006.is_some() {
        // The headers of that time come last: what they define could be words of the others.
        unit.extend([Declaration::SystemInclude(contract::STD_2006.spelling.to_owned()), own]);
        unit.extend(OF_2006.map(|name| directive(format!("undef {name}"))));
        unit.push(Declaration::Blank);
    } else {
        unit.extend([own, Declaration::Blank]);
        let headers = headers(context);
        unit.extend(headers.iter().map(|header| Declaration::SystemInclude(header.spelling.to_owned())));
        unit.extend((!headers.is_empty()).then_some(Declaration::Blank));
    }
    if has_start(context) {
        unit.extend([
            comment("The program's own start, where a source defines it."),
            options::init(),
            Declaration::Blank,
        ]);
    }
    unit.extend(messages_code(context));
    unit.extend(branch_structs(context));
    unit.extend(lists_structs(context));
    unit.extend(conversions(context));
    unit.extend(record_sizes(context));
    unit.push(Declaration::Namespace(NAMESPACE.to_owned(), namespace(context)));
    unit.extend([Declaration::Blank, main_function(context)]);
    unit
}

/// What the headers of 2006 may have left defined: two words of their own, and one that is read below.
const OF_2006: [&str; 3] = ["std", "throw", "error"];

const VERSIONS_DIFFER: &str = "the runtime is of another version: generate this file again with the flux that built it";

fn directive(text: impl Into<String>) -> Declaration {
    Declaration::Directive(text.into())
}

fn namespace(context: &Context<'_>) -> Vec<Declaration> {
    let names = &context.names;
    let mut inner = vec![
        Declaration::Blank,
        comment("The nodes and the error handlers, as the profile numbers them."),
        enumeration(&names.node_enum, contract::NODE_NUMBER, names.node_values()),
        Declaration::Blank,
        comment("The functions below, as the path graph numbers them."),
        enumeration(&names.function_enum, contract::FUNCTION_NUMBER, names.function_values()),
    ];
    inner.extend(variables(context));
    inner.extend(locks(context));
    inner.extend(keys(context));
    inner.extend(copies(context));
    inner.extend(computations(context));
    for (_, one) in context.flow.functions.iter() {
        inner.push(Declaration::Blank);
        inner.extend(function(context, one));
    }
    inner.push(Declaration::Blank);
    if has_start(context) {
        inner.push(comment("Calls the program's own start with its options."));
        let start = options::start(context, &names.tables.start);
        inner.extend([Declaration::Function(start), Declaration::Blank]);
    }
    inner.extend(tables(context));
    inner.push(Declaration::Blank);
    inner
}

fn comment(text: &str) -> Declaration {
    Declaration::Comment(text.to_owned())
}

fn enumeration(name: &str, base: contract::Symbol, values: Vec<String>) -> Declaration {
    Declaration::Enum(name.to_owned(), base.spelling.to_owned(), values)
}

fn locks(context: &Context<'_>) -> Vec<Declaration> {
    let constraints = &context.flow.program.constraints;
    if constraints.is_empty() {
        return vec![];
    }
    let lock = |(id, constraint): (ConstraintId, &Constraint)| {
        let ty = match constraint.scope {
            Scope::Program => contract::PROGRAM_LOCK,
            Scope::Session => contract::SESSION_LOCK,
            Scope::Keyed => contract::KEYED_LOCK,
        };
        let variable = Declarator::new(ty.spelling, context.names.lock(id));
        Declaration::Variable(variable, Initial::Braces(vec![Expression::name(id.index())]))
    };
    let heading = [Declaration::Blank, comment("The constraints, by their numbers in the table below.")];
    heading.into_iter().chain(constraints.iter().map(lock)).collect()
}

/// Whether the program may have a start that is told its options. That of 2006 knows no options.
fn has_start(context: &Context<'_>) -> bool {
    !context.flow.program.options.is_empty() && context.options.interface_2006.is_none()
}

fn main_function(context: &Context<'_>) -> Declaration {
    let program = format!("{NAMESPACE}::{}", context.names.tables.program);
    let mut arguments = vec![Expression::name(program), Expression::name("argc"), Expression::name("argv")];
    if has_start(context) {
        arguments.push(Expression::name(format!("{NAMESPACE}::{}", context.names.tables.start)));
    }
    Declaration::Function(Function {
        result: "int".to_owned(),
        name: "main".to_owned(),
        parameters: vec![Declarator::new("int", "argc"), Declarator::new("char **", "argv")],
        body: vec![Statement::Return(Expression::name(contract::SERVE.spelling).call(arguments))],
        caught: vec![],
    })
}
