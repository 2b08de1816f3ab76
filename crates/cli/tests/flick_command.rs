//! What the command does with programs in FLICK besides building them: bounds, layout, missing functions, pictures, and
//! a new program.

use crate::support::{flux, folder, text};
use std::path::Path;

const COUNT: &str = "\
type kv : record
  key : string{64}
  count : integer

global totals : dict[string{64}, integer]{1000}
global names : dict[string{64}, [integer]]{1000}

proc Count : (kv/kv client, [kv/kv]{16} backends, [-/kv] watchers)
  local seen : integer = 0
  | client => note(seen) => choose(backends)
  | backends => client
  | error broken backends => apologise(watchers, client)

fun note : (ref seen : integer, x : kv) -> (kv)
  seen := seen + 1
  if x.key in totals: totals[x.key] := totals[x.key] + x.count
  else: totals[x.key] := x.count
  names[x.key] := [1]
  x

fun choose : ([-/kv] backends, x : kv) -> ()
  if x.count > 3: x => backends[hash(x.key) mod len(backends)]
  else:
    for backend in backends: x => backend

fun apologise : ([-/kv] watchers, -/kv client, reason : string) -> ()
  let sorry = kv(key: clean(reason), count: 0)
  sorry => client
  for watcher in watchers: sorry => watcher

fun clean : (s : string) -> (string): ...
";

const BOUNDS: &str = "\
proc Count
  one run holds, in bytes at most
    client: messages                                76  1 × 76
    client: what it sends                         1216  1 × 16 × 76
    backends: messages                            1216  16 × 76
    backends: what it sends                       1216  16 × 1 × 76
    error broken backends: what it sends      no bound  write `[-/kv]{16} watchers`
    local seen                                       8
    in all                                    no bound
  one message takes, in steps at most
    client                         3059
    backends                        167
    error broken backends      no bound  write `[-/kv]{16} watchers`; besides `clean`, in C++
  all runs share, in bytes at most
    global totals        152032
    global names       no bound  write `names : dict[string{64}, [integer]{1000}]{1000}`
  messages, in bytes at most
    kv            76
";

/// What is printed, and whether all was well.
fn said(folder: &Path, arguments: &[&str]) -> (bool, String) {
    let output = flux(folder, arguments);
    (output.status.success(), text(&output.stdout))
}

fn written(test: &str) -> std::path::PathBuf {
    let folder = folder("flick_command", test);
    std::fs::write(folder.join("count.flick"), COUNT).unwrap();
    folder
}

#[test]
fn bounds_are_printed_with_what_to_write_where_there_are_none() {
    let folder = written("bounds");
    assert_eq!(said(&folder, &["check", "--bounds", "count.flick"]), (true, BOUNDS.to_owned()));
    let (success, all) = said(&folder, &["check", "--bounds", "--json", "count.flick"]);
    let bounds: serde_json::Value = serde_json::from_str(all.lines().last().unwrap()).unwrap();
    let run = &bounds["processes"][0]["run"];
    assert_eq!((success, &run[0]["what"], &run[0]["most"]), (true, &"client: messages".into(), &76.into()));
    assert!(bounds["processes"][0]["bytes"].is_null() && bounds["shared"][0]["most"].is_u64(), "{bounds}");
}

/// Where runs share connections they hold more, and that is said outside of the program.
#[test]
fn bounds_say_what_room_shared_connections_have() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let (success, printed) = said(&examples, &["check", "--bounds", "memcached_proxy/listing_1.flick"]);
    let row = |start: &str| printed.lines().find(|line| line.trim_start().starts_with(start)).unwrap();
    let told = "; with `shared` up to 128 of each, or 1 MiB";
    assert!(success && row("backends: messages").ends_with(told) && !row("client: messages").contains("shared"));
    // Of these it is not known how many replies there are.
    assert!(!BOUNDS.contains("shared"));
}

#[test]
fn programs_are_laid_out_completed_and_drawn() {
    let folder = written("layout");
    assert_eq!(said(&folder, &["fmt", "--check", "count.flick"]), (true, String::new()));
    std::fs::write(folder.join("wide.flick"), COUNT.replace(" => client", "=>client")).unwrap();
    assert!(!said(&folder, &["fmt", "--check", "wide.flick"]).0);
    assert!(said(&folder, &["fmt", "wide.flick"]).0);
    assert_eq!(std::fs::read_to_string(folder.join("wide.flick")).unwrap(), COUNT);

    let (success, stubs) = said(&folder, &["stubs", "count.flick"]);
    assert!(success && stubs.contains("int clean(struct clean_in *in, struct clean_out *out)"), "{stubs}");
    let (success, drawn) = said(&folder, &["graph", "count.flick"]);
    assert!(success && drawn.contains("Count_client") && drawn.contains("Count_backends_broken"), "{drawn}");
}

