//! The words after the opening marker of a fence, which tell the harness what to do.

/// What a fence is there for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fence {
    /// `flux [file=NAME] [notes]`: a program to compile.
    Program {
        /// What its file is called, where the page says so.
        file: Option<String>,
        /// Whether notes must be asserted too.
        notes: bool,
    },
    /// `LANGUAGE file=NAME`: a file for the commands that follow.
    File(String),
    /// `diagnostics`: what the compiler says about the program before, as it prints it.
    Diagnostics,
    /// `ir program`, `ir flow [function NAME]`, `dot`, `cpp FILE [function NAME]`, `cpp FILE struct NAME`, `cpp FILE
    /// table NAME`, …: what it prints of the program before.
    Output {
        /// The key in [`crate::Outcome::outputs`].
        key: String,
        /// Only this of it.
        part: Option<Part>,
    },
    /// `console`: commands to run and what they print.
    Console,
    /// Anything else: for the reader alone.
    Prose,
}

/// A definition in what is printed, by its name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Part {
    /// A function, of C++ or of a flow.
    Function(String),
    /// A struct or an enumeration of C++.
    Struct(String),
    /// An array of C++ with its values.
    Table(String),
}

/// The fence whose opening marker is followed by `info`, or what is wrong with that.
pub fn parse(info: &str) -> Result<Fence, String> {
    let words: Vec<&str> = info.split_whitespace().collect();
    let Some((language, attributes)) = words.split_first() else {
        return Ok(Fence::Prose);
    };
    match (*language, attributes) {
        ("flux", _) => parse_program(attributes),
        ("diagnostics", []) => Ok(Fence::Diagnostics),
        ("console", []) => Ok(Fence::Console),
        (_, [attribute]) if attribute.starts_with("file=") => Ok(Fence::File(parse_file(attribute)?)),
        ("ir", ["program" | "flow"]) | ("dot" | "mermaid" | "constraints", []) => {
            Ok(Fence::Output { key: words.join(" "), part: None })
        }
        ("ir", ["flow", "function", name]) => {
            Ok(Fence::Output { key: "ir flow".to_owned(), part: Some(Part::Function((*name).to_owned())) })
        }
        ("cpp", [file]) => Ok(Fence::Output { key: format!("cpp {file}"), part: None }),
        ("cpp", [file, kind @ ("function" | "struct" | "table"), name]) => {
            let part = match *kind {
                "struct" => Part::Struct,
                "table" => Part::Table,
                _ => Part::Function,
            };
            Ok(Fence::Output { key: format!("cpp {file}"), part: Some(part((*name).to_owned())) })
        }
        ("cpp", []) => Ok(Fence::Prose),
        ("diagnostics" | "console" | "ir" | "dot" | "mermaid" | "constraints" | "cpp", _) => {
            Err(format!("`{info}` is not a fence of this harness: crates/mdtest/README.md lists them"))
        }
        _ => Ok(Fence::Prose),
    }
}

fn parse_program(attributes: &[&str]) -> Result<Fence, String> {
    let (mut file, mut notes) = (None, false);
    for attribute in attributes {
        match *attribute {
            "notes" => notes = true,
            _ if attribute.starts_with("file=") => file = Some(parse_file(attribute)?),
            _ => return Err(format!("a flux fence has no attribute `{attribute}`, only `file=NAME` and `notes`")),
        }
    }
    Ok(Fence::Program { file, notes })
}

/// A name that stays in the directory that the commands run in.
fn parse_file(attribute: &str) -> Result<String, String> {
    let name = attribute.strip_prefix("file=").unwrap_or_default();
    let stays = name.split('/').all(|part| !matches!(part, "" | "." | ".."));
    if stays { Ok(name.to_owned()) } else { Err(format!("`{attribute}` is not the name of a file in a folder")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(key: &str, function: Option<&str>) -> Result<Fence, String> {
        Ok(Fence::Output { key: key.to_owned(), part: function.map(|name| Part::Function(name.to_owned())) })
    }

    #[test]
    fn programs_have_a_name_and_may_assert_notes() {
        assert_eq!(parse("flux"), Ok(Fence::Program { file: None, notes: false }));
        let file = Some("sub/a.flux".to_owned());
        assert_eq!(parse("flux notes file=sub/a.flux"), Ok(Fence::Program { file, notes: true }));
    }

    #[test]
    fn outputs_are_known_by_their_words() {
        assert_eq!(parse("ir flow"), output("ir flow", None));
        assert_eq!(parse("ir flow function Image"), output("ir flow", Some("Image")));
        assert_eq!(parse("dot"), output("dot", None));
        assert_eq!(parse("constraints"), output("constraints", None));
        assert_eq!(parse("cpp a.flux.cpp"), output("cpp a.flux.cpp", None));
        assert_eq!(parse("cpp a.flux.cpp function Image"), output("cpp a.flux.cpp", Some("Image")));
    }

    #[test]
    fn files_may_be_of_any_language() {
        assert_eq!(parse("cpp file=image.h"), Ok(Fence::File("image.h".to_owned())));
        assert_eq!(parse("make file=Makefile"), Ok(Fence::File("Makefile".to_owned())));
    }

    #[test]
    fn other_fences_are_prose() {
        for info in ["", "cpp", "rust", "text with words", "sh"] {
            assert_eq!(parse(info), Ok(Fence::Prose), "{info}");
        }
    }

    #[test]
    fn what_looks_like_ours_and_is_not_is_an_error() {
        for info in ["flux note", "ir", "ir flows", "cpp a.cpp method x", "dot x", "console x", "diagnostics json"] {
            assert!(parse(info).is_err(), "{info}");
        }
        for name in ["", "/etc/passwd", "../a", "a//b", "a/../b"] {
            assert!(parse(&format!("flux file={name}")).is_err(), "{name}");
        }
    }
}
