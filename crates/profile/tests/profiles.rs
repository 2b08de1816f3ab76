//! Profiles that are read, merged, compared, and written for other tools.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on fails")]

use flux_profile::compare::{Figures, Mode, Subject, compare};
use flux_profile::histogram::Histogram;
use flux_profile::merge::merge;
use flux_profile::pprof::pprof;
use flux_profile::profile::Profile;
use serde_json::Value;

/// Of a server with two sources, which both come to `Send`, one of them a third of the times.
fn profile(look: &[(u64, u64)], failed: u64) -> Profile {
    let histogram = |steps: &[(u64, u64)]| serde_json::to_value(Histogram::of(steps)).unwrap();
    let node = |name: &str, steps: &[(u64, u64)]| {
        serde_json::json!({"name": name, "file": "test.flux", "line": 3, "whole": histogram(steps),
                           "ran": histogram(steps),
                           "parked_for": {"read": histogram(&[(4096, 2)])}})
    };
    let done = 300 - failed;
    let flows = serde_json::json!({"started": 300, "done": done, "failed": failed, "ended": 0, "cancelled": 0});
    let path = |source: &str, count: u64, labels: &[&str]| {
        let labels = labels.to_vec();
        serde_json::json!({"source": source, "exit": "done", "number": 1, "count": count, "labels": labels,
            "times": histogram(&[(4096, count)]), "ran_ns": 7, "waited_ns": 3})
    };
    let source =
        |name: &str| serde_json::json!({"name": name, "file": "test.flux", "line": 1, "nothing": 0, "flows": flows});
    let json = serde_json::json!({
        "format": 1, "program": "test", "strategy": "pool", "seconds": 2.5, "cpu_seconds": 0.5, "flows": flows,
        "sources": [source("Web"), source("Mail")],
        "constraints": [{"name": "table", "taken": 10, "waited": 2, "waited_ns": 700, "timed": 1, "held_ns": 50,
                         "keys": [{"key": "2a", "text": "alice", "times": 2, "surplus": 0}],
                         "distinct_keys": look.len(),
                         "reuse": {"first_uses": 10, "distances": [[0, 20], [1, 10], [1024, 60]]}}],
        "failures": [{"name": "Look", "code": 5, "meaning": "error 5", "times": failed, "unhandled": failed}],
        "flow_times": [{"source": "Web", "whole": histogram(&[(4096, 300)]), "ran": histogram(&[(4096, 300)])}],
        "node_times": [node("Look", look), node("Send", &[(64, 300)])],
        "value_sizes": [{"from": "Web", "to": "Look", "bytes": {"times": 200, "measured": 100, "sum_bytes": 20300,
                         "steps": [[100, 190], [110, 10]]}}],
        "paths": [path("Web", 200, &["Web", "Look", "Send"]), path("Mail", 100, &["Mail", "Send"])],
        "what later versions add": 1
    });
    Profile::read(&json.to_string()).unwrap()
}

#[test]
fn what_is_written_is_read_again() {
    let one = profile(&[(1024, 200)], 3);
    assert_eq!(Profile::read(&one.write()).unwrap(), one);
}

