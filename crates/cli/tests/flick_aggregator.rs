//! Aggregators on several event loops: clients that make a run together are on one loop, and runs are on all of them;
//! whatever their clients do, and while the server ends. With both kinds of I/O, and under the thread sanitizer.

use crate::support;
use crate::support::{Server, folder, free_port, is_asked_for, wait_for};
use std::collections::BTreeMap;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

const LOOPS: [&[&str]; 4] = [
    &["--flux-workers=2", "--flux-io=reactor"],
    &["--flux-workers=2", "--flux-io=proactor"],
    &["--flux-workers=4", "--flux-io=reactor"],
    &["--flux-workers=4", "--flux-io=proactor"],
];

/// `examples/word_count`, built so.
fn built(options: &[&str]) -> PathBuf {
    let program = support::built::examples().join("word_count/word_count.flick");
    support::built::build(&program, &[], &[&["--debug"], options].concat())
}

fn program() -> &'static Path {
    static ONCE: OnceLock<PathBuf> = OnceLock::new();
    ONCE.get_or_init(|| built(&[]))
}

/// The aggregator for runs of so many mappers, with its reducer.
fn aggregator(program: &Path, mappers: usize, arguments: &[&str]) -> (Server, TcpListener) {
    let reducer = TcpListener::bind("127.0.0.1:0").unwrap();
    let to = format!("--reducer=connect:127.0.0.1:{}", reducer.local_addr().unwrap().port());
    let mut command = Command::new(program);
    (Server::listening(command.args([&format!("--mappers=0*{mappers}"), &to]).args(arguments)), reducer)
}

/// What the reducer gets of mappers that send this, in the order of the text.
fn made_of(server: &Server, reducer: &TcpListener, mappers: &[Vec<u8>]) -> Vec<u8> {
    let clients: Vec<TcpStream> = mappers.iter().map(|_| server.connect()).collect();
    std::thread::scope(|scope| {
        for (mut client, bytes) in clients.into_iter().zip(mappers) {
            scope.spawn(move || {
                send(&mut client, bytes);
                assert!(is_ended(&client), "the run has ended");
            });
        }
        reduced(reducer)
    })
}

/// Words with their counts, as mappers send them and the reducer gets them.
type Counts = BTreeMap<String, i64>;

fn bytes_of(counts: &Counts) -> Vec<u8> {
    let of_one = |(word, times): (&String, &i64)| {
        let size = u32::try_from(word.len()).unwrap();
        [&size.to_be_bytes()[..], word.as_bytes(), &times.to_be_bytes()].concat()
    };
    counts.iter().flat_map(of_one).collect()
}

/// What the mappers of a run send, and what the reducer is to get.
struct Job {
    mappers: Vec<Vec<u8>>,
    wanted: Vec<u8>,
}

fn job(number: usize, mappers: usize, words: usize) -> Job {
    let mut sums = Counts::new();
    let of_mapper = |mapper: usize| -> Counts {
        let own = (0..words).filter(|word| !(word * 7 + mapper * 3 + number).is_multiple_of(4));
        own.map(|word| (format!("job {number:03} word {word:06}"), i64::try_from(word % 10 + mapper).unwrap()))
            .collect()
    };
    let all: Vec<Counts> = (0..mappers).map(of_mapper).collect();
    for (word, times) in all.iter().flatten() {
        *sums.entry(word.clone()).or_insert(0) += times;
    }
    Job { mappers: all.iter().map(bytes_of).collect(), wanted: bytes_of(&sums) }
}

/// Sends these, in pieces that end anywhere, as far as they are taken, and then the end.
fn send(to: &mut TcpStream, bytes: &[u8]) {
    let _ = bytes.chunks(10_021).try_for_each(|piece| to.write_all(piece));
    let _ = to.shutdown(Shutdown::Write);
}

