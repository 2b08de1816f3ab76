//! Words that we do not use, and those that stand in for work not done.
//!
//! One concept has one name. `mutex` is the business of the standard library; a benchmark that compares with one may
//! say so. The files that list these words are left alone.

use crate::repository::File;
use crate::{Finding, Repository};

/// The word, in lower case, and what to say instead. Each is looked for as a whole word, a plural `s` or `es` allowed.
const WORDS: [(&str, &str); 13] = [
    ("mutex", "say lock (the thing) or constraint (what it is for)"),
    ("coroutine", "say fiber"),
    ("task", "say flow or node"),
    ("signal handler", "say what happens on the signal: handlers are for errors"),
    ("event handler", "say node: handlers are for errors"),
    ("request handler", "say node: handlers are for errors"),
    ("todo", "do it, or open an issue"),
    ("fixme", "mend it, or open an issue"),
    ("xxx", "say what is meant"),
    ("not implemented", "implement it, or refuse it with a diagnostic that says what to do"),
    ("for now", "say what holds, and until when"),
    ("in a real implementation", "this is one"),
    ("coming soon", "write what there is"),
];

/// The files that list the words.
const LISTS: [&str; 2] = ["STYLE.md", "crates/tidy/src/rules/words.rs"];

/// Uses of such words.
pub fn check(repository: &Repository) -> Vec<Finding> {
    let is_ours = |file: &File| !LISTS.contains(&file.path) && !matches!(file.name(), "LICENSE" | "Cargo.lock");
    let lines = repository.files().filter(is_ours).flat_map(|file| file.lines().map(move |line| (file, line)));
    lines.flat_map(|(file, (line, text))| judge(file, line, text)).collect()
}

fn judge(file: File, line: usize, text: &str) -> Vec<Finding> {
    // `snake_case` and `kebab-case` are made of words, too.
    let lower = text.to_lowercase();
    let spaced = lower.replace(['_', '-'], " ");
    let found = WORDS.iter().filter(|(word, _)| uses(&spaced, word).any(|at| !is_foreign(file, &lower, word, at)));
    found.map(|(word, instead)| Finding::new(file.path, line, format!("says `{word}`: {instead}"))).collect()
}

/// Where `word` stands as a whole word in `text`.
fn uses(text: &str, word: &str) -> impl Iterator<Item = usize> {
    text.match_indices(word).map(|(at, _)| at).filter(move |at| {
        let before = text.get(..*at).and_then(|before| before.chars().next_back());
        let after = text.get(at + word.len()..).unwrap_or("");
        let after = after.strip_prefix("es").or_else(|| after.strip_prefix('s')).unwrap_or(after);
        let is_inside = |neighbour: Option<char>| neighbour.is_some_and(char::is_alphanumeric);
        !is_inside(before) && !is_inside(after.chars().next())
    })
}

/// Whether the word at `at` is part of a name that others gave: `std::shared_mutex`, `pthread_mutex_lock`, `<mutex>`,
/// `/proc/self/task`, the lint `todo`, the status 501 of HTTP, whose whole text is in quotation marks.
fn is_foreign(file: File, line: &str, word: &str, at: usize) -> bool {
    let before = line.get(..at).unwrap_or("");
    let name = before.rsplit(|it: char| !it.is_alphanumeric() && !matches!(it, '_' | ':' | '/')).next().unwrap_or("");
    let is_benchmark = file.path.starts_with("bench/") && word == "mutex";
    is_benchmark
        || name.starts_with("std::")
        || name.trim_start_matches("next_").starts_with("pthread")
        || name.contains('/')
        || line.trim_start().starts_with("#include")
        || before.ends_with("pthread ")
        || line == format!("{word} = \"deny\"")
        || line.contains("\"not implemented\"")
}

#[cfg(test)]
mod tests {
    use super::super::assert_found;
    use super::*;

    #[test]
    fn words_are_found_whole_in_any_case_and_in_names() {
        let text =
            "a Mutex\nmutexes\nmy_mutex_guard\ncommutexity\nthe TASKS\nmultitasking\n// TODO: x\ntodos-list\nXXX\n";
        let expected = [
            "a.md:1: says `mutex`: say lock",
            "a.md:2: says `mutex`",
            "a.md:3: says `mutex`",
            "a.md:5: says `task`",
            "a.md:7: says `todo`",
            "a.md:8: says `todo`",
            "a.md:9: says `xxx`",
        ];
        assert_found(check, &[("a.md", text)], &expected);
    }

    #[test]
    fn phrases_are_found() {
        let text =
            "units are not implemented\ninstall_signal_handler();\nmkstemp(\"XXXXXX\")\nfor now\nerror handlers\n";
        let expected = ["a.cpp:1: says `not implemented`", "a.cpp:2: says `signal handler`", "a.cpp:4: says `for now`"];
        assert_found(check, &[("a.cpp", text)], &expected);
    }

    #[test]
    fn names_that_others_gave_are_left_alone() {
        let text = "\
#include <mutex>
std::mutex a; std::unique_lock<std::shared_mutex> b;
pthread_mutex_lock(&c); next_pthread_mutex_lock(&c); PTHREAD_MUTEX_INITIALIZER
std::packaged_task<void()> d; open(\"/proc/self/task\");
// a pthread mutex
return \"Not Implemented\";
";
        assert_found(check, &[("runtime/src/a.cpp", text)], &[]);
        assert_found(check, &[("Cargo.toml", "todo = \"deny\"\n")], &[]);
        assert_found(check, &[("bench/by_hand/a.cpp", "// with one mutex\n"), ("STYLE.md", "mutex\n")], &[]);
        assert_found(check, &[("runtime/src/a.cpp", "flux::mutex a;\n")], &["runtime/src/a.cpp:1: says `mutex`"]);
    }
}
