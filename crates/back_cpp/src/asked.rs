//! The functions that a program asks of its author, as tools show them: in stubs, and where one is missing.

use crate::header::functions;
use crate::tree::Declaration;
use crate::{Context, Options, print};
use flux_ir::external::Language;
use flux_ir::flow::Flow;
use flux_ir::name::Name;
use flux_source::SourceMap;
use std::collections::HashSet;

/// A function in C or C++ that a program calls.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AskedFunction {
    /// Its name.
    pub name: Name,
    /// As it is declared in its namespace, without the `;`.
    pub declaration: String,
    /// What asks for it: `image.flux:23: typedef hit TestInCache;`
    pub asked_by: String,
}

/// The functions that the generated headers declare, each once: those that the program's own file asks for first, then
/// those of its modules. O(size of the flow).
pub fn asked_functions(flow: &Flow, sources: &SourceMap, options: &Options) -> Vec<AskedFunction> {
    let context = Context::new(flow, sources, options);
    let mut found: Vec<_> = functions(&context).collect();
    let is_c = |function| flow.program.externals[function].language == Language::C;
    found.sort_by_cached_key(|one| {
        let module = one.asked_by.map(|module| flow.program.modules[module].name.as_str());
        let is_elsewhere = module.map_or(one.is_of_module, |module| one.name.module() != Some(module));
        (one.asked_by, is_elsewhere, is_c(one.external))
    });
    let mut seen = HashSet::new();
    let asked = found.into_iter().map(|one| AskedFunction {
        name: one.name,
        declaration: declaration(&one.declaration),
        asked_by: one.comment,
    });
    asked.filter(|one| seen.insert((one.name.clone(), one.declaration.clone()))).collect()
}

fn declaration(prototype: &Declaration) -> String {
    let lines = print::print(std::slice::from_ref(prototype));
    lines.trim_end().trim_end_matches(';').to_owned()
}
