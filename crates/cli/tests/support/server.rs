//! Servers under test. The harness starts a server, keeps its log, stalls it if the environment asks for that, and ends
//! it with its test.

use super::stalls::{Life, Stalls};
use super::{failures, text, wait_at_most, wait_for};
use std::fs::File;
use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// The log line with the address where a server of the standard modules listens.
const LISTENING: &str = "flux: listening on ";

/// A server that ends with the test.
pub struct Server {
    process: Child,
    pub port: u16,
    /// The file that has its standard error.
    log: PathBuf,
    /// The command that starts it.
    command: String,
    life: Arc<Life>,
    _stalls: Option<Stalls>,
}

impl Server {
    /// Starts a server that will listen on this port.
    pub fn start(command: &mut Command, port: u16) -> Self {
        static STARTED: AtomicUsize = AtomicUsize::new(0);
        let logs = Path::new(env!("CARGO_TARGET_TMPDIR")).join("logs");
        std::fs::create_dir_all(&logs).unwrap();
        let name = format!("{}-{}", std::process::id(), STARTED.fetch_add(1, Ordering::Relaxed));
        Self::logging(command, port, logs.join(name))
    }

    /// Starts a server that logs to this file.
    pub fn logging(command: &mut Command, port: u16, log: PathBuf) -> Self {
        failures::tell();
        let process = command.stderr(File::create(&log).unwrap()).spawn().unwrap();
        let life = Arc::new(Life::of(process.id()));
        let stalls = Stalls::asked_for(&life);
        Self { process, port, log, command: format!("{command:?}"), life, _stalls: stalls }
    }

    /// Starts a server that chooses its port, and waits until it listens.
    pub fn listening(command: &mut Command) -> Self {
        let mut server = Self::start(command, 0);
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

    /// Its standard error so far.
    pub fn said(&self) -> String {
        text(&std::fs::read(&self.log).unwrap())
    }

    /// Its standard output. The command must have made it a pipe.
    pub fn output(&mut self) -> impl BufRead + use<> {
        BufReader::new(self.process.stdout.take().unwrap())
    }

    /// The number of its process.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// A connection, as soon as the server has started.
    pub fn connect(&self) -> TcpStream {
        let connection = wait_for("a server", || TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).ok());
        connection.set_read_timeout(Some(super::LIMIT)).unwrap();
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
        if which == "-CONT" {
            self.life.is_held(false);
        }
    }

    /// Has it stand still: all of its threads do, which one of them sees to when it has a processor.
    pub fn stop(&self) {
        self.life.is_held(true);
        self.signal("-STOP");
        let threads = format!("/proc/{}/task", self.id());
        let stands = |stat: String| stat.rsplit(") ").next().is_some_and(|state| state.starts_with('T'));
        wait_for("the server's stop", || {
            let all = std::fs::read_dir(&threads).unwrap();
            let mut stats = all.map(|thread| std::fs::read_to_string(thread.unwrap().path().join("stat")).unwrap());
            stats.all(stands).then_some(())
        });
    }

    /// Waits until the server is idle: two looks in a row find all threads asleep, and none has run in between. All its
    /// input so far has had its effect then.
    pub fn rest(&self) {
        wait_for("a server that rests", || {
            let sleeps = sleeps_of(self.id())?;
            (sleeps_of(self.id())? == sleeps).then_some(())
        });
    }

    /// How it has ended, if it has.
    pub fn try_wait(&mut self) -> Option<ExitStatus> {
        let process = &mut self.process;
        self.life.end_if(|| process.try_wait().unwrap())
    }

    /// Waits until it has ended.
    pub fn wait(&mut self) -> ExitStatus {
        wait_for("the server's end", || self.try_wait())
    }

    /// Waits until it has ended, up to a limit.
    pub fn wait_at_most(&mut self, limit: Duration) -> Option<ExitStatus> {
        wait_at_most(limit, || self.try_wait())
    }
}

/// The number of times that each thread of a process has gone to sleep (`proc_pid_status(5)`). None if a thread runs.
fn sleeps_of(process: u32) -> Option<Vec<String>> {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).ok()?;
    let sleeps =
        |status: &str| status.lines().find(|line| line.starts_with("voluntary_ctxt_switches:")).map(str::to_owned);
    let each = threads.map(|thread| {
        let status = std::fs::read_to_string(thread.ok()?.path().join("status")).ok()?;
        status.contains("\nState:\tS").then(|| sleeps(&status))?
    });
    each.collect()
}

impl Drop for Server {
    fn drop(&mut self) {
        let process = &mut self.process;
        self.life.end_if(|| {
            let _ = process.kill();
            process.wait().ok()
        });
        if std::thread::panicking() {
            eprintln!("the log of {}:\n{}", self.command, self.said());
        } else if self.log.starts_with(Path::new(env!("CARGO_TARGET_TMPDIR")).join("logs")) {
            let _ = std::fs::remove_file(&self.log);
        }
    }
}
