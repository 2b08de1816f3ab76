//! A process that merges sorted channels (the paper's Listing 3): its channels are connected, and then there is one
//! flow, which reads them to their ends:
//!
//! ```text
//! source flick.Gather("Hadoop([mappers], reducer): mappers > reducer", 0, mappers) => Hadoop;
//! Hadoop = flick.Bind(1, reducer) -> flick.Ready -> flick.Merge<kv, Hadoop_key, Hadoop_combine>(0, 1);
//! ```
//!
//! What elements are ordered by, and what is made of two of one key, are computed nodes, which the merge calls. So are
//! those of the element's module that say how a stream of these ends, if it has some. Where only a number goes from
//! each two elements to the next ([`super::joined`]), it is `flick.MergeNumbers<kv, Hadoop_key, Hadoop_number,
//! Hadoop_combine, Hadoop_made>`.

use super::joined::{self, Joined};
use super::kind::Kind;
use super::lower::{Channel, MODULE, applied, number, parameter, parameter_of};
use super::made::Made;
use super::{Checked, Checker, Reported};
use crate::syntax::{Expression, Foldt, Form, Process, Statement};
use flux_ir::compute::Statement::Set;
use flux_ir::compute::{Computation, Expression as Value, Variable, VariableId};
use flux_ir::program::{Body, Constant, NodeId, Origin, Source};
use flux_ir::types::{Type, TypeKind};
use flux_source::Span;
use std::collections::BTreeSet;

/// What such a process consists of.
pub(super) struct Fold<'syntax> {
    foldt: &'syntax Foldt<'syntax>,
    /// Where what is merged goes.
    to: &'syntax Expression<'syntax>,
    /// Whether it waits until all channels have something.
    awaits_all: bool,
}

/// What a process consists of that merges and sends; none of any other.
pub(super) fn of<'syntax>(process: &'syntax Process<'syntax>) -> Option<Fold<'syntax>> {
    let (block, awaits_all) = match process.block.as_slice() {
        [Statement::If(branches, None, _)] => match branches.as_slice() {
            [(Expression { form: Form::Call(name, _), .. }, block)] if &*name.own == "all_ready" => {
                (block.as_slice(), true)
            }
            _ => return None,
        },
        block => (block, false),
    };
    let (value, steps) = match block {
        [Statement::Let(name, None, value), Statement::Send(Expression { form: Form::Name(sent), .. }, steps)]
            if name.text == sent.own =>
        {
            (value, steps)
        }
        [Statement::Send(value, steps)] => (value, steps),
        _ => return None,
    };
    match (&value.form, steps.as_slice()) {
        (Form::Foldt(foldt), [to]) => Some(Fold { foldt, to, awaits_all }),
        _ => None,
    }
}

impl<'syntax> Checker<'syntax, '_, '_> {
    pub(super) fn lower_fold(
        &mut self,
        process: &'syntax Process<'syntax>,
        channels: &[Channel<'syntax>],
        fold: Fold<'syntax>,
    ) -> Checked<()> {
        let named = |value: &Expression<'_>| match &value.form {
            Form::Name(name) => channels.iter().position(|channel| channel.name == &*name.own),
            _ => None,
        };
        let (from, to) = (named(&fold.foldt.channels).ok_or(Reported)?, named(fold.to).ok_or(Reported)?);
        let (source, target) = (channels.get(from).ok_or(Reported)?, channels.get(to).ok_or(Reported)?);
        let Kind::Channels(ways) = &source.kind else { return Err(Reported) };
        let element = ways.gives.clone().ok_or(Reported)?;
        let span = process.span;

        let (node, mut functions) = self.fold_functions(process, fold.foldt, &element)?;
        functions.extend(self.end_functions(&element).into_iter().flatten());
        let generic = self.scope.generic(Some(MODULE), node).cloned().ok_or(Reported)?;
        let merge = self.scope.instance_calling(&generic, &[element], functions);
        let option = |checker: &Self, module, own| checker.scope.option(Some(module), own).ok_or(Reported);
        let options = [option(self, MODULE, "connect")?, option(self, "dns", "servers")?].map(Constant::Option);
        let constants = [number(from), number(to)].into_iter().chain(options).collect();
        let mut steps = vec![(self.standard("Bind")?, vec![number(to), Constant::Option(target.binding)])];
        if fold.awaits_all {
            steps.push((self.standard("Ready")?, vec![number(from)]));
        }
        steps.push((merge, constants));
        let inputs = vec![parameter("flick::instance", "self", span)];
        let all = self.chain_node(process.name.as_str(), (inputs, vec![]), steps, vec![], span);

        let targets = BTreeSet::from([u32::try_from(to).unwrap_or(u32::MAX)]);
        let what = self.described(process.name.as_str(), channels, [(from, &targets)].into_iter());
        let constants = vec![Constant::Text(what), number(from), Constant::Option(source.binding)];
        let origin = Origin::Node(applied(self.standard("Gather")?, constants, span));
        self.scope.program.sources.push(Source {
            origin,
            session: None,
            target: all,
            arguments: None,
            on_loops: true,
            span,
        });
        Ok(())
    }

