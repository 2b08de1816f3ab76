"""The harness of the Python scripts of tests. Only this module sleeps and reads a clock. No test result may depend on
how long something takes."""

import fcntl
import os
import socket
import sys
import tempfile
import time

# Only a hang takes longer.
LIMIT_S = 60


def let_pass(seconds):
    """Goes on later. The test must assert only facts that hold at any time."""
    time.sleep(seconds)


def now():
    """The seconds since 1970."""
    return time.time()


def wait_for(what, look):
    """Waits until `look` finds something, and returns it."""
    end = time.monotonic() + LIMIT_S
    while True:
        is_late = time.monotonic() > end
        if found := look():
            return found
        if is_late:
            sys.exit(f"there is still not: {what}")
        time.sleep(0.01)


def rounds(given):
    """The numbers of rounds: `300` is a count, and `2m` is a time in minutes."""
    if not given.endswith("m"):
        yield from range(int(given))
        return
    end, number = time.monotonic() + 60 * float(given[:-1]), 0
    while time.monotonic() < end:
        yield number
        number += 1


def sleeps_of(process):
    """The number of times that each thread of a process has gone to sleep. None if a thread runs."""
    sleeps = {}
    try:
        for thread in os.listdir(f"/proc/{process}/task"):
            with open(f"/proc/{process}/task/{thread}/status", encoding="utf-8") as file:
                fields = dict(line.split(":", 1) for line in file)
            if not fields["State"].strip().startswith("S"):
                return None
            sleeps[thread] = fields["voluntary_ctxt_switches"]
    except FileNotFoundError:
        return None
    return sleeps


def rest(process):
    """Waits until a server is idle: two looks in a row find all threads asleep, and none has run in between."""
    wait_for("a server that rests", lambda: (sleeps := sleeps_of(process)) and sleeps == sleeps_of(process))


def tries():
    """Tries until the limit, for a check that may fail on a slow machine, but not each time."""
    end = time.monotonic() + LIMIT_S
    while time.monotonic() < end:
        yield


_reserved = []


def free_port():
    """A port that no process uses, reserved until this process ends, like `free_port` of ports.rs."""
    folder = os.path.join(tempfile.gettempdir(), "flux_test_ports")
    os.makedirs(folder, exist_ok=True)
    first = os.getpid() % 1000 * 12
    for port in (20_000 + (first + tried) % 12_000 for tried in range(12_000)):
        file = open(os.path.join(folder, str(port)), "w", encoding="utf-8")  # pylint: disable=consider-using-with
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with socket.socket() as one:
                one.bind(("", port))
        except OSError:
            file.close()
            continue
        _reserved.append(file)
        return port
    return sys.exit("no port is free")
