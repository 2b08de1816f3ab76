//! Records and enumerations: their names, then their fields, whose types may be declared later.

use super::Resolver;
use crate::ids;
use crate::syntax::{self, Name, QualifiedName, Statement};
use flux_diagnostic::{Diagnostic, nearest};
use flux_ir::name as declared;
use flux_ir::program::{Parameter, TypeBody, TypeDeclaration, TypeId};
use flux_ir::types::{Declared, Type, built_in_names, contained_first, contained_in};
use flux_source::Span;
use std::collections::{HashMap, HashSet};

impl<'syntax> Resolver<'syntax, '_, '_> {
    pub(super) fn declare_types(&mut self) {
        let syntax = self.syntax;
        let mut declared: Vec<(TypeId, &'syntax syntax::TypeDeclaration<'syntax>)> = vec![];
        let (mut first, before) = (HashMap::new(), self.scope.program.types.len());
        for statement in &syntax.statements {
            let Statement::Type(one) = statement else { continue };
            if !self.check_type_name(&one.name, &mut first) {
                continue;
            }
            let body = match &one.body {
                syntax::TypeBody::Record(_) => TypeBody::Record(vec![]),
                syntax::TypeBody::Enum(values) => TypeBody::Enum(self.distinct(values, "value", one)),
            };
            let name = one.name.declared();
            let id = self.scope.add_type(TypeDeclaration { name, body, span: one.span });
            declared.push((id, one));
        }
        for (id, one) in &declared {
            let syntax::TypeBody::Record(fields) = &one.body else { continue };
            let fields = self.fields(fields, one);
            self.scope.program.types[*id].body = TypeBody::Record(fields);
        }
        self.check_finite(before);
    }

    /// Whether a type can have this name, which no other has.
    fn check_type_name(&mut self, name: &QualifiedName<'_>, declared: &mut HashMap<declared::Name, Span>) -> bool {
        self.check_type(name, "type");
        let (_, own) = name.parts();
        if built_in_names().any(|built_in| built_in == own) {
            let headline = format!("`{own}` is a type of the language, and cannot be declared");
            self.report(Diagnostic::error(ids::DUPLICATE_TYPE, headline, name.span).help("choose another name"));
            return false;
        }
        let message = self.message_called(name).map(|id| &self.scope.program.messages[id].span);
        if let Some(first) = declared.get(&name.declared()).or(message) {
            let headline = format!("the type `{name}` is declared twice");
            let error = Diagnostic::error(ids::DUPLICATE_TYPE, headline, name.span);
            let error = error.mark(*first, "first declared here");
            self.report(error.help("remove one of them, or give it another name"));
            return false;
        }
        declared.insert(name.declared(), name.span);
        true
    }

    /// The names of fields, or of the values of an enumeration: each once.
    fn distinct(
        &mut self,
        names: &'syntax [Name<'syntax>],
        what: &str,
        of: &syntax::TypeDeclaration<'syntax>,
    ) -> Vec<String> {
        let mut seen = HashMap::new();
        let mut is_new = |name: &&'syntax Name<'syntax>| {
            self.check_word(&name.text, name.span, what);
            let first = *seen.entry(name.as_str()).or_insert(name.span);
            if first != name.span {
                self.report_duplicate(name, what, of, first);
            }
            first == name.span
        };
        names.iter().filter(|name| is_new(name)).map(|name| name.as_str().to_owned()).collect()
    }

    fn report_duplicate(&mut self, name: &Name, what: &str, of: &syntax::TypeDeclaration, first: Span) {
        let headline = format!("`{}` has two {what}s called `{}`", of.name, name.text);
        let error = Diagnostic::error(ids::DUPLICATE_FIELD, headline, name.span);
        self.report(error.mark(first, "the first one").help("give one of them another name"));
    }

    fn fields(
        &mut self,
        fields: &'syntax [syntax::Parameter<'syntax>],
        of: &'syntax syntax::TypeDeclaration<'syntax>,
    ) -> Vec<Parameter> {
        let mut seen = HashMap::new();
        let mut found: Vec<Parameter> = vec![];
        for field in fields {
            let name = &field.name;
            self.check_word(&name.text, name.span, "field");
            let ty = self.scope.type_names().read(&field.ty, "");
            let first = *seen.entry(name.as_str()).or_insert(name.span);
            if first != name.span {
                self.report_duplicate(name, "field", of, first);
            } else if !ty.is_own() {
                self.report_field_type(field, &ty, of);
                match ty.integer() {
                    // It is clear what was meant.
                    Some(integer) => {
                        found.push(Parameter { ty: integer.ty(), name: name.as_str().to_owned(), span: field.span })
                    }
                    None => _ = self.wrong_fields.insert(name.as_str()),
                }
            } else {
                found.push(Parameter { ty, name: name.as_str().to_owned(), span: field.span });
            }
        }
        found
    }

    fn report_field_type(
        &mut self,
        field: &'syntax syntax::Parameter<'syntax>,
        ty: &Type,
        of: &syntax::TypeDeclaration<'syntax>,
    ) {
        // What was skipped may have declared it, which says more.
        let is_skipped = ty.words().any(|word| self.syntax.skipped_words.contains(word));
        if self.syntax.truncated || is_skipped {
            return;
        }
        let headline = format!("the field `{}` of `{}` does not have a type of the language", field.name.text, of.name);
        let help = match (ty.integer(), self.meant_type(ty)) {
            (Some(integer), _) => format!("write `{}`, which is the same in C++", integer.ty()),
            (None, Some(meant)) => format!("did you mean `{meant}`?"),
            (None, None) => "fields are numbers such as `uint64`, `bool`, `text`, `bytes`, records, enumerations, \
                             messages, and `list`, `optional` and `map` of these"
                .to_owned(),
        };
        self.report(Diagnostic::error(ids::FIELD_TYPE, headline, field.span).label(format!("`{ty}`")).help(help));
    }

    /// The type of the language that was meant by a part of `ty`, which is none.
    pub(super) fn meant_type(&mut self, ty: &Type) -> Option<String> {
        let declared = self.scope.program.types.iter().map(|(_, one)| one.name.to_string());
        let messages = self.scope.program.messages.iter().map(|(_, one)| one.name.to_string());
        let names: Vec<String> = declared.chain(messages).chain(built_in_names().map(str::to_owned)).collect();
        let is_unknown = |word: &&str| names.iter().all(|name| name != word) && !word.starts_with("std");
        let unknown = ty.words().find(is_unknown).filter(|word| self.may_suggest(word))?;
        nearest(unknown, names.iter().map(String::as_str)).map(str::to_owned)
    }

    /// Checks that no record and no enumeration has the name of a predicate type.
    pub(super) fn check_predicate_clash(&mut self, name: &QualifiedName<'_>) {
        let (module, own) = name.parts();
        let Some(declared) = self.scope.declared_type(module, own) else { return };
        let headline = format!("`{name}` is both a type and a predicate type");
        let error = Diagnostic::error(flux_front::ids::NAME_CLASH, headline, name.span);
        let first = match declared {
            Declared::Record(id) | Declared::Enum(id) => self.scope.program.types[id].span,
            Declared::Message(id) => self.scope.program.messages[id].span,
        };
        let error = error.mark(first, "the type");
        self.report(error.help("give one of them another name"));
    }

    /// No record contains itself: its values would never end. Of the first `before` types that was said already.
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
}
