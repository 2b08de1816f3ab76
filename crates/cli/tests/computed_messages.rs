//! A server whose bodies read and make messages, without a line of C++, from its text to the bytes that it answers,
//! under everything that can run flows.

use crate::support;
use crate::support::{LIMIT, Server};
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::process::Command;

/// A message of memcached's binary protocol without extras and without a key.
fn command(magic: u8, opcode: u8, status: u16, opaque: u32, value: &str) -> Vec<u8> {
    let size = u32::try_from(value.len()).unwrap();
    let head = [&[magic, opcode, 0, 0, 0, 0][..], &status.to_be_bytes(), &size.to_be_bytes(), &opaque.to_be_bytes()];
    [head.concat(), vec![0; 8], value.as_bytes().to_vec()].concat()
}

#[test]
fn a_server_of_messages_needs_no_cpp() {
    let program = support::build_own("computed_messages", "version", &[]);
    let asked = [command(0x80, 0x0b, 0, 7, ""), command(0x80, 0x0a, 0, 8, ""), command(0x80, 0x55, 0, 9, "")].concat();
    let wanted = [
        command(0x81, 0x0b, 0, 7, "1.0"),
        command(0x81, 0x0a, 0, 8, ""),
        command(0x81, 0x55, 0x81, 9, "Unknown command"),
    ];
    for runtime in ["thread", "pool", "event"] {
        let server = Server::listening(Command::new(&program).arg(format!("--flux-runtime={runtime}")));
        // Whole, and byte by byte.
        for step in [asked.len(), 1] {
            let mut client = TcpStream::connect((Ipv4Addr::LOCALHOST, server.port)).unwrap();
            client.set_read_timeout(Some(LIMIT)).unwrap();
            client.set_nodelay(true).unwrap();
            asked.chunks(step).for_each(|part| client.write_all(part).unwrap());
            let mut given = vec![0; wanted.concat().len()];
            client.read_exact(&mut given).unwrap();
            assert_eq!(given, wanted.concat(), "{runtime}, {step} bytes at once");
        }
    }
}
