//! Several programs in one process: they are loaded, replaced while clients come without a pause, bounded and unloaded,
//! and what cannot be done is said and changes nothing.

use crate::support;
use crate::support::hadoop::{MAPPERS, REDUCER};
use crate::support::{LIMIT, Server, flux, free_port, text, wait_for};
use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Sends back what it is sent.
const ECHO: &str = "use std.tcp;
option at : string = \"\";
source tcp.Listen(at) => Echo;
Echo = tcp.Read(64k) -> tcp.Send -> tcp.Return;
";

/// Answers each line with how many there have been, of all clients. It has a flow that is called as that above.
const COUNT: &str = "type line = unit { text : bytes &until = \"\\n\" &max_size = 1k; };

global lines : integer

proc Echo : (line/line client)
  | client => counted => client

fun counted : (what : line) -> (line)
  lines := lines + 1
  line(text: bytes(string(lines)))
";

/// The folder of both, built. A host builds what it is to run, and finds that done.
fn programs() -> &'static PathBuf {
    static ONCE: OnceLock<PathBuf> = OnceLock::new();
    ONCE.get_or_init(|| {
        let folder = support::folder("host", "programs");
        for (name, content) in [("echo.flux", ECHO), ("count.flick", COUNT)] {
            std::fs::write(folder.join(name), content).unwrap();
            let said = flux(&folder, &["build", "--shared", "--quiet", name]);
            assert!(said.status.success(), "{}", text(&said.stderr));
        }
        folder
    })
}

/// A host in a folder of its own, with these two programs.
struct Site {
    folder: PathBuf,
    host: Server,
    echo: u16,
    count: u16,
}

impl Site {
    fn start(test: &str) -> Self {
        Self::by(test, "reactor")
    }

    fn by(test: &str, io: &str) -> Self {
        programs();
        let folder = support::folder("host", test);
        let (echo, count) = (free_port(), free_port());
        let mut command = Command::new(env!("CARGO_BIN_EXE_flux"));
        command.current_dir(&folder).args(["host", "site.host", "--quiet"]);
        command.envs((io != "reactor").then_some(("FLUX_IO", io)));
        let write = |line: &str| std::fs::write(folder.join("site.host"), line).unwrap();
        write(&format!("{}\n{}\n", echo_line(echo, ""), count_line(count, "")));
        let host = Server::logging(&mut command, echo, folder.join("log"));
        let mut site = Self { host, folder, echo, count };
        wait_for("two programs", || {
            let log = site.log();
            assert!(site.host.try_wait().is_none(), "{log}");
            (log.contains("echo is loaded") && log.contains("count is loaded")).then_some(())
        });
        site
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.folder.join("log")).unwrap()
    }

    fn write(&self, name: &str, content: &str) {
        std::fs::write(self.folder.join(name), content).unwrap();
    }

    /// Waits until all versions of the echo have ended but the last.
    fn wait_for_one_version(&self) {
        wait_for("the end of all versions but the last", || {
            let (said, done) = self.tell(&["--status"]);
            assert!(done, "{said}");
            (said.matches("echo version").count() == 1).then_some(())
        });
    }

    /// What the command says of this, and whether all was done.
    fn tell(&self, arguments: &[&str]) -> (String, bool) {
        let said = flux(&self.folder, &[&["host", "site.host", "--quiet"], arguments].concat());
        (text(&said.stdout) + &text(&said.stderr), said.status.success())
    }

    /// The programs are these from now on.
    fn reload(&self, lines: &[String]) -> (String, bool) {
        self.write("site.host", &lines.join("\n"));
        self.tell(&["--reload"])
    }
}

fn echo_line(port: u16, limits: &str) -> String {
    format!("echo ../programs/echo.flux {limits}\n  -- --at=127.0.0.1:{port} --flux-workers=2")
}

fn count_line(port: u16, limits: &str) -> String {
    format!("count ../programs/count.flick {limits} -- --client=127.0.0.1:{port} --flux-workers=1")
}

fn connect(port: u16) -> TcpStream {
    let connection = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
    connection.set_read_timeout(Some(LIMIT)).unwrap();
    connection
}

/// Asks and is answered, the same bytes.
fn exchange(connection: &mut TcpStream, bytes: &[u8]) -> std::io::Result<()> {
    connection.write_all(bytes)?;
    let mut back = vec![0; bytes.len()];
    connection.read_exact(&mut back)?;
    assert_eq!(back, bytes);
    Ok(())
}

