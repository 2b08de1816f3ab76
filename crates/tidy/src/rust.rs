//! What the rules need to know of Rust sources, by way of `syn`.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens as _;
use std::collections::BTreeSet;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{Attribute, Block, Signature};

/// A function with a body.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// The line of its signature.
    pub line: usize,
    /// From there to its closing brace.
    pub line_count: usize,
    /// Whether it is a test.
    pub is_test: bool,
    /// Every identifier of its attributes and its body.
    pub words: BTreeSet<String>,
}

/// The functions of a source file: free ones, methods, and those within others.
///
/// # Errors
///
/// Where the text is not Rust: the line and what the parser says.
pub fn functions(text: &str) -> Result<Vec<Function>, (usize, String)> {
    let file = parse(text)?;
    let mut collector = Collector { functions: vec![] };
    collector.visit_file(&file);
    Ok(collector.functions)
}

/// The syntax tree of a source file.
///
/// # Errors
///
/// As of [`functions`].
pub fn parse(text: &str) -> Result<syn::File, (usize, String)> {
    syn::parse_file(text).map_err(|error| (error.span().start().line, format!("is not Rust: {error}")))
}

/// Whether an item is there for tests alone.
pub fn is_for_tests(attributes: &[Attribute]) -> bool {
    let says_test =
        |attribute: &Attribute| attribute.path().is_ident("cfg") && words(attribute.to_token_stream()).contains("test");
    attributes.iter().any(|attribute| attribute.path().is_ident("test") || says_test(attribute))
}

/// Every identifier among the tokens.
pub fn words(tokens: TokenStream) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open: Vec<TokenTree> = tokens.into_iter().collect();
    while let Some(token) = open.pop() {
        match token {
            TokenTree::Group(group) => open.extend(group.stream()),
            TokenTree::Ident(name) => _ = found.insert(name.to_string()),
            _ => {}
        }
    }
    found
}

/// The tests of a `proptest!`, whose parameters (`a in 0..9`) are not Rust: `fn`, a name, parentheses, braces.
fn properties(tokens: TokenStream) -> Vec<Function> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let properties = tokens.windows(4).filter_map(|window| match window {
        [TokenTree::Ident(keyword), TokenTree::Ident(name), TokenTree::Group(_), TokenTree::Group(body)]
            if keyword == "fn" =>
        {
            let line = keyword.span().start().line;
            Some(Function {
                name: name.to_string(),
                line,
                line_count: body.span_close().end().line + 1 - line,
                is_test: true,
                words: words(body.stream()),
            })
        }
        _ => None,
    });
    properties.collect()
}

/// Every name among the tokens as it is written, `thread::sleep` or `.elapsed`, and the line that it ends on.
pub fn names(tokens: TokenStream) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = vec![];
    let mut is_open = false;
    for token in tokens {
        match token {
            TokenTree::Ident(name) => {
                let line = name.span().start().line;
                match found.last_mut().filter(|_| is_open) {
                    Some(last) => *last = (line, format!("{}{name}", last.1)),
                    None => found.push((line, name.to_string())),
                }
                is_open = false;
            }
            TokenTree::Punct(mark) if mark.as_char() == ':' => {
                if let Some(last) = found.last_mut() {
                    last.1.push(':');
                }
                is_open = true;
            }
            TokenTree::Punct(mark) if mark.as_char() == '.' => {
                found.push((mark.span().start().line, ".".to_owned()));
                is_open = true;
            }
            TokenTree::Group(group) => {
                found.extend(names(group.stream()));
                is_open = false;
            }
            _ => is_open = false,
        }
    }
    found
}

/// Every string literal among the tokens and the line it begins on, those of attributes and documentation left out.
pub fn strings(tokens: TokenStream) -> Vec<(usize, String)> {
    let mut found = vec![];
    let mut is_attribute = false;
    for token in tokens {
        match token {
            TokenTree::Group(group) if !is_attribute => found.extend(strings(group.stream())),
            TokenTree::Literal(literal) => {
                if let syn::Lit::Str(text) = syn::Lit::new(literal) {
                    found.push((text.span().start().line, text.value()));
                }
            }
            TokenTree::Punct(mark) => {
                // `#[…]` or `#![…]`
                is_attribute = mark.as_char() == '#' || (is_attribute && mark.as_char() == '!');
                continue;
            }
            _ => {}
        }
        is_attribute = false;
    }
    found
}

struct Collector {
    functions: Vec<Function>,
}

impl Collector {
    fn add(&mut self, attributes: &[Attribute], signature: &Signature, block: &Block) {
        let line = signature.span().start().line;
        let mut tokens = block.to_token_stream();
        tokens.extend(attributes.iter().map(|attribute| attribute.to_token_stream()));
        self.functions.push(Function {
            name: signature.ident.to_string(),
            line,
            line_count: block.span().end().line + 1 - line,
            is_test: attributes.iter().any(|attribute| attribute.path().is_ident("test")),
            words: words(tokens),
        });
    }
}

impl<'a> Visit<'a> for Collector {
    fn visit_item_fn(&mut self, item: &'a syn::ItemFn) {
        self.add(&item.attrs, &item.sig, &item.block);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'a syn::ImplItemFn) {
        self.add(&item.attrs, &item.sig, &item.block);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_macro(&mut self, item: &'a syn::Macro) {
        if item.path.segments.last().is_some_and(|last| last.ident == "proptest") {
            self.functions.extend(properties(item.tokens.clone()));
        }
    }

    fn visit_trait_item_fn(&mut self, item: &'a syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.add(&item.attrs, &item.sig, block);
        }
        visit::visit_trait_item_fn(self, item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_found_wherever_they_are() {
        let text = "\
fn free() {
}

struct S;
impl S {
    /// Documented.
    #[inline]
    pub fn method(
        &self,
    ) {
        fn within() {}
    }
}
trait T {
    fn declared();
    fn default() {}
}
#[test]
fn tested() { assert!(true, \"{}\", vec![helper()].len()); }
";
        let found = functions(text).expect("it is Rust");
        let shown: Vec<_> = found.iter().map(|it| (it.name.as_str(), it.line, it.line_count, it.is_test)).collect();
        let expected = [
            ("free", 1, 2, false),
            ("method", 8, 5, false),
            ("within", 11, 1, false),
            ("default", 16, 1, false),
            ("tested", 19, 1, true),
        ];
        assert_eq!(shown, expected);
        assert!(found.last().is_some_and(|tested| tested.words.contains("helper")));
    }

    #[test]
    fn strings_are_found_but_for_those_of_attributes() {
        let text = "#[doc = \"no\"]\n/// no\nids! {\n    /// no\n    ONE = \"one\";\n    f(\"two\", 'n', 3);\n}\n";
        let tokens = parse(text).expect("it is Rust").into_token_stream();
        assert_eq!(strings(tokens), [(5, "one".to_owned()), (6, "two".to_owned())]);
    }

    #[test]
    fn what_is_not_rust_is_an_error_at_its_line() {
        assert!(functions("fn a() {}\n}\n").is_err_and(|(line, _)| line == 2));
    }
}
