//! FLICK through the command: what it checks and lays out, and the services of `examples` between real clients and real
//! servers, on event loops with both kinds of I/O.

use crate::support;
use crate::support::memcached::{self, NO_OPERATION, opaque_of, request};
use crate::support::{Server, flux, folder, free_port, text};
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Both kinds of I/O; processes run on event loops alone.
const LOOPS: [&[&str]; 2] = [&["--flux-workers=2", "--flux-io=reactor"], &["--flux-workers=2", "--flux-io=proactor"]];

const SHOP: &str = "\
use \"proxy.flick\";
use std.memcached;
record entry { first : proxy.kv; };
Is (entry of) => (bool is) { is = proxy.is_long(of.first.key); };
Make () => (int n);
End (int n) => ();
source Make => End;
";

/// What is global is one for all instances, on all loops; and the servers of an array have addresses of their own.
const COUNTS: &str = "\
type word : record
  text : string

type line : record
  text : string

global words : integer = 0
global size : integer = 0

proc Words : (word/line client, [-/word] servers)
  | client => count(words, size, client, servers)

fun count : (ref words : integer, ref size : integer, -/line client, [-/word] servers, asked : word) -> ()
  words := words + 1
  size := size + len(asked.text)
  line(string(words) + \" \" + string(size) + \" \" + peer(servers[words mod 2])) => client
";

/// The rule for `client` computes for long, so that its loop has others go first; what it has read of its state by then
/// is still right. What it adds is 0 if folds from empty lists give what they should.
const LONG: &str = "\
type word : record
  text : string

type line : record
  text : string

proc Long : (word/line client, [word/word] servers)
  local seen : integer = 0
  | client => ask(seen, servers)
  | servers => answer(seen, client)

fun ask : (ref seen : integer, [-/word] servers, asked : word) -> ()
  seen := seen + 1 + nothing()
  asked => servers[0]

fun answer : (ref seen : integer, -/line client, given : word) -> ()
  seen := seen + 1
  line(string(seen)) => client

fun nothing : () -> (integer)
  let none : [integer] = []
  let turned = fold on [1, 2, 3] from [] as acc, x: [x] + acc
  let distinct = fold on [4, 5, 4] from [] as acc, x: if x in acc: acc else: acc + [x]
  len(none) + turned[0] - 3 + distinct[1] - 5 + len(distinct) - 2 + slow()

fun slow : () -> (integer)
  let xs = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
  fold on xs from 0 as all, x:
    all + fold on xs from 0 as some, y:
      some + fold on xs from x as few, z: few + y + z
";

#[test]
fn a_program_is_checked_laid_out_and_drawn() {
    let folder = folder("flick", "command");
    let listing = std::fs::read_to_string(examples().join("memcached_proxy/listing_1.flick")).unwrap();
    let file = folder.join("proxy.flick");
    std::fs::write(&file, &listing).unwrap();
    let said = |arguments: &[&str]| {
        let output = flux(&folder, arguments);
        (output.status.success(), text(&output.stdout) + &text(&output.stderr))
    };
    assert!(said(&["check", "proxy.flick"]).1.starts_with("proxy.flick: no errors"));
    assert_eq!(said(&["fmt", "--check", "proxy.flick"]), (true, String::new()));
    let (success, drawn) = said(&["graph", "proxy.flick"]);
    assert!(success && drawn.contains("Memcached_client"), "{drawn}");

    std::fs::write(&file, listing.replace("req.key", "req . opcode")).unwrap();
    for command in ["check", "build"] {
        let (success, printed) = said(&[command, "proxy.flick"]);
        assert!(!success && printed.contains("the record `cmd` shows no field `opcode`"), "{command}: {printed}");
    }
    assert!(!said(&["fmt", "--check", "proxy.flick"]).0);

    // Records and functions of FLICK are those of the model, which programs in .flux use.
    let module = "type kv : record\n  key : string\nfun is_long : (key : string) -> (bool)\n  len(key) > 10\n";
    std::fs::write(&file, module).unwrap();
    std::fs::write(folder.join("shop.flux"), SHOP).unwrap();
    let (success, printed) = said(&["check", "shop.flux"]);
    assert!(success, "{printed}");
}

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

/// A service of the examples, built once.
fn service(once: &'static OnceLock<PathBuf>, folder: &str, name: &str) -> &'static Path {
    once.get_or_init(|| {
        support::built::build(&examples().join(folder).join(name).with_extension("flick"), &[], &["--debug"])
    })
}

fn addresses(of: &[Server]) -> String {
    of.iter().map(|server| format!("127.0.0.1:{}", server.port)).collect::<Vec<_>>().join(",")
}

/// The proxy before these.
fn proxy(backends: &[Server], loops: &[&str]) -> Server {
    static ONCE: OnceLock<PathBuf> = OnceLock::new();
    let mut command = Command::new(service(&ONCE, "memcached_proxy", "proxy"));
    command.args(["--client=0", &format!("--backends={}", addresses(backends))]).args(loops);
    Server::listening(&mut command)
}

/// The next reply, without the version of the item, of which each memcached has its own.
fn reply(from: &mut TcpStream) -> Vec<u8> {
    let mut reply = memcached::reply(from);
    reply[16..24].fill(0);
    reply
}

/// Requests of each kind on many keys, many of them sent at once; to one memcached, and to the proxy before three.
#[test]
fn a_proxy_answers_as_one_memcached_does() {
    for loops in LOOPS {
        let backends = [memcached::server(), memcached::server(), memcached::server()];
        let (theirs, ours) = (memcached::server(), proxy(&backends, loops));
        let mut connections = [theirs.connect(), ours.connect()];
        for batch in 0..60_u32 {
            let first = batch * 100;
            let of = |at: u32| {
                let (key, number) = (format!("key {}", (at * 7) % 23), at.to_string());
                let change = [&1_u64.to_be_bytes()[..], &5_u64.to_be_bytes(), &[0; 4]].concat();
                let number_key = format!("number {}", at % 5);
                match at % 7 {
                    0 | 1 => request(0x01, at, 0, [&[0; 8], key.as_bytes(), number.as_bytes()]),
                    2 => request(0x04, at, 0, [&[], key.as_bytes(), &[]]),
                    3 => request(0x05, at, 0, [&change, number_key.as_bytes(), &[]]),
                    // Quietly, with the key.
                    4 => request(0x0d, at, 0, [&[], key.as_bytes(), &[]]),
                    _ => request(0x00, at, 0, [&[], key.as_bytes(), &[]]),
                }
            };
            let count = if batch % 2 == 0 { 1 } else { 40 };
            let mut sent: Vec<u8> = (first..first + count).flat_map(of).collect();
            sent.extend(request(NO_OPERATION, first + 99, 0, [&[], &[], &[]]));
            let [wanted, given] = connections.each_mut().map(|connection| {
                connection.write_all(&sent).unwrap();
                let mut all = vec![reply(connection)];
                while all.last().is_some_and(|last| opaque_of(last) != first + 99) {
                    all.push(reply(connection));
                }
                // Of two keys the replies come from two memcacheds.
                all.sort_by_key(|one| opaque_of(one));
                all
            });
            assert_eq!(wanted, given, "{loops:?}: batch {batch}");
        }
        let items: usize = backends.iter().map(|backend| usize::from(has_items(backend))).sum();
        assert_eq!(items, 3, "each has some of the keys");
    }
}

fn has_items(of: &Server) -> bool {
    !of.ask_and_end("stats\r\nquit\r\n").contains("curr_items 0\r")
}

#[test]
fn the_clients_of_memcached_are_content_with_the_proxy() {
    let files = folder("flick", "values");
    for loops in LOOPS {
        let backends = [memcached::server(), memcached::server()];
        let server = proxy(&backends, loops);
        let client = |name: &str, arguments: &[&str]| {
            let address = format!("--servers=127.0.0.1:{}", server.port);
            let mut command = Command::new(name);
            let output = command.args(["--binary", &address]).args(arguments).current_dir(&files).output();
            let output = output.expect("the clients of memcached: apt-get install libmemcached-tools");
            (output.status.success(), text(&output.stdout))
        };
        let words = ["one", "two", "three", "four", "five"];
        for word in words {
            std::fs::write(files.join(word), format!("the word {word}")).unwrap();
        }
        assert!(client("memccp", &words).0, "{loops:?}");
        let all: String = words.iter().map(|word| format!("the word {word}\n")).collect();
        assert_eq!(client("memccat", &words), (true, all), "{loops:?}: all at once");
        assert!(client("memcrm", &["two"]).0 && !client("memcexist", &["two"]).0, "{loops:?}");
        assert!(client("memcflush", &[]).0 && !client("memcexist", &["one"]).0, "{loops:?}: of both backends");
        let mut capable = Command::new("memccapable");
        let said = capable.args(["-b", "-h", "127.0.0.1", "-p", &server.port.to_string()]).output().unwrap();
        assert!(said.status.success(), "{loops:?}: {}", text(&said.stdout));
    }
}

/// What no client of its kind sends ends that client alone; where a backend ends so do the clients that it has.
#[test]
fn mistakes_and_ends_are_of_those_who_have_them() {
    for loops in LOOPS {
        let mut backends = [memcached::server()];
        let server = proxy(&backends, loops);
        let mut good = server.connect();
        good.write_all(&request(NO_OPERATION, 1, 0, [&[]; 3])).unwrap();
        assert_eq!(opaque_of(&reply(&mut good)), 1);

        let mut bad = server.connect();
        bad.write_all(b"this is no message of memcached").unwrap();
        let mut rest = vec![];
        let _ = bad.read_to_end(&mut rest);
        assert!(rest.is_empty(), "{loops:?}");

        // One that ends what it sends has its answers.
        let mut half = server.connect();
        half.write_all(&request(NO_OPERATION, 2, 0, [&[]; 3])).unwrap();
        half.shutdown(Shutdown::Write).unwrap();
        assert_eq!(opaque_of(&reply(&mut half)), 2, "{loops:?}");
        assert_eq!(half.read(&mut [0]).unwrap(), 0, "{loops:?}");

        good.write_all(&request(NO_OPERATION, 3, 0, [&[]; 3])).unwrap();
        assert_eq!(opaque_of(&reply(&mut good)), 3, "{loops:?}: the others go on");
        backends[0].terminate();
        backends[0].wait();
        let _ = good.read_to_end(&mut rest);
        assert!(rest.is_empty(), "{loops:?}: its backend has ended");
    }
}

/// The memory of a process that is in use, in bytes (`proc_pid_status(5)`).
fn memory_of(server: &Server) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse::<usize>().unwrap() * 1024
}

/// Each of these has a connection to the backend, which ends with it, and takes no memory of the others meanwhile.
#[test]
fn clients_that_do_not_read_do_not_end_what_they_say_or_die_keep_nothing() {
    const LARGE: usize = 300_000;
    const CLIENTS: usize = 60;
    for loops in LOOPS {
        let backends = [memcached::server()];
        let before = memcached::connections(&backends[0]);
        let limits = ["--tcp-request=10s", "--tcp-message=10s"];
        let server = proxy(&backends, &[loops, &limits].concat());
        let mut good = server.connect();
        good.write_all(&request(0x01, 1, 0, [&[0; 8], b"large", &vec![b'x'; LARGE]])).unwrap();
        reply(&mut good);
        let memory = memory_of(&server);

        let asks: Vec<u8> = (0..20).flat_map(|at| request(0x00, at, 0, [&[], b"large", &[]])).collect();
        let mut bad: Vec<TcpStream> = (0..CLIENTS).map(|_| server.connect()).collect();
        for (at, client) in bad.iter_mut().enumerate() {
            // A third of them says no more in the middle of a message.
            client.write_all(if at % 3 == 0 { &asks[..asks.len() - 3] } else { &asks }).unwrap();
        }
        // Every second is killed: what it was sent is unread, so its connection is reset.
        bad = bad.into_iter().step_by(2).collect();
        for at in 0..20 {
            good.write_all(&request(0x00, at, 0, [&[], b"large", &[]])).unwrap();
            assert_eq!(opaque_of(&reply(&mut good)), at, "{loops:?}: the others are served");
        }
        // Each has one message that waits for it, and a part of the next, of the twenty that it asked for.
        let taken = memory_of(&server).saturating_sub(memory);
        assert!(taken < CLIENTS * 2 * LARGE, "{loops:?}: {taken} bytes");
        support::wait_for("the backend to be left", || {
            good.write_all(&request(NO_OPERATION, 9, 0, [&[]; 3])).unwrap();
            reply(&mut good);
            (memcached::connections(&backends[0]) <= before + 1).then_some(())
        });
    }
}

/// An nginx that says which it is, and has a large file.
fn nginx(home: &Path, name: &str) -> Server {
    let port = free_port();
    let folder = home.join(name);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("large"), name.repeat(300_000)).unwrap();
    let configuration = format!(
        "daemon off; master_process off; pid {0}/pid; error_log /dev/null;
events {{ worker_connections 512; }}
http {{ access_log off; client_body_temp_path {0}/body; proxy_temp_path {0}/proxy; fastcgi_temp_path {0}/fastcgi;
uwsgi_temp_path {0}/uwsgi; scgi_temp_path {0}/scgi; client_max_body_size 100m;
server {{ listen 127.0.0.1:{port}; root {0}; location = / {{ return 200 \"{name}\\n\"; }} }} }}",
        folder.display()
    );
    let file = folder.join("nginx.conf");
    std::fs::write(&file, configuration).unwrap();
    let mut command = Command::new("/usr/sbin/nginx");
    let server = Server::start(command.args(["-e", "/dev/null", "-g", "user root;", "-c"]).arg(&file), port);
    drop(server.connect());
    server
}

#[test]
fn a_balancer_gives_each_client_one_server() {
    static ONCE: OnceLock<PathBuf> = OnceLock::new();
    let home = folder("flick", "nginx");
    for loops in LOOPS {
        let servers = [nginx(&home, "first"), nginx(&home, "second")];
        let mut command = Command::new(service(&ONCE, "balancer", "balancer"));
        command.args(["--client=127.0.0.1:0", &format!("--servers={}", addresses(&servers))]).args(loops);
        let balancer = Server::listening(&mut command);
        let curl = |arguments: &[&str], path: &str| {
            let url = format!("http://127.0.0.1:{}{path}", balancer.port);
            let output =
                Command::new("curl").args(["-s", "--max-time", "20"]).args(arguments).arg(url).output().unwrap();
            text(&output.stdout)
        };
        let mut seen = vec![];
        for _ in 0..12 {
            let said = curl(&[], "/");
            assert!(said == "first\n" || said == "second\n", "{loops:?}: {said}");
            seen.push(said);
        }
        assert!(seen.contains(&"first\n".to_owned()) && seen.contains(&"second\n".to_owned()), "{seen:?}");
        // On one connection it is always the same.
        let mut one = balancer.connect();
        let mut answers = String::new();
        for _ in 0..5 {
            one.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
        }
        one.shutdown(Shutdown::Write).unwrap();
        one.read_to_string(&mut answers).unwrap();
        let bodies: Vec<&str> = answers.lines().filter(|line| ["first", "second"].contains(line)).collect();
        assert!(bodies.len() == 5 && bodies.iter().all(|body| body == &bodies[0]), "{loops:?}: {answers}");

        let large = curl(&[], "/large");
        assert!(large == "first".repeat(300_000) || large == "second".repeat(300_000), "{loops:?}");
        assert!(curl(&["-I"], "/").starts_with("HTTP/1.1 200"), "{loops:?}: an answer without a body");
        let sent = curl(&["-d", &"x".repeat(100_000)], "/large");
        assert!(sent.contains("405 Not Allowed"), "{loops:?}: a request with a body: {sent}");
    }
}

/// A record of one string.
fn line(from: &mut TcpStream) -> String {
    let mut size = [0; 4];
    from.read_exact(&mut size).unwrap();
    let mut line = vec![0; u32::from_be_bytes(size) as usize];
    from.read_exact(&mut line).unwrap();
    text(&line)
}

/// What the program that counts answers: how many words there were, their bytes, and an address.
fn counts(connection: &mut TcpStream) -> (usize, usize, String) {
    let line = line(connection);
    let parts: Vec<&str> = line.split(' ').collect();
    (parts[0].parse().unwrap(), parts[1].parse().unwrap(), parts[2].to_owned())
}

/// A program of this text, built.
fn built(name: &str, program: &str) -> PathBuf {
    let home = folder("flick", name);
    let file = format!("{name}.flick");
    std::fs::write(home.join(&file), program).unwrap();
    let said = flux(&home, &["build", "--debug", &file, "--build-dir", "build", "-o", name]);
    assert!(said.status.success(), "{}", text(&said.stderr));
    home.join(name)
}

/// Says what it is told, to each who connects.
fn echo() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut client in listener.incoming().map_while(Result::ok) {
            std::thread::spawn(move || std::io::copy(&mut client.try_clone().unwrap(), &mut client));
        }
    });
    port
}

#[test]
fn state_is_right_where_a_rule_computes_for_long() {
    const WORDS: usize = 300;
    let (program, servers) = (built("long", LONG), format!("--servers=127.0.0.1:{}", echo()));
    for loops in LOOPS {
        let server = Server::listening(Command::new(&program).args(["--client=0", &servers]).args(loops));
        let mut client = server.connect();
        client.write_all(&b"\0\0\0\x03abc".repeat(WORDS)).unwrap();
        let seen: Vec<usize> = (0..WORDS).map(|_| line(&mut client).parse().unwrap()).collect();
        assert_eq!(seen.last(), Some(&(2 * WORDS)), "{loops:?}: each word was counted twice");
        assert!(seen.is_sorted_by(|one, next| one < next), "{loops:?}");
    }
}

#[test]
fn what_is_global_is_one_on_all_loops() {
    const CLIENTS: usize = 8;
    const WORDS: usize = 500;
    let built = built("counts", COUNTS);
    for loops in LOOPS {
        let mut command = Command::new(&built);
        let server = Server::listening(command.args(["--client=0", "--servers=127.0.0.1:1,127.0.0.1:2"]).args(loops));
        let mut seen: Vec<(usize, usize, String)> = std::thread::scope(|scope| {
            let clients: Vec<_> = (0..CLIENTS)
                .map(|_| {
                    scope.spawn(|| {
                        let mut client = server.connect();
                        let mut seen = vec![];
                        for _ in 0..WORDS {
                            client.write_all(b"\0\0\0\x03abc").unwrap();
                            seen.push(counts(&mut client));
                        }
                        seen
                    })
                })
                .collect();
            clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
        });
        seen.sort();
        for (before, (words, bytes, peer)) in seen.iter().enumerate() {
            assert_eq!(
                (*words, *bytes),
                (before + 1, 3 * (before + 1)),
                "{loops:?}: none is lost, both change together"
            );
            assert_eq!(*peer, format!("127.0.0.1:{}", words % 2 + 1), "{loops:?}");
        }
        assert_eq!(seen.len(), CLIENTS * WORDS);
    }
}

/// What goes over the wire of a word and its number.
fn counted(word: &str, times: i64) -> Vec<u8> {
    let size = u32::try_from(word.len()).unwrap();
    [&size.to_be_bytes()[..], word.as_bytes(), &times.to_be_bytes()].concat()
}

/// An aggregator before a reducer, for so many mappers.
fn aggregator(mappers: usize, loops: &[&str]) -> (Server, TcpListener) {
    static ONCE: OnceLock<PathBuf> = OnceLock::new();
    let reducer = TcpListener::bind("127.0.0.1:0").unwrap();
    let to = format!("--reducer=connect:127.0.0.1:{}", reducer.local_addr().unwrap().port());
    let mut command = Command::new(service(&ONCE, "word_count", "word_count"));
    (Server::listening(command.args([&format!("--mappers=0*{mappers}"), &to]).args(loops)), reducer)
}

/// All that the reducer is sent until its end.
fn reduced(reducer: &TcpListener) -> Vec<u8> {
    let mut all = vec![];
    let _ = reducer.accept().unwrap().0.read_to_end(&mut all);
    all
}

#[test]
fn an_aggregator_merges_and_sums() {
    for loops in LOOPS {
        let (server, reducer) = aggregator(5, loops);
        for round in 0..3_i64 {
            let mut wanted = std::collections::BTreeMap::new();
            let mappers: Vec<Vec<u8>> = (0..5_i64)
                .map(|mapper| {
                    // The last mapper of the last round has nothing to send.
                    let words = if round == 2 && mapper == 4 { 0 } else { 3_000 };
                    let words = (0..words).filter(|word| (word * 7 + mapper * 3 + round) % 4 != 0);
                    let pairs = words.map(|word| (format!("word {word:06}"), word % 10 + mapper));
                    pairs
                        .flat_map(|(word, times)| {
                            *wanted.entry(word.clone()).or_insert(0) += times;
                            counted(&word, times)
                        })
                        .collect()
                })
                .collect();
            let sent = std::thread::scope(|scope| {
                for bytes in &mappers {
                    let server = &server;
                    scope.spawn(move || {
                        let mut mapper = server.connect();
                        // In pieces that end anywhere.
                        bytes.chunks(1_021).for_each(|piece| mapper.write_all(piece).unwrap());
                        mapper.shutdown(Shutdown::Write).unwrap();
                        let _ = mapper.read(&mut [0]);
                    });
                }
                reduced(&reducer)
            });
            let wanted: Vec<u8> = wanted.iter().flat_map(|(word, times)| counted(word, *times)).collect();
            assert!(sent == wanted, "{loops:?}: round {round}: {} bytes and not {}", sent.len(), wanted.len());
        }
    }
}

/// Before anything has come, and in the middle: what was merged before is right, and so is the next run.
#[test]
fn a_lack_of_memory_for_what_is_merged_ends_its_run_alone() {
    let program = examples().join("word_count/word_count.flick");
    let lack = support::built::build(&program, &[support::built::tests().join("support/lack.cpp")], &["--debug"]);
    let all: Vec<u8> = (0..20_000).flat_map(|word| counted(&format!("{word:05}"), 1)).collect();
    for loops in LOOPS {
        let reducer = TcpListener::bind("127.0.0.1:0").unwrap();
        let to_reducer = format!("--reducer=connect:127.0.0.1:{}", reducer.local_addr().unwrap().port());
        let mut command = Command::new(&lack);
        let mut server =
            Server::listening(command.args(["--mappers=0*1", "--flux-report=text", &to_reducer]).args(loops));
        for lacks_at in [0, 200_000, all.len()] {
            let mut mapper = server.connect();
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    // A run that fails does not read to the end.
                    let _ = mapper.write_all(&all[..lacks_at]);
                    if lacks_at < all.len() {
                        server.rest();
                        server.signal("-USR1");
                        server.rest();
                    }
                    let _ = mapper.write_all(&all[lacks_at..]);
                    let _ = mapper.shutdown(Shutdown::Write);
                });
                let came = reduced(&reducer);
                assert!(all.starts_with(&came), "{loops:?}: {lacks_at}");
                assert_eq!(came.len() == all.len(), lacks_at == all.len(), "{loops:?}: {lacks_at}: {}", came.len());
            });
        }
        server.terminate();
        assert!(server.wait().success());
        assert!(server.said().contains("error 12 (Cannot allocate memory)"), "{}", server.said());
    }
}

