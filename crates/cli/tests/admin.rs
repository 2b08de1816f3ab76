//! The admin interface of a server, under everything that can run flows: what its pages tell, as Prometheus reads it
//! and as a browser draws it, and that it is there from the first moment of a server to the last.

use crate::support;
use crate::support::{RUNTIMES, Server, text, wait_for};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use serde_json::Value;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, OnceLock, RwLock};

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

/// `flux top` on a terminal.
struct Top {
    process: Child,
    /// What a person has of it, and what the command has.
    ours: File,
    theirs: File,
    shown: Arc<RwLock<Vec<u8>>>,
}

impl Top {
    fn start(arguments: &[&str]) -> Self {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        let name = ptsname(&ours, vec![]).unwrap().into_string().unwrap();
        let theirs = File::options().read(true).write(true).open(name).unwrap();
        let side = || theirs.try_clone().unwrap();
        // A session of its own, so that signals come from this terminal.
        let mut command = Command::new("setsid");
        command.args(["--ctty", env!("CARGO_BIN_EXE_flux"), "top"]).args(arguments);
        let process = command.stdin(side()).stdout(side()).stderr(side()).spawn().unwrap();
        let (shown, mut reads) = (Arc::<RwLock<Vec<u8>>>::default(), File::from(ours.try_clone().unwrap()));
        let all = Arc::clone(&shown);
        std::thread::spawn(move || {
            let mut some = [0; 4096];
            while let Ok(got) = reads.read(&mut some) {
                all.write().unwrap().extend_from_slice(&some[..got]);
            }
        });
        let top = Self { process, ours: File::from(ours), theirs, shown };
        assert!(top.has_echo());
        top
    }

    /// Whether keys are shown as they come: not while it draws.
    fn has_echo(&self) -> bool {
        tcgetattr(&self.theirs).unwrap().local_modes.contains(LocalModes::ICANON | LocalModes::ECHO)
    }

    fn press(&mut self, keys: &str) {
        self.ours.write_all(keys.as_bytes()).unwrap();
    }

    fn resize(&self, columns: u16, rows: u16) {
        let size = Winsize { ws_col: columns, ws_row: rows, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&self.ours, size).unwrap();
    }

    /// Waits until it has written this.
    fn wait_for(&self, what: &str) {
        wait_for(what, || text(&self.shown.read().unwrap()).contains(what).then_some(()));
    }

    /// How it has ended, and what it has written after it gave the terminal back.
    fn end(mut self) -> (ExitStatus, String) {
        let status = wait_for("the end of flux top", || self.process.try_wait().unwrap());
        assert!(self.has_echo());
        self.wait_for("\x1b[?1049l");
        let shown = text(&self.shown.read().unwrap());
        (status, shown.split_once("\x1b[?1049l").unwrap().1.to_owned())
    }
}

impl Drop for Top {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
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
        let logged = wait_for("lines of the log", || {
            let log = asked.page(&[], "/log");
            (log.matches("Check: what was said is \"wrong\"\n").count() == 2).then_some(log)
        });
        let log = asked.json("/log?json");
        let lines: Vec<_> = log["lines"].as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
        assert_eq!((log["before"].as_u64(), lines), (Some(0), logged.lines().collect()), "{runtime:?}");
        assert!(logged.contains(&format!("the admin interface listens at {}\n", asked.address)), "{logged}");

