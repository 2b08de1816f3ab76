//! The harness of tests that run servers: folders, builds, ports, servers and waiting. Only the harness sleeps and
//! reads a clock. No test result may depend on how long something takes.

pub mod backend;
pub mod built;
pub mod dialogue;
mod failures;
pub mod hadoop;
pub mod memcached;
mod ports;
pub mod proxy;
pub mod sanitized;
mod server;
pub mod sockets;
mod stalls;

pub use built::{build_example, build_own};
use flux_random_program::is_in_slice;
pub use ports::free_port;
pub use server::Server;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
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

/// An empty folder for a test, among those of its file.
pub fn folder(file: &str, test: &str) -> PathBuf {
    failures::tell();
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

/// Waits until `look` finds something. Only a hang takes longer than the limit.
pub fn wait_for<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    wait_at_most(LIMIT, look).unwrap_or_else(|| panic!("there is still not: {what}"))
}

/// Waits until `look` finds something, up to a limit.
pub fn wait_at_most<T>(limit: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let (start, mut step) = (Instant::now(), Duration::from_millis(1));
    loop {
        let is_late = start.elapsed() > limit;
        let found = look();
        if found.is_some() || is_late {
            return found;
        }
        std::thread::sleep(step);
        step = (2 * step).min(Duration::from_millis(10));
    }
}

/// Prints a measurement, which no test depends on, for `make bench`.
pub fn tell(measured: &str) {
    eprintln!("{measured}");
}

/// Lets a time limit of a server pass, for a test that shows that the limit has no effect. The test must assert only
/// facts that hold at any time.
pub fn let_pass(ms: u64) {
    std::thread::sleep(Duration::from_millis(ms));
}

/// The rounds of a fuzzer: as many as fit into `FUZZ_MINUTES`, which `make fuzz` sets (1 by default).
pub fn rounds_for_minutes() -> impl Iterator<Item = u64> {
    let minutes = std::env::var("FUZZ_MINUTES").ok().and_then(|minutes| minutes.parse::<u64>().ok()).unwrap_or(1);
    let start = Instant::now();
    (0..).take_while(move |_| start.elapsed() < Duration::from_secs(60 * minutes))
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
        .filter(|seed| sanitized::which().is_some() || is_in_slice(*seed, 3))
        .for_each(|seed| holds_in_world(server, arguments, seed));
}

/// As above, in the world of this seed.
pub fn holds_in_world(server: &Path, arguments: &[&str], seed: u64) {
    let world = format!("--flux-io=simulation:{seed}");
    let output = Command::new(server).arg(&world).args(arguments).output().unwrap();
    assert!(output.status.success(), "{} {world}\n{}", server.display(), text(&output.stderr));
}
