//! Plain functions as nodes: `int Find(const std::string &path, page &found)`, called as they are.
//!
//! A function that an included header declares may take a node's inputs one by one and give its outputs by reference,
//! or as its result. [`crate::probe`] finds out how each is passed, so that the call is the one that a person would
//! write.

use crate::names::cpp_name;
use crate::structs::{Side, members};
use crate::tree::{Expression, Statement};
use crate::{AskedFunction, Context};
use flux_contract as contract;
use flux_ir::external::{ExternalId, ExternalRole, Outcome, Passing, PlainFunction};
use flux_ir::program::{Body, Node, Parameter, Program};
use flux_source::{SourceMap, Span};

/// The functions of `program` that are known to be plain: those of nodes by their names, then the others. O(its size).
pub fn declarations(program: &Program, sources: &SourceMap) -> Vec<AskedFunction> {
    let of = |id: ExternalId, span: Span| {
        // What a template is for one type nobody declares.
        let id = Some(id).filter(|id| program.externals[*id].types.is_empty())?;
        let declaration = program.externals[id].plain()?.declaration.clone();
        let (name, asked_by) = (program.externals[id].name.clone(), sources.name_and_line(span));
        Some((id, AskedFunction { name, declaration, asked_by }))
    };
    let nodes = program.nodes.iter().filter_map(|(_, node)| match node.body {
        Body::External(id) => of(id, node.span),
        _ => None,
    });
    let predicates = program.predicates.iter().filter_map(|(_, one)| of(one.external()?, one.span));
    let sessions = program.sources.iter().filter_map(|source| of(source.session?, source.span));
    let mut found: Vec<_> = nodes.chain(predicates).chain(sessions).collect();
    let is_node = |id: ExternalId| program.externals[id].role == ExternalRole::Node;
    found.sort_by(|(left, one), (right, other)| (!is_node(*left), &one.name).cmp(&(!is_node(*right), &other.name)));
    found.dedup_by_key(|(id, _)| *id);
    found.into_iter().map(|(_, declaration)| declaration).collect()
}

impl Context<'_> {
    /// The plain function of a node, if it has one.
    pub(crate) fn plain(&self, node: &Node) -> Option<&PlainFunction> {
        match node.body {
            Body::External(external) => self.flow.program.externals[external].plain(),
            _ => None,
        }
    }

    /// The function of a node, `::tcp::Send`, or of a function template the one for its types.
    pub(crate) fn called(&self, node: &Node) -> Expression {
        let external = match node.body {
            Body::External(external) => self.flow.program.externals.find(external),
            _ => None,
        };
        let name = format!("::{}", cpp_name(external.map_or(&node.name, |external| &external.name)));
        let Some(external) = external.filter(|external| !external.types.is_empty()) else {
            return Expression::name(name);
        };
        let types = external.types.iter().map(|ty| Expression::name(ty.cpp()));
        let functions = external.functions.iter().map(|node| Expression::name(self.names.computed(*node)));
        Expression::Instance(name, types.chain(functions).collect())
    }
}

/// The members of the struct `of` on one side of a node.
pub(crate) fn members_of(of: Option<&str>, node: &Node, side: Side) -> Vec<Expression> {
    let member = |parameter: &Parameter| Expression::name(of.unwrap_or_default()).member(&parameter.name);
    members(node, side).iter().map(member).collect()
}

/// The call of a plain function: with these inputs and the members of the struct `output`, its error in `error`. An
/// input that somebody sees afterwards is copied and not moved: where `is_seen` says so of its place.
pub(crate) fn call_plain(
    (node, called): (&Node, Expression),
    function: &PlainFunction,
    (inputs, output): (Vec<Expression>, Option<&str>),
    error: &str,
    is_seen: impl Fn(usize) -> bool,
) -> Statement {
    let outputs = members_of(output, node, Side::Out);
    let given = inputs.into_iter().chain(outputs.iter().cloned());
    let arguments = given.zip(&function.passing).enumerate().map(|(at, (value, passing))| match passing {
        Passing::Value | Passing::Seen => value,
        Passing::Moved if is_seen(at) => {
            let copy = Expression::name("decltype").call(vec![value.clone()]);
            copy.call(vec![value])
        }
        Passing::Moved => Expression::name("std::move").call(vec![value]),
        Passing::Address => value.address(),
    });
    let call = called.call(arguments.collect());
    match function.outcome {
        Outcome::Nothing => Statement::Run(call),
        Outcome::Error => Statement::Assign(Expression::name(error), call),
        Outcome::Output => match outputs.into_iter().next() {
            Some(output) => Statement::Assign(output, call),
            None => Statement::Run(call),
        },
        Outcome::ExpectedOutput | Outcome::ExpectedSuccess => {
            let taken = outputs.into_iter().filter(|_| function.outcome == Outcome::ExpectedOutput);
            let arguments = std::iter::once(call).chain(taken).collect();
            let take = Expression::name(contract::TAKE.spelling).call(arguments);
            Statement::Assign(Expression::name(error), take)
        }
    }
}
