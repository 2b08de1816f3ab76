//! The command line.

use crate::failure::Failure;
use crate::terminal::Color;
use clap::error::{ContextKind, ErrorKind};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::error::Error as _;
use std::path::PathBuf;

/// Checks, builds and runs concurrent servers: functions in C or C++, how requests flow through them, and what
/// they share.
#[derive(Parser)]
#[command(name = "flux", version, propagate_version = true)]
pub struct Arguments {
    /// When to colour messages.
    #[arg(long, value_enum, default_value_t, global = true, value_name = "WHEN")]
    pub color: Color,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

impl Arguments {
    /// Reads the command line. Does not return where it asks for help, or is no command.
    pub fn read() -> Result<Self, Failure> {
        Self::try_parse().map_err(|error| {
            let (flag, value) = (error.get(ContextKind::InvalidArg), error.get(ContextKind::InvalidValue));
            match (error.kind(), flag, value, error.source()) {
                (ErrorKind::ValueValidation, Some(flag), Some(value), Some(reason)) => {
                    let flag = flag.to_string();
                    let flag = flag.split_whitespace().next().unwrap_or_default();
                    Failure::usage(format!("`{flag} {value}`: {reason}"))
                }
                _ => error.exit(),
            }
        })
    }
}

/// What to do.
#[derive(Subcommand)]
pub enum Command {
    /// Check a program and report errors and warnings.
    Check(Check),
    /// Build the server of a program.
    Build(Build),
    /// Build the server of a program and run it.
    Run(Run),
    /// Run several programs in one process, and replace them while they run.
    Host(Host),
    /// Print an intermediate form of a program.
    Ir(Ir),
    /// Draw a program as a graph.
    Graph(Graph),
    /// Predict how a server performs, from estimates of its nodes.
    Sim(Sim),
    /// Predict which changes would make a server faster, and by how much.
    Advise(Advise),
    /// Show, compare, merge or convert what servers have measured of themselves.
    Profile(Profile),
    /// Show what a running server does, again and again.
    Top(Top),
    /// Create a folder with a server that runs at once.
    New(New),
    /// Write stubs for the functions that no source defines.
    Stubs(Stubs),
    /// Check whether everything is installed that building a server needs.
    Doctor(Doctor),
    /// Print the completion script for a shell.
    #[command(after_help = "Example: flux completions bash > ~/.local/share/bash-completion/completions/flux")]
    Completions(Completions),
    /// Write the CMake package and print its folder.
    Cmake(Cmake),
    /// Read messages from standard input and print what is in them.
    Message(Message),
    /// Write manual pages.
    Man(Man),
    /// Format programs.
    Fmt(Fmt),
    /// Explain a diagnostic, with examples.
    Explain(Explain),
}

/// `flux check`
#[derive(Args)]
#[command(after_help = "Exit status: 0 when the program is correct, 1 when it has errors, 2 when it cannot be read.")]
pub struct Check {
    /// The program, or a folder with one program [default: the current folder].
    #[arg(value_name = "PROGRAM.flux", default_value = ".", hide_default_value = true)]
    pub program: PathBuf,
    /// How to print diagnostics: for a person on standard error, or one JSON object a line on standard output.
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub format: MessageFormat,
    /// Shorthand for --format json.
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
    /// Print only warnings and errors.
    #[arg(long, short)]
    pub quiet: bool,
    /// Show what the compiler has found out for itself, each inferred signature and each value that is dropped, and not
    /// only how much.
    #[arg(long, conflicts_with = "quiet")]
    pub notes: bool,
    /// Print which constraints each node takes and which it already holds, and why, in each context.
    #[arg(long)]
    pub constraints: bool,
    /// Print the most bytes that one run of each process may hold, and the most steps that a message takes; with --json
    /// as one object on the last line.
    #[arg(long)]
    pub bounds: bool,
}

/// How diagnostics are printed.
#[derive(Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum MessageFormat {
    /// For a person.
    #[default]
    Human,
    /// One JSON object a line.
    Json,
}

