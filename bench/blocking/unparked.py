#!/usr/bin/env python3
"""What a server pays for calls that are caught where none of its nodes ever waits in one: servers as they are, beside
the same servers without it. In these the room `calls` is left out of the runtime, so that nothing is caught, and a
switch of fibers keeps neither `errno` nor exceptions nor the keys of libraries.

Two figures for an answer, each a ratio: instructions outside of the kernel, by valgrind, which are the same on a busy
machine; and processor time in turns, the server on one processor and the load on the other, as the median of the
ratios with the lowest and the highest.
"""

import argparse
import http.client
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.join(HERE, "build", "unparked")
sys.path.insert(0, os.path.dirname(HERE))
import server

LOAD_LIMIT_S = 300
PICTURES = f"{ROOT}/examples/image/pictures"
# What each server is built with and started with, and what it is asked for: a message of this size, or a target.
SERVERS = {
    "a message sent back": ("echo", [], [], 64),
    "a page from the cache": ("web", [], ["--root", f"{ROOT}/examples/web/public"], "/index.html"),
    "a picture from the cache": ("image", ["-l", "turbojpeg"], ["--root", PICTURES], "/bridge.jpg?scale=1"),
    "a picture compressed": ("image", ["-l", "turbojpeg"], ["--root", PICTURES, "--cache-size", "0"],
                             "/bridge.jpg?scale=1"),
}
# How many answers more the instructions are divided by; valgrind takes long for a picture.
COUNTED = {"a picture compressed": 20}
COUNTED_OTHERWISE = 2000

# What is in the runtime in place of the room.
NOTHING_CAUGHT = """#include "flux/calls/call_table.hpp"
std::string flux::calls::why_not_caught() { return {}; }
"""
SWITCHED = re.compile(r"^ +(std::swap\((errno|of_thread), .*|keys_\.swap\(\);|auto &of_thread = .*)\n", re.MULTILINE)


def build(flux, name, more):
    """Builds the server as it is, and without what is measured."""
    whole, without = f"{BUILD}/with/{name}", f"{BUILD}/without/{name}"
    subprocess.run([flux, "build", f"{ROOT}/examples/{name}/{name}.flux", "--build-dir", whole, *more],
                   check=True, stderr=subprocess.DEVNULL)
    shutil.rmtree(without, ignore_errors=True)
    shutil.copytree(whole, without)
    runtime = f"{without}/runtime"
    shutil.rmtree(f"{runtime}/src/calls")
    os.mkdir(f"{runtime}/src/calls")
    with open(f"{runtime}/src/calls/call_table.cpp", "w", encoding="ascii") as stub:
        stub.write(NOTHING_CAUGHT)
    with open(f"{runtime}/src/event/fiber.cpp", encoding="ascii") as source:
        fiber, changes = SWITCHED.subn("", source.read())
    if changes != 7:
        sys.exit("unparked: what a switch keeps is written otherwise now in fiber.cpp: change SWITCHED")
    with open(f"{runtime}/src/event/fiber.cpp", "w", encoding="ascii") as source:
        source.write(fiber)
    # A server that Flux has built uses a runtime that was built once for all: this one must not.
    os.unlink(f"{runtime}/libflux.a")
    os.unlink(f"{without}/{name}")
    subprocess.run(["make", "--silent", "-C", without, "FLUX_LIBRARY=runtime/libflux.a"], check=True,
                   stdout=subprocess.DEVNULL)


def command(which, what):
    """How this server is started, `with` or `without`."""
    name, _, arguments, _ = SERVERS[what]
    return [f"{BUILD}/{which}/{name}/{name}", "--port", "0", *arguments, "--flux-runtime=event", "--flux-workers=1"]


def ask(port, asked, times):
    """Asks so often, one after the other."""
    if isinstance(asked, int):
        load_messages(port, asked, "--connections", 1, "--messages", times)
        return
    for _ in range(times):
        one = http.client.HTTPConnection("127.0.0.1", port)
        one.request("GET", asked)
        answer = one.getresponse()
        if answer.status != 200 or not answer.read():
            sys.exit(f"unparked: {asked} is answered with {answer.status}")
        one.close()


def load_messages(port, size, *more):
    """What the load of messages says."""
    return json.loads(server.words(
        [f"{ROOT}/bench/floor/build/message_load", "--port", str(port), "--at-once", "1", "--request", str(size),
         "--answer", str(size), *map(str, more)], LOAD_LIMIT_S))


def instructions(which, what):
    """Instructions for an answer."""
    asked, more = SERVERS[what][3], COUNTED.get(what, COUNTED_OTHERWISE)
    counts = []
    for times in (more // 2, more + more // 2):
        with tempfile.NamedTemporaryFile("r") as report:
            valgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", f"--log-file={report.name}"]
            with server.running(valgrind + command(which, what)) as started:
                ask(started.port, asked, times)
                started.end(signal.SIGALRM)
            counts.append(float(re.search(r"Collected : (\d+)", report.read()).group(1)))
    return (counts[1] - counts[0]) / more


def processor_time(which, what, options):
    """Microseconds of the server's processor time for an answer."""
    asked = SERVERS[what][3]
    with server.running(command(which, what), processor=0) as started:
        os.sched_setaffinity(0, {os.cpu_count() - 1})
        try:
            if isinstance(asked, int):
                said = load_messages(started.port, asked, "--connections", 64, "--server", started.pid,
                                     "--seconds", options.seconds, "--warm-up", 0.5)
                return said["processor_ns"] / said["messages"] / 1000
            return 1000 * json.loads(server.words(
                [f"{ROOT}/bench/load/build/flux-load", "--json", "--closed", "16", "--port", str(started.port),
                 "--duration", str(options.seconds), "--warmup", "0.5", "--pid", str(started.pid), asked],
                LOAD_LIMIT_S))["server_cpu_ms"]
        finally:
            os.sched_setaffinity(0, range(os.cpu_count()))


def compare(what, options):
    """A line of the table."""
    counted = {which: instructions(which, what) for which in ("with", "without")}
    times = {"with": [], "without": []}
    for turn in range(options.turns):
        for which in ("with", "without") if turn % 2 == 0 else ("without", "with"):
            times[which].append(processor_time(which, what, options))
    ratios = [ours / theirs for ours, theirs in zip(times["with"], times["without"])]
    return (f"{what:<26}{counted['with']:>12.0f}{counted['without']:>12.0f}"
            f"{counted['with'] / counted['without']:>8.4f}{statistics.median(times['with']):>10.2f} us"
            f"{statistics.median(ratios):>8.3f} [{min(ratios):.3f}, {max(ratios):.3f}]")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--flux", default=f"{ROOT}/target/release/flux")
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=2, help="measured seconds of each run")
    parser.add_argument("--server", choices=SERVERS, action="append", help="this one alone")
    options = parser.parse_args()
    subprocess.run(["make", "--silent", "-C", f"{ROOT}/bench/floor", "build/message_load"], check=True)
    subprocess.run(["make", "--silent", "-C", f"{ROOT}/bench/load"], check=True)
    chosen = options.server or list(SERVERS)
    for name, more in {SERVERS[what][0]: SERVERS[what][1] for what in chosen}.items():
        build(options.flux, name, more)
    print(f"{'':<26}{'instructions':>12}{'without':>12}{'ratio':>8}{'time':>13}{'ratio':>8} [lowest, highest]")
    for what in chosen:
        print(compare(what, options), flush=True)


if __name__ == "__main__":
    main()
