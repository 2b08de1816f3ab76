//! memcached itself, and its binary protocol, as tests speak it.

use super::{Server, free_port};
use std::io::Read as _;
use std::net::TcpStream;
use std::process::Command;

/// The opcode of a request that does nothing, and is answered.
pub const NO_OPERATION: u8 = 0x0a;

/// A memcached without its background threads: an item that one of them looks at just then is changed in another way.
pub fn server() -> Server {
    let port = free_port();
    let mut command = Command::new("memcached");
    command.args(["-u", "nobody", "-l", "127.0.0.1", "-t", "1", "-p", &port.to_string()]);
    command.args(["-o", "no_lru_crawler,no_lru_maintainer"]);
    let server = Server::start(&mut command, port);
    drop(server.connect());
    server
}

/// A request.
pub fn request(opcode: u8, opaque: u32, cas: u64, [extras, key, value]: [&[u8]; 3]) -> Vec<u8> {
    let size = u32::try_from(extras.len() + key.len() + value.len()).unwrap();
    let mut head = vec![0x80, opcode];
    head.extend(u16::try_from(key.len()).unwrap().to_be_bytes());
    head.extend([u8::try_from(extras.len()).unwrap(), 0, 0, 0]);
    head.extend(size.to_be_bytes());
    head.extend(opaque.to_be_bytes());
    head.extend(cas.to_be_bytes());
    [&head, extras, key, value].concat()
}

/// The next reply.
pub fn reply(from: &mut TcpStream) -> Vec<u8> {
    let mut reply = vec![0; 24];
    from.read_exact(&mut reply).unwrap();
    let size = u32::from_be_bytes(reply[8..12].try_into().unwrap()) as usize;
    reply.resize(24 + size, 0);
    from.read_exact(&mut reply[24..]).unwrap();
    reply
}

/// What the request had as its number.
pub fn opaque_of(reply: &[u8]) -> u32 {
    u32::from_be_bytes(reply[12..16].try_into().unwrap())
}

/// How many connections a memcached has beside that which asks.
pub fn connections(of: &Server) -> usize {
    let said = of.ask_and_end("stats\r\nquit\r\n");
    let count = said.lines().find_map(|line| line.strip_prefix("STAT curr_connections ")).unwrap();
    count.trim().parse().unwrap()
}
