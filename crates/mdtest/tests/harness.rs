//! The harness itself: a page that is right passes, and for each rule a page that breaks it fails, at the right line.

use flux_diagnostic::{Diagnostic, Diagnostics, Id};
use flux_mdtest::{Compiler, Outcome, Report, run};
use flux_source::{FileId, SourceMap, Span};
use std::collections::BTreeMap;
use std::path::Path;

/// A compiler of a language in which `bad`, `odd` and `fyi` are an error, a warning and a note.
struct Toy;

impl Compiler for Toy {
    fn compile(&self, name: &str, text: &str, _: &BTreeMap<String, String>) -> Outcome {
        let mut diagnostics = Diagnostics::new();
        for (start, _) in text.char_indices() {
            let rest = text.get(start..).unwrap_or("");
            let span = Span::new(FileId(0), start..start + 3);
            if rest.starts_with("bad;") {
                diagnostics.push(Diagnostic::error(Id("bad-word"), "a bad word", span));
            } else if rest.starts_with("odd;") {
                diagnostics.push(Diagnostic::warning(Id("odd-word"), "an odd word", span));
            } else if rest.starts_with("fyi;") {
                diagnostics.push(Diagnostic::note(Id("by-the-way"), "by the way", span));
            }
        }
        let mut outputs = BTreeMap::new();
        if !diagnostics.has_errors() {
            outputs.insert("ir flow".to_owned(), format!("program {name}\n  {}\n", text.trim()));
            outputs.insert("cpp a.cpp".to_owned(), GENERATED.to_owned());
        }
        Outcome { sources: SourceMap::of(name, text), diagnostics, outputs }
    }
}

const GENERATED: &str = "\
void Other(int);

// a.flux:1: A
void A(int n)
{
    if (n) {
    }
}

void Other(int n)
{
    A(n);
}

// Two.
struct pair {
    int first;
    int second;
};

enum kind : int {
    one,
};

constexpr kind kinds[] = {
    {one},
};
";

fn toy(page: &str) -> Report {
    run("page.md", page, &Toy, None)
}

/// The lines of a page that fail, and the page's whole complaint.
fn failures(page: &str) -> (Vec<usize>, String) {
    let report = toy(page);
    (report.failures.iter().map(|failure| failure.line).collect(), report.to_string())
}

/// Asserts that a page fails at `line` alone, with a message that has `words` in it.
fn assert_fails(page: &str, line: usize, words: &str) {
    let (lines, shown) = failures(page);
    assert_eq!(lines, [line], "{shown}");
    assert!(shown.starts_with(&format!("page.md:{line}: ")), "{shown}");
    assert!(shown.contains(words), "`{words}` is not in:\n{shown}");
}

#[test]
fn a_page_that_is_right_passes_and_counts_what_it_asserts() {
    let page = "# Title\n\n```flux\nA; bad; // error: [bad-word] \"bad\"\n```\n\nMore.\n\n```flux\nfyi;\n```\n\n\
                ```ir flow\n\
                program test.flux\n  fyi;\n```\n\n```cpp\nint x;\n```\n";
    let report = toy(page);
    assert_eq!((report.to_string().as_str(), report.assertions, report.updated), ("", 3, None));
}

#[test]
fn a_page_of_prose_asserts_nothing() {
    let mut report = toy("# Title\n\n```sh\nmake\n```\n\n```console\n$ make\n```\n");
    assert_eq!((report.to_string().as_str(), report.assertions), ("", 0));
    report.require_assertion();
    assert_eq!(report.to_string(), "page.md:1: asserts nothing\n");
}

#[test]
fn a_page_of_a_diagnostic_shows_it() {
    let page = "```flux\nbad; // error: [bad-word]\n```\n";
    let mut report = toy(page);
    report.require_assertion();
    report.require_example(page, "bad-word");
    assert_eq!(report.to_string(), "");
    report.require_example(page, "odd-word");
    assert_eq!(report.to_string(), "page.md:1: has no example that gives `[odd-word]`\n");
}

