//! Declarations: each name once, records in the model, and what processes and functions are given.

use super::kind::{Kind, Signature};
use super::types::built_in;
use super::{Binding, Checker, Stands, call};
use crate::ids as own_ids;
use crate::syntax::{Declaration, Field, Function, Parameter, Record, State, Syntax};
use flux_diagnostic::Diagnostic;
use flux_front::ids::INVALID_NAME;
use flux_front_flux::ids;
use flux_front_flux::syntax::Name;
use flux_ir::cpp_keyword::{is_keyword, is_macro, is_of_c};
use flux_ir::name as model_name;
use flux_ir::program::{Parameter as ModelParameter, TypeBody, TypeDeclaration, TypeId};
use flux_ir::types::{contained_first, contained_in};
use flux_source::Span;
use std::collections::{HashMap, HashSet};

impl<'syntax> Checker<'syntax, '_, '_> {
    /// Declares all that a file does.
    pub(super) fn declare(&mut self, syntax: &'syntax Syntax<'syntax>) {
        let first_type = self.scope.program.types.len();
        self.declare_names(syntax);
        let mut records: Vec<(TypeId, &'syntax Record<'syntax>)> = vec![];
        for declaration in &syntax.declarations {
            let Declaration::Record(record) = declaration else { continue };
            let is_first = self.names.get(record.name.as_str()).is_some_and(|(span, _)| *span == record.name.span);
            if is_first && !self.declare_view(record, syntax) && !self.declare_wire(record, syntax) {
                let name = model_name::Name::of(self.scope.module(), record.name.as_str());
                let body = TypeBody::Record(vec![]);
                records.push((self.scope.add_type(TypeDeclaration { name, body, span: record.span }), record));
            }
        }
        for (id, record) in records {
            let fields = self.fields(record);
            self.scope.program.types[id].body = TypeBody::Record(fields);
        }
        self.check_finite(first_type);
        self.check_views(syntax);
        for declaration in &syntax.declarations {
            match declaration {
                Declaration::Global(state) => {
                    let binding = self.state(state);
                    self.globals.push(binding);
                }
                Declaration::Function(function) => self.declare_function(function),
                _ => {}
            }
        }
    }

    /// Every name is declared once; a record may have the name of a unit, of which it is a view.
    fn declare_names(&mut self, syntax: &'syntax Syntax<'syntax>) {
        let units: Vec<&str> = syntax.declarations.iter().filter_map(unit_name).collect();
        for declaration in &syntax.declarations {
            let (name, what) = match declaration {
                Declaration::Use(_) | Declaration::Unit(..) => continue,
                Declaration::Record(record) => (&record.name, "type"),
                Declaration::Global(state) => (&state.field.name, "state"),
                Declaration::Process(process) => (&process.name, "process"),
                Declaration::Function(function) => (&function.name, "function"),
            };
            self.declare_name(name, what);
            if what != "type" && units.contains(&name.as_str()) {
                self.report_second(name, what, None);
            }
        }
    }

    fn declare_name(&mut self, name: &'syntax Name<'syntax>, what: &'static str) {
        if is_keyword(&name.text) || is_macro(&name.text) || is_of_c(&name.text) {
            let headline = format!("`{}` is a word of C++ and cannot name a {what}", name.text);
            self.report(Diagnostic::error(INVALID_NAME, headline, name.span).help("choose another name"));
        }
        if built_in(&name.text).is_some() || call::is_built_in(&name.text) {
            let headline = format!("`{}` is of the language, and cannot be declared", name.text);
            let error = Diagnostic::error(own_ids::DUPLICATE_NAME, headline, name.span);
            self.report(error.help("choose another name"));
        }
        match self.names.get(name.as_str()) {
            Some((first, _)) => {
                let first = *first;
                self.report_second(name, what, Some(first));
            }
            None => _ = self.names.insert(name.as_str(), (name.span, what)),
        }
    }

    fn report_second(&mut self, name: &Name<'_>, what: &str, first: Option<Span>) {
        let headline = format!("the name `{}` of this {what} is taken", name.text);
        let mut error = Diagnostic::error(own_ids::DUPLICATE_NAME, headline, name.span);
        if let Some(first) = first {
            error = error.mark(first, "declared here first");
        }
        self.report(error.help("give one of them another name"));
    }