#[test]
fn what_is_no_profile_is_told() {
    let wrong = |json: &str| Profile::read(json).unwrap_err();
    assert!(wrong(r#"{"format": 1, "prog"#).ends_with("; was it cut short?"));
    assert_eq!(wrong("[]"), "it is no profile: let a server write one with --flux-report=json:FILE");
    let of_format = |format: &str| wrong(&format!(r#"{{{format}"program": "test", "node_times": []}}"#));
    assert_eq!(
        of_format(r#""format": 2, "#),
        "it has format 2, and this flux reads format 1: use the flux that built the server"
    );
    assert_eq!(of_format(""), "it is of an older Flux, without a format: build the server with this one");
    let wrong_type = of_format(r#""format": 1, "seconds": "1", "#);
    assert_eq!(wrong_type, "it is no profile: invalid type: string \"1\", expected f64");
}

#[test]
fn counts_that_are_too_many_stay_at_the_most() {
    let most = u64::MAX;
    let flows = format!(r#"{{"started": {most}, "done": {most}, "failed": {most}}}"#);
    let times =
        format!(r#"{{"times": {most}, "measured": {most}, "sum_ns": {most}, "steps": [[0, {most}], [{most}, 9]]}}"#);
    let path = format!(r#"{{"source": "S", "count": {most}, "labels": ["N"]}}"#);
    let json = format!(
        r#"{{"format": 1, "program": "p", "flows": {flows}, "sources": [{{"name": "S", "flows": {flows}}}],
            "constraints": [{{"name": "c", "taken": {most}, "readers": {{"taken": {most}, "waits": {times}}}}}],
            "failures": [{{"name": "N", "times": {most}}}, {{"name": "N", "code": 1, "times": {most}}}],
            "node_times": [{{"name": "N", "whole": {times}, "ran": {times}}}], "paths": [{path}, {path}]}}"#
    );
    let mut one = Profile::read(&json).unwrap();
    let other = one.clone();
    assert_eq!((one.flows.finished(), one.failures_of("N")), (most, most));
    merge(&mut one, other.clone()).unwrap();
    assert_eq!((one.flows.done, one.paths[0].count), (most, most));
    assert!(compare(&one, &other).unwrap().differences.iter().all(|one| !one.is_significant));
    assert!(!pprof(&one).is_empty());
}

#[test]
fn histograms_say_what_is_in_them() {
    let mut of = Histogram::of(&[(1024, 98), (1_048_576, 2)]);
    assert_eq!((of.times(), of.quantile(0.5), of.quantile(0.99)), (100, 1040, 1_064_960));
    let before = of.clone();
    of.merge(&Histogram::of(&[(1024, 1), (64, 1)]));
    assert_eq!(of.steps().collect::<Vec<_>>(), [(64, 1), (1024, 99), (1_048_576, 2)]);
    assert_eq!(of.since(&before).steps().collect::<Vec<_>>(), [(64, 1), (1024, 1)]);
    assert_eq!(Histogram::default().quantile(0.5), 0);
}

#[test]
fn reuse_tells_what_caches_of_all_sizes_have() {
    let reuse = &profile(&[(1024, 200)], 3).constraints[0].reuse;
    let rates = [0, 1, 2, 1024, 1040, 1056, 5000].map(|keys| (reuse.hit_rate(keys) * 100.0).round());
    assert_eq!(rates, [0.0, 20.0, 30.0, 30.0, 60.0, 90.0, 90.0]);
    assert_eq!(reuse.sizes(), [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048]);
}

#[test]
fn what_is_merged_adds_up() {
    let mut all = profile(&[(1024, 200)], 3);
    let mut other = profile(&[(1024, 100), (2048, 100)], 0);
    other.strategy = "event".to_owned();
    merge(&mut all, other.clone()).unwrap();
    assert_eq!((all.strategy.as_str(), all.flows.started, all.flows.failed), ("several", 600, 3));
    assert_eq!(all.node_times[0].times.whole.steps().collect::<Vec<_>>(), [(1024, 300), (2048, 100)]);
    assert_eq!(all.paths.iter().map(|path| path.count).collect::<Vec<_>>(), [400, 200]);
    assert_eq!((all.paths[0].times.times(), all.paths[0].sums.parts()), (400, [14, 0, 0, 6, 0, 0]));
    assert_eq!((all.constraints[0].taken, all.constraints[0].waited_ns), (20, 1400));
    assert_eq!(all.constraints[0].distinct_keys, 2);
    let key = &all.constraints[0].keys[0];
    assert_eq!((all.constraints[0].keys.len(), key.text.as_deref(), key.times), (1, Some("alice"), 4));
    other.program = "other".to_owned();
    assert_eq!(all.node_times[0].times.parked_for["read"].times(), 4);
    assert_eq!(all.constraints[0].reuse.distances, [(0, 40), (1, 20), (1024, 120)]);
    assert_eq!(merge(&mut all, other).unwrap_err(), "it is of the program `other`, and the first is of `test`");
}

#[test]
fn sizes_of_values_add_up_and_are_written_in_bytes() {
    let mut one = profile(&[(1024, 200)], 0);
    let mut other = profile(&[(1024, 200)], 0);
    other.value_sizes[0].bytes = Histogram::of(&[(4096, 50)]);
    let mut from_elsewhere = other.value_sizes[0].clone();
    from_elsewhere.from = "Mail".to_owned();
    other.value_sizes.push(from_elsewhere);
    merge(&mut one, other).unwrap();
    let written: Value = serde_json::from_str(&one.write()).unwrap();
    let sizes = written["value_sizes"].as_array().unwrap();
    assert_eq!(sizes.len(), 2);
    assert_eq!((sizes[0]["from"].as_str(), sizes[0]["to"].as_str()), (Some("Web"), Some("Look")));
    assert_eq!(sizes[0]["bytes"]["times"], 250);
    assert_eq!(sizes[0]["bytes"]["measured"], 150);
    assert_eq!(sizes[0]["bytes"]["sum_bytes"], 20_300 + 50 * 4160);
    assert_eq!(sizes[0]["bytes"]["p50_bytes"], 101);
    assert_eq!(sizes[0]["bytes"]["p99_bytes"], 4160);
    assert_eq!(one.value_sizes[0].bytes.largest(), 4160);
    assert_eq!(sizes[1]["from"], "Mail");
}

#[test]
fn values_that_have_become_larger_are_found_and_nothing_else() {
    let before = profile(&[(1024, 200)], 0);
    let mut after = before.clone();
    after.value_sizes[0].bytes = Histogram::of(&[(4096, 100)]);
    let compared = compare(&before, &after).unwrap();
    let found: Vec<_> = compared.differences.iter().filter(|one| one.is_significant).collect();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].of, Subject::Edge("Web".to_owned(), "Look".to_owned()));
    let Figures::Sizes { before, after } = &found[0].figures else { panic!("{found:?}") };
    assert_eq!((before, after), (&[101.5, 101.0, 111.0], &[4160.0; 3]));
    assert!(compared.alone.is_empty());
}

#[test]
fn a_node_that_has_become_slower_is_found_and_nothing_else() {
    let before = profile(&[(1024, 100), (1056, 100)], 3);
    let after = profile(&[(1152, 100), (1184, 100)], 30);
    let all = compare(&before, &after).unwrap().differences;
    let found: Vec<_> = all.iter().filter(|one| one.is_significant).map(|one| (&one.of, &one.figures)).collect();
    let look = Subject::Node("Look".to_owned());
    assert!(found.iter().all(|(of, figures)| **of == look || matches!(figures, Figures::Part { .. })), "{found:?}");
    let parts: Vec<_> = found.iter().map(|(_, figures)| figures.what()).collect();
    assert_eq!(parts, ["failed", "failed", "failed", "whole", "ran"]);
    assert!(compare(&before, &before).unwrap().differences.iter().all(|one| !one.is_significant));
}

#[test]
fn a_part_that_took_no_time_before_is_found_and_merged() {
    let before = profile(&[(1024, 200)], 0);
    let mut waits: Value = serde_json::from_str(&before.write()).unwrap();
    waits["node_times"][0]["waited"] = serde_json::to_value(Histogram::of(&[(0, 100), (4096, 100)])).unwrap();
    let after = Profile::read(&waits.to_string()).unwrap();
    let all = compare(&before, &after).unwrap().differences;
    let found: Vec<_> = all.iter().filter(|one| one.is_significant).collect();
    assert!(
        matches!(found.as_slice(), [one] if matches!(one.figures, Figures::Times { part: "waited", .. })),
        "{all:?}"
    );
    let mut both = before;
    merge(&mut both, after).unwrap();
    let waited = &both.node_times[0].times.waited;
    assert_eq!(waited.steps().collect::<Vec<_>>(), [(0, 300), (4096, 100)]);
}

/// The same, with a constraint that was taken a thousand times to change, and as often to read in one that `reads`; of
/// those who changed it so many `waited`, and held it so long.
fn with_constraint(waited: u64, held_ns: u64, reads: bool) -> Profile {
    let mut json: Value = serde_json::from_str(&profile(&[(1024, 200)], 0).write()).unwrap();
    let holds = |taken: u64, waited: u64, held_ns: u64| {
        let (waits, holds) = (Histogram::of(&[(8192, waited)]), Histogram::of(&[(held_ns, taken)]));
        let waited_ns = waited * 8192;
        serde_json::json!({"taken": taken, "waited": waited, "waited_ns": waited_ns, "waits": waits, "holds": holds})
    };
    json["constraints"][0]["writers"] = holds(1000, waited, held_ns);
    json["constraints"][0]["readers"] = holds(if reads { 1000 } else { 0 }, 0, 64);
    Profile::read(&json.to_string()).unwrap()
}

#[test]
fn a_constraint_that_is_waited_for_more_often_or_held_longer_is_found() {
    let found = |before: &Profile, after: &Profile| {
        let all = compare(before, after).unwrap().differences;
        let found = all.into_iter().filter(|one| one.is_significant).map(|one| {
            assert_eq!(one.of, Subject::Constraint("table".to_owned(), Mode::Change));
            one.figures.what()
        });
        found.collect::<Vec<_>>()
    };
    let before = with_constraint(20, 256, true);
    assert!(found(&before, &with_constraint(25, 256, true)).is_empty());
    assert_eq!(found(&before, &with_constraint(200, 256, true)), ["waited for"]);
    assert_eq!(found(&before, &with_constraint(20, 512, true)), ["held"]);
    assert!(found(&before, &before).is_empty());
}

#[test]
fn what_is_in_one_profile_alone_has_appeared_or_gone() {
    let (before, mut after) = (with_constraint(20, 256, true), with_constraint(20, 256, false));
    assert!(compare(&before, &before).unwrap().alone.is_empty());
    after.node_times[1].name = "Post".to_owned();
    let alone = compare(&before, &after).unwrap().alone;
    let alone: Vec<_> = alone.iter().map(|one| (one.of.clone(), one.is_new, one.times)).collect();
    let node = |name: &str| Subject::Node(name.to_owned());
    let read = Subject::Constraint("table".to_owned(), Mode::Read);
    assert_eq!(alone, [(read, false, 1000), (node("Post"), true, 300), (node("Send"), false, 300)]);
}

#[test]
fn a_few_that_are_long_decide_nothing() {
    let before = profile(&[(1024, 200)], 0);
    let after = profile(&[(1024, 199), (1_048_576, 1)], 0);
    assert!(compare(&before, &after).unwrap().differences.iter().all(|one| !one.is_significant));
}

/// The fields of a message: numbers, and bytes.
fn fields(mut bytes: &[u8]) -> Vec<(u64, Result<u64, &[u8]>)> {
    fn variable(bytes: &mut &[u8]) -> u64 {
        let length = bytes.iter().position(|byte| byte & 0x80 == 0).unwrap() + 1;
        let (number, rest) = bytes.split_at(length);
        *bytes = rest;
        number.iter().rev().fold(0, |sum, byte| sum << 7 | u64::from(byte & 0x7f))
    }
    let mut found = vec![];
    while !bytes.is_empty() {
        let key = variable(&mut bytes);
        let number = variable(&mut bytes);
        found.push((
            key >> 3,
            match key & 7 {
                0 => Ok(number),
                _ => {
                    let (inner, rest) = bytes.split_at(number as usize);
                    bytes = rest;
                    Err(inner)
                }
            },
        ));
    }
    found
}

#[test]
fn pprof_has_each_node_below_its_sources() {
    let bytes = pprof(&profile(&[(1024, 200)], 3));
    let all = fields(&bytes);
    let of = |field: u64| all.iter().filter(move |(number, _)| *number == field).map(|(_, value)| value.unwrap_err());
    let texts: Vec<_> = of(6).map(|text| std::str::from_utf8(text).unwrap()).collect();
    assert_eq!(texts[0], "");
    let number =
        |message: &[u8], field: u64| fields(message).iter().find(|(number, _)| *number == field).unwrap().1.unwrap();
    let functions: Vec<_> = of(5).map(|of| (number(of, 1), texts[number(of, 2) as usize], number(of, 5))).collect();
    let name = |location: u64| functions.iter().find(|(id, ..)| *id == location).unwrap().1;
    let packed = |message: &[u8], field: u64| {
        let inner = fields(message).iter().find(|(number, _)| *number == field).unwrap().1.unwrap_err().to_vec();
        // As fields, to which the numbers are the keys of: decoded by hand.
        let (mut numbers, mut number, mut shift) = (vec![], 0_u64, 0);
        for byte in inner {
            number |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                numbers.push(std::mem::take(&mut number));
                shift = 0;
            }
        }
        numbers
    };
    let kinds: Vec<_> = of(1).map(|kind| texts[number(kind, 1) as usize]).collect();
    assert_eq!(kinds, ["calls", "ran", "beside", "parked", "waited", "queued", "branched", "whole"]);
    let samples: Vec<_> = of(2)
        .map(|sample| {
            let stack: Vec<_> = packed(sample, 1).into_iter().map(name).collect();
            let values = packed(sample, 2);
            (stack.join(" of "), values[0], values[1], values[7])
        })
        .collect();
    let expected = [("Look of Web", 200, 1040), ("Send of Web", 200, 65), ("Send of Mail", 100, 65)];
    let expected = expected.map(|(stack, calls, each)| (stack.to_owned(), calls, calls * each, calls * each));
    assert_eq!(samples, expected);
    assert_eq!(all.iter().find(|(number, _)| *number == 10).unwrap().1.unwrap(), 2_500_000_000);
}