/// What a line is answered with.
fn count(connection: &TcpStream) -> String {
    (&*connection).write_all(b"one more\n").unwrap();
    let mut line = String::new();
    BufReader::new(connection).read_line(&mut line).unwrap();
    line
}

/// A client that asks on one connection until it is to stop, and then leaves it open.
fn ask_without_leaving(port: u16, stop: &AtomicBool) -> std::io::Result<TcpStream> {
    let mut connection = connect(port);
    for asked in 0.. {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        exchange(&mut connection, format!("stays {asked}").as_bytes())?;
    }
    Ok(connection)
}

/// A client that connects, asks a few times and leaves, again and again, until it is to stop.
fn ask_on(port: u16, client: usize, stop: &AtomicBool, answered: &AtomicUsize) -> std::io::Result<()> {
    for round in 0.. {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let mut connection = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        connection.set_read_timeout(Some(LIMIT))?;
        for asked in 0..3 {
            exchange(&mut connection, format!("{client} {round} {asked}").as_bytes())?;
            answered.fetch_add(1, Ordering::Relaxed);
        }
    }
    Ok(())
}

#[test]
fn programs_are_replaced_under_load_and_lose_no_request() {
    replaced_under_load("reactor");
}

#[test]
fn programs_are_replaced_under_load_by_io_uring_too() {
    replaced_under_load("proactor");
}

fn replaced_under_load(io: &str) {
    let site = Site::by(&format!("replaced_{io}"), io);
    let (stop, answered) = (AtomicBool::new(false), AtomicUsize::new(0));
    let mut kept = connect(site.echo);
    exchange(&mut kept, b"before").unwrap();
    let busy = std::thread::scope(|scope| {
        let ask = |client| ask_on(site.echo, client, &stop, &answered);
        let busy = scope.spawn(|| ask_without_leaving(site.echo, &stop));
        let clients: Vec<_> = (0..3).map(|client| scope.spawn(move || ask(client))).collect();
        for weight in 1..=5 {
            let before = answered.load(Ordering::Relaxed);
            wait_for("answers", || (answered.load(Ordering::Relaxed) > before + 50).then_some(()));
            let (said, done) =
                site.reload(&[echo_line(site.echo, &format!("weight={weight}")), count_line(site.count, "")]);
            assert!(done && said.contains("echo is replaced: version "), "{said}");
            assert!(said.contains("count is as it was"), "{said}");
        }
        stop.store(true, Ordering::Relaxed);
        for client in clients {
            client.join().unwrap().expect("each request is answered");
        }
        busy.join().unwrap().expect("each request is answered")
    });
    // Two that were there before all of them have stayed, and come to the last version: an old one would send them away
    // at its end (`--flux-drain`, thirty seconds).
    exchange(&mut kept, b"and after").unwrap();
    site.wait_for_one_version();
    for mut stays in [kept, busy] {
        exchange(&mut stays, b"of the last").unwrap();
    }
    assert!(site.log().contains("flux: echo: listening on 127.0.0.1:"), "{}", site.log());
}

#[test]
fn what_cannot_be_done_is_said_and_the_program_runs_on() {
    let mut site = Site::start("refused");
    let (echo, counted) = (echo_line(site.echo, ""), count_line(site.count, ""));
    let is_refused = |lines: &[String], why: &str| {
        let (said, done) = site.reload(lines);
        assert!(!done && said.contains(why), "{said}");
        exchange(&mut connect(site.echo), b"it runs on").unwrap();
    };
    is_refused(&[echo.clone() + " --att=1", counted.clone()], "there is no option --att; did you mean --at?");
    let taken = echo_line(site.count, "").replacen("echo", "other", 1);
    is_refused(&[echo.clone(), counted.clone(), taken], "other is not loaded: tcp.Listen: cannot listen on 127.0.0.1:");
    is_refused(&[echo.clone() + " --flux-runtime=pool", counted.clone()], "event loops alone");
    is_refused(&[echo.clone(), counted.clone(), "x x.flux weight=0".to_owned()], "site.host:4: a weight is a number");
    site.write("no.so", "no object");
    is_refused(&[echo.clone(), counted.clone(), "x no.so".to_owned()], "x is not loaded: cannot load it: ");

    let client = connect(site.count);
    assert_eq!(count(&client), "1\n");
    site.write("count.flick", &COUNT.replace("global lines : integer", "global lines : integer = 10"));
    let other = counted.replace("../programs/", "");
    is_refused(&[echo.clone(), other.clone()], "count runs on as it is, as its globals have changed");
    assert_eq!(count(&client), "2\n");
    drop(client);
    let (said, done) = site.tell(&["--restart", "count"]);
    assert!(done && said.contains("count is loaded, version"), "{said}");
    assert_eq!(count(&connect(site.count)), "11\n");

    let (said, done) = site.reload(&[echo]);
    assert!(done && said.contains("count is unloaded"), "{said}");
    wait_for("nobody at the port of what is unloaded", || {
        let refused = TcpStream::connect((Ipv4Addr::LOCALHOST, site.count)).err();
        refused.filter(|error| error.kind() == ErrorKind::ConnectionRefused)
    });
    site.host.terminate();
    assert!(site.host.wait().success(), "{}", site.log());
}

