//! The text form of the model: every message prints and parses back to an equal one.

use crate::program;
use flux_ir::text;
use flux_ir::verify::{self, Stage};

#[test]
fn messages_print_and_parse_back() {
    let own =
        [include_str!("../listing_2.flux"), "type a = unit (bool x) { if (x) { b : bits(8) &requires = $$ > 1; } };"];
    let standard = flux_nodes::modules().filter(|(_, text)| text.contains("= unit")).map(|(_, text)| text);
    let mut count = 0;
    for source in standard.chain(own) {
        let program = program(source);
        let printed = text::print_program(&program);
        let parsed = text::parse_program(&printed).unwrap();
        assert!(parsed == program, "{printed}");
        assert_eq!(verify::program(&parsed, Stage::Typed), []);
        count += program.messages.len();
    }
    assert!(count > 20);
}
