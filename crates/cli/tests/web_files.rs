//! Files and folders over HTTP: listings and their links, conditions, dates, ranges.

use crate::support::{self, RUNTIMES, text};
use crate::web::{curl, start};
use std::fmt::Write as _;
use std::fs;

#[test]
fn folders_are_listed_and_what_is_missing_has_a_page() {
    let root = support::folder("web", "listed").join("root");
    fs::create_dir_all(root.join("full/sub")).unwrap();
    fs::write(root.join("full/a<b>.txt"), "12345").unwrap();
    fs::write(root.join("full/.hidden"), "").unwrap();
    for runtime in RUNTIMES {
        let server = start(&root, runtime, &[]);
        let page = curl(&server, &["-i"], "/full/");
        assert!(page.starts_with("HTTP/1.1 200 OK\r\n"), "{page}");
        assert!(page.contains("<a href=\"./a%3Cb%3E.txt\">a&lt;b>.txt</a></td><td>5</td>"), "{page}");
        assert!(page.contains("<a href=\"./sub/\">sub/</a>") && !page.contains("hidden"), "{page}");
        assert_eq!(curl(&server, &["-o", "/dev/null", "-w", "%{http_code} %{redirect_url}"], "/full"), {
            format!("301 http://127.0.0.1:{}/full/", server.port)
        });
        let missing = curl(&server, &["-i"], "/full/<none>");
        assert!(missing.starts_with("HTTP/1.1 404 Not Found\r\n"), "{missing}");
        assert!(missing.contains("There is no <code>/full/&lt;none></code>"), "{missing}");
        let folder = curl(&server, &["-i"], "/none/");
        assert!(folder.starts_with("HTTP/1.1 404 Not Found\r\n"), "{folder}");
    }
}

/// Names that pages and URLs could take for something else (WHATWG URL, 4.4).
const WILD_NAMES: [&str; 15] = [
    "a b",
    " begins",
    "ends ",
    "q?x",
    "h#x",
    "p%41",
    "amp&lt;",
    "quote\"s",
    "it's",
    "back\\slash",
    "javascript:alert(1)",
    "tab\tx",
    "new\nline",
    "uml\u{e4}ut",
    "a\\..\\b",
];

