//! `std.http` and `examples/web` under everything that can run flows: what RFC 9110 and RFC 9112 say, in the table of
//! `examples/web/test/conformance.md`; nginx beside it; curl and a browser; and answers of every kind.

use crate::support;
use crate::support::sockets::is_open_at_peer;
use crate::support::{Server, text};
use std::fmt::Write as _;
use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// What runs the flows.
const RUNTIMES: [&[&str]; 4] = [
    &["--flux-runtime=thread"],
    &["--flux-runtime=pool", "--flux-workers=8"],
    &["--flux-runtime=event", "--flux-workers=2", "--flux-io=reactor"],
    &["--flux-runtime=event", "--flux-workers=2", "--flux-io=proactor"],
];

fn example() -> &'static Path {
    static ONCE: OnceLock<PathBuf> = OnceLock::new();
    ONCE.get_or_init(|| support::build_example("web", "web", &[]))
}

fn answers() -> &'static Path {
    static ONCE: OnceLock<PathBuf> = OnceLock::new();
    ONCE.get_or_init(|| support::build_own("web", "answers", &[]))
}

pub fn start(root: &Path, runtime: &[&str], arguments: &[&str]) -> Server {
    let mut command = Command::new(example());
    Server::listening(command.arg("--port=0").arg("--root").arg(root).args(runtime).args(arguments))
}

/// What a program says; one that fails ends the test.
fn said_by(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().expect(program);
    assert!(output.status.success(), "{program} {arguments:?}: {}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

fn conformance(arguments: &[&str]) -> String {
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/web/test");
    said_by("python3", &[&[home.join("conformance.py").to_str().unwrap()], arguments].concat())
}

/// The files of the table.
fn table_files(test: &str) -> PathBuf {
    let folder = support::folder("web", test).join("files");
    conformance(&["--files", folder.to_str().unwrap()]);
    folder
}

pub fn curl(server: &Server, arguments: &[&str], path: &str) -> String {
    let url = format!("http://127.0.0.1:{}{path}", server.port);
    said_by("curl", &[&["-s", "--path-as-is"], arguments, &[&url]].concat())
}

/// Two servers: one that waits for heads as long as it takes, and one that does not.
fn patient_and_hasty(root: &Path, runtime: &[&str], arguments: &[&str]) -> [Server; 2] {
    ["--http-head=60m", "--http-head=1s"].map(|limit| start(root, runtime, &[&[limit], arguments].concat()))
}

#[test]
fn answers_are_those_of_the_table() {
    let files = table_files("table");
    for runtime in RUNTIMES {
        let [server, hasty] = patient_and_hasty(&files, runtime, &[]);
        let said = conformance(&[&server.port.to_string(), "--hasty", &hasty.port.to_string()]);
        assert!(said.contains("269 of 269"), "{runtime:?}: {said}");
    }
}

/// A certificate that names `localhost`, and its key, as the arguments of a server.
fn certified(folder: &Path) -> [String; 2] {
    let [certificate, key] = ["certificate", "key"].map(|name| format!("{}/{name}.pem", folder.display()));
    let request = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30"];
    said_by("openssl", &[&request[..], &["-subj", "/CN=localhost", "-keyout", &key, "-out", &certificate]].concat());
    [format!("--tls-certificate={certificate}"), format!("--tls-key={key}")]
}

#[test]
fn answers_by_tls_are_those_of_the_table() {
    let files = table_files("tls");
    let [certificate, key] = certified(files.parent().unwrap());
    for runtime in &RUNTIMES[2..] {
        let [server, hasty] = patient_and_hasty(&files, runtime, &[&certificate, &key]);
        let said = conformance(&["--tls", &server.port.to_string(), "--hasty", &hasty.port.to_string()]);
        assert!(said.contains("269 of 269"), "{runtime:?}: {said}");
    }
}

/// RFC 9113: frames by hand.
#[test]
fn frames_are_answered_as_the_table_of_http2_says() {
    let files = table_files("http2");
    let table = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/web/test/http2.py");
    let table = table.to_str().unwrap();
    for runtime in RUNTIMES {
        let [server, hasty] = patient_and_hasty(&files, runtime, &[]);
        let said = said_by("/usr/bin/python3", &[table, &server.port.to_string()]);
        assert!(said.contains("118 of 118"), "{runtime:?}: {said}");
        let said = said_by("/usr/bin/python3", &[table, "--mean", &hasty.port.to_string()]);
        assert!(said.contains("0 of them went on"), "{runtime:?}: {said}");
        // It ends with its connections.
        server.terminate();
    }
}

#[test]
fn files_of_all_sizes_come_by_http2_at_once() {
    let root = support::folder("web", "sizes2").join("root");
    fs::create_dir_all(&root).unwrap();
    let bytes: Vec<u8> = (0..5_000_000u32).map(|at| (at / 7 % 251) as u8).collect();
    for size in [0, 1000, 65_536, 65_537, 5_000_000] {
        fs::write(root.join(format!("{size}.bin")), &bytes[..size]).unwrap();
    }
    for runtime in RUNTIMES {
        let server = start(&root, runtime, &[]);
        let url = |path: &str| format!("http://127.0.0.1:{}/{path}", server.port);
        for size in [0, 1000, 65_536, 65_537, 5_000_000] {
            let mut curl = Command::new("curl");
            let got = curl.args(["-s", "--http2-prior-knowledge", &url(&format!("{size}.bin"))]).output().unwrap();
            assert!(got.status.success() && got.stdout == bytes[..size], "{runtime:?}: {size} bytes");
        }
        // Streams of one connection, of which all have to wait for its window.
        let [small, large] = [url("1000.bin"), url("5000000.bin")];
        let said = said_by("h2load", &["-n40", "-c2", "-m20", "-w16", "-W16", &large, &small]);
        assert!(said.contains("40 succeeded, 0 failed"), "{runtime:?}: {said}");
        server.terminate();
    }
}

/// What the table says of nginx and h2o is so: it is no opinion of ours.
#[test]
fn nginx_answers_as_the_table_says() {
    let files = table_files("nginx");
    let folder = files.parent().unwrap();
    let port = support::free_port();
    let of = |name: &str| format!("{name} {}/{name};\n", folder.display());
    let mut configuration = "master_process off; daemon off; error_log /dev/null; events { }\n".to_owned();
    write!(configuration, "pid {}/pid;\nhttp {{ access_log off; types {{ text/html html; }}\n", folder.display())
        .unwrap();
    for each in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"] {
        configuration += &of(&format!("{each}_temp_path"));
    }
    write!(
        configuration,
        "client_header_timeout 1h; lingering_timeout 1s; absolute_redirect off;
        server {{ listen 127.0.0.1:{port}; root {}; index index.html; }} }}\n",
        files.display()
    )
    .unwrap();
    let file = folder.join("nginx.conf");
    fs::write(&file, configuration).unwrap();
    let mut nginx = Command::new("/usr/sbin/nginx");
    let server = Server::start(nginx.args(["-e", "/dev/null", "-g", "user root;", "-c"]).arg(&file), port);
    server.connect();
    let said = conformance(&["--peer=nginx", &port.to_string()]);
    assert!(said.contains("248 of 248"), "{said}");
    server.terminate();
}

