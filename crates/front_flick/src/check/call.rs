//! Calls of built-in functions, of functions of the program, and of types. A call of a type makes a value of the type.

use super::kind::{Kind, Signature, spelled};
use super::lower::MODULE;
use super::made::{End, Fact, read};
use super::types::built_in;
use super::value::{Typed, truth};
use super::{Binding, Checked, Checker, Reported, Stands};
use crate::ids as own_ids;
use crate::syntax::{Argument, Expression as Written, Form, Function};
use flux_diagnostic::{Diagnostic, nearest};
use flux_front::scope::{Kind as NameKind, Located};
use flux_front_flux::ids;
use flux_front_flux::syntax::QualifiedName;
use flux_ir::compute::{self, Callable, Expression, Term, VariableId};
use flux_ir::message::{Given, MessageId, given_type};
use flux_ir::program::{NodeId, TypeBody, TypeId};
use flux_ir::types::{Declared, Type};
use flux_source::Span;

/// The built-in functions: their names, and their usage.
const FUNCTIONS: [(&str, &str); 9] = [
    ("len", "`len(backends)`: how many there are"),
    ("hash", "`hash(req.key)`: a number of a value, the same wherever it is computed"),
    ("all_ready", "`all_ready(mappers)`: whether each of the channels has something to read, or has ended"),
    ("peer", "`peer(client)`: the address of who is at the other end"),
    ("host", "`host(client)`: the same without its port"),
    ("nearest", "`nearest(backends, req.key)`: the index of the channel that a key is at home at"),
    ("least_busy", "`least_busy(servers)`: which channel of an array that is sent to has the fewest requests open"),
    ("min", "`min(a, b)`: the smaller of two numbers"),
    ("max", "`max(a, b)`: the larger of two numbers"),
];

/// Whether a built-in function has this name.
pub(super) fn is_built_in(name: &str) -> bool {
    FUNCTIONS.iter().any(|(own, _)| *own == name)
}

