//! Writes the DOT language (Graphviz, "The DOT Language"): first the shapes inside their frames, then every arrow,
//! because an arrow inside a frame would draw its ends into that frame.

use crate::{html, look};
use flux_picture::{Arrow, Item, Picture, ShapeId};
use flux_source::deep;
use std::fmt::Write;

/// The value of an attribute.
pub(crate) enum AttributeValue {
    /// Text, to be quoted.
    Text(String),
    /// A label in Graphviz's HTML.
    Html(String),
}

impl From<&str> for AttributeValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

/// Attributes of a shape, an arrow or a frame, in order.
pub(crate) type Attributes = Vec<(&'static str, AttributeValue)>;

/// `picture` in the DOT language.
pub fn write(picture: &Picture) -> String {
    let mut out = String::new();
    line(&mut out, 0, &format!("digraph {} {{", quoted(&picture.title)));
    line(&mut out, 1, &format!("graph{};", list(&look::graph(&picture.title))));
    line(&mut out, 1, &format!("node{};", list(&look::node())));
    line(&mut out, 1, &format!("edge{};", list(&look::edge())));
    write_items(&mut out, 1, &picture.items);
    for arrow in &picture.arrows {
        line(&mut out, 1, &arrow_line(arrow));
    }
    line(&mut out, 0, "}");
    out
}

/// Writes items, the last one first: where nothing else decides, a picture from left to right has at its bottom what is
/// written first.
fn write_items(out: &mut String, depth: usize, items: &[Item]) {
    deep(|| {
        for item in items.iter().rev() {
            match item {
                Item::Shape(shape) => line(out, depth, &format!("{}{};", id(shape.id), list(&look::shape(shape)))),
                Item::Beside(one, other) => {
                    line(out, depth, &format!("{{ rank=same; {}; {}; }}", id(*one), id(*other)))
                }
                Item::Frame(frame) => {
                    // Graphviz draws a frame around what is in a `cluster`.
                    line(out, depth, &format!("subgraph cluster_{} {{", frame.id.0));
                    line(out, depth + 1, &format!("graph{};", list(&look::frame(frame))));
                    write_items(out, depth + 1, &frame.items);
                    line(out, depth, "}");
                }
            }
        }
    })
}

fn arrow_line(arrow: &Arrow) -> String {
    let mut attributes: Attributes = vec![];
    if let Some(label) = &arrow.label {
        attributes.push(("label", AttributeValue::Html(html::beside_arrow(label))));
    }
    attributes.extend(look::arrow(arrow.way));
    for (end, frame) in [("ltail", arrow.from_frame), ("lhead", arrow.to_frame)] {
        attributes.extend(frame.map(|frame| (end, AttributeValue::Text(format!("cluster_{}", frame.0)))));
    }
    format!("{} -> {}{};", id(arrow.from), id(arrow.to), list(&attributes))
}

fn id(shape: ShapeId) -> String {
    match shape {
        ShapeId::Drawn(number) => format!("n{number}"),
        ShapeId::Begin(frame) => format!("begin_{}", frame.0),
    }
}

fn line(out: &mut String, depth: usize, text: &str) {
    out.push_str(&"  ".repeat(depth));
    out.push_str(text);
    out.push('\n');
}

/// ` [name="value", …]`
fn list(attributes: &Attributes) -> String {
    if attributes.is_empty() {
        return String::new();
    }
    let mut out = String::new();
    for (name, value) in attributes {
        out.push_str(if out.is_empty() { " [" } else { ", " });
        // Writing to a string cannot fail.
        let _ = match value {
            AttributeValue::Text(text) => write!(out, "{name}={}", quoted(text)),
            AttributeValue::Html(html) => write!(out, "{name}=<{html}>"),
        };
    }
    out.push(']');
    out
}

/// A quoted text, in which Graphviz reads escapes of its own.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
