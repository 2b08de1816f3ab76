//! The services of FLICK beyond what `flick.rs` has of them: Hadoop's word count, with recordings of Hadoop itself;
//! consistent hashing; connections that are full both ways; and changed messages by chance.

use crate::support;
use crate::support::hadoop::{MAPPERS, REDUCER};
use crate::support::memcached::{self, NO_OPERATION, opaque_of, request};
use crate::support::{Server, sanitized, text};
use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Both kinds of I/O; processes run on event loops alone.
const LOOPS: [&[&str]; 2] = [&["--flux-workers=2", "--flux-io=reactor"], &["--flux-workers=2", "--flux-io=proactor"]];

/// What Hadoop reads in what the aggregator makes.
const READ_BY_HADOOP: &str = include_str!("flick_services/reducer.txt");

/// A service of the examples, built.
fn built(example: &str, name: &str) -> PathBuf {
    let program = support::built::examples().join(example).join(name).with_extension("flick");
    support::built::build(&program, &[], &["--debug"])
}

/// The aggregator for four of Hadoop's mappers, built once, and its reducer.
fn hadoop(loops: &[&str]) -> (Server, TcpListener) {
    static ONCE: OnceLock<PathBuf> = OnceLock::new();
    let program = ONCE.get_or_init(|| built("hadoop", "hadoop"));
    let reducer = TcpListener::bind("127.0.0.1:0").unwrap();
    let to = format!("--reducer=connect:127.0.0.1:{}", reducer.local_addr().unwrap().port());
    (Server::listening(Command::new(program).args(["--mappers=127.0.0.1:0*4", &to]).args(loops)), reducer)
}

/// Sends each of these by a mapper; gives what the reducer gets.
fn aggregated(server: &Server, reducer: &TcpListener, mappers: &[&[u8]]) -> Vec<u8> {
    std::thread::scope(|scope| {
        for bytes in mappers {
            scope.spawn(move || {
                let mut mapper = server.connect();
                // In pieces that end anywhere. A run that fails does not read to the end.
                let _ = bytes.chunks(1_021).try_for_each(|piece| mapper.write_all(piece));
                let _ = mapper.shutdown(Shutdown::Write);
                let _ = mapper.read(&mut [0]);
            });
        }
        let mut all = vec![];
        let _ = reducer.accept().unwrap().0.read_to_end(&mut all);
        all
    })
}

/// The number that `WritableUtils.writeVLong` writes, of those that are not negative; and what is behind it.
fn size(bytes: &[u8]) -> (usize, &[u8]) {
    let (first, rest) = bytes.split_first().unwrap();
    if *first < 128 {
        return (usize::from(*first), rest);
    }
    let (number, behind) = rest.split_at(usize::from(0x90 - first));
    (number.iter().fold(0, |sum, byte| sum * 256 + usize::from(*byte)), behind)
}

/// The words of an IFile with their counts, by what `IFile.Writer.append` writes.
fn words(mut file: &[u8]) -> Vec<(String, i32)> {
    let mut found = vec![];
    while !file.starts_with(b"\xff\xff") {
        let (_, rest) = size(file);
        let (value, rest) = size(rest);
        assert_eq!(value, 4);
        let (length, rest) = size(rest);
        let (word, rest) = rest.split_at(length);
        let (count, rest) = rest.split_at(4);
        found.push((text(word), i32::from_be_bytes(count.try_into().unwrap())));
        file = rest;
    }
    assert_eq!(file.len(), 6, "the checksum, and nothing behind it");
    found
}

