//! What the tests that run servers share: folders, ports, and servers that end with their test.

#![allow(dead_code, reason = "each of the tests uses its part")]

pub mod backend;
pub mod hadoop;
pub mod memcached;
pub mod proxy;
pub mod sanitized;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, RwLock};
use std::time::{Duration, Instant};

/// Longer than anything takes on a machine that is busy.
pub const LIMIT: Duration = Duration::from_secs(60);

/// What runs the flows of a server.
pub const RUNTIMES: [&[&str]; 4] = [
    &["--flux-runtime=thread"],
    &["--flux-runtime=pool"],
    &["--flux-runtime=event", "--flux-workers=2", "--flux-io=reactor"],
    &["--flux-runtime=event", "--flux-workers=2", "--flux-io=proactor"],
];

/// The servers of these files are built as users build them, as they are under load. What others are tested for does
/// not depend on it, and to build them for a debugger takes less.
const OPTIMISED: [&str; 2] = ["restart", "web"];

/// How often it is looked whether something has come about.
const STEP: Duration = Duration::from_millis(10);

/// An empty folder for a test, among those of its file.
pub fn folder(file: &str, test: &str) -> PathBuf {
    // Tests that run once more have their own, as the file's other tests run beside them.
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join(sanitized::which().unwrap_or_default());
    let folder = home.join(file).join(test);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Whether tests under this sanitizer are to run: all are, unless the environment names some (`FLUX_SANITIZERS`). Each
/// takes a runtime of its own, and that takes a minute to compile.
pub fn is_asked_for(sanitizer: &str) -> bool {
    let asked = std::env::var("FLUX_SANITIZERS");
    asked.map_or(true, |asked| asked.split_whitespace().any(|one| one == sanitizer))
}

/// What `flux` does with these arguments in this folder.
pub fn flux(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_flux")).args(arguments).current_dir(folder).output().unwrap()
}

/// Compiles objects of a built server again, with these flags: for what the compiler says, as a server that is built
/// with them has a runtime of its own, which takes a minute.
pub fn compile(build: &Path, objects: &[&str], flags: &str) {
    let mut make = Command::new("make");
    make.arg("-B").arg("-C").arg(build).args(objects).arg(format!("FLAGS={flags}"));
    let said = make.env_remove("MAKEFLAGS").env_remove("MAKELEVEL").output().unwrap();
    assert!(said.status.success(), "{}", text(&said.stderr));
}

/// What was printed.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A port that nobody has, for a server that cannot say which one it has found. It lies below those that the kernel
/// gives to clients (`ip_local_port_range`): one of these could take it before the server does.
pub fn free_port() -> u16 {
    static TRIED: AtomicU16 = AtomicU16::new(0);
    let is_free = |port: &u16| TcpListener::bind((Ipv4Addr::UNSPECIFIED, *port)).is_ok();
    let first = u16::try_from(std::process::id() % 1_000).unwrap() * 12;
    let mut ports = (0..12_000).map(|_| 20_000 + (first + TRIED.fetch_add(1, Ordering::Relaxed)) % 12_000);
    ports.find(is_free).unwrap()
}

/// The server of an example, built into a folder among those of the test's file: of these sources, or without any of
/// those beside the program.
pub fn build_example(file: &str, name: &str, sources: &[&str]) -> PathBuf {
    build(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name), file, name, sources)
}

/// The same of a server that is there for the tests of this file alone, beside it.
pub fn build_own(file: &str, name: &str, sources: &[&str]) -> PathBuf {
    build(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(file), file, name, sources)
}

fn build(home: &Path, file: &str, name: &str, sources: &[&str]) -> PathBuf {
    let folder = folder(file, name);
    let server = folder.join(name);
    let mut flux = Command::new(env!("CARGO_BIN_EXE_flux"));
    flux.arg("build").args((!OPTIMISED.contains(&file)).then_some("--debug")).args(sanitized::arguments());
    flux.arg(home.join(format!("{name}.flux"))).args(sources.iter().map(|source| home.join(source)));
    flux.arg("--build-dir").arg(folder.join("build")).arg("-o").arg(&server);
    let said = flux.output().unwrap();
    assert!(said.status.success(), "{}", text(&said.stderr));
    server
}

/// Waits until there is something.
pub fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(start.elapsed() < LIMIT, "there is still not: {what}");
        std::thread::sleep(STEP);
    }
}

/// What a server of the standard modules says of the address that it listens on.
const LISTENING: &str = "flux: listening on ";

/// A server that ends with the test.
pub struct Server {
    process: Child,
    pub port: u16,
    said: Arc<RwLock<String>>,
}

