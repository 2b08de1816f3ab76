//! A failing test prints the command that repeats it.

use super::stalls;
use std::panic::{set_hook, take_hook};
use std::sync::Once;

/// Makes each test of this program that fails print its command.
pub fn tell() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |panic| {
            usual(panic);
            // The thread of a test has the name of the test. Other threads have none, but for `main`.
            if let Some(test) = std::thread::current().name() {
                eprintln!("repeat: {}", command(test));
            }
        }));
    });
}

fn command(test: &str) -> String {
    let file = module_path!().split("::").next().unwrap();
    let test = if test == "main" { String::new() } else { format!(" -- --exact {test}") };
    let setting = |name: &str| std::env::var(name).map_or_else(|_| String::new(), |value| format!("{name}={value} "));
    let settings = ["FLUX_SANITIZERS", super::sanitized::WHICH, stalls::VARIABLE].map(setting).concat();
    format!("{settings}cargo test -p flux-lang --test {file}{test}")
}
