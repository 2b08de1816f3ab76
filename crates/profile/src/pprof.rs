//! A profile as a file of pprof (`profile.proto` of github.com/google/pprof), which its tools and many others read: a
//! flame graph of nodes, in place of functions.
//!
//! There is a sample for each source and node: the calls, and what their time went to. A profile has the times of a
//! node over all sources, so where several come to it they are divided by how often each did.

use crate::profile::{Profile, Times};
use std::collections::{BTreeMap, HashMap};

/// The bytes of the file; its tools read it with and without compression, and this is without.
pub fn pprof(of: &Profile) -> Vec<u8> {
    let mut file = File::default();
    for (name, unit) in KINDS {
        let (name, unit) = (file.text(name), file.text(unit));
        file.bytes.message(PROFILE_SAMPLE_TYPE, |kind| {
            kind.number(1, name);
            kind.number(2, unit);
        });
    }
    let shares = shares(of);
    for source in &of.sources {
        let root = file.location(&source.name, &source.file, source.line);
        for node in &of.node_times {
            let share = shares.get(&(source.name.as_str(), node.name.as_str())).copied().unwrap_or_default();
            if share > 0.0 {
                let leaf = file.location(&node.name, &node.file, node.line);
                let values = values(&node.times).map(|value| (value as f64 * share).round() as u64);
                file.bytes.message(PROFILE_SAMPLE, |sample| {
                    sample.numbers(1, &[leaf, root]);
                    sample.numbers(2, &values);
                });
            }
        }
    }
    file.bytes.number(PROFILE_DURATION, (of.seconds * 1e9) as u64);
    let shown = file.text("ran");
    file.bytes.number(PROFILE_DEFAULT_SAMPLE_TYPE, shown);
    file.finish()
}

/// What a sample counts, with its units.
const KINDS: [(&str, &str); 8] = [
    ("calls", "count"),
    ("ran", "nanoseconds"),
    ("beside", "nanoseconds"),
    ("parked", "nanoseconds"),
    ("waited", "nanoseconds"),
    ("queued", "nanoseconds"),
    ("branched", "nanoseconds"),
    ("whole", "nanoseconds"),
];

fn values(of: &Times) -> [u64; 8] {
    [
        of.whole.times(),
        of.ran.sum(),
        of.beside.sum(),
        of.parked.sum(),
        of.waited.sum(),
        of.queued.sum(),
        of.branched.sum(),
        of.whole.sum(),
    ]
}

/// The part of a node's calls that flows of a source made, by the paths that were taken. Where no path has the node,
/// the first source has all of them.
fn shares(of: &Profile) -> HashMap<(&str, &str), f64> {
    let mut visits: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    let mut all: HashMap<&str, u64> = HashMap::new();
    for path in &of.paths {
        for label in path.labels.iter().flatten() {
            let of_source = visits.entry((&path.source, label)).or_default();
            *of_source = path.count.saturating_add(*of_source);
            let of_all = all.entry(label).or_default();
            *of_all = path.count.saturating_add(*of_all);
        }
    }
    let mut shares: HashMap<_, _> = HashMap::new();
    for ((source, label), count) in visits {
        let all = all.get(label).copied().unwrap_or_default().max(1);
        shares.insert((source, label), count as f64 / all as f64);
    }
    if let Some(first) = of.sources.first() {
        for node in of.node_times.iter().filter(|node| !all.contains_key(node.name.as_str())) {
            shares.insert((&first.name, &node.name), 1.0);
        }
    }
    shares
}

// The numbers of the fields of `Profile`.
const PROFILE_SAMPLE_TYPE: u64 = 1;
const PROFILE_SAMPLE: u64 = 2;
const PROFILE_LOCATION: u64 = 4;
const PROFILE_FUNCTION: u64 = 5;
const PROFILE_STRING_TABLE: u64 = 6;
const PROFILE_DURATION: u64 = 10;
const PROFILE_DEFAULT_SAMPLE_TYPE: u64 = 14;

/// What is written so far, and what it refers to.
#[derive(Default)]
struct File {
    bytes: Message,
    texts: Vec<String>,
    locations: HashMap<String, u64>,
}

impl File {
    /// The number of a text; that of the empty one is 0.
    fn text(&mut self, text: &str) -> u64 {
        if self.texts.is_empty() {
            self.texts.push(String::new());
        }
        let found = self.texts.iter().position(|one| one == text);
        found.unwrap_or_else(|| {
            self.texts.push(text.to_owned());
            self.texts.len() - 1
        }) as u64
    }

    /// The number of a place in the program, which is a function and a location of its own.
    fn location(&mut self, name: &str, file: &str, line: u64) -> u64 {
        if let Some(known) = self.locations.get(name) {
            return *known;
        }
        let id = self.locations.len() as u64 + 1;
        self.locations.insert(name.to_owned(), id);
        let (name, file) = (self.text(name), self.text(file));
        self.bytes.message(PROFILE_FUNCTION, |function| {
            function.number(1, id);
            function.number(2, name);
            function.number(3, name);
            function.number(4, file);
            function.number(5, line);
        });
        self.bytes.message(PROFILE_LOCATION, |location| {
            location.number(1, id);
            location.message(4, |at| {
                at.number(1, id);
                at.number(2, line);
            });
        });
        id
    }

    fn finish(mut self) -> Vec<u8> {
        for text in &self.texts {
            self.bytes.bytes(PROFILE_STRING_TABLE, text.as_bytes());
        }
        self.bytes.0
    }
}

/// A message of protocol buffers, as it is written ("Encoding", protobuf.dev).
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn variable(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    fn number(&mut self, field: u64, number: u64) {
        self.variable(field << 3);
        self.variable(number);
    }

    fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.variable(field << 3 | 2);
        self.variable(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn message(&mut self, field: u64, write: impl FnOnce(&mut Self)) {
        let mut inner = Self::default();
        write(&mut inner);
        self.bytes(field, &inner.0);
    }

    fn numbers(&mut self, field: u64, numbers: &[u64]) {
        self.message(field, |packed| numbers.iter().for_each(|number| packed.variable(*number)));
    }
}