#[test]
fn a_mapper_that_is_not_sorted_ends_its_run_alone() {
    for loops in LOOPS {
        let (server, reducer) = aggregator(2, loops);
        let sends = |first: &[Vec<u8>], second: &[Vec<u8>]| {
            for all in [first, second] {
                let mut mapper = server.connect();
                mapper.write_all(&all.concat()).unwrap();
                mapper.shutdown(Shutdown::Write).unwrap();
            }
            reduced(&reducer)
        };
        sends(&[counted("b", 1), counted("a", 1)], &[counted("c", 1)]);
        support::wait_for("what is said of it", || server.said().contains("is not sorted").then_some(()));
        let again = sends(&[counted("a", 1), counted("b", 1)], &[counted("b", 2)]);
        assert_eq!(again, [counted("a", 1), counted("b", 3)].concat(), "{loops:?}: the next is right");
    }
}

const READINGS: &str = "\
type reading : record
  id : uint32
  value : uint32

proc Sums : ([reading/-] meters, -/reading store)
  let result = foldt on meters ordering one a, b by one.id as id:
    reading(id: id, value: a.value + b.value)
  result => store
";

/// Each begins at another byte of what has come, and a number there is that of its own element.
#[test]
fn elements_that_begin_with_a_number_are_merged_by_it() {
    let built = built("readings", READINGS);
    let pair = |id: u32| [id.to_be_bytes(), (id % 7).to_be_bytes()].concat();
    for loops in LOOPS {
        let store = TcpListener::bind("127.0.0.1:0").unwrap();
        let to = format!("--store=connect:127.0.0.1:{}", store.local_addr().unwrap().port());
        let server = Server::listening(Command::new(&built).args(["--meters=0*3", &to]).args(loops));
        for meter in 1..4 {
            let mut client = server.connect();
            let all: Vec<u8> = (0..3_000).filter(|id| id % meter == 0).flat_map(pair).collect();
            client.write_all(&all).unwrap();
            client.shutdown(Shutdown::Write).unwrap();
        }
        let times = |id: &u32| (1..4).filter(|meter| id.is_multiple_of(*meter)).count() as u32;
        let sum = |id: u32| [id.to_be_bytes(), (id % 7 * times(&id)).to_be_bytes()].concat();
        let wanted: Vec<u8> = (0..3_000).flat_map(sum).collect();
        assert!(reduced(&store) == wanted, "{loops:?}");
    }
}

/// What a process has had at most so far, in KiB.
fn most_memory(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn memory_does_not_grow_with_what_is_merged() {
    for loops in LOOPS {
        let (server, reducer) = aggregator(4, loops);
        let streamed = |words: u32| {
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    let mut mapper = server.connect();
                    scope.spawn(move || {
                        for first in (0..words).step_by(1_000) {
                            let some = (first..first + 1_000).flat_map(|word| counted(&format!("{word:032}"), 1));
                            mapper.write_all(&some.collect::<Vec<u8>>()).unwrap();
                        }
                        mapper.shutdown(Shutdown::Write).unwrap();
                        let _ = mapper.read(&mut [0]);
                    });
                }
                assert_eq!(reduced(&reducer).len(), words as usize * counted(&"0".repeat(32), 1).len());
            });
            most_memory(server.id())
        };
        let (little, much) = (streamed(20_000), streamed(320_000));
        // What is kept for connections grows at first, with what comes at once: by 1 to 9 MiB, as others leave the
        // server time, and then no more, however much goes through.
        assert!(much < little + 16_384, "{loops:?}: {little} KiB for 3.4 MiB, {much} KiB for 54 MiB");
    }
}
