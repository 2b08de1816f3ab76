//! Lists of parameters that have a name: `using request = (int socket, char *line);`.
//!
//! A node may take or give a list by its name, among other parameters. The model knows nothing of lists: here their
//! parameters replace their names. Files that use a module can use its lists, too.

use crate::ids;
use crate::syntax::{Name, Parameter, Statement, Syntax};
use flux_diagnostic::Diagnostic;
use flux_front::scope::Scope;
use flux_source::Span;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// A list may have so many parameters: each node that names it has all of them.
const LIST_LIMIT: usize = 32;

/// The lists of a file by their names, each with the place of its name.
type Lists<'text> = HashMap<String, (Span, Vec<Parameter<'text>>)>;

/// Puts the parameters of lists in the place of their names, in all declarations. The names are qualified. Linear in
/// the declarations as they become.
pub fn expand(syntax: &mut Syntax<'_>, scope: &mut Scope<'_>) {
    let lists = declared(syntax, scope);
    for statement in &mut syntax.statements {
        let Statement::Declaration(declaration) = statement else { continue };
        for parameters in [&mut declaration.inputs, &mut declaration.outputs] {
            if parameters.iter().any(|parameter| parameter.list.is_some()) {
                *parameters = expanded(std::mem::take(parameters), &lists, scope);
            }
        }
    }
}

fn declared<'text>(syntax: &Syntax<'text>, scope: &mut Scope<'_>) -> Lists<'text> {
    let mut lists = Lists::new();
    for statement in &syntax.statements {
        let Statement::Using(using) = statement else { continue };
        let name = &using.name;
        if using.parameters.len() > LIST_LIMIT {
            let headline = format!("the list `{name}` has more than {LIST_LIMIT} parameters");
            let error = Diagnostic::error(ids::LIST_LENGTH, headline, name.span);
            scope.diagnostics.push(error.help("put them into a struct in a header, and use that"));
        } else if let Some((first, _)) = lists.get(&*name.own) {
            let headline = format!("the list `{name}` is declared twice");
            let error = Diagnostic::error(ids::DUPLICATE_LIST, headline, name.span);
            let error = error.mark(*first, "first declared here");
            scope.diagnostics.push(error.help("give one of them another name"));
        } else {
            lists.insert(name.own.to_string(), (name.span, using.parameters.clone()));
        }
    }
    lists
}

/// The parameters with those of lists in the place of their names. Of a list that is not known all has been said.
fn expanded<'text>(
    parameters: Vec<Parameter<'text>>,
    lists: &Lists<'text>,
    scope: &mut Scope<'_>,
) -> Vec<Parameter<'text>> {
    let mut result = vec![];
    let mut named = HashSet::new();
    for parameter in parameters {
        let Some(name) = &parameter.list else {
            result.push(parameter);
            continue;
        };
        let (module, own) = name.parts();
        if !named.insert(name.declared()) {
            let headline = format!("the list `{name}` is named twice");
            let error = Diagnostic::error(ids::DUPLICATE_LIST, headline, parameter.span);
            scope.diagnostics.push(
                error.help("a parameter can occur only once: remove one of them, or write the parameters one by one"),
            );
        } else if module == scope.module() {
            result.extend(lists.get(own).into_iter().flat_map(|(_, list)| list).cloned());
        } else {
            result.extend(scope.list(module, own).unwrap_or_default().iter().map(as_written));
        }
    }
    result
}

/// A parameter of another file's list, as one would write it here.
fn as_written<'text>(parameter: &flux_ir::program::Parameter) -> Parameter<'text> {
    let flux_ir::program::Parameter { ty, name, span } = parameter;
    Parameter {
        ty: ty.written().to_owned(),
        name: Name { text: Cow::Owned(name.clone()), span: *span },
        array: ty.array().to_owned(),
        list: None,
        default: None,
        span: *span,
    }
}
