//! The spans of flows, as a collector has them that decodes them by the published definitions: examples/web sends them.

use crate::support;
use crate::support::{RUNTIMES, Server, text, wait_for};
use serde_json::Value;
use std::collections::HashSet;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, OnceLock, RwLock};

/// The definitions of OpenTelemetry's protocol, as Python has them; fetched once.
fn definitions() -> &'static Path {
    static ONCE: OnceLock<PathBuf> = OnceLock::new();
    ONCE.get_or_init(|| {
        let folder = support::folder("spans", "definitions");
        let mut fetch = Command::new("/usr/bin/python3");
        fetch.args(["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--dest", "."]);
        let fetched = fetch.arg("opentelemetry-proto==1.27.0").current_dir(&folder).output().unwrap();
        assert!(fetched.status.success(), "{}", text(&fetched.stderr));
        let mut unpack = Command::new("/usr/bin/python3");
        unpack.args(["-m", "zipfile", "-e", "opentelemetry_proto-1.27.0-py3-none-any.whl", "."]);
        assert!(unpack.current_dir(&folder).status().unwrap().success());
        folder
    })
}

/// The web server, built once.
fn web() -> &'static Path {
    static ONCE: OnceLock<PathBuf> = OnceLock::new();
    ONCE.get_or_init(|| support::build_example("spans", "web", &[]))
}

/// A collector, and the spans that it has.
struct Collector {
    process: Child,
    url: String,
    spans: Arc<RwLock<Vec<Value>>>,
}

