//! FLICK through the command: what it checks and lays out, and what it says that it cannot do yet.

#![expect(clippy::disallowed_methods, reason = "a test is a shell: it starts the command on files")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::path::Path;
use std::process::Command;

const PROXY: &str = "\
use std.memcached

type cmd : record of memcached.command
  key : string

proc Proxy : (cmd/cmd client, [cmd/cmd] backends)
  | backends => client
  | client => target_backend(backends)

fun target_backend : ([-/cmd] backends, req : cmd) -> ()
  let target = hash(req.key) mod len(backends)
  req => backends[target]
";

const SHOP: &str = "\
use \"proxy.flick\";
use std.memcached;
record entry { first : proxy.kv; };
Make () => (int n);
End (int n) => ();
source Make => End;
";

/// Runs the command in a folder of the test's own; whether it succeeds, and all that it prints.
fn flux(arguments: &[&str]) -> (bool, String) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("flick");
    let output = Command::new(env!("CARGO_BIN_EXE_flux")).args(arguments).current_dir(folder).output().unwrap();
    let printed = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&printed).into_owned())
}

#[test]
fn a_program_is_checked_and_laid_out_and_not_built() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("flick");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("proxy.flick"), PROXY).unwrap();
    assert_eq!(flux(&["check", "proxy.flick"]), (true, "proxy.flick: no errors\n".to_owned()));
    assert_eq!(flux(&["fmt", "--check", "proxy.flick"]), (true, String::new()));
    for (command, what) in [("build", "built"), ("run", "built"), ("graph", "drawn"), ("stubs", "given stubs")] {
        let (success, printed) = flux(&[command, "proxy.flick"]);
        assert!(!success && printed.contains(&format!("proxy.flick cannot be {what} yet")), "{command}: {printed}");
    }

    std::fs::write(folder.join("proxy.flick"), PROXY.replace("req.key", "req . opcode")).unwrap();
    for command in ["check", "build"] {
        let (success, printed) = flux(&[command, "proxy.flick"]);
        assert!(!success && printed.contains("the record `cmd` shows no field `opcode`"), "{command}: {printed}");
        assert!(!printed.contains("yet"), "{printed}");
    }
    assert!(!flux(&["fmt", "--check", "proxy.flick"]).0);

    // Records of FLICK are those of the model, which programs in .flux use.
    std::fs::write(folder.join("proxy.flick"), "type kv : record\n  key : string\n").unwrap();
    std::fs::write(folder.join("shop.flux"), SHOP).unwrap();
    let (success, printed) = flux(&["check", "shop.flux"]);
    assert!(success, "{printed}");
}
