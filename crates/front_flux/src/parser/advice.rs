//! What to write instead: the line of help of a mistake, chosen by what was found where something else should be.
//!
//! People who write Flux have written C++, shell scripts and the configuration of other servers, and their fingers know
//! it. What they most often mean by a token is looked for here, one place of the grammar after the other.

use super::Parser;
use crate::quantity;
use crate::token::{STARTERS, TokenKind};
use flux_diagnostic::nearest;
use flux_ir::cpp_keyword::is_keyword;

/// How a statement ends.
pub(super) const END: &str = "every statement ends with `;`";

/// What statements there are.
pub(super) const STATEMENTS: &str = "statements are `A (…) => (…);`, `A = …;`, and what starts with include, typedef, \
     source, handle, atomic, use, option or type";

/// For a `#`, by the word after it.
pub(super) fn for_hash(word: &str) -> &'static str {
    match word {
        "include" => "write `include \"…\";`, without the `#` and with a `;`",
        "define" | "undef" | "if" | "ifdef" | "ifndef" | "else" | "endif" | "pragma" => {
            "Flux has no preprocessor: write this into a header, and include that"
        }
        "!" => "remove this line: programs are run by `flux run`",
        _ => "comments start with `//`",
    }
}

/// For a number whose unit does not exist, is written in another way, or that is not whole.
pub(super) fn for_number(spelling: &str) -> String {
    let digits = spelling.trim_end_matches(|character: char| !character.is_ascii_digit());
    let unit = spelling.strip_prefix(digits).unwrap_or("");
    if let Some(value) = spelling.strip_prefix("0x").and_then(|hexadecimal| i64::from_str_radix(hexadecimal, 16).ok()) {
        return format!("numbers are decimal: `{value}`");
    }
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return "numbers are whole: write a smaller unit, `1500ms` for one and a half seconds".to_owned();
    }
    match in_units(digits, unit) {
        Some((meant, true)) => format!("did you mean `{meant}`?"),
        Some((meant, false)) => format!("the largest unit of time is the minute: write `{meant}`"),
        None => UNITS.to_owned(),
    }
}

/// The units of numbers.
pub(super) const UNITS: &str = "the units are `k`, `M` and `G` for sizes, and `ms`, `s` and `m` for durations";

/// A number with a word for its unit, as Flux writes it: `30m` for `30 minutes`; and whether there is such a unit.
pub(super) fn in_units(digits: &str, word: &str) -> Option<(String, bool)> {
    let (unit, factor) = quantity::meant(word)?;
    let number = digits.parse::<i64>().ok()?.checked_mul(factor)?;
    Some((format!("{number}{unit}"), factor == 1))
}

