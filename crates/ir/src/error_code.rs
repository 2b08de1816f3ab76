//! Error codes, their names in a program, and the facts about a failure that a handler can take.
//!
//! A node fails with an `int` of its own choice. A body writes the number, a name of `<errno.h>`, or a name that a file
//! declares: `error not_found = 404;`. The name stays in the model, so every pass and tool can print it.

use crate::arena::ArenaId;
use crate::name::Name;
use crate::program::Parameter;
use crate::types::{Type, TypeKind};
use flux_source::Span;

/// A named code of a [`crate::program::Program`].
pub type CodeId = ArenaId<ErrorCode>;

/// `error not_found = 404;`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ErrorCode {
    /// The name.
    pub name: Name,
    /// The number, which others may have, too; never 0.
    pub number: i32,
    /// The statement.
    pub span: Span,
}

/// A code as its author wrote it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Code {
    /// The number; never 0.
    pub number: i32,
    /// The name for it; none where the author wrote the number.
    pub name: Option<CodeName>,
}

/// A name of a code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CodeName {
    /// A name of `<errno.h>`.
    Errno(Errno),
    /// A name that a file declares.
    Declared(CodeId),
}

/// A fact about a failure. A handler takes it by an input of the same name and type.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ErrorPart {
    /// `int error`: the code.
    Code,
    /// `text error_text`: the text of the exception that failed the node, cut after a kilobyte; empty where it failed
    /// without one.
    Text,
    /// `text error_node`: the name of the node that failed. If an abstract node failed, it is the node inside; if a
    /// handler failed, it is the handler.
    Node,
}

impl ErrorPart {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Code, Self::Text, Self::Node];

    /// The name of an input that takes it; its name in the text forms, too.
    pub fn name(self) -> &'static str {
        match self {
            Self::Code => "error",
            Self::Text => "error_text",
            Self::Node => "error_node",
        }
    }

    /// The input that takes it.
    pub fn parameter(self) -> Parameter {
        let ty = match self {
            Self::Code => Type::error_code(),
            Self::Text | Self::Node => Type::of_kind(TypeKind::Text),
        };
        Parameter { ty, name: self.name().to_owned(), span: Span::default() }
    }

    /// The part that `input` of a handler takes.
    pub fn of(input: &Parameter) -> Option<Self> {
        Self::ALL.into_iter().find(|part| part.name() == input.name && part.parameter().is_like(input))
    }
}

impl From<i32> for Code {
    fn from(number: i32) -> Self {
        Self { number, name: None }
    }
}

impl From<Errno> for Code {
    fn from(errno: Errno) -> Self {
        Self { number: errno.number(), name: Some(CodeName::Errno(errno)) }
    }
}

/// A name of `<errno.h>`: a place in the table of them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Errno(usize);

impl Errno {
    /// The entry with this name.
    pub fn of_name(name: &str) -> Option<Self> {
        ERRNO.binary_search_by_key(&name, |one| one.0).ok().map(Self)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        ERRNO.get(self.0).map_or("", |one| one.0)
    }

    /// Its number on Linux.
    pub fn number(self) -> i32 {
        ERRNO.get(self.0).map_or(0, |one| one.1)
    }

    /// All of them, by name.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..ERRNO.len()).map(Self)
    }
}

/// The names that POSIX.1-2024 (`<errno.h>`) requires, and their numbers on Linux (`asm-generic/errno.h`). Two names
/// may have one number. All are below 400, so none is a status of HTTP.
const ERRNO: [(&str, i32); 82] = [
    ("E2BIG", 7),
    ("EACCES", 13),
    ("EADDRINUSE", 98),
    ("EADDRNOTAVAIL", 99),
    ("EAFNOSUPPORT", 97),
    ("EAGAIN", 11),
    ("EALREADY", 114),
    ("EBADF", 9),
    ("EBADMSG", 74),
    ("EBUSY", 16),
    ("ECANCELED", 125),
    ("ECHILD", 10),
    ("ECONNABORTED", 103),
    ("ECONNREFUSED", 111),
    ("ECONNRESET", 104),
    ("EDEADLK", 35),
    ("EDESTADDRREQ", 89),
    ("EDOM", 33),
    ("EDQUOT", 122),
    ("EEXIST", 17),
    ("EFAULT", 14),
    ("EFBIG", 27),
    ("EHOSTUNREACH", 113),
    ("EIDRM", 43),
    ("EILSEQ", 84),
    ("EINPROGRESS", 115),
    ("EINTR", 4),
    ("EINVAL", 22),
    ("EIO", 5),
    ("EISCONN", 106),
    ("EISDIR", 21),
    ("ELOOP", 40),
    ("EMFILE", 24),
    ("EMLINK", 31),
    ("EMSGSIZE", 90),
    ("EMULTIHOP", 72),
    ("ENAMETOOLONG", 36),
    ("ENETDOWN", 100),
    ("ENETRESET", 102),
    ("ENETUNREACH", 101),
    ("ENFILE", 23),
    ("ENOBUFS", 105),
    ("ENODATA", 61),
    ("ENODEV", 19),
    ("ENOENT", 2),
    ("ENOEXEC", 8),
    ("ENOLCK", 37),
    ("ENOLINK", 67),
    ("ENOMEM", 12),
    ("ENOMSG", 42),
    ("ENOPROTOOPT", 92),
    ("ENOSPC", 28),
    ("ENOSR", 63),
    ("ENOSTR", 60),
    ("ENOSYS", 38),
    ("ENOTCONN", 107),
    ("ENOTDIR", 20),
    ("ENOTEMPTY", 39),
    ("ENOTRECOVERABLE", 131),
    ("ENOTSOCK", 88),
    ("ENOTSUP", 95),
    ("ENOTTY", 25),
    ("ENXIO", 6),
    ("EOPNOTSUPP", 95),
    ("EOVERFLOW", 75),
    ("EOWNERDEAD", 130),
    ("EPERM", 1),
    ("EPIPE", 32),
    ("EPROTO", 71),
    ("EPROTONOSUPPORT", 93),
    ("EPROTOTYPE", 91),
    ("ERANGE", 34),
    ("EROFS", 30),
    ("ESOCKTNOSUPPORT", 94),
    ("ESPIPE", 29),
    ("ESRCH", 3),
    ("ESTALE", 116),
    ("ETIME", 62),
    ("ETIMEDOUT", 110),
    ("ETXTBSY", 26),
    ("EWOULDBLOCK", 11),
    ("EXDEV", 18),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_below_the_statuses_of_http() {
        assert!(ERRNO.is_sorted_by_key(|one| one.0));
        assert!(ERRNO.iter().all(|one| (1..400).contains(&one.1)));
        assert_eq!(Errno::of_name("ENOENT").map(Errno::number), Some(2));
        assert_eq!(Errno::of_name("ENOENT").map(Errno::name), Some("ENOENT"));
        assert_eq!(Errno::of_name("ENOTHING"), None);
        assert_eq!(Errno::all().count(), ERRNO.len());
    }
}
