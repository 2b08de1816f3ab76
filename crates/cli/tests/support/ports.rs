//! Ports for servers that cannot choose one and report it.

use rustix::fs::{FlockOperation, flock};
use std::fs::File;
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::sync::RwLock;
use std::sync::atomic::{AtomicU16, Ordering};

/// A port that no process uses. A lock on a file reserves it for this test program until the program ends. It lies
/// below the ports that the kernel gives to clients (`ip_local_port_range`), because a client could take one of those.
pub fn free_port() -> u16 {
    static TRIED: AtomicU16 = AtomicU16::new(0);
    static RESERVED: RwLock<Vec<File>> = RwLock::new(Vec::new());
    let folder = std::env::temp_dir().join("flux_test_ports");
    std::fs::create_dir_all(&folder).unwrap();
    let reserve = |port: &u16| {
        let Ok(file) = File::create(folder.join(port.to_string())) else { return false };
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            return false;
        }
        RESERVED.write().unwrap().push(file);
        TcpListener::bind((Ipv4Addr::UNSPECIFIED, *port)).is_ok()
            && UdpSocket::bind((Ipv4Addr::UNSPECIFIED, *port)).is_ok()
    };
    let first = u16::try_from(std::process::id() % 1_000).unwrap() * 12;
    let mut ports = (0..12_000).map(|_| 20_000 + (first + TRIED.fetch_add(1, Ordering::Relaxed)) % 12_000);
    ports.find(reserve).unwrap()
}