/// `flux build`
#[derive(Args, Clone)]
#[command(after_help = "\
The generated C++ and a Makefile that builds it without flux go to build/PROGRAM beside the program, the server to \
build/PROGRAM/PROGRAM.

Exit status: 0 when the server stands, 1 when the program or its nodes have errors, 2 when the call is wrong.")]
pub struct Build {
    /// The program, or a folder with one program [default: the current folder].
    #[arg(value_name = "PROGRAM.flux", default_value = ".", hide_default_value = true)]
    pub program: PathBuf,
    /// The C and C++ sources of the nodes; without any, all *.c, *.cc, *.cpp and *.cxx beside the program.
    #[arg(value_name = "SOURCE")]
    pub sources: Vec<PathBuf>,
    /// The path of the server.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The folder for the generated files.
    #[arg(long, value_name = "DIRECTORY")]
    pub build_dir: Option<PathBuf>,
    /// Link with a library, like -l of the linker.
    #[arg(long = "link", short = 'l', value_name = "LIBRARY")]
    pub libraries: Vec<String>,
    /// An additional argument for the C and C++ compilers; those of the environment's FLUX_CFLAGS, separated by spaces,
    /// come before.
    #[arg(long = "cflag", value_name = "FLAG", allow_hyphen_values = true)]
    pub cflags: Vec<String>,
    /// The C++ compiler.
    #[arg(long, env = "CXX", default_value = "g++", value_name = "COMMAND")]
    pub cxx: String,
    /// The C compiler.
    #[arg(long, env = "CC", default_value = "gcc", value_name = "COMMAND")]
    pub cc: String,
    /// Build with a sanitizer.
    #[arg(long, value_enum, value_name = "WHICH")]
    pub sanitize: Option<Sanitizer>,
    /// Build for a debugger, without optimisation.
    #[arg(long)]
    pub debug: bool,
    /// Optimise across all sources at link time: a few percent fewer instructions per request, but a longer link.
    #[arg(long, conflicts_with = "debug")]
    pub lto: bool,
    /// Build a shared object for `flux host`, NAME.so, in place of a server. The program is to have no C or C++ of its
    /// own.
    #[arg(long, conflicts_with_all = ["lto", "sanitize"])]
    pub shared: bool,
    /// How to print diagnostics: for a person on standard error, or one JSON object a line on standard output. What the
    /// compilers say that is none of the program's goes to standard error in any case.
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub format: MessageFormat,
    /// How many compilers run at once [default: the number of CPUs].
    #[arg(long, short, value_name = "NUMBER", allow_hyphen_values = true, value_parser = number::<u32>(1, 1024))]
    pub jobs: Option<u32>,
    /// Write the C++ and the Makefile, but do not compile them.
    #[arg(long)]
    pub generate_only: bool,
    /// Print only warnings and errors.
    #[arg(long, short)]
    pub quiet: bool,
}

impl Build {
    /// All additional arguments for the C and C++ compilers.
    pub fn cflags(&self) -> Vec<String> {
        let of_all = std::env::var("FLUX_CFLAGS").unwrap_or_default();
        of_all.split_whitespace().map(str::to_owned).chain(self.cflags.iter().cloned()).collect()
    }
}

/// A sanitizer of the C++ compiler.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Sanitizer {
    /// Races.
    Thread,
    /// Memory errors, leaks and undefined behaviour.
    Address,
}

/// `flux run`
#[derive(Args)]
#[command(after_help = "Example: flux run image.flux -l turbojpeg -- --port 8080 --flux-runtime=pool --flux-report")]
pub struct Run {
    /// How to build it.
    #[command(flatten)]
    pub build: Build,
    /// Arguments for the server.
    #[arg(last = true, value_name = "ARGUMENT")]
    pub arguments: Vec<String>,
}

