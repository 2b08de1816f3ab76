//! A proxy of FLICK in simulated worlds in which its servers fail in each way, bound in each way, with a rule for what
//! fails and without: nobody is forgotten, and each reply goes to who has asked, in its place. Tens of thousands of
//! worlds take minutes, which found most of what was wrong with how runs wait for one another.

use crate::support::{flux, folder, sanitized, text, worlds};
use flux_random_program::is_in_slice;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What binds the servers; and whether, as connections are neither lent nor many, runs that wait for each other's may
/// be refused one.
const BOUNDS: [(&str, bool); 13] = [
    ("", false),
    ("keep 2 for 50ms", false),
    ("keep 4; retry 1", false),
    ("retry 2", false),
    ("keep 1; at most 2", false),
    ("keep 2; at most 1; retry 1", false),
    ("at most 2; retry 1", true),
    ("shared", false),
    ("shared 2; retry 2", false),
    ("shared; retry 1", false),
    ("retry 2; eject after 2 for 20ms", false),
    ("keep 4; retry 2; eject after 1 for 30ms", false),
    ("shared; eject after 2 for 20ms; retry 1", false),
];

/// Nothing of it is in the way: who waits longer is forgotten.
const LONG: [&str; 5] =
    ["--tcp-idle=20m", "--tcp-first-byte=20m", "--tcp-message=20m", "--tcp-request=20m", "--flick-connect=20m"];

/// The proxy for memcached's text of the examples, with these lines behind its rules and in its end.
fn built(name: &str, rules: &str, functions: &str) -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let example = std::fs::read_to_string(own.join("../../examples/memcached_proxy/text.flick")).unwrap();
    let program = example.replace("\nfun leave", &format!("{rules}\nfun leave")) + functions;
    assert!(program.contains(rules));
    let home = folder("flick_worlds", name);
    std::fs::write(home.join("proxy.flick"), program).unwrap();
    let world = own.join("tests/flick_worlds/world.cpp");
    let mut build =
        vec!["build", "--debug", "proxy.flick", world.to_str().unwrap(), "--build-dir", "build", "-o", "proxy"];
    sanitized::arguments().for_each(|each| build.push(each));
    let said = flux(&home, &build);
    assert!(said.status.success(), "{}", text(&said.stderr));
    home.join("proxy")
}

/// In some worlds few flows of a source may be in progress: no reply waits for that.
fn holds_however_it_is_bound(proxy: &Path, tells: bool) {
    let setting = |name, usual| std::env::var(name).map_or(usual, |value: String| value.parse().unwrap());
    let first: u64 = setting("FLUX_SIMULATION_SEED", 0);
    let seeds = first..first + setting("FLUX_SIMULATION_SEEDS", worlds(150)).div_ceil(BOUNDS.len() as u64);
    for seed in seeds.filter(|seed| sanitized::which().is_some() || is_in_slice(*seed, 2)) {
        for (bound, may_refuse) in BOUNDS {
            let servers = format!("--backends=127.0.0.1:7001, 127.0.0.1:7002, 127.0.0.1:7003; {bound}");
            let flows = if seed % 3 == 2 && !may_refuse { 5 } else { 1024 };
            let mut world = Command::new(proxy);
            world.args([&format!("--flux-io=simulation:{seed}"), "--client=127.0.0.1:7000", &servers]);
            world.args(LONG).arg(format!("--flux-max-flows={flows}"));
            let stays = !bound.contains("at most");
            for (says, is_so) in [("FLICK_TELLS", tells), ("FLICK_REFUSES", may_refuse), ("FLICK_STAYS", stays)] {
                is_so.then(|| world.env(says, "1"));
            }
            let said = world.output().unwrap();
            assert!(said.status.success(), "{} `{bound}` {seed}\n{}", proxy.display(), text(&said.stderr));
        }
    }
}

#[test]
fn what_servers_lose_ends_its_run_in_simulated_worlds() {
    holds_however_it_is_bound(&built("proxy", "", ""), false);
}

#[test]
fn who_learns_of_what_servers_lose_goes_on_in_simulated_worlds() {
    let rules = "  | error unreachable backends => leave(has_left)\n  | error broken backends => leave(has_left)\n";
    holds_however_it_is_bound(&built("proxy that learns", rules, ""), false);
}

#[test]
fn what_servers_lose_is_told_in_its_place_in_simulated_worlds() {
    let rules = "  | error unreachable backends => said() => client\n  | error broken backends => said() => client\n";
    let said = "\nfun said : (why : string) -> (reply)\n  reply(word: \"SERVER_ERROR\")\n";
    holds_however_it_is_bound(&built("proxy that tells", rules, said), true);
}

#[test]
fn the_sanitizers_find_nothing() {
    sanitized::run_again("flick_worlds", "the_sanitizers_find_nothing");
}
