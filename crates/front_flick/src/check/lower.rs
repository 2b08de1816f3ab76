//! Lowers processes to the model. A channel that values come from is a source of flows, one flow for each value, in the
//! order of the values. The rules of the channel are one computation, which says what to send. The next step sends it:
//!
//! ```text
//! source flick.Messages("Proxy(client, [backends]): …", 0, client, command) => Proxy_client;
//! Proxy_client = Proxy_backends_count -> Proxy_client_rules -> flick.Deliver;
//! ```
//!
//! State is loaded before the computation and stored after it. Its constraint is held from the load to the store.

use super::kind::{Kind, Ways};
use super::limit::Limit;
use super::made::{End, Fact, Made, MadeRule, first_value, read};
use super::send::{IN_ORDER, IS_MARK, REPLIES};
use super::{Binding, Checked, Checker, Reported, Stands};
use super::{event, fold, once};
use crate::ids as own_ids;
use crate::syntax::{Declaration, Event, Expression, Form, Parameter, Process, Rule, State, Statement, Syntax};
use flux_diagnostic::{Diagnostic, Severity};
use flux_ir::compute::{Computation, Term, VariableId, any_expression, sets};
use flux_ir::message::has_streams;
use flux_ir::name;
use flux_ir::program::{
    Action, Application, Body, Chain, Constant, Constraint, ConstraintId, Mode, Node, NodeId, OptionId, OptionKind,
    Origin, Parameter as ModelParameter, Requirement, Scope as ConstraintScope, ServerOption, Signature, Source, Step,
    StepNumber,
};
use flux_ir::types::{Type, TypeKind};
use flux_source::Span;
use std::collections::{BTreeMap, BTreeSet};

/// The module that processes run on.
pub(super) const MODULE: &str = "flick";

/// A channel of a process.
pub(super) struct Channel<'syntax> {
    pub name: &'syntax str,
    pub kind: Kind,
    /// The most channels in the array, if the process limits them.
    pub most: Option<u64>,
    /// The option that binds it.
    pub binding: OptionId,
}

/// State that rules may name: a `local` of the process, or a `global`.
pub(super) struct Known<'syntax> {
    state: &'syntax State<'syntax>,
    ty: Type,
    is_global: bool,
    /// The constraint that is held while the state is used. For local state, the instance is its key.
    guard: ConstraintId,
    slot: usize,
}

/// A body that becomes one computation.
#[derive(Clone, Copy)]
pub(super) enum Work<'a, 'syntax> {
    /// The rules for values from a channel, or for one of its error events.
    Rules(&'a [&'syntax Rule<'syntax>]),
    /// The statements of a process without rules.
    Statements(&'syntax [Statement<'syntax>]),
}

impl<'syntax> Work<'_, 'syntax> {
    /// Returns the place at which it begins, and the first rule.
    fn first(self) -> Option<(Span, Option<&'syntax Rule<'syntax>>)> {
        match self {
            Self::Rules(rules) => rules.first().map(|rule| (rule.span, Some(*rule))),
            Self::Statements(block) => block.first().map(|statement| (statement.span(), None)),
        }
    }
}

/// The needs of the rules of one channel, beside their message.
#[derive(Clone, Default, PartialEq)]
pub(super) struct Needs {
    /// The facts about their instance.
    facts: BTreeSet<Fact>,
    /// The state that they name, by its place, and whether they change it.
    state: BTreeMap<usize, bool>,
    /// The channels that they send to.
    pub targets: BTreeSet<u32>,
    /// The arrays in which they may send to several channels in one instance.
    pub varied: BTreeSet<u32>,
}

impl<'syntax> Checker<'syntax, '_, '_> {
    /// Adds the checked processes to the program.
    pub(super) fn lower(&mut self, syntax: &'syntax Syntax<'syntax>) {
        if self.scope.module_called(MODULE).is_none() {
            return; // no process, or a file that is read alone
        }
        self.lowers = true;
        let mut globals = vec![];
        for declaration in &syntax.declarations {
            if let Declaration::Global(state) = declaration {
                globals.push((state, self.guard(state, state.field.name.as_str(), ConstraintScope::Program)));
            }
        }
        for declaration in &syntax.declarations {
            if let Declaration::Process(process) = declaration
                && !self.report_unlowered(process)
                && self.lower_process(process, &globals).is_err()
                && self.scope.diagnostics.count(Severity::Error) == 0
            {
                // This is a compiler bug. Without the error, the server would lack this process.
                self.report_not_lowered(process.name.span, "this is a fault of the compiler: say so, with the program");
            }
        }
    }

