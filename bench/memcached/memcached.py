#!/usr/bin/env python3
"""Compares the memcached of examples/memcached with memcached: one event loop against one thread, pinned to one
processor, the load on the other. The binary protocol, keys of 32 bytes, values of 1 KiB, of ten requests nine are gets
and one is a set. One request at a time on each connection; 16 together; and 16 quiet gets that a no operation ends, as
clients get many keys.

Processor time for a request in turns (A B C, B C A, …); the median of the ratios beside memcached, with the lowest and
the highest, and how many requests a second there were. A short look: --pairs 3 --seconds 0.5
"""

import argparse
import json
import os
import pathlib
import random
import socket
import statistics
import struct
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import server  # noqa: E402

LOAD = HERE.parent / "floor/build/message_load"
CACHE = HERE / "build/cache/cache"
GET, SET, NO_OPERATION, QUIET_GET, QUIET_SET = 0x00, 0x01, 0x0A, 0x0D, 0x11
HEAD = 24
KEYS = 10_000
VALUE = 1024
EVENT = ["--flux-runtime=event", "--flux-workers=1"]
SERVERS = {
    "memcached": ["memcached", "-u", "nobody", "-l", "127.0.0.1", "-t", "1", "-m", "64"],
    "reactor": [str(CACHE), "--port=0", *EVENT, "--flux-io=reactor"],
    "proactor": [str(CACHE), "--port=0", *EVENT, "--flux-io=proactor"],
}


def request(opcode, number=None, value=b""):
    """A request for the key of this number, or without a key."""
    key = b"" if number is None else b"%032d" % number
    extras = bytes(8) if opcode in (SET, QUIET_SET) else b""
    size = len(extras) + len(key) + len(value)
    return struct.pack(">BBHBBHLLQ", 0x80, opcode, len(key), len(extras), 0, 0, size, 0, 0) + extras + key + value


def answer_size(opcode):
    """The bytes of the answer to one; a quiet get is answered with its key."""
    return HEAD + {GET: 4 + VALUE, QUIET_GET: 4 + 32 + VALUE}.get(opcode, 0)


def turn(opcodes):
    """What is sent at once, as message_load takes it."""
    all_of_it = b"".join(
        request(opcode, None if opcode == NO_OPERATION else random.randrange(KEYS), b"v" * VALUE * (opcode == SET))
        for opcode in opcodes)
    answers = sum(answer_size(opcode) for opcode in opcodes)
    asked = len(opcodes) - opcodes.count(NO_OPERATION)
    return b"%d %d %d\n" % (len(all_of_it), answers, asked) + all_of_it


def any_of_both():
    return SET if random.randrange(10) == 0 else GET


LOADS = {
    "one": lambda: [any_of_both()],
    "together": lambda: [any_of_both() for _ in range(16)],
    "quiet": lambda: [QUIET_GET] * 16 + [NO_OPERATION],
}


def free_port():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return unused.getsockname()[1]


def fill(port):
    """Stores all keys, when the server listens."""
    for _ in range(200):
        try:
            connection = socket.create_connection(("127.0.0.1", port))
            break
        except OSError:
            time.sleep(0.01)
    with connection:
        for number in range(KEYS):
            connection.sendall(request(QUIET_SET, number, b"v" * VALUE))
        connection.sendall(request(NO_OPERATION))
        connection.recv(HEAD, socket.MSG_WAITALL)


def measure(name, turns, options):
    """What the load says of one run."""
    command, listens = SERVERS[name], name != "memcached"
    own_port = None if listens else free_port()
    if not listens:
        command = [*command, "-p", str(own_port)]
    with server.running(command, processor=options.server_processor, listens=listens) as started:
        port = started.port or own_port
        fill(port)
        command = ["taskset", "-c", str(options.load_processor), str(LOAD), "--port", str(port), "--connections",
                   str(options.connections), "--turns", turns, "--seconds", str(options.seconds), "--warm-up",
                   str(options.seconds / 4), "--server", str(started.pid)]
        return json.loads(server.words(command, 60 + 2 * options.seconds))


def compare(load, turns, options):
    """The line of a load."""
    names = list(SERVERS)
    runs = {name: [] for name in names}
    for number in range(options.pairs):
        # Who goes first changes, so that a machine that slows down favours none.
        first = number % len(names)
        for name in names[first:] + names[:first]:
            said = measure(name, turns, options)
            runs[name].append((said["processor_ns"] / said["messages"], said["messages"] / said["seconds"]))
    theirs = runs["memcached"]
    shown = f"{load:<10}{statistics.median(each for each, _ in theirs) / 1000:>9.2f} us"
    for name in names[1:]:
        ratios = [ours[0] / other[0] for ours, other in zip(runs[name], theirs)]
        faster = statistics.median(ours[1] / other[1] for ours, other in zip(runs[name], theirs))
        shown += f"   {statistics.median(ratios):.3f} [{min(ratios):.3f}, {max(ratios):.3f}] {faster:>6.2f}"
    return shown


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--load", choices=LOADS, action="append", help="one of the loads, instead of all")
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1, help="measured seconds of each run")
    parser.add_argument("--server-processor", type=int, default=0)
    parser.add_argument("--load-processor", type=int, default=os.cpu_count() - 1)
    options = parser.parse_args()
    print(f"{'requests':<10}{'memcached':>12}   {'reactor: time for a request':<21}   "
          f"{'proactor':<21}\n{'':<22}   {'beside it':<21} faster   {'beside it':<21} faster", flush=True)
    random.seed(1)
    for load in options.load or LOADS:
        with tempfile.NamedTemporaryFile() as turns:
            turns.write(b"".join(turn(LOADS[load]()) for _ in range(2000)))
            turns.flush()
            print(compare(load, turns.name, options), flush=True)


if __name__ == "__main__":
    main()
