//! Messages: what the verifier requires of them.

use flux_ir::text::{parse_program, print_program};
use flux_ir::verify::{self, Stage};

const MESSAGES: &str = include_str!("message.ir");

/// What is wrong once `old`, which is there once, is `new`.
#[track_caller]
fn broken(old: &str, new: &str) -> Vec<String> {
    assert_eq!(MESSAGES.matches(old).count(), 1, "`{old}` is not there once");
    let program = parse_program(&MESSAGES.replace(old, new)).unwrap();
    verify::program(&program, Stage::Resolved).into_iter().map(|violation| violation.message).collect()
}

#[test]
fn messages_read_back_and_are_well_formed() {
    let program = parse_program(MESSAGES).unwrap();
    assert_eq!(verify::program(&program, Stage::Resolved), []);
    assert_eq!(print_program(&program), MESSAGES);
}

#[test]
fn each_fault_is_found() {
    for (old, new, what) in [
        ("  has #10\n", "  has #10\n  has #0\n", "has a field twice"),
        ("  has #10\n", "  has #13\n", "has a field that there is not"),
        ("  has #10\n", "", "has a field nowhere"),
        ("field back", "field body2", ""),
        ("field back", "field body", "has two fields of one name"),
        ("unsigned 16 big", "unsigned 12 big", "has a field that is nothing"),
        ("unsigned 32 10", "unsigned 32 7", "has a field that is nothing"),
        ("bits 8", "bits 65", "has a field that is nothing"),
        ("\"0d0a\"", "\"\"", "has a field that is nothing"),
        ("[a-z]+", "[a-z", "has a field that is nothing"),
        ("item ([] integer:\"uint8\" 2)", "item ()", "has a field that is nothing"),
        ("item ([] integer:\"uint8\" 2)", "item ([] integer:\"uint64\" 2)", "has a field that is nothing"),
        ("rest = var \"uint32\"", "rest = var \"uint16\"", "has a field that is nothing"),
        ("literal \"0d0a\"", "literal \"0d0a\" eod", "has a field with an end that it cannot have"),
        ("bits 8", "bits 8 stream", "has a stream that is not of bytes"),
        ("bits 8", "bits 8 list eod", "has a list of what has no end of its own"),
        ("bits 8", "bits 8 parse_at [] integer:\"int64\" 3", "looks back for what is no message"),
        ("literal \"0d0a\"", "literal \"0d0a\" convert [] integer:\"int64\" 3", "converts what is no value"),
        ("parse_at [] integer:\"int64\" 3", "parse_at [] truth:\"bool\" true", "has a formula of another type"),
        ("update #11", "update #0", "updates what is no variable"),
        ("update #11", "update #7 [] integer:\"uint64\" 1 update #11", "has a formula of another type"),
        ("serialize #0", "serialize #3", "gives a value to what cannot have one"),
        ("serialize #0", "serialize #6", "gives a value to what cannot have one"),
        ("[self.6.0:\"uint64\"]", "[self.6.1:\"uint64\"]", "names what is not there"),
        ("[self.6.0:\"uint64\"]", "[self.9.0:\"uint64\"]", "names what is not there"),
        ("[self.2:\"uint64\"]", "[self.2:\"uint32\"]", "names what is not there"),
        ("[parameter 0:\"uint64\"]", "[parameter 1:\"uint64\"]", "names what is not there"),
        ("case (\"61\")", "case (61)", "has a label of another type"),
        ("case (\"61\")", "case ()", "has a case with the wrong labels"),
        ("case (\"61\")", "case (\"61\", \"61\")", "has a label twice"),
        ("case (\"61\")", "case * ()", "has a case after the last resort"),
        ("message item", "message frame", "two messages are called `frame`"),
    ] {
        // The name of the second message is mentioned by others.
        let new = if old == "message item" { "message item (uint8 kind) max 1 {\n}\nmessage item" } else { new };
        let what = if old == "message item" { "two messages are called `item`" } else { what };
        let found = broken(old, new);
        assert!(what.is_empty() && found.is_empty() || found.iter().any(|one| one.contains(what)), "{new}: {found:?}");
    }
}

#[test]
fn what_is_no_message_is_refused_with_its_line() {
    for (old, new, line) in [
        ("bits 8", "bits", 5),
        ("literal \"0d0a\"", "literal \"0d0\"", 7),
        ("token", "tokens", 8),
        ("string", "strings", 16),
        ("times", "timed", 9),
        ("has #10", "have #10", 38),
        ("parameter 0", "parameters 0", 10),
    ] {
        assert_eq!(parse_program(&MESSAGES.replacen(old, new, 1)).unwrap_err().line, line, "{new}");
    }
}