/// One server for all of these: what is wrong in one run ends that alone.
#[test]
fn hadoop_reads_what_the_aggregator_makes_of_what_hadoop_writes() {
    let mut sums = BTreeMap::new();
    for (word, count) in MAPPERS.iter().flat_map(|mapper| words(mapper)) {
        *sums.entry(word).or_insert(0) += count;
    }
    let wanted: String = sums.iter().map(|(word, count)| format!("{word} = {count}\n")).collect();
    assert_eq!(READ_BY_HADOOP, wanted);

    for loops in LOOPS {
        let (server, reducer) = hadoop(loops);
        let all = aggregated(&server, &reducer, &MAPPERS);
        assert!(all == REDUCER, "{loops:?}: {} bytes, and not {}", all.len(), REDUCER.len());

        let [first, second, third, fourth] = MAPPERS;
        let other_sum = [&second[..second.len() - 1], b"!"].concat();
        let longer = [second, b"\xff\xff\0\0\0\0"].concat();
        let record = [6, 4, 5, b'w', b'o', b'r', b'd', b' ', 0, 0, 0, 1];
        let twice = [&record[..], second].concat();
        let no_text = [&[6, 4, 6], &record[3..], second].concat();
        for (wrong, what) in [
            (&no_text[..], "is no ifile.count: byte 3, ifile.count.key"),
            (&other_sum, "has another checksum at its end"),
            (&second[..second.len() - 6], "ends too early"),
            (&second[..second.len() - 7], "ends too early"),
            (&longer, "goes on behind its end"),
            (&twice, "is not sorted"),
        ] {
            let cut_off = aggregated(&server, &reducer, &[first, wrong, third, fourth]);
            support::wait_for(what, || server.said().contains(what).then_some(()));
            assert!(!cut_off.ends_with(&REDUCER[REDUCER.len() - 4..]), "{loops:?}: {what}: it has no end");
        }
        let nothing: &[u8] = b"\xff\xff\xff\xff\0\0";
        assert_eq!(aggregated(&server, &reducer, &[nothing; 4]), nothing, "{loops:?}: the next is right");
    }
}

/// The end of a file whose records are these: the mark, and the CRC-32 of all before that.
fn with_end(records: &[u8]) -> Vec<u8> {
    let all = [records, b"\xff\xff"].concat();
    let bit = |sum: u32, _: u32| (sum >> 1) ^ (0xedb8_8320 * (sum & 1));
    let sum = !all.iter().fold(u32::MAX, |sum, byte| (0..8).fold(sum ^ u32::from(*byte), bit));
    [&all[..], &sum.to_be_bytes()].concat()
}

/// Whether the file is whole, by its mark and its checksum.
fn has_end(file: &[u8]) -> bool {
    file.len() > 5 && with_end(&file[..file.len() - 6]) == file
}

/// Words in order with their counts, as a mapper sends them. None is longer than 125 bytes.
fn file_of(words: &[(&str, i32)]) -> Vec<u8> {
    let record = |(word, count): &(&str, i32)| {
        let size = u8::try_from(word.len()).unwrap();
        [&[size + 1, 4, size], word.as_bytes(), &count.to_be_bytes()].concat()
    };
    with_end(&words.iter().flat_map(record).collect::<Vec<_>>())
}

#[test]
fn a_sum_of_hadoop_that_overflows_ends_its_run_and_is_told() {
    let nothing = file_of(&[]);
    for loops in LOOPS {
        let (server, reducer) = hadoop(loops);
        for (one, other) in [(i32::MAX, 1), (i32::MIN, -1)] {
            let run = |sum: i32| {
                let first = file_of(&[("many", sum), ("more", 1)]);
                let second = file_of(&[("many", other), ("more", 1)]);
                aggregated(&server, &reducer, &[&first, &nothing, &second, &nothing])
            };
            assert!(run(one - other) == file_of(&[("many", one), ("more", 2)]), "{loops:?}: as much as there may be");
            assert_eq!(run(one), b"", "{loops:?}: nothing that is wrong goes out");
        }
        let told = "failed with overflow, which no handler takes";
        support::wait_for(told, || server.said().contains(told).then_some(()));
    }
}

/// What one of the mappers sends is cut or changed anywhere: that run has no end, and the next run is right.
#[test]
fn a_file_that_is_cut_or_changed_anywhere_has_no_result() {
    let mut chance = Chance(0x9e37_79b9_7f4a_7c15);
    for loops in LOOPS {
        let (server, reducer) = hadoop(loops);
        for turn in 0..80 {
            let which = turn % MAPPERS.len();
            let mut wrong = MAPPERS[which].to_vec();
            // Every second time near the beginning or the end.
            let at = match turn / MAPPERS.len() % 4 {
                0 => chance.below(20),
                1 => wrong.len() - 1 - chance.below(10),
                _ => chance.below(wrong.len()),
            };
            if chance.below(2) == 0 {
                wrong.truncate(at);
            } else {
                wrong[at] ^= 1 << chance.below(8);
            }
            let mut mappers = MAPPERS;
            mappers[which] = &wrong;
            let made = aggregated(&server, &reducer, &mappers);
            assert!(!has_end(&made), "{loops:?} {turn}: mapper {which} is wrong at {at}");
            assert!(aggregated(&server, &reducer, &MAPPERS) == REDUCER, "{loops:?} {turn}: the next is right");
        }
        assert!(has_end(REDUCER));
    }
}

