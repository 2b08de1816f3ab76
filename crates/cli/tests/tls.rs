//! TLS: `std.http` and `std.tls` under everything that can run flows, with clients of every manner
//! (`tests/tls/clients.py`), `openssl s_client`, curl and a browser; certificates that change, and those that are none.

use crate::support;
use crate::support::dialogue::Dialogue;
use crate::support::{RUNTIMES, Server, text};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

fn home() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tls")
}

fn both() -> &'static Path {
    static ONCE: OnceLock<PathBuf> = OnceLock::new();
    ONCE.get_or_init(|| support::built::build(&home().join("both.flux"), &[home().join("both.cpp")], &[]))
}

/// A folder with certificates and with files to serve.
fn world(test: &str) -> PathBuf {
    let folder = support::folder("tls", test);
    let said = Command::new("sh").arg(home().join("certificates.sh")).current_dir(&folder).output().unwrap();
    assert!(said.status.success(), "{}", text(&said.stderr));
    fs::write(folder.join("small.txt"), "0123456789abcdef".repeat(64)).unwrap();
    fs::write(folder.join("large.bin"), (0..3_000_000u32).map(|at| (at / 7 % 251) as u8).collect::<Vec<_>>()).unwrap();
    fs::write(folder.join("index.html"), "<!doctype html><title>0</title><script src=\"title.js\"></script>").unwrap();
    fs::write(folder.join("title.js"), "document.title = location.protocol;").unwrap();
    folder
}

/// Where a server listens for lines, and where it speaks first.
struct Ports {
    lines: u16,
    greets: u16,
}

/// Serves the folder, with the names of certificates, and listens for the other protocols on ports of their own.
fn start(folder: &Path, names: &[&str], arguments: &[&str]) -> (Server, Ports) {
    let list = |ending: &str| names.iter().map(|name| format!("{name}.{ending}")).collect::<Vec<_>>().join(",");
    let [lines, greets] = [support::free_port(), support::free_port()];
    // What is run in the background may begin with SIGHUP ignored, and a server leaves that as it is.
    let mut command = Command::new("env");
    command.arg("--default-signal=HUP").arg(both());
    command.current_dir(folder).args([&format!("--lines={lines}"), &format!("--greets={greets}")]);
    command.arg("--root=.").args(arguments);
    command.args([format!("--tls-certificate={}", list("pem")), format!("--tls-key={}", list("key"))]);
    let port = support::free_port();
    let mut server = Server::listening(command.arg(format!("--port={port}")));
    let listens = |port: u16| server.said().contains(&format!("listening on [::]:{port}\n")).then_some(());
    support::wait_for("all ports", || listens(port).and(listens(lines)).and(listens(greets)));
    server.port = port;
    (server, Ports { lines, greets })
}

fn said_by(program: &str, folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).current_dir(folder).stdin(Stdio::null()).output().unwrap();
    text(&output.stdout) + &text(&output.stderr)
}

fn s_client(server: &Server, folder: &Path, arguments: &[&str]) -> String {
    let to = format!("127.0.0.1:{}", server.port);
    said_by("openssl", folder, &[&["s_client", "-connect", &to], arguments].concat())
}

#[test]
fn clients_of_every_manner_are_served() {
    let folder = world("manners");
    for runtime in RUNTIMES {
        let (server, other) = start(&folder, &["localhost", "other.example"], runtime);
        let ports = [server.port.to_string(), other.lines.to_string()];
        let clients = home().join("clients.py");
        let said =
            said_by("python3", &folder, &[clients.to_str().unwrap(), &ports[0], &ports[1], "localhost.pem", "."]);
        assert_eq!(said, "ok\n", "{runtime:?}: {}", server.said());
    }
}