/// All that the reducer is sent in one run.
fn reduced(reducer: &TcpListener) -> Vec<u8> {
    let mut all = vec![];
    let _ = reducer.accept().unwrap().0.read_to_end(&mut all);
    all
}

/// What it is sent in so many runs, which go on at the same time; in an order of its own.
fn all_reduced(reducer: &TcpListener, runs: usize) -> Vec<Vec<u8>> {
    std::thread::scope(|scope| {
        let read = |mut one: TcpStream| {
            let mut all = vec![];
            let _ = one.read_to_end(&mut all);
            all
        };
        let all: Vec<_> =
            (0..runs).map(|_| reducer.accept().unwrap().0).map(|one| scope.spawn(move || read(one))).collect();
        let mut all: Vec<_> = all.into_iter().map(|each| each.join().unwrap()).collect();
        all.sort();
        all
    })
}

/// Whether the server has ended the connection, which it may have reset.
fn is_ended(mut client: &TcpStream) -> bool {
    client.read(&mut [0]).map_or_else(|error| error.kind() == ErrorKind::ConnectionReset, |count| count == 0)
}

#[test]
fn runs_that_go_on_at_the_same_time_are_each_merged_alone() {
    const RUNS: usize = 8;
    for loops in LOOPS {
        let (server, reducer) = aggregator(program(), 3, loops);
        let jobs: Vec<Job> = (0..RUNS).map(|number| job(number, 3, 3_000)).collect();
        // Those that come one after the other make a run.
        let clients: Vec<TcpStream> = jobs.iter().flat_map(|job| &job.mappers).map(|_| server.connect()).collect();
        let sent = std::thread::scope(|scope| {
            for (mut client, bytes) in clients.into_iter().zip(jobs.iter().flat_map(|job| &job.mappers)) {
                scope.spawn(move || {
                    send(&mut client, bytes);
                    let _ = client.read(&mut [0]);
                });
            }
            all_reduced(&reducer, RUNS)
        });
        let wanted: Vec<&Vec<u8>> = jobs.iter().map(|job| &job.wanted).collect();
        assert!(sent.iter().collect::<Vec<_>>() == wanted, "{loops:?}: something else was made of them");
    }
}

/// Clients that come from everywhere: which of them make a run is not known, so all send the same. Gives how many
/// connections each loop has accepted.
fn many_runs(program: &Path, report: &Path, loops: &[&str]) -> Vec<usize> {
    const MAPPERS: usize = 5;
    const THREADS: usize = 8;
    const EACH: usize = 30;
    let words: Counts = (0..60).map(|word| (format!("word {word:04}"), 1)).collect();
    let sums = words.keys().map(|word| (word.clone(), i64::try_from(MAPPERS).unwrap())).collect();
    let told = format!("--flux-report=json:{}", report.display());
    let (mut server, reducer) = aggregator(program, MAPPERS, &[loops, &[&told]].concat());
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                let come = |_| {
                    let mut client = server.connect();
                    send(&mut client, &bytes_of(&words));
                    client
                };
                // Nobody waits for those who come with him.
                let clients: Vec<TcpStream> = (0..EACH).map(come).collect();
                clients.iter().for_each(|client| assert!(is_ended(client)));
            });
        }
        for _ in 0..THREADS * EACH / MAPPERS {
            assert!(reduced(&reducer) == bytes_of(&sums), "{loops:?}: it is of others");
        }
    });
    server.terminate();
    assert!(server.wait().success(), "{loops:?}: {}", server.said());
    let said = std::fs::read_to_string(report).unwrap();
    let (_, behind) = said.split_once("\"accepted\": [").unwrap();
    let accepted: Vec<usize> =
        behind.split(']').next().unwrap().split(", ").map(|each| each.parse().unwrap()).collect();
    assert_eq!(accepted.iter().sum::<usize>(), THREADS * EACH, "{loops:?}");
    assert!(accepted.iter().all(|each| each.is_multiple_of(MAPPERS)), "{loops:?}: {accepted:?}");
    accepted
}

