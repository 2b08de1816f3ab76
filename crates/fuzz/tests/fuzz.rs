//! Mutated programs through every layer that reads text: nothing panics, hangs, or contradicts itself.
//!
//! The ordinary tests take the same thousand mutations each time. `make fuzz` runs `fuzz_compiler` for
//! `FUZZ_MINUTES`, from `FUZZ_SEED` on, or from any seed. What fails is written, made small, into the folder
//! for temporary files of this build, with the seed that replays it.

#![expect(clippy::disallowed_methods, reason = "a test harness is a shell: it reads pages and writes what fails")]
#![allow(clippy::panic, clippy::unwrap_used, clippy::print_stderr, reason = "a test that cannot go on fails")]

mod support;

use flux_fuzz::hold::{self, Fault};
use flux_fuzz::minimise::minimise;
use flux_fuzz::mutate::mutate;
use flux_ir::text::{print_flow, print_program};
use flux_random_program::{Random, Shape, generate, is_in_slice};
use flux_source::{FileId, SourceMap};
use std::hash::{BuildHasher as _, RandomState};
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use support::{TEXT_LIMIT, for_a_third_of};

/// All texts together take at most so many bytes of memory at a time.
const MEMORY_LIMIT: u64 = 1 << 30;
/// Where programs are: in fences of pages, and in files.
const CORPUS: [&str; 5] = ["crates/mdtest/pages", "crates/diagnostic/pages", "docs", "examples", "README.md"];

/// What must be so of a text.
type Hold = fn(&str) -> Result<(), Fault>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every program of the repository, those with mistakes too, and some random ones.
fn programs() -> Vec<String> {
    let mut found = written_in("flux");
    assert!(found.len() > 300, "only {} programs", found.len());
    let shapes = [Shape::default(), Shape { each: 150, parallel: true, ..Shape::default() }];
    found.extend(shapes.iter().flat_map(|shape| (0..10).map(|seed| generate(seed, shape).flux_text())));
    found
}

/// Those in FLICK: the examples, the listings of the paper, and those of pages.
fn flick_programs() -> Vec<String> {
    let found = written_in("flick");
    assert!(found.len() > 20, "only {} programs", found.len());
    found
}

/// Every program of the repository in files and fences of this ending.
fn written_in(ending: &str) -> Vec<String> {
    let mut found = vec![];
    let mut open: Vec<PathBuf> = CORPUS.iter().map(|place| root().join(place)).collect();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|extension| extension == ending) {
            found.push(std::fs::read_to_string(&path).unwrap());
        } else if path.extension().is_some_and(|extension| extension == "md") {
            let page = std::fs::read_to_string(&path).unwrap();
            let fences = page.split("```flux").skip(1);
            let programs = fences.filter_map(|fence| fence.split("```").next()?.split_once('\n'));
            // The line of a fence may name the file: `file=proxy.flick`.
            let is_it =
                |line: &str| line.split_whitespace().any(|word| word.ends_with(".flick")) == (ending == "flick");
            found.extend(programs.filter(|(line, _)| is_it(line)).map(|(_, program)| program.to_owned()));
        }
    }
    found.sort();
    found
}

/// The text forms of what comes of `programs`.
fn ir_texts(programs: &[String]) -> Vec<String> {
    let mut texts = vec![];
    for program in programs {
        let mut sources = SourceMap::of("test.flux", program.as_str());
        let mut read = |path: &str| Err(format!("{path} is not there"));
        let compilation = flux_driver::compile(&mut sources, FileId(0), &mut read);
        texts.extend(compilation.program().iter().copied().map(print_program));
        texts.extend(compilation.flow.iter().map(print_flow));
    }
    texts
}

/// Runs a check, a panic being a fault like others.
fn check(hold: Hold, text: &str, steps: &AtomicU64) -> Result<(), Fault> {
    steps.fetch_add(1, Ordering::Relaxed);
    match catch_unwind(|| hold(text)) {
        Ok(result) => result,
        Err(panic) => {
            let said = panic.downcast_ref::<String>().map(String::as_str);
            Err(format!("panic: {}", said.or(panic.downcast_ref::<&str>().copied()).unwrap_or("of another kind")))
        }
    }
}

/// Makes a failing text small, writes it down, and gives what to tell.
fn report(name: &str, seed: u64, hold: Hold, text: &str, fault: &Fault, steps: &AtomicU64) -> String {
    let kind = |fault: &str| fault.lines().next().unwrap_or_default().chars().take(30).collect::<String>();
    let small = minimise(text, 3_000, |text| check(hold, text, steps).is_err_and(|other| kind(&other) == kind(fault)));
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{seed}.flux"));
    std::fs::write(&path, &small).unwrap();
    format!("{name} with FUZZ_SEED={seed}: {fault}\nsmallest text, in {}:\n{small}\n", path.display())
}

/// What a run came to: how many texts it tried.
type Outcome = Result<u64, String>;

