//! Pictures of three programs, kept as snapshots and looked at when they change, and what must hold of any picture.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test that cannot go on fails")]

use flux_back_dot::write;
use flux_ir::text::parse_flow;
use flux_picture::draw;
use flux_source::SourceMap;

fn picture(flow: &str) -> String {
    write(&draw(&parse_flow(flow).unwrap(), &SourceMap::new()))
}

/// How often `part` is in `whole`.
fn count(whole: &str, part: &str) -> usize {
    whole.matches(part).count()
}

#[test]
fn the_image_server() {
    insta::assert_snapshot!(picture(include_str!("image.ir")));
}

#[test]
fn a_web_server_with_nested_and_shared_nodes_fallbacks_and_a_timer() {
    insta::assert_snapshot!(picture(include_str!("web.ir")));
}

#[test]
fn a_bank_with_sessions_keys_branches_and_a_dispatch_that_may_fail() {
    insta::assert_snapshot!(picture(include_str!("bank.ir")));
}

#[test]
fn a_shared_node_is_drawn_once_and_each_use_refers_to_it() {
    let picture = picture(include_str!("web.ir"));
    assert_eq!(count(&picture, "<B>Account</B>"), 1);
    assert_eq!(count(&picture, "peripheries=\"2\""), 2);
    assert_eq!(count(&picture, "style=\"dotted\""), 2);
    assert_eq!(count(&picture, "label=<CountHit>") + count(&picture, "<TD>CountHit</TD>"), 1);
}

#[test]
fn tooltips_say_where_things_are() {
    let flow = "program p\nnode A () => ()  @0:8-9\nnode B () => ()\nsource A => B  @0:10-11 10-11\n\
                function produce () => () {\nproduce 0\n%1 = node A() else failed  @0:10-11\ndone\n}\n\
                function run () => () {\nrun 0\n%1 = node B() else failed  @0:12-13\ndone\n}\n\
                entry produce produce run run\n";
    let sources = SourceMap::of("p.flux", "A;\nB;\n\n\n1\n2\n3\n");
    let picture = write(&draw(&parse_flow(flow).unwrap(), &sources));
    assert!(picture.contains("label=<A>, tooltip=\"p.flux:6\""), "{picture}");
    assert!(picture.contains("label=<B>, tooltip=\"p.flux:7\""), "{picture}");
}

/// Nodes `A0`, which is concrete, to `A{deep}`, each of which contains the one before.
fn nested(deep: usize) -> String {
    let mut text = "program p\nnode A0 () => ()\n".to_owned();
    for index in 1..=deep {
        text += &format!("node A{index} () => () {{\nflow = A{}\n}}\n", index - 1);
    }
    for index in 1..=deep {
        let kind = if index == 1 { "node" } else { "function" };
        text += &format!("function A{index} () => () {{\nabstract A{index}\n");
        text += &format!("%1 = {kind} A{}() else failed\ndone\n}}\n", index - 1);
    }
    text
}

#[test]
fn deep_nesting_is_drawn_apart_and_everything_is_drawn_without_a_source() {
    let picture = picture(&nested(2000));
    let depths = picture.lines().filter(|line| line.contains("subgraph"));
    let deepest = depths.map(|line| line.len() - line.trim_start().len()).max();
    assert_eq!(deepest, Some(8), "frames are indented by 2 for each that they are in");
    assert_eq!(count(&picture, "subgraph"), 2000);
    assert_eq!(count(&picture, "label=<A0>"), 1);
}

#[test]
fn sources_that_share_a_target_point_at_it() {
    let mut text = nested(1);
    text += "node S () => ()\nsource S => A1\nsource every 250ms => A1\n";
    text += "function S_produce () => () {\nproduce 0\n%1 = node S() else failed\ndone\n}\n";
    for index in 0..2 {
        text += &format!("function run_{index} () => () {{\nrun {index}\n%1 = function A1() else failed\ndone\n}}\n");
    }
    text += "entry produce S_produce run run_0\nentry run run_1\n";
    let picture = picture(&text);
    assert!(picture.contains("every 250ms"), "{picture}");
    assert_eq!(count(&picture, "-> begin_1 [weight=\"4\", lhead=\"cluster_1\"]"), 2, "{picture}");
}

#[test]
fn names_and_constants_are_escaped() {
    let flow = "program \"a\\\"<\"\nnode \"x<y>&\" () => () {\nflow = N\n}\nnode N (text t) => ()\n\
                function f () => () {\nabstract #0\n%1 = node N(\"\\\"&\\n\") else failed\ndone\n}\n";
    let picture = picture(flow);
    assert!(picture.starts_with("digraph \"a\\\"<\" {\n  graph [label=<<B>a&quot;&lt;</B>>,"), "{picture}");
    assert!(picture.contains("label=<<B>x&lt;y&gt;&amp;</B>>"), "{picture}");
    assert!(picture.contains("label=<N(&quot;\\&quot;&amp;\\n&quot;)>"), "{picture}");
}

#[test]
fn a_branch_that_waits_for_another_comes_after_it() {
    let flow = "program p\nnode A () => ()\nnode B () => ()\nnode P () => () {\nflow = (A & B)\n}\n\
                function one () => () {\nbranch P\n%1 = node A() else failed\ndone\n}\n\
                function two () => () {\nbranch P\n%1 = node B() else failed\ndone\n}\n\
                function P () => () {\nabstract P\n%1 = fork one & two after 0() else failed\ndone\n}\n";
    let id = |picture: &str, label: &str| {
        let line = picture.lines().find(|line| line.contains(&format!("label=<{label}>"))).unwrap();
        line.trim().split(' ').next().unwrap().to_owned()
    };
    let picture = picture(flow);
    let (first, second) = (id(&picture, "A"), id(&picture, "B"));
    assert!(picture.contains(&format!("{first} -> {second} ")), "{picture}");
}