#[test]
fn clients_of_one_run_are_on_one_loop_and_runs_are_on_all() {
    let report = folder("flick_aggregator", "report").join("report.json");
    for loops in LOOPS {
        let accepted = many_runs(program(), &report, loops);
        assert!(accepted.iter().filter(|each| **each != 0).count() > 1, "{loops:?}: {accepted:?}");
    }
}

#[test]
fn the_thread_sanitizer_finds_nothing() {
    if !is_asked_for("thread") {
        return;
    }
    let built = built(&["--sanitize", "thread"]);
    let report = built.with_extension("json");
    for loops in LOOPS {
        many_runs(&built, &report, loops);
    }
}

/// One that dies before the others come, and one in the middle: their runs end early, and others do not notice.
#[test]
fn a_client_that_dies_ends_its_run_alone() {
    const RUNS: usize = 6;
    for loops in LOOPS {
        let (server, reducer) = aggregator(program(), 3, loops);
        let jobs: Vec<Job> = (0..RUNS).map(|number| job(number, 3, 2_000)).collect();
        let sent = std::thread::scope(|scope| {
            for (number, job) in jobs.iter().enumerate() {
                for (mapper, bytes) in job.mappers.iter().enumerate() {
                    let mut client = server.connect();
                    if number == 1 && mapper == 1 {
                        send(&mut client, &bytes[..1_001]);
                        drop(client);
                        // By now the loop whose turn it is has seen that.
                        server.rest();
                    } else {
                        let end = if number == 3 && mapper == 0 { bytes.len() - 1 } else { bytes.len() };
                        scope.spawn(move || {
                            send(&mut client, &bytes[..end]);
                            let _ = client.read(&mut [0]);
                        });
                    }
                }
            }
            all_reduced(&reducer, RUNS)
        });
        for (number, job) in jobs.iter().enumerate() {
            let is_whole = sent.contains(&job.wanted);
            assert_eq!(is_whole, number != 1 && number != 3, "{loops:?}: run {number}");
        }
        let is_begun = |made: &Vec<u8>| jobs.iter().any(|job| job.wanted.starts_with(made));
        assert!(sent.iter().all(is_begun), "{loops:?}: what was made before that is right");
    }
}

/// The run that has all of its clients goes on to its end. That which has not is dropped, and nobody waits for it.
#[test]
fn a_server_that_ends_while_it_gathers_ends_whole_runs_first() {
    for loops in LOOPS {
        // A server that waited for the others would wait for longer than the test does.
        let arguments = [loops, &["--flux-drain=60m"]].concat();
        let (mut server, reducer) = aggregator(program(), 3, &arguments);
        let whole = job(1, 3, 2_000);
        let mut clients: Vec<TcpStream> = (0..5).map(|_| server.connect()).collect();
        let part = clients.split_off(3);
        for (client, bytes) in clients.iter_mut().zip(&whole.mappers) {
            client.write_all(&bytes[..500]).unwrap();
        }
        let (mut at_reducer, _) = reducer.accept().unwrap();
        server.terminate();
        assert!(part.iter().all(is_ended), "{loops:?}");
        for (client, bytes) in clients.iter_mut().zip(&whole.mappers) {
            send(client, &bytes[500..]);
        }
        let mut sent = vec![];
        at_reducer.read_to_end(&mut sent).unwrap();
        assert!(sent == whole.wanted, "{loops:?}: {} bytes and not {}", sent.len(), whole.wanted.len());
        assert!(server.wait().success(), "{loops:?}: {}", server.said());
    }
}

