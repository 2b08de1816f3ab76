//! Computations as C++: a function for each computed node, `int Worth(const hit &h, Worth_out &out)`, and one for each
//! computed predicate, `bool large(const hit &h)`. If bodies call a node, there is also a function of values, `uint64_t
//! Worth(const hit &h)`; a node that is both applied and called has both, so that a step does not pay for the calls.
//!
//! The code is what one would write by hand: members are read and set in place. Only operations that can fail use a
//! function of the runtime, which fails the node by an exception (`flux/flow/compute.hpp`). `fail` itself returns a
//! code; in a function of values it throws, too. Inputs are looked at where they are. One that is handed on as it is
//! comes as `hit &&h`, and is moved at the very end, when nothing can fail any more.

mod as_value;
mod expression;
mod statement;

pub use as_value::conversions;
pub(crate) use expression::{chosen, exact};

use crate::Context;
use crate::function::declare_error;
use crate::names::{Locals, cpp_name};
use crate::plain::{call_plain, members_of};
use crate::shape::{Part, node_shape};
use crate::structs::{Side, node_struct};
use crate::tree::{Declaration, Declarator, Expression as Cpp, Function, Initial, Statement as CppStatement};
use flux_contract as contract;
use flux_ir::compute::{
    Call, Callable, Computation, Expression, Term, VariableId, always_fails, callees_first, calls_of,
};
use flux_ir::flow::{Block, End};
use flux_ir::program::{Body, Node, NodeId, Predicate, PredicateId, Program};
use flux_ir::types::Type;
use flux_source::Span;
use statement::Writer;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

/// Before a function that is compiled with all that it calls in it.
const AS_ONE: &str = "[[gnu::flatten]] ";

/// The functions of the computed nodes and predicates that anything uses, each after those that it calls, under a
/// comment.
pub fn computations(context: &Context<'_>) -> Vec<Declaration> {
    let program = &context.flow.program;
    let (applied, used) = needed(context);
    let mut functions = vec![];
    for one in &used {
        if let Callable::Node(id) = one {
            functions.extend(external_function(context, *id, &program.nodes[*id]));
        }
    }
    for one in callees_first(program) {
        match one {
            Callable::Predicate(id) if used.contains(&one) => {
                functions.extend(predicate_function(context, id, &program.predicates[id]));
            }
            Callable::Predicate(_) => {}
            Callable::Node(id) => {
                let node = &program.nodes[id];
                functions.extend(used.contains(&one).then(|| value_function(context, id, node)).flatten());
                functions.extend(applied.contains(&id).then(|| node_function(context, id, node)).flatten());
            }
        }
    }
    let with_comments = functions.into_iter().flat_map(|(span, function)| {
        // A function of this file alone becomes part of the one place that calls it, so a step costs no call.
        let result = match function.result.strip_prefix(AS_ONE) {
            Some(result) => format!("{AS_ONE}static {result}"),
            None => format!("static {}", function.result),
        };
        let function = Function { result, ..function };
        [Declaration::Blank, Declaration::Comment(context.statement(span)), Declaration::Function(function)]
    });
    with_comments.collect()
}

/// The nodes that flows apply; and what is used as a function of values, by these or by dispatches.
fn needed(context: &Context<'_>) -> (BTreeSet<NodeId>, BTreeSet<Callable>) {
    let steps = context.flow.functions.iter().flat_map(|(_, function)| function.body.all_steps());
    let applied: BTreeSet<NodeId> = steps.filter_map(|step| context.flow.callee_node(&step.callee)).collect();
    let mut asked = vec![];
    context.flow.functions.iter().for_each(|(_, function)| tested(&function.body, &mut asked));
    for (_, external) in context.flow.program.externals.iter() {
        asked.extend(external.functions.iter().copied().map(Callable::Node));
    }
    let used = used(&context.flow.program, &applied, asked);
    (applied, used)
}

