//! Random programs, built by the `flux` command and run under load: the server's path counts, its counters and what its
//! nodes wrote down are those of the reference, flow by flow.
//!
//! FLUX_RANDOM_SEED is the first seed tried and FLUX_RANDOM_PROGRAMS how many programs are run. Seeds whose programs
//! have few paths are passed over. A failure names the seed, and leaves the program in its folder.

use crate::support;
use crate::support::Server;
use flux_ir::flow::{Callee, Function};
use flux_random_program::model::{Body, Mode, Node};
use flux_random_program::{Counts, Exit, Label, RandomProgram, Run, Shape, generate};
use flux_source::{FileId, SourceMap};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Flows of each run.
const FLOWS: u32 = 5000;
/// Flows of each run under a sanitizer.
const SANITIZED_FLOWS: u32 = 1500;
/// How all but the first are built: to compile what is optimised takes up to a minute.
const DEBUG: &[&str] = &["--debug"];
/// A server that takes longer than this hangs; its own patience is half of it.
const PATIENCE: Duration = Duration::from_secs(400);
/// No run has more event loops.
const MOST_LOOPS: u64 = 2;
/// A program is worth its compilation from so many paths on.
const PATHS: usize = 25;

#[test]
fn the_server_goes_the_ways_of_the_reference() {
    let programs = setting("FLUX_RANDOM_PROGRAMS", 2);
    for program in worthwhile(1, &Shape::default()).take(programs) {
        let test = Test::build("the_server_goes_the_ways_of_the_reference", &program, FLOWS, &[]);
        test.check(&["--flux-runtime=thread"]);
        test.check(&["--flux-runtime=pool", "--flux-workers=8", "--flux-queue=16"]);
        test.check(&["--flux-runtime=pool", "--flux-workers=2", "--flux-max-flows=3"]);
        test.check(&["--flux-runtime=event", "--flux-workers=1"]);
        test.check(&["--flux-runtime=event", "--flux-workers=2"]);
        test.remove();
    }
}

/// On event loops the sources have an instance on each, but for one on a thread, whose flows are among theirs.
#[test]
fn replicable_sources_make_the_same_flows() {
    let shape = Shape { replicable: true, ..parallel() };
    for program in worthwhile(5000, &shape).take(setting("FLUX_RANDOM_PROGRAMS", 1)) {
        let test = Test::build("replicable_sources_make_the_same_flows", &program, FLOWS, DEBUG);
        test.check(&["--flux-runtime=thread", "--flux-max-flows=32"]);
        test.check(&["--flux-runtime=pool", "--flux-workers=8"]);
        test.check(&["--flux-runtime=event", "--flux-workers=1"]);
        test.check(&["--flux-runtime=event", "--flux-workers=2"]);
        test.check(&["--flux-runtime=event", "--flux-workers=2", "--flux-max-flows=3"]);
        test.remove();
    }
}

/// One loop in a simulated world: a seed says where flows give way to others.
#[test]
fn simulated_loops_make_the_same_flows() {
    let shape = Shape { sources: 1, replicable: true, ..parallel() };
    for program in worthwhile(6000, &shape).take(setting("FLUX_RANDOM_PROGRAMS", 1)) {
        let test = Test::build("simulated_loops_make_the_same_flows", &program, SANITIZED_FLOWS, DEBUG);
        test.check(&["--flux-runtime=event", "--flux-workers=1"]);
        for seed in 0..20 {
            test.check(&[&format!("--flux-io=simulation:{seed}")]);
        }
        test.remove();
    }
}

