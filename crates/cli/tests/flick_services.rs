//! The services of FLICK that come with recordings of the real clients and servers around them: Hadoop's word count.

#![expect(clippy::disallowed_methods, reason = "a test is a shell: it builds servers and talks to them")]
#![allow(clippy::indexing_slicing, clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

mod support;

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener};
use std::path::Path;
use std::process::Command;
use support::{Server, folder, text};

/// Both kinds of I/O; processes run on event loops alone.
const LOOPS: [&[&str]; 2] = [&["--flux-workers=2", "--flux-io=reactor"], &["--flux-workers=2", "--flux-io=proactor"]];

/// What mappers of Hadoop's example WordCount give, written by Hadoop.
const MAPPERS: [&[u8]; 4] = [
    include_bytes!("flick_services/mapper_0.ifile"),
    include_bytes!("flick_services/mapper_1.ifile"),
    include_bytes!("flick_services/mapper_2.ifile"),
    include_bytes!("flick_services/mapper_3.ifile"),
];
/// What the aggregator makes of these, and what Hadoop reads in that.
const REDUCER: &[u8] = include_bytes!("flick_services/reducer.ifile");
const READ_BY_HADOOP: &str = include_str!("flick_services/reducer.txt");

/// A service of the examples, built.
fn built(example: &str, name: &str) -> std::path::PathBuf {
    let to = folder("flick_services", name);
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(example);
    let mut flux = Command::new(env!("CARGO_BIN_EXE_flux"));
    flux.args(["build", "--debug"]).arg(home.join(name).with_extension("flick"));
    let said = flux.arg("--build-dir").arg(to.join("build")).arg("-o").arg(to.join(name)).output().unwrap();
    assert!(said.status.success(), "{}", text(&said.stderr));
    to.join(name)
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

    let program = built("hadoop", "hadoop");
    for loops in LOOPS {
        let reducer = TcpListener::bind("127.0.0.1:0").unwrap();
        let to = format!("--reducer=connect:127.0.0.1:{}", reducer.local_addr().unwrap().port());
        let server = Server::listening(Command::new(&program).args(["--mappers=127.0.0.1:0*4", &to]).args(loops));
        let all = aggregated(&server, &reducer, &MAPPERS);
        assert!(all == REDUCER, "{loops:?}: {} bytes, and not {}", all.len(), REDUCER.len());

        let [first, second, third, fourth] = MAPPERS;
        let other_sum = [&second[..second.len() - 1], b"!"].concat();
        let longer = [second, b"\xff\xff\0\0\0\0"].concat();
        let record = [6, 4, 5, b'w', b'o', b'r', b'd', b' ', 0, 0, 0, 1];
        let twice = [&record[..], second].concat();
        let no_text = [&[6, 4, 6], &record[3..], second].concat();
        for (wrong, what) in [
            (&no_text[..], "is no ifile.count: byte 2, ifile.count.text_size"),
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
