"""What the scripts of tests share: waiting, and rounds. Only here do they sleep and read a clock: no result of a test may
depend on how long something takes."""

import fcntl
import os
import socket
import sys
import tempfile
import time

# Only what hangs takes longer.
LIMIT_S = 60


def let_pass(seconds):
    """Goes on later. What a test asserts after that holds at any time."""
    time.sleep(seconds)


def now():
    """The seconds since 1970."""
    return time.time()


def wait_for(what, look):
    """Waits until there is something, and gives it."""
    end = time.monotonic() + LIMIT_S
    while True:
        is_late = time.monotonic() > end
        if found := look():
            return found
        if is_late:
            sys.exit(f"there is still not: {what}")
        time.sleep(0.01)


def rounds(given):
    """The numbers of so many rounds, `300`, or of as many as there are in so many minutes, `2m`."""
    if not given.endswith("m"):
        yield from range(int(given))
        return
    end, number = time.monotonic() + 60 * float(given[:-1]), 0
    while time.monotonic() < end:
        yield number
        number += 1


def sleeps_of(process):
    """How often each thread of a process has gone to sleep; None where one of them does not sleep."""
    sleeps = {}
    try:
        for thread in os.listdir(f"/proc/{process}/task"):
            with open(f"/proc/{process}/task/{thread}/status", encoding="utf-8") as file:
                fields = dict(line.rstrip().split(":\t", 1) for line in file if ":\t" in line)
            if not fields["State"].startswith("S"):
                return None
            sleeps[thread] = fields["voluntary_ctxt_switches"]
    except FileNotFoundError:
        return None
    return sleeps


def rest(process):
    """Waits until a server has nothing to do: all of its threads sleep, and none has woken since the look before."""
    wait_for("a server that rests", lambda: (sleeps := sleeps_of(process)) and sleeps == sleeps_of(process))


def tries():
    """Goes on until the limit, for what may fail on a slow machine and must not fail always."""
    end = time.monotonic() + LIMIT_S
    while time.monotonic() < end:
        yield


_reserved = []


def free_port():
    """A port that no process uses, as `free_port` in Rust (ports.rs) reserves it: until this process ends."""
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