impl<'syntax> Checker<'syntax, '_, '_> {
    /// A call: `name(e, e)`.
    pub(super) fn call(
        &mut self,
        name: &'syntax QualifiedName<'syntax>,
        arguments: &'syntax [Argument<'syntax>],
        span: Span,
    ) -> Checked<Typed> {
        let (module, own) = name.parts();
        if module.is_none() {
            if is_built_in(own) {
                return self.built_in_call(own, arguments, span).map(Typed::Value);
            }
            if let Some(ty) = built_in(own) {
                return self.conversion(&ty, arguments, span).map(Typed::Value);
            }
            if self.functions.contains_key(own) {
                return self.function_call(name, arguments, None);
            }
        } else if let Some(node) = self.node_of_module(name) {
            return self.module_call(node, name, arguments, span).map(Typed::Value);
        }
        match self.made(name)? {
            Some(Declared::Message(id)) => self.message(id, arguments, span).map(Typed::Value),
            Some(Declared::Record(id)) => self.record(id, arguments, span).map(Typed::Value),
            Some(Declared::Enum(_)) | None => Err(self.report_unknown_function(name)),
        }
    }

    /// The node of a module that has this name.
    fn node_of_module(&self, name: &QualifiedName<'_>) -> Option<NodeId> {
        let (module, own) = name.parts();
        self.scope.node(Some(self.scope.module_called(module?)?), own)
    }

    /// A call of a node in a module. Bodies in `.flux` could call the node, too.
    fn module_call(
        &mut self,
        id: NodeId,
        name: &QualifiedName<'_>,
        arguments: &'syntax [Argument<'syntax>],
        span: Span,
    ) -> Checked<Expression> {
        let values: Vec<_> = arguments.iter().map(|argument| self.value(&argument.value)).collect();
        let values = values.into_iter().collect::<Checked<Vec<_>>>()?;
        let node = &self.scope.program.nodes[id];
        let [output] = node.outputs() else { return Err(self.report_not_callable(name)) };
        let (inputs, ty) = (node.inputs().to_vec(), output.ty.clone());
        let is_value = inputs.iter().map(|input| &input.ty).chain([&ty]).all(Type::is_value);
        let is_named = arguments.iter().any(|argument| argument.field.is_some());
        if !is_value || is_named || !self.scope.can_be_called(id) {
            return Err(self.report_not_callable(name));
        }
        let values = self.typing().arguments(&name.to_string(), &inputs, values, span);
        let values = values.map_err(|mistake| {
            let error = Diagnostic::error(own_ids::CALL_MISMATCH, mistake.headline, mistake.span);
            self.report(error.help(mistake.help))
        })?;
        Ok(self.typing().apply(Callable::Node(id), values, &ty, span))
    }

    fn report_not_callable(&mut self, name: &QualifiedName<'_>) -> Reported {
        let headline = format!("`{name}` is no function that can be called here");
        let error = Diagnostic::error(own_ids::CALL_MISMATCH, headline, name.span);
        self.report(error.help("call nodes of modules that compute one value of values, which have no names in a call"))
    }

    /// The record or message that a call makes.
    fn made(&mut self, name: &'syntax QualifiedName<'syntax>) -> Checked<Option<Declared>> {
        let (module, own) = name.parts();
        if let Some(view) = self.views.get(own).filter(|_| module.is_none()) {
            return Ok(Some(Declared::Message(view.message)));
        }
        if module.is_none() {
            return Ok(self.scope.declared_type(self.scope.module(), own));
        }
        match self.scope.locate(NameKind::Type, module, own, name.span) {
            Located::In(module) => self.scope.declared_type(module.as_deref(), own).map(Some).ok_or(Reported),
            Located::Nowhere => Err(Reported),
        }
    }

    pub(super) fn report_unknown_function(&mut self, name: &QualifiedName<'_>) -> Reported {
        let (_, own) = name.parts();
        let types = self.names.iter().filter(|(_, (_, what))| *what == "type").map(|(name, _)| *name);
        let functions = self.functions.keys().copied().chain(FUNCTIONS.map(|(name, _)| name));
        let help = match (self.names.get(own), nearest(own, functions.chain(types))) {
            (Some((_, what)), _) => format!("`{own}` is a {what}"),
            (None, Some(meant)) => format!("did you mean `{meant}`?"),
            (None, None) => format!("declare it: `fun {own} : (…) -> (…)`"),
        };
        let error = Diagnostic::error(ids::UNKNOWN_FUNCTION, format!("there is no function `{own}`"), name.span);
        self.report(error.help(help))
    }

    /// The value of a call of a built-in function.
    fn built_in_call(
        &mut self,
        name: &str,
        arguments: &'syntax [Argument<'syntax>],
        span: Span,
    ) -> Checked<Expression> {
        let wanted = if matches!(name, "min" | "max" | "nearest") { 2 } else { 1 };
        let integer = built_in("integer").ok_or(Reported)?;
        let (Some(first), true) = (arguments.first(), arguments.len() == wanted) else {
            return Err(self.report_built_in(name, span));
        };
        if let [first, second] = arguments {
            if name == "nearest" {
                return self.nearest([&first.value, &second.value], span);
            }
            return self.one_of_two(name, [&first.value, &second.value], span);
        }
        let function = if name == "len" { compute::Function::Length } else { compute::Function::Hash };
        let called = match (name, self.expression(&first.value)?) {
            ("len" | "hash", Typed::Value(value)) => self.typing().call(function, vec![value], span),
            ("len", Typed::Other(Kind::Channels(_), end)) => {
                Ok(self.fact(Fact::Count(channel(end.as_ref())), &integer, span))
            }
            ("least_busy", Typed::Other(Kind::Channels(ways), end)) if ways.takes.is_some() => {
                Ok(self.fact(Fact::LeastBusy(channel(end.as_ref())), &integer, span))
            }
            ("all_ready", Typed::Other(Kind::Channels(ways), _)) if ways.gives.is_some() => {
                if self.made.rule.is_some() {
                    let help = "a `foldt` that is sent to a channel can wait for that: `if all_ready(channels):`";
                    return Err(self.report_not_lowered(span, help));
                }
                Ok(Expression { term: Term::Truth(true), ty: truth(), span })
            }
            ("peer" | "host", Typed::Other(Kind::Channel(_), end)) => {
                let text = built_in("string").ok_or(Reported)?;
                let peer = self.peer(end, &text, span);
                if name == "peer" { peer } else { peer.map(|peer| self.of_module("Host", vec![peer], &text, span)) }
            }
            _ => return Err(self.report_built_in(name, first.value.span)),
        };
        let Ok(called) = called else { return Err(self.report_built_in(name, first.value.span)) };
        // The model gives a length the type of an index. In this language a length may be any number.
        let converted =
            if called.ty.integer().is_some() { self.typing().convert(called, &integer, span) } else { Ok(called) };
        self.typed(converted)
    }

    /// The address of the peer at the other end.
    fn peer(&mut self, end: Option<End>, text: &Type, span: Span) -> Result<Expression, Box<compute::Mistake>> {
        match end {
            Some(End { channel, element: Some(index) }) => {
                let all = self.fact(Fact::Peers(channel), &Type::list_of(text), span);
                self.typing().element(all, index, span)
            }
            other => Ok(self.fact(Fact::Peer(channel(other.as_ref())), text, span)),
        }
    }

    /// A call of a node in the module of processes. Without a process the module does not exist, and no code runs.
    fn of_module(&self, node: &str, arguments: Vec<Expression>, ty: &Type, span: Span) -> Expression {
        match self.scope.node(Some(MODULE), node) {
            Some(node) => self.typing().apply(Callable::Node(node), arguments, ty, span),
            None => read(VariableId::new(0), ty, span),
        }
    }

    /// `nearest(backends, req.key)`: consistent hashing.
    fn nearest(&mut self, [channels, key]: [&'syntax Written<'syntax>; 2], span: Span) -> Checked<Expression> {
        let text = built_in("string").ok_or(Reported)?;
        let of = self.expression(channels)?;
        let key = self.wanted(key, &text)?;
        let Typed::Other(Kind::Channels(_), end) = of else {
            return Err(self.report_built_in("nearest", channels.span));
        };
        let integer = built_in("integer").ok_or(Reported)?;
        let peers = self.fact(Fact::Peers(channel(end.as_ref())), &Type::list_of(&text), span);
        Ok(self.of_module("Nearest", vec![peers, key], &integer, span))
    }

    /// A call of `min(a, b)` or `max(a, b)`. In the model both functions take a list.
    fn one_of_two(&mut self, name: &str, two: [&'syntax Written<'syntax>; 2], span: Span) -> Checked<Expression> {
        let (first, second) = (self.value(two[0]), self.value(two[1]));
        let list = self.typing().list(vec![first?, second?], span);
        let list = self.typed(list)?;
        let settled = self.typing().settle(list);
        let list = self.typed(settled)?;
        let function = if name == "min" { compute::Function::Min } else { compute::Function::Max };
        let called = self.typing().call(function, vec![list], span);
        called.map_err(|_| self.report_built_in(name, span))
    }

    fn report_built_in(&mut self, name: &str, span: Span) -> Reported {
        let how = FUNCTIONS.iter().find(|(own, _)| *own == name).map_or("", |(_, how)| *how);
        let error = Diagnostic::error(own_ids::CALL_MISMATCH, format!("`{name}` is not given what it takes"), span);
        self.report(error.help(format!("write {how}")))
    }

    /// A conversion of a value to another type: `string(e)`.
    fn conversion(&mut self, to: &Type, arguments: &'syntax [Argument<'syntax>], span: Span) -> Checked<Expression> {
        let [only] = arguments else {
            let headline = format!("`{}` converts one value", spelled(to));
            let error = Diagnostic::error(own_ids::CALL_MISMATCH, headline, span);
            return Err(self.report(error.help(format!("write `{}(…)` of each", spelled(to)))));
        };
        let value = self.value(&only.value)?;
        let converted = self.typing().convert(value, to, span);
        self.typed(converted)
    }

    /// A call of a function of the program. A rule may have given the last value, which is `piped`.
    pub(super) fn function_call(
        &mut self,
        name: &'syntax QualifiedName<'syntax>,
        arguments: &'syntax [Argument<'syntax>],
        piped: Option<Expression>,
    ) -> Checked<Typed> {
        let (_, own) = name.parts();
        let Some(signature) = self.functions.get(own).cloned() else {
            return Err(self.report_unknown_function(name));
        };
        let given = arguments.len() + usize::from(piped.is_some());
        if given != signature.parameters.len() {
            return Err(self.report_count(name, &signature, given, piped.is_some()));
        }
        let (mut found, mut result) = (vec![], Ok(()));
        for (argument, (parameter, kind, is_state)) in arguments.iter().zip(&signature.parameters) {
            match self.argument(argument, (own, parameter), kind.as_ref(), *is_state) {
                Ok(argument) => found.push(argument),
                Err(Reported) => result = Err(Reported),
            }
        }
        if let (Some(value), Some((parameter, kind, is_state))) = (piped, signature.parameters.last()) {
            let fits = match kind {
                Some(Kind::Value(wanted)) if !is_state => self.fits_piped(value, (own, wanted), signature.span),
                Some(_) => {
                    let headline = format!("`{parameter}`, the last of what `{own}` takes, is no value");
                    let error = Diagnostic::error(own_ids::CALL_MISMATCH, headline, name.span);
                    let error = error.mark(signature.span, "declared here");
                    Err(self.report(error.help("what comes along `=>` is a value, and the last that a function takes")))
                }
                None => Err(Reported),
            };
            result = fits.map(|value| found.push(Taken::Value(value))).and(result);
        }
        result?;
        self.called(name, &signature, found)
    }

    /// The value that `=>` passes, as the last argument of the function.
    fn fits_piped(&mut self, value: Expression, (own, wanted): (&str, &Type), declared: Span) -> Checked<Expression> {
        if self.typing().coerce(value.clone(), wanted).is_err() {
            let (given, wanted) = (spelled(&value.ty), spelled(wanted));
            let headline = format!("what comes along has the type `{given}`, and `{own}` takes `{wanted}`");
            let error = Diagnostic::error(ids::EXPRESSION_TYPE, headline, value.span);
            let help = format!("the last that a function takes is what comes along: `{own} : (…, x : {given}) -> …`");
            return Err(self.report(error.mark(declared, "declared here").help(help)));
        }
        self.fits(value, wanted)
    }

    /// The result of a call with arguments that fit. The model calls a pure function. Any other function becomes a part
    /// of the rule.
    fn called(
        &mut self,
        name: &'syntax QualifiedName<'syntax>,
        signature: &Signature<'syntax>,
        arguments: Vec<Taken>,
    ) -> Checked<Typed> {
        let (_, own) = name.parts();
        let result = match &signature.result {
            Some(Some(ty)) => Some(ty.clone()),
            Some(None) => return Err(Reported),
            None => None,
        };
        if let (Some(node), Some(ty)) = (self.pure.get(own), &result) {
            let values = arguments.into_iter().filter_map(Taken::value).collect();
            return Ok(Typed::Value(self.typing().apply(Callable::Node(*node), values, ty, name.span)));
        }
        match (self.lowers, self.bodies.get(own).copied()) {
            (true, Some(function)) => self.inlined(function, arguments, result),
            // The result of a function that is only checked needs its type alone.
            _ => Ok(result.map_or(Typed::Nothing, |ty| Typed::Value(read(VariableId::new(0), &ty, name.span)))),
        }
    }

    /// The statements of a function for the arguments of a call, and the function's value.
    fn inlined(
        &mut self,
        function: &'syntax Function<'syntax>,
        arguments: Vec<Taken>,
        result: Option<Type>,
    ) -> Checked<Typed> {
        let Some(signature) = self.functions.get(function.name.as_str()).cloned() else { return Err(Reported) };
        let mut inside = vec![];
        for (argument, (parameter, kind, is_state)) in arguments.into_iter().zip(signature.parameters) {
            let stands = match argument {
                Taken::State(variable) => Stands::Variable(variable),
                Taken::End(end) => end.map_or(Stands::Nothing, |end| {
                    Stands::End(End { element: end.element.map(|index| self.once(parameter, index)), ..end })
                }),
                Taken::Value(Expression { term: Term::Variable(variable), .. }) => Stands::Variable(variable),
                Taken::Value(value) => Stands::Variable(self.let_variable(parameter, value)),
            };
            inside.push(Binding { name: parameter, kind, is_state, stands, span: function.head });
        }
        let outside = std::mem::replace(&mut self.bound, inside);
        let body = function.body.as_deref().unwrap_or_default();
        let limited = self.limit_given(function);
        let done = match result {
            _ if limited.is_err() => Err(Reported),
            None => self.block(body).map(|()| Typed::Nothing),
            Some(ty) => self.block_value(body, Some(&ty), function.head).map(Typed::Value),
        };
        self.bound = outside;
        done
    }

    fn report_count(
        &mut self,
        name: &QualifiedName<'_>,
        signature: &Signature<'syntax>,
        given: usize,
        is_piped: bool,
    ) -> Reported {
        let (_, own) = name.parts();
        let wanted = signature.parameters.len();
        let things = if wanted == 1 { "thing" } else { "things" };
        let headline = format!("`{own}` takes {wanted} {things}, and is given {given}");
        let error = Diagnostic::error(own_ids::CALL_MISMATCH, headline, name.span);
        let help = match is_piped {
            true => "what comes along `=>` is the last of them".to_owned(),
            false => format!("give it {}", parameters(&signature.parameters)),
        };
        self.report(error.mark(signature.span, "declared here").help(help))
    }

    fn argument(
        &mut self,
        argument: &'syntax Argument<'syntax>,
        (function, parameter): (&str, &str),
        kind: Option<&Kind>,
        is_state: bool,
    ) -> Checked<Taken> {
        if let Some(field) = &argument.field {
            let headline = format!("what `{function}` takes has no names in a call");
            let error = Diagnostic::error(own_ids::CALL_MISMATCH, headline, field.span);
            return Err(self.report(error.help("give it in the order in which it is declared")));
        }
        let span = argument.value.span;
        match kind {
            None => self.expression(&argument.value).and(Err(Reported)),
            Some(Kind::Value(wanted)) if is_state => self.state_argument(&argument.value, wanted, parameter),
            Some(Kind::Value(wanted)) => self.wanted(&argument.value, wanted).map(Taken::Value),
            Some(kind) => {
                let (ways, given, end) = match (kind, self.expression(&argument.value)?) {
                    (Kind::Channel(ways), Typed::Other(Kind::Channel(given), end))
                    | (Kind::Channels(ways), Typed::Other(Kind::Channels(given), end)) => (ways.clone(), given, end),
                    _ => {
                        let headline = format!("`{parameter}` of `{function}` is {kind}, and this is none");
                        let error = Diagnostic::error(own_ids::CALL_MISMATCH, headline, span);
                        return Err(self.report(error.help("give it a channel of the `proc`, or one of an array")));
                    }
                };
                if given.serves(&ways) {
                    return Ok(Taken::End(end));
                }
                let headline = format!("`{parameter}` of `{function}` is a channel `{ways}`, and this is `{given}`");
                let error = Diagnostic::error(own_ids::CHANNEL_DIRECTION, headline, span);
                Err(self.report(error.help("a function uses no way of a channel that the `proc` does not have")))
            }
        }
    }

    /// The argument for a `ref`: the name of state.
    fn state_argument(&mut self, value: &'syntax Written<'syntax>, wanted: &Type, parameter: &str) -> Checked<Taken> {
        let named = match &value.form {
            Form::Name(name) => self.find(name.parts().1).cloned(),
            _ => None,
        };
        match named {
            Some(binding) if binding.is_state => match binding.kind {
                Some(Kind::Value(ty)) if ty == *wanted => Ok(Taken::State(self.variable_of(&binding.stands))),
                Some(kind) => {
                    let headline = format!("`{parameter}` is of the type `{}`, and this of {kind}", spelled(wanted));
                    let error = Diagnostic::error(own_ids::CALL_MISMATCH, headline, value.span);
                    Err(self
                        .report(error.mark(binding.span, "declared here").help("state has the very type of its `ref`")))
                }
                None => Err(Reported),
            },
            _ => {
                let headline = format!("`{parameter}` is a `ref`, and this is no state");
                let error = Diagnostic::error(own_ids::CALL_MISMATCH, headline, value.span);
                Err(self.report(error.help("give it the name of a `local`, a `global` or another `ref`")))
            }
        }
    }

    /// A record: `kv(e_key, v)`, or `kv(key: e_key, value: v)`.
    fn record(&mut self, id: TypeId, arguments: &'syntax [Argument<'syntax>], span: Span) -> Checked<Expression> {
        let declared = &self.scope.program.types[id];
        let (name, declared_at) = (declared.name.to_string(), declared.span);
        let TypeBody::Record(fields) = declared.body.clone() else { return Err(Reported) };
        let ty = Type::declared(self.scope.program, Declared::Record(id));
        let named = arguments.iter().any(|argument| argument.field.is_some());
        let mut left: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
        let mut values: Vec<(usize, Expression)> = vec![];
        let mut result = Ok(());
        for (index, argument) in arguments.iter().enumerate() {
            let field = match &argument.field {
                Some(field) => fields.iter().find(|one| one.name == *field.text),
                None if named => None,
                None => fields.get(index),
            };
            let known = field.filter(|field| left.contains(&field.name.as_str()));
            let Some(field) = known else {
                let headline = match (&argument.field, named) {
                    (Some(field), _) => format!("the record `{name}` has no field `{}` left", field.text),
                    (None, true) => format!("some fields of `{name}` have their names here, and this has none"),
                    (None, false) => format!("the record `{name}` has only {} fields", fields.len()),
                };
                let error = Diagnostic::error(ids::RECORD_FIELDS, headline, argument.value.span);
                return Err(self.report(error.mark(declared_at, "the record").help(how(&name, &fields))));
            };
            left.retain(|one| *one != field.name);
            let at = fields.iter().position(|one| one.name == field.name).unwrap_or_default();
            result = self.wanted(&argument.value, &field.ty).map(|value| values.push((at, value))).and(result);
        }
        result?;
        if let Some(missing) = left.first() {
            let headline = format!("the record `{name}` lacks its field `{missing}`");
            let error = Diagnostic::error(ids::RECORD_FIELDS, headline, span);
            return Err(self.report(error.mark(declared_at, "the record").help(how(&name, &fields))));
        }
        values.sort_by_key(|(at, _)| *at);
        let term = Term::Record(values.into_iter().map(|(_, value)| value).collect());
        Ok(Expression { term, ty, span })
    }

    /// A message: `cmd(opcode: 1, key: k)`. The call gives fields by their names; a field that is left out is 0 or
    /// empty.
    fn message(&mut self, id: MessageId, arguments: &'syntax [Argument<'syntax>], span: Span) -> Checked<Expression> {
        let ty = Type::declared(self.scope.program, Declared::Message(id));
        let view = self.views.values().find(|view| view.message == id && view.is_whole);
        let whole = view.map_or(vec![], |view| view.fields.clone());
        let mut seen: Vec<(Given, Expression)> = vec![];
        for (index, argument) in arguments.iter().enumerate() {
            let message = self.scope.program.messages[id].clone();
            let field = argument.field.as_ref().map(|field| field.as_str()).or_else(|| whole.get(index).copied());
            let named = |name: &str| {
                let parameter = message.parameters.iter().position(|one| one.name == name).map(Given::Parameter);
                parameter.or_else(|| message.field_named(name).map(Given::Field))
            };
            let given = field
                .and_then(named)
                .filter(|given| message.given().contains(given) && !seen.iter().any(|(one, _)| one == given));
            let wanted = given.and_then(|given| given_type(&self.scope.program.messages, &message, given));
            let (Some(given), Some(wanted)) = (given, wanted) else {
                let (headline, at) = match &argument.field {
                    Some(field) => (format!("`{}` of `{}` is not given here", field.text, message.name), field.span),
                    None => (format!("the fields of `{}` are given by their names", message.name), argument.value.span),
                };
                let help = "each field is given once; lengths, and what else follows from other fields, are not given";
                let error = Diagnostic::error(ids::MESSAGE_FIELDS, headline, at).mark(message.span, "the message");
                return Err(self.report(error.help(help)));
            };
            let value = self.wanted(&argument.value, &wanted)?;
            seen.push((given, value));
        }
        let message = &self.scope.program.messages[id];
        let is_given = |given: &Given| seen.iter().any(|(one, _)| one == given);
        let left = |name: &&&str| message.field_named(name).is_some_and(|field| !is_given(&Given::Field(field)));
        if let Some(missing) = whole.iter().find(left) {
            let headline = format!("the record `{}` lacks its field `{missing}`", message.name);
            let error = Diagnostic::error(ids::RECORD_FIELDS, headline, span).mark(message.span, "the record");
            return Err(self.report(error.help("a value has all fields, in their order or by their names")));
        }
        let is_missing = |given: &Given| matches!(given, Given::Parameter(_)) && !is_given(given);
        if !message.stands_alone() && message.given().iter().any(is_missing) {
            let error = Diagnostic::error(ids::MESSAGE_FIELDS, format!("`{ty}` lacks a parameter"), span);
            let error = error.mark(message.span, "the message");
            return Err(self.report(error.help("parameters of a message have to be given")));
        }
        seen.sort_by_key(|(given, _)| *given);
        Ok(Expression { term: Term::Message(seen), ty, span })
    }
}

/// An argument of a call.
enum Taken {
    Value(Expression),
    /// State, which the function may change.
    State(VariableId),
    /// A channel, or an array of channels; none if the checker does not know which one.
    End(Option<End>),
}

impl Taken {
    fn value(self) -> Option<Expression> {
        match self {
            Self::Value(value) => Some(value),
            Self::State(_) | Self::End(_) => None,
        }
    }
}

fn channel(end: Option<&End>) -> u32 {
    end.map_or(0, |end| end.channel)
}

/// The parameters of a function, as a diagnostic lists them.
fn parameters(parameters: &[(&str, Option<Kind>, bool)]) -> String {
    let names: Vec<_> = parameters.iter().map(|(name, ..)| format!("`{name}`")).collect();
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}

/// The help text that shows how to make a record.
fn how(name: &str, fields: &[flux_ir::program::Parameter]) -> String {
    let names: Vec<_> = fields.iter().map(|field| field.name.as_str()).collect();
    format!("write `{name}({})`, with a value for each field", names.join(", "))
}
