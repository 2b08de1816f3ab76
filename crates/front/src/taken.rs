//! Names that a declaration cannot have: every server uses them already, or C++ allows none of their letters.

use crate::ids;
use flux_diagnostic::Diagnostic;
use flux_source::Span;

/// Each with the reason.
pub const TAKEN: [(&str, &str); 5] = [
    ("main", "the server starts in a `main` of its own"),
    ("flux", "`flux` is the namespace of the runtime"),
    ("flux_flows", "`flux_flows` is the namespace of the generated code"),
    ("FLUX_GENERATED_SUPPORT", "it is a macro of the runtime"),
    ("std", "`std` is the namespace of the C++ library"),
];

/// What is reported of a name with letters beyond ASCII.
pub fn foreign_letters(word: &str, span: Span) -> Diagnostic {
    let headline = format!("`{word}` has letters that a name cannot have");
    let help = "names become those of C++ functions: write `A` to `Z`, `a` to `z`, digits and `_`";
    Diagnostic::error(ids::INVALID_NAME, headline, span).help(help)
}