/// Constraints are held around whole flows, and moved so that no two flows wait for each other.
#[test]
fn nested_constraints_hold_and_nothing_hangs() {
    let shape = Shape { abstract_constraints: true, ..Shape::default() };
    for program in worthwhile(3000, &shape).take(setting("FLUX_RANDOM_PROGRAMS", 1)) {
        let test = Test::build("nested_constraints_hold_and_nothing_hangs", &program, FLOWS, DEBUG);
        test.check(&["--flux-runtime=thread", "--flux-max-flows=64"]);
        test.check(&["--flux-runtime=pool", "--flux-workers=8"]);
        test.check(&["--flux-runtime=event", "--flux-workers=2"]);
        test.remove();
    }
}

/// Branches, with constraints of every scope in and around them, run at once where there are threads for them.
#[test]
fn parallel_steps_go_all_ways_at_once() {
    for program in worthwhile(4000, &parallel()).take(setting("FLUX_RANDOM_PROGRAMS", 1)) {
        let test = Test::build("parallel_steps_go_all_ways_at_once", &program, FLOWS, DEBUG);
        test.check(&["--flux-runtime=thread", "--flux-max-flows=32"]);
        test.check(&["--flux-runtime=pool", "--flux-workers=8"]);
        test.check(&["--flux-runtime=pool", "--flux-workers=1"]);
        test.check(&["--flux-runtime=event", "--flux-workers=1"]);
        test.check(&["--flux-runtime=event", "--flux-workers=2"]);
        test.remove();
    }
}

#[test]
fn the_thread_sanitizer_finds_nothing() {
    for program in sanitized("thread", 1000) {
        let sanitize = ["--sanitize", "thread", "--debug"];
        let test = Test::build("the_thread_sanitizer_finds_nothing", &program, SANITIZED_FLOWS, &sanitize);
        test.check(&["--flux-runtime=thread", "--flux-max-flows=16"]);
        test.check(&["--flux-runtime=pool", "--flux-workers=8"]);
        test.check(&["--flux-runtime=event", "--flux-workers=2"]);
        test.remove();
    }
}

#[test]
fn the_address_sanitizer_finds_nothing() {
    for program in sanitized("address", 2000) {
        let sanitize = ["--sanitize", "address", "--debug"];
        let test = Test::build("the_address_sanitizer_finds_nothing", &program, SANITIZED_FLOWS, &sanitize);
        test.check(&["--flux-runtime=thread", "--flux-max-flows=16"]);
        test.check(&["--flux-runtime=pool", "--flux-workers=8"]);
        test.check(&["--flux-runtime=event", "--flux-workers=2"]);
        test.remove();
    }
}

fn setting(name: &str, default: usize) -> usize {
    std::env::var(name).map_or(default, |value| value.parse().unwrap_or_else(|_| panic!("{name} is to be a number")))
}

/// Programs with parallel steps, each steps, and all else that there is.
fn parallel() -> Shape {
    Shape { parallel: true, each: 80, abstract_constraints: true, sessions: true, keys: true, ..Shape::default() }
}

/// The programs that are run under a sanitizer: with parallel steps and replicable sources, which is all that there is.
/// None where nobody asks for this sanitizer.
fn sanitized(sanitizer: &str, first: usize) -> impl Iterator<Item = RandomProgram> {
    let count = if support::is_asked_for(sanitizer) { setting("FLUX_RANDOM_PROGRAMS", 1) } else { 0 };
    let shape = Shape { replicable: true, ..parallel() };
    worthwhile(first, &shape).take(count)
}

/// Whether the compiler takes a program: constraints around parallel steps may exclude what is in them, and what a key
/// is may not be known where it would have to be taken. A path that is cut is not shown whole, so those are left out,
/// but for each steps, whose instances are counted by themselves.
fn is_shown_whole(program: &RandomProgram) -> bool {
    let mut sources = SourceMap::of(format!("{}.flux", program.name), program.flux_text());
    let mut read = |path: &str| Err(format!("{path} is not there"));
    let flow = flux_driver::compile(&mut sources, FileId(0), &mut read).flow;
    flow.is_some_and(|flow| {
        let is_cut = |function: &Function| {
            function.body.all_steps().iter().any(|step| step.paths.cut && !matches!(step.callee, Callee::Each(_)))
        };
        !flow.functions.iter().any(|(_, function)| is_cut(function))
    })
}