    /// Adds the constraint that guards state.
    fn guard(&mut self, state: &State<'_>, name: &str, scope: ConstraintScope) -> ConstraintId {
        let name = name::Name::of(self.scope.module(), name);
        self.scope.add_constraint(Constraint { name, scope, table: None, span: state.span })
    }

    /// Reports parts of a process that no server can run yet. Returns whether there are any.
    fn report_unlowered(&mut self, process: &'syntax Process<'syntax>) -> bool {
        let is_fold = fold::of(process).is_some();
        let found = if is_fold { vec![] } else { once::merges(&process.block) };
        for span in &found {
            let help = "a process that has a `foldt` has nothing else: `let r = foldt …` and `r => reducer`";
            self.report_not_lowered(*span, help);
        }
        !found.is_empty()
    }

    /// Reports a construct that is valid, but cannot run yet.
    pub(super) fn report_not_lowered(&mut self, span: Span, help: &str) -> Reported {
        let headline = "this is checked, and no server can do it yet";
        self.scope.diagnostics.push(Diagnostic::error(own_ids::NOT_LOWERED, headline, span).help(help));
        Reported
    }

    fn lower_process(
        &mut self,
        process: &'syntax Process<'syntax>,
        globals: &[(&'syntax State<'syntax>, ConstraintId)],
    ) -> Checked<()> {
        let channels = self.channels(process)?;
        if let Some(fold) = fold::of(process) {
            return self.lower_fold(process, &channels, fold);
        }
        let mut known = vec![];
        for (slot, (state, guard)) in globals.iter().copied().enumerate() {
            known.push(Known { state, ty: self.ty(&state.field.ty)?, is_global: true, guard, slot });
        }
        for (at, state) in process.locals.iter().enumerate() {
            let name = format!("{}_{}", process.name.text, state.field.name.text);
            let guard = self.guard(state, &name, ConstraintScope::Keyed);
            let slot = globals.len() + at;
            known.push(Known { state, ty: self.ty(&state.field.ty)?, is_global: false, guard, slot });
        }
        if !process.block.is_empty() {
            return self.lower_once(process, &channels, &known);
        }
        let mut lowered = vec![];
        for (at, channel) in channels.iter().enumerate() {
            let rules = rules_for(process, channel.name, None);
            if !rules.is_empty() {
                let (computation, needs, given) = self.settled_body(&channels, Work::Rules(&rules), &known)?;
                lowered.push((at, (computation, given.ok_or(Reported)?), needs));
            }
        }
        let answers = self.answers(process, &channels, &known)?;
        let feeds = lowered.iter().map(|(at, _, needs)| (*at, &needs.targets));
        let feeds = feeds.chain(answers.iter().map(|answer| (answer.at, &answer.needs.targets)));
        let what = self.described(process.name.as_str(), &channels, feeds) + &event::described(&answers, &channels);
        let all_needs = || lowered.iter().map(|(_, _, needs)| needs).chain(answers.iter().map(|answer| &answer.needs));
        let varied: BTreeSet<u32> = all_needs().flat_map(|needs| needs.varied.clone()).collect();
        let fed_by = |to: u32| all_needs().filter(|needs| needs.targets.contains(&to)).count();
        let relayed: Vec<Option<(u32, bool)>> = lowered
            .iter()
            .map(|(at, _, _)| {
                let (to, from) = (passed_on(process, &channels, *at)?, u32::try_from(*at).ok()?);
                let is_array = channels.get(*at).is_some_and(|from| matches!(from.kind, Kind::Channels(_)));
                // An array has a single connection if only one source feeds it and always sends to the same channel.
                // Otherwise there may be several. Their bytes would be mixed, so the array relays whole messages.
                let is_one = !is_array || fed_by(from) == 1 && !varied.contains(&from);
                // Requests to a channel are counted if they say how many replies they have. Such a channel gets no
                // relay.
                let is_counted = channels.get(to as usize).is_some_and(|to| self.counts(&to.kind, REPLIES));
                (!is_counted && fed_by(to) == 1).then_some((to, !is_one))
            })
            .collect();
        for ((at, (computation, given), needs), relayed) in lowered.into_iter().zip(relayed) {
            if let Some(relayed) = relayed {
                self.add_relay(process, (&channels, at), &what, relayed)?;
                continue;
            }
            self.add_source(process, (&channels, at), &what, &given)?;
            self.add_rules(process, (&channels, at), &known, (computation, &needs), &given)?;
        }
        answers.into_iter().try_for_each(|answer| self.add_answer(process, &channels, &known, &what, answer))
    }

