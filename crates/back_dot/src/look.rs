//! What things look like: colours, shapes, lines and letters, and nothing else.

use crate::dot::{AttributeValue, Attributes};
use crate::html;
use flux_picture::palette::{self, BLUE, GREY, INK, PALE, RED, SLATE};
use flux_picture::{Frame, Shape, ShapeKind, Way};

const FONT: &str = "Helvetica,Arial,sans-serif";

/// The whole picture, from left to right.
pub(crate) fn graph(title: &str) -> Attributes {
    vec![
        ("label", AttributeValue::Html(format!("<B>{}</B>", html::escaped(title)))),
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

/// A box, unless it says otherwise.
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
        ("color", SLATE.into()),
        ("arrowsize", "0.7".into()),
        ("fontname", FONT.into()),
        ("fontsize", "10".into()),
        ("fontcolor", BLUE.into()),
    ]
}

/// A frame and its label.
pub(crate) fn frame(frame: &Frame) -> Attributes {
    let name = format!("<B>{}</B>", html::escaped(&frame.name));
    vec![
        ("label", AttributeValue::Html(html::with_badges(&name, &frame.badges))),
        ("tooltip", frame.place.as_str().into()),
        ("labeljust", "l".into()),
        ("fontsize", "12".into()),
        ("fontcolor", "#3e4c59".into()),
        ("style", "rounded,filled".into()),
        ("fillcolor", palette::frame(frame.depth).into()),
        ("color", PALE.into()),
        ("margin", "12".into()),
    ]
}

/// An arrow: the way that requests take is straight, where it can be.
pub(crate) fn arrow(way: Way) -> Attributes {
    match way {
        Way::Flow => vec![("weight", "4".into())],
        Way::Failure => vec![("style", "dashed".into()), ("color", RED.into()), ("fontcolor", RED.into())],
        Way::Refers => vec![("style", "dotted".into()), ("color", GREY.into()), ("arrowhead", "open".into())],
        Way::Reaches => vec![
            ("style", "dashed".into()),
            ("color", GREY.into()),
            ("fontcolor", GREY.into()),
            ("penwidth", "0.6".into()),
            ("arrowsize", "0.5".into()),
            // It goes round what is drawn, and moves nothing.
            ("constraint", "false".into()),
        ],
    }
}

/// A shape and what is written in it.
pub(crate) fn shape(shape: &Shape) -> Attributes {
    let mut attributes = match shape.kind {
        ShapeKind::Choice | ShapeKind::Bar | ShapeKind::End => vec![("label", "".into()), ("fixedsize", "true".into())],
        _ => vec![
            ("label", AttributeValue::Html(html::with_badges(&html::escaped(&shape.text), &shape.badges))),
            ("tooltip", shape.place.as_str().into()),
        ],
    };
    let colours = palette::of(shape.kind);
    let (fill, border, letters) =
        (("fillcolor", colours.fill), ("color", colours.border), ("fontcolor", colours.letters));
    let differs: &[(&'static str, &str)] = match shape.kind {
        ShapeKind::Node => &[],
        ShapeKind::Source => &[("shape", "cds"), ("style", "filled"), fill, border, letters],
        ShapeKind::Handler => &[fill, border, letters],
        ShapeKind::Empty => &[("style", "rounded,filled,dashed"), fill],
        ShapeKind::Reference => &[("peripheries", "2"), fill],
        ShapeKind::Nowhere => &[("shape", "plaintext"), ("style", ""), letters, ("fontsize", "10")],
        ShapeKind::Choice => {
            &[("shape", "diamond"), ("style", "filled"), fill, border, ("width", "0.26"), ("height", "0.26")]
        }
        ShapeKind::Bar => &[("shape", "box"), ("style", "filled"), fill, ("width", "0.06"), ("height", "0.7")],
        ShapeKind::End => &[("shape", "circle"), ("style", "filled"), fill, ("width", "0.1"), ("height", "0.1")],
    };
    attributes.extend(differs.iter().map(|(name, value)| (*name, AttributeValue::from(*value))));
    attributes
}