/// `flux host`
#[derive(Args)]
#[command(after_help = "\
Examples:
  flux host site.host                        builds and runs the programs that the file names
  flux host site.host --reload               builds them again, and replaces those that have changed
  flux host site.host --status

A FILE has a line for each program; a line that is further right goes on with it:

  front  balancer.flick weight=50 connections=1000 memory=64M -- --client=8080 --servers=127.0.0.1:8001
  cache  proxy.flick -- --client=11211 --servers=127.0.0.1:11212

Exit status: 0 when all was done, or of the host itself when all flows have ended by themselves; 1 when a program has \
errors, could not be loaded or runs on as it was; 2 when the call or the file is wrong.")]
pub struct Host {
    /// The programs, and what each of them may have.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Have the running host load, replace and unload programs as the file says now.
    #[arg(long)]
    pub reload: bool,
    /// As --reload, and end this program before its next version begins: for one whose globals have changed.
    #[arg(long, value_name = "NAME")]
    pub restart: Vec<String>,
    /// Print which versions of programs run.
    #[arg(long, conflicts_with_all = ["reload", "restart", "admin"])]
    pub status: bool,
    /// The Unix socket at which the host is told what to do [default: FILE.sock].
    #[arg(long, value_name = "PATH")]
    pub control: Option<PathBuf>,
    /// Where to ask by HTTP how the programs run: an address as 127.0.0.1:9100, or unix:PATH.
    #[arg(long, value_name = "ADDRESS", conflicts_with_all = ["reload", "restart"])]
    pub admin: Option<String>,
    /// The C++ compiler.
    #[arg(long, env = "CXX", default_value = "g++", value_name = "COMMAND")]
    pub cxx: String,
    /// The C compiler.
    #[arg(long, env = "CC", default_value = "gcc", value_name = "COMMAND")]
    pub cc: String,
    /// Print only warnings and errors.
    #[arg(long, short)]
    pub quiet: bool,
}

/// `flux ir`
#[derive(Args)]
pub struct Ir {
    /// The program, or a folder with one program [default: the current folder].
    #[arg(value_name = "PROGRAM.flux", default_value = ".", hide_default_value = true)]
    pub program: PathBuf,
    /// The form to print.
    #[arg(long, value_enum, default_value_t, value_name = "FORM")]
    pub form: Form,
    /// Print the source position of everything, as FILE:START-END in bytes.
    #[arg(long)]
    pub spans: bool,
}

/// A form of a program.
#[derive(Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Form {
    /// The program as written, with names resolved and types.
    Program,
    /// What will run: every call, dispatch, acquisition and failure.
    #[default]
    Flow,
}

/// `flux graph`
#[derive(Args)]
#[command(after_help = "Examples: flux graph image.flux -o image.svg, flux graph image.flux --format mermaid")]
pub struct Graph {
    /// The program, or a folder with one program [default: the current folder].
    #[arg(value_name = "PROGRAM.flux", default_value = ".", hide_default_value = true)]
    pub program: PathBuf,
    /// The form; by the output's ending (.svg, .mmd) where it has one, else dot. svg needs Graphviz (apt-get install
    /// graphviz).
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub format: Option<Picture>,
    /// Show for which nodes a constraint was moved up, and which needed constraints are already held.
    #[arg(long)]
    pub constraints: bool,
    /// The output file [default: standard output].
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// A form of a picture.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Picture {
    /// Graphviz' language.
    Dot,
    /// A picture for a browser.
    Svg,
    /// A flowchart for a ```mermaid fence of Markdown.
    Mermaid,
}

/// `flux sim`
#[derive(Args)]
#[command(after_help = "\
Examples: flux sim image.flux --estimates image.estimates --cpus 1,2,4 --rate 10,20,40
          flux sim hello.flux -e 'Work=exponential(2ms) + wait 5ms' --clients 10,100 --think 1s --plot hello.svg
          flux sim image.flux --profile image.json --cpus 1,2,4,8 --p99 100ms

