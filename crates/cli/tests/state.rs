//! State that Flux keeps, in a server: what flows change at once is exact, what a failed atomic node has changed is
//! undone, and who looks at all of a state sees no change half done. Under everything that can run flows.

use crate::support;
use crate::support::{RUNTIMES, Server};
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

const ACCOUNTS: u32 = 6;
const CENTS: i64 = 1000;

/// The server, built once.
fn accounts() -> &'static Path {
    static ONCE: OnceLock<PathBuf> = OnceLock::new();
    ONCE.get_or_init(|| {
        let sources = support::built::tests().join("state");
        support::built::build(&sources.join("accounts.flux"), &[sources.join("parse.cpp")], &["--debug"])
    })
}

struct Client(BufReader<TcpStream>);

impl Client {
    fn of(server: &Server) -> Self {
        Self(BufReader::new(server.connect()))
    }

    fn ask(&mut self, line: &str) -> String {
        self.0.get_ref().write_all(format!("{line}\n").as_bytes()).unwrap();
        let mut answer = String::new();
        self.0.read_line(&mut answer).unwrap();
        answer.trim_end().to_owned()
    }
}

/// Moves money between accounts, one in seven of which is not there.
fn move_money(server: &Server, seed: u32) {
    let mut client = Client::of(server);
    let mut random = seed.wrapping_mul(2_654_435_761);
    for _ in 0..100 {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let (from, to) = ((random >> 8) % ACCOUNTS, (random >> 20) % (ACCOUNTS + 1));
        let answer = client.ask(&format!("move {from} {to} {}", random % 50));
        match to == ACCOUNTS {
            true => assert!(answer.starts_with("no, and there are "), "{answer}"),
            false => assert_eq!(answer, "fine"),
        }
    }
}

#[test]
fn money_is_neither_made_nor_lost() {
    for runtime in RUNTIMES {
        let server = Server::listening(Command::new(accounts()).args(runtime));
        let mut looks = Client::of(&server);
        for account in 0..ACCOUNTS {
            assert_eq!(looks.ask(&format!("put {account} 0 {CENTS}")), "fine", "{runtime:?}");
        }
        let all = (i64::from(ACCOUNTS) * CENTS).to_string();
        std::thread::scope(|scope| {
            let movers: Vec<_> = (1..=5)
                .map(|seed| {
                    scope.spawn({
                        let server = &server;
                        move || move_money(server, seed)
                    })
                })
                .collect();
            while !movers.iter().all(|mover| mover.is_finished()) {
                assert_eq!(looks.ask("sum 0 0 0"), all, "{runtime:?}: a move is seen half done");
            }
        });
        assert_eq!(looks.ask("sum 0 0 0"), all, "{runtime:?}");
    }
}

#[test]
fn what_an_atomic_node_that_fails_has_changed_is_undone() {
    for runtime in RUNTIMES {
        let server = Server::listening(Command::new(accounts()).args(runtime));
        let mut client = Client::of(&server);
        assert_eq!(client.ask("put 1 0 100"), "fine");
        // The handler begins with what there was before.
        assert_eq!(client.ask("move 1 2 30"), "no, and there are 100", "{runtime:?}");
        assert_eq!(client.ask("sum 0 0 0"), "100");
        assert_eq!(client.ask("put 2 0 5"), "fine");
        assert_eq!(client.ask("move 1 2 30"), "fine");
        assert_eq!(client.ask("move 1 1 30"), "fine", "one account, which is held once");
        assert_eq!(client.ask("move 2 9 1"), "no, and there are 35", "{runtime:?}");
        assert_eq!(client.ask("sum 0 0 0"), "105");
    }
}