/// The proxy with consistent hashing before what is at these ports, built once.
fn proxy_before(ports: &[u16], loops: &[&str]) -> Server {
    static ONCE: OnceLock<PathBuf> = OnceLock::new();
    let program = ONCE.get_or_init(|| built("memcached_proxy", "consistent"));
    let at: Vec<String> = ports.iter().map(|port| format!("127.0.0.1:{port}")).collect();
    let mut command = Command::new(program);
    Server::listening(command.args(["--client=127.0.0.1:0", &format!("--backends={}", at.join(","))]).args(loops))
}

fn proxy(backends: &[&Server], loops: &[&str]) -> Server {
    proxy_before(&backends.iter().map(|server| server.port).collect::<Vec<_>>(), loops)
}

/// Whether one gets this key.
fn has(from: &mut TcpStream, key: &str) -> bool {
    from.write_all(&request(0x00, 1, 0, [&[], key.as_bytes(), &[]])).unwrap();
    memcached::reply(from)[6..8] == [0, 0]
}

#[test]
fn where_a_backend_is_taken_out_its_keys_alone_go_elsewhere() {
    const KEYS: usize = 300;
    let [first, second, third] = [memcached::server(), memcached::server(), memcached::server()];
    let keys: Vec<String> = (0..KEYS).map(|key| format!("key {key}")).collect();
    let servers = [proxy(&[&first, &second, &third], LOOPS[0]), proxy(&[&first, &second], LOOPS[1])];
    let [mut to_three, mut to_two] = servers.each_ref().map(Server::connect);
    for key in &keys {
        to_three.write_all(&request(0x01, 1, 0, [&[0; 8], key.as_bytes(), b"value"])).unwrap();
        memcached::reply(&mut to_three);
    }
    let mut direct = [first.connect(), second.connect(), third.connect()];
    let mut of_each = [0; 3];
    for key in &keys {
        let home = direct.iter_mut().position(|backend| has(backend, key)).unwrap();
        of_each[home] += 1;
        assert_eq!(has(&mut to_two, key), home != 2, "{key} was at {home}");
    }
    assert!(of_each.iter().all(|count| *count > KEYS / 5), "each has about a third: {of_each:?}");
}

/// The memory of a process that is in use, in bytes (`proc_pid_status(5)`).
fn memory_of(server: &Server) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse::<usize>().unwrap() * 1024
}

/// Clients send large items and ask for them, and read nothing until no more can be sent: then both ways of their
/// connections are full, and those to the backends. What a client is answered has its own numbers, each once.
#[test]
fn connections_that_are_full_both_ways_go_on_with_their_own_answers() {
    const CLIENTS: u32 = 4;
    const ROUNDS: u32 = 120;
    const SIZE: usize = 100_000;
    for loops in LOOPS {
        let [first, second, third] = [memcached::server(), memcached::server(), memcached::server()];
        let server = proxy(&[&first, &second, &third], loops);
        drop(server.connect());
        let before = memory_of(&server);
        let most = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for client in 0..CLIENTS {
                let (server, most) = (&server, &most);
                scope.spawn(move || {
                    let mut connection = server.connect();
                    let mut sending = connection.try_clone().unwrap();
                    let sent = AtomicUsize::new(0);
                    let number = |round: u32, what: u32| client << 24 | round << 2 | what;
                    std::thread::scope(|inner| {
                        inner.spawn(|| {
                            for round in 0..ROUNDS {
                                let key = format!("client {client} {}", round % 7);
                                let value = vec![b'a' + u8::try_from(client).unwrap(); SIZE];
                                let of = [&[0; 8], key.as_bytes(), &value];
                                sending.write_all(&request(0x01, number(round, 0), 0, of)).unwrap();
                                for what in 1..3 {
                                    let get = request(0x0c, number(round, what), 0, [&[], key.as_bytes(), &[]]);
                                    sending.write_all(&get).unwrap();
                                }
                                sent.fetch_add(1, Ordering::Relaxed);
                            }
                        });
                        // Until nothing goes on, or as good as; what is asserted does not depend on it.
                        let mut seen = usize::MAX;
                        while seen != sent.load(Ordering::Relaxed) {
                            seen = sent.load(Ordering::Relaxed);
                            server.rest();
                        }
                        most.fetch_max(memory_of(server), Ordering::Relaxed);
                        let mut answered = vec![false; ROUNDS as usize * 4];
                        for _ in 0..ROUNDS * 3 {
                            let reply = memcached::reply(&mut connection);
                            let opaque = opaque_of(&reply);
                            assert_eq!(opaque >> 24, client, "{loops:?}: another's answer");
                            let at = (opaque & 0xff_ffff) as usize;
                            assert!(!std::mem::replace(&mut answered[at], true), "{loops:?}: {at} is answered twice");
                            if !at.is_multiple_of(4) {
                                let own = b'a' + u8::try_from(client).unwrap();
                                assert!(reply.len() > SIZE && reply.ends_with(&[own; 100]), "{loops:?}: {at}");
                            }
                        }
                    });
                });
            }
        });
        // Of the 140 MB that go through at once. Sanitizers have memory of their own.
        let taken = most.into_inner().saturating_sub(before);
        assert!(taken < 40_000_000 || sanitized::which().is_some(), "{loops:?}: {taken} bytes");
    }
}