impl Server {
    /// Starts it; it will listen on this port.
    pub fn start(command: &mut Command, port: u16) -> Self {
        Self { process: command.spawn().unwrap(), port, said: Arc::default() }
    }

    /// Starts it and waits until it listens, on the port that it says.
    pub fn listening(command: &mut Command) -> Self {
        let mut process = command.stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let mut server = Self { process, port: 0, said: Arc::default() };
        let said = Arc::clone(&server.said);
        std::thread::spawn(move || {
            lines.map_while(Result::ok).for_each(|line| *said.write().unwrap() += &(line + "\n"))
        });
        server.port = wait_for("a server that listens", || {
            let ended = server.try_wait();
            let said = server.said();
            let address = said.lines().find_map(|line| line.strip_prefix(LISTENING));
            assert!(address.is_some() || ended.is_none(), "it ended and did not listen: {said}");
            // Of a Unix socket there is no port.
            address.map(|address| address.rsplit(':').next().unwrap().parse().unwrap_or(0))
        });
        server
    }

    /// What it has said on standard error; of one that is `listening`.
    pub fn said(&self) -> String {
        self.said.read().unwrap().clone()
    }

    /// The number of its process.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// A connection, as soon as the server has started.
    pub fn connect(&self) -> TcpStream {
        let connection = wait_for("a server", || TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).ok());
        connection.set_read_timeout(Some(LIMIT)).unwrap();
        connection
    }

    /// What comes of a request until the server closes the connection.
    pub fn ask(&self, request: &str) -> String {
        let mut connection = self.connect();
        connection.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        connection.read_to_string(&mut answer).unwrap();
        answer
    }

    /// What comes of requests after which the client has no more.
    pub fn ask_and_end(&self, requests: &str) -> String {
        let mut connection = self.connect();
        connection.write_all(requests.as_bytes()).unwrap();
        connection.shutdown(Shutdown::Write).unwrap();
        let mut answers = Vec::new();
        // A server that has not read all resets the connection.
        let _ = connection.read_to_end(&mut answers);
        text(&answers)
    }

    /// Tells the server to end in good order.
    pub fn terminate(&self) {
        self.signal("-TERM");
    }

    /// Sends it a signal, as `kill` names it.
    pub fn signal(&self, which: &str) {
        assert!(Command::new("kill").args([which, &self.id().to_string()]).status().unwrap().success());
    }

    /// Has it stand still: all of its threads do, which one of them sees to when it has a processor.
    pub fn stop(&self) {
        self.signal("-STOP");
        let threads = format!("/proc/{}/task", self.id());
        let stands = |stat: String| stat.rsplit(") ").next().is_some_and(|state| state.starts_with('T'));
        wait_for("the server's stop", || {
            let all = std::fs::read_dir(&threads).unwrap();
            let mut stats = all.map(|thread| std::fs::read_to_string(thread.unwrap().path().join("stat")).unwrap());
            stats.all(stands).then_some(())
        });
    }

    /// How it has ended, if it has.
    pub fn try_wait(&mut self) -> Option<ExitStatus> {
        self.process.try_wait().unwrap()
    }

    /// Waits until it has ended.
    pub fn wait(&mut self) -> ExitStatus {
        wait_for("the server's end", || self.try_wait())
    }
}

/// A redis-server that keeps nothing.
pub fn redis_server() -> Server {
    let port = free_port();
    let mut command = Command::new("redis-server");
    command.args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]);
    let server = Server::start(command.stdout(Stdio::null()), port);
    server.connect();
    server
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// How many simulated worlds an ordinary run tries where so many are usual: a tenth in servers with a sanitizer, as
/// each takes ten times as long.
pub fn worlds(usual: u64) -> u64 {
    if sanitized::which().is_some() { usual.div_ceil(10) } else { usual }
}

/// Whatever goes wrong in simulated worlds, the server is as it is to be: FLUX_SIMULATION_SEEDS many seeds, from
/// FLUX_SIMULATION_SEED on.
pub fn holds_in_simulated_worlds(server: &Path, arguments: &[&str]) {
    let setting = |name, usual| std::env::var(name).map_or(usual, |value: String| value.parse().unwrap());
    let first: u64 = setting("FLUX_SIMULATION_SEED", 0);
    (first..first + setting("FLUX_SIMULATION_SEEDS", worlds(200)))
        .for_each(|seed| holds_in_world(server, arguments, seed));
}

/// As above, in the world of this seed.
pub fn holds_in_world(server: &Path, arguments: &[&str], seed: u64) {
    let world = format!("--flux-io=simulation:{seed}");
    let output = Command::new(server).arg(&world).args(arguments).output().unwrap();
    assert!(output.status.success(), "{} {world}\n{}", server.display(), text(&output.stderr));
}
