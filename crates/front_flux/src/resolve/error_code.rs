//! Names of error codes: what declares them, and what mentions them in bodies.

use super::Resolver;
use super::body::{BodyResolver, Reported};
use crate::body::{FailCode, Form, Value};
use crate::ids;
use crate::syntax::{self, QualifiedName, Statement, TestedBy, Typedef};
use flux_diagnostic::{Diagnostic, nearest};
use flux_ir::error_code::{Code, CodeName, Errno, ErrorCode};
use flux_source::Span;
use std::collections::HashMap;

impl<'syntax> Resolver<'syntax, '_, '_> {
    /// The names of error codes.
    pub(super) fn declare_codes(&mut self) {
        let syntax = self.syntax;
        // What shares the names of C++ with it. A name of another module is in another namespace.
        let statements = || syntax.statements.iter();
        let others = statements().filter_map(function_named).chain(statements().filter_map(declared_in_cpp));
        let others: HashMap<_, Span> = others.map(|name| (name.parts(), name.span)).collect();
        for statement in &syntax.statements {
            let Statement::ErrorCode(code) = statement else { continue };
            self.check_function(&code.name);
            let number = self.declared_number(&code.code, code);
            let (module, own) = code.name.parts();
            let first = self.scope.code(module, own).map(|id| self.scope.program.codes[id].span);
            let first = first.or_else(|| self.scope.option(module, own).map(|id| self.scope.option_name(id)));
            let first = first.or_else(|| others.get(&(module, own)).copied());
            if let Some(first) = first {
                let headline = format!("the error code `{}` has the name of something else", code.name);
                let error = Diagnostic::error(ids::DUPLICATE_CODE, headline, code.name.span);
                self.report(error.mark(first, "the first one").help("give one of them another name"));
                continue;
            }
            // One with a mistake, which is reported, is known.
            let number = number.unwrap_or(1);
            self.scope.add_code(ErrorCode { name: code.name.declared(), number, span: code.span });
        }
    }

    fn declared_number(&mut self, code: &FailCode<'_>, declared: &syntax::ErrorCode<'_>) -> Option<i32> {
        match code {
            FailCode::Number(number) => self.code_number(*number, declared.span),
            FailCode::Named(Value { form: Form::Name(name), span, .. }) => {
                let errno = if name.module.is_none() { Errno::of_name(&name.own) } else { None };
                if errno.is_none() {
                    self.report_unknown_code(name, *span);
                }
                errno.map(Errno::number)
            }
            FailCode::Named(value) => {
                let headline = "an error code is declared by its number, or by a name of `<errno.h>`";
                let error = Diagnostic::error(ids::FAIL_CODE, headline, value.span);
                self.report(error.help("write its number: `error not_found = 404;`"));
                None
            }
        }
    }

    /// The number of a failure; none where it is of none, which is reported.
    fn code_number(&mut self, number: i64, span: Span) -> Option<i32> {
        let error = match i32::try_from(number) {
            Ok(0) => {
                let headline = "0 is the code of success, not of a failure";
                Diagnostic::error(ids::FAIL_CODE, headline, span).help("write another code")
            }
            Ok(number) => return Some(number),
            Err(_) => {
                let headline = format!("the error code {number} does not fit 32 bits");
                Diagnostic::error(ids::FAIL_CODE, headline, span).help("write a smaller one")
            }
        };
        self.report(error);
        None
    }

    fn report_unknown_code(&mut self, name: &QualifiedName<'_>, span: Span) {
        let word = &name.to_string();
        let headline = format!("there is no error code `{word}`");
        let may_suggest = self.may_suggest(word);
        let names = self.code_names();
        let help = match nearest(word, names.iter().map(String::as_str)).filter(|_| may_suggest) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => "write a number, a name of `<errno.h>`, or declare the name: `error not_found = 404;`".to_owned(),
        };
        self.report(Diagnostic::error(ids::FAIL_CODE, headline, span).help(help));
    }

    /// What codes are called.
    pub(super) fn code_names(&self) -> Vec<String> {
        let declared = self.scope.program.codes.iter().map(|(_, code)| code.name.to_string());
        declared.chain(Errno::all().map(|errno| errno.name().to_owned())).collect()
    }
}

/// The name of what is declared here, and is a function or a type in C++.
fn declared_in_cpp<'syntax>(statement: &'syntax Statement<'syntax>) -> Option<&'syntax QualifiedName<'syntax>> {
    match statement {
        Statement::Declaration(declaration) => Some(&declaration.name),
        Statement::Flow(flow) => Some(&flow.node),
        Statement::Type(declared) => Some(&declared.name),
        Statement::Unit(unit) => Some(&unit.name),
        _ => None,
    }
}

/// The name of the C++ function that a statement names without a declaration.
fn function_named<'syntax>(statement: &'syntax Statement<'syntax>) -> Option<&'syntax QualifiedName<'syntax>> {
    match statement {
        Statement::Typedef(Typedef { tested_by: TestedBy::Function(function), .. }) => Some(function),
        Statement::Source(source) => source.session.as_ref(),
        Statement::Handler(handler) => handler.target.as_ref(),
        _ => None,
    }
}

impl<'syntax> BodyResolver<'_, 'syntax, '_, '_> {
    /// The code that a name means: one that a file declares, or one of `<errno.h>`.
    pub(super) fn code_called(&self, name: &QualifiedName<'_>) -> Option<Code> {
        let scope = &self.resolver.scope;
        let declared = self.homes(name).into_iter().find_map(|(module, own)| scope.code(module, own));
        if let Some(id) = declared {
            return Some(Code { number: scope.program.codes[id].number, name: Some(CodeName::Declared(id)) });
        }
        let errno = if name.module.is_none() { Errno::of_name(&name.own) } else { None };
        errno.map(Code::from)
    }

    /// `fail 404;`, `fail http.not_found;`
    pub(super) fn fail_code(&mut self, code: &FailCode<'_>, span: Span) -> Result<Code, Reported> {
        match code {
            FailCode::Number(number) => self.resolver.code_number(*number, span).map(Code::from).ok_or(Reported),
            FailCode::Named(value) => {
                let written = match &value.form {
                    Form::Name(name) => name.clone(),
                    // A module that the file does not use.
                    Form::Field(of, own) if let Form::Name(module) = &of.form => QualifiedName {
                        folder: module.module.clone(),
                        module: Some(module.own.clone()),
                        own: own.text.clone(),
                        span: value.span,
                    },
                    _ => return Err(Reported),
                };
                match self.code_called(&written) {
                    Some(code) => Ok(code),
                    None => {
                        self.resolver.report_unknown_code(&written, value.span);
                        Err(Reported)
                    }
                }
            }
        }
    }
}