/// The predicates that a block asks. The recursion is as deep as blocks are in each other.
fn tested(block: &Block, asked: &mut Vec<Callable>) {
    block.steps.iter().for_each(|step| tested(&step.failure, asked));
    if let End::Dispatch { lines, .. } = &block.end {
        for line in lines {
            asked.extend(line.tests.iter().map(|test| Callable::Predicate(test.predicate)));
            tested(&line.block, asked);
        }
    }
}

/// What is used as a function of values: the predicates that are `asked`, and what these and the nodes that are
/// `applied` call, directly or through others.
fn used(program: &Program, applied: &BTreeSet<NodeId>, asked: Vec<Callable>) -> BTreeSet<Callable> {
    let calls: BTreeMap<Callable, Vec<Call>> = calls_of(program).into_iter().collect();
    let mut used: BTreeSet<Callable> = asked.into_iter().collect();
    let mut open: Vec<Callable> = used.iter().copied().chain(applied.iter().copied().map(Callable::Node)).collect();
    while let Some(caller) = open.pop() {
        let callees = calls.get(&caller).into_iter().flatten().map(|call| call.callee);
        open.extend(callees.filter(|callee| used.insert(*callee)));
    }
    used
}

/// The nodes that bodies call.
pub fn called(program: &Program) -> BTreeSet<NodeId> {
    let calls = calls_of(program).into_iter().flat_map(|(_, calls)| calls);
    let nodes = calls.filter_map(|call| match call.callee {
        Callable::Node(node) => Some(node),
        Callable::Predicate(_) => None,
    });
    nodes.collect()
}

/// The headers that the functions need.
pub fn headers(context: &Context<'_>) -> Vec<contract::Symbol> {
    let program = &context.flow.program;
    let of_nodes = program.nodes.iter().filter_map(|(_, node)| match &node.body {
        Body::Computed(computation) => Some(computation),
        _ => None,
    });
    let of_predicates = program.predicates.iter().filter_map(|(_, one)| Some(&one.computed()?.computation));
    let all: Vec<_> = of_nodes.chain(of_predicates).collect();
    let has_loops = all.iter().any(|one| statement::has_loop(&one.block) || one.any(&mut expression::is_loop));
    let turns = has_loops.then_some(contract::HEADER_TURNS);
    let is_dynamic =
        |one: &Expression| one.ty.is_dynamic() || matches!(&one.term, Term::Convert(inner) if inner.ty.is_dynamic());
    let dynamic = all.iter().any(|one| one.any(&mut |part| is_dynamic(part))).then_some(contract::HEADER_DYNAMIC);
    if all.is_empty() { vec![] } else { [contract::HEADER_COMPUTE].into_iter().chain(turns).chain(dynamic).collect() }
}

fn node_function(context: &Context<'_>, id: NodeId, node: &Node) -> Option<(Span, Function)> {
    let Body::Computed(computation) = &node.body else { return None };
    let mut locals = Locals::new(&context.names);
    let output = locals.claim("out");
    let inputs: Vec<String> = node.inputs().iter().map(|input| locals.claim(&input.name)).collect();
    let mut places: Vec<Cpp> = inputs.iter().map(Cpp::name).collect();
    places.extend(node.outputs().iter().map(|parameter| Cpp::name(&output).member(&parameter.name)));
    let handed_on = statement::handed_on(computation);
    let moving = handed_on.iter().map(|(_, at)| *at).collect();
    let writer = Writer { moving, ..Writer::new(context, computation, places, locals) };
    let mut body = writer.body();
    if !always_fails(&computation.block) {
        body.push(CppStatement::Return(Cpp::name(0)));
    }
    let mut parameters: Vec<_> = node
        .inputs()
        .iter()
        .zip(&inputs)
        .enumerate()
        .map(|(index, (input, name))| {
            let variable = VariableId::new(index);
            let name = if writer.names(variable) { name } else { "" };
            match handed_on.iter().any(|(moved, _)| *moved == variable) {
                true => Declarator::new(format!("{} &&", input.ty.cpp()), name),
                false => passed(&input.ty, name),
            }
        })
        .collect();
    parameters.extend(node_struct(node, Side::Out).map(|ty| {
        let is_used = (0..node.outputs().len()).any(|index| writer.names(VariableId::new(inputs.len() + index)));
        Declarator::new(format!("{ty} &"), if is_used { &output } else { "" })
    }));
    let (result, name) = ("int".to_owned(), context.names.computed(id).to_owned());
    Some((node.span, Function { result, name, parameters, body, caught: vec![] }))
}

