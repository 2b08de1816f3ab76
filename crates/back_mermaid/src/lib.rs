//! Writes a picture as a Mermaid flowchart, which Markdown viewers draw where it stands in a `mermaid` fence
//! (mermaid.js.org, "Flowcharts - Basic Syntax").
//!
//! It keeps to the syntax that every version since 9 knows, as the reader's viewer is not ours to choose: shapes by
//! their brackets, colours by classes. Constraints stand below a name as they do in an `atomic` statement: `{cache}`.

use flux_picture::palette::{self, Colours, GREY, INK, PALE, RED};
use flux_picture::{Arrow, Frame, FrameId, Item, Picture, Shape, ShapeId, ShapeKind, Way};
use std::fmt::Write as _;

/// Every kind of shape with its class and what its style has beside colours.
const CLASSES: [(ShapeKind, &str, &str); 9] = [
    (ShapeKind::Node, "node", ""),
    (ShapeKind::Source, "source", ""),
    (ShapeKind::Handler, "handler", ""),
    (ShapeKind::Empty, "empty", ",stroke-dasharray:4 3"),
    (ShapeKind::Reference, "reference", ""),
    (ShapeKind::Nowhere, "nowhere", ""),
    (ShapeKind::Choice, "choice", ""),
    (ShapeKind::Bar, "bar", ""),
    (ShapeKind::End, "point", ""),
];

/// `picture` as a Mermaid flowchart, from left to right.
pub fn write(picture: &Picture) -> String {
    let mut chart = Chart { text: String::new(), members: CLASSES.map(|_| vec![]), frames: vec![] };
    chart.line(0, &format!("%% {}", escaped(&picture.title)));
    chart.line(0, "flowchart LR");
    chart.items(1, &picture.items);
    for arrow in &picture.arrows {
        chart.line(1, &arrow_line(arrow));
    }
    chart.styles(&picture.arrows);
    chart.text
}

/// A flowchart being written.
struct Chart {
    text: String,
    /// The shapes of each class, in the order of [`CLASSES`].
    members: [Vec<String>; CLASSES.len()],
    /// The frames with how many others they are in.
    frames: Vec<(String, usize)>,
}

impl Chart {
    fn line(&mut self, depth: usize, text: &str) {
        self.text.push_str(&"  ".repeat(depth));
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn items(&mut self, depth: usize, items: &[Item]) {
        for item in items {
            match item {
                Item::Shape(shape) => {
                    for ((kind, ..), members) in CLASSES.iter().zip(&mut self.members) {
                        if *kind == shape.kind {
                            members.push(shape_id(shape.id));
                        }
                    }
                    self.line(depth, &shape_line(shape));
                }
                Item::Frame(frame) => self.frame(depth, frame),
                // Mermaid places shapes by their arrows alone.
                Item::Beside(..) => {}
            }
        }
    }

    fn frame(&mut self, depth: usize, frame: &Frame) {
        let id = frame_id(frame.id);
        self.line(depth, &format!("subgraph {id}[\"{}\"]", label(&frame.name, &frame.badges)));
        self.line(depth + 1, "direction LR");
        self.items(depth + 1, &frame.items);
        self.line(depth, "end");
        self.frames.push((id, frame.depth));
    }

    /// Colours, after all that they are for.
    fn styles(&mut self, arrows: &[Arrow]) {
        let members = std::mem::take(&mut self.members);
        for ((kind, class, more), members) in CLASSES.iter().zip(members).filter(|(_, members)| !members.is_empty()) {
            let Colours { fill, border, letters } = palette::of(*kind);
            self.line(1, &format!("classDef {class} fill:{fill},stroke:{border},color:{letters}{more}"));
            self.line(1, &format!("class {} {class}", members.join(",")));
        }
        for (way, colour) in [(Way::Failure, RED), (Way::Refers, GREY), (Way::Reaches, GREY)] {
            let those = arrows.iter().enumerate().filter(|(_, arrow)| arrow.way == way);
            let numbers: Vec<_> = those.map(|(number, _)| number.to_string()).collect();
            if !numbers.is_empty() {
                self.line(1, &format!("linkStyle {} stroke:{colour}", numbers.join(",")));
            }
        }
        for (id, depth) in std::mem::take(&mut self.frames) {
            self.line(1, &format!("style {id} fill:{},stroke:{PALE},color:{INK}", palette::frame(depth)));
        }
    }
}

/// A shape by its brackets: `n1(["Listen"])`.
fn shape_line(shape: &Shape) -> String {
    let (open, close) = match shape.kind {
        ShapeKind::Node | ShapeKind::Handler | ShapeKind::Empty => ("(", ")"),
        ShapeKind::Source => ("([", "])"),
        ShapeKind::Reference => ("[[", "]]"),
        ShapeKind::Nowhere | ShapeKind::Bar => ("[", "]"),
        ShapeKind::Choice => ("{", "}"),
        ShapeKind::End => ("((", "))"),
    };
    // A shape without text is called by its id.
    let text = if shape.text.is_empty() { " ".to_owned() } else { label(&shape.text, &shape.badges) };
    format!("{}{open}\"{text}\"{close}", shape_id(shape.id))
}

fn arrow_line(arrow: &Arrow) -> String {
    let line = match arrow.way {
        Way::Flow => "-->",
        Way::Failure | Way::Refers | Way::Reaches => "-.->",
    };
    let end = |shape, frame: Option<_>| frame.map_or_else(|| shape_id(shape), frame_id);
    let label = arrow.label.as_ref().map_or(String::new(), |label| format!("|\"{}\"|", escaped(label)));
    format!("{} {line}{label} {}", end(arrow.from, arrow.from_frame), end(arrow.to, arrow.to_frame))
}

fn shape_id(shape: ShapeId) -> String {
    match shape {
        ShapeId::Drawn(number) => format!("n{number}"),
        ShapeId::Begin(frame) => format!("begin{}", frame.0),
    }
}

fn frame_id(frame: FrameId) -> String {
    format!("frame{}", frame.0)
}

/// A name and the constraints below it.
fn label(name: &str, badges: &[String]) -> String {
    let mut text = escaped(name);
    if !badges.is_empty() {
        text.push_str("<br/>");
        text.push_str(&escaped(&format!("{{{}}}", badges.join(", "))));
    }
    text
}

/// Text within quotation marks: what Mermaid, Markdown or HTML would read as theirs stands as a character's number.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for character in text.chars() {
        if character.is_alphanumeric() || " _.,:;?!(){}[]+-/=…".contains(character) {
            out.push(character);
        } else {
            // Writing to a string cannot fail.
            let _ = write!(out, "#{};", u32::from(character));
        }
    }
    out
}
