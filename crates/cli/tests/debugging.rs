//! A debugger in a server: it stops in nodes by their own names, steps from one to the next through generated code
//! alone, and finds every source on the way. gdb is driven through its machine interface ("Debugging with GDB", MI).

use crate::support;
use crate::support::{LIMIT, free_port, wait_for};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, channel};

/// More steps than there are lines between two nodes.
const STEPS: usize = 40;

/// Where the server has stopped.
#[derive(Debug, PartialEq)]
struct Place {
    function: String,
    /// Absolute.
    file: PathBuf,
    line: usize,
}

impl Place {
    /// The innermost frame in a record of the machine interface: `frame={…,func="Read",fullname="/…",line="45"…}`.
    fn read(record: &str) -> Self {
        let value = |name: &str| {
            let after = record.split_once(&format!("{name}=\"")).map(|(_, after)| after);
            after.and_then(|after| after.split('"').next()).unwrap_or_else(|| panic!("no {name}: {record}")).to_owned()
        };
        Self { function: value("func"), file: value("fullname").into(), line: value("line").parse().unwrap() }
    }

    /// The line's text.
    fn text(&self) -> String {
        let text = std::fs::read_to_string(&self.file).unwrap_or_else(|error| panic!("{:?}: {error}", self.file));
        text.lines().nth(self.line - 1).unwrap_or_default().trim().to_owned()
    }
}

/// A debugger that ends with the test, and its server with it.
struct Debugger {
    process: Child,
    input: ChildStdin,
    output: Receiver<String>,
}

impl Debugger {
    fn start(server: &Path) -> Self {
        let mut process = Command::new("gdb")
            .args(["--nx", "--quiet", "--interpreter=mi3"])
            .arg(server)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("gdb is not installed: apt-get install gdb");
        let input = process.stdin.take().unwrap();
        let (sender, output) = channel();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        std::thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Self { process, input, output }
    }

    /// The next line that starts so.
    fn expect(&self, start: &str) -> String {
        loop {
            let line = self.output.recv_timeout(LIMIT);
            let line = line.unwrap_or_else(|error| panic!("gdb does not say {start}: {error}"));
            assert!(!line.starts_with("^error"), "{line}");
            if line.starts_with(start) {
                return line;
            }
        }
    }

    /// Gives a command that is done at once; its result.
    fn command(&mut self, command: &str) -> String {
        writeln!(self.input, "{command}").unwrap();
        self.expect("^done")
    }

    /// Lets the server go on, and gives where it stops.
    fn until_stop(&mut self, command: &str) -> Place {
        writeln!(self.input, "{command}").unwrap();
        Place::read(&self.expect("*stopped"))
    }
}

impl Drop for Debugger {
    fn drop(&mut self) {
        let _ = writeln!(self.input, "-gdb-exit");
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The folder of the server, built once, with its sources.
fn home() -> &'static Path {
    static ONCE: OnceLock<PathBuf> = OnceLock::new();
    ONCE.get_or_init(|| {
        let folder = support::folder("debugging", "hello");
        for file in ["hello.flux", "nodes.cpp"] {
            std::fs::copy(support::built::tests().join("debugging").join(file), folder.join(file)).unwrap();
        }
        let said = support::flux(&folder, &["build", "--debug"]);
        assert!(said.status.success(), "{}", support::text(&said.stderr));
        folder
    })
}

/// Sends a line as soon as the server listens; gives its answer.
fn ask(port: u16) -> String {
    let mut connection = wait_for("a server", || TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok());
    connection.set_read_timeout(Some(LIMIT)).unwrap();
    connection.write_all(b"hi\n").unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).unwrap();
    answer
}

/// The number of the line after the one that starts so, and after its brace.
fn first_line_of(file: &Path, start: &str) -> usize {
    let text = std::fs::read_to_string(file).unwrap();
    text.lines().position(|line| line.starts_with(start)).unwrap() + 3
}

#[test]
fn a_debugger_steps_from_node_to_node() {
    let home = home();
    let (nodes, generated) = (home.join("nodes.cpp"), home.join("build/hello/hello.flux.cpp"));
    let mut gdb = Debugger::start(&home.join("build/hello/hello"));
    let port = free_port();
    gdb.command(&format!("-exec-arguments {port} 2> stderr"));
    gdb.command(&format!("-environment-cd {}", home.display()));
    // As docs/generated-code.md tells a user to.
    gdb.command(r#"-interpreter-exec console "skip -rfu ^(flux|std|__gnu_cxx)::""#);
    let client = std::thread::spawn(move || ask(port));

    // An abstract node, by its name, under the line of the program that it comes from.
    gdb.command("-break-insert Echo");
    let stop = gdb.until_stop("-exec-run");
    assert_eq!((stop.function.as_str(), &stop.file), ("flux_flows::Echo", &generated));
    let text = std::fs::read_to_string(&generated).unwrap();
    let above: Vec<_> = text.lines().take(stop.line).collect();
    let comment = above.iter().rev().find(|line| line.starts_with("// "));
    assert_eq!(comment, Some(&"// hello.flux:12: Echo = Read -> Count -> Reply;"));

    // From there each step is a line of generated code, until the next node.
    for node in ["Read", "Count", "Reply"] {
        let between = |place: &Place| place.file == generated && place.function == "flux_flows::Echo";
        let mut steps = std::iter::repeat_with(|| gdb.until_stop("-exec-step")).take(STEPS);
        let place = steps.find(|place| !between(place)).unwrap();
        let line = first_line_of(&nodes, &format!("int {node}("));
        assert_eq!(place, Place { function: node.into(), file: nodes.clone(), line });
        let back = gdb.until_stop("-exec-finish");
        assert!(between(&back), "{back:?}");
        assert_eq!(back.text(), call_of(node));
    }
    gdb.command("-break-delete");
    writeln!(gdb.input, "-exec-continue").unwrap();
    assert_eq!(client.join().unwrap(), "1: hi\n");
}

/// The line that calls a node.
fn call_of(node: &str) -> String {
    match node {
        "Reply" => "error = ::Reply(&Reply_input);".to_owned(),
        _ => format!("error = ::{node}(&{node}_input, &{node}_output);"),
    }
}

#[test]
fn the_debugger_finds_the_sources_of_the_runtime() {
    let home = home();
    let mut gdb = Debugger::start(&home.join("build/hello/hello"));
    gdb.command(&format!("-exec-arguments 0 2> {}/stderr", home.display()));
    gdb.command("-break-insert Listen");
    let stop = gdb.until_stop("-exec-run");
    assert_eq!(stop.function, "Listen");
    let stack = gdb.command("-stack-list-frames");
    let runtime: Vec<_> = stack.split("frame={").skip(1).filter(|frame| frame.contains("func=\"flux::")).collect();
    assert!(runtime.len() > 1, "{stack}");
    for frame in runtime {
        let place = Place::read(frame);
        assert!(!place.text().is_empty(), "{place:?}");
    }
}
