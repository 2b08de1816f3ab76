//! The harness of the tests themselves (`tests/support`): ports, logs of failing tests, idle servers and stalls.

use crate::support;
use crate::support::{Server, free_port, text, wait_for};
use rustix::fs::{FlockOperation, flock};
use std::collections::BTreeSet;
use std::fs::File;
use std::process::{Command, Output};

#[test]
fn a_port_belongs_to_one_program() {
    let ports: BTreeSet<u16> = (0..20).map(|_| free_port()).collect();
    assert_eq!(ports.len(), 20);
    for port in ports {
        let file = File::open(std::env::temp_dir().join("flux_test_ports").join(port.to_string())).unwrap();
        assert!(flock(&file, FlockOperation::NonBlockingLockShared).is_err(), "{port} is not reserved");
    }
}

/// Runs a test of this program that is ignored otherwise.
fn run(test: &str, stalls: Option<&str>) -> Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--ignored", "--exact", test]);
    command.env_remove("FLUX_TEST_STALLS").envs(stalls.map(|seed| ("FLUX_TEST_STALLS", seed)));
    command.output().unwrap()
}

/// A process that logs a word, and then waits.
fn waiting() -> Server {
    let server = Server::start(Command::new("sh").args(["-c", "echo logged >&2; exec tail -f /dev/null"]), 0);
    wait_for("its log", || server.said().contains("logged").then_some(()));
    server
}

#[test]
#[ignore = "it fails, for the next test"]
fn fails() {
    let server = waiting();
    server.rest();
    panic!("after {} bytes", server.said().len());
}

#[test]
fn a_failing_test_prints_the_log_and_the_command_that_repeats_it() {
    let output = run("harness::fails", Some("17"));
    let said = text(&output.stdout) + &text(&output.stderr);
    assert!(!output.status.success() && said.contains("after 7 bytes"), "{said}");
    assert!(said.contains("echo logged >&2; exec tail -f /dev/null\":\nlogged\n"), "{said}");
    assert!(
        said.contains("FLUX_TEST_STALLS=17 cargo test -p flux-lang --test command -- --exact harness::fails\n"),
        "{said}"
    );
}

/// The state of a process, as `proc_pid_stat(5)` names it.
fn state(of: &Server) -> char {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", of.id())).unwrap();
    stat.rsplit(") ").next().unwrap().chars().next().unwrap()
}

#[test]
#[ignore = "it is stalled, for the next test"]
fn is_stalled() {
    let mut server = waiting();
    for wanted in ['T', 'S', 'T', 'S'] {
        wait_for("another state", || (state(&server) == wanted).then_some(()));
    }
    // The harness leaves a server alone that its test has stopped.
    server.stop();
    support::let_pass(3000);
    assert_eq!(state(&server), 'T');
    server.signal("-CONT");
    server.terminate();
    assert!(!server.wait().success());
}

#[test]
fn a_server_is_stalled_if_the_environment_asks_for_it() {
    let output = run("harness::is_stalled", Some("1"));
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    let output = run("harness::fails", None);
    assert!(!text(&output.stdout).contains("FLUX_TEST_STALLS"), "{}", text(&output.stdout));
}
