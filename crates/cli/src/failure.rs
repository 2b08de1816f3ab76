//! How a command fails: with a message, and an exit code that a script can tell apart.

use std::process::ExitCode;

/// Why a command ended without doing what it was asked.
#[derive(Debug)]
pub enum Failure {
    /// The program has errors; they have been shown. Exit code 1.
    Program,
    /// The C++ compiler or the linker found errors; they have been shown. Exit code 1.
    Build,
    /// What was read is not what it should be. Exit code 1.
    Bytes(String),
    /// The command cannot do what it is asked: a file is missing, a tool is not installed. Exit code 2.
    Usage(String),
}

impl Failure {
    /// What went wrong, with the fix in it.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::Usage(message.into())
    }

    /// What is still to be said.
    pub fn message(&self) -> Option<&str> {
        match self {
            Self::Usage(message) | Self::Bytes(message) => Some(message),
            Self::Program | Self::Build => None,
        }
    }

    /// 1 for faults of the program, 2 for faults of the call.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Program | Self::Build | Self::Bytes(_) => ExitCode::from(1),
            Self::Usage(_) => ExitCode::from(2),
        }
    }
}

/// What a command gives.
pub type Result<T = ()> = std::result::Result<T, Failure>;
