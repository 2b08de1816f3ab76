//! What the kernel knows of connections (`proc_net_tcp(5)`): tests wait for that, where neither end of one says it.

use super::wait_for;
use std::net::TcpStream;

/// A connection as one of its ends has it.
struct Connection {
    port: u16,
    peer: u16,
    /// Its state, of which 1 is that both ends are open.
    state: u8,
    /// How many bytes the peer's kernel has not acknowledged.
    under_way: u32,
}

/// All connections of this machine. Both ends of one are here where both are of this machine.
fn connections() -> Vec<Connection> {
    let read = |file: &str| std::fs::read_to_string(file).unwrap_or_default();
    let all = read("/proc/net/tcp") + &read("/proc/net/tcp6");
    all.lines().filter_map(connection).collect()
}

fn connection(line: &str) -> Option<Connection> {
    let mut fields = line.split_whitespace().skip(1);
    let mut port = || u16::from_str_radix(fields.next()?.rsplit_once(':')?.1, 16).ok();
    let (port, peer) = (port()?, port()?);
    let state = u8::from_str_radix(fields.next()?, 16).ok()?;
    let under_way = u32::from_str_radix(fields.next()?.split_once(':')?.0, 16).ok()?;
    Some(Connection { port, peer, state, under_way })
}

/// How many open connections there are to this port, as those have it who have connected. One whose other end is
/// closed is not open.
pub fn open_to(port: u16) -> usize {
    connections().iter().filter(|one| one.peer == port && one.state == 1).count()
}

/// Waits until the peer's kernel has all that was sent over these connections.
pub fn wait_until_sent<'a>(all: impl IntoIterator<Item = &'a TcpStream>) {
    for each in all {
        let (port, peer) = (each.local_addr().unwrap().port(), each.peer_addr().unwrap().port());
        wait_for("all that was sent", || {
            let sent = connections().into_iter().filter(|one| (one.port, one.peer) == (port, peer));
            (sent.map(|one| one.under_way).sum::<u32>() == 0).then_some(())
        });
    }
}

/// Whether the peer, a process of this machine, has this connection open.
pub fn is_open_at_peer(one: &TcpStream) -> bool {
    let (port, peer) = (one.local_addr().unwrap().port(), one.peer_addr().unwrap().port());
    connections().iter().any(|other| (other.port, other.peer, other.state) == (peer, port, 1))
}
