//! Lists of parameters that have a name: `using request = (int socket, char *line);`.
//!
//! A node may take or give a list by its name, among other parameters. Nothing but the text knows of lists: here their
//! parameters come in the place of their names.

use crate::ids;
use crate::syntax::{Parameter, Statement, Syntax};
use flux_diagnostic::{Diagnostic, Diagnostics};
use flux_ir::name::NameMap;
use flux_source::Span;
use std::collections::HashSet;

/// A list may have so many parameters: each node that names it has all of them.
const LIST_LIMIT: usize = 32;

/// The lists of a program by their names, each with the name where it is declared.
type Lists<'text> = NameMap<(Span, Vec<Parameter<'text>>)>;

/// Puts the parameters of lists in the place of their names, in all declarations. The names are qualified. Linear in
/// the declarations as they become.
pub fn expand(syntax: &mut Syntax<'_>, diagnostics: &mut Diagnostics) {
    let lists = declared(syntax, diagnostics);
    for statement in &mut syntax.statements {
        let Statement::Declaration(declaration) = statement else { continue };
        for parameters in [&mut declaration.inputs, &mut declaration.outputs] {
            if parameters.iter().any(|parameter| parameter.list.is_some()) {
                *parameters = expanded(std::mem::take(parameters), &lists, diagnostics);
            }
        }
    }
}

fn declared<'text>(syntax: &Syntax<'text>, diagnostics: &mut Diagnostics) -> Lists<'text> {
    let mut lists = Lists::default();
    for statement in &syntax.statements {
        let Statement::Using(using) = statement else { continue };
        let (name, declared) = (&using.name, using.name.declared());
        if using.parameters.len() > LIST_LIMIT {
            let headline = format!("the list `{}` has more than {LIST_LIMIT} parameters", name);
            let error = Diagnostic::error(ids::LIST_LENGTH, headline, name.span);
            diagnostics.push(error.help("put them into a struct of a header, and name that"));
        } else if let Some((first, _)) = lists.get(&declared) {
            let headline = format!("the list `{}` is declared twice", name);
            let error = Diagnostic::error(ids::DUPLICATE_LIST, headline, name.span);
            diagnostics.push(error.mark(*first, "first declared here").help("give one of them another name"));
        } else {
            lists.add(&declared, (name.span, using.parameters.clone()));
        }
    }
    lists
}

/// The parameters with those of lists in the place of their names. Of a list that is not known all has been said.
fn expanded<'text>(
    parameters: Vec<Parameter<'text>>,
    lists: &Lists<'text>,
    diagnostics: &mut Diagnostics,
) -> Vec<Parameter<'text>> {
    let mut result = vec![];
    let mut named = HashSet::new();
    for parameter in parameters {
        let Some(name) = &parameter.list else {
            result.push(parameter);
            continue;
        };
        let declared = name.declared();
        if !named.insert(declared.clone()) {
            let headline = format!("the list `{name}` is named twice");
            let error = Diagnostic::error(ids::DUPLICATE_LIST, headline, parameter.span);
            diagnostics.push(error.help("its parameters can be there once: remove it, or name them one by one"));
        } else if let Some((_, list)) = lists.get(&declared) {
            result.extend(list.iter().cloned());
        }
    }
    result
}
