//! Pictures of a program as large as a real server's: whatever is in the program is in the picture, in every form.

use std::path::Path;
use std::process::Command;

/// A shop: fifty nodes, two sources, a timer, dispatches, handlers, parallel branches, shared nodes.
const SHOP: &str = "tests/pictures/shop.flux";

fn graph(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_flux")).arg("graph").args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The nodes that the program declares or gives a flow: what stands first on a line of its own.
fn nodes() -> Vec<String> {
    let text = std::fs::read_to_string(SHOP).unwrap();
    let first = |line: &str| line.split([' ', ':', '(']).next().unwrap_or_default().to_owned();
    let mut names: Vec<_> = text.lines().map(first).filter(|name| name.starts_with(char::is_uppercase)).collect();
    names.sort();
    names.dedup();
    names
}

/// The file that `flux graph` writes under this name.
fn file(name: &str) -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    graph(&[SHOP, "-o", &path.display().to_string()]);
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn the_shop_has_fifty_nodes() {
    assert!(nodes().len() >= 50, "{:?}", nodes());
}

#[test]
fn graphviz_draws_every_node() {
    let picture = file("shop.svg");
    assert!(picture.contains("</svg>"), "{picture}");
    for node in nodes() {
        assert!(picture.contains(&format!(">{node}</text>")), "{node} is not in the picture");
    }
    assert_eq!(picture.matches("class=\"cluster\"").count(), 11, "frames");
}

#[test]
fn a_flowchart_has_every_node_and_arrow() {
    let (picture, dot) = (file("shop.mmd"), graph(&[SHOP]));
    assert_eq!(picture, graph(&[SHOP, "--format", "mermaid"]));
    for node in nodes() {
        let there = ["\"", "<br/>"].iter().any(|end| picture.contains(&format!("\"{node}{end}")));
        assert!(there, "{node} is not in the picture");
    }
    let arrows =
        picture.matches(" --> ").count() + picture.matches(" -->|").count() + picture.matches(" -.-> ").count();
    assert_eq!(arrows, dot.matches(" -> ").count());
    let shared = picture.lines().find_map(|line| line.trim().strip_prefix("subgraph ")?.strip_suffix("[\"WithUser\"]"));
    let refers = format!("n7 -.-> {}", shared.unwrap());
    for part in ["n4 -->|\"[_, cart]\"| n7", "n7[[\"WithUser\"]]", &refers, "n16 --> n17", "n17 -.-> n18"] {
        assert!(picture.contains(&format!("  {part}\n")), "no {part}: {picture}");
    }
}

#[test]
fn without_graphviz_a_picture_in_svg_says_what_to_install() {
    let mut flux = Command::new(env!("CARGO_BIN_EXE_flux"));
    let output = flux.args(["graph", SHOP, "--format", "svg"]).env("PATH", "").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said, "error: svg needs Graphviz, which is not installed: apt-get install graphviz\n");
}

#[test]
fn a_form_that_flux_does_not_draw_is_refused() {
    let mut flux = Command::new(env!("CARGO_BIN_EXE_flux"));
    let output = flux.args(["graph", SHOP, "-o", "shop.png"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.starts_with("error: flux draws no .png: let the output end in .svg"), "{said}");
    assert!(!Path::new("shop.png").exists());
}