#[test]
fn sessions_are_resumed_and_what_is_old_is_refused() {
    let folder = world("sessions");
    let runtime: &[&str] = &["--flux-runtime=event", "--tls-ticket-key=ticket.key"];
    let (server, _) = start(&folder, &["localhost", "other.example"], runtime);
    let again = s_client(&server, &folder, &["-tls1_2", "-reconnect"]);
    assert_eq!(again.matches("Reused, TLSv1.2").count(), 5, "{again}");
    assert!(!s_client(&server, &folder, &["-tls1_1", "-cipher", "ALL@SECLEVEL=0"]).contains("Cipher    : ECDHE"));
    assert!(s_client(&server, &folder, &["-alpn", "h3,http/1.1"]).contains("ALPN protocol: http/1.1"));
    assert!(s_client(&server, &folder, &["-alpn", "ftp"]).contains("alert no application protocol"));
    for (name, subject) in [("other.example", "other.example"), ("localhost", "localhost"), ("who", "localhost")] {
        let said = s_client(&server, &folder, &["-servername", name]);
        assert!(said.contains(&format!("subject=CN = {subject}")), "{name}: {said}");
    }
    let to = format!("127.0.0.1:{}", server.port);
    let mut client = Dialogue::start(Command::new("openssl").args(["s_client", "-tls1_2", "-connect", &to]));
    client.wait_for("Verify return code");
    client.say("R\n");
    client.wait_for("RENEGOTIATING");
    client.wait_for("no renegotiation");
    drop(client);

    // TLS 1.3 gives tickets behind the handshake. They are good for the next server, too.
    let ask = |server: &Server, way: &str| {
        let script = format!(
            "(printf 'GET /small.txt HTTP/1.1\\r\\nHost: a\\r\\nConnection: close\\r\\n\\r\\n') |
             openssl s_client -connect 127.0.0.1:{} -{way} session.pem -ign_eof 2>&1",
            server.port
        );
        said_by("sh", &folder, &["-c", &script])
    };
    assert!(ask(&server, "sess_out").contains("New, TLSv1.3"));
    assert!(ask(&server, "sess_in").contains("Reused, TLSv1.3"));
    drop(server);
    let (next, _) = start(&folder, &["localhost"], runtime);
    assert!(ask(&next, "sess_in").contains("Reused, TLSv1.3"));
}

/// They have as long as a client that says nothing, however often they say a little.
#[test]
fn handshakes_that_do_not_end_are_ended() {
    let folder = world("slow");
    for runtime in [RUNTIMES[1], RUNTIMES[2]] {
        let (server, _) = start(&folder, &["localhost"], &[runtime, &["--http-first-byte=1s"]].concat());
        let clients = home().join("clients.py");
        let port = server.port.to_string();
        assert_eq!(said_by("python3", &folder, &[clients.to_str().unwrap(), &port]), "ok\n", "{runtime:?}");
        // On a slow machine one that is not slow may have too little time, too.
        let is_served = || s_client(&server, &folder, &[]).contains("New, TLSv1.3");
        support::wait_for("a client that is served", || is_served().then_some(()));
    }
}

#[test]
fn curl_and_a_browser_load_pages() {
    let folder = world("browser");
    let profile = format!("--user-data-dir={}", folder.join("profile").display());
    for runtime in [RUNTIMES[1], RUNTIMES[2]] {
        let (server, _) = start(&folder, &["localhost"], runtime);
        let url = format!("https://localhost:{}/", server.port);
        let page = said_by("curl", &folder, &["-sS", "--cacert", "localhost.pem", &url]);
        assert!(page.starts_with("<!doctype html>"), "{page}");
        let arguments = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--ignore-certificate-errors",
            &profile,
            "--dump-dom",
            &url,
        ];
        let shown = said_by("chromium", &folder, &arguments);
        assert!(shown.contains("<title>https:</title>"), "{runtime:?}: {shown}");
    }
}

#[test]
fn certificates_are_read_again_when_they_change() {
    let folder = world("changes");
    let (server, _) = start(&folder, &["localhost"], &["--flux-runtime=event"]);
    let subject = |wanted: &str| {
        support::wait_for(wanted, || s_client(&server, &folder, &[]).contains(wanted).then_some(()));
    };
    let replace = |with: &str| {
        for ending in ["pem", "key"] {
            fs::copy(folder.join(format!("{with}.{ending}")), folder.join("new")).unwrap();
            fs::rename(folder.join("new"), folder.join(format!("localhost.{ending}"))).unwrap();
        }
    };
    subject("subject=CN = localhost");
    replace("other.example");
    subject("subject=CN = other.example");
    // What cannot be read changes nothing, and is said.
    fs::write(folder.join("localhost.key"), "none").unwrap();
    support::wait_for("a complaint", || {
        server.said().contains("flux: TLS: the certificates stay as they were: the key in localhost.key").then_some(())
    });
    subject("subject=CN = other.example");
    replace("rsa");
    subject("subject=CN = localhost");
    let times = || server.said().matches("the certificates were read again").count();
    let before = times();
    said_by("kill", &folder, &["-HUP", &server.id().to_string()]);
    support::wait_for("what SIGHUP asks for", || (times() > before).then_some(()));
}

