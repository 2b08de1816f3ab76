//! `std.files` in a server, under everything that can run flows: which files it gives, that nothing outside of the
//! folder is given, and that it sees when a file has changed.

use crate::support;
use crate::support::{RUNTIMES, Server, text};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// The server, built once: it tells of a file what there is, and sends it.
fn found() -> &'static Path {
    static ONCE: OnceLock<PathBuf> = OnceLock::new();
    ONCE.get_or_init(|| support::build_own("files", "found", &["found.cpp"]))
}

/// A folder with files, some of which are beside it, and where it is.
fn site(test: &str) -> PathBuf {
    let folder = support::folder("files", test);
    let public = folder.join("public");
    fs::create_dir_all(public.join("sub")).unwrap();
    fs::write(public.join("a.txt"), "hello\n").unwrap();
    fs::write(public.join("index.html"), "<img src=\"sub/x.png\">").unwrap();
    fs::write(public.join("sub/index.html"), "below").unwrap();
    fs::write(public.join("empty"), "").unwrap();
    fs::write(public.join("large.PNG"), vec![7; 300_000]).unwrap();
    fs::write(folder.join("secret"), "secret").unwrap();
    symlink("a.txt", public.join("inside")).unwrap();
    symlink("../secret", public.join("outside")).unwrap();
    symlink("/etc/passwd", public.join("absolute")).unwrap();
    symlink("..", public.join("up")).unwrap();
    symlink("round", public.join("round")).unwrap();
    symlink("/proc/self/cwd", public.join("process")).unwrap();
    assert!(Command::new("mkfifo").arg(public.join("pipe")).status().unwrap().success());
    public
}

fn start(root: &Path, runtime: &[&str], arguments: &[&str]) -> Server {
    let mut command = Command::new(found());
    Server::listening(command.args(runtime).arg("--root").arg(root).args(arguments))
}

/// The first line of an answer, without the tag, which differs from run to run; and the content.
fn ask(server: &Server, path: &str) -> (String, String) {
    let answer = server.ask_and_end(&format!("{path}\n"));
    let (head, content) = answer.split_once('\n').unwrap();
    let words = head.split(' ').filter(|word| !word.starts_with('"')).collect::<Vec<_>>();
    (words.join(" "), content.to_owned())
}

fn of(head: &str, content: &str) -> (String, String) {
    (head.to_owned(), content.to_owned())
}

#[test]
fn files_below_the_folder_are_given() {
    let public = site("given");
    for runtime in RUNTIMES {
        let server = start(&public, runtime, &[]);
        for path in ["a.txt", "/a.txt", "//a.txt", "sub/../a.txt", "./a.txt"] {
            assert_eq!(ask(&server, path), of("6 text/plain in memory", "hello\n"), "{path}");
        }
        assert_eq!(ask(&server, "inside"), of("6 application/octet-stream in memory", "hello\n"));
        assert_eq!(ask(&server, "empty"), of("0 application/octet-stream in memory", ""));
        assert_eq!(ask(&server, "/"), of("21 text/html in memory", "<img src=\"sub/x.png\">"));
        assert_eq!(ask(&server, "sub/"), of("5 text/html in memory", "below"));
        assert_eq!(ask(&server, "sub"), of("error EISDIR", ""));
        for _ in 0..2 {
            let (head, content) = ask(&server, "large.PNG");
            assert_eq!(head, "300000 image/png open");
            assert!(content.bytes().all(|byte| byte == 7) && content.len() == 300_000);
        }
    }
}

/// A folder in the home of who runs the test; it ends with it.
struct OfUser(PathBuf);