/// Numbers by chance (Marsaglia, "Xorshift RNGs", 2003).
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end
    }

    /// Requests, some of them changed, cut, or of sizes that nobody has.
    fn requests(&mut self) -> Vec<u8> {
        let mut all = vec![];
        for _ in 0..=self.below(20) {
            let opcode = u8::try_from(self.below(0x28)).unwrap();
            let (key, value) = (vec![b'k'; self.below(40)], vec![b'v'; self.below(3_000)]);
            let extras = vec![0; [0, 4, 8, 20][self.below(4)]];
            all.extend(request(opcode, u32::MAX, 0, [&extras, &key, &value]));
        }
        match self.below(4) {
            0 => {}
            1 => all.truncate(self.below(all.len())),
            _ => {
                for _ in 0..=self.below(4) {
                    let at = self.below(all.len());
                    all[at] = u8::try_from(self.below(256)).unwrap();
                }
            }
        }
        all
    }
}

/// A backend that answers each who connects with bytes by chance.
fn wild_backend(seed: u64) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for (at, mut client) in listener.incoming().map_while(Result::ok).enumerate() {
            std::thread::spawn(move || {
                let mut chance = Chance(seed + at as u64);
                let mut window = [0; 4096];
                while matches!(client.read(&mut window), Ok(1..)) {
                    let mut said = chance.requests();
                    said.iter_mut().step_by(24).for_each(|byte| *byte |= 1);
                    if client.write_all(&said).is_err() || chance.below(6) == 0 {
                        break;
                    }
                }
            });
        }
    });
    port
}

/// In each round wild clients, one of three backends as wild, and in between a client whose answers are right.
fn fuzz(rounds: impl Iterator<Item = u64>) {
    let backends = [memcached::server(), memcached::server()];
    let server = proxy(&[&backends[0], &backends[1]], LOOPS[0]);
    let mut wild = proxy_before(&[wild_backend(99)], LOOPS[1]);
    let mut chance = Chance(0x9e37_79b9_7f4a_7c15);
    let mut good = server.connect();
    for number in rounds.map(|round| u32::try_from(round + 1).unwrap()) {
        for to in [&server, &wild] {
            let mut client = to.connect();
            let _ = client.write_all(&chance.requests());
            if chance.below(2) == 0 {
                let _ = client.shutdown(Shutdown::Write);
            }
            // It leaves when some of its answers have come, if there are any.
            to.rest();
            client.set_nonblocking(true).unwrap();
            let _ = client.read(&mut [0; 1000]);
        }
        good.write_all(&request(NO_OPERATION, number, 0, [&[]; 3])).unwrap();
        assert_eq!(opaque_of(&memcached::reply(&mut good)), number, "the others go on");
        assert!(wild.try_wait().is_none(), "{}", wild.said());
    }
}

#[test]
fn the_sanitizers_find_nothing() {
    sanitized::run_again("flick_services", "the_sanitizers_find_nothing");
}

#[test]
fn wild_clients_and_backends_end_nobody_else() {
    fuzz(0..50);
}

/// `make fuzz`: for FUZZ_MINUTES.
#[test]
#[ignore = "takes minutes"]
fn fuzz_flick_for_minutes() {
    fuzz(support::rounds_for_minutes());
}