impl Parser<'_, '_> {
    /// Where a statement should end: for a mark that ends sentences elsewhere, and for a bracket that closes nothing.
    pub(super) fn advice_after_statement(&self) -> Option<&'static str> {
        let ends = self.second().kind == TokenKind::End || self.starts_statement_at_line(self.position + 1);
        match self.peek().kind {
            TokenKind::Comma | TokenKind::Colon | TokenKind::Dot if ends => Some("write `;` in its place"),
            TokenKind::CloseParenthesis | TokenKind::CloseBracket | TokenKind::CloseBrace => {
                Some("remove it: no bracket is open here")
            }
            _ => None,
        }
    }

    /// Where a statement should start.
    pub(super) fn advice_for_statement(&self) -> &'static str {
        let touches = self.peek().span.end == self.second().span.start;
        match (self.peek().kind, self.spelling(self.second())) {
            (TokenKind::Semicolon, _) => "remove it: each statement has one `;`",
            (TokenKind::Asterisk, "/") if touches => "remove it: the comment was closed before",
            (TokenKind::Minus, "-") if touches => "comments start with `//`",
            _ => STATEMENTS,
        }
    }

    /// After a word that starts no statement.
    pub(super) fn advice_after_word(&self, word: &str) -> String {
        let next = self.spelling(self.peek());
        if !self.at(TokenKind::Word) {
            return STATEMENTS.to_owned();
        }
        if let Some(starter) = nearest(word, STARTERS) {
            return format!("did you mean `{starter}`?");
        }
        match self.second().kind {
            _ if STARTERS.contains(&next) => format!("the keyword comes first: `{next} {word} …;`"),
            TokenKind::OpenParenthesis => {
                format!("a declaration starts with the node's name: `{next} (…) => (…);`")
            }
            _ if is_keyword(word) => "C++ belongs in a header: write `include \"…\";`".to_owned(),
            TokenKind::Equals => format!("a flow starts with the node's name: `{next} = …;`"),
            TokenKind::Colon => format!("constraints are written `atomic {next}:{{…}};`"),
            TokenKind::Semicolon => STATEMENTS.to_owned(),
            _ => format!("inputs and outputs are in parentheses: `{word} (…) => (…);`"),
        }
    }

    /// After a declaration.
    pub(super) fn advice_after_declaration(&self) -> &'static str {
        match self.peek().kind {
            TokenKind::OpenBrace => "a node has one body",
            TokenKind::Equals => "the flow of a node is a statement of its own: `Name = …;`",
            _ => END,
        }
    }

    /// After the inputs of a node, where there is no arrow.
    pub(super) fn advice_before_outputs(&self) -> &'static str {
        match self.peek().kind {
            TokenKind::Word => "attributes come after the outputs: `(…) => (…) blocking;`",
            _ => "a declaration has inputs and outputs, which may be empty: `(…) => (…);`",
        }
    }

    /// After the node that a source is, where there is no arrow.
    pub(super) fn advice_before_target(&self) -> &'static str {
        match self.peek().kind {
            TokenKind::Comma => "each source has a statement of its own",
            TokenKind::OpenBrace => "a heartbeat has no session: remove it",
            TokenKind::Word => "write a duration right after `every`, its unit without a space: `100ms`",
            _ => "say which node it starts: `source Listen => Page;`",
        }
    }

    /// After the target of a source or a handler; `what` is "a source starts".
    pub(super) fn advice_after_target(&self, what: &str) -> String {
        match self.peek().kind {
            TokenKind::Arrow | TokenKind::FatArrow | TokenKind::OpenParenthesis | TokenKind::OpenBracket => {
                format!("{what} one node: give the flow a name, `Flow = A -> B;`, and write that here")
            }
            TokenKind::Comma => format!("{what} one node: one that does both is `Both = (A & B);`"),
            TokenKind::OpenBrace => {
                "the session is named before the arrow: `source Listen {session: Function} => …;`".to_owned()
            }
            _ => END.to_owned(),
        }
    }

    /// After a typedef.
    pub(super) fn advice_after_typedef(&self) -> &'static str {
        match self.peek().kind {
            TokenKind::OpenParenthesis => "write only the name of the function: its argument is the value",
            TokenKind::Word => {
                "a predicate type is one name, then the function that tests it; C++ types belong in a header"
            }
            _ => END,
        }
    }

    /// Where a step should be.
    pub(super) fn advice_for_step(&self) -> &'static str {
        let after_arrow = matches!(self.previous().kind, TokenKind::Arrow | TokenKind::FatArrow);
        match self.peek().kind {
            TokenKind::Arrow | TokenKind::FatArrow if after_arrow => "remove one of the two arrows",
            TokenKind::Arrow | TokenKind::FatArrow => "remove the arrow: what comes first needs none",
            TokenKind::Equals => "a flow is written with one `=`",
            _ if after_arrow => "name the node that comes next, or remove the arrow",
            _ => "a step is the name of a node, or branches in parentheses: `(A & B)`",
        }
    }

    /// After a step.
    pub(super) fn advice_after_step(&self) -> &'static str {
        let before = self.spelling(self.previous());
        match self.peek().kind {
            TokenKind::Ampersand => "branches that run concurrently are in parentheses: `(A & B)`",
            TokenKind::Question => "a choice is made by patterns: `Page:[hit] = A;` and `Page:[_] = B;`",
            TokenKind::Word if before == ")" => "a choice is made by patterns: `Page:[hit] = A;` and `Page:[_] = B;`",
            _ => "steps are joined by `->`",
        }
    }

    /// Where a pattern should be.
    pub(super) fn advice_for_pattern(&self) -> &'static str {
        match self.peek().kind {
            TokenKind::CloseBracket if self.previous().kind == TokenKind::Comma => {
                "remove the `,`, or write `_`, which matches any value"
            }
            TokenKind::Exclamation => {
                "lines are tried in order: let the line before take what matches, and write `_` here"
            }
            _ => "write a predicate type, declared by `typedef`, or `_`, which matches any value",
        }
    }
}
