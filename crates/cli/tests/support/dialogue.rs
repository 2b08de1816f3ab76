//! A program that a test talks with over its standard input and output.

use super::{text, wait_for};
use std::io::{Read, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, RwLock};

/// Such a program. It ends with the test.
pub struct Dialogue {
    process: Child,
    said: Arc<RwLock<Vec<u8>>>,
}

impl Dialogue {
    pub fn start(command: &mut Command) -> Self {
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = piped.spawn().unwrap();
        let said = Arc::default();
        collect(process.stdout.take().unwrap(), Arc::clone(&said));
        collect(process.stderr.take().unwrap(), Arc::clone(&said));
        Self { process, said }
    }

    pub fn say(&mut self, what: &str) {
        self.process.stdin.as_mut().unwrap().write_all(what.as_bytes()).unwrap();
    }

    /// Waits until it has written this to standard output or standard error.
    pub fn wait_for(&self, what: &str) {
        wait_for(what, || text(&self.said.read().unwrap()).contains(what).then_some(()));
    }
}

/// Reads to the end, on a thread of its own.
fn collect(mut from: impl Read + Send + 'static, to: Arc<RwLock<Vec<u8>>>) {
    std::thread::spawn(move || {
        let mut some = [0; 4096];
        while let Ok(count @ 1..) = from.read(&mut some) {
            to.write().unwrap().extend(some.iter().take(count));
        }
    });
}

impl Drop for Dialogue {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        if std::thread::panicking() {
            eprintln!("it said:\n{}", text(&self.said.read().unwrap()));
        }
    }
}