    /// Returns the computation of a body, its needs, and the type of its message. The first build finds the needs.
    /// Further builds use them, until the needs no longer change.
    pub(super) fn settled_body(
        &mut self,
        channels: &[Channel<'syntax>],
        work: Work<'_, 'syntax>,
        known: &[Known<'syntax>],
    ) -> Checked<(Computation, Needs, Option<Type>)> {
        let mut needs = Needs { state: (0..known.len()).map(|at| (at, true)).collect(), ..Needs::default() };
        let mut body = self.body_of(channels, work, known, &needs)?;
        while body.1 != needs {
            needs = body.1;
            body = self.body_of(channels, work, known, &needs)?;
        }
        Ok((body.0, needs, body.2))
    }

    /// Returns the channels of a process, each with the option that binds it.
    fn channels(&mut self, process: &'syntax Process<'syntax>) -> Checked<Vec<Channel<'syntax>>> {
        let mut found = vec![];
        for parameter in &process.parameters {
            let (Parameter::Channel(channel), (Some(kind), _)) = (parameter, self.parameter(parameter)) else {
                return Err(Reported);
            };
            let own = channel.name.as_str();
            let module = self.scope.module().map(str::to_owned);
            let is_taken = self.scope.option(module.as_deref(), own).is_some();
            let name = if is_taken { format!("{}_{own}", process.name.text) } else { own.to_owned() };
            let option = ServerOption {
                name: name::Name::of(module, name),
                kind: OptionKind::Text,
                default: Some(Constant::Text(String::new())),
                about: format!(
                    "The addresses of the channel `{own}` of `{}`, and what else binds it",
                    process.name.text
                ),
                span: channel.span,
            };
            let binding = self.scope.add_option(option, channel.name.span);
            let most = channel.array.flatten();
            found.push(Channel { name: own, kind, most, binding });
        }
        Ok(found)
    }

    /// Builds the computation of a body with the needs that are known so far. Also returns the needs that it found, and
    /// the type of its message.
    fn body_of(
        &mut self,
        channels: &[Channel<'syntax>],
        work: Work<'_, 'syntax>,
        known: &[Known<'syntax>],
        needs: &Needs,
    ) -> Checked<(Computation, Needs, Option<Type>)> {
        self.made = Made::default();
        let sending = self.scope.declared_type(Some(MODULE), "sending").ok_or(Reported)?;
        let sending = Type::declared(self.scope.program, sending);
        let mut told = BTreeMap::new();
        for fact in &needs.facts {
            told.insert(*fact, self.new_variable(&fact.name(channels), &fact.ty()));
        }
        let loaded: Vec<VariableId> = self.state_variables(known, needs.state.keys());
        let (first, rule) = work.first().ok_or(Reported)?;
        self.bound = channels.iter().enumerate().map(|(at, channel)| channel.binding_at(at, first)).collect();
        let given = rule.map(|rule| self.given(rule)).transpose()?;
        let message = given.as_ref().map(|given| (self.new_variable("message", given), given));
        let stored = self.state_variables(known, needs.state.iter().filter(|(_, changes)| **changes).map(|(at, _)| at));
        let sends = self.new_variable("sends", &Type::list_of(&sending));
        let (told, asked) = (told, BTreeSet::new());
        self.made.rule = Some(MadeRule {
            sends,
            sending: sending.clone(),
            known: told,
            asked,
            targets: BTreeSet::new(),
            elements: vec![],
        });
        let mut stored = stored.into_iter();
        let mut places = BTreeMap::new();
        for ((state, changes), loaded) in needs.state.iter().zip(loaded) {
            let Some(one) = known.get(*state) else { continue };
            let place = if *changes { stored.next().ok_or(Reported)? } else { loaded };
            if *changes {
                self.set(place, read(loaded, &one.ty, one.state.span));
            }
            places.insert(*state, place);
            self.made.limits.insert(place, Limit::of(&one.state.field.ty));
            self.bind_state(one, place);
        }
        self.set(sends, first_value(&Type::list_of(&sending), first).ok_or(Reported)?);
        let before = self.made.block.len();
        match (work, message) {
            (Work::Rules(rules), Some((message, given))) => {
                for rule in rules {
                    self.scoped(|checker| checker.steps(read(message, given, rule.channel.span), &rule.steps))?;
                }
            }
            (Work::Statements(block), _) => self.block(block)?,
            (Work::Rules(_), None) => return Err(Reported),
        }
        self.bound.clear();
        let made = std::mem::take(&mut self.made);
        let rule = made.rule.ok_or(Reported)?;
        let computation = Computation { variables: made.variables, block: made.block, says: None };
        let own = computation.block.get(before..).unwrap_or_default();
        let used = places.into_iter().filter_map(|(state, place)| {
            let changes = sets(own, place);
            let reads = any_expression(own, &mut |one| one.term == Term::Variable(place));
            (changes || reads).then_some((state, changes))
        });
        let varied = rule.varied(own);
        let needs = Needs { facts: rule.asked, state: used.collect(), targets: rule.targets, varied };
        Ok((computation, needs, given))
    }

    fn state_variables<'at>(
        &mut self,
        known: &[Known<'_>],
        which: impl Iterator<Item = &'at usize>,
    ) -> Vec<VariableId> {
        let which: Vec<_> = which.filter_map(|at| known.get(*at)).collect();
        which.into_iter().map(|one| self.new_variable(one.state.field.name.as_str(), &one.ty)).collect()
    }

    /// Makes the name of the state stand for this variable from here on.
    fn bind_state(&mut self, one: &Known<'syntax>, place: VariableId) {
        let name = one.state.field.name.as_str();
        let (kind, stands) = (Some(Kind::Value(one.ty.clone())), Stands::Variable(place));
        match self.globals.iter_mut().find(|global| one.is_global && global.name == name) {
            Some(global) => global.stands = stands,
            None => self.bound.push(Binding { name, kind, is_state: true, stands, span: one.state.span }),
        }
    }

    /// Adds `source flick.Messages("Proxy(…): …", 0, client, command) => Proxy_client;`
    fn add_source(
        &mut self,
        process: &'syntax Process<'syntax>,
        (channels, at): (&[Channel<'syntax>], usize),
        what: &str,
        given: &Type,
    ) -> Checked<()> {
        let channel = channels.get(at).ok_or(Reported)?;
        let generic = self.scope.generic(Some(MODULE), "Messages").cloned().ok_or(Reported)?;
        let node = self.scope.instance(&generic, std::slice::from_ref(given));
        let constants = vec![Constant::Text(what.to_owned()), number(at), Constant::Option(channel.binding)];
        let origin = Origin::Node(applied(node, constants, process.span));
        let inputs = vec![
            parameter("flux::connection *", "connection", process.span),
            parameter("flick::instance", "self", process.span),
            ModelParameter { ty: given.clone(), name: "message".to_owned(), span: process.span },
        ];
        let name = format!("{}_{}", process.name.text, channel.name);
        let target = self.add_node(&name, (inputs, vec![]), Body::Dispatch(vec![]), process.span);
        self.scope.program.sources.push(Source {
            origin,
            session: None,
            target,
            arguments: None,
            on_loops: true,
            span: process.span,
        });
        Ok(())
    }

    /// Adds the source of a channel whose bytes are relayed unchanged:
    /// `source flick.Bytes("Proxy(…): …", 1, servers) => Proxy_servers;`. If whole messages are relayed, the source is
    /// `flick.Batches`: messages that arrive together share one flow.
    fn add_relay(
        &mut self,
        process: &'syntax Process<'syntax>,
        (channels, at): (&[Channel<'syntax>], usize),
        what: &str,
        (to, is_whole): (u32, bool),
    ) -> Checked<()> {
        let (span, channel) = (process.span, channels.get(at).ok_or(Reported)?);
        let target = channels.get(to as usize).ok_or(Reported)?;
        let (Kind::Channel(Ways { gives: Some(given), .. }) | Kind::Channels(Ways { gives: Some(given), .. })) =
            &channel.kind
        else {
            return Err(Reported);
        };
        let node = if is_whole { self.standard_of("Batches", given)? } else { self.standard("Bytes")? };
        let constants = vec![Constant::Text(what.to_owned()), number(at), Constant::Option(channel.binding)];
        let origin = Origin::Node(applied(node, constants, span));
        let mut inputs =
            vec![parameter("flux::connection *", "connection", span), parameter("flick::instance", "self", span)];
        if is_whole {
            inputs.push(ModelParameter { ty: given.clone(), name: "message".to_owned(), span });
        }
        let relay = if is_whole { "RelayBatch" } else { "Relay" };
        let steps = vec![
            (self.standard("Bind")?, vec![number(to as usize), Constant::Option(target.binding)]),
            (self.standard_of(relay, given)?, vec![number(to as usize)]),
        ];
        let name = format!("{}_{}", process.name.text, channel.name);
        let target = self.chain_node(&name, (inputs, vec![]), steps, vec![], span);
        self.scope.program.sources.push(Source {
            origin,
            session: None,
            target,
            arguments: None,
            on_loops: true,
            span,
        });
        Ok(())
    }

    /// Adds the steps after the source: the rules, and the delivery of their messages.
    fn add_rules(
        &mut self,
        process: &'syntax Process<'syntax>,
        (channels, at): (&[Channel<'syntax>], usize),
        known: &[Known<'syntax>],
        rules: (Computation, &Needs),
        given: &Type,
    ) -> Checked<()> {
        let channel = channels.get(at).ok_or(Reported)?;
        let name = format!("{}_{}", process.name.text, channel.name);
        let mut steps = self.rule_steps(process, channels, (&name, Some(given)), known, rules)?;
        steps.push((self.standard("Deliver")?, vec![]));
        let target = self.own_node(&name).ok_or(Reported)?;
        if !rules_for(process, channel.name, Some(Event::Failed)).is_empty() {
            steps = self.failing(process, (&name, at), target, steps)?;
        }
        self.scope.program.nodes[target].body = Body::Chain(chain(steps, process.span));
        Ok(())
    }

    /// Returns the steps that load the needs of the rules, run the rules, and bind the channels that they send to.
    pub(super) fn rule_steps(
        &mut self,
        process: &'syntax Process<'syntax>,
        channels: &[Channel<'syntax>],
        (name, given): (&str, Option<&Type>),
        known: &[Known<'syntax>],
        (computation, needs): (Computation, &Needs),
    ) -> Checked<Vec<(NodeId, Vec<Constant>)>> {
        let span = process.span;
        let instance = || parameter("flick::instance", "self", span);
        let message = given.map(|given| parameter_of(given, "message", span));
        let (mut steps, mut inputs, mut outputs) = (vec![], vec![], vec![]);
        for fact in &needs.facts {
            let told = parameter_of(&fact.ty(), &fact.name(channels), span);
            steps.push((self.telling(process, channels, fact, &told)?, vec![]));
            inputs.push(told);
        }
        for at in needs.state.keys() {
            let one = known.get(*at).ok_or(Reported)?;
            inputs.push(parameter_of(&one.ty, one.state.field.name.as_str(), span));
            steps.push((self.load(process, one)?, vec![]));
        }
        inputs.extend(message.clone());
        let changed: Vec<&Known<'_>> =
            needs.state.iter().filter(|(_, changes)| **changes).filter_map(|(at, _)| known.get(*at)).collect();
        outputs.extend(changed.iter().map(|one| parameter_of(&one.ty, one.state.field.name.as_str(), span)));
        let sending = self.scope.declared_type(Some(MODULE), "sending").ok_or(Reported)?;
        let sends = parameter_of(&Type::list_of(&Type::declared(self.scope.program, sending)), "sends", span);
        outputs.push(sends.clone());
        let body = Body::Computed(computation);
        steps.push((self.add_node(&format!("{name}_rules"), (inputs, outputs), body, span), vec![]));
        for one in &changed {
            steps.push((self.store(process, one)?, vec![]));
        }
        let requirements = self.requirements(known, needs);
        if !requirements.is_empty() {
            let signature = (std::iter::once(instance()).chain(message).collect(), vec![sends]);
            let guarded = self.chain_node(&format!("{name}_state"), signature, steps, requirements, span);
            steps = vec![(guarded, vec![])];
        }
        let binds = self.standard("Bind")?;
        for target in &needs.targets {
            let channel = channels.get(*target as usize).ok_or(Reported)?;
            steps.push((binds, vec![number(*target as usize), Constant::Option(channel.binding)]));
        }
        Ok(steps)
    }

    /// Returns the constraints that are held while state is loaded, used and stored. They are needed because flows of
    /// one event loop take turns between nodes, and inside computed loops. The key of local state is its instance, the
    /// first input of the node.
    fn requirements(&self, known: &[Known<'_>], needs: &Needs) -> Vec<Requirement> {
        let named = needs.state.iter().filter_map(|(at, changes)| Some((known.get(*at)?, *changes)));
        let required = named.map(|(one, changes)| {
            let mode = if changes { Mode::Write } else { Mode::Read };
            let key = if one.is_global { vec![] } else { vec![0] };
            Requirement { constraint: one.guard, mode, key, span: one.state.span }
        });
        required.collect()
    }

    /// Finds a node of this module.
    fn own_node(&self, name: &str) -> Option<NodeId> {
        self.scope.node(self.scope.module(), name)
    }

    /// Adds `Proxy_backends_count`, which gives a fact of a channel. All rules share it.
    fn telling(
        &mut self,
        process: &'syntax Process<'syntax>,
        channels: &[Channel<'syntax>],
        fact: &Fact,
        told: &ModelParameter,
    ) -> Checked<NodeId> {
        let name = format!("{}_{}", process.name.text, told.name);
        if let Some(known) = self.own_node(&name) {
            return Ok(known);
        }
        let span = process.span;
        let channel = channels.get(fact.channel() as usize).ok_or(Reported)?;
        let constants = vec![number(fact.channel() as usize), Constant::Option(channel.binding)];
        let asks = vec![(self.standard(fact.node())?, constants)];
        let signature = (vec![parameter("flick::instance", "self", span)], vec![told.clone()]);
        Ok(self.chain_node(&name, signature, asks, vec![], span))
    }

    /// Adds `Proxy_load_seen`, which loads the state of an instance, or the state of all instances.
    fn load(&mut self, process: &'syntax Process<'syntax>, one: &Known<'syntax>) -> Checked<NodeId> {
        let span = one.state.span;
        let name = format!("{}_load_{}", process.name.text, one.state.field.name.text);
        if let Some(known) = self.own_node(&name) {
            return Ok(known);
        }
        self.made = Made::default();
        let output = self.new_variable("first", &one.ty);
        let value = match &one.state.first {
            Some(first) => self.wanted(first, &one.ty)?,
            None => first_value(&one.ty, span).ok_or(Reported)?,
        };
        self.set(output, value);
        let made = std::mem::take(&mut self.made);
        let computation = Computation { variables: made.variables, block: made.block, says: None };
        let first = format!("{}_first_{}", process.name.text, one.state.field.name.text);
        let signature = (vec![], vec![parameter_of(&one.ty, "first", span)]);
        let first = self.add_node(&first, signature, Body::Computed(computation), span);
        let load = self.standard_of(if one.is_global { "LoadGlobal" } else { "Load" }, &one.ty)?;
        let outputs = vec![parameter_of(&one.ty, one.state.field.name.as_str(), span)];
        let inputs = vec![parameter("flick::instance", "self", span)];
        let steps = vec![(first, vec![]), (load, vec![number(one.slot)])];
        Ok(self.chain_node(&name, (inputs, outputs), steps, vec![], span))
    }

    /// Adds `Proxy_store_seen`, which stores that state.
    fn store(&mut self, process: &'syntax Process<'syntax>, one: &Known<'syntax>) -> Checked<NodeId> {
        let span = one.state.span;
        let name = format!("{}_store_{}", process.name.text, one.state.field.name.text);
        if let Some(known) = self.own_node(&name) {
            return Ok(known);
        }
        let store = self.standard_of(if one.is_global { "StoreGlobal" } else { "Store" }, &one.ty)?;
        let inputs = vec![
            parameter("flick::instance", "self", span),
            parameter_of(&one.ty, one.state.field.name.as_str(), span),
        ];
        Ok(self.chain_node(&name, (inputs, vec![]), vec![(store, vec![number(one.slot)])], vec![], span))
    }

    /// Describes a process: its channels, and which channel sends to which. An example is
    /// `Proxy(client, [backends?]): client > backends, backends > client`. Suffixes describe a channel. With `?`,
    /// messages to it say how many replies they have. With `!`, these replies come in the order of the requests. With
    /// `|`, a reply says whether it is a mark. With `~`, replies come in streams, or no rule reads them.
    pub(super) fn described<'of>(
        &self,
        name: &str,
        channels: &[Channel<'_>],
        feeds: impl Iterator<Item = (usize, &'of BTreeSet<u32>)>,
    ) -> String {
        let own = |at: usize| channels.get(at).map_or("", |channel| channel.name);
        let feeds: Vec<_> = feeds.collect();
        let all = channels.iter().enumerate().map(|(at, channel)| {
            let is_whole = feeds.iter().any(|(from, _)| *from == at) && !self.gives_streams(&channel.kind);
            let is_counted = self.counts(&channel.kind, REPLIES);
            let is_ordered = is_counted && self.counts(&channel.kind, IN_ORDER);
            let has_marks = is_ordered && self.gives_marks(&channel.kind);
            let said = [(is_counted, "?"), (is_ordered, "!"), (has_marks, "|"), (is_counted && !is_whole, "~")];
            let counted: String = said.iter().filter(|(is_so, _)| *is_so).map(|(_, mark)| *mark).collect();
            match channel.kind {
                Kind::Channels(_) => {
                    let most = channel.most.map_or_else(String::new, |most| format!("{{{most}}}"));
                    format!("[{}{counted}]{most}", channel.name)
                }
                _ => format!("{}{counted}", channel.name),
            }
        });
        let all: Vec<String> = all.collect();
        let pairs = feeds.iter().flat_map(|(from, targets)| targets.iter().map(|to| (*from, *to as usize)));
        let pairs: Vec<String> = pairs.map(|(from, to)| format!("{} > {}", own(from), own(to))).collect();
        format!("{name}({}): {}", all.join(", "), pairs.join(", "))
    }

    /// Returns whether messages that a channel takes say this of their replies.
    fn counts(&self, kind: &Kind, what: &str) -> bool {
        let (Kind::Channel(ways) | Kind::Channels(ways)) = kind else { return false };
        let taken = ways.takes.as_ref();
        ways.gives.is_some() && taken.is_some_and(|taken| self.says(taken, what))
    }

    /// Returns whether messages from a channel say which of them is a mark.
    fn gives_marks(&self, kind: &Kind) -> bool {
        let (Kind::Channel(ways) | Kind::Channels(ways)) = kind else { return false };
        ways.gives.as_ref().is_some_and(|given| self.says(given, IS_MARK))
    }

    /// Returns whether messages from a channel have streams.
    fn gives_streams(&self, kind: &Kind) -> bool {
        let (Kind::Channel(ways) | Kind::Channels(ways)) = kind else { return false };
        let Some(TypeKind::Message(id)) = ways.gives.as_ref().map(Type::kind) else { return false };
        has_streams(&self.scope.program.messages, *id)
    }

    /// Returns a node of the module that processes run on.
    pub(super) fn standard(&mut self, own: &str) -> Checked<NodeId> {
        self.scope.node(Some(MODULE), own).ok_or(Reported)
    }

    /// Returns an instance of a generic node of that module, for this type.
    fn standard_of(&mut self, own: &str, ty: &Type) -> Checked<NodeId> {
        let generic = self.scope.generic(Some(MODULE), own).cloned().ok_or(Reported)?;
        Ok(self.scope.instance(&generic, std::slice::from_ref(ty)))
    }

    pub(super) fn chain_node(
        &mut self,
        name: &str,
        signature: (Vec<ModelParameter>, Vec<ModelParameter>),
        steps: Vec<(NodeId, Vec<Constant>)>,
        requirements: Vec<Requirement>,
        span: Span,
    ) -> NodeId {
        let id = self.add_node(name, signature, Body::Chain(chain(steps, span)), span);
        self.scope.program.nodes[id].requirements = requirements;
        id
    }

    pub(super) fn add_node(
        &mut self,
        name: &str,
        (inputs, outputs): (Vec<ModelParameter>, Vec<ModelParameter>),
        body: Body,
        span: Span,
    ) -> NodeId {
        let node = Node {
            name: name::Name::of(self.scope.module(), name),
            signature: Some(Signature { inputs, outputs, defaults: vec![], inferred: false }),
            body,
            requirements: vec![],
            blocking: false,
            replicable: false,
            stack: None,
            span,
        };
        let id = self.scope.add_node(node, span);
        self.scope.declare_node(id, span);
        id
    }
}

impl<'syntax> Channel<'syntax> {
    /// Returns the binding of its name in rules. The channel is the parameter at this place.
    fn binding_at(&self, at: usize, span: Span) -> Binding<'syntax> {
        let end = End { channel: u32::try_from(at).unwrap_or(u32::MAX), element: None };
        let (kind, stands) = (Some(self.kind.clone()), Stands::End(end));
        Binding { name: self.name, kind, is_state: false, stands, span }
    }
}

impl Fact {
    fn channel(self) -> u32 {
        match self {
            Self::Count(channel)
            | Self::All(channel)
            | Self::LeastBusy(channel)
            | Self::Peer(channel)
            | Self::Peers(channel) => channel,
        }
    }

    /// The node that gives the fact.
    fn node(self) -> &'static str {
        match self {
            Self::Count(_) => "Count",
            Self::All(_) => "All",
            Self::LeastBusy(_) => "LeastBusy",
            Self::Peer(_) => "Peer",
            Self::Peers(_) => "Peers",
        }
    }

    fn ty(self) -> Type {
        Type::new(match self {
            Self::Count(_) | Self::LeastBusy(_) => "int64",
            Self::All(_) => "list<uint64>",
            Self::Peer(_) => "text",
            Self::Peers(_) => "list<text>",
        })
    }

    /// Returns the name of the fact: `backends_count`.
    fn name(self, channels: &[Channel<'_>]) -> String {
        let channel = channels.get(self.channel() as usize).map_or("", |channel| channel.name);
        format!("{channel}_{}", self.node().to_lowercase())
    }
}

/// Returns the rules for the values of a channel, or for an event of the channel if there is one.
pub(super) fn rules_for<'syntax>(
    process: &'syntax Process<'syntax>,
    channel: &str,
    event: Option<Event>,
) -> Vec<&'syntax Rule<'syntax>> {
    let is_it = |rule: &&Rule<'_>| rule.channel.as_str() == channel && rule.event.map(|(event, _)| event) == event;
    process.rules.iter().filter(is_it).collect()
}

/// Returns the channel to which the only rule of another channel sends all its values unchanged. Returns none if the
/// process must inspect the values. A rule for faults of the sending channel, or for connection faults of the receiving
/// channel, needs that.
fn passed_on(process: &Process<'_>, channels: &[Channel<'_>], at: usize) -> Option<u32> {
    let from = channels.get(at)?;
    let rules = rules_for(process, from.name, None);
    let [rule] = rules.as_slice() else { return None };
    let [Expression { form: Form::Name(name), .. }] = rule.steps.as_slice() else { return None };
    let to = channels.iter().position(|channel| channel.name == &*name.own)?;
    let is_judged = |rule: &Rule<'_>| match rule.event {
        None => false,
        Some((Event::Broken | Event::Unreachable, _)) => [from.name, &*name.own].contains(&rule.channel.as_str()),
        // These events come from values of a channel, or from a rule for them.
        Some((Event::Malformed | Event::Failed, _)) => rule.channel.as_str() == from.name,
    };
    if process.rules.iter().any(is_judged) {
        return None;
    }
    let (Kind::Channel(from) | Kind::Channels(from), Kind::Channel(into)) = (&from.kind, &channels.get(to)?.kind)
    else {
        return None;
    };
    (from.gives == into.takes).then(|| u32::try_from(to).ok()).flatten()
}

pub(super) fn number(value: usize) -> Constant {
    Constant::Integer(i64::try_from(value).unwrap_or(i64::MAX))
}

pub(super) fn parameter(ty: &str, name: &str, span: Span) -> ModelParameter {
    parameter_of(&Type::new(ty), name, span)
}

pub(super) fn parameter_of(ty: &Type, name: &str, span: Span) -> ModelParameter {
    ModelParameter { ty: ty.clone(), name: name.to_owned(), span }
}

pub(super) fn applied(node: NodeId, constants: Vec<Constant>, span: Span) -> Application {
    Application { node, constants, named: vec![], arguments: None, kept: vec![], span }
}

fn chain(steps: Vec<(NodeId, Vec<Constant>)>, span: Span) -> Chain {
    let step = |(node, constants)| Step {
        number: StepNumber::default(),
        action: Action::Apply(applied(node, constants, span)),
        within: None,
    };
    let mut chain = Chain { steps: steps.into_iter().map(step).collect(), results: None, span };
    chain.number_steps();
    chain
}
