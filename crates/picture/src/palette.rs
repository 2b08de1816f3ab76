//! The colours of a picture, the same in every language: `#rrggbb`.

use crate::Kind;

/// Letters.
pub const INK: &str = "#1f2933";
/// Borders, and arrows that only refer.
pub const GREY: &str = "#7b8794";
/// Arrows.
pub const SLATE: &str = "#52606d";
/// Failures.
pub const RED: &str = "#c81e1e";
/// Choices.
pub const BLUE: &str = "#1d5fa8";
/// The border of a frame.
pub const PALE: &str = "#cbd2d9";

const GREEN: &str = "#0f766e";
const SHADE: &str = "#f5f7fa";

/// The colours of a shape.
pub struct Colours {
    /// Inside.
    pub fill: &'static str,
    /// Its border.
    pub border: &'static str,
    /// Its letters.
    pub letters: &'static str,
}

/// The colours of what stands for `kind`.
pub fn of(kind: Kind) -> Colours {
    let (fill, border, letters) = match kind {
        Kind::Node => ("#ffffff", GREY, INK),
        Kind::Source => ("#d5f2ee", GREEN, GREEN),
        Kind::Handler => ("#fdecec", RED, RED),
        Kind::Empty | Kind::Reference => (SHADE, GREY, INK),
        Kind::Nowhere => ("#ffffff", "#ffffff", RED),
        Kind::Choice => ("#dbeafe", BLUE, BLUE),
        Kind::Bar => (INK, INK, INK),
        Kind::End => (GREY, GREY, GREY),
    };
    Colours { fill, border, letters }
}

/// The inside of a frame that is in `depth` others: neighbours differ.
pub fn frame(depth: usize) -> &'static str {
    if depth.is_multiple_of(2) { SHADE } else { "#e9eef4" }
}