/// Which inputs the function of a computed node takes by moving them, by place: those that it hands on as they are.
pub fn moved_inputs(computation: &Computation, inputs: usize) -> Vec<usize> {
    let places = statement::handed_on(computation).into_iter().map(|(variable, _)| variable.index());
    places.filter(|place| *place < inputs).collect()
}

/// What bodies call: it takes the inputs, and returns the output, or the struct of the outputs.
fn value_function(context: &Context<'_>, id: NodeId, node: &Node) -> Option<(Span, Function)> {
    let Body::Computed(computation) = &node.body else { return None };
    let mut locals = Locals::new(&context.names);
    let inputs: Vec<String> = node.inputs().iter().map(|input| locals.claim(&input.name)).collect();
    let single = if let [output] = node.outputs() { Some(output) } else { None };
    let given = locals.claim(single.map_or("out", |output| output.name.as_str()));
    let mut places: Vec<Cpp> = inputs.iter().map(Cpp::name).collect();
    places.extend(node.outputs().iter().map(|output| match single {
        Some(_) => Cpp::name(&given),
        None => Cpp::name(&given).member(&output.name),
    }));
    let result = single.map_or_else(|| node_struct(node, Side::Out), |output| Some(output.ty.cpp().to_owned()))?;
    let writer =
        Writer { throws: true, is_bounded: Cell::new(true), ..Writer::new(context, computation, places, locals) };
    let parameters = node.inputs().iter().zip(&inputs).enumerate().map(|(index, (input, name))| {
        let is_used = writer.names(VariableId::new(index));
        passed(&input.ty, if is_used { name } else { "" })
    });
    let parameters = parameters.collect();
    let mut result = result;
    let body = match writer.last_value(VariableId::new(inputs.len())).filter(|_| single.is_some()) {
        // A function in C++ that is given this one, and nobody else, calls it: it looks at what it has.
        Some(([], value)) if is_given(context, id) && expression::is_part_of_input(value, inputs.len()) => {
            result = "std::string_view".to_owned();
            vec![CppStatement::Return(writer.look(value))]
        }
        Some((before, value)) => {
            let mut body = writer.block(before);
            body.push(CppStatement::Return(writer.value(value)));
            body
        }
        None => {
            let begin = CppStatement::Variable(Declarator::new(&result, &given), Initial::Braces(vec![]));
            let mut body = vec![begin];
            body.extend(writer.body());
            body.push(CppStatement::Return(Cpp::name(&given)));
            body
        }
    };
    // It is called for each of many values; and of a message that it makes it knows which fields are not given.
    let result = if is_given(context, id) { format!("{AS_ONE}{result}") } else { result };
    let name = context.names.computed(id).to_owned();
    Some((node.span, Function { result, name, parameters, body, caught: vec![] }))
}

/// Whether a node is there for a function in C++ alone, which calls it.
fn is_given(context: &Context<'_>, id: NodeId) -> bool {
    let mut externals = context.flow.program.externals.iter();
    externals.any(|(_, external)| external.functions.contains(&id)) && !called(&context.flow.program).contains(&id)
}

