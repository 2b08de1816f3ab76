//! A server behind a service in the network: it counts who asks it, and holds its answers and falls when it is told to.

use super::{free_port, wait_for};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, RwLock};
use std::time::Duration;

/// Such a server.
pub struct Backend {
    pub port: u16,
    pub state: Arc<State>,
    /// Answers all that a client asks.
    answer_all: fn(&TcpStream, &State),
}

/// What it has come to, and what it was told.
#[derive(Default)]
pub struct State {
    /// What it answers.
    pub name: String,
    /// How many have connected, and how many requests there were.
    connections: AtomicUsize,
    requests: AtomicUsize,
    /// So many requests are not answered: their connections end.
    pub drops: AtomicUsize,
    /// Nothing is answered meanwhile.
    pub holds: AtomicBool,
    is_down: AtomicBool,
    open: RwLock<Vec<TcpStream>>,
}

impl State {
    /// A request has come: whether it is answered, which may take until it is told so.
    pub fn is_asked(&self) -> bool {
        self.requests.fetch_add(1, SeqCst);
        while self.holds.load(SeqCst) {
            std::thread::sleep(Duration::from_millis(1));
        }
        self.drops.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).is_err()
    }

    /// How many have come.
    pub fn requests(&self) -> usize {
        self.requests.load(SeqCst)
    }
}

impl Backend {
    pub fn start(name: &str, answer_all: fn(&TcpStream, &State)) -> Self {
        // Its own while it is down, too.
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, free_port())).unwrap();
        let state = Arc::new(State { name: name.to_owned(), ..State::default() });
        let backend = Self { port: listener.local_addr().unwrap().port(), state, answer_all };
        backend.serve(listener);
        backend
    }

    fn serve(&self, listener: TcpListener) {
        let (state, answer_all) = (Arc::clone(&self.state), self.answer_all);
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                if state.is_down.load(SeqCst) {
                    return;
                }
                state.connections.fetch_add(1, SeqCst);
                state.open.write().unwrap().push(client.try_clone().unwrap());
                let state = Arc::clone(&state);
                std::thread::spawn(move || {
                    answer_all(&client, &state);
                    let _ = client.shutdown(Shutdown::Both);
                });
            }
        });
    }

    /// Nobody can connect, and all who have are reset or come to their end.
    pub fn fall(&self) {
        self.state.is_down.store(true, SeqCst);
        // The thread that accepts looks, and ends.
        drop(TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)));
        wait_for("a server that is down", || TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).err());
        self.end_connections();
    }

    pub fn rise(&self) {
        self.state.is_down.store(false, SeqCst);
        self.serve(wait_for("its port", || TcpListener::bind((Ipv4Addr::LOCALHOST, self.port)).ok()));
    }

    pub fn end_connections(&self) {
        self.state.open.write().unwrap().drain(..).for_each(|each| drop(each.shutdown(Shutdown::Both)));
    }

    pub fn hold(&self, holds: bool) {
        self.state.holds.store(holds, SeqCst);
    }

    pub fn connections(&self) -> usize {
        self.state.connections.load(SeqCst)
    }

    pub fn requests(&self) -> usize {
        self.state.requests()
    }
}
