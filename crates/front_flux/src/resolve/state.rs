//! State that Flux keeps: a constraint for the whole table, one for its rows, and a node for each operation that the
//! file names, `hits.get`, which is called `hits_get` in the model.

use super::Resolver;
use crate::ids;
use crate::syntax::{State, StateOperation, Statement};
use flux_diagnostic::Diagnostic;
use flux_ir::name::Name;
use flux_ir::program::{
    Action, Application, Body, Chain, Constant, Constraint, ConstraintId, Mode, Node, Parameter, Requirement, Scope,
    Signature, Step, StepNumber,
};
use flux_ir::types::Type;

/// The module with the nodes behind the operations.
pub const MODULE: &str = "state";

/// A state, as its operations need it.
struct Table {
    number: u64,
    constraint: ConstraintId,
    rows: ConstraintId,
    key: Parameter,
    value: Parameter,
}

impl<'syntax> Resolver<'syntax, '_, '_> {
    pub(super) fn declare_states(&mut self) {
        let syntax = self.syntax;
        for statement in &syntax.statements {
            let Statement::State(state) = statement else { continue };
            let Some(table) = self.table(state) else { continue };
            let mut used: Vec<StateOperation> = state.used.iter().copied().collect();
            used.sort_unstable();
            for operation in used {
                self.operation(state, &table, operation);
            }
        }
    }

    /// The constraints of a state, and its two columns; none where it has a mistake, which is reported.
    fn table(&mut self, state: &'syntax State<'syntax>) -> Option<Table> {
        let (module, own) = state.name.parts();
        let name = state.name.declared();
        if let Some(first) = self.scope.constraint(module, own) {
            let first = self.scope.program.constraints[first].span;
            let error = Diagnostic::error(
                ids::DUPLICATE_STATE,
                format!("the state `{name}` is declared twice"),
                state.name.span,
            );
            self.report(error.mark(first, "first declared here").help("give one of them another name"));
            return None;
        }
        let number = self.scope.program.constraints.iter().filter(|(_, one)| one.table.is_some()).count() as u64;
        let span = state.span;
        let constraint = self.scope.add_constraint(Constraint { name, scope: Scope::Program, table: None, span });
        let name = Name::of(module, format!("{own}_row"));
        let table = Some(constraint);
        let rows = self.scope.add_constraint(Constraint { name, scope: Scope::Keyed, table, span });
        let key = self.parameters(&state.keys, "key", &state.name).pop()?;
        let value = self.parameters(&state.values, "value", &state.name).pop()?;
        self.check_columns(state, &key, &value).then_some(Table { number, constraint, rows, key, value })
    }

    /// A key is found by its hash, and both are copied and kept.
    fn check_columns(&mut self, state: &State<'_>, key: &Parameter, value: &Parameter) -> bool {
        let is_key = key.ty.is_own() && (key.ty.integer().is_some() || matches!(key.ty.written(), "text" | "bytes"));
        let (headline, span, help) = if !is_key {
            let headline = format!("`{}` cannot be the key of the state `{}`", key.ty, state.name);
            (headline, key.span, "a key is a `text`, `bytes`, or a number such as `uint64`; of more, make a `text`")
        } else if !value.ty.is_own() {
            let headline = format!("the state `{}` cannot keep a `{}`", state.name, value.ty);
            (headline, value.span, "a value is of a type of the language: a number, `text`, a record, a `list`")
        } else {
            return true;
        };
        self.report(Diagnostic::error(ids::STATE_COLUMN, headline, span).help(help));
        false
    }

    /// The node of an operation: what `std.state` has, of this table, with the constraints of what it does.
    fn operation(&mut self, state: &State<'_>, table: &Table, operation: StateOperation) {
        let number = |value: u64| Constant::Integer(i64::try_from(value).unwrap_or(i64::MAX));
        let mut constants = vec![number(table.number)];
        let instance = match self.scope.generic(Some(MODULE), operation.node()).cloned() {
            Some(generic) => {
                constants.extend([number(state.most), number(state.kept_ms)]);
                self.scope.instance(&generic, &[table.key.ty.clone(), table.value.ty.clone()])
            }
            // Those that are the same for all tables; none where the module is not there, which is reported.
            None => match self.scope.node(Some(MODULE), operation.node()) {
                Some(node) => node,
                None => return,
            },
        };
        let (key, value) = (|| table.key.clone(), || table.value.clone());
        let whole = |name: &str, ty: Type| Parameter { ty, name: name.to_owned(), span: state.span };
        let given = self.scope.program.nodes[instance].outputs().first().map(|output| output.ty.clone());
        let (inputs, outputs) = match operation {
            StateOperation::Get | StateOperation::Delete => (vec![key()], vec![value()]),
            StateOperation::Insert | StateOperation::Update | StateOperation::Upsert => (vec![key(), value()], vec![]),
            StateOperation::All => (vec![], given.map(|ty| whole(&state.name.own, ty)).into_iter().collect()),
            StateOperation::Count => (vec![], given.map(|ty| whole("count", ty)).into_iter().collect()),
            StateOperation::Clear => (vec![], vec![]),
        };
        let application =
            Application { node: instance, constants, named: vec![], arguments: None, kept: vec![], span: state.span };
        let step = Step { number: StepNumber::default(), action: Action::Apply(application), within: None };
        let mut chain = Chain { steps: vec![step], results: None, span: state.span };
        chain.number_steps();
        let (module, own) = state.name.parts();
        let node = Node {
            name: Name::of(module, format!("{own}_{}", operation.name())),
            signature: Some(Signature { inputs, outputs, defaults: vec![], inferred: false }),
            body: Body::Chain(chain),
            requirements: requirements(table, operation, state),
            blocking: false,
            replicable: false,
            stack: None,
            span: state.span,
        };
        let id = self.scope.add_node(node, state.name.span);
        self.scope.declare_node(id, state.name.span);
    }

    /// The constraint of the rows of a table.
    pub(super) fn rows_of(&self, table: ConstraintId) -> Option<ConstraintId> {
        self.scope.program.constraints.iter().find(|(_, one)| one.table == Some(table)).map(|(id, _)| id)
    }
}

/// An operation by key holds its table with others that do the same, and then the row.
fn requirements(table: &Table, operation: StateOperation, state: &State<'_>) -> Vec<Requirement> {
    let span = state.span;
    let whole = |mode| Requirement { constraint: table.constraint, mode, key: vec![], span };
    let row = |mode| vec![whole(Mode::Intent), Requirement { constraint: table.rows, mode, key: vec![0], span }];
    match operation {
        StateOperation::Get => row(Mode::Read),
        StateOperation::Insert | StateOperation::Update | StateOperation::Upsert | StateOperation::Delete => {
            row(Mode::Write)
        }
        StateOperation::All | StateOperation::Count => vec![whole(Mode::Read)],
        StateOperation::Clear => vec![whole(Mode::Write)],
    }
}