    fn fields(&mut self, record: &'syntax Record<'syntax>) -> Vec<ModelParameter> {
        let mut seen: HashMap<&str, Span> = HashMap::new();
        let mut found = vec![];
        for Field { name, ty } in &record.fields {
            if is_keyword(&name.text) || is_macro(&name.text) {
                let headline = format!("`{}` is a word of C++ and cannot name a field", name.text);
                self.report(Diagnostic::error(INVALID_NAME, headline, name.span).help("choose another name"));
            }
            if let Some(first) = seen.insert(name.as_str(), name.span) {
                let headline = format!("`{}` has two fields called `{}`", record.name.text, name.text);
                let error = Diagnostic::error(ids::DUPLICATE_FIELD, headline, name.span);
                self.report(error.mark(first, "the first one").help("give one of them another name"));
                continue;
            }
            if let Ok(model) = self.ty(ty) {
                found.push(ModelParameter { ty: model, name: name.as_str().to_owned(), span: name.span.to(ty.span) });
            }
        }
        found
    }

    /// No record contains itself: its values would never end.
    fn check_finite(&mut self, before: usize) {
        let types = &self.scope.program.types;
        let ordered: HashSet<TypeId> = contained_first(types).into_iter().collect();
        let is_left = |id: &TypeId| !ordered.contains(id);
        // From any that is left one comes into a circle, and round it.
        let Some(mut at) = types.ids().skip(before).find(is_left) else { return };
        let (mut way, mut seen) = (vec![], HashSet::new());
        while seen.insert(at) {
            way.push(at);
            let Some(next) = contained_in(types, at).into_iter().find(is_left) else { return };
            at = next;
        }
        let circle = way.into_iter().skip_while(|id| *id != at).chain([at]);
        let names: Vec<_> = circle.map(|id| format!("`{}`", types[id].name)).collect();
        let record = &types[at];
        let headline = format!("a value of the record `{}` would contain another one without end", record.name);
        let error = Diagnostic::error(ids::RECORD_CYCLE, headline, record.span);
        self.report(error.help(format!("take one of the fields out of {}", names.join(" -> "))));
    }

    /// What the name of state stands for.
    pub(super) fn state(&mut self, state: &'syntax State<'syntax>) -> Binding<'syntax> {
        let ty = self.ty(&state.field.ty).ok();
        if let (Some(first), Some(ty)) = (&state.first, &ty) {
            self.wanted(first, ty).ok();
        }
        let name = &state.field.name;
        let (kind, stands) = (ty.map(Kind::Value), Stands::Nothing);
        Binding { name: name.as_str(), kind, is_state: true, stands, span: name.span }
    }

    fn declare_function(&mut self, function: &'syntax Function<'syntax>) {
        let parameters = self.parameters(&function.parameters, &function.name.text);
        let result = function.result.as_ref().map(|ty| self.ty(ty).ok());
        if function.body.is_none() {
            self.check_foreign(function);
        }
        let parameters = parameters.iter().map(|it| (it.name, it.kind.clone(), it.is_state)).collect();
        let signature = Signature { parameters, result, span: function.head };
        self.functions.entry(function.name.as_str()).or_insert(signature);
        if function.body.is_some() {
            self.bodies.entry(function.name.as_str()).or_insert(function);
        }
    }

    /// A function in C++ is pure: it is given values, and gives one.
    fn check_foreign(&mut self, function: &'syntax Function<'syntax>) {
        let name = &function.name.text;
        let given = function.parameters.iter().find(|parameter| !matches!(parameter, Parameter::Value(_)));
        let (headline, span) = match given {
            Some(parameter) => (format!("`{name}` is in C++, and can be given values alone"), parameter.name().span),
            None if function.result.is_none() => (format!("`{name}` is in C++, and gives nothing"), function.head),
            None => return,
        };
        let help = "`...` stands for a function in C++ that is given values and gives one, without side effects; what \
                    sends or changes state is written here";
        self.report(Diagnostic::error(own_ids::CHANNEL_DIRECTION, headline, span).help(help));
    }

    /// What parameters stand for.
    pub(super) fn parameters(&mut self, parameters: &'syntax [Parameter<'syntax>], of: &str) -> Vec<Binding<'syntax>> {
        let mut found: Vec<Binding<'syntax>> = vec![];
        for parameter in parameters {
            let name = parameter.name();
            if let Some(first) = found.iter().find(|binding| binding.name == name.as_str()) {
                let headline = format!("`{of}` is given two things called `{}`", name.text);
                let error = Diagnostic::error(ids::DUPLICATE_PARAMETER, headline, name.span);
                let error = error.mark(first.span, "the first one").help("give one of them another name");
                self.report(error);
            }
            let (kind, is_state) = self.parameter(parameter);
            found.push(Binding { name: name.as_str(), kind, is_state, stands: Stands::Nothing, span: name.span });
        }
        found
    }
}

/// The name of a unit.
pub(super) fn unit_name<'syntax>(declaration: &'syntax Declaration<'syntax>) -> Option<&'syntax str> {
    match declaration {
        Declaration::Unit(name, _) => Some(name.as_str()),
        _ => None,
    }
}
