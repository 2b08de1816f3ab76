//! The rooms of the runtime include each other in one direction: the order of [`ROOMS`], which `ARCHITECTURE.md` draws.
//!
//! A header includes its own room, those below it, and what lies directly in `runtime/include/flux`, which nodes may
//! include. A source may do so too, and [`CALLS_UP`] names the rooms whose sources call one above them.

use super::CPP;
use crate::repository::File;
use crate::{Finding, Repository};

/// Each room knows those before it.
const ROOMS: [&str; 17] = [
    "code_2006",
    "list",
    "cache",
    "waiting",
    "message",
    "flow",
    "constraint",
    "io",
    "process",
    "strategy",
    "event",
    "calls",
    "simulation",
    "insight",
    "admin",
    "server",
    "host",
];

/// Whose sources call a room above: where a flow ends, it says so to its source; a crash names the flow and its source;
/// a source begins on a loop; sockets may be adopted; the simulation ends as a server does, with a report.
const CALLS_UP: [(&str, &str); 7] = [
    ("flow", "strategy"),
    ("flow", "process"),
    ("io", "process"),
    ("process", "strategy"),
    ("process", "event"),
    ("strategy", "event"),
    ("simulation", "server"),
];

/// Includes that go up, and folders that are no room.
pub fn check(repository: &Repository) -> Vec<Finding> {
    let written = repository.with_extension(CPP);
    written.filter_map(|file| Some((file, room_of(file.path)?))).flat_map(|(file, room)| judge(file, room)).collect()
}

/// The room of a header or a source of the runtime; none for what lies in no room.
fn room_of(path: &str) -> Option<&str> {
    let inside = path.strip_prefix("runtime/include/flux/").or_else(|| path.strip_prefix("runtime/src/"))?;
    Some(inside.split_once('/')?.0)
}

fn judge(file: File, room: &str) -> Vec<Finding> {
    let Some(rank) = rank_of(room) else {
        return vec![Finding::new(
            file.path,
            1,
            format!("is in no room of the runtime: those are {}", ROOMS.join(", ")),
        )];
    };
    let is_header = file.path.starts_with("runtime/include/");
    let goes_up = |to: &str| {
        let is_known = rank_of(to).is_some_and(|target| target <= rank);
        let calls_up = !is_header && CALLS_UP.contains(&(room, to));
        !is_known && !calls_up
    };
    let message = |to: &str| format!("includes the room `{to}`, which is above `{room}`: see ARCHITECTURE.md");
    file.lines()
        .filter_map(|(line, text)| Some((line, text.strip_prefix("#include \"flux/")?.split_once('/')?.0)))
        .filter(|(_, to)| goes_up(to))
        .map(|(line, to)| Finding::new(file.path, line, message(to)))
        .collect()
}

fn rank_of(room: &str) -> Option<usize> {
    ROOMS.iter().position(|known| *known == room)
}

#[cfg(test)]
mod tests {
    use super::super::assert_found;
    use super::*;

    #[test]
    fn includes_go_down() {
        let files = [
            ("runtime/include/flux/flow/flow.hpp", "#include \"flux/waiting/park.hpp\"\n#include \"flux/log.hpp\"\n"),
            ("runtime/include/flux/flow/up.hpp", "\n#include \"flux/event/loop.hpp\"\n"),
            ("runtime/include/flux/flow/source.hpp", "#include \"flux/strategy/source.hpp\"\n"),
            ("runtime/include/flux/connection.hpp", "#include \"flux/io/socket.hpp\"\n"),
            ("runtime/src/flow/flow.cpp", "#include \"flux/strategy/source.hpp\"\n"),
            ("runtime/src/flow/up.cpp", "#include \"flux/event/loop.hpp\"\n"),
            ("runtime/src/misc/a.cpp", ""),
            ("runtime/test/flow/flow_test.cpp", "#include \"flux/event/loop.hpp\"\n"),
        ];
        let expected = [
            "runtime/include/flux/flow/source.hpp:1: includes the room `strategy`, which is above `flow`",
            "runtime/include/flux/flow/up.hpp:2: includes the room `event`, which is above `flow`",
            "runtime/src/flow/up.cpp:1: includes the room `event`, which is above `flow`",
            "runtime/src/misc/a.cpp:1: is in no room of the runtime",
        ];
        assert_found(check, &files, &expected);
    }
}