#[test]
fn links_of_listings_lead_to_their_files() {
    let root = support::folder("web", "links").join("root");
    fs::create_dir_all(root.join("wild")).unwrap();
    for name in WILD_NAMES {
        fs::write(root.join("wild").join(name), name).unwrap();
    }
    let server = start(&root, &[], &[]);
    let page = curl(&server, &[], "/wild/");
    let links = page.split("<a href=\"./").skip(1).map(|rest| rest.split('"').next().unwrap());
    let mut contents: Vec<String> = links
        .map(|link| {
            assert!(link.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~%".contains(&byte)), "{link}");
            curl(&server, &[], &format!("/wild/{link}"))
        })
        .collect();
    contents.sort();
    let mut names = WILD_NAMES.map(str::to_owned);
    names.sort();
    assert_eq!(contents, names, "{page}");
}

#[test]
fn a_list_may_come_in_several_lines() {
    let root = support::folder("web", "lists").join("root");
    fs::create_dir_all(&root).unwrap();
    fs::write(root.join("a.txt"), "x").unwrap();
    let server = start(&root, &[], &[]);
    let ask =
        |fields: &str| server.ask(&format!("GET /a.txt HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{fields}\r\n"));
    let answer = ask("");
    let tag = answer.split("ETag: ").nth(1).unwrap().split('\r').next().unwrap();
    for (field, status) in [("If-None-Match", 304), ("If-Match", 200)] {
        let answer = ask(&format!("{field}: \"other\"\r\n{field}: {tag}\r\n"));
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{field}: {answer}");
    }
}

#[test]
fn no_file_was_modified_in_the_future() {
    let root = support::folder("web", "future").join("root");
    fs::create_dir_all(&root).unwrap();
    fs::write(root.join("a.txt"), "x").unwrap();
    let at = fs::File::options().write(true).open(root.join("a.txt")).unwrap();
    let later = at.metadata().unwrap().modified().unwrap() + std::time::Duration::from_secs(40_000_000);
    at.set_modified(later).unwrap();
    let server = start(&root, &[], &[]);
    for fields in ["", "If-None-Match: *\r\n", "Range: bytes=0-0\r\n"] {
        let answer = server.ask(&format!("GET /a.txt HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{fields}\r\n"));
        let year = |name: &str| -> u32 {
            let date = answer.split(&format!("{name}: ")).nth(1).unwrap();
            date.split(' ').nth(3).unwrap().parse().unwrap()
        };
        assert!(year("Last-Modified") <= year("Date"), "{answer}");
    }
}

#[test]
fn files_of_all_sizes_come_as_they_are() {
    let root = support::folder("web", "sizes").join("root");
    fs::create_dir_all(&root).unwrap();
    let bytes: Vec<u8> = (0..5_000_000u32).map(|at| (at / 7 % 251) as u8).collect();
    for size in [0, 1, 1000, 65_536, 65_537, 5_000_000] {
        fs::write(root.join(format!("{size}.bin")), &bytes[..size]).unwrap();
    }
    let got = root.with_file_name("got");
    for runtime in RUNTIMES {
        let server = start(&root, runtime, &[]);
        for size in [0, 1, 1000, 65_536, 65_537, 5_000_000] {
            curl(&server, &["-o", got.to_str().unwrap()], &format!("/{size}.bin"));
            assert!(fs::read(&got).unwrap() == bytes[..size], "{runtime:?}: {size} bytes");
        }
        // A download that was broken off goes on.
        fs::write(&got, &bytes[..3_000_000]).unwrap();
        curl(&server, &["-C", "-", "-o", got.to_str().unwrap()], "/5000000.bin");
        assert!(fs::read(&got).unwrap() == bytes, "{runtime:?}");
    }
}

/// RFC 9110, 14.6: each range behind a head of its own, of a file in memory and of an open one, by both protocols.
#[test]
fn several_ranges_come_in_one_answer() {
    let root = support::folder("web", "ranges").join("root");
    fs::create_dir_all(&root).unwrap();
    let letters: Vec<u8> = (b'a'..=b'z').cycle().take(300_000).collect();
    for size in [1000, 300_000] {
        fs::write(root.join(format!("{size}.txt")), &letters[..size]).unwrap();
    }
    for runtime in RUNTIMES {
        let server = start(&root, runtime, &[]);
        for (protocol, size) in [("--http1.1", 1000), ("--http1.1", 300_000), ("--http2-prior-knowledge", 300_000)] {
            let path = format!("/{size}.txt");
            let answer = curl(&server, &[protocol, "-i", "-r", "0-9,500-520,-5"], &path);
            let (head, content) = answer.split_once("\r\n\r\n").unwrap();
            let head = head.to_lowercase();
            let boundary = head.split("boundary=").nth(1).and_then(|rest| rest.split("\r\n").next()).unwrap();
            let mut wanted = String::new();
            for (begin, end) in [(0, 10), (500, 521), (size - 5, size)] {
                write!(wanted, "\r\n--{boundary}\r\nContent-Type: text/plain; charset=utf-8\r\n").unwrap();
                write!(wanted, "Content-Range: bytes {begin}-{}/{size}\r\n\r\n", end - 1).unwrap();
                wanted += &text(&letters[begin..end]);
            }
            wanted += &format!("\r\n--{boundary}--\r\n");
            assert_eq!(content, wanted, "{runtime:?}, {protocol}");
            assert!(head.contains(" 206") && head.contains(&format!("content-length: {}", wanted.len())), "{head}");
        }
    }
}
