//! The file that `flux host` reads: which programs one process is to run, and what each of them may have.
//!
//! A program begins in the first column of a line: its name, its file, what it may have as `key=value`, and behind `--`
//! its options. Lines further right go on with it. `#` begins a comment.

use std::path::{Path, PathBuf};

/// What is said of one program.
#[derive(Debug, PartialEq, Eq)]
pub struct Hosted {
    /// How it is called in the log and by commands.
    pub name: String,
    /// Its file.
    pub program: PathBuf,
    /// Its share of time beside the others, from 1 to 100.
    pub weight: u32,
    /// How many connections it may have; 0 where nothing is said.
    pub connections: u64,
    /// How many bytes it may have; 0 where nothing is said.
    pub memory: u64,
    /// Its options, and those of its server.
    pub options: Vec<String>,
    /// The line of its name.
    pub line: usize,
}

/// Reads the text of a file in `folder`. Fails with a line's number and what is wrong with it.
pub fn read(text: &str, folder: &Path) -> Result<Vec<Hosted>, (usize, String)> {
    let mut all: Vec<Hosted> = vec![];
    for (line, words) in programs(text) {
        let one = hosted(line, &words, folder).map_err(|problem| (line, problem))?;
        if let Some(same) = all.iter().find(|other| other.name == one.name) {
            return Err((
                line,
                format!("line {} has a program `{}` already: call this one otherwise", same.line, one.name),
            ));
        }
        all.push(one);
    }
    if all.is_empty() {
        return Err((1, "it names no program: write `NAME PROGRAM.flick -- OPTIONS`".to_owned()));
    }
    Ok(all)
}

/// The words of each program, and the line that it begins in.
fn programs(text: &str) -> Vec<(usize, Vec<&str>)> {
    let mut all: Vec<(usize, Vec<&str>)> = vec![];
    for (number, line) in text.lines().enumerate() {
        let said = line.split_once(" #").map_or(line, |(said, _)| said);
        let words = said.split_whitespace();
        match all.last_mut() {
            _ if said.starts_with('#') || said.trim().is_empty() => {}
            Some((_, before)) if said.starts_with([' ', '\t']) => before.extend(words),
            _ => all.push((number + 1, words.collect())),
        }
    }
    all
}

fn hosted(line: usize, words: &[&str], folder: &Path) -> Result<Hosted, String> {
    let mut words = words.iter().copied();
    let name = words.next().unwrap_or_default();
    if name.is_empty() || !name.chars().all(|one| one.is_ascii_alphanumeric() || "_-".contains(one)) {
        return Err(format!("`{name}` is no name: write letters, digits, `_` and `-`"));
    }
    let Some(program) = words.next().filter(|program| *program != "--") else {
        return Err(format!("`{name}` has no program: write `{name} PROGRAM.flick -- OPTIONS`"));
    };
    let mut one = Hosted {
        name: name.to_owned(),
        program: folder.join(program),
        weight: 100,
        connections: 0,
        memory: 0,
        options: vec![],
        line,
    };
    for word in words.by_ref().take_while(|word| *word != "--") {
        let (key, value) = word.split_once('=').unwrap_or((word, ""));
        match key {
            "weight" => one.weight = number(key, value, 1, 100)? as u32,
            "connections" => one.connections = number(key, value, 1, u32::MAX.into())?,
            "memory" => one.memory = number(key, value, 1 << 20, u64::MAX)?,
            _ => {
                let known = "`weight=`, `connections=` and `memory=`";
                return Err(format!("there is no `{word}`: a program may have {known}; its options are behind `--`"));
            }
        }
    }
    one.options = words.map(str::to_owned).collect();
    Ok(one)
}

/// A number with a unit of bytes, or none.
fn number(key: &str, text: &str, least: u64, most: u64) -> Result<u64, String> {
    let units = [("k", 10), ("M", 20), ("G", 30)];
    let unit = units.iter().find_map(|(unit, bits)| text.strip_suffix(unit).map(|digits| (digits, 1_u64 << bits)));
    let (digits, factor) = unit.unwrap_or((text, 1));
    let read = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(factor));
    read.filter(|number| (least..=most).contains(number)).ok_or_else(|| match key {
        "weight" => format!("a weight is a number from 1 to 100, not `{text}`"),
        "memory" => format!("memory is a number of bytes from 1M on, as `64M`, not `{text}`"),
        _ => format!("{key} is a number from {least} on, not `{text}`"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str) -> String {
        let (line, problem) = read(text, Path::new("")).unwrap_err();
        format!("{line}: {problem}")
    }

    #[test]
    fn a_file_says_what_runs_and_what_it_may_have() {
        let front = "# two\n\nfront a.flick weight=50 memory=64M # half\n  connections=1k -- --client 8080\n";
        let text = &format!("{front}    --servers=b:1\nback ../b.flux\n");
        let all = read(text, Path::new("etc")).unwrap();
        assert_eq!(all.len(), 2);
        assert_eq!(all[0].program, Path::new("etc/a.flick"));
        assert_eq!((all[0].weight, all[0].connections, all[0].memory), (50, 1024, 64 << 20));
        assert_eq!(all[0].options, ["--client", "8080", "--servers=b:1"]);
        assert_eq!((all[1].name.as_str(), all[1].weight, all[1].line), ("back", 100, 6));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        assert_eq!(problem("# none\n"), "1: it names no program: write `NAME PROGRAM.flick -- OPTIONS`");
        assert_eq!(problem("\na/b c.flick"), "2: `a/b` is no name: write letters, digits, `_` and `-`");
        assert_eq!(problem("a -- --x"), "1: `a` has no program: write `a PROGRAM.flick -- OPTIONS`");
        assert_eq!(problem("a x.flick\na y.flick"), "2: line 1 has a program `a` already: call this one otherwise");
        assert!(problem("a x.flick --client=1").contains("its options are behind `--`"));
        assert_eq!(problem("a x.flick weight=0"), "1: a weight is a number from 1 to 100, not `0`");
        assert_eq!(problem("a x.flick memory=64"), "1: memory is a number of bytes from 1M on, as `64M`, not `64`");
        assert_eq!(problem("a x.flick connections="), "1: connections is a number from 1 on, not ``");
    }
}