#[test]
fn a_program_has_as_many_connections_as_it_may() {
    let site = Site::start("connections");
    let (said, done) = site.reload(&[echo_line(site.echo, "connections=2"), count_line(site.count, "")]);
    assert!(done, "{said}");
    // The version before may accept a connection until it ends, and counts it for itself.
    site.wait_for_one_version();
    let mut two = [connect(site.echo), connect(site.echo)];
    for connection in &mut two {
        exchange(connection, b"in").unwrap();
    }
    let mut third = connect(site.echo);
    third.write_all(b"waits").unwrap();
    assert_eq!(count(&connect(site.count)), "1\n", "others are served meanwhile");
    site.host.rest();
    third.set_nonblocking(true).unwrap();
    assert_eq!(third.read(&mut [0; 5]).unwrap_err().kind(), ErrorKind::WouldBlock);
    third.set_nonblocking(false).unwrap();
    drop(two);
    let mut back = [0; 5];
    third.read_exact(&mut back).unwrap();
    assert_eq!(&back, b"waits");
}

#[test]
fn a_file_that_is_wrong_is_refused_before_anything_is_built() {
    let folder = support::folder("host", "wrong");
    let refused = |content: &str, why: &str| {
        std::fs::write(folder.join("site.host"), content).unwrap();
        let said = flux(&folder, &["host", "site.host"]);
        assert!(said.status.code() == Some(2) && text(&said.stderr).contains(why), "{}", text(&said.stderr));
    };
    refused("", "site.host:1: it names no program");
    refused("echo echo.flux --port=1", "its options are behind `--`");
    std::fs::write(folder.join("echo.flux"), ECHO).unwrap();
    std::fs::write(folder.join("nodes.cpp"), "int own;\n").unwrap();
    refused("echo echo.flux", "site.host:1: it has C++ of its own");
    let said = flux(&folder, &["host", "site.host", "--status"]);
    assert!(text(&said.stderr).contains("no host can be asked at site.host.sock"), "{}", text(&said.stderr));
}

/// The aggregator for Hadoop on a host, with what its mappers send and its reducer is to get.
struct Aggregator {
    folder: PathBuf,
    host: Server,
    port: u16,
    reducer: TcpListener,
}

const HADOOP: &str = include_str!("../../../examples/hadoop/hadoop.flick");

impl Aggregator {
    /// It is built already.
    fn start(test: &str, io: &str) -> Self {
        static ONCE: OnceLock<()> = OnceLock::new();
        ONCE.get_or_init(|| {
            let folder = support::folder("host", "aggregators");
            std::fs::write(folder.join("hadoop.flick"), HADOOP).unwrap();
            let said = flux(&folder, &["build", "--shared", "--quiet", "hadoop.flick"]);
            assert!(said.status.success(), "{}", text(&said.stderr));
        });
        let folder = support::folder("host", test);
        let reducer = TcpListener::bind("127.0.0.1:0").unwrap();
        reducer.set_nonblocking(true).unwrap();
        let port = free_port();
        let mut command = Command::new(env!("CARGO_BIN_EXE_flux"));
        command.current_dir(&folder).args(["host", "site.host", "--quiet"]);
        command.envs((io != "reactor").then_some(("FLUX_IO", io)));
        std::fs::write(folder.join("site.host"), Self::line(port, &reducer, 1)).unwrap();
        let host = Server::logging(&mut command, port, folder.join("log"));
        let mut own = Self { host, folder, port, reducer };
        wait_for("the program", || {
            let log = own.log();
            assert!(own.host.try_wait().is_none(), "{log}");
            log.contains("hadoop is loaded").then_some(())
        });
        own
    }

