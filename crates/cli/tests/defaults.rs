//! A server whose inputs take constants by name, and defaults: at a source, its target, a step and a handler.

use crate::support::{self, flux, text};
use std::process::Command;

const PROGRAM: &str = "\
include \"nodes.h\";
option word : string = \"hello\";
Make (int first, int step = 2, const char *name = word) => (int number);
Check (int number, int least, int most = 9) => ();
Say (int number, int error, int status = 418, const char *end = \"!\") => ();
source Make(40, step: -3) => Page;
Page (int number, int least = 7) => ();
Page = Check(least: least, most: 10);
handle error Check => Say;
";

const NODES: &str = "\
#pragma once
#include <cstdio>
#include <cstring>
#include <unistd.h>
inline int Make(int first, int step, const char *name, int &number)
{
    number = first + step + static_cast<int>(std::strlen(name));
    return 0;
}
inline int Check(int number, int least, int most) { return number > 0 ? most - least : 0; }
inline int Say(int number, int error, int status, const char *end)
{
    std::printf(\"%d %d %d%s\\n\", number, error, status, end);
    std::fflush(stdout);
    _exit(0);
}
";

#[test]
fn inputs_take_constants_by_name_and_defaults() {
    let folder = support::folder("defaults", "server");
    std::fs::write(folder.join("say.flux"), PROGRAM).unwrap();
    std::fs::write(folder.join("nodes.h"), NODES).unwrap();
    let built = flux(&folder, &["build", "--debug"]);
    assert!(built.status.success(), "{}", text(&built.stderr));
    for (arguments, said) in [(&[][..], "42 3 418!\n"), (&["--word", "hi"], "39 3 418!\n")] {
        for runtime in ["thread", "pool", "event"] {
            let mut server = Command::new("timeout");
            server.arg(support::LIMIT.as_secs().to_string()).arg(folder.join("build/say/say")).args(arguments);
            let output = server.arg(format!("--flux-runtime={runtime}")).output().unwrap();
            assert!(text(&output.stdout).starts_with(said), "{runtime}: {}", text(&output.stdout));
        }
    }
}