An estimate says of a node how long it takes (12ms, exponential(12ms), lognormal(12ms, 0.5), uniform(1ms, 3ms), wait \
5ms, several with +) and how often it fails (1ms, fails 2%), of a predicate type how often it holds (80%), of a \
constraint how many keys or sessions there are (1000, zipf(1000, 0.9)), of the list of an each step how many elements \
it has (5).

Exit status: 0 when there is a prediction, 1 when the program has errors, 2 when the call or an estimate is wrong.")]
pub struct Sim {
    /// The server and its load.
    #[command(flatten)]
    pub server: Simulated,
    /// Print one JSON object a point; times are in seconds.
    #[arg(long)]
    pub json: bool,
    /// Draw throughput and latency over the load.
    #[arg(long, value_name = "FILE.svg")]
    pub plot: Option<PathBuf>,
    /// Find the load up to which 99 % of the flows take no longer than this: a time as 100ms.
    #[arg(long, value_name = "TIME", conflicts_with_all = ["rate", "clients", "plot"], allow_hyphen_values = true)]
    pub p99: Option<String>,
}

/// `flux advise`
#[derive(Args)]
#[command(after_help = "\
Examples: flux advise image.flux --estimates image.estimates --cpus 4 --rate 40
          flux advise image.flux --live 9100 --node Compress --clients 32 --faster 25

Estimates are those of flux sim. With --live they are the profile of that server, where none are given; without a \
load it is tried alone, and nothing is simulated.

Exit status: 0 when there is advice, 1 when the program has errors, 2 when the call or an estimate is wrong.")]
pub struct Advise {
    /// The server and its load.
    #[command(flatten)]
    pub server: Simulated,
    /// How much less a node is to take, in percent.
    #[arg(long, default_value_t = 10, value_name = "PERCENT", allow_hyphen_values = true,
          value_parser = number::<u32>(1, 90))]
    pub faster: u32,
    /// Try it on the running server with this admin interface, too: all else is slowed down there, in every second
    /// slice of 250 ms, as if the node took so much less.
    #[arg(long, value_name = "ADDRESS")]
    pub live: Option<String>,
    /// With --live: which nodes [default: the three that take most].
    #[arg(long = "node", value_name = "NODE", value_delimiter = ',', requires = "live")]
    pub nodes: Vec<String>,
    /// With --live: how many slices for each node.
    #[arg(long, default_value_t = 40, value_name = "NUMBER", allow_hyphen_values = true,
          value_parser = number::<u32>(4, 1000))]
    pub slices: u32,
    /// Print one JSON object a change.
    #[arg(long)]
    pub json: bool,
}

/// `flux profile`
#[derive(Args)]
#[command(after_help = "\
Examples:
  flux profile 127.0.0.1:9100                      what a running server has measured so far
  flux profile before.json after.json              what has become slower or faster
  flux profile --merge monday.json tuesday.json -o both.json
  flux profile image.json --pprof image.pb         for pprof -http=: image.pb

A SOURCE is a file that a server wrote at its end (--flux-report=json:FILE), - for standard input, or the address of an
admin interface (--flux-admin): PORT, HOST:PORT or unix:PATH.

Exit status: 0 when it is shown or written; 1 when what was read is no profile, or profiles are of different programs; 2
when it cannot be read, or the call is wrong.")]
pub struct Profile {
    /// A profile; two are compared.
    #[arg(value_name = "SOURCE", required = true)]
    pub sources: Vec<String>,
    /// Add the profiles up, and print or write the one that they make.
    #[arg(long)]
    pub merge: bool,
    /// With --merge: where to write to, in place of standard output.
    #[arg(long, short, value_name = "FILE", requires = "merge")]
    pub output: Option<PathBuf>,
    /// Write a file for pprof, with nodes in place of functions.
    #[arg(long, value_name = "FILE", conflicts_with = "merge")]
    pub pprof: Option<PathBuf>,
    /// Show how often caches of all sizes would have had the key that a flow takes of this constraint.
    #[arg(long, value_name = "CONSTRAINT", conflicts_with_all = ["merge", "pprof"])]
    pub cache: Option<String>,
    /// Show also what takes little, and differences that may be chance.
    #[arg(long)]
    pub all: bool,
    /// Print one JSON object for each row.
    #[arg(long, conflicts_with = "merge")]
    pub json: bool,
}

