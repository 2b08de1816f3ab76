//! Restarts that lose nothing: sockets of a service manager, and one server that takes over from another while clients
//! come without a pause.

use crate::support;
use crate::support::{LIMIT, Server, free_port, wait_for};
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// What runs the flows.
const RUNTIMES: [&[&str]; 4] = [
    &["--flux-runtime=thread"],
    &["--flux-runtime=pool", "--flux-workers=4"],
    &["--flux-runtime=event", "--flux-workers=2", "--flux-io=reactor"],
    &["--flux-runtime=event", "--flux-workers=2", "--flux-io=proactor"],
];

fn echo() -> &'static Path {
    static ONCE: OnceLock<PathBuf> = OnceLock::new();
    ONCE.get_or_init(|| support::build_example("restart", "echo", &[]))
}

/// A folder for a test, and a server in it that writes what it says into a file.
struct Place {
    folder: PathBuf,
    port: u16,
}

impl Place {
    fn new(test: &str) -> Self {
        Self { folder: support::folder("restart", test), port: free_port() }
    }

    fn path(&self) -> PathBuf {
        self.folder.join("place")
    }

    fn start(&self, name: &str, runtime: &[&str]) -> Server {
        let mut command = Command::new(echo());
        command.arg(format!("--port={}", self.port)).arg(format!("--flux-takeover={}", self.path().display()));
        Server::logging(command.args(runtime), self.port, self.folder.join(name))
    }

    fn said(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.join(name)).unwrap()
    }

    fn wait_until_said(&self, name: &str, what: &str) {
        wait_for(what, || self.said(name).contains(what).then_some(()));
    }
}

/// Asks and is answered.
fn exchange(connection: &mut TcpStream, bytes: &[u8]) -> std::io::Result<()> {
    connection.write_all(bytes)?;
    let mut back = vec![0; bytes.len()];
    connection.read_exact(&mut back)?;
    assert_eq!(back, bytes);
    Ok(())
}

/// Clients that connect, ask, and leave, one after the other, until they are to stop.
fn ask_on(port: u16, stop: &AtomicBool, answered: &AtomicUsize) -> std::io::Result<()> {
    while !stop.load(Ordering::Relaxed) {
        let mut connection = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        connection.set_read_timeout(Some(LIMIT))?;
        exchange(&mut connection, b"are you there?")?;
        answered.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}

#[test]
fn servers_take_over_from_each_other_and_no_client_notices() {
    const CLIENTS: usize = 4;
    const RESTARTS: usize = 12;
    for (number, runtime) in RUNTIMES.into_iter().enumerate() {
        let place = Place::new(&format!("load-{number}"));
        let mut server = place.start("0", runtime);
        drop(server.connect());
        let (stop, answered) = (AtomicBool::new(false), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            let clients: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(|| ask_on(place.port, &stop, &answered))).collect();
            for restart in 1..=RESTARTS {
                // Each has its turn, and some are answered by it alone.
                let before = answered.load(Ordering::Relaxed);
                wait_for("answers", || (answered.load(Ordering::Relaxed) > before + 2 * CLIENTS).then_some(()));
                // Every other one is of another kind.
                let next = place.start(&restart.to_string(), RUNTIMES[(number + restart / 2) % RUNTIMES.len()]);
                let status = server.wait();
                assert!(status.success(), "{runtime:?}, restart {restart}: {status}");
                server = next;
            }
            stop.store(true, Ordering::Relaxed);
            for client in clients {
                let seen = client.join().unwrap();
                assert!(seen.is_ok(), "{runtime:?}: {seen:?}");
            }
        });
        server.terminate();
        assert!(server.wait().success());
        assert!(!place.path().exists(), "a server that ends takes its path away");
    }
}

#[test]
fn who_was_accepted_and_has_not_asked_yet_is_still_answered() {
    for (number, runtime) in RUNTIMES.into_iter().enumerate() {
        let place = Place::new(&format!("silent-{number}"));
        let mut before = place.start("before", runtime);
        let mut clients: Vec<_> = (0..5).map(|_| before.connect()).collect();
        exchange(&mut clients[0], b"the others are accepted too").unwrap();
        let after = place.start("after", runtime);
        place.wait_until_said("before", &format!("taken over by process {}: sources stop", after.id()));
        for client in &mut clients[1..] {
            exchange(client, b"late").unwrap();
        }
        assert!(before.wait().success(), "{runtime:?}");
        exchange(&mut after.connect(), b"new").unwrap();
    }
}