#[test]
fn an_error_that_is_not_asserted_fails() {
    assert_fails("```flux\nA;\nbad;\n```\n", 3, "error[bad-word]: a bad word");
}

#[test]
fn a_warning_that_is_not_asserted_fails() {
    assert_fails("```flux\nodd;\n```\n", 2, "warning[odd-word]: an odd word");
}

#[test]
fn a_note_that_is_not_asserted_fails_where_the_fence_says_so() {
    assert_eq!(failures("```flux\nfyi;\n```\n").1, "");
    assert_fails("```flux notes\nfyi;\n```\n", 2, "note[by-the-way]");
}

#[test]
fn an_assertion_without_its_diagnostic_fails() {
    assert_fails("```flux\nA; // error: [bad-word]\n```\n", 2, "not found: error: [bad-word]");
    assert_fails("```flux\n\nA; // note: [by-the-way]\n```\n", 3, "not found: note: [by-the-way]");
}

#[test]
fn an_assertion_with_other_words_fails() {
    let (lines, shown) = failures("```flux\nbad; // error: [bad-word] \"a good word\"\n```\n");
    assert_eq!(lines, [2, 2], "{shown}");
}

#[test]
fn an_assertion_on_another_line_fails() {
    let (lines, shown) = failures("```flux\nbad;\nA; // error: [bad-word]\n```\n");
    assert_eq!(lines, [2, 3], "{shown}");
}

#[test]
fn an_assertion_in_the_wrong_form_fails() {
    assert_fails("```flux\nA; // error: bad-word\n```\n", 2, "not an assertion");
}

#[test]
fn an_output_that_differs_fails_and_is_shown() {
    assert_fails("```flux\nA;\n```\n\n```ir flow\nprogram test.flux\n  B;\n```\n", 5, "    -   B;\n    +   A;\n");
}

#[test]
fn an_output_that_is_not_there_fails() {
    assert_fails("```flux\nA;\n```\n\n```ir program\n```\n", 5, "it gives `cpp a.cpp`, `ir flow`");
    assert_fails("```flux\nbad; // error: [bad-word]\n```\n\n```ir flow\n```\n", 5, "it has errors");
}

#[test]
fn an_output_before_any_program_fails() {
    assert_fails("```ir flow\n```\n", 1, "no flux fence before");
}

#[test]
fn outputs_speak_of_the_last_program() {
    let page = "```flux\nA;\n```\n```flux file=b.flux\nB;\n```\n```ir flow\nprogram b.flux\n  B;\n```\n";
    assert_eq!(failures(page).1, "");
}

#[test]
fn one_function_of_generated_code_can_be_asserted() {
    let expected = "// a.flux:1: A\nvoid A(int n)\n{\n    if (n) {\n    }\n}\n";
    assert_eq!(failures(&format!("```flux\nA;\n```\n```cpp a.cpp function A\n{expected}```\n")).1, "");
    assert_eq!(
        failures("```flux\nA;\n```\n```cpp a.cpp function Other\nvoid Other(int n)\n{\n    A(n);\n}\n```\n").1,
        ""
    );
    assert_fails("```flux\nA;\n```\n```cpp a.cpp function A\nvoid A(int n)\n```\n", 4, "    + // a.flux:1: A");
    assert_fails("```flux\nA;\n```\n```cpp a.cpp function B\n```\n", 4, "no function `B`");
    assert_fails("```flux\nA;\n```\n```cpp b.cpp\n```\n", 4, "no `cpp b.cpp`");
}

#[test]
fn one_struct_or_table_of_generated_code_can_be_asserted() {
    let of = |part: &str, text: &str| format!("```flux\nA;\n```\n```cpp a.cpp {part}\n{text}```\n");
    for (part, text) in [
        ("struct pair", "// Two.\nstruct pair {\n    int first;\n    int second;\n};\n"),
        ("struct kind", "enum kind : int {\n    one,\n};\n"),
        ("table kinds", "constexpr kind kinds[] = {\n    {one},\n};\n"),
    ] {
        assert_eq!(failures(&of(part, text)).1, "");
    }
    assert_fails(&of("struct pai", ""), 4, "no struct `pai`");
    assert_fails(&of("table kind", ""), 4, "no table `kind`");
}

