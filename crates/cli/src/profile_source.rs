//! Where profiles come from: files, standard input, the admin interfaces of servers that run.

use crate::failure::{Failure, Result};
use crate::program::plain;
use flux_profile::places::{Place, places};
use flux_profile::profile::Profile;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// A server that says nothing for so long is not waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// Reads a profile.
pub fn read(source: &str) -> Result<Profile> {
    let cannot = |error: std::io::Error| Failure::usage(format!("cannot read {source}: {}", plain(&error)));
    let json = if source == "-" {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).map_err(cannot)?;
        text
    } else if Path::new(source).exists() {
        std::fs::read_to_string(source).map_err(cannot)?
    } else if is_address(source) {
        return asked(source);
    } else {
        return Err(Failure::usage(format!(
            "there is no file {source}, and it is no address: write a file, PORT, HOST:PORT or unix:PATH"
        )));
    };
    Profile::read(&json).map_err(|wrong| Failure::Bytes(format!("{source}: {wrong}")))
}

/// Whether it looks like the address of an admin interface.
fn is_address(text: &str) -> bool {
    let is_port = |port: &str| port.parse::<u16>().is_ok();
    text.starts_with("unix:") || is_port(text) || text.rsplit_once(':').is_some_and(|(_, port)| is_port(port))
}

/// Asks the server whose admin interface is at this address.
pub fn asked(address: &str) -> Result<Profile> {
    ask_for(address, "/profile", Profile::read)
}

/// Asks it where its flows in progress are.
pub fn asked_for_places(address: &str) -> Result<Vec<Place>> {
    ask_for(address, "/flows", places)
}

/// Its profile as text, or that of a file.
pub fn text(source: &Path) -> Result<String> {
    let name = source.display().to_string();
    if source.exists() || !is_address(&name) {
        let cannot = |error| Failure::usage(format!("cannot read {name}: {}", plain(&error)));
        return std::fs::read_to_string(source).map_err(cannot);
    }
    page(&name, "/profile").map_err(|wrong| Failure::usage(format!("{name}: {wrong}")))
}

/// What a live experiment at this address has found so far, or, where one is to begin, what it is.
pub fn experiment(address: &str, begun: Option<&str>) -> Result<serde_json::Value> {
    let wrong = |wrong| Failure::usage(format!("{address}: {wrong}"));
    let json = match begun {
        Some(query) => requested(address, "POST", &format!("/speed-up?{query}")),
        None => page(address, "/speed-up"),
    };
    serde_json::from_str(&json.map_err(wrong)?).map_err(|error| Failure::Bytes(format!("{address}: {error}")))
}

/// Asks it for a page, which is read by this.
fn ask_for<T>(address: &str, path: &str, read: impl FnOnce(&str) -> std::result::Result<T, String>) -> Result<T> {
    let json = page(address, path).map_err(|wrong| Failure::usage(format!("{address}: {wrong}")))?;
    read(&json).map_err(|wrong| Failure::Bytes(format!("{address}: {wrong}")))
}

/// A page of an admin interface.
///
/// # Errors
/// Why there is none, and what to do.
fn page(address: &str, path: &str) -> std::result::Result<String, String> {
    requested(address, "GET", path)
}

/// What a request of this method gives, as [`page`].
fn requested(address: &str, method: &str, path: &str) -> std::result::Result<String, String> {
    let started = "was the server started with --flux-admin, and does it listen there?";
    let failed = |error: std::io::Error| format!("the server does not answer: {}; {started}", plain(&error));
    match address.strip_prefix("unix:") {
        Some(path_of_socket) => {
            let stream = UnixStream::connect(path_of_socket).map_err(failed)?;
            stream.set_read_timeout(Some(PATIENCE)).map_err(failed)?;
            ask(stream, "localhost", method, path)
        }
        None => {
            let host = if address.contains(':') { address.to_owned() } else { format!("127.0.0.1:{address}") };
            let stream = TcpStream::connect(&host).map_err(failed)?;
            stream.set_read_timeout(Some(PATIENCE)).map_err(failed)?;
            ask(stream, &host, method, path)
        }
    }
}

fn ask(mut stream: impl Read + Write, host: &str, method: &str, path: &str) -> std::result::Result<String, String> {
    let failed = |error: std::io::Error| format!("the server does not answer: {}", plain(&error));
    write!(stream, "{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").map_err(failed)?;
    let mut answer = vec![];
    stream.read_to_end(&mut answer).map_err(failed)?;
    let answer = String::from_utf8_lossy(&answer);
    let no_interface = || "what answers there is no admin interface of a Flux server".to_owned();
    let (head, body) = answer.split_once("\r\n\r\n").ok_or_else(no_interface)?;
    match head.split(' ').nth(1) {
        Some("200") => Ok(body.to_owned()),
        Some("400" | "403") if method == "POST" => Err(body.trim().to_owned()),
        _ => Err(no_interface()),
    }
}
