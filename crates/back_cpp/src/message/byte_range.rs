//! Sets of bytes as C++: each as ranges that a byte is compared with.

use crate::tree::Expression as Cpp;
use flux_ir::message::ByteSet;
use flux_source::Deep;

/// The ranges that a set of bytes consists of.
pub(super) fn ranges(set: ByteSet) -> Vec<(u8, u8)> {
    let mut found: Vec<(u8, u8)> = vec![];
    for byte in set.iter() {
        match found.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(byte) => *last = byte,
            _ => found.push((byte, byte)),
        }
    }
    found
}

/// A byte as C++ writes it.
pub(super) fn byte(value: u8) -> String {
    match value {
        b'\'' | b'\\' => format!("'\\{}'", char::from(value)),
        0x20..=0x7e => format!("'{}'", char::from(value)),
        _ => format!("{value:#04x}"),
    }
}

/// Whether what is called so is a byte of a set.
pub(super) fn within(name: &str, set: ByteSet) -> Cpp {
    let infix = |left, operator, right| Cpp::Infix(Deep::new(left), operator, Deep::new(right));
    let compare = |operator, value: u8| infix(Cpp::name(name), operator, Cpp::name(byte(value)));
    let parts = ranges(set).into_iter().map(|(first, last)| match first == last {
        true => compare("==", first),
        false => infix(compare(">=", first), "&&", compare("<=", last)),
    });
    parts.reduce(|one, other| infix(one, "||", other)).unwrap_or(Cpp::name("false"))
}
