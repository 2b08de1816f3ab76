//! Does what the tour tells a newcomer to do: writes its files, builds the server, visits it, ends it, and holds the
//! answers and the report to what the page shows.

#![expect(clippy::disallowed_methods, reason = "a test is a shell: it builds a server and talks to it")]

use std::error::Error;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};

type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

#[test]
fn the_tour_ends_where_it_says() -> Result {
    let tour = std::fs::read_to_string(root().join("docs/tour.md"))?;
    let folder = tempfile::tempdir()?;
    for (info, text) in fences(&tour) {
        if let Some(name) = info.split(' ').find_map(|word| word.strip_prefix("file=")) {
            std::fs::write(folder.path().join(name), format!("{text}\n"))?;
        }
    }
    build(folder.path())?;
    for strategy in ["pool", "thread"] {
        visit(folder.path(), &tour, strategy)?;
    }
    Ok(())
}

/// Builds the server of `greet.flux`, as the page says: the same `flux`, the same command.
fn build(folder: &Path) -> Result {
    let mut flux = match std::env::var_os("FLUX") {
        Some(path) => Command::new(root().join(path)),
        None => {
            let mut cargo = Command::new(env!("CARGO"));
            cargo.args(["run", "--quiet", "--package", "flux-lang", "--manifest-path"]);
            cargo.arg(root().join("Cargo.toml")).arg("--");
            cargo
        }
    };
    let output = flux.args(["build", "greet.flux"]).current_dir(folder).output()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

/// Runs the server, visits it as the page does, and compares what it says in the end.
fn visit(folder: &Path, tour: &str, strategy: &str) -> Result {
    let server = Command::new(folder.join("build/greet/greet"))
        .args(["--port=0".to_owned(), "--flux-report".to_owned(), format!("--flux-runtime={strategy}")])
        .stderr(Stdio::piped())
        .spawn()?;
    let mut server = Server::listening(server)?;
    let port = server.port;
    let visits = fences(tour).find(|(_, text)| text.starts_with("$ curl")).ok_or("the page visits nobody")?.1;
    let mut answers = String::new();
    for command in visits.lines().filter(|line| line.starts_with("$ curl")) {
        let path = command.strip_prefix("$ curl localhost:8080").ok_or("another command than curl")?;
        answers += &format!("{command}\n{}", get(port, path)?);
    }
    assert_eq!(answers.trim_end(), visits);
    let said = server.end()?;
    let report = fences(tour).find(|(_, text)| text.contains("flows    share")).ok_or("the page shows no report")?.1;
    let shown = counted(report).ok_or("the report on the page ends otherwise than reports do")?;
    assert_eq!(counted(&said), Some(shown), "with {strategy}");
    Ok(())
}

/// What a report counts: all but how often flows waited for their visitors and how long constraints were held, which
/// differ from run to run.
fn counted(report: &str) -> Option<String> {
    let (_, counts) = report.split_once("flux: greet: ")?;
    let (counts, held) = counts.trim_end().rsplit_once('\n')?;
    let (before, after) = counts.split_once(" parks, ")?;
    let (before, _parks) = before.rsplit_once(' ')?;
    let columns: Vec<_> = held.split_whitespace().collect();
    let [taken, waited, waited_ms, _, constraint] = columns.as_slice() else { return None };
    Some(format!("{before}, {after}\n{taken} {waited} {waited_ms} {constraint}"))
}

/// A server that is gone when the test is, whatever way that ends.
struct Server {
    process: Child,
    errors: BufReader<ChildStderr>,
    said: String,
    port: u16,
}

impl Server {
    /// Waits until it says where it listens.
    fn listening(mut process: Child) -> Result<Self> {
        let errors = BufReader::new(process.stderr.take().ok_or("its standard error is not piped")?);
        let mut server = Self { process, errors, said: String::new(), port: 0 };
        while server.port == 0 {
            let mut line = String::new();
            assert_ne!(server.errors.read_line(&mut line)?, 0, "it does not listen: {}", server.said);
            if let Some(address) = line.strip_prefix("flux: listening on ") {
                server.port = address.trim().rsplit(':').next().ok_or("an address without a port")?.parse()?;
            }
            server.said += &line;
        }
        Ok(server)
    }

    /// Ends it in good order; gives all it said.
    fn end(&mut self) -> Result<String> {
        let killed = Command::new("kill").arg(self.process.id().to_string()).status()?;
        assert!(killed.success(), "the server ended before it was told to");
        self.errors.read_to_string(&mut self.said)?;
        assert!(self.process.wait()?.success(), "{}", self.said);
        Ok(std::mem::take(&mut self.said))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It has ended already where all went well.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The body of the answer to a request.
fn get(port: u16, path: &str) -> Result<String> {
    let mut connection = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    connection.write_all(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes())?;
    let mut answer = String::new();
    connection.read_to_string(&mut answer)?;
    let (_, body) = answer.split_once("\r\n\r\n").ok_or("an answer without a body")?;
    Ok(body.to_owned())
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The fences of a page: the words after the marker, and the text without the newline at its end.
fn fences(page: &str) -> impl Iterator<Item = (&str, &str)> {
    page.split("\n```").skip(1).step_by(2).filter_map(|fence| fence.split_once('\n'))
}