/// The programs that have many paths, from seed `first` on unless the environment names another; of those with parallel
/// steps, the ones that can be run.
fn worthwhile(first: usize, shape: &Shape) -> impl Iterator<Item = RandomProgram> + use<> {
    let wants_parallel = shape.parallel;
    let many_paths = |program: &RandomProgram| {
        let paths: BTreeSet<_> = (0..1000).map(|flow| program.run(flow).path_text()).collect();
        paths.len() >= PATHS
    };
    let first = setting("FLUX_RANDOM_SEED", first) as u64;
    let shape = shape.clone();
    let wanted =
        move |program: &RandomProgram| !wants_parallel || (program.model.is_parallel() && is_shown_whole(program));
    (first..).map(move |seed| generate(seed, &shape)).filter(many_paths).filter(wanted)
}

/// How flows end, as the report says it.
const EXITS: [&str; 3] = ["done", "failed", "ended"];

/// What is counted for each path: its source, how it ends, and its labels.
type PathKey = (String, &'static str, String);

/// What the reference says of all flows.
struct Expected {
    runs: Vec<Run>,
    paths: BTreeMap<PathKey, u64>,
    /// The same for the instances of each steps, with the node in whose flow they are.
    instances: BTreeMap<PathKey, u64>,
    counts: Counts,
    /// For each source, how often it decides to fail.
    failures: Vec<u64>,
    /// For each constraint, how often it was written under.
    writes: BTreeMap<String, u64>,
}

/// A server that has been built, and what is expected of it.
struct Test<'a> {
    name: &'static str,
    program: &'a RandomProgram,
    folder: PathBuf,
    server: PathBuf,
    expected: Expected,
}