        // One that takes its time is seen where it is, and the server that waits for it says that it ends.
        let mut slow = BufReader::new(asked.server.connect());
        slow.get_ref().write_all(b"slow\n").unwrap();
        wait_for("the flow that rests", || {
            let flows = asked.json("/flows");
            let resting = flows["flows"].as_array().unwrap().iter().find(|flow| flow["node"] == "Rest");
            resting.map(|flow| assert_eq!(flow["holds"], serde_json::json!(["rest"]), "{runtime:?}"))
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

/// Of 40 lines ten are long. All flows are timed.
#[test]
fn its_profile_tells_how_large_the_values_on_edges_are() {
    let asked = Asked::start(&["--flux-runtime=event", "--flux-times-one-in=1"]);
    let (short, long) = ("s".repeat(100), "l".repeat(3000));
    let lines: Vec<&str> = (0..40).map(|number| if number % 4 == 0 { long.as_str() } else { &short }).collect();
    asked.say(&lines);
    wait_for("flows that have ended", || (counts(&asked, "Count").0 == 40).then_some(()));
    let profile = asked.json("/profile");
    let edges = profile["value_sizes"].as_array().unwrap();
    let is_within_steps = |read: &Value, exact: u64| read.as_u64().unwrap().abs_diff(exact) <= exact / 64;
    for (from, to) in [("tcp.ReadLine", "Answer"), ("Answer", "Check"), ("Check", "Count"), ("Count", "tcp.SendLine")] {
        let edge = edges.iter().find(|edge| edge["from"] == from && edge["to"] == to);
        let bytes = &edge.unwrap_or_else(|| panic!("{from} -> {to}: {edges:?}"))["bytes"];
        assert_eq!((bytes["times"].as_u64(), bytes["measured"].as_u64()), (Some(40), Some(40)), "{from} -> {to}");
        assert_eq!(bytes["sum_bytes"], 30 * 100 + 10 * 3000, "{from} -> {to}");
        assert!(is_within_steps(&bytes["p50_bytes"], 100), "{bytes}");
        assert!(is_within_steps(&bytes["p99_bytes"], 3000), "{bytes}");
    }
    // What is given a connection alone has no size to tell.
    assert!(edges.iter().all(|edge| edge["to"] != "tcp.ReadLine" && edge["to"] != "Word"), "{edges:?}");

    let shown = support::flux(Path::new("."), &["profile", &asked.address]);
    let shown = text(&shown.stdout);
    let row = shown.lines().find(|line| line.starts_with("Check ") && line.contains(" Count "));
    let row: Vec<_> = row.unwrap_or_else(|| panic!("{shown}")).split_whitespace().collect();
    assert_eq!(row[..5], ["Check", "Count", "40", "825", "B"], "{shown}");
    let metrics = asked.page(&[], "/metrics");
    for line in [
        "# TYPE flux_value_bytes summary\n",
        "flux_value_bytes_sum{from=\"Check\",to=\"Count\"} 33000\n",
        "flux_value_bytes_count{from=\"Check\",to=\"Count\"} 40\n",
    ] {
        assert!(metrics.contains(line), "{metrics}");
    }
    let graph = asked.json("/graph.json");
    let check = graph["vertices"].as_array().unwrap().iter().find(|vertex| vertex["label"] == "Check").unwrap();
    assert_eq!(check["given"][0]["from"], "Answer", "{check}");
    assert!(is_within_steps(&check["given"][0]["largest_bytes"], 3000), "{check}");
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

    let no_keys = support::flux(Path::new("."), &["profile", kept, "--cache", "count"]);
    assert_eq!(no_keys.status.code(), Some(2));
    assert!(text(&no_keys.stderr).contains("constraints of which some were: none"), "{no_keys:?}");
    let mut with_keys: Value = serde_json::from_str(&std::fs::read_to_string(kept).unwrap()).unwrap();
    with_keys["constraints"][0]["reuse"] = serde_json::json!({"first_uses": 10, "distances": [[0, 20], [3, 70]]});
    let keyed = folder.join("keyed.json");
    std::fs::write(&keyed, with_keys.to_string()).unwrap();
    let caches = flux(&["profile", keyed.to_str().unwrap(), "--cache", "count", "--json"]);
    let hits = caches.lines().map(|row| serde_json::from_str::<Value>(row).unwrap()["hit_rate"].as_f64().unwrap());
    assert_eq!(hits.collect::<Vec<_>>(), [0.2, 0.2, 0.9], "{caches}");

    let tried =
        flux(&["advise", "--live", &asked.address, "--node", "Check", "--faster", "25", "--slices", "4", "--json"]);
    let tried: Value = serde_json::from_str(&tried).unwrap();
    assert_eq!(tried["change"], "Check takes a quarter less", "{tried}");
    let experiment = asked.json("/speed-up");
    assert_eq!((&experiment["node"], &experiment["left"]), (&"Check".into(), &0.into()), "{experiment}");
    let post = |more: &[&str], path| asked.page(&[&["-X", "POST", "-w", "%{http_code}"], more].concat(), path);
    assert!(post(&[], "/speed-up?node=Chekc").ends_with("400"));
    assert!(post(&[], "/speed-up?path=3").ends_with("(node).\n400"));
    assert!(post(&[], "/profile").ends_with("405"));
    assert!(post(&["-H", "Sec-Fetch-Site: cross-site"], "/speed-up?node=Check").ends_with("403"));

    let looked = flux(&["top", &asked.address, "--once", "--interval", "0.1", "--json"]);
    let looked: Value = serde_json::from_str(&looked).unwrap();
    assert_eq!((looked["program"].as_str(), looked["flows_per_s"].as_f64()), (Some("words"), Some(0.0)));
    assert!(looked["places"].is_array(), "{looked}");
    assert!(looked["queues"].as_array().is_some_and(|queues| queues.len() > 3), "{looked}");
    let nobody = support::flux(Path::new("."), &["top", "127.0.0.1:1"]);
    assert_eq!(nobody.status.code(), Some(2));
    assert!(text(&nobody.stderr).contains("was the server started with --flux-admin"), "{nobody:?}");
    let none = support::flux(Path::new("."), &["profile", "Cargo.toml"]);
    assert_eq!(none.status.code(), Some(1));
    assert!(text(&none.stderr).contains("Cargo.toml: it is no JSON: "), "{none:?}");
}

#[test]
fn a_terminal_is_as_before_when_top_ends() {
    let mut asked = Asked::start(RUNTIMES[1]);
    let mut slow = BufReader::new(asked.server.connect());
    slow.get_ref().write_all(b"slow\nslow\nslow\n").unwrap();
    let mut top = Top::start(&[&asked.address, "--interval=0.1"]);
    top.wait_for(" 0 failures/s, 1 in progress; ");
    top.wait_for("Rest            tcp.Listen  1");
    assert!(!top.has_echo());
    top.press("xq");
    let (status, left) = top.end();
    assert_eq!((status.code(), left.as_str()), (Some(0), ""));

    let long = || {
        let top = Top::start(&[&asked.address, "--interval=60"]);
        top.wait_for("words: the first look takes 60 s; q ends them\x1b[K\x1b[J");
        top
    };
    let mut interrupted = long();
    let terminated = long();
    interrupted.resize(9, 5);
    interrupted.wait_for("\x1b[Hwords: th\x1b[K\x1b[J");
    interrupted.press("\x1a\x03");
    assert_eq!(interrupted.end().0.code(), Some(0));
    let id = terminated.process.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    assert_eq!(terminated.end().0.signal(), Some(15));

    let left = Top::start(&[&asked.address, "--interval=0.1"]);
    left.wait_for("words under pool");
    asked.server.terminate();
    slow.read_line(&mut String::new()).unwrap();
    assert!(asked.server.wait().success());
    let (status, said) = left.end();
    assert_eq!(status.code(), Some(0));
    assert!(said.starts_with("words has ended, or does not answer any more: "), "{said}");
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
                 ('le', '+Inf'), mode] >= 1,\n\
                 any(s.exemplar and s.exemplar.labels['exit'] == 'done' for f in read(given) for s in f.samples),\n\
                 any(s.name == 'flux_queue_length' for f in read(given) for s in f.samples))"
        );
        let exemplars = if format.is_empty() { "False" } else { "True" };
        assert_eq!(python(&program, &metrics), format!("3.0 1.0 True True {exemplars} True"), "{metrics}");
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

/// FLUX_PAGE_UPDATES times, as fast as they come, or with FLUX_PAGE_INTERVAL seconds between; one a second is usual.
#[test]
fn the_live_page_stays_small_and_readable_under_load() {
    let folder = support::folder("admin", "live_page");
    let asked = Asked::start(RUNTIMES[2]);
    let updates = std::env::var("FLUX_PAGE_UPDATES").unwrap_or_else(|_| "150".to_owned());
    let interval = std::env::var("FLUX_PAGE_INTERVAL").unwrap_or_else(|_| "0".to_owned());
    let pause_ms = interval.parse::<u64>().unwrap() * 100;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/admin/live_page.py");
    let mut browser = Command::new("/usr/bin/python3");
    browser.arg(script).arg(format!("http://{}/graph", asked.address)).arg(&folder).args([&updates, &interval]);
    let mut browser = browser.stdout(std::process::Stdio::piped()).spawn().unwrap();
    while browser.try_wait().unwrap().is_none() {
        asked.say(&["a", "b", "wrong", "c"]);
        support::let_pass(pause_ms);
    }
    let seen = browser.wait_with_output().unwrap();
    assert!(seen.status.success());
    let seen: Value = serde_json::from_slice(&seen.stdout).unwrap();
    // For `make bench`: how long an update takes.
    support::tell(&seen.to_string());
    // What a quarter of the updates left behind, and all. The rows of flows in progress come and go.
    let more = |what: &str| seen[what][1].as_f64().unwrap() - seen[what][0].as_f64().unwrap();
    assert!(more("heap_bytes") < 100_000.0 && more("nodes") < 60.0, "{seen}");
    // On a phone; and what fails has a mark, what nothing came to a line of dots, beside their colours.
    assert!(seen["wide"] == 360 && seen["smallest"].as_f64().unwrap() >= 11.0, "{seen}");
    assert_eq!((&seen["marked"], &seen["marked"]), (&serde_json::json!(["Check"]), &seen["red"]), "{seen}");
    assert!(seen["dashed"] == seen["cold"] && seen["dashed"].as_array().unwrap().contains(&"Rest".into()), "{seen}");
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
