//! Where flows in progress are.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use flux_profile::places::{Place, places};

#[test]
fn flows_are_counted_by_where_they_are() {
    let flow = |source: &str, node: &str, ms: u64| {
        format!(r#"{{"source": "{source}", "number": 7, "node": {node}, "seen_ms": {ms}}}"#)
    };
    let all =
        [flow("Web", "null", 0), flow("Web", "\"Rest\"", 5), flow("Mail", "\"Rest\"", 9), flow("Web", "\"Rest\"", 3)];
    let place = |source: &str, node: Option<&str>, flows, longest_ms| Place {
        source: source.to_owned(),
        node: node.map(str::to_owned),
        flows,
        longest_ms,
    };
    assert_eq!(
        places(&format!("{{\"flows\": [{}]}}", all.join(","))).unwrap(),
        [place("Web", Some("Rest"), 2, 5), place("Mail", Some("Rest"), 1, 9), place("Web", None, 1, 0)]
    );
    assert!(places("{\"flows\": []}").unwrap().is_empty());
    assert!(places("{}").unwrap_err().starts_with("it is no list of flows in progress: "));
}