#[test]
fn a_new_program_is_right_and_bounded() {
    let folder = folder("flick_command", "new");
    assert!(said(&folder, &["new", "--template", "flick", "number"]).0);
    let home = folder.join("number");
    assert_eq!(said(&home, &["fmt", "--check", "number.flick"]), (true, String::new()));
    let (success, bounds) = said(&home, &["check", "--bounds"]);
    assert!(success && bounds.starts_with("proc Number\n") && !bounds.contains("no bound"), "{bounds}");
    assert!(!home.join("nodes.cpp").exists());
}

/// Which of the two nodes merges: that which joins numbers, or that which joins elements.
#[test]
fn numbers_alone_are_joined_where_elements_of_them_would_be_the_same() {
    let to = folder("flick_command", "numbers");
    let merging = |fields: &str, value: &str| {
        let file = to.join("sum.flick");
        let program = format!(
            "type kv = unit {{ {fields} }};

type kv : record
  key : uint32
  value : int32

proc Sum : ([kv/-] mappers, -/kv reducer)
  let sums = foldt on mappers ordering e a, b by e.key as k: {value}
  sums => reducer

fun both : (one : int32, other : int32) -> (int32)
  one + other

fun pair : (key : uint32, value : int32) -> (kv)
  if value > 7: kv(key: key, value: value)
  else: kv(key: key, value: value)

fun made : (key : uint32, value : int32) -> (kv)
  kv(key: key, value: value)
"
        );
        std::fs::write(&file, program).unwrap();
        let printed = flux(&to, &["ir", "sum.flick"]);
        assert!(printed.status.success(), "{fields}: {}", text(&printed.stderr));
        text(&printed.stdout).contains("node Sum_number ")
    };
    let plain = "key : uint32; value : int32;";
    let sum = "kv(key: k, value: both(a.value, b.value))";
    assert!(merging(plain, sum));
    assert!(merging(plain, "made(k, both(a.value, b.value) - 1)"));
    assert!(merging("key : uint32; if (self.key > 3) { value : int32; }", sum));
    // Whether it can be made, or what it is, depends on the number, or on more than that.
    assert!(!merging(plain, "pair(k, both(a.value, b.value))"));
    assert!(!merging(plain, "kv(key: a.key, value: both(a.value, b.value))"));
    assert!(!merging(plain, "kv(key: k, value: both(a.value, int32(b.key)))"));
    assert!(!merging(plain, "kv(key: k, value: 3)"));
    assert!(!merging("key : uint32; value : int32 &requires = $$ < 100;", sum));
    assert!(!merging("key : uint32; value : int32; if (self.value > 3) { more : int8; }", sum));
}

/// Replies that only go on have no flow each, unless a rule is for what goes wrong with them, or with who gets them.
#[test]
fn what_only_goes_on_has_no_flow_of_its_own() {
    let folder = folder("flick_command", "goes_on");
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/memcached_proxy/text.flick");
    let proxy = std::fs::read_to_string(example).unwrap();
    let events = [
        ("malformed client", true),
        ("failed client", true),
        ("broken client", false),
        ("malformed backends", false),
        ("failed backends", false),
        ("broken backends", false),
        ("unreachable backends", false),
    ];
    for (event, goes_on) in events {
        std::fs::write(folder.join("text.flick"), proxy.replace("malformed client", event)).unwrap();
        let made = flux(&folder, &["ir", "text.flick"]);
        assert!(made.status.success(), "{event}: {}", text(&made.stderr));
        assert_eq!(text(&made.stdout).contains("flick.PassBatch"), goes_on, "{event}");
    }
}

/// Rules for several channels, and for what goes wrong there, may ask the same of a channel.
#[test]
fn several_rules_ask_the_same_of_a_channel() {
    let folder = folder("flick_command", "asked");
    let program = "\
type kv : record
  key : string{64}

proc Ask : (kv/kv client, kv/- other, [kv/kv] backends)
  | client => choose(backends)
  | other => choose(backends)
  | backends => client
  | error failed backends => say(backends)

fun choose : ([-/kv] backends, x : kv) -> ()
  if len(x.key) > 3: x => backends[hash(x.key) mod len(backends)]
  else:
    for backend in backends: x => backend

fun say : ([-/kv] backends, why : string) -> ()
  for backend in backends: kv(key: \"failed\") => backend
";
    std::fs::write(folder.join("asked.flick"), program).unwrap();
    let built = flux(&folder, &["build", "--debug", "--generate-only", "asked.flick"]);
    assert!(built.status.success(), "{}", text(&built.stderr));
}
