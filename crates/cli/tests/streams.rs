//! Bodies that go along as they come, under everything that can run flows: what curl sends is counted, echoed and
//! forwarded, in bounded memory; what nobody reads is passed over, or ends the connection.

use crate::support;
use crate::support::{RUNTIMES, Server, text};
use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

/// How many bytes curl sends; `FLUX_UPLOAD` says another number, `104857600`.
fn upload_size() -> usize {
    std::env::var("FLUX_UPLOAD").map_or(6_000_000, |size| size.parse().unwrap())
}

/// Both servers, built once.
fn servers() -> &'static [PathBuf; 2] {
    static ONCE: OnceLock<[PathBuf; 2]> = OnceLock::new();
    ONCE.get_or_init(|| [build("uploads.flux"), build("relay/relay.flux")])
}

/// With the sources beside the program.
fn build(program: &str) -> PathBuf {
    support::built::build(&support::built::tests().join("streams").join(program), &[], &["--debug"])
}

/// The server, and one that forwards to it.
fn start(runtime: &[&str]) -> [Server; 2] {
    let [uploads, relay] = servers();
    let end = Server::listening(Command::new(uploads).args(runtime));
    let to = format!("--to=127.0.0.1:{}", end.port);
    let relay = Server::listening(Command::new(relay).args(runtime).arg(to));
    [end, relay]
}

/// Bytes that are in a file, and what `Count` says of them.
fn upload() -> &'static (PathBuf, Vec<u8>, String) {
    static ONCE: OnceLock<(PathBuf, Vec<u8>, String)> = OnceLock::new();
    ONCE.get_or_init(|| {
        let mut state = 1_u32;
        let bytes: Vec<u8> = std::iter::repeat_with(|| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        })
        .take(upload_size())
        .collect();
        let sum = bytes.iter().fold(0_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(*byte)));
        let file = support::folder("streams", "bytes").join("upload");
        std::fs::write(&file, &bytes).unwrap();
        let said = format!("{} {sum}", bytes.len());
        (file, bytes, said)
    })
}

/// What curl receives.
fn curl(port: u16, path: &str, arguments: &[&str]) -> Vec<u8> {
    let file = format!("@{}", upload().0.display());
    let mut curl = Command::new("curl");
    curl.args(["-sS", "--max-time", "60", "-H", "Expect:", "--data-binary", &file]).args(arguments);
    let output = curl.arg(format!("http://127.0.0.1:{port}{path}")).output().unwrap();
    assert!(output.status.success(), "{path} {arguments:?}: {}", text(&output.stderr));
    output.stdout
}

const CHUNKED: &[&str] = &["-H", "Transfer-Encoding: chunked"];

/// The most memory that a server has had, in bytes.
fn peak(server: &Server) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    1024 * line.trim().trim_end_matches(" kB").parse::<usize>().unwrap()
}

#[test]
fn uploads_are_counted_echoed_and_forwarded_as_they_come() {
    let (_, bytes, said) = upload();
    for runtime in RUNTIMES {
        let [end, relay] = start(runtime);
        for coding in [&[], CHUNKED] {
            for server in [&end, &relay] {
                assert_eq!(text(&curl(server.port, "/count", coding)), *said, "{runtime:?} {coding:?}");
            }
            assert!(curl(end.port, "/echo", coding) == *bytes, "{runtime:?} {coding:?}");
        }
        // What is on the way is in windows and in buffers of the kernel.
        for server in [&end, &relay] {
            assert!(peak(server) < 32 << 20, "{runtime:?}: {} bytes", peak(server));
        }
    }
}

/// All that comes until the server ends the connection.
fn rest(mut of: TcpStream) -> String {
    let mut all = vec![];
    let _ = of.read_to_end(&mut all);
    text(&all)
}

