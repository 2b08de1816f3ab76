//! The colours of a picture, the same in every language: `#rrggbb`.

use crate::ShapeKind;

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
pub fn of(kind: ShapeKind) -> Colours {
    let (fill, border, letters) = match kind {
        ShapeKind::Node => ("#ffffff", GREY, INK),
        ShapeKind::Source => ("#d5f2ee", GREEN, GREEN),
        ShapeKind::Handler => ("#fdecec", RED, RED),
        ShapeKind::Empty | ShapeKind::Reference => (SHADE, GREY, INK),
        ShapeKind::Nowhere => ("#ffffff", "#ffffff", RED),
        ShapeKind::Choice => ("#dbeafe", BLUE, BLUE),
        ShapeKind::Bar => (INK, INK, INK),
        ShapeKind::End => (GREY, GREY, GREY),
    };
    Colours { fill, border, letters }
}

/// The inside of a frame that is in `depth` others: neighbours differ.
pub fn frame(depth: usize) -> &'static str {
    if depth.is_multiple_of(2) { SHADE } else { "#e9eef4" }
}
