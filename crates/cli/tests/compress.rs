//! `std.compress`: files and responses in the codings that clients accept (RFC 9110, 12.5.3), as curl decodes them.

use crate::support;
use crate::support::{Server, text};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

/// A head in small letters, and a content.
struct Answer {
    head: String,
    content: Vec<u8>,
}

impl Answer {
    fn field(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

fn build() -> PathBuf {
    support::build_own("compress", "compressed", &[])
}

fn ask(server: &Server, path: &str, fields: &[&str], more: &[&str]) -> Answer {
    let mut curl = Command::new("curl");
    curl.args(["-s", "-i", "--raw"]).args(more);
    for field in fields {
        curl.args(["-H", field]);
    }
    let output = curl.arg(format!("http://127.0.0.1:{}{path}", server.port)).output().unwrap();
    assert!(output.status.success(), "{path} {fields:?} {}", text(&output.stderr));
    let end = output.stdout.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4;
    let head = text(&output.stdout[..end]).replace('\r', "").to_lowercase();
    Answer { head, content: output.stdout[end..].to_vec() }
}

/// What a client has after it has decoded the answer.
fn decoded(server: &Server, path: &str, coding: &str) -> Vec<u8> {
    let url = format!("http://127.0.0.1:{}{path}", server.port);
    let accepted = format!("Accept-Encoding: {coding}");
    Command::new("curl").args(["-s", "--compressed", "-H", &accepted, &url]).output().unwrap().stdout
}

fn write_files(root: &Path) {
    fs::create_dir_all(root).unwrap();
    let lines = |count: u32| (0..count).map(|at| format!("line {} of many\n", at * 7919 % 10_007)).collect::<String>();
    for (name, content) in [("page.html", lines(1000)), ("large.txt", lines(200_000)), ("tiny.txt", lines(1))] {
        fs::write(root.join(name), content).unwrap();
    }
    fs::write(root.join("photo.png"), lines(1000)).unwrap();
    // Each is older than the one before.
    for (age, name) in (0..).zip(["late.css", "late.css.gz", "made.css.zst", "made.css"]) {
        fs::write(root.join(name), format!("{name} ").repeat(300)).unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000 - age);
        fs::File::options().write(true).open(root.join(name)).unwrap().set_modified(time).unwrap();
    }
}

#[test]
fn contents_come_in_the_codings_that_clients_accept() {
    let program = build();
    let root = support::folder("compress", "files").join("root");
    write_files(&root);
    let runtimes: [&[&str]; 3] = [
        &["--flux-runtime=thread"],
        &["--flux-runtime=event", "--flux-workers=2", "--flux-io=reactor"],
        &["--flux-runtime=event", "--flux-workers=2", "--flux-io=proactor"],
    ];
    for runtime in runtimes {
        let server = Server::listening(Command::new(&program).arg("--root").arg(&root).args(runtime));
        for path in ["/page.html", "/large.txt"] {
            let plain = fs::read(root.join(path.trim_start_matches('/'))).unwrap();
            for coding in ["gzip", "br", "zstd", "identity"] {
                assert!(decoded(&server, path, coding) == plain, "{runtime:?} {path} {coding}");
            }
        }
        assert!(decoded(&server, "/made", "gzip").starts_with(b"/m"), "{runtime:?}");
        a_client_gets_what_it_likes_best(&server);
        tags_tell_codings_apart(&server);
        what_is_precompressed_is_found(&server, &root);
    }
}

fn a_client_gets_what_it_likes_best(server: &Server) {
    for (accepted, coding) in [
        ("gzip", Some("gzip")),
        ("x-gzip", Some("gzip")),
        ("GZIP;Q=0.5", Some("gzip")),
        ("gzip, deflate, br, zstd", Some("br")),
        ("gzip;q=1.0, br;q=0.9, zstd;q=0", Some("gzip")),
        ("zstd;q=0.3,gzip;q=0.2", Some("zstd")),
        ("*", Some("br")),
        ("*;q=0.5, br;q=0", Some("zstd")),
        ("identity, gzip;q=0.5", None),
        ("gzip;q=0", None),
        ("*;q=0", None),
        ("deflate, compress", None),
        ("", None),
    ] {
        let answer = ask(server, "/page.html", &[&format!("Accept-Encoding: {accepted}")], &[]);
        assert_eq!(answer.field("content-encoding"), coding, "{accepted}");
        assert_eq!(answer.field("vary"), Some("accept-encoding"), "{accepted}");
        let length = answer.content.len().to_string();
        assert_eq!(answer.field("content-length"), Some(length.as_str()), "{accepted}");
    }
    let two = ask(server, "/page.html", &["Accept-Encoding: br;q=0.1", "Accept-Encoding: zstd"], &[]);
    assert_eq!(two.field("content-encoding"), Some("zstd"));
    // Those that would not become smaller, or are smaller already, stay as they are.
    for path in ["/tiny.txt", "/photo.png"] {
        let answer = ask(server, path, &["Accept-Encoding: gzip"], &[]);
        assert_eq!((answer.field("content-encoding"), answer.field("vary")), (None, None), "{path}");
    }
    let made = ask(server, "/made", &["Accept-Encoding: gzip"], &[]);
    assert_eq!((made.field("content-encoding"), made.field("etag")), (Some("gzip"), Some("w/\"made\"")));
}

fn tags_tell_codings_apart(server: &Server) {
    let gzip = "Accept-Encoding: gzip";
    let plain = ask(server, "/page.html", &[], &[]).field("etag").unwrap().to_owned();
    let coded = ask(server, "/page.html", &[gzip], &[]).field("etag").unwrap().replace("w/", "W/");
    assert!(coded.starts_with("W/\"") && coded.ends_with("-gzip\"") && !plain.contains("gzip"), "{plain} {coded}");
    for (tag, status) in [(&coded, "304"), (&plain, "200")] {
        let answer = ask(server, "/page.html", &[gzip, &format!("If-None-Match: {tag}")], &[]);
        assert!(answer.head.starts_with(&format!("http/1.1 {status}")), "{tag}: {}", answer.head);
        assert_eq!(answer.field("vary"), Some("accept-encoding"));
    }
    // A weak tag is the same as no other where bytes are put together.
    let strong = ask(server, "/page.html", &[gzip, &format!("If-Match: {coded}")], &[]);
    assert!(strong.head.starts_with("http/1.1 412"), "{}", strong.head);
    let part = ask(server, "/page.html", &[gzip, "Range: bytes=0-9"], &[]);
    assert!(part.head.starts_with("http/1.1 206") && part.field("content-encoding").is_none(), "{}", part.head);
    assert_eq!(part.content, b"line 0 of ");
    // A large one is compressed while it is sent, and a head says that without it.
    for arguments in [&["-I"][..], &[]] {
        let large = ask(server, "/large.txt", &[gzip], arguments);
        assert_eq!(large.field("transfer-encoding"), Some("chunked"));
        assert_eq!(large.content.is_empty(), !arguments.is_empty());
    }
}

fn what_is_precompressed_is_found(server: &Server, root: &Path) {
    let all = "Accept-Encoding: br, gzip, zstd";
    let there = ask(server, "/made.css", &[all], &[]);
    assert_eq!(there.field("content-encoding"), Some("zstd"));
    assert_eq!(there.field("content-type"), Some("text/css; charset=utf-8"));
    assert!(there.content == fs::read(root.join("made.css.zst")).unwrap());
    assert!(!there.field("etag").unwrap().starts_with("w/"));
    // One that is older than its file is not what it has become.
    let old = ask(server, "/late.css", &["Accept-Encoding: gzip"], &[]);
    assert!(old.content != fs::read(root.join("late.css.gz")).unwrap());
    assert_eq!(decoded(server, "/late.css", "gzip"), fs::read(root.join("late.css")).unwrap());
}