#[test]
fn printed_diagnostics_stand_for_comments() {
    let printed = "error[bad-word]: a bad word\n --> test.flux:1:1\n  |\n1 | bad;\n  | ^^^\n\n1 error\n";
    assert_eq!(failures(&format!("```flux\nbad;\n```\n```diagnostics\n{printed}```\n")).1, "");
    let other = printed.replace("1 error", "2 errors");
    assert_fails(&format!("```flux\nbad;\n```\n```diagnostics\n{other}```\n"), 4, "    - 2 errors\n    + 1 error");
}

#[test]
fn printed_diagnostics_of_another_program_do_not() {
    let page = "```flux\nbad;\n```\n```flux\nA;\n```\n```diagnostics\n```\n";
    assert_fails(page, 2, "not asserted");
}

#[test]
fn a_fence_that_looks_like_ours_fails() {
    assert_fails("```flux note\nA;\n```\n", 1, "no attribute `note`");
    assert_fails("```ir\n```\n", 1, "not a fence of this harness");
}

#[test]
fn a_fence_that_is_not_closed_fails() {
    assert_fails("text\n\n```flux\nA;\n", 3, "never closed");
}

#[test]
fn what_differs_is_updated_in_place() {
    let page = "1. item\n\n   ```flux\n   A;\n   ```\n\n   ```ir flow\n   program [..]\n     B;\n   ```\n\nend\n";
    let updated = toy(page).updated.expect("it differs");
    assert_eq!(updated, page.replace("     B;", "     A;"));
    assert_eq!(toy(&updated).updated, None);
}

#[test]
fn wrong_comments_are_not_updated() {
    let report = toy("```flux\nbad;\n```\n");
    assert_eq!((report.failures.len(), report.updated), (1, None));
}

/// Runs a page whose `flux` is the shell.
fn with_commands(page: &str) -> Report {
    run("page.md", page, &Toy, Some(Path::new("/bin/sh")))
}

#[test]
fn commands_find_the_files_of_the_page() {
    let files = "```flux file=a.flux\nA;\n```\n```cpp file=src/a.h\nint a;\n```\n";
    let report = with_commands(&format!("{files}```console\n$ flux -c 'cat a.flux src/a.h'\nA;\nint a;\n```\n"));
    assert_eq!((report.to_string().as_str(), report.assertions), ("", 2));
}

#[test]
fn a_command_that_prints_something_else_fails() {
    let page = "```console\n$ flux -c 'echo one; echo two >&2; echo three; exit 3'\n[..]e\nand\nthree\n```\n";
    let report = with_commands(page);
    assert!(report.to_string().starts_with("page.md:1: "), "{report}");
    assert_eq!(report.updated, Some(page.replace("'\n", "'\n? 3\n").replace("and", "two")), "{report}");
}

#[test]
fn a_command_that_fails_unforeseen_fails() {
    assert_eq!(with_commands("```console\n$ flux -c 'exit 0'\n```\n").to_string(), "");
    assert_eq!(with_commands("```console\n$ flux -c 'exit 1'\n? 1\n```\n").to_string(), "");
    assert!(with_commands("```console\n$ flux -c 'exit 1'\n```\n").to_string().contains("    + ? 1"));
    assert!(with_commands("```console\n$ flux -c 'exit 0'\n? 1\n```\n").to_string().contains("    - ? 1"));
}

#[test]
fn a_page_with_commands_and_no_binary_fails() {
    assert_fails("```console\n$ flux check\n```\n", 1, "there is no `flux` binary");
}

#[test]
fn a_command_that_cannot_be_run_fails() {
    let report = with_commands("```console\n$ flux -c true\n$ rm -r x\n```\n");
    assert!(report.to_string().contains("only `flux` can be run on a page, not `rm`"), "{report}");
}
