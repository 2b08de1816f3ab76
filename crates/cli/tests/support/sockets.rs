//! The state of connections, read from the kernel (`proc_net_tcp(5)`). Tests wait for it when no program reports it.

use super::wait_for;
use std::net::TcpStream;

/// One end of a connection.
struct Connection {
    port: u16,
    peer: u16,
    /// 1: both ends are open.
    state: u8,
    /// The number of bytes that the peer's kernel has not acknowledged.
    under_way: u32,
}

/// All connections of this machine, with both ends of the local ones.
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

/// The number of connections to this port that both ends have open.
pub fn open_to(port: u16) -> usize {
    connections().iter().filter(|one| one.peer == port && one.state == 1).count()
}

/// Waits until the peer's kernel has received everything that was sent on these connections.
pub fn wait_until_sent<'a>(all: impl IntoIterator<Item = &'a TcpStream>) {
    for each in all {
        let (port, peer) = (each.local_addr().unwrap().port(), each.peer_addr().unwrap().port());
        wait_for("all that was sent", || {
            let sent = connections().into_iter().filter(|one| (one.port, one.peer) == (port, peer));
            (sent.map(|one| one.under_way).sum::<u32>() == 0).then_some(())
        });
    }
}

/// True while the peer, a process of this machine, has not closed this connection.
pub fn is_open_at_peer(one: &TcpStream) -> bool {
    let (port, peer) = (one.local_addr().unwrap().port(), one.peer_addr().unwrap().port());
    connections().iter().any(|other| (other.port, other.peer, other.state) == (peer, port, 1))
}
