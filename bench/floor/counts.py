"""What a message takes in the server that does not depend on how busy the machine is: instructions outside of the
kernel, counted by valgrind, and system calls, counted by strace. Each is what so many more messages add."""

import os
import re
import signal
import tempfile

import cases
import server

FEWER, MORE = 20_000, 60_000


def kill_traced(strace):
    """Ends the server of strace, which then says what it has counted."""
    with open(f"/proc/{strace.pid}/task/{strace.pid}/children", encoding="ascii") as children:
        os.kill(int(children.read().split()[0]), signal.SIGKILL)
    strace.end(signal.SIGCONT)


def counted(command, end, pattern, case, messages):
    """What the tool says, ended so, of the server with so many messages."""
    with tempfile.NamedTemporaryFile("r") as report:
        named = [word.format(report=report.name) for word in command]
        with server.running(named) as started:
            cases.load(started.port, case, "--messages", messages)
            end(started)
        return float(re.search(pattern, report.read(), re.MULTILINE).group(1))


def difference(*what):
    """What a message adds."""
    return (counted(*what, MORE) - counted(*what, FEWER)) / (MORE - FEWER)


def instructions(name, case, options):
    """Instructions for a message."""
    valgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--log-file={report}"]
    # A signal that no server handles: with others a server waits for its flows, which takes long under valgrind.
    command = valgrind + cases.command(name, case[0], f"{options.build}/counted")
    return difference(command, lambda started: started.end(signal.SIGALRM), r"Collected : (\d+)", case)


def system_calls(name, case, options):
    """System calls for a message."""
    strace = ["strace", "--follow-forks", "--summary-only", "--summary-columns=calls,name", "--output={report}"]
    return difference(strace + cases.command(name, case[0], options.build), kill_traced, r"^ *(\d+) total", case)


def table(options):
    """The lines as they come, with the results."""
    yield f"{'':<26}" + "".join(f"{name:>12}" for name in cases.NAMES), None
    for what, count in (("instructions", instructions), ("system calls", system_calls)):
        yield f"{what} for a message", None
        for case in options.cases:
            work, at_once, connections = case
            found = {name: count(name, case, options) for name in cases.NAMES}
            places = 0 if what == "instructions" else 3
            shown = "".join(f"{found[name]:>12.{places}f}" for name in cases.NAMES)
            yield f"{work:<6}{at_once:>8}{connections:>12}{shown}", {
                "work": work, "at_once": at_once, "connections": connections, "counted": what, "for_a_message": found}
