//! One step of a function: the structs, the constraints, the call, and what happens when it fails.
//!
//! A node is called in a `try` block that also holds its constraints, so that these are released whatever way the node
//! ends and before its failure is handled. A generated function does not throw: it says how it ended.

use crate::Context;
use crate::compute::moved_inputs;
use crate::function::{Writer, declare_error};
use crate::names::{cpp_name, word};
use crate::plain::{call_plain, members_of};
use crate::shape::{Part, Shape, handler_shape, node_shape, session_shape};
use crate::structs::{Side, function_structs, node_struct, struct_name};
use crate::tree::{Declarator, Expression, Initial, Statement};
use crate::uses::UseOfValue;
use flux_contract as contract;
use flux_ir::compute::Computation;
use flux_ir::error_code::ErrorPart;
use flux_ir::external::{ExternalId, ExternalRole};
use flux_ir::flow::{Acquisition, Callee, Exit, Function, FunctionId, Operand, Role, Step, StepId};
use flux_ir::program::{Body, ConstraintId, Mode, Node, NodeId, Parameter, Requirement, Scope};
use flux_ir::types::{Type, TypeKind, record_fields};

impl Writer<'_> {
    /// The statements of a step; `failed` is the step whose failure block it is in.
    pub(crate) fn step(&mut self, step: &Step, failed: Option<StepId>, out: &mut Vec<Statement>) {
        out.extend(self.step_comment(step).map(Statement::Comment));
        match &step.callee {
            Callee::Node(node) => self.call_node(step, *node, failed, out),
            Callee::External { external, node } => match self.context.flow.program.externals[*external].role {
                ExternalRole::Session => self.call_session(step, *external, *node, out),
                _ => self.call_handler(step, *external, *node, failed, out),
            },
            Callee::Function(callee) => self.call_function(step, *callee, out),
            Callee::Fork(branches) => self.fork(step, branches, out),
            Callee::Each(each) => self.each(step, each, out),
        }
    }

    /// `image.flux:25: StoreInCache, within 2s, holding cache`; nothing where the comment over the function says the
    /// same.
    fn step_comment(&self, step: &Step) -> Option<String> {
        let statement = self.context.statement(step.span);
        let nodes = &self.context.flow.program.nodes;
        let held = step.acquire.iter().map(|taken| {
            let moved = taken.provenance.whom().map(|node| format!(" (for {})", nodes[node].name));
            self.context.flow.taken_text(step, taken) + &moved.unwrap_or_default()
        });
        let held: Vec<_> = held.collect();
        let mut said = statement.trim_end_matches(';').to_owned();
        if let Some(time) = &step.within {
            said.push_str(&format!(", within {}", self.context.flow.program.duration_text(time)));
        }
        if !held.is_empty() {
            said.push_str(&format!(", holding {}", held.join(", ")));
        }
        if step.within.is_some() || !held.is_empty() {
            return Some(said);
        }
        (step.span != self.function.span).then_some(statement)
    }

    fn call_node(&mut self, step: &Step, id: NodeId, failed: Option<StepId>, out: &mut Vec<Statement>) {
        let context = self.context;
        let node = &context.flow.program.nodes[id];
        if let Body::Computed(computation) = &node.body {
            return self.call_computed(step, (id, computation), failed, out);
        }
        let plain = context.plain(node);
        let shape = node_shape(context, node);
        let of = |side, part| shape.takes(part).then(|| struct_name(node, side)).or_else(|| node_struct(node, side));
        let looks = plain.is_some_and(|plain| plain.looks(node.inputs().len()));
        let input = of(Side::In, Part::Input).filter(|_| !looks);
        let input = self.declare_inputs(step, input, &word(&node.name), out);
        let output = self.declare_outputs(step, of(Side::Out, Part::Output), &word(&node.name), out);
        let arguments = self.arguments(&shape, input.as_deref(), output.as_deref(), failed);
        let error = self.error_of_call(node, failed, out);
        let call = Expression::name(format!("::{}", cpp_name(&node.name))).call(arguments);
        let call = match plain {
            Some(function) => {
                let values = match looks {
                    true => step.inputs.iter().zip(node.inputs()).map(|(one, of)| self.take(one, of, false)).collect(),
                    false => members_of(input.as_deref(), node, Side::In),
                };
                call_plain((node, self.context.called(node)), function, (values, output.as_deref()), &error, |at| {
                    self.uses.is_changed(step.id, at)
                })
            }
            None if shape.returns() => Statement::Assign(Expression::name(&error), call),
            None => Statement::Run(call),
        };
        self.guard(step, input.as_deref(), (context.names.node(id), error), call, out)
    }

    /// A computed node looks at its inputs where they are. What it hands on it takes, or is given a copy of.
    fn call_computed(
        &mut self,
        step: &Step,
        (id, computation): (NodeId, &Computation),
        failed: Option<StepId>,
        out: &mut Vec<Statement>,
    ) {
        let node = &self.context.flow.program.nodes[id];
        let moved = moved_inputs(computation, node.inputs().len());
        let mut arguments = vec![];
        for (index, (operand, parameter)) in step.inputs.iter().zip(node.inputs()).enumerate() {
            let last = self.uses.is_last(UseOfValue::Argument(step.id, index));
            let value = self.take(operand, parameter, last && moved.contains(&index));
            let is_copied = moved.contains(&index) && !last;
            arguments.push(if is_copied { Expression::name(parameter.ty.cpp()).call(vec![value]) } else { value });
        }
        let output = self.declare_outputs(step, node_struct(node, Side::Out), &word(&node.name), out);
        arguments.extend(output.map(Expression::name));
        let error = self.error_of_call(node, failed, out);
        let call = Expression::name(self.context.names.computed(id)).call(arguments);
        let call = Statement::Assign(Expression::name(&error), call);
        self.guard(step, None, (self.context.names.node(id), error), call, out)
    }

    /// The variable for the error of a node: that of the block, or, where it handles a failure, its own.
    fn error_of_call(&mut self, node: &Node, failed: Option<StepId>, out: &mut Vec<Statement>) -> String {
        match failed {
            None => self.error.clone(),
            Some(_) => self.own_error(&word(&node.name), out),
        }
    }

    /// A plain function does not return an error: it fails only by throwing. It is given the struct of the node that
    /// failed where that is still as the node left it.
    fn call_handler(
        &mut self,
        step: &Step,
        external: ExternalId,
        node: NodeId,
        failed: Option<StepId>,
        out: &mut Vec<Statement>,
    ) {
        let context = self.context;
        let node = &context.flow.program.nodes[node];
        let function = &context.flow.program.externals[external].name;
        let shape = handler_shape(context, external, node);
        let ty = shape.takes(Part::Input).then(|| struct_name(node, Side::In));
        let is_left = step.inputs.iter().any(|operand| matches!(operand, Operand::Changed(..)));
        let left = failed.filter(|_| is_left).and_then(|failed| self.inputs.get(&failed)).cloned();
        let input = left.or_else(|| self.declare_inputs(step, ty, &word(function), out));
        let arguments = self.arguments(&shape, input.as_deref(), None, failed);
        let error = self.own_error(&word(function), out);
        let call = Statement::Run(Expression::name(format!("::{}", cpp_name(function))).call(arguments));
        self.guard(step, input.as_deref(), (context.names.handler(external), error), call, out)
    }

    /// What a function that takes structs is called with.
    fn arguments(
        &mut self,
        shape: &Shape,
        input: Option<&str>,
        output: Option<&str>,
        failed: Option<StepId>,
    ) -> Vec<Expression> {
        let pointer =
            |name: Option<&str>| name.map_or(Expression::name("nullptr"), |name| Expression::name(name).address());
        let argument = |part: &Part| match part {
            Part::Input => pointer(input),
            Part::Output => pointer(output),
            Part::Error => self.error_of(failed),
        };
        shape.parts.iter().map(argument).collect()
    }

    /// A session function cannot fail; where it throws, that is the function's fault.
    fn call_session(&mut self, step: &Step, external: ExternalId, node: NodeId, out: &mut Vec<Statement>) {
        let function = &self.context.flow.program.externals[external].name;
        let node = &self.context.flow.program.nodes[node];
        let source = match self.function.role {
            Role::Run(source) => source,
            Role::Abstract(_) | Role::Branch(_) | Role::Produce(_) => 0,
        };
        let Some((_, shape)) = session_shape(self.context, external, source) else { return };
        let given = self.input.clone();
        self.reads_input |= shape.takes(Part::Output);
        let ty = shape.takes(Part::Input).then(|| struct_name(node, Side::In));
        let input = self.declare_inputs(step, ty, &word(function), out);
        let is_plain = self.context.flow.program.externals[external].plain().is_some();
        let member =
            |parameter: &Parameter| Expression::name(input.as_deref().unwrap_or_default()).member(&parameter.name);
        let arguments = match is_plain {
            true => node.inputs().iter().map(member).collect(),
            false => self.arguments(&shape, input.as_deref(), Some(&given), None),
        };
        let session = Expression::name(format!("::{}", cpp_name(function))).call(arguments);
        out.push(Statement::Run(self.on_flow(contract::SET_SESSION, vec![session])));
    }

    /// Declares the error of a step in a failure block, where that of the step that failed is still wanted.
    fn own_error(&mut self, stem: &str, out: &mut Vec<Statement>) -> String {
        let error = self.locals.claim(&format!("{stem}_error"));
        out.push(declare_error(&error));
        error
    }

    /// The call of a C++ function under its constraints, and what happens when it fails. `input` is the variable with
    /// its inputs, `number` its number in the table of nodes and `error` the variable for its error.
    fn guard(
        &mut self,
        step: &Step,
        input: Option<&str>,
        (number, error): (&str, String),
        call: Statement,
        out: &mut Vec<Statement>,
    ) {
        let (number, variable) = (Expression::name(number), Expression::name(&error));
        if self.keeps_error && error == self.error {
            self.keeps_error = false;
            // A function that returns no error leaves the one that is there.
            if !matches!(&call, Statement::Assign(to, _) if *to == variable) {
                out.push(Statement::Assign(variable.clone(), Expression::name(0)));
            }
        }
        let scope = self.locals.enter();
        let mut guarded = self.deadline(step);
        guarded.extend(self.holds(step, input));
        guarded.extend(self.counted_call(step, number.clone(), input, call));
        self.locals.leave(scope);
        let caught = Statement::Assign(variable.clone(), self.exception());
        out.push(Statement::Try(guarded, vec![caught]));
        self.errors.insert(step.id, error);
        let mut first = vec![Statement::Run(self.on_flow(contract::FAILED_IN, vec![number, variable.clone()]))];
        let scope = self.locals.enter();
        self.declare_error_texts(step, &mut first);
        let failure = self.failure(step, first);
        self.locals.leave(scope);
        out.push(Statement::If(variable.compare("!=", Expression::name(0)), failure, vec![]));
    }

    /// The call of a C++ function, and that it is counted, with what it is given. One that blocks is called where the
    /// runtime says.
    fn counted_call(
        &mut self,
        step: &Step,
        number: Expression,
        input: Option<&str>,
        call: Statement,
    ) -> Vec<Statement> {
        let count = Statement::Run(self.count(step, number, input));
        let nodes = &self.context.flow.program.nodes;
        let Callee::Node(node) = step.callee else { return vec![count, call] };
        let call = self.on_stack(nodes[node].stack, call);
        let call = match nodes[node].blocking {
            true => {
                let function = Expression::name(&self.flow).member(contract::BESIDE_LOOPS.spelling);
                Statement::RunWith(function, vec![], vec![call])
            }
            false => call,
        };
        vec![count, call]
    }

    /// That the node of this number is called, and what it is given.
    fn count(&mut self, step: &Step, number: Expression, input: Option<&str>) -> Expression {
        let arguments = std::iter::once(number).chain(self.given_values(step, input)).collect();
        self.on_flow(contract::CALL, arguments)
    }

    /// The call of a function, on a stack of so many bytes where it has one for itself.
    fn on_stack(&self, bytes: Option<u64>, call: Statement) -> Statement {
        let Some(bytes) = bytes else { return call };
        let function = Expression::name(&self.flow).member(contract::ON_STACK.spelling);
        Statement::RunWith(function, vec![Expression::name(bytes)], vec![call])
    }

    /// The failure block of a step, after what comes `first` in it.
    fn failure(&mut self, step: &Step, first: Vec<Statement>) -> Vec<Statement> {
        let mut statements = first;
        let scope = self.locals.enter();
        self.block(&step.failure, Some(step.id), &mut statements);
        self.locals.leave(scope);
        statements
    }

    /// The deadline of a step, where it has one. It stands before the constraints, so what waits for them counts.
    pub(crate) fn deadline(&mut self, step: &Step) -> Vec<Statement> {
        let Some(time_ms) = &step.within else { return vec![] };
        let arguments = vec![Expression::name(&self.flow), self.context.constant(time_ms)];
        let declarator = Declarator::constant(contract::WITHIN.spelling, self.locals.claim("limit"));
        vec![Statement::Variable(declarator, Initial::Arguments(arguments))]
    }

    /// The constraints of a step, in the one order; all keys of one constraint together. `input` is the variable with
    /// the inputs of the step, where it has some.
    fn holds(&mut self, step: &Step, input: Option<&str>) -> Vec<Statement> {
        let together = step.acquire.chunk_by(|left, right| left.constraint == right.constraint);
        together.map(|taken| self.hold(step, taken, input)).collect()
    }

    fn hold(&mut self, step: &Step, taken: &[Acquisition], input: Option<&str>) -> Statement {
        let id = taken.first().map_or(ConstraintId::new(0), |first| first.constraint);
        let constraint = &self.context.flow.program.constraints[id];
        let ty = match constraint.scope {
            Scope::Program => contract::HOLD,
            Scope::Session => contract::HOLD_SESSION,
            Scope::Keyed => contract::HOLD_KEYS,
        };
        let mode = |one: &Acquisition| match one.mode {
            Mode::Read => Expression::name(contract::MODE_READ.spelling),
            Mode::Intent => Expression::name(contract::MODE_INTENT.spelling),
            Mode::Write => Expression::name(contract::MODE_WRITE.spelling),
        };
        let how: Vec<_> = taken
            .iter()
            .map(|one| match constraint.scope {
                Scope::Program | Scope::Session => mode(one),
                Scope::Keyed => {
                    let values = one.key.iter().flat_map(|operand| self.key_values(step, operand, input));
                    let arguments = std::iter::once(mode(one)).chain(values).collect();
                    Expression::name(contract::KEY.spelling).call(arguments)
                }
            })
            .collect();
        let lock = self.context.names.lock(id);
        let arguments = [&self.flow, lock].map(Expression::name).into_iter().chain(how).collect();
        let name = self.locals.claim(&format!("hold_{}", word(&constraint.name)));
        Statement::Variable(Declarator::constant(ty.spelling, name), Initial::Arguments(arguments))
    }

    /// A value of a key: a constant, or one that the step is given, and may by now be nowhere but in its inputs. Of a
    /// record its fields.
    fn key_values(&mut self, step: &Step, operand: &Operand, input: Option<&str>) -> Vec<Expression> {
        let given = step.inputs.iter().position(|one| one == operand);
        let parameter = given.and_then(|at| self.context.flow.callee_inputs(&step.callee).get(at));
        match (operand, input, parameter) {
            (Operand::Constant(constant), ..) => vec![self.context.constant(constant)],
            (_, Some(input), Some(parameter)) => {
                self.key_parts(Expression::name(input).member(&parameter.name), &parameter.ty)
            }
            (_, None, Some(parameter)) => {
                let value = self.read(operand);
                self.key_parts(value, &parameter.ty)
            }
            _ => vec![Expression::name(0)],
        }
    }

    /// What makes a key of a value: the fields of a record, and theirs.
    fn key_parts(&self, value: Expression, ty: &Type) -> Vec<Expression> {
        let TypeKind::Record(id) = ty.kind() else { return vec![value] };
        let fields = record_fields(&self.context.flow.program, *id).iter();
        fields.flat_map(|field| self.key_parts(value.clone().member(&field.name), &field.ty)).collect()
    }

    fn call_function(&mut self, step: &Step, callee: FunctionId, out: &mut Vec<Statement>) {
        let context = self.context;
        let function = &context.flow.functions[callee];
        let stem = stem(context, function);
        let (input, output) = function_structs(context.flow, function);
        let input = self.declare_inputs(step, input, &stem, out);
        let output = self.declare_outputs(step, output, &stem, out);
        let path = self.begin_path(step, &stem, out);
        let structs = input.iter().chain(&output);
        let arguments = std::iter::once(&self.flow).chain(structs).map(Expression::name).collect();
        let call = Expression::name(&function.name).call(arguments);
        let number = function.node().map(|node| Expression::name(context.names.node(node)));
        let count = number.map(|number| Statement::Run(self.count(step, number, input.as_deref())));
        let before = count.into_iter().collect();
        let outcome = self.call_holding(step, &stem, input.as_deref(), (before, call), out);
        if let Some(path) = path.as_ref().filter(|_| step.paths.cut) {
            let arguments = [path, context.names.function(callee), &outcome].map(Expression::name).to_vec();
            out.push(Statement::Run(self.on_flow(contract::CUT_PATH, arguments)));
        }
        let path = path.filter(|_| !step.paths.cut);
        self.unless_ended(step, &outcome, path.as_deref(), out);
        self.after_call(step, &stem, &outcome, path.as_deref(), out)
    }

    /// Runs what comes `before` a call and the call under the constraints of the step, whose inputs are in the variable
    /// `input`; gives the variable with its outcome.
    pub(crate) fn call_holding(
        &mut self,
        step: &Step,
        stem: &str,
        input: Option<&str>,
        (before, call): (Vec<Statement>, Expression),
        out: &mut Vec<Statement>,
    ) -> String {
        let outcome = self.locals.claim(&format!("{stem}_outcome"));
        if step.acquire.is_empty() && step.within.is_none() && !self.may_undo(step) {
            out.extend(before);
            let variable = Declarator::constant(contract::OUTCOME.spelling, &outcome);
            out.push(Statement::Variable(variable, Initial::Value(call)));
            return outcome;
        }
        let scope = self.locals.enter();
        let mut guarded = self.deadline(step);
        guarded.extend(self.holds(step, input));
        guarded.extend(self.state_changes(step, &outcome));
        guarded.extend(before);
        guarded.push(Statement::Assign(Expression::name(&outcome), call));
        self.locals.leave(scope);
        let unless_called = Initial::Value(Expression::name(contract::OUTCOME_FAILED.spelling));
        out.push(Statement::Variable(Declarator::new(contract::OUTCOME.spelling, &outcome), unless_called));
        out.push(Statement::Scope(guarded));
        outcome
    }

    /// Whether a step calls an atomic node that may change more than one thing of a state: what it has changed is
    /// undone where it fails.
    fn may_undo(&self, step: &Step) -> bool {
        let Callee::Function(callee) = step.callee else { return false };
        let (function, program) = (&self.context.flow.functions[callee], &self.context.flow.program);
        let requirements = function.node().map_or(&[][..], |node| &program.nodes[node].requirements);
        let is_table = |id: ConstraintId| program.constraints.iter().any(|(_, one)| one.table == Some(id));
        let changes = |one: &Requirement| one.mode != Mode::Read && is_table(one.constraint);
        function.body.all_steps().len() > 1 && requirements.iter().any(changes)
    }

    /// Where such a node notes what it changes.
    fn state_changes(&mut self, step: &Step, outcome: &str) -> Option<Statement> {
        if !self.may_undo(step) {
            return None;
        }
        let declarator = Declarator::constant(contract::STATE_CHANGES.spelling, self.locals.claim("changes"));
        let arguments = [&self.flow, outcome].map(Expression::name).to_vec();
        Some(Statement::Variable(declarator, Initial::Arguments(arguments)))
    }

    /// The ways on from a function that was called: done or failed.
    pub(crate) fn after_call(
        &mut self,
        step: &Step,
        stem: &str,
        outcome: &str,
        path: Option<&str>,
        out: &mut Vec<Statement>,
    ) {
        let mut first = self.end_path(step, path, Exit::Failed);
        let scope = self.locals.enter();
        if self.uses.reads_error(step.id, ErrorPart::Code) {
            let error = self.locals.claim(&format!("{stem}_error"));
            let value = Initial::Value(self.on_flow(contract::ERROR, vec![]));
            first.push(Statement::Variable(Declarator::constant("int", &error), value));
            self.errors.insert(step.id, error);
        }
        self.declare_error_texts(step, &mut first);
        let failure = self.failure(step, first);
        self.locals.leave(scope);
        let done = self.end_path(step, path, Exit::Done);
        // Where the failure block joins the way of success, it does so only after that has its path number.
        let joins = step.failure.end.rejoins().is_some();
        let (otherwise, after) = if joins { (done, vec![]) } else { (vec![], done) };
        out.push(Statement::If(is(outcome, contract::OUTCOME_FAILED), failure, otherwise));
        out.extend(after);
    }

    /// Declares what handlers read of the failure of a step besides its code. The flow has it until the next failure,
    /// which may be a handler's.
    fn declare_error_texts(&mut self, step: &Step, out: &mut Vec<Statement>) {
        for (part, member) in [(ErrorPart::Text, contract::ERROR_TEXT), (ErrorPart::Node, contract::ERROR_NODE)] {
            if self.uses.reads_error(step.id, part) {
                let variable = self.locals.claim(part.name());
                let declarator = Declarator::new(part.parameter().ty.cpp(), &variable);
                out.push(Statement::Variable(declarator, Initial::Value(self.on_flow(member, vec![]))));
                self.error_texts.insert((step.id, part), variable);
            }
        }
    }

    /// Saves the path register before a call, where it may be in use; gives the variable with it.
    pub(crate) fn begin_path(&mut self, step: &Step, stem: &str, out: &mut Vec<Statement>) -> Option<String> {
        let path = step.paths.save.then(|| self.locals.claim(&format!("{stem}_path")))?;
        let variable = Declarator::constant(contract::PATH_NUMBER.spelling, &path);
        out.push(Statement::Variable(variable, Initial::Value(self.on_flow(contract::BEGIN_PATH, vec![]))));
        Some(path)
    }

    /// Leaves the function where what was called has ended the flow, if it can.
    pub(crate) fn unless_ended(&self, step: &Step, outcome: &str, path: Option<&str>, out: &mut Vec<Statement>) {
        if step.paths.radix.ended > 0 {
            let mut ended = self.end_path(step, path, Exit::Ended);
            ended.push(self.leave(contract::ENDED, step.paths.ended_offset));
            out.push(Statement::If(is(outcome, contract::OUTCOME_ENDED), ended, vec![]));
        }
    }

    /// Combines the path register with what it was before the call, where that was saved.
    fn end_path(&self, step: &Step, path: Option<&str>, exit: Exit) -> Vec<Statement> {
        let radix = step.paths.radix.get(exit);
        let end = |path: &str| self.on_flow(contract::END_PATH, vec![Expression::name(path), Expression::name(radix)]);
        path.map(end).map(Statement::Run).into_iter().collect()
    }
}

/// What the locals of a call are named after.
fn stem(context: &Context<'_>, function: &Function) -> String {
    match function.role {
        Role::Abstract(node) => word(&context.flow.program.nodes[node].name),
        Role::Branch(_) | Role::Produce(_) | Role::Run(_) => function.name.clone(),
    }
}

/// `outcome == flux::outcome::failed`
fn is(outcome: &str, which: contract::Symbol) -> Expression {
    Expression::name(outcome).compare("==", Expression::name(which.spelling))
}
