//! The admin interface of a server, under everything that can run flows: what its pages tell, as Prometheus reads it
//! and as a browser draws it, and that it is there from the first moment of a server to the last.

#![expect(clippy::disallowed_methods, reason = "a test is a shell: it builds servers and talks to them")]
#![allow(clippy::indexing_slicing, clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

mod support;

use serde_json::Value;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use support::{RUNTIMES, Server, text, wait_for};

/// The server, built once.
fn words() -> &'static Path {
    static ONCE: OnceLock<PathBuf> = OnceLock::new();
    ONCE.get_or_init(|| support::build_own("admin", "words", &["words.cpp"]))
}

/// A server, and where it can be asked how it runs.
struct Asked {
    server: Server,
    address: String,
}

impl Asked {
    fn start(arguments: &[&str]) -> Self {
        let mut command = Command::new(words());
        let server = Server::listening(command.args(["--listen=127.0.0.1:0", "--flux-admin=0"]).args(arguments));
        let said = "flux: the admin interface listens at ";
        let address = wait_for("the admin interface", || {
            server.said().lines().find_map(|line| line.strip_prefix(said)).map(str::to_owned)
        });
        Self { server, address }
    }

    /// What curl prints of a page.
    fn page(&self, arguments: &[&str], path: &str) -> String {
        let url = format!("http://{}{path}", self.address);
        let output = Command::new("curl").args(["-s", "-S"]).args(arguments).arg(&url).output().unwrap();
        assert!(output.status.success(), "{url}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    /// What a page says as JSON.
    fn json(&self, path: &str) -> Value {
        serde_json::from_str(&self.page(&[], path)).unwrap()
    }

    /// What is answered to these words, one after the other.
    fn say(&self, words: &[&str]) -> Vec<String> {
        let mut client = BufReader::new(self.server.connect());
        let answer = |word: &&str| {
            client.get_ref().write_all(format!("{word}\n").as_bytes()).unwrap();
            let mut line = String::new();
            client.read_line(&mut line).unwrap();
            line
        };
        words.iter().map(answer).collect()
    }
}

/// What a program in Python says of this text, which it has as `given`.
fn python(program: &str, given: &str) -> String {
    let mut command = Command::new("/usr/bin/python3");
    command.args(["-c", &format!("import sys\ngiven = sys.stdin.read()\n{program}")]);
    let mut child = command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(given.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{program}\n{given}");
    text(&output.stdout).trim_end().to_owned()
}

/// How often flows came to a node, and how often it failed, as the graph says.
fn counts(asked: &Asked, node: &str) -> (u64, u64) {
    let graph = asked.json("/graph.json");
    let vertices = graph["vertices"].as_array().unwrap().iter().filter(|vertex| vertex["label"] == node);
    let number = |vertex: &Value, name: &str| vertex[name].as_u64().unwrap();
    let add = |(times, failed), vertex| (times + number(vertex, "count"), failed + number(vertex, "failed"));
    vertices.fold((0, 0), add)
}

#[test]
fn its_pages_tell_what_flows_take() {
    for runtime in RUNTIMES {
        let mut asked = Asked::start(runtime);
        let said = asked.say(&["a", "wrong", "b", "wrong", "c"]);
        assert_eq!(said, ["a\n", "no: wrong\n", "b\n", "no: wrong\n", "c\n"], "{runtime:?}");
        wait_for("flows that have ended", || (counts(&asked, "Count").0 == 5).then_some(()));
        assert_eq!(counts(&asked, "Check"), (5, 2), "{runtime:?}");
        assert_eq!(counts(&asked, "Rest"), (0, 0), "{runtime:?}");
        let report = asked.page(&[], "/report");
        let is_whole = report.contains("Check (") && report.contains("Check -> ERROR -> Excuse -> Count -> ");
        assert!(is_whole, "{runtime:?}\n{report}");
        let profile = asked.json("/profile");
        assert_eq!(profile["program"], "words", "{runtime:?}");
        assert_eq!(profile["constraints"][0]["taken"], 5, "{runtime:?}");
        assert_eq!(asked.page(&[], "/healthz"), "ok\n", "{runtime:?}");

        // One that takes its time is seen where it is, and the server that waits for it says that it ends.
        let mut slow = BufReader::new(asked.server.connect());
        slow.get_ref().write_all(b"slow\n").unwrap();
        wait_for("the flow that rests", || {
            let flows = asked.json("/flows");
            flows["flows"].as_array().unwrap().iter().find(|flow| flow["node"] == "Rest").map(|_| ())
        });
        asked.server.terminate();
        let health = |asked: &Asked| asked.page(&["-w", "%{http_code}"], "/healthz");
        wait_for("the end", || (health(&asked) == "ends\n503").then_some(()));
        let mut line = String::new();
        slow.read_line(&mut line).unwrap();
        assert_eq!(line, "slow\n", "{runtime:?}");
        assert!(asked.server.wait().success(), "{runtime:?}");
    }
}

#[test]
fn its_profile_is_shown_compared_merged_and_converted() {
    let asked = Asked::start(&["--flux-runtime=event"]);
    let flux = |arguments: &[&str]| {
        let output = support::flux(Path::new("."), arguments);
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        text(&output.stdout)
    };
    asked.say(&["a", "wrong", "b"]);
    let folder = words().parent().unwrap();
    let kept = folder.join("profile.json");
    let kept = kept.to_str().unwrap();
    wait_for("flows that have ended", || (counts(&asked, "Count").0 == 3).then_some(()));
    std::fs::write(kept, asked.page(&[], "/profile")).unwrap();

    let shown = flux(&["profile", &asked.address]);
    assert!(shown.starts_with("words: 4 flows in ") || shown.starts_with("words: 3 flows in "), "{shown}");
    for part in ["\nflows of", "\nCheck ", "\ncount to change ", " -> Check -> ERROR -> Excuse -> Count -> "] {
        assert!(shown.contains(part), "{part:?}: {shown}");
    }
    let rows = flux(&["profile", kept, "--json"]);
    let check = rows.lines().map(|row| serde_json::from_str::<Value>(row).unwrap()).find(|row| row["node"] == "Check");
    assert_eq!(check.map(|row| (row["calls"].clone(), row["failed"].clone())), Some((3.into(), 1.into())), "{rows}");

    assert!(flux(&["profile", kept, kept]).starts_with("nothing has changed by more than chance: "));
    let both = folder.join("both.json");
    flux(&["profile", "--merge", kept, kept, "-o", both.to_str().unwrap()]);
    let both: Value = serde_json::from_str(&std::fs::read_to_string(both).unwrap()).unwrap();
    assert_eq!(both["constraints"][0]["taken"], 6);
    let pprof = folder.join("words.pb");
    flux(&["profile", kept, "--pprof", pprof.to_str().unwrap()]);
    assert!(text(&std::fs::read(pprof).unwrap()).contains("nanoseconds"));

    let looked = flux(&["top", &asked.address, "--once", "--interval", "0.1", "--json"]);
    let looked: Value = serde_json::from_str(&looked).unwrap();
    assert_eq!((looked["program"].as_str(), looked["flows_per_s"].as_f64()), (Some("words"), Some(0.0)));
    let nobody = support::flux(Path::new("."), &["top", "127.0.0.1:1"]);
    assert_eq!(nobody.status.code(), Some(2));
    assert!(text(&nobody.stderr).contains("was the server started with --flux-admin"), "{nobody:?}");
    let none = support::flux(Path::new("."), &["profile", "Cargo.toml"]);
    assert_eq!(none.status.code(), Some(1));
    assert!(text(&none.stderr).contains("Cargo.toml: it is no JSON: "), "{none:?}");
}

#[test]
fn prometheus_reads_its_metrics_in_both_formats() {
    let asked = Asked::start(RUNTIMES[2]);
    asked.say(&["a", "wrong", "b"]);
    wait_for("flows that have ended", || (counts(&asked, "Count").0 == 3).then_some(()));
    for (format, accept) in [("", "text/plain"), ("openmetrics.", "application/openmetrics-text;version=1.0.0,*/*")] {
        let metrics = asked.page(&["-H", &format!("Accept: {accept}")], "/metrics");
        let program = format!(
            "from prometheus_client.{format}parser import text_string_to_metric_families as read\n\
             samples = {{(s.name, *sorted(s.labels.items())): s.value for f in read(given) for s in f.samples}}\n\
             mode = ('mode', 'write')\n\
             print(1.0 * samples['flux_constraint_acquisitions_total', ('constraint', 'count'), mode],\n\
                 1.0 * samples['flux_node_errors_total', ('code', '5'), ('node', 'Check')],\n\
                 samples['process_resident_memory_bytes',] > 1e6,\n\
                 samples['flux_constraint_hold_time_seconds_bucket', ('constraint', 'count'), \
                 ('le', '+Inf'), mode] >= 1)"
        );
        assert_eq!(python(&program, &metrics), "3.0 1.0 True True", "{metrics}");
    }
}

#[test]
fn a_browser_draws_the_graph_with_what_flows_take() {
    let folder = support::folder("admin", "browser");
    let asked = Asked::start(RUNTIMES[3]);
    asked.say(&["a", "wrong", "b"]);
    wait_for("flows that have ended", || (counts(&asked, "Count").0 == 3).then_some(()));
    let profile = format!("--user-data-dir={}", folder.join("profile").display());
    let mut browser = Command::new("chromium");
    browser.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--virtual-time-budget=3000"]);
    browser.args([&profile, "--dump-dom", &format!("http://{}/graph", asked.address)]);
    let shown = text(&browser.output().unwrap().stdout);
    let drawn = "import re\n\
                 box = r'class=\"vertex( cold)?\".*?<text[^>]*>([^<]*)</text><text[^>]*>([^<]*)<'\n\
                 boxes = re.findall(box, given)\n\
                 print(sorted((name, rate, bool(cold)) for cold, name, rate in boxes if name in ('Check', 'Rest')))\n\
                 print(len(re.findall('class=\"way', given)), 'role=\"status\"></span>' in given)";
    let graph = asked.json("/graph.json");
    let ways = graph["ways"].as_array().unwrap().len();
    assert_eq!(
        python(drawn, &shown),
        format!("[('Check', '0/s, ✗ 1', False), ('Rest', '0/s', True)]\n{ways} True"),
        "{shown}"
    );
    let row = |label: &str, number: u64| format!("<td class=\"\">{label}</td><td class=\"number\">{number}</td>");
    assert!(shown.contains(&row("Check: error 5 (Input/output error)", 0)), "{shown}");
}

#[test]
fn a_server_that_takes_over_is_asked_at_the_same_address() {
    let folder = support::folder("admin", "takeover");
    let place = format!("--flux-takeover={}", folder.join("place").display());
    let path = folder.join("admin.sock");
    let admin = format!("--flux-admin=unix:{}", path.display());
    let start = || {
        let mut command = Command::new(words());
        Server::listening(command.args(["--listen=127.0.0.1:0", &place, &admin]))
    };
    let ask = || {
        let mut curl = Command::new("curl");
        curl.args(["-s", "-S", "--unix-socket", path.to_str().unwrap(), "http://localhost/metrics"]);
        text(&curl.output().unwrap().stdout)
    };
    let mut first = start();
    let begun =
        |metrics: &str| metrics.lines().find(|line| line.starts_with("process_start_time_seconds")).map(str::to_owned);
    let before = begun(&ask()).unwrap();
    let second = start();
    assert!(first.wait().success());
    assert_ne!(begun(&ask()).unwrap(), before);
    drop(second);
}