impl Collector {
    fn start() -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/spans/collector.py");
        let mut command = Command::new("/usr/bin/python3");
        let mut process = command.arg(script).arg(definitions()).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let port = lines.next().unwrap().unwrap();
        let spans = Arc::<RwLock<Vec<Value>>>::default();
        let into = Arc::clone(&spans);
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                into.write().unwrap().extend(serde_json::from_str::<Vec<Value>>(&line).unwrap());
            }
        });
        Self { process, url: format!("http://127.0.0.1:{port}"), spans }
    }

    /// All spans, as soon as there are so many flows.
    fn spans(&self, flows: usize) -> Vec<Value> {
        wait_for("spans", || {
            let spans = self.spans.read().unwrap().clone();
            (spans.iter().filter(|span| span["kind"] == 2).count() == flows).then_some(spans)
        })
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn start(arguments: &[&str], runtime: &[&str]) -> Server {
    let mut command = Command::new(web());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/web/public");
    Server::listening(command.arg("--port=0").arg("--root").arg(root).args(arguments).args(runtime))
}

fn get(server: &Server, path: &str, fields: &str) -> String {
    server.ask(&format!("GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{fields}\r\n"))
}

/// The names of a flow's nodes in the order of their beginnings, which must be in the flow's own time.
fn nodes_of(flow: &Value, spans: &[Value]) -> Vec<String> {
    let mut nodes: Vec<_> = spans.iter().filter(|span| span["parent"] == flow["id"]).collect();
    nodes.sort_by_key(|span| span["begin"].as_u64());
    let time = |span: &Value, end: &str| span[end].as_u64().unwrap();
    for node in &nodes {
        assert_eq!((&node["trace"], node["kind"].as_u64()), (&flow["trace"], Some(1)), "{node} in {flow}");
        let is_inside = time(flow, "begin") <= time(node, "begin") && time(node, "end") <= time(flow, "end");
        assert!(is_inside && time(node, "begin") <= time(node, "end"), "{node} in {flow}");
    }
    nodes.iter().map(|span| span["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn one_flow_in_some_is_kept() {
    let collector = Collector::start();
    let server = start(&["--flux-spans", &collector.url, "--flux-spans-one-in=2"], &[]);
    for _ in 0..6 {
        get(&server, "/", "");
    }
    let spans = collector.spans(3);
    let flows: HashSet<_> = spans.iter().filter_map(|span| span["flux.flow"].as_u64()).collect();
    assert_eq!(flows, HashSet::from([1, 3, 5]));
}

#[test]
fn a_collector_has_each_node_of_a_flow() {
    for runtime in RUNTIMES {
        let collector = Collector::start();
        let server = start(&["--flux-spans", &collector.url, "--flux-spans-one-in=1"], runtime);
        for path in ["/", "/", "/missing"] {
            get(&server, path, "");
        }
        let spans = collector.spans(3);
        let flows: Vec<_> = spans.iter().filter(|span| span["kind"] == 2).collect();
        let ids: HashSet<_> = spans.iter().map(|span| span["id"].as_str().unwrap()).collect();
        let traces: HashSet<_> = flows.iter().map(|flow| flow["trace"].as_str().unwrap()).collect();
        assert_eq!((ids.len(), traces.len()), (spans.len(), 3), "{runtime:?}");
        for flow in &flows {
            assert_eq!((&flow["service"], &flow["parent"]), (&Value::from("web"), &Value::from("")), "{runtime:?}");
            assert_eq!(flow["name"], "http.Listen", "{runtime:?}");
        }
        let is_missing =
            |span: &&&Value| spans.iter().any(|one| one["name"] == "NoPage" && one["parent"] == span["id"]);
        let wanted = flows.iter().find(|flow| !is_missing(flow)).unwrap();
        let nodes = nodes_of(wanted, &spans);
        assert_eq!(nodes.last().map(String::as_str), Some("http.Send"), "{runtime:?} {nodes:?}");
        let missing = flows.iter().find(is_missing).unwrap();
        assert!(nodes_of(missing, &spans).len() > 2, "{runtime:?}");
        let mut failed = spans.iter().filter(|span| span["status"] == 2 && span["parent"] == missing["id"]);
        let error = failed.next().unwrap();
        assert!(error["message"].as_str().unwrap().contains("No such file"), "{runtime:?} {error}");
    }
}

#[test]
fn a_caller_who_traces_is_followed() {
    let collector = Collector::start();
    // Of its own accord the server keeps the first flow alone.
    let server = start(&["--flux-spans", &collector.url, "--flux-spans-one-in=1000"], &[]);
    let (trace, span) = ("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331");
    for fields in [
        String::new(),
        format!("traceparent: 00-{trace}-{span}-01\r\n"),
        // Who does not keep the trace, and what is no such field.
        format!("traceparent: 00-{trace}-{span}-00\r\n"),
        format!("traceparent: 00-{}-{span}-01\r\n", "0".repeat(32)),
        "traceparent: nonsense\r\n".to_owned(),
    ] {
        assert!(get(&server, "/", &fields).starts_with("HTTP/1.1 200 "), "{fields}");
    }
    let spans = collector.spans(2);
    let followed = spans.iter().find(|one| one["trace"] == trace && one["kind"] == 2).unwrap();
    assert_eq!((&followed["parent"], &followed["flux.flow"]), (&Value::from(span), &Value::from(2)));
    assert!(!nodes_of(followed, &spans).is_empty());
}

#[test]
fn a_collector_that_is_away_stops_nobody() {
    let away = format!("http://127.0.0.1:{}", support::free_port());
    let mut server = start(&["--flux-spans", &away, "--flux-spans-one-in=1"], &[]);
    for _ in 0..20 {
        assert!(get(&server, "/", "").starts_with("HTTP/1.1 200 "));
    }
    wait_for("the line of the log", || server.said().contains("spans are dropped, as the collector").then_some(()));
    assert_eq!(server.said().matches("spans are dropped").count(), 1);
    server.terminate();
    assert!(server.wait().success());
}

#[test]
fn a_wrong_address_is_told() {
    for wrong in ["https://localhost:4318", "localhost:4318", "http://", "http://a:b", "http://[::1:4318"] {
        let said = Command::new(web()).arg(format!("--flux-spans={wrong}")).output().unwrap();
        assert_eq!(said.status.code(), Some(2), "{wrong}");
        let text = text(&said.stderr);
        assert!(text.contains("is to be the address of a collector by HTTP, as http://localhost:4318"), "{text}");
    }
}