#[test]
fn of_several_that_are_started_at_once_one_is_left() {
    let place = Place::new("several");
    let mut all: Vec<_> = (0..5).map(|number| place.start(&number.to_string(), RUNTIMES[number % 4])).collect();
    for _ in 1..5 {
        let ended = wait_for("a server that was taken over", || {
            all.iter_mut().position(|server| server.try_wait().is_some_and(|status| status.success()))
        });
        all.swap_remove(ended);
    }
    let [last] = <[Server; 1]>::try_from(all).ok().unwrap();
    exchange(&mut last.connect(), b"one").unwrap();
}

#[test]
fn after_a_crash_the_path_is_taken() {
    let place = Place::new("crash");
    let crashed = place.start("before", RUNTIMES[1]);
    drop(crashed.connect());
    drop(crashed);
    assert!(place.path().exists());
    let next = place.start("after", RUNTIMES[2]);
    exchange(&mut next.connect(), b"again").unwrap();
}

#[test]
fn a_server_that_cannot_take_over_says_why_and_the_one_before_goes_on() {
    let place = Place::new("refused");
    std::fs::write(place.path(), "not a socket").unwrap();
    let mut refused = place.start("refused", RUNTIMES[0]);
    assert_eq!(refused.wait().code(), Some(1));
    let why = format!("{} is there, and is not a socket: name another path\n", place.path().display());
    assert!(place.said("refused").ends_with(&why), "{}", place.said("refused"));
}

/// A server that is passed these sockets as systemd does it.
fn start_with(sockets: [OwnedFd; 2], port: u16, runtime: &[&str], says: &Path) -> Server {
    let [first, second] = sockets;
    let mut command = Command::new("sh");
    let script = "exec 3<&0 4>&1 0</dev/null 1>&2; LISTEN_PID=$$ LISTEN_FDS=2 LISTEN_FDNAMES=web:spare exec \"$@\"";
    command.args(["-c", script, "sh"]).arg(echo()).arg(format!("--port={port}")).args(runtime);
    Server::logging(command.stdin(first).stdout(second), port, says.to_owned())
}

#[test]
fn sockets_of_a_service_manager_keep_who_comes_while_nobody_serves() {
    let folder = support::folder("restart", "passed");
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let spare = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let says = folder.join("says");
    let sockets = || [listener.try_clone().unwrap().into(), spare.try_clone().unwrap().into()];
    for runtime in RUNTIMES {
        let mut early = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
        early.write_all(b"early").unwrap();
        let mut server = start_with(sockets(), port, runtime, &says);
        early.set_read_timeout(Some(LIMIT)).unwrap();
        let mut back = [0; 5];
        early.read_exact(&mut back).unwrap();
        assert_eq!(&back, b"early", "{runtime:?}");
        let adopted = format!("adopted 127.0.0.1:{port}, descriptor 3 `web` of LISTEN_FDS\n");
        wait_for(&adopted, || std::fs::read_to_string(&says).unwrap().contains(&adopted).then_some(()));
        drop(early);
        server.terminate();
        assert!(server.wait().success());
    }
    let _unused = start_with(sockets(), port, RUNTIMES[1], &says);
    let spare = spare.local_addr().unwrap();
    let unused = format!("nobody here listens at {spare}, descriptor 4 `spare` of LISTEN_FDS: take it out of the");
    wait_for(&unused, || std::fs::read_to_string(&says).unwrap().contains(&unused).then_some(()));
}

#[test]
fn what_is_not_a_socket_is_refused() {
    let folder = support::folder("restart", "wrong");
    let file = || File::create(folder.join("file")).unwrap().into();
    let mut server = start_with([file(), file()], 1, RUNTIMES[1], &folder.join("says"));
    assert_eq!(server.wait().code(), Some(1));
    let said = std::fs::read_to_string(folder.join("says")).unwrap();
    let why = "flux: echo cannot start: descriptor 3 `web` of LISTEN_FDS is not a socket: pass sockets alone\n";
    assert_eq!(said, why);
}
