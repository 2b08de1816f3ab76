//! Writes the DOT language (Graphviz, "The DOT Language"): nodes inside their frames first, then every edge, as an edge
//! written inside a frame would draw its ends into it.

use std::fmt::Write;

/// The value of an attribute.
pub(crate) enum Value {
    /// Text, to be quoted.
    Text(String),
    /// A label in Graphviz's HTML.
    Html(String),
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

/// Attributes of a node, an edge or a frame, in order.
pub(crate) type Attributes = Vec<(&'static str, Value)>;

/// A part of a graph.
enum Item {
    Line(String),
    Frame { head: [String; 2], items: Vec<Item> },
}

/// A graph being written.
pub(crate) struct Dot {
    head: [String; 4],
    /// The items of the graph, then of each open frame, outermost first.
    open: Vec<Vec<Item>>,
    /// The first lines of each open frame.
    heads: Vec<[String; 2]>,
    edges: Vec<String>,
}

impl Dot {
    /// An empty graph called `name`; `graph`, `node` and `edge` are what its parts look like unless they say otherwise.
    pub(crate) fn new(name: &str, graph: &Attributes, node: &Attributes, edge: &Attributes) -> Self {
        let head = [
            format!("digraph {} {{", quoted(name)),
            format!("graph{};", list(graph)),
            format!("node{};", list(node)),
            format!("edge{};", list(edge)),
        ];
        Self { head, open: vec![vec![]], heads: vec![], edges: vec![] }
    }

    fn add(&mut self, item: Item) {
        if let Some(items) = self.open.last_mut() {
            items.push(item);
        }
    }

    /// Adds a node to the innermost open frame.
    pub(crate) fn node(&mut self, id: &str, attributes: &Attributes) {
        self.add(Item::Line(format!("{id}{};", list(attributes))));
    }

    /// Adds an edge.
    pub(crate) fn edge(&mut self, from: &str, to: &str, attributes: &Attributes) {
        self.edges.push(format!("{from} -> {to}{};", list(attributes)));
    }

    /// Puts two nodes beside each other, across the direction of the flow.
    pub(crate) fn beside(&mut self, one: &str, other: &str) {
        self.add(Item::Line(format!("{{ rank=same; {one}; {other}; }}")));
    }

    /// Opens a frame inside the innermost open one.
    pub(crate) fn open_frame(&mut self, id: &str, attributes: &Attributes) {
        self.heads.push([format!("subgraph {id} {{"), format!("graph{};", list(attributes))]);
        self.open.push(vec![]);
    }

    /// Closes the innermost open frame.
    pub(crate) fn close_frame(&mut self) {
        if let (Some(head), Some(items)) = (self.heads.pop(), self.open.pop()) {
            self.add(Item::Frame { head, items });
        }
    }

    /// The whole graph, all frames closed.
    pub(crate) fn finish(self) -> String {
        let mut out = String::new();
        let [first, defaults @ ..] = &self.head;
        line(&mut out, 0, first);
        defaults.iter().for_each(|default| line(&mut out, 1, default));
        write_items(&mut out, 1, self.open.iter().flatten());
        self.edges.iter().for_each(|edge| line(&mut out, 1, edge));
        line(&mut out, 0, "}");
        out
    }
}

/// Writes items, the last one first: where nothing else decides, a picture from left to right has at its bottom what is
/// written first.
fn write_items<'a>(out: &mut String, depth: usize, items: impl DoubleEndedIterator<Item = &'a Item>) {
    for item in items.rev() {
        match item {
            Item::Line(text) => line(out, depth, text),
            Item::Frame { head: [first, look], items } => {
                line(out, depth, first);
                line(out, depth + 1, look);
                write_items(out, depth + 1, items.iter());
                line(out, depth, "}");
            }
        }
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
            Value::Text(text) => write!(out, "{name}={}", quoted(text)),
            Value::Html(html) => write!(out, "{name}=<{html}>"),
        };
    }
    out.push(']');
    out
}

/// A quoted text, in which Graphviz reads escapes of its own.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_come_after_all_frames_and_texts_are_quoted() {
        let mut dot = Dot::new("a \"b\" \\", &vec![("rankdir", "LR".into())], &vec![], &vec![]);
        dot.open_frame("cluster_1", &vec![("label", Value::Html("<B>x</B>".to_owned()))]);
        dot.edge("n1", "n2", &vec![]);
        dot.node("n1", &vec![("label", "one".into()), ("shape", "box".into())]);
        dot.node("n3", &vec![]);
        dot.beside("n1", "n3");
        dot.close_frame();
        dot.node("n2", &vec![]);
        let expected = r#"digraph "a \"b\" \\" {
  graph [rankdir="LR"];
  node;
  edge;
  n2;
  subgraph cluster_1 {
    graph [label=<<B>x</B>>];
    { rank=same; n1; n3; }
    n3;
    n1 [label="one", shape="box"];
  }
  n1 -> n2;
}
"#;
        assert_eq!(dot.finish(), expected);
    }
}