/// The next server begins with whoever comes then.
#[test]
fn a_server_that_is_taken_over_while_it_gathers_drops_what_it_has() {
    for (number, loops) in LOOPS.into_iter().enumerate() {
        let place = folder("flick_aggregator", &format!("place{number}")).join("place");
        let port = free_port();
        let reducer = TcpListener::bind("127.0.0.1:0").unwrap();
        let start = || {
            let mut command = Command::new(program());
            command.arg(format!("--mappers=127.0.0.1:{port}*2"));
            command.arg(format!("--reducer=connect:127.0.0.1:{}", reducer.local_addr().unwrap().port()));
            Server::listening(command.arg(format!("--flux-takeover={}", place.display())).args(loops))
        };
        let mut first = start();
        let alone = first.connect();
        let second = start();
        assert!(first.wait().success(), "{loops:?}: {}", first.said());
        assert!(is_ended(&alone), "{loops:?}");
        let next = job(1, 2, 500);
        let mut clients = [second.connect(), second.connect()];
        for (client, bytes) in clients.iter_mut().zip(&next.mappers) {
            send(client, bytes);
        }
        assert!(reduced(&reducer) == next.wanted, "{loops:?}");
    }
}

/// `pages.flick` of these tests: pages with two counters each, `hits` and `bytes`.
fn pages() -> &'static Path {
    static ONCE: OnceLock<PathBuf> = OnceLock::new();
    ONCE.get_or_init(|| {
        support::built::build(&support::built::tests().join("flick_aggregator/pages.flick"), &[], &["--debug"])
    })
}

type Page = (String, i32, i64);

fn page((url, hits, bytes): &Page) -> Vec<u8> {
    let size = u32::try_from(url.len()).unwrap();
    [&size.to_be_bytes()[..], url.as_bytes(), &hits.to_be_bytes(), &bytes.to_be_bytes()].concat()
}

fn pages_of(all: &[Page]) -> Vec<u8> {
    all.iter().flat_map(page).collect()
}

/// Each counter is that of all elements, also where one mapper has a key more than once.
#[test]
fn elements_with_two_counters_are_joined_with_both() {
    let all: Vec<Vec<Page>> = (0..3)
        .map(|mapper| {
            let own = (0_i64..400).filter(|at| (at * 5 + mapper) % 3 != 0);
            own.flat_map(|at| {
                let of = move |turn: i64| {
                    let hits = i32::try_from((at * 7 + mapper * 3 + turn) % 11).unwrap();
                    (format!("page {at:04}"), hits, (at - 200) * 1_000_000_007 + turn)
                };
                (0..1 + at % 3).map(of)
            })
            .collect()
        })
        .collect();
    let mut sums = BTreeMap::<String, (i32, i64)>::new();
    for (url, hits, bytes) in all.iter().flatten() {
        let (most, sum) = sums.entry(url.clone()).or_insert((0, 0));
        (*most, *sum) = ((*most).max(*hits), *sum + bytes);
    }
    let wanted: Vec<Page> = sums.into_iter().map(|(url, (hits, bytes))| (url, hits, bytes)).collect();
    for loops in LOOPS {
        let (server, reducer) = aggregator(pages(), 3, loops);
        let mappers: Vec<_> = all.iter().map(|own| pages_of(own)).collect();
        assert!(made_of(&server, &reducer, &mappers) == pages_of(&wanted), "{loops:?}");
    }
}

/// It is told, nothing wrong is sent, and the next run is right. What comes before it in the order is right, too.
#[test]
fn a_sum_that_overflows_ends_its_run_and_is_told() {
    let mapper = |hits: i32, bytes: i64| {
        let before = (0..5_000).map(|at| (format!("before {at:05}"), 1, 1));
        let all: Vec<Page> = before.chain([("much".into(), hits, bytes), ("next".into(), 1, 1)]).collect();
        pages_of(&all)
    };
    for loops in LOOPS {
        let (server, reducer) = aggregator(pages(), 2, loops);
        let whole = made_of(&server, &reducer, &[mapper(1, i64::MAX - 1), mapper(1, 1)]);
        assert!(whole.ends_with(&pages_of(&[("much".into(), 1, i64::MAX), ("next".into(), 1, 2)])), "{loops:?}");

        let cut_off = made_of(&server, &reducer, &[mapper(1, i64::MAX), mapper(1, 1)]);
        let before = whole.len() - pages_of(&[("much".into(), 1, 0), ("next".into(), 1, 0)]).len();
        assert!(whole[..before].starts_with(&cut_off), "{loops:?}: {} bytes of {before}", cut_off.len());
        let told = "failed with overflow, which no handler takes";
        wait_for(told, || server.said().contains(told).then_some(()));

        let again = made_of(&server, &reducer, &[mapper(1, i64::MIN), mapper(1, 0)]);
        assert!(again.ends_with(&pages_of(&[("much".into(), 1, i64::MIN), ("next".into(), 1, 2)])), "{loops:?}");
    }
}

