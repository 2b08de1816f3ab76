//! Recursion: there is none, so every program ends with whatever it is given (section 4.3 of the paper).

use super::Checker;
use crate::ids as own_ids;
use crate::syntax::{Declaration, Function, Syntax};
use crate::walk::names;
use flux_diagnostic::Diagnostic;
use std::collections::{HashMap, HashSet};

impl<'syntax> Checker<'syntax, '_, '_> {
    /// Reports the first circle of functions that call each other.
    pub(super) fn check_recursion(&mut self, syntax: &'syntax Syntax<'syntax>) {
        let functions: HashMap<&str, &Function<'syntax>> = syntax
            .declarations
            .iter()
            .filter_map(|declaration| match declaration {
                Declaration::Function(function) => Some((function.name.as_str(), function)),
                _ => None,
            })
            .collect();
        let mut done: HashSet<&str> = HashSet::new();
        for declaration in &syntax.declarations {
            let Declaration::Function(first) = declaration else { continue };
            // Each with the calls of it that are still to be followed.
            let mut open = vec![(first.name.as_str(), called(first, &functions))];
            while let Some((name, left)) = open.last_mut() {
                let Some(next) = left.pop() else {
                    done.insert(name);
                    open.pop();
                    continue;
                };
                if let Some(at) = open.iter().position(|(name, _)| *name == next) {
                    let circle: Vec<&str> = open.iter().skip(at).map(|(name, _)| *name).chain([next]).collect();
                    self.report_circle(&circle, &functions);
                    return;
                }
                if let Some(function) = functions.get(next).filter(|_| !done.contains(next)) {
                    open.push((next, called(function, &functions)));
                }
            }
        }
    }

    fn report_circle(&mut self, circle: &[&str], functions: &HashMap<&str, &Function<'_>>) {
        let Some(function) = circle.first().and_then(|name| functions.get(name)) else { return };
        let headline = match circle {
            [one, _] => format!("the function `{one}` calls itself"),
            _ => {
                let names: Vec<_> = circle.iter().map(|name| format!("`{name}`")).collect();
                format!("functions call each other in a circle: {}", names.join(" -> "))
            }
        };
        let error = Diagnostic::error(own_ids::RECURSION, headline, function.name.span);
        self.report(error.help("every function has to end: go through a list by `for`, `map`, `filter` or `fold`"));
    }
}

fn called<'syntax>(
    function: &Function<'syntax>,
    functions: &HashMap<&'syntax str, &Function<'syntax>>,
) -> Vec<&'syntax str> {
    let mut found = vec![];
    names(function.body.as_deref().unwrap_or_default(), &mut |name, is_called| {
        let known = functions.get_key_value(name).filter(|_| is_called);
        found.extend(known.map(|(name, _)| *name));
    });
    found.reverse();
    found
}
