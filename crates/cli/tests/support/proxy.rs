//! The proxy of the FLICK paper for memcached in binary, `examples/memcached_proxy/listing_1.flick`, before servers
//! that say who they are, and clients that look whose replies they get.

use super::backend::{Backend, State};
use super::memcached::{opaque_of, request};
use super::{Server, built, text};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Both kinds of I/O, on one loop, so that connections to servers are there for all.
pub const LOOPS: [&[&str]; 2] =
    [&["--flux-workers=1", "--flux-io=reactor"], &["--flux-workers=1", "--flux-io=proactor"]];

pub const GET: u8 = 0x00;
pub const SET: u8 = 0x01;
pub const QUIET_GET: u8 = 0x09;

/// Built with its peers in simulated worlds.
pub fn build(options: &[&str]) -> PathBuf {
    let program = built::examples().join("memcached_proxy/listing_1.flick");
    built::build(&program, &[built::tests().join("flick_backends/world.cpp")], &[&["--debug"], options].concat())
}

/// Before these, bound so.
pub fn start_before(program: &Path, backends: &[&Backend], bound: &str, loops: &[&str]) -> Server {
    let all: Vec<String> = backends.iter().map(|each| format!("127.0.0.1:{}", each.port)).collect();
    let mut command = Command::new(program);
    Server::listening(command.args(["--client=0", &format!("--backends={}; {bound}", all.join(", "))]).args(loops))
}

/// A server that answers each request with its opcode and its number, and its own name as the value.
pub fn start(name: &str) -> Backend {
    Backend::start(name, |client, state| answer_all(client, state, |_| state.name.clone().into_bytes()))
}

/// One that answers with the key; where that ends with an exclamation mark with much of it.
pub fn start_echo(name: &str) -> Backend {
    Backend::start(name, |client, state| answer_all(client, state, value_of))
}

/// What it answers.
pub fn value_of(key: &[u8]) -> Vec<u8> {
    key.repeat(if key.ends_with(b"!") { 2000 } else { 1 })
}

fn answer_all(mut client: &TcpStream, state: &State, value: impl Fn(&[u8]) -> Vec<u8>) {
    let mut head = [0; 24];
    while client.read_exact(&mut head).is_ok() {
        let mut body = vec![0; u32::from_be_bytes(head[8..12].try_into().unwrap()) as usize];
        if client.read_exact(&mut body).is_err() || !state.is_asked() {
            return;
        }
        let size = usize::from(u16::from_be_bytes([head[2], head[3]]));
        let key: Vec<u8> = body.into_iter().skip(usize::from(head[4])).take(size).collect();
        let value = value(&key);
        let mut reply = vec![0x81, head[1], 0, 0, 0, 0, 0, 0];
        reply.extend(u32::try_from(value.len()).unwrap().to_be_bytes());
        reply.extend(&head[12..16]);
        reply.extend([0; 8]);
        reply.extend(value);
        if client.write_all(&reply).is_err() {
            return;
        }
    }
}

/// A get or a set of nothing.
pub fn request_for(opcode: u8, opaque: u32, key: &str) -> Vec<u8> {
    let extras: &[u8] = if opcode == SET { &[0; 8] } else { &[] };
    request(opcode, opaque, 0, [extras, key.as_bytes(), &[]])
}

/// The reply to the request of this number; none where the connection has ended.
pub fn value_for(client: &mut TcpStream, opaque: u32) -> Option<Vec<u8>> {
    let mut head = [0; 24];
    client.read_exact(&mut head).ok()?;
    assert_eq!(opaque_of(&head), opaque, "the reply to another request");
    let mut value = vec![0; u32::from_be_bytes(head[8..12].try_into().unwrap()) as usize];
    client.read_exact(&mut value).ok()?;
    Some(value)
}

/// Asks once, and gives what was answered; none where the connection has ended.
pub fn ask(client: &mut TcpStream, opcode: u8, opaque: u32, key: &str) -> Option<String> {
    client.write_all(&request_for(opcode, opaque, key)).ok()?;
    value_for(client, opaque).map(|value| text(&value))
}

/// A new client, which asks once and leaves.
pub fn ask_once(server: &Server, opcode: u8, opaque: u32, key: &str) -> Option<String> {
    ask(&mut server.connect(), opcode, opaque, key)
}