fn request(path: &str, body: &str) -> String {
    format!("POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

#[test]
fn what_nobody_reads_is_passed_over_and_the_next_request_is_answered_in_order() {
    for runtime in RUNTIMES {
        let [end, relay] = start(runtime);
        for server in [&end, &relay] {
            let mut all = request("/refuse", "some that nobody reads");
            all += &request("/count", "ab");
            let fields = "POST /count HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
            write!(all, "{fields}3;x=y\r\nabc\r\n1\r\nd\r\n0\r\nDigest: 1\r\n\r\n").unwrap();
            write!(all, "{fields}3\r\nabc\r\n0\r\n\r\n").unwrap();
            all += &request("/refuse", "");
            // At once, and byte by byte.
            for step in [all.len(), 1] {
                let mut client = server.connect();
                for piece in all.as_bytes().chunks(step) {
                    client.write_all(piece).unwrap();
                }
                client.shutdown(std::net::Shutdown::Write).unwrap();
                let said = rest(client);
                let replies: Vec<_> =
                    said.split("HTTP/1.1 ").skip(1).map(|one| one.rsplit('\n').next().unwrap()).collect();
                let expected = ["too much", "2 3105", "4 2987074", "3 96354", "too much"];
                assert_eq!(replies, expected, "{runtime:?} {said}");
            }
        }
    }
}

/// A client of node that sends a chunked body, and trailers behind it; it prints the reply and its trailers.
const SENDS_TRAILERS: &str = "
const [port, pieces] = process.argv.slice(2);
const request = require('http').request({ host: '127.0.0.1', port, path: '/trailers', method: 'POST',
    headers: { 'Transfer-Encoding': 'chunked', Trailer: 'Digest, X-Pieces' } }, reply => {
  reply.on('data', data => process.stdout.write(data));
});
for (let piece = 0; piece < pieces; ++piece) request.write('x'.repeat(1000));
request.addTrailers({ Digest: 'sha-256=abc', 'X-Pieces': pieces });
request.end();
";

#[test]
fn trailers_that_come_behind_the_chunks_are_read_and_forwarded() {
    let script = support::folder("streams", "node").join("sends_trailers.js");
    std::fs::write(&script, SENDS_TRAILERS).unwrap();
    for runtime in RUNTIMES {
        let [end, relay] = start(runtime);
        for (server, pieces) in [(&end, 0), (&end, 1), (&end, 200), (&relay, 0), (&relay, 200)] {
            let mut node = Command::new("node");
            node.arg(&script).arg(server.port.to_string()).arg(pieces.to_string());
            let said = text(&node.output().unwrap().stdout);
            assert_eq!(said, format!("Digest=sha-256=abc;X-Pieces={pieces};"), "{runtime:?}");
        }
        // Of a body that has no chunks there are none, whatever is in it.
        for body in ["", "0\r\na: b\r\n\r\n", "\r\n0\r\na: b\r\n\r\n"] {
            let mut client = end.connect();
            client.write_all(request("/trailers", body).as_bytes()).unwrap();
            client.shutdown(std::net::Shutdown::Write).unwrap();
            let said = rest(client);
            assert!(said.starts_with("HTTP/1.1 200 ") && said.ends_with("\r\n\r\n"), "{runtime:?} {said}");
        }
    }
}

/// A server that has trailers in its replies.
fn with_trailers() -> Server {
    let folder = support::folder("streams", "nginx");
    let files = folder.join("files");
    std::fs::create_dir_all(&files).unwrap();
    std::fs::write(files.join("numbers.txt"), (0..20_000).fold(String::new(), |all, one| format!("{all}{one}\n")))
        .unwrap();
    let port = support::free_port();
    let mut configuration = format!(
        "master_process off; daemon off; error_log /dev/null; events {{ }}\n\
        pid {0}/pid;\nhttp {{ access_log off; gzip on; gzip_min_length 1; types {{ text/html txt; }}\n",
        folder.display()
    );
    for each in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"] {
        writeln!(configuration, "{each}_temp_path {}/{each};", folder.display()).unwrap();
    }
    writeln!(
        configuration,
        "server {{ listen 127.0.0.1:{port}; root {};
        add_trailer Digest sha-256=abc; add_trailer X-Other \"a b\"; }} }}",
        files.display()
    )
    .unwrap();
    let file = folder.join("nginx.conf");
    std::fs::write(&file, configuration).unwrap();
    let mut nginx = Command::new("/usr/sbin/nginx");
    let server = Server::start(nginx.args(["-e", "/dev/null", "-g", "user root;", "-c"]).arg(&file), port);
    server.connect();
    server
}

#[test]
fn trailers_of_a_reply_leave_with_it() {
    let [_, relay] = servers();
    let nginx = with_trailers();
    for runtime in RUNTIMES {
        let to = format!("--to=127.0.0.1:{}", nginx.port);
        let relay = Server::listening(Command::new(relay).args(runtime).arg(to));
        let said = |port: u16| {
            let url = format!("http://127.0.0.1:{port}/numbers.txt");
            let output = Command::new("curl").args(["-sS", "-i", "--compressed", &url]).output().unwrap();
            assert!(output.status.success(), "{runtime:?}: {}", text(&output.stderr));
            text(&output.stdout)
        };
        let [direct, relayed] = [said(nginx.port), said(relay.port)];
        assert!(direct.contains("Digest: sha-256=abc\r\nX-Other: a b\r\n"), "{direct}");
        let rest = |all: &str| all.split_once("\r\n\r\n").unwrap().1.to_owned();
        assert_eq!(rest(&direct), rest(&relayed), "{runtime:?}");
    }
}

/// Asks with a body that has no end until the reply has come, and the connection ends behind it.
fn refuses(server: &Server, runtime: &[&str]) {
    let mut client = server.connect();
    let head = "POST /refuse HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000\r\n\r\n";
    client.write_all(head.as_bytes()).unwrap();
    let more = vec![0; 1 << 20];
    client.set_nonblocking(true).unwrap();
    let mut said = String::new();
    support::wait_for("a refusal", || {
        // The peer may have ended it, and not have received all.
        let _ = client.write(&more);
        let mut reply = [0; 1 << 10];
        said += &client.read(&mut reply).map_or(String::new(), |count| text(reply.get(..count).unwrap_or_default()));
        said.contains("too much").then_some(())
    });
    client.set_nonblocking(false).unwrap();
    let _ = client.shutdown(std::net::Shutdown::Write);
    assert_eq!(rest(client), "", "{runtime:?}");
}

#[test]
fn what_is_too_much_to_pass_over_ends_the_connection_behind_the_reply() {
    for runtime in RUNTIMES {
        let [end, _] = start(runtime);
        refuses(&end, runtime);
    }
}

/// A server that refuses each request before its body has come, and ends the connection.
fn refuses_at_once() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            let mut connection = connection.unwrap();
            let mut head = [0; 40];
            connection.read_exact(&mut head).unwrap();
            connection.write_all(b"HTTP/1.1 413 Content Too Large\r\nContent-Length: 8\r\n\r\ntoo much").unwrap();
        }
    });
    port
}

