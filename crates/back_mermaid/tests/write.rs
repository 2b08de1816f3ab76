//! What Mermaid would read otherwise than as text. That whole pictures are drawn by it has been seen in a browser; how
//! they follow from a program, the tests of `flux graph` say.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use flux_back_mermaid::write;
use flux_ir::text::parse_flow;
use flux_picture::draw;
use flux_source::SourceMap;

#[test]
fn names_and_constants_are_escaped() {
    let flow = "program \"a\\\"<\"\nnode \"end\" () => () {\nflow = N\n}\nnode N (text t) => ()\n\
                function f () => () {\nabstract #0\n%1 = node N(\"#1; `x` <b>|\\n\") else failed\ndone\n}\n";
    let picture = write(&draw(&parse_flow(flow).unwrap(), &SourceMap::new()));
    assert!(picture.starts_with("%% a#34;#60;\nflowchart LR\n"), "{picture}");
    assert!(picture.contains("subgraph frame0[\"end\"]\n"), "{picture}");
    let label = "N(#34;#35;1; #96;x#96; #60;b#62;#124;#92;n#34;)";
    assert!(picture.contains(&format!("n1(\"{label}\")\n")), "{picture}");
}