impl<'a> Test<'a> {
    fn build(name: &'static str, program: &'a RandomProgram, flows: u32, options: &[&str]) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name).join(&program.name);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        for file in program.files() {
            std::fs::write(folder.join(&file.name), &file.text).unwrap();
        }
        let server = folder.join("server");
        let mut flux = Command::new(env!("CARGO_BIN_EXE_flux"));
        flux.arg("build").arg(folder.join(format!("{}.flux", program.name))).arg("-o").arg(&server).args(options);
        let output = flux.output().unwrap();
        let test = Self { name, program, folder, server, expected: Expected::of(program, flows) };
        if !output.status.success() {
            test.fail(&[], &format!("it does not build:\n{}", String::from_utf8_lossy(&output.stderr)));
        }
        test
    }

    /// Runs the server and compares what it says with what is expected.
    fn check(&self, options: &[&str]) {
        let (report_file, record_file) = (self.folder.join("report.json"), self.folder.join("record.txt"));
        let said = self.run_server(options, &report_file, &record_file);
        let read = |path: &Path| {
            let text = std::fs::read_to_string(path);
            text.unwrap_or_else(|error| self.fail(options, &format!("no {}: {error}\n{said}", path.display())))
        };
        let record = Record::read(&read(&record_file));
        self.check_record(options, &record);
        self.check_report(options, &serde_json::from_str(&read(&report_file)).unwrap(), &record);
    }

    fn run_server(&self, options: &[&str], report: &Path, record: &Path) -> String {
        let _ = std::fs::remove_file(report);
        let _ = std::fs::remove_file(record);
        let mut server = Command::new(&self.server);
        server.args(options).arg(format!("--flux-drain={}", PATIENCE.as_secs() / 2));
        server.arg(format!("--flux-report=json:{}", report.display()));
        server.env("UBSAN_OPTIONS", "halt_on_error=1:print_stacktrace=1");
        server.env("RANDOM_PROGRAM_FLOWS", self.expected.runs.len().to_string()).env("RANDOM_PROGRAM_RECORD", record);
        let mut server = Server::start(server.stdin(Stdio::null()).stdout(Stdio::null()), 0);
        let ended = server.wait_at_most(PATIENCE);
        let said = server.said();
        match ended {
            None => self.fail(options, &format!("it hangs\n{said}")),
            Some(status) if !status.success() => self.fail(options, &format!("it ends with {status}\n{said}")),
            Some(_) => said,
        }
    }

    /// What the functions of the nodes wrote down.
    fn check_record(&self, options: &[&str], record: &Record) {
        for (flow, run) in self.expected.runs.iter().enumerate() {
            let seen = record.flows.get(&flow).map(|labels| self.calls(labels));
            self.compare(options, &format!("the calls of flow {flow}"), &seen, &Some(self.calls(&run.trace)));
        }
        self.compare(options, "the number of flows", &record.flows.len(), &self.expected.runs.len());
        self.compare(options, "the writes under each constraint", &record.writes, &self.expected.writes);
        self.compare(options, "promises broken, objects not destroyed", &(record.violations, record.alive), &(0, 0));
    }

    /// Calls, with what became of each; branches make theirs in any order.
    fn calls(&self, labels: &[String]) -> Vec<String> {
        let mut calls: Vec<_> = labels.join(" ").replace(" ERROR", ":ERROR").split(' ').map(str::to_owned).collect();
        if self.program.model.is_parallel() {
            calls.sort();
        }
        calls
    }

    /// What the runtime reports.
    fn check_report(&self, options: &[&str], report: &Value, record: &Record) {
        self.check_paths(options, report);
        for index in 0..self.program.model.sources.len() {
            self.check_source(options, report, index, record.failures[self.source_name(index)]);
        }
        self.check_counters(options, report);
        self.compare(options, "paths lost", &report["lost"].as_u64(), &Some(0));
    }

    fn check_paths(&self, options: &[&str], report: &Value) {
        let mut seen: BTreeMap<PathKey, u64> = BTreeMap::new();
        for path in elements(report, "paths") {
            let exit = EXITS.into_iter().find(|exit| path["exit"] == *exit).unwrap();
            let source = path["source"].as_str().unwrap().to_owned();
            *seen.entry((source, exit, labels(path))).or_default() += number(path, "count");
        }
        self.compare_paths(options, "paths", &seen, &self.expected.paths);
        let mut seen: BTreeMap<PathKey, u64> = BTreeMap::new();
        for path in elements(report, "cut") {
            if let Some(node) = each_of(path["function"].as_str().unwrap()) {
                let exit = EXITS.into_iter().find(|exit| path["exit"] == *exit).unwrap();
                *seen.entry((node.to_owned(), exit, labels(path))).or_default() += number(path, "count");
            }
        }
        self.compare_paths(options, "paths of instances", &seen, &self.expected.instances);
    }

    fn compare_paths(
        &self,
        options: &[&str],
        what: &str,
        seen: &BTreeMap<PathKey, u64>,
        expected: &BTreeMap<PathKey, u64>,
    ) {
        let keys: BTreeSet<_> = seen.keys().chain(expected.keys()).collect();
        let count = |map: &BTreeMap<PathKey, u64>, key: &PathKey| map.get(key).copied().unwrap_or(0);
        let counts = |key: &PathKey| (count(seen, key), count(expected, key));
        let line = |key: &PathKey| {
            let ((seen, expected), (_, exit, labels)) = (counts(key), key);
            (seen != expected).then(|| format!("{seen} for {expected}: {labels} ({exit})"))
        };
        let different: Vec<_> = keys.into_iter().filter_map(line).take(10).collect();
        if !different.is_empty() {
            let different = different.join("\n");
            self.fail(options, &format!("{what}, how many seen for how many expected:\n{different}"));
        }
    }

    /// The flows of a source, and its failures, `decided` by itself and `idle` when it had produced all.
    fn check_source(&self, options: &[&str], report: &Value, index: usize, (decided, idle): (u64, u64)) {
        let reported = &report["sources"][index];
        let name = self.source_name(index);
        self.compare(options, "the sources", &reported["name"].as_str(), &Some(name));
        let paths = self.expected.paths.iter().filter(|((source, ..), _)| source == name);
        let mut wanted = BTreeMap::from(EXITS.map(|exit| (exit, 0)));
        paths.for_each(|((_, exit, _), count)| *wanted.get_mut(exit).unwrap() += count);
        wanted.extend([("started", wanted.values().sum()), ("cancelled", 0)]);
        let seen = wanted.keys().map(|key| (*key, number(&reported["flows"], key))).collect();
        self.compare(options, &format!("the flows of {name}"), &seen, &wanted);
        self.compare(options, &format!("the failures of {name}"), &decided, &self.expected.failures[index]);
        // The last failure of an instance may have been the one that SIGTERM met, and such a one is not the source's.
        let nothing = number(reported, "nothing");
        let missing = (decided + idle).checked_sub(nothing);
        let instances = if self.program.model.sources[index].replicable { MOST_LOOPS } else { 1 };
        self.compare(
            options,
            &format!("more failures of {name} than it has instances are not reported"),
            &missing.map(|count| count > instances),
            &Some(false),
        );
        let failed = elements(report, "cut").filter(|path| labels(path) == format!("{name} -> ERROR"));
        let count: u64 = failed.map(|path| number(path, "count")).sum();
        self.compare(options, &format!("the paths on which {name} failed"), &count, &nothing);
    }

    fn source_name(&self, index: usize) -> &str {
        let model = &self.program.model;
        &model.nodes[model.sources[index].node].name
    }

    fn check_counters(&self, options: &[&str], report: &Value) {
        let model = &self.program.model;
        // A source calls one node for each flow, and one that fails where it has nothing.
        let nothing: u64 = elements(report, "sources").map(|source| number(source, "nothing")).sum();
        let counted = |name| number(&report["counters"], name);
        let mut seen = Counts {
            calls: counted("calls") - nothing - self.expected.runs.len() as u64,
            dispatches: counted("dispatches"),
            acquisitions: counted("acquisitions"),
            failures: counted("failures") - nothing,
        };
        // Where constraints are nested, it is the compiler's choice who takes them.
        let constrained = |node: &Node| !matches!(node.body, Body::Concrete(_)) && !node.requirements.is_empty();
        if model.nodes.iter().any(|(_, node)| constrained(node)) {
            seen.acquisitions = self.expected.counts.acquisitions;
        }
        self.compare(options, "the counters", &seen, &self.expected.counts);
    }

    fn compare<T: PartialEq + Debug>(&self, options: &[&str], what: &str, seen: &T, expected: &T) {
        if seen != expected {
            self.fail(options, &format!("{what}:\n  seen     {seen:?}\n  expected {expected:?}"));
        }
    }

    fn fail(&self, options: &[&str], what: &str) -> ! {
        let (name, seed, folder) = (self.name, self.program.seed, self.folder.display());
        panic!(
            "seed {seed} {}\n{what}\nthe program is in {folder}; try again:\n    \
             FLUX_RANDOM_SEED={seed} FLUX_RANDOM_PROGRAMS=1 cargo test -p flux-lang --test command {name}",
            options.join(" "),
        )
    }

    /// All went well: nothing is to be looked at.
    fn remove(self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

impl Expected {
    fn of(program: &RandomProgram, flows: u32) -> Self {
        let runs: Vec<_> = (0..flows).map(|flow| program.run(flow)).collect();
        let model = &program.model;
        let promised = model.promised();
        let (mut paths, mut instances, mut counts) = (BTreeMap::new(), BTreeMap::new(), Counts::default());
        let mut writes: BTreeMap<_, _> = model.constraints.iter().map(|(_, one)| (one.name.clone(), 0)).collect();
        let mut failures = vec![0; model.sources.len()];
        for (run, flow) in runs.iter().zip(0..) {
            counts += run.counts;
            failures[run.source] += u64::from(program.source_fails_before(flow));
            let source = &model.nodes[model.sources[run.source].node].name;
            let labels: Vec<_> = std::iter::once(source.as_str()).chain(run.path.iter().map(Label::text)).collect();
            *paths.entry((source.clone(), exit_text(run.exit), labels.join(" -> "))).or_default() += 1;
            for one in &run.instances {
                let labels: Vec<_> = one.path.iter().map(Label::text).collect();
                let key = (one.node.clone(), exit_text(one.exit), labels.join(" -> "));
                *instances.entry(key).or_default() += 1;
            }
            for called in &run.trace {
                let node = model.nodes.iter().position(|(_, node)| node.name == *called);
                let held = node.map(|index| &promised[index]).into_iter().flatten();
                for (constraint, _) in held.filter(|(_, mode)| **mode == Mode::Write) {
                    *writes.entry(model.constraints[*constraint].name.clone()).or_default() += 1;
                }
            }
        }
        Self { runs, paths, instances, counts, failures, writes }
    }
}

fn elements<'a>(report: &'a Value, list: &str) -> impl Iterator<Item = &'a Value> {
    report[list].as_array().unwrap_or_else(|| panic!("the report has no list `{list}`")).iter()
}