    /// Of a message whose module says how its streams end, the two nodes that say it: `count_ends (count one) => (bool
    /// is)`, whether one is the last, and `count_end (uint32 checksum) => (count last)`, which makes that.
    fn end_functions(&self, element: &Type) -> Option<[NodeId; 2]> {
        let TypeKind::Message(id) = element.kind() else { return None };
        let name = &self.scope.program.messages[*id].name;
        let (module, own) = (name.module(), name.own());
        Some([self.scope.node(module, &format!("{own}_ends"))?, self.scope.node(module, &format!("{own}_end"))?])
    }

    /// The node that merges, and what it calls: `Hadoop_key (kv elem) => (text result)`, and what joins two elements.
    fn fold_functions(
        &mut self,
        process: &'syntax Process<'syntax>,
        foldt: &'syntax Foldt<'syntax>,
        element: &Type,
    ) -> Checked<(&'static str, Vec<NodeId>)> {
        let span = foldt.key.span;
        self.made = Made::default();
        self.bind_variable(&foldt.element, element);
        let result = self.new_variable("result", &Type::new("int64"));
        let key = self.value(&foldt.key)?;
        let key_type = key.ty.clone();
        if let Some(variable) = self.made.variables.get_mut(result.index()) {
            variable.ty = key_type.clone();
        }
        self.set(result, key);
        let inputs = [(foldt.element.as_str(), element.clone())];
        let key = self.fold_function(&format!("{}_key", process.name.text), &inputs, &key_type, span);

        self.made = Made::default();
        for name in &foldt.two {
            self.bind_variable(name, element);
        }
        let name = foldt.key_name.as_ref();
        match name {
            Some(name) => self.bind_variable(name, &key_type),
            None => self.new_variable("key", &key_type),
        };
        let result = self.new_variable("result", element);
        let value = self.block_value(&foldt.block, Some(element), span)?;
        self.set(result, value);
        self.bound.clear();
        let (node, combine) = self.combine_functions(&process.name.text, foldt, element, &key_type);
        Ok((node, std::iter::once(key).chain(combine).collect()))
    }

    /// `Hadoop_combine (kv e1, kv e2, text word) => (kv result)`; or `Hadoop_number (kv elem) => (int32 result)`,
    /// `Hadoop_combine (int32 e1, int32 e2, text word) => (int32 result)` and `Hadoop_made (int32 number, text word) =>
    /// (kv result)`.
    fn combine_functions(
        &mut self,
        process: &str,
        foldt: &Foldt<'_>,
        element: &Type,
        key_type: &Type,
    ) -> (&'static str, Vec<NodeId>) {
        let span = foldt.key.span;
        let [first, second] = &foldt.two;
        let key = (foldt.key_name.as_ref().map_or("key", |name| name.as_str()), key_type.clone());
        let two = |ty: &Type| [(first.as_str(), ty.clone()), (second.as_str(), ty.clone()), key.clone()];
        let whole = std::mem::take(&mut self.made);
        let computation = Computation { variables: whole.variables, block: whole.block, says: None };
        let Some(Joined { number, of, combined, made }) = joined::of(self.scope.program, element, &computation) else {
            let combine = self.add_function(&format!("{process}_combine"), &two(element), element, computation, span);
            return ("Merge", vec![combine]);
        };
        let one = [(foldt.element.as_str(), element.clone())];
        let last = [("number", number.clone()), key.clone()];
        let functions = vec![
            self.value_function(&format!("{process}_number"), &one, of, span),
            self.value_function(&format!("{process}_combine"), &two(&number), combined, span),
            self.value_function(&format!("{process}_made"), &last, made, span),
        ];
        ("MergeNumbers", functions)
    }

    /// A function that gives this value.
    fn value_function(&mut self, name: &str, inputs: &[(&str, Type)], value: Value, span: Span) -> NodeId {
        let result = value.ty.clone();
        let all = inputs.iter().map(|(name, ty)| (*name, ty)).chain([("result", &result)]);
        let variables = all.map(|(name, ty)| Variable { name: name.to_owned(), ty: ty.clone() }).collect();
        let set = Set { variable: VariableId::new(inputs.len()), is_new: false, value };
        self.add_function(name, inputs, &result, Computation { variables, block: vec![set], says: None }, span)
    }

    fn fold_function(&mut self, name: &str, inputs: &[(&str, Type)], result: &Type, span: Span) -> NodeId {
        let made = std::mem::take(&mut self.made);
        let computation = Computation { variables: made.variables, block: made.block, says: None };
        self.add_function(name, inputs, result, computation, span)
    }

    fn add_function(
        &mut self,
        name: &str,
        inputs: &[(&str, Type)],
        result: &Type,
        computation: Computation,
        span: Span,
    ) -> NodeId {
        let inputs = inputs.iter().map(|(name, ty)| parameter_of(ty, name, span)).collect();
        let outputs = vec![parameter_of(result, "result", span)];
        self.add_node(name, (inputs, outputs), Body::Computed(computation), span)
    }
}