/// Tries mutations of `seeds`, from the seed `first` on, while `goes_on`. Each is written down before it is tried, so
/// that it is known where the process ends with it.
fn tried(
    name: &str,
    seeds: &[String],
    first: u64,
    hold: Hold,
    goes_on: impl Fn(u64) -> bool,
    steps: &AtomicU64,
) -> Outcome {
    let path = written(name);
    let mut count = 0;
    while goes_on(count) {
        let seed = first.wrapping_add(count);
        let text = mutate(&mut Random::new(seed), seeds);
        std::fs::write(&path, &text).unwrap();
        if let Err(fault) = check(hold, &text, steps) {
            return Err(report(name, seed, hold, &text, &fault, steps));
        }
        count += 1;
    }
    Ok(count)
}

/// Where the text that is being tried is written.
fn written(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-tried.flux"))
}

/// As [`tried`], on a thread of its own, so that a text that takes too long is noticed.
fn fuzz(
    name: &'static str,
    seeds: Vec<String>,
    first: u64,
    hold: Hold,
    goes_on: impl Fn(u64) -> bool + Send + 'static,
) {
    let steps = Arc::new(AtomicU64::new(0));
    let (to_us, outcome) = channel();
    let counted = Arc::clone(&steps);
    std::thread::spawn(move || to_us.send(tried(name, &seeds, first, hold, goes_on, &counted)));
    let mut before = None;
    loop {
        match outcome.recv_timeout(TEXT_LIMIT) {
            Ok(Ok(count)) => return eprintln!("{name}: {count} texts from FUZZ_SEED={first}"),
            Ok(Err(fault)) => panic!("{fault}"),
            Err(RecvTimeoutError::Disconnected) => panic!("{name} ended without an answer"),
            Err(RecvTimeoutError::Timeout) => {
                let now = Some(steps.load(Ordering::Relaxed));
                assert!(before != now, "{name} does not come to an end with {}", written(name).display());
                before = now;
            }
        }
    }
}

/// The most memory that this process has had, in bytes; none where nobody says.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()? << 10)
}

/// Fuzzes with the seeds of the slice, of which there are so many.
fn in_slice(name: &'static str, seeds: Vec<String>, hold: Hold, count: u64) {
    let parts: Vec<u64> = (0..4).filter(|part| is_in_slice(*part, 4)).collect();
    let all = count * parts.len() as u64;
    fuzz(name, seeds, parts.first().unwrap() * count, hold, move |tried| tried < all);
}

#[test]
fn mutated_programs_are_compiled_or_refused() {
    in_slice("compiler", programs(), hold::text, 150);
    assert!(peak_memory().is_none_or(|peak| peak < MEMORY_LIMIT), "{:?} bytes", peak_memory());
}

#[test]
fn mutated_programs_in_flick_are_compiled_or_refused() {
    in_slice("flick", flick_programs(), hold::flick_text, 60);
}

#[test]
fn mutated_text_of_the_ir_is_read_or_refused() {
    in_slice("ir", ir_texts(&programs()), hold::ir_text, 150);
}

#[test]
fn any_bytes_are_compiled_or_refused() {
    let mut random = Random::new(1);
    for _ in 0..500 {
        let length = random.below(200);
        let bytes: Vec<u8> = (0..length).map(|_| random.word().to_le_bytes()[0]).collect();
        let text = String::from_utf8_lossy(&bytes);
        assert_eq!(hold::text(&text).and_then(|()| hold::ir_text(&text)), Ok(()), "{text:?}");
    }
}

#[test]
fn programs_of_the_repository_hold() {
    for (_, program) in (0..).zip(programs()).filter(|(place, _)| is_in_slice(*place, 4)) {
        assert_eq!(hold::text(&program), Ok(()), "{program}");
        assert_eq!(hold::text(&program.replace('\n', "\r\n")), Ok(()), "{program}");
        assert_eq!(hold::text(&format!("\u{feff}{program}")), Ok(()), "{program}");
    }
    for program in flick_programs() {
        assert_eq!(hold::flick_text(&program), Ok(()), "{program}");
    }
}

#[test]
#[ignore = "runs for FUZZ_MINUTES"]
fn fuzz_compiler() {
    let number = |name| std::env::var(name).ok().and_then(|value| value.parse::<u64>().ok());
    let minutes = number("FUZZ_MINUTES").unwrap_or(10);
    let any = RandomState::new().hash_one(0) >> 8;
    let first = number("FUZZ_SEED").unwrap_or(any);
    let programs = programs();
    let texts = ir_texts(&programs);
    let flick = flick_programs();
    for (name, seeds, hold) in
        [("compiler", programs, hold::text as Hold), ("flick", flick, hold::flick_text), ("ir", texts, hold::ir_text)]
    {
        fuzz(name, seeds, first, hold, for_a_third_of(minutes));
    }
    assert!(peak_memory().is_none_or(|peak| peak < MEMORY_LIMIT), "{:?} bytes", peak_memory());
}