fn number(object: &Value, name: &str) -> u64 {
    object[name].as_u64().unwrap_or_else(|| panic!("the report has no number `{name}` in {object}"))
}

/// The labels of a path, each step under the name of the node in whose flow it is.
fn labels(path: &Value) -> String {
    let labels = elements(path, "labels").map(|label| label.as_str().unwrap());
    let labels = labels.map(|label| each_of(label).map_or(label.to_owned(), |node| format!("{node}[]")));
    labels.collect::<Vec<_>>().join(" -> ")
}

/// The node in whose flow the each step is that runs this function; none where it is no such function. In these
/// programs no node has a `_` in its name.
fn each_of(function: &str) -> Option<&str> {
    let (node, rest) = function.split_once('_')?;
    (rest.contains("each_") && !function.contains(':')).then_some(node)
}

fn exit_text(exit: Exit) -> &'static str {
    match exit {
        Exit::Done => EXITS[0],
        Exit::Failed => EXITS[1],
        Exit::Ended => EXITS[2],
    }
}

/// What the functions of the nodes wrote down; `nodes.hpp` says how.
#[derive(Default)]
struct Record {
    flows: BTreeMap<usize, Vec<String>>,
    /// For each source, how often it failed by its own decision, and how often after its last flow.
    failures: BTreeMap<String, (u64, u64)>,
    writes: BTreeMap<String, u64>,
    violations: i64,
    alive: i64,
}

impl Record {
    fn read(text: &str) -> Self {
        let mut record = Self::default();
        for line in text.lines() {
            let words: Vec<_> = line.split(' ').collect();
            match words.as_slice() {
                ["flow", number, labels @ ..] => {
                    let earlier = record
                        .flows
                        .insert(number.parse().unwrap(), labels.iter().map(|label| (*label).to_owned()).collect());
                    assert_eq!(earlier, None, "flow {number} is recorded once");
                }
                ["failures", source, decided, idle] => {
                    record.failures.insert((*source).to_owned(), (decided.parse().unwrap(), idle.parse().unwrap()));
                }
                ["writes", constraint, number] => {
                    record.writes.insert((*constraint).to_owned(), number.parse().unwrap());
                }
                ["violations", number] => record.violations = number.parse().unwrap(),
                ["alive", number] => record.alive = number.parse().unwrap(),
                _ => panic!("the record has no such line: {line}"),
            }
        }
        record
    }
}