impl Drop for OfUser {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn users_have_files_of_their_own_where_that_is_wanted() {
    let said = |program: &str, argument: &str| {
        let output = Command::new(program).args(argument.split(' ')).output().unwrap();
        text(&output.stdout).trim().to_owned()
    };
    let user = said("id", "-un");
    let home = said("getent", &format!("passwd {user}")).split(':').nth(5).unwrap().to_owned();
    let name = format!("flux_test_{}", std::process::id());
    let own = OfUser(Path::new(&home).join(&name));
    fs::create_dir(&own.0).unwrap();
    fs::write(own.0.join("page"), "mine").unwrap();
    symlink("/etc/passwd", own.0.join("outside")).unwrap();
    let public = site("users");
    for runtime in RUNTIMES {
        let server = start(&public, runtime, &[&format!("--files-users={name}")]);
        assert_eq!(ask(&server, &format!("~{user}/page")), of("4 application/octet-stream in memory", "mine"));
        for path in ["~none_of_this_name/page", "~/page", &format!("~{user}/outside"), &format!("~{user}/../page")] {
            assert!(ask(&server, path).0.starts_with("error "), "{path}");
        }
        assert_eq!(ask(&server, "a.txt").1, "hello\n");
        let without = start(&public, runtime, &[]);
        assert_eq!(ask(&without, &format!("~{user}/page")), of("error ENOENT", ""));
    }
}

#[test]
fn a_user_is_looked_up_once() {
    let public = site("look_ups");
    let [source, library] = [support::built::tests().join("files/look_ups.c"), public.join("../look_ups.so")];
    let compiled = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(source).output().unwrap();
    assert!(compiled.status.success(), "{}", text(&compiled.stderr));
    for runtime in RUNTIMES {
        let mut command = Command::new(found());
        command.env("LD_PRELOAD", &library).args(runtime).arg("--root").arg(&public);
        let server = Server::listening(command.args(["--files-users=none", "--files-fresh=60m"]));
        for path in ["~root/page", "~none_of_this_name/page"].iter().cycle().take(6) {
            assert_eq!(ask(&server, path), of("error ENOENT", ""));
        }
        assert_eq!(server.said().matches("looked up").count(), 2, "{runtime:?}: {}", server.said());
    }
}

#[test]
fn nothing_outside_of_the_folder_is_given() {
    let public = site("outside");
    let missing = of("error ENOENT", "");
    for runtime in RUNTIMES {
        let server = start(&public, runtime, &[]);
        for path in [
            "outside",
            "absolute",
            "up/secret",
            "../secret",
            "sub/../../secret",
            "process/Cargo.toml",
            "round",
            "pipe",
            "nothing",
            "a.txt/",
            "a.txt/b",
            "~root/",
            "a.txt\0",
            "\0",
            "sub/../../public/a.txt",
            &"x/".repeat(2000),
        ] {
            assert_eq!(ask(&server, path), missing, "{path:?}");
        }
    }
}

#[test]
fn what_has_changed_is_seen_when_it_is_looked_at_again() {
    let public = site("changed");
    let other = public.with_file_name("other");
    fs::create_dir_all(&other).unwrap();
    fs::write(other.join("a.txt"), "of the other").unwrap();
    let root = public.with_file_name("current");
    symlink(&public, &root).unwrap();
    for runtime in RUNTIMES {
        fs::write(public.join("a.txt"), "hello\n").unwrap();
        let server = start(&root, runtime, &["--files-fresh=0s"]);
        let slow = start(&root, runtime, &["--files-fresh=60m"]);
        assert_eq!(ask(&server, "a.txt").1, "hello\n");
        assert_eq!(ask(&slow, "a.txt").1, "hello\n");
        fs::write(public.join("a.txt"), "changed").unwrap();
        assert_eq!(ask(&server, "a.txt").1, "changed");
        assert_eq!(ask(&slow, "a.txt").1, "hello\n");
        fs::remove_file(public.join("a.txt")).unwrap();
        assert_eq!(ask(&server, "a.txt").0, "error ENOENT");
        fs::write(public.join("a.txt"), vec![b'x'; 100_000]).unwrap();
        assert_eq!(ask(&server, "a.txt").0, "100000 text/plain open");

        // A new version is put in place of the old one by a link.
        let next = public.with_file_name("next");
        symlink(&other, &next).unwrap();
        fs::rename(&next, &root).unwrap();
        assert_eq!(ask(&server, "a.txt").1, "of the other");
        symlink(&public, &next).unwrap();
        fs::rename(&next, &root).unwrap();
    }
}

#[test]
fn as_many_files_are_open_as_may_be() {
    let public = site("open");
    for number in 0..40 {
        fs::write(public.join(format!("{number}.bin")), vec![0; 1000]).unwrap();
    }
    for how in ["lru", "gdsf", "hinted"] {
        let arguments = ["--files-small=100", "--files-descriptors=16", "--files-evict", how, "--files-hints=1.bin"];
        let server = start(&public, RUNTIMES[0], &arguments);
        let open = || fs::read_dir(format!("/proc/{}/fd", server.id())).unwrap().count();
        let before = open();
        for number in 0..40 {
            assert_eq!(ask(&server, &format!("{number}.bin")).0, "1000 application/octet-stream open");
        }
        assert!(open() <= before + 16 + 1, "{how}: {before} and then {}", open());
        assert_eq!(ask(&server, "1.bin").0, "1000 application/octet-stream open", "{how}");
    }
}

#[test]
fn a_file_that_is_replaced_all_the_time_is_given_whole() {
    let public = site("replaced");
    let versions = [vec![b'a'; 70_000], vec![b'b'; 50_000], vec![b'c'; 90_000]];
    let path = public.join("file");
    fs::write(&path, &versions[0]).unwrap();
    for runtime in RUNTIMES {
        let server = start(&public, runtime, &["--files-fresh=0s"]);
        let is_over = AtomicBool::new(false);
        std::thread::scope(|threads| {
            threads.spawn(|| {
                for version in versions.iter().cycle() {
                    let next = public.join("next");
                    fs::write(&next, version).unwrap();
                    fs::rename(&next, &path).unwrap();
                    if is_over.load(Ordering::Relaxed) {
                        break;
                    }
                }
            });
            let clients: Vec<_> = (0..3)
                .map(|_| {
                    threads.spawn(|| {
                        for _ in 0..10 {
                            let (head, content) = ask(&server, "file");
                            assert!(versions.iter().any(|version| version == content.as_bytes()), "{head}");
                        }
                    })
                })
                .collect();
            let ended: Vec<_> = clients.into_iter().map(|client| client.join().is_ok()).collect();
            is_over.store(true, Ordering::Relaxed);
            assert_eq!(ended, [true; 3]);
        });
    }
}