    fn line(port: u16, reducer: &TcpListener, weight: u32) -> String {
        let to = reducer.local_addr().unwrap();
        let options = format!("--mappers=127.0.0.1:{port}*4 --reducer=connect:{to} --flux-workers=2");
        format!("hadoop ../aggregators/hadoop.flick weight={weight}\n  -- {options}\n")
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.folder.join("log")).unwrap()
    }

    /// Another version serves from now on.
    fn replace(&self, weight: u32) {
        std::fs::write(self.folder.join("site.host"), Self::line(self.port, &self.reducer, weight)).unwrap();
        let said = flux(&self.folder, &["host", "site.host", "--quiet", "--reload"]);
        assert!(said.status.success() && text(&said.stdout).contains("hadoop is replaced"), "{}", text(&said.stderr));
    }

    /// A run with all its clients, of which each has sent so many bytes, one at least; and its connection to the
    /// reducer, which is made then.
    fn begin(&self, sent: usize) -> (Vec<TcpStream>, TcpStream) {
        self.go_on(vec![], sent)
    }

    /// The same, of which these are there, and the first has sent its part.
    fn go_on(&self, mut mappers: Vec<TcpStream>, sent: usize) -> (Vec<TcpStream>, TcpStream) {
        let has_begun = usize::from(!mappers.is_empty());
        while mappers.len() < MAPPERS.len() {
            mappers.push(connect(self.port));
        }
        for (mapper, bytes) in mappers.iter_mut().zip(MAPPERS).skip(has_begun) {
            mapper.write_all(&bytes[..sent.min(bytes.len())]).unwrap();
        }
        let at_reducer = wait_for("a run", || self.reducer.accept().ok()).0;
        at_reducer.set_nonblocking(false).unwrap();
        at_reducer.set_read_timeout(Some(LIMIT)).unwrap();
        (mappers, at_reducer)
    }
}

/// Its clients send the rest, and its reducer has all that they have sent.
fn ends_right((mappers, mut at_reducer): (Vec<TcpStream>, TcpStream), sent: usize) {
    std::thread::scope(|scope| {
        for (mut mapper, bytes) in mappers.into_iter().zip(MAPPERS) {
            scope.spawn(move || {
                mapper.write_all(&bytes[sent.min(bytes.len())..]).unwrap();
                mapper.shutdown(Shutdown::Write).unwrap();
                assert_eq!(mapper.read(&mut [0]).unwrap(), 0, "its run has ended");
            });
        }
        let mut all = vec![];
        at_reducer.read_to_end(&mut all).unwrap();
        assert!(all == REDUCER, "{} bytes, and not {}", all.len(), REDUCER.len());
    });
}

#[test]
fn an_aggregator_that_is_replaced_ends_its_runs_and_begins_others() {
    let site = Aggregator::start("aggregator", "reactor");
    // Of every version one is in progress, at another place.
    let begun: Vec<_> = [1, 3, 700, 9_000]
        .into_iter()
        .zip(2..)
        .map(|(sent, weight)| {
            let run = site.begin(sent);
            site.replace(weight);
            (run, sent)
        })
        .collect();
    ends_right(site.begin(100), 100);
    begun.into_iter().rev().for_each(|(run, sent)| ends_right(run, sent));
    wait_for("the end of all versions but the last", || {
        let said = text(&flux(&site.folder, &["host", "site.host", "--status"]).stdout);
        (said.matches("hadoop version").count() == 1).then_some(())
    });
    assert!(!site.log().contains("failed with"), "{}", site.log());
}

/// Those of a run that has not all of its clients are of the next version's, where the others come.
#[test]
fn an_aggregator_that_is_replaced_while_it_gathers_hands_on_who_has_come() {
    hands_on_who_has_come("reactor");
    hands_on_who_has_come("proactor");
}

fn hands_on_who_has_come(io: &str) {
    let site = Aggregator::start(&format!("gathering_{io}"), io);
    for (waiting, weight) in [1, 3].into_iter().zip(2..) {
        let whole = site.begin(500);
        let mut mappers: Vec<TcpStream> = (0..waiting).map(|_| connect(site.port)).collect();
        mappers[0].write_all(&MAPPERS[0][..100]).unwrap();
        site.replace(weight);
        // A version that kept them would have no run of them, and end them with itself.
        ends_right(site.go_on(mappers, 100), 100);
        ends_right(whole, 500);
    }
}