/// `flux top`
#[derive(Args)]
#[command(after_help = "\
Example: flux top 9100, for a server that was started with --flux-admin=9100

It ends with q or Ctrl-C, or when the server does.

Exit status: 0; 2 when the server cannot be asked.")]
pub struct Top {
    /// The address of an admin interface: PORT, HOST:PORT or unix:PATH.
    #[arg(value_name = "ADDRESS")]
    pub address: String,
    /// How many seconds to look at.
    #[arg(long, short, default_value = "1", value_name = "SECONDS", allow_hyphen_values = true,
          value_parser = real(0.1, 3600.0, "seconds, from 0.1 to 3600"))]
    pub interval: f64,
    /// Look once.
    #[arg(long)]
    pub once: bool,
    /// Print one JSON object for each look, in place of drawing anew.
    #[arg(long)]
    pub json: bool,
}

/// Reads a whole number within bounds, for a flag.
fn number<T: TryFrom<u64>>(least: u64, most: u64) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text: &str| {
        let read = text.parse().ok().filter(|number| (least..=most).contains(number));
        let read = read.and_then(|number| T::try_from(number).ok());
        read.ok_or_else(|| format!("write a whole number from {least} to {most}"))
    }
}

/// Reads a number within bounds, for a flag; `what` says what it is.
fn real(least: f64, most: f64, what: &'static str) -> impl Fn(&str) -> Result<f64, String> + Clone {
    move |text: &str| {
        let read = text.parse().ok().filter(|number| (least..=most).contains(number));
        read.ok_or_else(|| format!("write {what}"))
    }
}

/// A server that is simulated, and what comes to it.
#[derive(Args, Clone)]
pub struct Simulated {
    /// The program, or a folder with one program [default: the current folder].
    #[arg(value_name = "PROGRAM.flux", default_value = ".", hide_default_value = true)]
    pub program: PathBuf,
    /// What is expected of a node, a predicate type, a constraint or a list; replaces what a file says of it.
    #[arg(long = "estimate", short = 'e', value_name = "NAME=VALUE")]
    pub estimates: Vec<String>,
    /// A file of estimates, one a line; # begins a comment.
    #[arg(long = "estimates", value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// What a running server has measured: the file of --flux-report=json:FILE, or what its admin interface gives as
    /// /profile, or its address. Estimates replace what it says of the same.
    #[arg(long, value_name = "FILE")]
    pub profile: Option<PathBuf>,
    /// How many CPUs the machine has.
    #[arg(long, value_delimiter = ',', default_value = "1", value_name = "NUMBER,…", allow_hyphen_values = true,
          value_parser = number::<u32>(1, 4096))]
    pub cpus: Vec<u32>,
    /// How fast its CPUs are: 2 where they take half as long for what a node computes as the estimates say, or the
    /// profile. Waits stay as they are.
    #[arg(long, default_value = "1", value_name = "FACTOR", allow_hyphen_values = true,
          value_parser = real(0.001, 1000.0, "a factor, from 0.001 to 1000"))]
    pub cpu_speed: f64,
    /// The machine's kernel keeps CPUs idle where it can: `sched_vcpu_pack` is in its /proc/cmdline, as in some virtual
    /// machines. Threads that are woken come to the CPU of who wakes them then.
    #[arg(long)]
    pub vcpu_pack: bool,
    /// How many flows come in a second, independent of each other.
    #[arg(long, value_delimiter = ',', value_name = "NUMBER,…", conflicts_with = "clients",
          allow_hyphen_values = true,
          value_parser = real(f64::MIN_POSITIVE, 1e9, "how many flows come in a second, for instance 100"))]
    pub rate: Vec<f64>,
    /// Flows come as they have before: a file of their times, in seconds, one a line; faster or slower with --rate.
    #[arg(long, value_name = "FILE", conflicts_with = "clients")]
    pub arrivals: Option<PathBuf>,
    /// Throughput and latencies are of the flows of this source alone, not of those that timers or other sources bring.
    #[arg(long, value_name = "SOURCE")]
    pub of: Option<String>,
    /// How many clients there are, each of which waits for its answer before its next request.
    #[arg(long, value_delimiter = ',', value_name = "NUMBER,…", allow_hyphen_values = true,
          value_parser = number::<u32>(1, 1_000_000))]
    pub clients: Vec<u32>,
    /// How long a client thinks between an answer and its next request: a time as in estimates.
    #[arg(long, default_value = "0s", value_name = "TIME", requires = "clients", allow_hyphen_values = true)]
    pub think: String,
    /// What runs the flows.
    #[arg(long, value_enum, default_value_t, value_name = "WHICH")]
    pub runtime: SimulatedRuntime,
    /// How many threads the pool or how many loops there are [default: pool: four times the CPUs, at least 16; event:
    /// the CPUs].
    #[arg(long, value_name = "NUMBER", allow_hyphen_values = true, value_parser = number::<u32>(1, 65536))]
    pub workers: Option<u32>,
    /// How many flows each of the ten runs of a point counts.
    #[arg(long, default_value = "5000", value_name = "NUMBER", allow_hyphen_values = true,
          value_parser = number::<u32>(10, 100_000_000))]
    pub flows: u32,
    /// The seed of the random numbers: the same gives the same prediction.
    #[arg(long, default_value = "1", value_name = "NUMBER", allow_hyphen_values = true,
          value_parser = number::<u64>(0, u64::MAX))]
    pub seed: u64,
}

