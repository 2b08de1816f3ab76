//! Units: the grammars of messages. `.flux` has the same notation (the paper's Listing 2 is of both languages), so what
//! reads it there reads it here: of the text it sees the units, and blanks for all else, so that every place stays.

use crate::syntax::{Declaration, Syntax};
use flux_front::Front as _;
use flux_front::scope::Scope;
use flux_front_flux::FluxFront;
use flux_source::FileId;

/// Adds the messages of `text`, which is the file `file`, to the program.
pub fn read(file: FileId, text: &str, syntax: &Syntax<'_>, scope: &mut Scope<'_>) {
    let masked = masked(text, syntax);
    if !masked.trim().is_empty() {
        FluxFront.read(file, &masked, scope);
    }
}

/// The units of `text`, and blanks for all else.
pub fn masked(text: &str, syntax: &Syntax<'_>) -> String {
    let units = syntax.declarations.iter().filter_map(|declaration| match declaration {
        Declaration::Unit(_, span) => Some(span.range()),
        _ => None,
    });
    let (mut masked, mut at) = (String::with_capacity(text.len()), 0);
    for unit in units {
        blank(text.get(at..unit.start).unwrap_or_default(), &mut masked);
        masked.push_str(text.get(unit.clone()).unwrap_or_default());
        at = unit.end;
    }
    masked
}

/// Adds as many bytes of white space as `text` has, in the same lines.
fn blank(text: &str, masked: &mut String) {
    masked.extend(text.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
}
