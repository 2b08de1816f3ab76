//! What things look like: colours, shapes, lines and letters, and nothing else.

use crate::dot::{Attributes, Value};
use crate::label;

const FONT: &str = "Helvetica,Arial,sans-serif";
const INK: &str = "#1f2933";
const GREY: &str = "#7b8794";
const RED: &str = "#c81e1e";
const BLUE: &str = "#1d5fa8";
const GREEN: &str = "#0f766e";

/// The whole picture, from left to right.
pub(crate) fn graph(title: &str) -> Attributes {
    vec![
        ("label", Value::Html(format!("<B>{}</B>", label::escaped(title)))),
        ("labelloc", "t".into()),
        ("labeljust", "l".into()),
        ("rankdir", "LR".into()),
        // Arrows may end at frames, and what is in different frames may stand in one column.
        ("compound", "true".into()),
        ("newrank", "true".into()),
        ("fontname", FONT.into()),
        ("fontsize", "18".into()),
        ("fontcolor", INK.into()),
        ("nodesep", "0.3".into()),
        ("ranksep", "0.5".into()),
        ("pad", "0.3".into()),
        ("bgcolor", "white".into()),
    ]
}

/// A node, unless it says otherwise.
pub(crate) fn node() -> Attributes {
    vec![
        ("shape", "box".into()),
        ("style", "rounded,filled".into()),
        ("fillcolor", "white".into()),
        ("color", GREY.into()),
        ("fontname", FONT.into()),
        ("fontsize", "12".into()),
        ("fontcolor", INK.into()),
        ("height", "0.42".into()),
        ("margin", "0.14,0.06".into()),
    ]
}

/// An arrow, unless it says otherwise.
pub(crate) fn edge() -> Attributes {
    vec![
        ("color", "#52606d".into()),
        ("arrowsize", "0.7".into()),
        ("fontname", FONT.into()),
        ("fontsize", "10".into()),
        ("fontcolor", BLUE.into()),
    ]
}

/// The frame of an abstract node inside of `depth` others.
pub(crate) fn frame(depth: usize) -> Attributes {
    let fill = if depth.is_multiple_of(2) { "#f5f7fa" } else { "#e9eef4" };
    vec![
        ("labeljust", "l".into()),
        ("fontsize", "12".into()),
        ("fontcolor", "#3e4c59".into()),
        ("style", "rounded,filled".into()),
        ("fillcolor", fill.into()),
        ("color", "#cbd2d9".into()),
        ("margin", "12".into()),
    ]
}

/// The way that requests take: straight, where it can be.
pub(crate) fn way() -> Attributes {
    vec![("weight", "4".into())]
}

/// The way of a failure.
pub(crate) fn failure() -> Attributes {
    vec![("style", "dashed".into()), ("color", RED.into()), ("fontcolor", RED.into())]
}

/// From a use to where the abstract node is drawn.
pub(crate) fn refers() -> Attributes {
    vec![("style", "dotted".into()), ("color", GREY.into()), ("arrowhead", "open".into())]
}

/// Where flows come from.
pub(crate) fn source() -> Attributes {
    vec![
        ("shape", "cds".into()),
        ("style", "filled".into()),
        ("fillcolor", "#d5f2ee".into()),
        ("color", GREEN.into()),
        ("fontcolor", GREEN.into()),
    ]
}

/// What handles a failure.
pub(crate) fn handler() -> Attributes {
    vec![("fillcolor", "#fdecec".into()), ("color", RED.into()), ("fontcolor", RED.into())]
}

/// An abstract node that hands its values on.
pub(crate) fn empty() -> Attributes {
    vec![("style", "rounded,filled,dashed".into()), ("fillcolor", "#f5f7fa".into())]
}

/// A use of an abstract node that is drawn elsewhere.
pub(crate) fn reference() -> Attributes {
    vec![("peripheries", "2".into()), ("fillcolor", "#f5f7fa".into())]
}

/// What happens where nothing is foreseen.
pub(crate) fn nowhere() -> Attributes {
    vec![("shape", "plaintext".into()), ("style", "".into()), ("fontcolor", RED.into()), ("fontsize", "10".into())]
}

/// Where a dispatch chooses.
pub(crate) fn choice() -> Attributes {
    let size = "0.26";
    vec![
        ("shape", "diamond".into()),
        ("style", "filled".into()),
        ("fillcolor", "#dbeafe".into()),
        ("color", BLUE.into()),
        ("width", size.into()),
        ("height", size.into()),
    ]
}

/// Where branches begin and end.
pub(crate) fn bar() -> Attributes {
    vec![
        ("shape", "box".into()),
        ("style", "filled".into()),
        ("fillcolor", INK.into()),
        ("width", "0.06".into()),
        ("height", "0.7".into()),
    ]
}

/// Where a frame that stands apart begins and ends.
pub(crate) fn dot() -> Attributes {
    vec![
        ("shape", "circle".into()),
        ("label", "".into()),
        ("fixedsize", "true".into()),
        ("style", "filled".into()),
        ("fillcolor", GREY.into()),
        ("width", "0.1".into()),
        ("height", "0.1".into()),
    ]
}