/// What bodies call of a node that is a function in C++: its error is an exception here.
fn external_function(context: &Context<'_>, id: NodeId, node: &Node) -> Option<(Span, Function)> {
    let Body::External(_) = &node.body else { return None };
    let mut locals = Locals::new(&context.names);
    let inputs: Vec<String> = node.inputs().iter().map(|input| locals.claim(&input.name)).collect();
    let [input, output, error] = ["in", "out", "error"].map(|name| locals.claim(name));
    let given = node_struct(node, Side::Out)?;
    let mut body = vec![];
    let plain = context.plain(node);
    let taken = node_struct(node, Side::In).filter(|_| !plain.is_some_and(|plain| plain.looks(node.inputs().len())));
    if let Some(taken) = &taken {
        let values = inputs.iter().map(Cpp::name).collect();
        body.push(CppStatement::Variable(Declarator::new(taken, &input), Initial::Braces(values)));
    }
    body.push(CppStatement::Variable(Declarator::new(&given, &output), Initial::Braces(vec![])));
    let has_struct = taken.is_some();
    let call = match plain {
        Some(function) => {
            let own = || members_of(Some(&input), node, Side::In);
            let values = if has_struct { own() } else { inputs.iter().map(Cpp::name).collect() };
            call_plain((node, context.called(node)), function, (values, Some(&output)), &error, |_| false)
        }
        None => {
            let shape = node_shape(context, node);
            let pointer = |part: &Part| match part {
                Part::Input if has_struct => Cpp::name(&input).address(),
                Part::Output => Cpp::name(&output).address(),
                _ => Cpp::name("nullptr"),
            };
            let arguments = shape.parts.iter().map(pointer).collect();
            let call = Cpp::name(format!("::{}", cpp_name(&node.name))).call(arguments);
            match shape.returns() {
                true => CppStatement::Assign(Cpp::name(&error), call),
                false => CppStatement::Run(call),
            }
        }
    };
    if matches!(&call, CppStatement::Assign(to, _) if *to == Cpp::name(&error)) {
        let fail = Cpp::name(contract::COMPUTE_FAIL.spelling).call(vec![Cpp::name(&error)]);
        let has_failed = Cpp::name(&error).compare("!=", Cpp::name(0));
        body.extend([declare_error(&error), call]);
        body.push(CppStatement::If(has_failed, vec![CppStatement::Run(fail)], vec![]));
    } else {
        body.push(call);
    }
    let (result, value) = match node.outputs() {
        [one] => {
            let value = Cpp::name(&output).member(&one.name);
            // A member is copied, unless it is said that it is not needed any more.
            let value = if one.ty.is_scalar() { value } else { Cpp::name("std::move").call(vec![value]) };
            (one.ty.cpp().to_owned(), value)
        }
        _ => (given, Cpp::name(&output)),
    };
    body.push(CppStatement::Return(value));
    let parameters = node.inputs().iter().zip(&inputs).map(|(input, name)| passed(&input.ty, name)).collect();
    let name = context.names.computed(id).to_owned();
    Some((node.span, Function { result, name, parameters, body, caught: vec![] }))
}

fn predicate_function(context: &Context<'_>, id: PredicateId, predicate: &Predicate) -> Option<(Span, Function)> {
    let computed = predicate.computed()?;
    let computation = &computed.computation;
    let mut locals = Locals::new(&context.names);
    let name = locals.claim(&computed.input.name);
    let writer = Writer { throws: true, ..Writer::new(context, computation, vec![Cpp::name(&name)], locals) };
    let mut body = writer.body();
    body.extend(computation.says.as_ref().map(|says| CppStatement::Return(writer.value(says))));
    let is_used = writer.names(VariableId(0));
    let parameters = vec![passed(&computed.input.ty, if is_used { &name } else { "" })];
    let (result, name) = ("bool".to_owned(), context.names.predicate(id).to_owned());
    Some((predicate.span, Function { result, name, parameters, body, caught: vec![] }))
}

/// A value that is only looked at: a scalar itself, any other by reference.
pub(crate) fn passed(ty: &Type, name: &str) -> Declarator {
    match ty.is_scalar() {
        _ if ty.is_array() => {
            let array = ty.array().to_owned();
            Declarator { ty: format!("const {}", ty.cpp()), name: format!("(&{name})"), array }
        }
        true => Declarator::new(ty.cpp(), name),
        false => Declarator::new(format!("const {} &", ty.cpp()), name),
    }
}