/// What runs the flows of a simulated server: `--flux-runtime` of a real one.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, ValueEnum)]
pub enum SimulatedRuntime {
    /// A thread for each flow.
    Thread,
    /// The threads of a pool.
    #[default]
    Pool,
    /// Event loops.
    Event,
}

/// `flux new`
#[derive(Args)]
#[command(after_help = "\
Example: flux new hello, then flux run hello

Exit status: 0 when the folder stands, 2 when there is one that is not empty or it cannot be written.")]
pub struct New {
    /// The folder, whose last part becomes the program's name.
    #[arg(value_name = "NAME")]
    pub folder: PathBuf,
    /// What the server does.
    #[arg(long, value_enum, default_value_t, value_name = "TEMPLATE")]
    pub template: Template,
}

/// What a new server does.
#[derive(Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Template {
    /// Answers web browsers.
    #[default]
    Http,
    /// Echoes lines.
    Echo,
    /// Does something every second.
    Timer,
    /// A service in the network, in FLICK: numbers lines.
    Flick,
}

/// `flux stubs`
#[derive(Args)]
#[command(after_help = "\
Example: flux stubs image.flux -o missing.cpp

Exit status: 0 when they are written or none is missing, 1 when the program has errors, 2 when the output exists.")]
pub struct Stubs {
    /// The program, or a folder with one program [default: the current folder].
    #[arg(value_name = "PROGRAM.flux", default_value = ".", hide_default_value = true)]
    pub program: PathBuf,
    /// The C and C++ sources there are; without any, all *.c, *.cc, *.cpp and *.cxx beside the program.
    #[arg(value_name = "SOURCE")]
    pub sources: Vec<PathBuf>,
    /// Where they go, a file that does not exist yet; standard output without it.
    #[arg(long, short, value_name = "FILE.cpp")]
    pub output: Option<PathBuf>,
    /// Write all functions, including those that a source defines.
    #[arg(long)]
    pub all: bool,
    /// What functions that no header declares take and give: a node's structs, as in the paper, or plain values. Plain
    /// ones need a header that the program includes: with -o it is written beside the file, else printed first.
    #[arg(long, value_enum, default_value_t, value_name = "CONVENTION")]
    pub convention: Convention,
    /// The C++ compiler, which says what the headers of the program declare.
    #[arg(long, env = "CXX", default_value = "g++", value_name = "COMMAND")]
    pub cxx: String,
}

