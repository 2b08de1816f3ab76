//! Runs the commands of ```` ```console ```` fences in a temporary directory and gives their output.
//!
//! A fence has lines `$ flux …`, each followed by what the command prints, standard output and standard error in the
//! order written. A command that is to fail is followed by `? STATUS` first. Only `flux` can be run: a page is no shell
//! script, and a fence without a `$ flux` line is for the reader alone.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// Where the commands of a page run.
pub struct Console<'a> {
    flux: Option<&'a Path>,
    directory: Option<TempDir>,
}

impl<'a> Console<'a> {
    /// A console whose `flux` is the binary at this path; its directory is made when it is first needed.
    pub fn new(flux: Option<&'a Path>) -> Self {
        Self { flux, directory: None }
    }

    /// Writes a file for the commands to find.
    pub fn write(&mut self, name: &str, text: &str) -> io::Result<()> {
        let path = self.directory()?.join(name);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(path, text)
    }

    /// Runs the commands of a fence: the fence's text as it should be; none where it has no command of ours.
    pub fn run(&mut self, fence: &str) -> Result<Option<String>, String> {
        let mut commands = fence.lines().filter_map(|line| line.strip_prefix("$ ")).peekable();
        if !fence.lines().any(|line| line.starts_with("$ flux ")) {
            return Ok(None);
        }
        let mut text = String::new();
        while let Some(command) = commands.next() {
            let (status, output) = self.execute(command)?;
            text.push_str(&format!("$ {command}\n"));
            if status != "0" {
                text.push_str(&format!("? {status}\n"));
            }
            text.push_str(&output);
            if commands.peek().is_some() && !output.is_empty() && !output.ends_with('\n') {
                text.push('\n');
            }
        }
        Ok(Some(text))
    }

    /// The exit status and everything printed.
    fn execute(&mut self, command: &str) -> Result<(String, String), String> {
        let flux = self.flux.ok_or("there is no `flux` binary to run this with")?;
        let words = split_words(command).ok_or_else(|| format!("a quote is not closed: {command}"))?;
        let Some((program, arguments)) = words.split_first() else {
            return Err("a command is missing after `$`".to_owned());
        };
        if program != "flux" {
            return Err(format!("only `flux` can be run on a page, not `{program}`"));
        }
        let directory = self.directory().map_err(|error| format!("no temporary directory: {error}"))?;
        run(flux, arguments, &directory).map_err(|error| format!("cannot run {}: {error}", flux.display()))
    }

    fn directory(&mut self) -> io::Result<PathBuf> {
        let directory = match self.directory.take() {
            Some(directory) => directory,
            None => TempDir::with_prefix("flux-mdtest-")?,
        };
        Ok(self.directory.insert(directory).path().to_owned())
    }
}

fn run(program: &Path, arguments: &[String], directory: &Path) -> io::Result<(String, String)> {
    let (mut reader, writer) = io::pipe()?;
    let mut command = Command::new(program);
    command.args(arguments).current_dir(directory).env("NO_COLOR", "1").stdin(Stdio::null());
    let mut child = command.stdout(writer.try_clone()?).stderr(writer).spawn()?;
    // The command holds the writing end of the pipe, whose reader would wait for it for ever.
    drop(command);
    let mut output = vec![];
    reader.read_to_end(&mut output)?;
    let status = child.wait()?;
    let status = status.code().map_or_else(|| status.to_string(), |code| code.to_string());
    Ok((status, String::from_utf8_lossy(&output).into_owned()))
}

/// The words of a command as a shell splits them: at spaces, but not in quotes; none where a quote is not closed.
fn split_words(command: &str) -> Option<Vec<String>> {
    let mut words = vec![];
    let mut word: Option<String> = None;
    let mut quote = None;
    for character in command.chars() {
        match quote {
            Some(open) if character == open => quote = None,
            Some(_) => word.get_or_insert_default().push(character),
            None if matches!(character, '"' | '\'') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            None if character.is_whitespace() => words.extend(word.take()),
            None => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_a_shell_does() {
        let words = |command| split_words(command).map(|words| words.join("|"));
        assert_eq!(words("flux check  a.flux").as_deref(), Some("flux|check|a.flux"));
        assert_eq!(words("flux 'a b' \"c 'd\" e\"f\"").as_deref(), Some("flux|a b|c 'd|ef"));
        assert_eq!(words("flux ''").as_deref(), Some("flux|"));
        assert_eq!(words("flux 'a"), None);
    }

    #[test]
    fn a_fence_without_flux_is_not_run() {
        assert_eq!(Console::new(None).run("$ make demo\nit works\n"), Ok(None));
    }

    #[test]
    fn nothing_else_and_nothing_absent_is_run() {
        let echo = Path::new("/bin/echo");
        assert!(Console::new(Some(echo)).run("$ flux a\n$ rm -r b\n").is_err_and(|error| error.contains("`rm`")));
        assert!(Console::new(None).run("$ flux a\n").is_err_and(|error| error.contains("no `flux` binary")));
        assert!(Console::new(Some(Path::new("/no/such/flux"))).run("$ flux a\n").is_err());
    }

    #[test]
    fn commands_share_a_directory_with_the_files() {
        let mut console = Console::new(Some(Path::new("/bin/cat")));
        console.write("sub/a.txt", "one\ntwo").expect("it can be written");
        let text = console.run("$ flux sub/a.txt\nwhatever\n$ flux 'sub/a.txt'\n");
        assert_eq!(text, Ok(Some("$ flux sub/a.txt\none\ntwo\n$ flux 'sub/a.txt'\none\ntwo".to_owned())));
    }

    #[test]
    fn a_failure_and_what_it_prints_are_part_of_the_output() {
        let text = Console::new(Some(Path::new("/bin/ls"))).run("$ flux no-such-file\n").expect("it runs");
        let text = text.expect("it is run");
        assert!(text.starts_with("$ flux no-such-file\n? 2\n"), "{text}");
        assert_eq!(text.matches("no-such-file").count(), 2, "{text}");
    }
}
