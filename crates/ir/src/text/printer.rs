//! Lines on their way out: indented, with the spans of what is on them at their end.

use super::lexical;
use super::names::{Labels, Ports};
use super::{Options, names::Names};
use crate::name::Name;
use crate::program::{Constant, Mode};
use flux_source::Span;
use std::fmt::Write;

/// Writes the text form, line by line.
pub(super) struct Printer {
    pub(super) names: Names,
    options: Options,
    out: String,
    line: String,
    spans: Vec<Span>,
    depth: usize,
    gap: bool,
}

impl Printer {
    pub(super) fn new(names: Names, options: Options) -> Self {
        Self { names, options, out: String::new(), line: String::new(), spans: vec![], depth: 0, gap: false }
    }

    /// All lines so far.
    pub(super) fn finish(self) -> String {
        self.out
    }

    /// Adds to the line.
    pub(super) fn write(&mut self, text: impl AsRef<str>) {
        self.line.push_str(text.as_ref());
    }

    /// Adds the span of what is about to be written to the line's end.
    pub(super) fn span(&mut self, span: Span) {
        self.spans.push(span);
    }

    /// Leaves an empty line before the next one, if there is a next one.
    pub(super) fn gap(&mut self) {
        self.gap = true;
    }

    /// Ends the line.
    pub(super) fn end_line(&mut self) {
        let content = std::mem::take(&mut self.line);
        let spans = std::mem::take(&mut self.spans);
        self.out.push_str(if std::mem::take(&mut self.gap) { "\n" } else { "" });
        self.out.push_str(&"  ".repeat(self.depth));
        self.out.push_str(content.trim_end());
        if self.options.spans && spans.iter().any(|span| *span != Span::default()) {
            self.out.push_str("  @");
            let mut before = None;
            for span in spans {
                self.out.push_str(if before.is_some() { " " } else { "" });
                // Writing to a string cannot fail.
                let _ = match before == Some(span.file) {
                    true => write!(self.out, "{}-{}", span.start, span.end),
                    false => write!(self.out, "{}:{}-{}", span.file.0, span.start, span.end),
                };
                before = Some(span.file);
            }
        }
        self.out.push('\n');
    }

    /// Ends the line in `{` and begins the parts of what it declares.
    pub(super) fn open(&mut self) {
        self.write("{");
        self.end_line();
        self.depth += 1;
    }

    /// Ends the parts of the thing opened last.
    pub(super) fn close(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        self.write("}");
        self.end_line();
    }

    /// Writes each item, with `separator` between them.
    pub(super) fn separated<T>(
        &mut self,
        separator: &str,
        items: impl IntoIterator<Item = T>,
        mut item: impl FnMut(&mut Self, T),
    ) {
        for (index, one) in items.into_iter().enumerate() {
            if index > 0 {
                self.write(separator);
            }
            item(self, one);
        }
    }

    /// Mentions the thing at `index`: by name, or by index where the name means another.
    pub(super) fn mention(&mut self, labels: impl Fn(&Names) -> &Labels, index: usize) {
        let mention = labels(&self.names).get(index).map_or_else(|| format!("#{index}"), lexical::declared);
        self.write(mention);
    }

    /// Writes which of the parameters `ports` is meant: by name where that is a word of its own.
    pub(super) fn position(&mut self, ports: Option<Ports>, index: usize) {
        let name = self.names.ports(ports).and_then(|labels| labels.get(index)).map(Name::own);
        let name = name.filter(|name| !name.is_empty() && lexical::word(name) == *name);
        let position = name.map_or_else(|| index.to_string(), str::to_owned);
        self.write(position);
    }

    pub(super) fn mode(&mut self, mode: Mode) {
        self.write(match mode {
            Mode::Read => "?",
            Mode::Intent => "~",
            Mode::Write => "!",
        });
    }

    pub(super) fn constant(&mut self, constant: &Constant) {
        match constant {
            Constant::Integer(value) => self.write(value.to_string()),
            Constant::Text(text) => self.write(lexical::quoted(text)),
            Constant::Boolean(value) => self.write(value.to_string()),
            Constant::Option(option) => {
                self.write("option ");
                self.mention(|names| &names.options, option.index());
            }
        }
    }
}
