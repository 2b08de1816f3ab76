//! What is shown to a person: colours on a terminal only, progress and errors on standard error.

use crate::arguments::MessageFormat;
use clap::ValueEnum;
use std::io::{IsTerminal as _, Write as _};

/// When to colour.
#[derive(Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Where messages go.
pub struct Terminal {
    color: bool,
    progress: bool,
    width: usize,
    format: MessageFormat,
}

impl Terminal {
    /// Asks whether standard error is a terminal.
    pub fn new(color: Color) -> Self {
        let wanted =
            || std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let color = match color {
            Color::Auto => wanted(),
            Color::Always => true,
            Color::Never => false,
        };
        // Shells say how wide they are; elsewhere lines are as wide as those of a file.
        let columns = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
        Self { color, progress: true, width: columns.unwrap_or(120), format: MessageFormat::Human }
    }

    /// The same, which shows progress or keeps it to itself.
    pub fn with_progress(&self, progress: bool) -> Self {
        Self { progress, ..*self }
    }

    /// The same, which shows diagnostics in this format.
    pub fn with_format(&self, format: MessageFormat) -> Self {
        Self { format, ..*self }
    }

    /// How diagnostics are shown.
    pub fn format(&self) -> MessageFormat {
        self.format
    }

    /// Whether messages are coloured.
    pub fn color(&self) -> bool {
        self.color
    }

    /// The columns of a line.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Shows text as it is.
    pub fn show(&self, text: &str) {
        // A closed standard error is nobody's business but the caller's.
        let _ = std::io::stderr().write_all(text.as_bytes());
    }

    /// `error: …`
    pub fn error(&self, message: &str) {
        let (on, off) = self.paint("\x1b[1;31m");
        self.show(&format!("{on}error{off}: {message}\n"));
    }

    /// `note: …`
    pub fn note(&self, message: &str) {
        let (on, off) = self.paint("\x1b[1;36m");
        self.show(&format!("{on}note{off}: {message}\n"));
    }

    /// One step of what takes long: a verb and its object.
    pub fn progress(&self, verb: &str, object: &str) {
        if !self.progress {
            return;
        }
        let (on, off) = self.paint("\x1b[1;32m");
        self.show(&format!("{on}{verb:>12}{off} {object}\n"));
    }

    fn paint(&self, code: &'static str) -> (&'static str, &'static str) {
        if self.color { (code, "\x1b[0m") } else { ("", "") }
    }
}

/// Writes a result to standard output. A reader that has gone away (`flux ir … | head`) is no error.
pub fn print(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}
