//! A node that asks for a stack has it, on every runtime, and the report says how much of it was used.

use crate::support;
use crate::support::{RUNTIMES, flux, text};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const PROGRAM: &str = "
option depth : int = 0; // how many frames of 4 KiB

Begin (int depth) => (int depth);
Recurse (int depth) => (int depth, int reached) stack 16M;
Beside (int depth, int reached) => (int depth, int reached) blocking stack 12M;
Say (int depth, int reached) => ();
source Begin(depth) => Serve;
Serve = Recurse -> Beside -> Say;
";

const NODES: &str = "
#include \"deep.flux.h\"
#include <cstdio>
#include <unistd.h>

int Begin(Begin_in *in, Begin_out *out)
{
    static int made = 0;
    if (made++ == 3) {
        std::fflush(stdout);
        kill(getpid(), SIGTERM);
        pause();
        return 1; // there is no fourth
    }
    out->depth = in->depth;
    return 0;
}

static int reach(int depth)
{
    volatile char frame[4096 - 64];
    frame[0] = 1;
    return depth == 0 ? 0 : reach(depth - 1) + frame[0];
}

int Recurse(Recurse_in *in, Recurse_out *out)
{
    usleep(1000);
    out->depth = in->depth;
    out->reached = reach(in->depth);
    return 0;
}

int Beside(Beside_in *in, Beside_out *out)
{
    out->depth = in->depth;
    out->reached = reach(in->reached);
    return 0;
}

int Say(Say_in *in)
{
    std::printf(\"reached %d of %d\\n\", in->reached, in->depth);
    return 0;
}
";

fn build(folder: &Path) -> PathBuf {
    std::fs::write(folder.join("deep.flux"), PROGRAM).unwrap();
    std::fs::write(folder.join("nodes.cpp"), format!("#include <csignal>\n{NODES}")).unwrap();
    let built = flux(folder, &["build", "deep.flux"]);
    assert!(built.status.success(), "{}", text(&built.stderr));
    folder.join("build/deep/deep")
}

fn run(server: &Path, runtime: &[&str], depth: &str) -> Output {
    let report = ["--flux-report=json", "--depth", depth];
    Command::new(server).args(runtime).args(report).output().unwrap()
}

/// The number behind this in a report.
fn number(said: &str, before: &str) -> u64 {
    let behind = said.split_once(before).map_or("", |(_, behind)| behind);
    behind.chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap()
}

#[test]
fn a_node_has_the_stack_that_it_asks_for() {
    let server = build(&support::folder("node_stacks", "deep"));
    for runtime in RUNTIMES {
        let ended = run(&server, runtime, "2000");
        let (said, report) = (text(&ended.stdout), text(&ended.stderr));
        assert_eq!(said, "reached 2000 of 2000\n".repeat(3), "{runtime:?}: {report}");
        for (node, bytes) in [("Recurse", 16 << 20), ("Beside", 12 << 20)] {
            let used = number(&report, &format!("\"name\": \"{node}\", \"bytes\": {bytes}, \"used\": "));
            assert!((8_000_000..9_000_000).contains(&used), "{runtime:?}: {node} has used {used}: {report}");
        }
        // 14 MiB are too much for the second one.
        let report = text(&run(&server, runtime, "3500").stderr);
        let words = "SIGSEGV in Beside (deep.flux:6)";
        assert!(report.contains(words), "{runtime:?}: {report}");
        assert!(report.contains("its stack of 12288 KiB has overflowed; give it more: `stack 24M`"), "{report}");
    }
}