#[test]
fn h2o_answers_as_the_table_says() {
    let files = table_files("h2o");
    let file = files.with_file_name("h2o.conf");
    let port = support::free_port();
    fs::write(
        &file,
        format!(
            "num-threads: 1\nuser: root\nhttp1-request-timeout: 3\nlisten: {{host: 127.0.0.1, port: {port}}}\n\
             hosts: {{default: {{paths: {{/: {{file.dir: {}, file.index: [index.html]}}}}}}}}\n",
            files.display()
        ),
    )
    .unwrap();
    let server = Server::start(Command::new("h2o").arg("-c").arg(&file), port);
    server.connect();
    let said = conformance(&["--peer=h2o", &port.to_string()]);
    assert!(said.contains("268 of 268"), "{said}");
    server.terminate();
}

#[test]
fn the_log_has_answers_that_broke_off_and_flows_that_did_not_answer() {
    let root = support::folder("web", "broken").join("root");
    fs::create_dir_all(&root).unwrap();
    fs::write(root.join("large.bin"), vec![b'x'; 50_000_000]).unwrap();
    for runtime in RUNTIMES {
        let server = start(&root, runtime, &["--http-log=json"]);
        let mut client = server.connect();
        client.write_all(b"GET /large.bin HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
        client.read_exact(&mut [0; 1000]).unwrap();
        drop(client); // with more to read, which resets the connection
        let line = support::wait_for("the line of the answer that broke off", || {
            server.said().lines().find(|line| line.contains("\"target\":\"/large.bin\"")).map(str::to_owned)
        });
        let line: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert!(line["status"] == 200 && line["error"].is_string() && line["duration_us"].is_u64(), "{line}");
        assert!(line["bytes"].as_u64().unwrap() < 50_000_000, "{line}");

        let mut command = Command::new(answers());
        let server = Server::listening(command.arg("--port=0").args(runtime).arg("--http-log=json"));
        for protocol in ["--http1.1", "--http2-prior-knowledge"] {
            curl(&server, &[protocol], "/silent");
        }
        support::wait_for("the lines of flows that did not answer", || {
            let said = server.said();
            let lines = said.lines().filter(|line| line.contains("/silent") && line.contains("\"status\":500"));
            (lines.count() == 2).then_some(())
        });
    }
}

#[test]
fn a_browser_loads_a_page_of_a_hundred_resources_over_each_protocol() {
    let root = support::folder("web", "browser").join("root");
    fs::create_dir_all(&root).unwrap();
    let mut page = "<!doctype html><title>0</title>\n<script>let loaded = 0;</script>\n".to_owned();
    for number in 0..100 {
        writeln!(page, "<script src=\"{number}.js\"></script>").unwrap();
        fs::write(root.join(format!("{number}.js")), "document.title = ++loaded;\n").unwrap();
    }
    fs::write(root.join("index.html"), page).unwrap();
    let folder = root.parent().unwrap();
    let [certificate, key] = certified(folder);
    let tls = [certificate.as_str(), &key, "--http-log=common"];
    let ways = [
        ("http", "--disable-quic", &tls[2..], "HTTP/1.1\""),
        ("https", "--disable-http2", &tls, "HTTP/1.1\""),
        ("https", "--disable-quic", &tls, "HTTP/2.0\""),
    ];
    // The rest of the ways are the same code on all runtimes.
    let tries = RUNTIMES.into_iter().zip([2, 2, 2, 2]).chain([(RUNTIMES[2], 0), (RUNTIMES[3], 1)]);
    for (runtime, way) in tries {
        let (scheme, flag, arguments, spoken) = ways[way];
        let server = start(&root, runtime, arguments);
        let url = format!("{scheme}://127.0.0.1:{}/", server.port);
        let profile = format!("--user-data-dir={}/profile{way}", folder.display());
        let arguments = ["--headless", "--no-sandbox", "--disable-gpu", "--ignore-certificate-errors", flag];
        let shown = said_by("chromium", &[&arguments[..], &[&profile, "--dump-dom", &url]].concat());
        assert!(shown.contains("<title>100</title>"), "{runtime:?}, {scheme}: {}", shown.len());
        let is_logged = || (server.said().matches(spoken).count() > 100).then_some(());
        support::wait_for("a line of the log for each resource", is_logged);
    }
}

#[test]
fn nodes_answer_with_texts_records_streams_and_errors() {
    for runtime in RUNTIMES {
        let mut command = Command::new(answers());
        let server = Server::listening(command.args(runtime).args(["--http-proxies=127.0.0.1", "--http-log=common"]));
        assert_eq!(curl(&server, &[], "/text"), "a line\n");
        let made = curl(&server, &["-i"], "/made");
        assert!(made.starts_with("HTTP/1.1 201 Created\r\n") && made.contains("\r\nX-Path: /made\r\n"), "{made}");
        let forwarded = ["-H", "X-Forwarded-For: 9.9.9.9, 1.2.3.4, 127.0.0.1", "-H", "x-WANTED:  w "];
        assert_eq!(curl(&server, &forwarded, "/about?a=b"), "GET|127.0.0.1|a=b|1.2.3.4|w\n");
        assert_eq!(curl(&server, &["-H", "Host: EXAMPLE.org.:80"], "/about"), "GET|example.org||127.0.0.1|\n");
        for (arguments, path) in [(["-i"], "/stream"), (["-0"], "/stream"), (["-i"], "/sized")] {
            let stream = curl(&server, &arguments, path);
            assert_eq!(stream.matches('a').count() / 1_000_000, 1, "{path}");
            assert!(stream.ends_with(&"a".repeat(1000)), "{path}");
        }
        for (path, status) in [("/moved", "302"), ("/teapot", "429"), ("/silent", "500"), ("/broken", "503")] {
            assert_eq!(curl(&server, &["-o", "/dev/null", "-w", "%{http_code}"], path), status, "{path}");
        }
        // A field that would be two is none, and what nobody has answered is answered.
        let split = curl(&server, &["-i"], "/split%0d%0aX:%20y");
        assert!(split.starts_with("HTTP/1.1 500 ") && !split.contains("\r\nX: y"), "{split}");
        assert_eq!(curl(&server, &["-o", "/dev/null", "-w", "%{http_code}"], "/unhandled"), "500");
        let said =
            support::wait_for("a line of the log", || Some(server.said()).filter(|said| said.contains("/about?")));
        assert!(
            said.contains("1.2.3.4 - - [") && said.contains("\"GET /about?a=b HTTP/1.1\" 200 28 \"-\" \"curl/"),
            "{said}"
        );
    }
}

#[test]
fn a_guard_that_fails_stops_the_flow() {
    for runtime in RUNTIMES {
        let server = Server::listening(Command::new(answers()).args(runtime));
        let status = ["-o", "/dev/null", "-w", "%{http_code}"];
        for said in ["Authorization:", "Authorization: a guess"] {
            assert_eq!(curl(&server, &[&status[..], &["-H", said]].concat(), "/guarded"), "401", "{runtime:?}: {said}");
        }
        assert_eq!(curl(&server, &["-H", "Authorization: secret"], "/guarded"), "deleted 1\n", "{runtime:?}");
    }
}

#[test]
fn contents_are_received_and_bounded() {
    let folder = support::folder("web", "contents");
    fs::create_dir_all(&folder).unwrap();
    let [small, large] = [folder.join("small"), folder.join("large")];
    fs::write(&small, "hello ".repeat(20_000)).unwrap();
    fs::write(&large, vec![0; 3_000_000]).unwrap();
    let [small, large] = [small, large].map(|file| format!("@{}", file.display()));
    for runtime in RUNTIMES {
        let server = Server::listening(Command::new(answers()).args(runtime));
        for field in ["Expect: 100-continue", "Expect:", "Transfer-Encoding: chunked"] {
            assert_eq!(curl(&server, &["-H", field, "--data-binary", &small], "/echo"), "hello ".repeat(20_000));
            assert_eq!(curl(&server, &["-H", field, "--data-binary", &small], "/count"), "120000\n");
            let status = ["-H", field, "-o", "/dev/null", "-w", "%{http_code}", "--data-binary", &large];
            assert_eq!(curl(&server, &status, "/echo"), "413", "{runtime:?}: {field}");
        }
    }
}

/// A program does not change: the same nodes answer, whatever their requests came by.
#[test]
fn nodes_do_not_know_which_http_it_is() {
    let folder = support::folder("web", "both");
    fs::create_dir_all(&folder).unwrap();
    let [small, large] = [folder.join("small"), folder.join("large")];
    fs::write(&small, "hello ".repeat(20_000)).unwrap();
    fs::write(&large, vec![0; 3_000_000]).unwrap();
    let [small, large] = [small, large].map(|file| format!("@{}", file.display()));
    for runtime in RUNTIMES {
        let mut command = Command::new(answers());
        let server = Server::listening(command.args(runtime).args(["--http-proxies=127.0.0.1", "--http-log=common"]));
        let http2 =
            |arguments: &[&str], path: &str| curl(&server, &[&["--http2-prior-knowledge"], arguments].concat(), path);
        let forwarded = ["-H", "X-Forwarded-For: 9.9.9.9, 1.2.3.4, 127.0.0.1", "-H", "x-WANTED:  w"];
        assert_eq!(http2(&forwarded, "/about?a=b"), "GET|127.0.0.1|a=b|1.2.3.4|w\n");
        let made = http2(&["-i"], "/made");
        assert!(made.starts_with("HTTP/2 201 \r\n") && made.contains("\r\nx-path: /made\r\n"), "{made}");
        assert!(made.contains("\r\ndate: ") && !made.to_lowercase().contains("connection"), "{made}");
        for path in ["/stream", "/sized"] {
            assert_eq!(http2(&[], path).matches('a').count(), 1_000_000, "{path}");
        }
        let status = ["-o", "/dev/null", "-w", "%{http_code}"];
        for (path, wanted) in [("/moved", "302"), ("/silent", "500"), ("/broken", "503"), ("/unhandled", "500")] {
            assert_eq!(http2(&status, path), wanted, "{path}");
        }
        for field in ["Expect: 100-continue", "Expect:"] {
            for path in ["/echo", "/count"] {
                let said = http2(&["-H", field, "--data-binary", &small], path);
                assert!(said == "120000\n" || said == "hello ".repeat(20_000), "{runtime:?}: {}", said.len());
            }
        }
        // This curl takes the reset behind a whole answer for a failure.
        let url = format!("http://127.0.0.1:{}/echo", server.port);
        let said = said_by("nghttp", &["-v", "-d", large.trim_start_matches('@'), &url]);
        assert!(said.contains(":status: 413"), "{runtime:?}: {said}");
        let said =
            support::wait_for("a line of the log", || Some(server.said()).filter(|said| said.contains("/about?")));
        assert!(said.contains("1.2.3.4 - - [") && said.contains("\"GET /about?a=b HTTP/2.0\" 200 28 "), "{said}");
    }
}

/// What stands behind a content is there when all of it has been pulled, by either HTTP.
#[test]
fn trailers_are_read_behind_the_content() {
    let folder = support::folder("web", "trailers");
    let file = folder.join("content");
    fs::write(&file, "hello").unwrap();
    for runtime in RUNTIMES {
        let server = Server::listening(Command::new(answers()).args(runtime));
        let ask = |content: &str, fields: &str| {
            let head = "POST /trailer HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n";
            server.ask(&format!("{head}{content}{fields}\r\n")).rsplit("\r\n").next().unwrap().to_owned()
        };
        assert_eq!(ask("5\r\nhello\r\n0\r\n", "X: y\r\nDIGEST:  sha-256=abc \r\n"), "hello; sha-256=abc\n");
        assert_eq!(ask("3\r\nhel\r\n2;x\r\nlo\r\n000;y\r\n", ""), "hello; \n");
        assert_eq!(ask("0\r\n", "digest: d\r\n"), "; d\n");
        let url = format!("http://127.0.0.1:{}/trailer", server.port);
        let nghttp = |trailer: &str| said_by("nghttp", &["-d", file.to_str().unwrap(), "--trailer", trailer, &url]);
        assert_eq!(nghttp("Digest: sha-256=abc"), "hello; sha-256=abc\n", "{runtime:?}");
        assert_eq!(nghttp("other: abc"), "hello; \n", "{runtime:?}");
    }
}

/// It waits for `100 Continue`, and only a node that wants the content sends that.
#[test]
fn a_client_that_expects_is_told_to_go_on() {
    for runtime in RUNTIMES {
        let server = Server::listening(Command::new(answers()).args(runtime));
        let mut client = server.connect();
        client
            .write_all(b"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
            .unwrap();
        let mut told = [0; 25];
        client.read_exact(&mut told).unwrap();
        assert_eq!(&told, b"HTTP/1.1 100 Continue\r\n\r\n");
        client.write_all(b"helloGET /text HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").unwrap();
        let mut rest = String::new();
        client.read_to_string(&mut rest).unwrap();
        assert!(
            rest.starts_with("HTTP/1.1 200 OK\r\n") && rest.contains("hello") && rest.ends_with("a line\n"),
            "{rest}"
        );
    }
}

/// Its answer arrives although the server reads nothing more, and then it is closed, whatever it sends.
#[test]
fn who_is_refused_receives_why() {
    for runtime in RUNTIMES {
        let server = Server::listening(Command::new(answers()).args(runtime));
        let mut client = server.connect();
        client.write_all(b"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 9000000\r\n\r\n").unwrap();
        let mut answer = [0; 30];
        client.read_exact(&mut answer).unwrap();
        assert!(answer.starts_with(b"HTTP/1.1 413 Content Too Large"));
        support::wait_for("nobody who listens to it", || client.write_all(&[b'x'; 4096]).err());
    }
}

/// Sends `whole` and then a byte of `slow` each now and then: what is answered until the server ends it.
fn dribbled(server: &Server, whole: &str, slow: &str) -> String {
    let mut client = server.connect();
    client.write_all(whole.as_bytes()).unwrap();
    client.set_nonblocking(true).unwrap();
    let (mut answer, mut piece, mut bytes) = (String::new(), [0; 512], slow.bytes().cycle());
    support::wait_for("the end of a slow client", || {
        match client.write_all(&[bytes.next().unwrap()]).and_then(|()| client.read(&mut piece)) {
            Ok(0) => return Some(()),
            Ok(count) => answer += &text(piece.get(..count).unwrap_or_default()),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(_) => return Some(()),
        }
        None
    });
    // The server may have closed the connection before the client has read the answer.
    let mut rest = vec![];
    let _ = client.read_to_end(&mut rest);
    answer + &text(&rest)
}

/// A head and a content that come too slowly are answered with 408, and an answer that is not taken is broken off.
fn ends_slow_clients(root: &Path, runtime: &[&str]) {
    let limits = ["--http-head=1s", "--http-request=1s", "--http-send=1s"];
    let files = start(root, runtime, &limits);
    let answers = Server::listening(Command::new(answers()).args(runtime).args(limits));
    let mut taken = files.connect();
    taken.write_all(b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
    std::thread::scope(|all| {
        let head = all.spawn(|| dribbled(&files, "GET /small HTTP/1.1\r\n", "X: y\r\n"));
        let post = "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n";
        let content = all.spawn(|| dribbled(&answers, post, "z"));
        for slow in [head, content] {
            let answer = slow.join().unwrap();
            assert!(answer.starts_with("HTTP/1.1 408 "), "{runtime:?}: {answer}");
        }
    });
    support::wait_for("the end of an answer that is not taken", || (!is_open_at_peer(&taken)).then_some(()));
    let mut came = vec![];
    let _ = taken.read_to_end(&mut came);
    assert!(came.len() < 30_000_000, "{runtime:?}: an answer that nobody took was kept");
}

/// Others are served while slow clients have all the time that they want.
fn serves_others(root: &Path, runtime: &[&str]) {
    let limits = ["--http-head=60m", "--http-request=60m", "--http-send=60m"];
    let files = start(root, runtime, &limits);
    let answers = Server::listening(Command::new(answers()).args(runtime).args(limits));
    let begun = [
        (&files, "GET /large HTTP/1.1\r\nHost: a\r\n\r\n"),
        (&files, "GET /small HTTP/1.1\r\nX:"),
        (&answers, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\nzzz"),
    ];
    let slow = begun.map(|(server, sent)| {
        let mut client = server.connect();
        client.write_all(sent.as_bytes()).unwrap();
        client
    });
    files.rest();
    answers.rest();
    assert_eq!(curl(&files, &[], "/small"), "small");
    assert_eq!(curl(&answers, &[], "/text"), "a line\n");
    // 100,000 bytes of fields, a few at a time, are refused before they have all come.
    let long = format!("X: {}\r\n", "y".repeat(990));
    let mut client = files.connect();
    client.write_all(b"GET /small HTTP/1.1\r\nHost: a\r\n").unwrap();
    let sent = long.repeat(100).as_bytes().chunks(97).take_while(|piece| client.write_all(piece).is_ok()).count();
    let mut refused = String::new();
    let _ = client.read_to_string(&mut refused);
    assert!(refused.starts_with("HTTP/1.1 431 "), "{runtime:?}, after {sent}: {refused}");
    // Half open: its client sends no more, and gets all of its answer.
    let mut half = files.connect();
    half.write_all(b"GET /small HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
    half.shutdown(std::net::Shutdown::Write).unwrap();
    let mut answer = String::new();
    half.read_to_string(&mut answer).unwrap();
    assert!(answer.ends_with("\r\n\r\nsmall"), "{runtime:?}: {answer}");
    drop(slow);
}

#[test]
fn slow_clients_are_ended_and_hold_up_nobody() {
    let root = support::folder("web", "slow").join("root");
    fs::create_dir_all(&root).unwrap();
    fs::write(root.join("small"), "small").unwrap();
    fs::write(root.join("large"), vec![b'x'; 30_000_000]).unwrap();
    std::thread::scope(|all| RUNTIMES.map(|runtime| all.spawn(|| ends_slow_clients(&root, runtime))).len());
    RUNTIMES.iter().for_each(|runtime| serves_others(&root, runtime));
}

/// A request that there is no memory to read is not wrong: it may be sent again, whether all of it is there or a half.
#[test]
fn a_request_for_which_there_is_no_memory_is_answered_with_503() {
    for runtime in RUNTIMES {
        let server = Server::listening(Command::new(answers()).args(runtime).arg("--http-log=common"));
        let closing = |path: &str| format!("GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        assert!(server.ask(&closing("/lack")).ends_with("a line\n"), "{runtime:?}");
        for request in [closing("/text").as_str(), "GET /text HTTP/1.1\r\nHo"] {
            let answer = server.ask(request);
            assert!(answer.starts_with("HTTP/1.1 503 "), "{runtime:?}: {request}: {answer}");
        }
        assert!(server.ask(&closing("/text")).ends_with("a line\n"), "{runtime:?}");
    }
}

/// What becomes of the streams of a connection to `answers`, of which some get an error.
fn streams_of_http2(server: &Server, what: &str) -> String {
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut command = Command::new("/usr/bin/python3");
    let modules = format!("{0}/../../examples/web/test:{0}/tests/support", home.display());
    command.env("PYTHONPATH", modules).env("PYTHONDONTWRITEBYTECODE", "1");
    command.arg(home.join("tests/web/http2_streams.py"));
    let output = command.args([&server.port.to_string(), &server.id().to_string(), what]).output().unwrap();
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

/// The same by HTTP/2, for each stream: others on its connection go on.
#[test]
fn a_stream_for_which_there_is_no_memory_is_answered_with_503() {
    for runtime in RUNTIMES {
        let server = Server::listening(Command::new(answers()).args(runtime).arg("--http-log=common"));
        let said = streams_of_http2(&server, "memory");
        assert_eq!(said, "200 a line; 503; 503; 200 a line; 200 a line\nopen\n", "{runtime:?}");
    }
}

/// It is reset, once, and its flow gets no content with a part of them; those beside it are answered.
#[test]
fn a_stream_with_too_many_trailers_is_reset_alone() {
    for runtime in RUNTIMES {
        let mut server = Server::listening(Command::new(answers()).args(runtime).arg("--flux-report=text"));
        let said = streams_of_http2(&server, "trailers");
        let calm = "ENHANCE_YOUR_CALM 1";
        assert_eq!(said, format!("{calm}; 200 hello; d; {calm}; {calm}; {calm}\nopen\n"), "{runtime:?}");
        server.terminate();
        assert!(server.wait().success());
        let said = server.said();
        let is_told = said.lines().any(|line| line.contains("http.Content (") && line.contains("error 125"));
        assert!(is_told && said.contains(": 1 done, 0 failed,"), "{runtime:?}: {said}");
    }
}

/// Statuses are codes of failures; handlers take the text of an exception and the name of the node, wherever it failed.
#[test]
fn handlers_know_what_has_failed() {
    let statuses = [("name", "404"), ("number", "422"), ("errno", "503"), ("other", "500")];
    let told = [
        ("throws", "Throw: another: text of Throw"),
        ("code", "Code: gone: "),
        ("branch", "Throw: another: text of Throw"),
        ("each", "Item: another: item b"),
        ("loop", "Item: another: item b"),
        ("handler", "Clumsier: another: text of Clumsier"),
        ("long", "Long: another: 1023"),
        ("number", "Number: another: "),
        ("blocks", "Block: another: text of Block"),
        ("predicate", "Pick: another: text of IsThrowing"),
        ("cpp", "Remembered: text of Remembered"),
    ];
    for runtime in RUNTIMES {
        let mut server = Server::listening(Command::new(answers()).args(runtime));
        for (path, status) in statuses {
            let said = curl(&server, &["-o", "/dev/null", "-w", "%{http_code}"], &format!("/absent/{path}"));
            assert_eq!(said, status, "{runtime:?}: {path}");
        }
        // Twice: a text is gone with its failure.
        for (path, wanted) in told.iter().chain(&told) {
            let said = curl(&server, &[], &format!("/fail/{path}"));
            assert_eq!(said, format!("{wanted}\n"), "{runtime:?}: {path}");
        }
        // No line about one node is left out for a line about another.
        server.terminate();
        assert!(server.wait().success(), "{runtime:?}");
        let said = server.said();
        for node in ["Throw", "Block", "Long", "Remembered"] {
            let line = format!("{node} threw std::runtime_error");
            assert!(said.contains(&line), "{runtime:?}: {line}: {said}");
        }
    }
}

/// It has been passed over, and a client may be silent for long before it asks again.
#[test]
fn a_content_that_nobody_reads_leaves_the_connection_open() {
    for runtime in &RUNTIMES[1..] {
        let server = Server::listening(Command::new(answers()).args(*runtime));
        let mut client = server.connect();
        let mut answer = [0; 12];
        client.write_all(b"GET /text HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello").unwrap();
        client.read_exact(&mut answer).unwrap();
        support::let_pass(1300);
        client.write_all(b"GET /text HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").unwrap();
        let mut rest = String::new();
        client.read_to_string(&mut rest).unwrap();
        assert!(rest.matches("a line\n").count() == 2, "{runtime:?}: {rest}");
    }
}

/// Each answer comes once, through servers that take over from each other while clients ask without a pause.
#[test]
fn restarts_under_load_lose_no_request() {
    let bench = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/web");
    said_by("make", &["-s", "-C", bench.to_str().unwrap(), "build/web_load"]);
    let restarts = bench.join("restarts.py");
    for io in ["reactor", "proactor"] {
        let io = format!("--flux=--flux-io={io}");
        let server = ["--server", example().to_str().unwrap(), "--flux=--flux-runtime=event", &io];
        let load = ["--requests", "60000", "--restarts", "3"];
        let said = said_by("python3", &[&[restarts.to_str().unwrap()], &server[..], &load].concat());
        assert!(said.contains("answers through 3 restarts"), "{said}");
    }
}

/// Streams that are open when another server takes over come to their end; who connects then is served by that one.
#[test]
fn answers_by_http2_outlive_a_restart() {
    let root = support::folder("web", "outlive").join("root");
    fs::create_dir_all(&root).unwrap();
    let bytes: Vec<u8> = (0..3_000_000u32).map(|at| (at / 7 % 251) as u8).collect();
    fs::write(root.join("large.bin"), &bytes).unwrap();
    fs::write(root.join("small"), "small").unwrap();
    for runtime in &RUNTIMES[2..] {
        let port = support::free_port();
        let place = format!("--flux-takeover={}", root.with_file_name("place").display());
        let port_option = format!("--port={port}");
        let begin = || {
            let mut command = Command::new(example());
            command.args([&port_option, &place]).arg("--root").arg(&root).args(*runtime);
            Server::listening(&mut command)
        };
        let first = begin();
        let curl = |arguments: &[&str], path: &str| {
            let url = format!("http://127.0.0.1:{port}/{path}");
            Command::new("curl").args(["-s", "--http2-prior-knowledge"]).args(arguments).arg(url).output().unwrap()
        };
        std::thread::scope(|all| {
            let slow = [0, 1, 2].map(|number| {
                let file = root.with_file_name(format!("came {number}"));
                let _ = fs::remove_file(&file);
                let to = file.to_str().unwrap().to_owned();
                let one = all.spawn(move || curl(&["--limit-rate", "1500k", "-o", &to], "large.bin"));
                support::wait_for("a part of an answer", || {
                    fs::metadata(&file).is_ok_and(|file| file.len() > 0).then_some(())
                });
                (one, file)
            });
            let second = begin();
            support::wait_for("the first lets go", || first.said().contains("taken over by").then_some(()));
            assert_eq!(curl(&[], "small").stdout, b"small", "{runtime:?}");
            for (one, file) in slow {
                assert!(one.join().unwrap().status.success(), "{runtime:?}: {}", first.said());
                assert!(fs::read(file).unwrap() == bytes, "{runtime:?}: {}", first.said());
            }
            second.terminate();
        });
    }
}

/// Changed requests and wild paths, as they are and as the plaintext of TLS.
fn mutations(runtime: &[&str], rounds: &str) {
    let files = table_files("mutations");
    let [certificate, key] = certified(files.parent().unwrap());
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/web/test/mutations.py");
    let seed = std::env::var("FUZZ_SEED").ok();
    for (tls, options) in [(None, &["--http-head=1s"][..]), (Some("--tls"), &["--http-head=1s", &certificate, &key])] {
        let server = start(&files, runtime, options);
        let port = server.port.to_string();
        let arguments = [home.to_str(), tls, Some(&port), Some(rounds), seed.as_deref()];
        let said = said_by("python3", &arguments.into_iter().flatten().collect::<Vec<_>>());
        assert!(said.contains("answered as HTTP, from the folder"), "{said}");
    }
}

#[test]
fn changed_requests_and_wild_paths_are_answered_from_the_folder() {
    for runtime in &RUNTIMES[2..] {
        mutations(runtime, "300");
    }
}

/// Random frames of HTTP/2, in so many rounds.
fn random_frames(runtime: &[&str], rounds: &str) {
    let files = table_files("frames");
    let server = start(&files, runtime, &["--http-head=1s"]);
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/web/test/http2.py");
    let said = said_by("/usr/bin/python3", &[home.to_str().unwrap(), "--random", rounds, &server.port.to_string()]);
    assert!(said.contains("and then it answers"), "{said}");
    server.terminate();
}

#[test]
fn random_frames_of_http2_end_no_server() {
    for runtime in &RUNTIMES[2..] {
        random_frames(runtime, "40");
    }
}

#[test]
#[ignore = "it takes minutes: make fuzz"]
fn fuzz_http2() {
    random_frames(RUNTIMES[2], &fuzz_minutes());
}

/// As the scripts take it instead of a number of rounds.
fn fuzz_minutes() -> String {
    format!("{}m", std::env::var("FUZZ_MINUTES").unwrap_or_else(|_| "1".to_owned()))
}

/// `FUZZ_MINUTES` long, and with `FUZZ_SEED` the same requests again.
#[test]
#[ignore = "it takes minutes: make fuzz"]
fn fuzz_web() {
    mutations(RUNTIMES[2], &fuzz_minutes());
}