/// `tls.Accept`: the flow begins with the handshake, before its client has sent anything.
#[test]
fn a_server_speaks_first() {
    let folder = world("first");
    for runtime in RUNTIMES {
        let (_server, other) = start(&folder, &["localhost"], runtime);
        let to = format!("127.0.0.1:{}", other.greets);
        let said = said_by("openssl", &folder, &["s_client", "-quiet", "-verify_quiet", "-connect", &to]);
        assert!(said.contains("welcome\n"), "{runtime:?}: {said}");
    }
}

/// `--tls-at` names the port of the lines; the other has HTTP as ever.
#[test]
fn tls_is_spoken_where_it_is_wanted() {
    let folder = world("at");
    for runtime in RUNTIMES {
        let [port, lines] = [support::free_port(), support::free_port()];
        let mut command = Command::new(both());
        command.current_dir(&folder).args(["--greets=:0", "--root=."]).args(runtime);
        command.args([format!("--port={port}"), format!("--lines={lines}"), format!("--tls-at={lines}")]);
        let server = Server::listening(command.args(["--tls-certificate=localhost.pem", "--tls-key=localhost.key"]));
        let listens = |port: u16| server.said().contains(&format!("listening on [::]:{port}\n")).then_some(());
        support::wait_for("both ports", || listens(port).and(listens(lines)));
        let url = format!("http://127.0.0.1:{port}/small.txt");
        assert_eq!(said_by("curl", &folder, &["-s", &url]).len(), 1024, "{runtime:?}: {}", server.said());
        let to = format!("127.0.0.1:{lines}");
        let said = said_by("openssl", &folder, &["s_client", "-connect", &to]);
        assert!(said.contains("subject=CN = localhost"), "{runtime:?}: {said}");
    }
}

#[test]
fn what_is_wrong_at_the_start_is_said() {
    let folder = world("wrong");
    let with = |arguments: &[&str]| {
        let mut command = Command::new(both());
        let said = command
            .current_dir(&folder)
            .args(["--lines=:0", "--greets=:0", "--port=0"])
            .args(arguments)
            .output()
            .unwrap();
        assert!(!said.status.success());
        text(&said.stderr)
    };
    let begin = "flux: TLS cannot be spoken";
    for (arguments, wanted) in [
        (&[][..], ": say --tls-certificate=FILE and --tls-key=FILE, or give the source a certificate\n"),
        (&["--tls-certificate=gone.pem"], ": the certificate gone.pem cannot be read: No such file or directory\n"),
        (
            &["--tls-certificate=localhost.pem", "--tls-key=rsa.key"],
            ": the key in rsa.key is not that of the certificate localhost.pem",
        ),
        (&["--tls-certificate=localhost.pem,rsa.pem", "--tls-key=rsa.key"], ": there are 2 certificates and 1 keys: "),
        (&["--tls-certificate=localhost.pem"], ": the key in localhost.pem cannot be read: "),
        (
            &["--tls-certificate=rsa.pem", "--tls-key=rsa.key", "--tls-ticket-key=rsa.key"],
            ": the key of tickets rsa.key is to have 80 bytes: `openssl rand -out rsa.key 80` makes one\n",
        ),
    ] {
        let said = with(arguments);
        assert!(said.contains(begin) && said.contains(wanted), "{arguments:?}: {said}");
    }
    fs::copy(folder.join("localhost.key"), folder.join("expired.key")).unwrap();
    let (server, _) = start(&folder, &["expired"], &[]);
    assert!(server.said().contains("flux: TLS: the certificate expired.pem has expired: clients refuse it"));
}