/// How a mapper leaves that does not send all.
#[derive(Clone, Copy, Debug)]
enum Leaves {
    Ends,
    Resets,
}

/// A mapper that leaves within its first key, within a later one or within what comes behind a key, while others go on:
/// its run ends, for all of them, and the next is right.
#[test]
fn a_mapper_that_leaves_anywhere_ends_its_run_for_all() {
    const ELEMENT: usize = 31;
    let whole = job(1, 3, 2_000);
    let later = whole.mappers[1].len() / 2 / ELEMENT * ELEMENT;
    let places = [2, 9, 27, later + 2, later + 9, later + 27].map(|at| [(at, Leaves::Ends), (at, Leaves::Resets)]);
    // One that ends between two elements has sent all that it has.
    let all = [places.concat(), vec![(ELEMENT, Leaves::Resets), (later, Leaves::Resets)]].concat();
    for loops in LOOPS {
        let (server, reducer) = aggregator(program(), 3, loops);
        for (at, how) in &all {
            let mut clients: Vec<TcpStream> = (0..3).map(|_| server.connect()).collect();
            let mut leaving = clients.remove(1);
            leaving.write_all(&whole.mappers[1][..*at]).unwrap();
            let made = std::thread::scope(|scope| {
                for (mut client, bytes) in clients.into_iter().zip([&whole.mappers[0], &whole.mappers[2]]) {
                    scope.spawn(move || {
                        send(&mut client, bytes);
                        assert!(is_ended(&client), "{loops:?} {at} {how:?}");
                    });
                }
                if matches!(how, Leaves::Resets) {
                    rustix::net::sockopt::set_socket_linger(&leaving, Some(Duration::ZERO)).unwrap();
                }
                drop(leaving);
                reduced(&reducer)
            });
            let is_begun = whole.wanted.starts_with(&made) && made.len() < whole.wanted.len();
            assert!(is_begun, "{loops:?} {at} {how:?}: {} bytes", made.len());
        }
        assert!(made_of(&server, &reducer, &whole.mappers) == whole.wanted, "{loops:?}: the next is right");
    }
}

/// One that says nothing more in the middle of its first key is left when it has been silent for so long as may be.
#[test]
fn a_mapper_that_falls_silent_ends_its_run_in_time() {
    let whole = job(1, 3, 200);
    for loops in LOOPS {
        let (server, reducer) = aggregator(program(), 3, &[loops, &["--tcp-idle=200ms"]].concat());
        let mut clients: Vec<TcpStream> = (0..3).map(|_| server.connect()).collect();
        clients[1].write_all(&whole.mappers[1][..9]).unwrap();
        send(&mut clients[0], &whole.mappers[0]);
        send(&mut clients[2], &whole.mappers[2]);
        assert_eq!(reduced(&reducer), b"", "{loops:?}");
        assert!(clients.iter().all(is_ended), "{loops:?}");
        // On a slow machine mappers that are not silent may seem so, but not each time.
        let is_right = || made_of(&server, &reducer, &whole.mappers) == whole.wanted;
        wait_for("a run that is right", || is_right().then_some(()));
    }
}
