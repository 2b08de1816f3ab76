//! A node that holds its event loop holds up none of those who come meanwhile: the other loop serves them. The nodes
//! here hold theirs in a system call that is not caught, until the test lets them go.

use crate::support;
use crate::support::{Server, flux, text};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;

const PROGRAM: &str = "
use std.tcp;
include \"string\";
option port : int = 7000;

source tcp.Listen(port) => Serve;
Serve = tcp.Read(100) -> Hold -> tcp.Send -> tcp.Return;
Hold (flux::connection *connection, std::string bytes) => (flux::connection *connection, std::string bytes);
";

/// Who sends the name of a gate is told that its flow waits there, and it does so with the loop. Who sends something
/// else is answered at once.
const NODES: &str = "
#include \"held.flux.h\"
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

int Hold(Hold_in *in, Hold_out *out)
{
    out->connection = in->connection;
    out->bytes = in->bytes;
    if (in->bytes.rfind(\"gate\", 0) == 0) {
        in->connection->send(\"held \");
        in->connection->flush();
        close(static_cast<int>(syscall(SYS_openat, AT_FDCWD, in->bytes.c_str(), O_RDONLY)));
    }
    return 0;
}
";

/// Sends back what its client sends, for as long as that stays.
const STAYING: &str = "
use std.tcp;
option port : int = 7000;

source tcp.Accept(port) => Stay;
Stay (flux::connection *connection) => ();
";

const STAYING_NODES: &str = "
#include \"held.flux.h\"
#include <array>
#include <span>

int Stay(Stay_in *in)
{
    std::array<std::byte, 100> bytes;
    for (auto count = in->connection->receive(bytes); count.has_value() && *count != 0;
         count = in->connection->receive(bytes)) {
        in->connection->send({reinterpret_cast<const char *>(bytes.data()), *count});
    }
    in->connection->close();
    return 0;
}
";

fn build(folder: &Path, program: &str, nodes: &str) -> PathBuf {
    std::fs::write(folder.join("held.flux"), program).unwrap();
    std::fs::write(folder.join("nodes.cpp"), nodes).unwrap();
    let built = flux(folder, &["build", "--debug", "held.flux"]);
    assert!(built.status.success(), "{}", text(&built.stderr));
    folder.join("build/held/held")
}

/// Two loops, by this I/O.
fn start(server: &Path, folder: &Path, io: &str, flags: &[&str]) -> Server {
    let mut command = Command::new(server);
    command.args(["--port=0", &format!("--flux-io={io}")]).args(flags);
    command.args(["--flux-runtime=event", "--flux-workers=2"]).current_dir(folder);
    Server::listening(&mut command)
}

/// Asks; the answer is read later.
fn ask(server: &Server, request: &str) -> TcpStream {
    let mut connection = server.connect();
    connection.write_all(request.as_bytes()).unwrap();
    connection
}

/// This is the next that comes.
fn expect(connection: &mut TcpStream, answer: &str) {
    let mut said = vec![0; answer.len()];
    connection.read_exact(&mut said).unwrap();
    assert_eq!(text(&said), answer);
}

/// Has a flow hold its loop at this gate. Its connection is an old one, so that the loop waits for new ones meanwhile.
fn hold(server: &Server, folder: &Path, gate: &str) -> TcpStream {
    make_gate(folder, gate);
    let mut held = ask(server, "first");
    expect(&mut held, "first");
    held.write_all(gate.as_bytes()).unwrap();
    expect(&mut held, "held ");
    held
}

fn make_gate(folder: &Path, gate: &str) {
    assert!(Command::new("mkfifo").arg(gate).current_dir(folder).status().unwrap().success());
}

/// The flow that waits there goes on.
fn open_gate(folder: &Path, gate: &str) {
    drop(std::fs::OpenOptions::new().write(true).open(folder.join(gate)).unwrap());
}

#[test]
fn who_comes_while_a_loop_is_held_is_served_by_the_other() {
    let folder = support::folder("held_loops", "both");
    let held = build(&folder, PROGRAM, NODES);
    for io in ["reactor", "proactor"] {
        let mut server = start(&held, &folder, io, &[]);
        let gate = |number: u32| format!("gate-{io}-{number}");

        let first = hold(&server, &folder, &gate(1));
        for number in 0..20 {
            // The loop comes to rest in between, as only then the kernel may wake the one that is held instead.
            server.rest();
            expect(&mut ask(&server, &format!("{number}")), &format!("{number}"));
        }

        // With both loops held, many come at once; the first of them holds the loop that accepts it.
        let second = hold(&server, &folder, &gate(2));
        make_gate(&folder, &gate(3));
        let mut third = ask(&server, &gate(3));
        let others: Vec<TcpStream> = (0..20).map(|number| ask(&server, &format!("{number}"))).collect();
        open_gate(&folder, &gate(1));
        expect(&mut third, "held ");
        open_gate(&folder, &gate(2));
        for (number, mut other) in others.into_iter().enumerate() {
            expect(&mut other, &format!("{number}"));
        }
        open_gate(&folder, &gate(3));
        for (mut held, number) in [(first, 1), (second, 2), (third, 3)] {
            expect(&mut held, &gate(number));
        }
        server.terminate();
        assert!(server.wait().success(), "{io}");
    }
}

#[test]
fn a_loop_that_has_all_the_flows_it_may_have_leaves_newcomers_to_the_other() {
    let folder = support::folder("held_loops", "full");
    let staying = build(&folder, STAYING, STAYING_NODES);
    for io in ["reactor", "proactor"] {
        // One for each loop.
        let mut server = start(&staying, &folder, io, &["--flux-max-flows=2"]);
        let mut first = ask(&server, "first");
        expect(&mut first, "first");
        for _ in 0..10 {
            let mut second = ask(&server, "second");
            expect(&mut second, "second");
            drop(second);
            // The kernel may tell the loop of this one that has the first.
            server.rest();
        }
        drop(first);
        server.terminate();
        assert!(server.wait().success(), "{io}");
    }
}