#[test]
fn the_reply_of_a_server_that_ends_the_connection_before_it_has_the_request_is_forwarded() {
    let port = refuses_at_once();
    let [_, relay] = servers();
    for runtime in RUNTIMES {
        let relay = Server::listening(Command::new(relay).args(runtime).arg(format!("--to=127.0.0.1:{port}")));
        refuses(&relay, runtime);
    }
}

#[test]
fn a_body_that_breaks_off_or_is_wrong_fails_the_flow_and_no_other() {
    for runtime in RUNTIMES {
        let [end, relay] = start(runtime);
        for server in [&end, &relay] {
            for body in ["Content-Length: 9\r\n\r\nabc", "Transfer-Encoding: chunked\r\n\r\n3\r\nabcX"] {
                let mut client = server.connect();
                write!(client, "POST /count HTTP/1.1\r\nHost: a\r\n{body}").unwrap();
                client.shutdown(std::net::Shutdown::Write).unwrap();
                assert_eq!(rest(client), "", "{runtime:?} {body}");
            }
            let mut client = server.connect();
            client.write_all(request("/count", "ab").as_bytes()).unwrap();
            client.shutdown(std::net::Shutdown::Write).unwrap();
            assert!(rest(client).ends_with("2 3105"), "{runtime:?}");
        }
    }
}