/// What the functions of nodes take and give.
#[derive(Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Convention {
    /// `int X(X_in *in, X_out *out)`
    #[default]
    Paper,
    /// `int X(int input, int &output)`
    Plain,
}

/// `flux doctor`
#[derive(Args)]
#[command(
    after_help = "Exit status: 0 when servers can be built and none of the given files makes a call that would hold \
                        up an event loop, 1 when something is missing or one does, 2 when a file cannot be read."
)]
pub struct Doctor {
    /// A program, for the libraries that it links and the calls of what was built of it; or object files and servers,
    /// for their calls alone.
    #[arg(value_name = "PROGRAM|FILE")]
    pub files: Vec<PathBuf>,
    /// The C++ compiler.
    #[arg(long, env = "CXX", default_value = "g++", value_name = "COMMAND")]
    pub cxx: String,
    /// Print one JSON object a line.
    #[arg(long)]
    pub json: bool,
}

/// `flux completions`
#[derive(Args)]
pub struct Completions {
    /// Which shell.
    #[arg(value_enum, value_name = "SHELL")]
    pub shell: clap_complete::Shell,
}

/// `flux cmake`
#[derive(Args)]
#[command(after_help = "Example: cmake -B build -DFlux_DIR=\"$(flux cmake)\", where CMakeLists.txt has:

    find_package(Flux REQUIRED)
    flux_add_server(hello hello.flux SOURCES nodes.cpp)")]
pub struct Cmake {
    /// Where it goes, in the cache of flux where it is left out; `find_package(Flux)` finds PREFIX/lib/cmake/Flux.
    #[arg(value_name = "FOLDER")]
    pub folder: Option<PathBuf>,
}

/// `flux message`
#[derive(Args)]
#[command(after_help = "\
Examples: flux message protocol.flux command < capture.bin, flux message std.memcached command --json < capture.bin

Exit status: 0 when all bytes are messages, 1 when some are not or the program has errors, 2 when the call is wrong.")]
pub struct Message {
    /// The program that declares the message, or a standard module, such as std.memcached.
    #[arg(value_name = "PROGRAM.flux")]
    pub program: PathBuf,
    /// The message; of a module with the module's name before it, as everywhere.
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Print one JSON object a message; bytes are hexadecimal in it.
    #[arg(long)]
    pub json: bool,
    /// What the requests ask for to which the messages are replies, their variable `asks`: 1 for HEAD of HTTP.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub asked: u8,
}

/// `flux man`
#[derive(Args)]
#[command(after_help = "Example: flux man ~/.local/share/man/man1")]
pub struct Man {
    /// The folder for flux.1, flux-build.1 and so on.
    #[arg(value_name = "FOLDER")]
    pub folder: PathBuf,
}

/// `flux fmt`
#[derive(Args)]
#[command(after_help = "\
Comments and groups of lines stay; statements broken before an arrow stay broken there. A file that does not parse is \
left as it is.

Exit status: 0 when all is laid out, 1 when a file has errors or, with --check, is laid out otherwise, 2 when one \
cannot be read or written.")]
pub struct Fmt {
    /// The programs, and folders with programs: all *.flux and *.flick files there and below, build and hidden ones
    /// aside [default: the current folder].
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Change nothing; print the files that would change.
    #[arg(long)]
    pub check: bool,
    /// Read a program from standard input and write it to standard output.
    #[arg(long, conflicts_with_all = ["paths", "check"])]
    pub stdin: bool,
}

/// `flux explain`
#[derive(Args)]
pub struct Explain {
    /// The id of the diagnostic, as in the brackets of its message; without it all are listed.
    #[arg(value_name = "ID")]
    pub id: Option<String>,
}
