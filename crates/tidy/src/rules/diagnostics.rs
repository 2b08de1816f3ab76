//! Every id of a diagnostic has a page, and every page an id: `flux explain ID` never comes up empty.
//!
//! Ids are constants in the `ids.rs` of the crate that uses them, so that one look shows them all; every string in such
//! a file is one.

use crate::repository::File;
use crate::{Finding, Repository, rust};
use std::collections::BTreeMap;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};

const PAGES: &str = "crates/diagnostic/pages";

/// Ids without a page, pages without an id, and ids in the wrong place.
pub fn check(repository: &Repository) -> Vec<Finding> {
    let mut findings = vec![];
    let mut declared: BTreeMap<String, (&str, usize)> = BTreeMap::new();
    let sources = repository.with_extension(&["rs"]).filter(|file| file.path.contains("/src/"));
    for (file, line, id) in sources.flat_map(|file| ids(file).into_iter().map(move |(line, id)| (file, line, id))) {
        let mut find = |message: String| findings.push(Finding::new(file.path, line, message));
        if file.name() != "ids.rs" {
            find(format!("makes the id `{id}`: declare it in the crate's ids.rs and name it from there"));
        }
        if !is_kebab_case(&id) {
            find(format!("the id `{id}` is not in kebab case: write it like `edge-mismatch`"));
        }
        if let Some((path, line)) = declared.get(&id) {
            find(format!("declares the id `{id}` again, after {path}:{line}: name one kind of diagnostic once"));
        } else if repository.text(&format!("{PAGES}/{id}.md")).is_none() {
            find(format!("the id `{id}` has no page: write {PAGES}/{id}.md, with an example"));
        }
        declared.entry(id).or_insert((file.path, line));
    }
    let pages = repository.with_extension(&["md"]).filter(|file| file.folder() == PAGES);
    for page in pages {
        let id = page.name().strip_suffix(".md").unwrap_or_default();
        if !declared.contains_key(id) {
            let message =
                format!("is the page of `{id}`, which no ids.rs declares: remove it, or name it after its id");
            findings.push(Finding::new(page.path, 1, message));
        }
    }
    findings
}

fn is_kebab_case(id: &str) -> bool {
    id.split('-').all(|word| !word.is_empty() && word.chars().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit()))
}

/// The ids that the file makes outside of its tests, with their lines.
fn ids(file: File) -> Vec<(usize, String)> {
    // What does not parse is the business of the rule on the size of functions.
    let Ok(tree) = rust::parse(file.text) else {
        return vec![];
    };
    let mut finder = Finder { is_list: file.name() == "ids.rs", found: vec![] };
    finder.visit_file(&tree);
    finder.found
}

struct Finder {
    /// Whether the file is there to list ids.
    is_list: bool,
    found: Vec<(usize, String)>,
}

impl<'a> Visit<'a> for Finder {
    fn visit_item_mod(&mut self, item: &'a syn::ItemMod) {
        if !rust::is_for_tests(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_macro(&mut self, item: &'a syn::Macro) {
        if self.is_list {
            self.found.extend(rust::strings(item.tokens.clone()));
        }
    }

    fn visit_lit_str(&mut self, literal: &'a syn::LitStr) {
        if self.is_list {
            self.found.push((literal.span().start().line, literal.value()));
        }
    }

    fn visit_attribute(&mut self, _: &'a syn::Attribute) {}

    fn visit_expr_call(&mut self, call: &'a syn::ExprCall) {
        let is_id = match &*call.func {
            syn::Expr::Path(path) => path.path.segments.last().is_some_and(|last| last.ident == "Id"),
            _ => false,
        };
        if let (true, false, Some(syn::Expr::Lit(literal))) = (is_id, self.is_list, call.args.first())
            && let syn::Lit::Str(text) = &literal.lit
        {
            self.found.push((call.span().start().line, text.value()));
        }
        visit::visit_expr_call(self, call);
    }
}

#[cfg(test)]
mod tests {
    use super::super::assert_found;
    use super::*;

    const PAGE: (&str, &str) = ("crates/diagnostic/pages/one.md", "");

    fn found(ids: &str, expected: &[&str]) {
        assert_found(check, &[PAGE, ("crates/a/src/ids.rs", ids)], expected);
    }

    #[test]
    fn ids_and_pages_belong_together() {
        found("pub const ONE: Id = Id(\"one\");\n", &[]);
        found(
            "pub const ONE: Id = Id(\"one\");\npub const TWO: Id = Id(\"two\");\n",
            &["crates/a/src/ids.rs:2: the id `two` has no page"],
        );
        found("", &["crates/diagnostic/pages/one.md:1: is the page of `one`, which no ids.rs declares"]);
    }

    #[test]
    fn a_macro_may_declare_them() {
        let ids = "//! The ids.\nids! {\n    /// \"No\" id.\n    ONE = \"one\";\n    TWO = \"two\";\n}\n";
        found(ids, &["crates/a/src/ids.rs:5: the id `two` has no page"]);
    }

    #[test]
    fn an_id_is_declared_once_and_in_kebab_case() {
        let twice = "const A: Id = Id(\"one\");\nconst B: Id = flux_diagnostic::Id(\"one\");\n";
        found(twice, &["crates/a/src/ids.rs:2: declares the id `one` again"]);
        let files =
            [("crates/diagnostic/pages/No_Page.md", ""), ("crates/a/src/ids.rs", "const A: Id = Id(\"No_Page\");\n")];
        assert_found(check, &files, &["crates/a/src/ids.rs:1: the id `No_Page` is not in kebab case"]);
    }

    #[test]
    fn ids_are_in_ids_rs_but_for_tests() {
        let text = "fn f() { g(Id(\"one\")); }\n#[cfg(test)]\nmod tests {\n    fn t() { g(Id(\"any\")); }\n}\n";
        assert_found(check, &[PAGE, ("crates/a/src/lib.rs", text)], &["crates/a/src/lib.rs:1: makes the id `one`"]);
    }
}
