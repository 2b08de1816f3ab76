#!/usr/bin/env python3
"""Servers that run: what a live experiment says that a faster node would give, and what it gives.

Each server is one of small nodes, as those of advice.py, with as many flows at once as there are clients. While it
runs, one node truly takes less in every second slice of time, which is what is found; then comes the experiment, which
is what is said: by how much throughput changes, and within what, at 95 of 100. The last column is the part of the
processors that other programs had meanwhile, and other machines: figures of more than a few percent say little.
"""

import argparse
import json
import mmap
import os
import signal
import statistics
import struct
import subprocess
import sys
import time
import urllib.request

from advice import CHAIN, HERE, ROOT, Subject

NODES = {"A": ("compute", 300), "B": ("compute", 1000), "C": ("compute", 300)}


class Live:
    """A server, and the node that is to be faster."""

    def __init__(self, name, node, nodes=None, flow=CHAIN, clients=8, runtime="pool", workers=2, cpus="0,1"):
        self.name, self.node, self.cpus = name, node, cpus
        kinds = (nodes or NODES).items()
        works = {each: f"{kind}({us}{' * shared.part' if each == node else ''});" for each, (kind, us) in kinds}
        self.subject = Subject(name, works, flow, ("clients", clients), None, None, runtime, workers, cpus)


LOCK = CHAIN + "\natomic B:{table};"
BACKEND = {"A": ("compute", 200), "B": ("rest", 8000), "C": ("compute", 400)}
SERVERS = [
    Live("live_two_threads", "B"),
    Live("live_behind_a_lock", "B", flow=LOCK),
    Live("live_beside_a_lock", "A", nodes={**NODES, "A": ("compute", 200), "C": ("compute", 100)}, flow=LOCK),
    Live("live_two_loops", "B", runtime="event"),
    Live("live_loops_on_one_processor", "B", runtime="event", cpus="0"),
    Live("live_beside_a_backend", "A", nodes=BACKEND, runtime="event", clients=4),
    Live("live_backend", "B", nodes=BACKEND, runtime="event", clients=4),
]


class Running:
    """A server that runs, with its admin interface and its board (advice.py)."""

    def __init__(self, subject):
        folder = os.path.join(HERE, "build", subject.name)
        board = os.path.join(folder, "board")
        with open(board, "wb") as file:
            file.write(struct.pack("dq", 1, 0))
        with open(board, "r+b") as file:
            self.board = mmap.mmap(file.fileno(), 16)
        self.process = subprocess.Popen(
            ["taskset", "-c", subject.cpus, os.path.join(folder, "build", subject.name, subject.name),
             f"--flux-runtime={subject.runtime}", f"--flux-workers={subject.workers}",
             f"--flux-max-flows={subject.load[1]}", "--flux-admin=0"],
            env={**os.environ, "BOARD": board}, stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            if "admin interface listens at" in line:
                self.at = "http://" + line.split()[-1]
                break
        time.sleep(0.3)

    def ask(self, path, post=False):
        """What a page says."""
        request = urllib.request.Request(self.at + path, method="POST" if post else "GET")
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    def rate(self, part, seconds):
        """Flows a second while the node takes this part of its time."""
        self.board[0:8] = struct.pack("d", part)
        (before,), begin = struct.unpack("q", self.board[8:16]), time.monotonic()
        time.sleep(seconds)
        (after,), end = struct.unpack("q", self.board[8:16]), time.monotonic()
        return (after - before) / (end - begin)

    def used(self):
        """How many seconds it has had processors."""
        with open(f"/proc/{self.process.pid}/stat", encoding="utf-8") as file:
            user, system = file.read().rsplit(")", 1)[1].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def end(self):
        """Ends it."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


def used_by_all():
    """How many seconds processors were in use, by others and by other machines, too."""
    with open("/proc/stat", encoding="utf-8") as file:
        user, nice, system, _, _, interrupts, soft, stolen = map(int, file.readline().split()[1:9])
    return (user + nice + system + interrupts + soft + stolen) / os.sysconf("SC_CLK_TCK")


def gain(pairs):
    """Of rates, as it is and faster: a mean, and within what."""
    parts = [fast / slow - 1 for slow, fast in pairs if slow > 0]
    return statistics.mean(parts), 2 * statistics.stdev(parts) / len(parts) ** 0.5


def found(running, percent, slices):
    """What a node gives that truly takes less in every second slice."""
    faster = 1 - percent / 100
    pairs = []
    for number in range(slices // 2):
        parts = (1, faster) if number % 2 == 0 else (faster, 1)
        one, other = (running.rate(part, 0.25) for part in parts)
        pairs.append((one, other) if number % 2 == 0 else (other, one))
    running.rate(1, 0.1)
    return gain(pairs)


def said(running, node, percent, slices):
    """What the experiment says."""
    said_so_far = running.ask(f"/speed-up?node={node}&percent={percent}&slices={slices}", post=True)
    while said_so_far["is_running"]:
        time.sleep(0.5)
        said_so_far = running.ask("/speed-up")
    rates = [(one["percent"], 1e9 * one["flows"] / (one["ns"] - one["delays_ns"])) for one in said_so_far["slices"]]
    return gain([[rate for _, rate in sorted(pair)] for pair in zip(rates[::2], rates[1::2])])


def measured(server, percent, slices):
    """What is found, what is said, and what others had of the processors meanwhile."""
    running = Running(server.subject)
    begin, all_before, own_before, own = time.monotonic(), used_by_all(), running.used(), time.process_time()
    try:
        both = found(running, percent, slices), said(running, server.node, percent, slices)
        others = used_by_all() - all_before - (running.used() - own_before) - (time.process_time() - own)
        others /= (time.monotonic() - begin) * (os.cpu_count() or 1)
    finally:
        running.end()
    return *both, max(others, 0)


def main():
    """Prints the table."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--flux", default=f"{ROOT}/target/release/flux", help="the compiler")
    arguments.add_argument("--percent", type=int, default=25, help="how much less the node takes (25)")
    arguments.add_argument("--slices", type=int, default=40, help="of 250 ms, of each of both (40)")
    arguments.add_argument("--built", action="store_true", help="the servers are built: measure them")
    arguments.add_argument("--build-only", action="store_true", help="build them and measure nothing")
    arguments.add_argument("--only", default="", help="those whose name has this in it")
    chosen = arguments.parse_args()
    kept = True
    print(f"{'server':<28}  {'node':<4}  {'said':>16}  {'found':>16}  found/said  others", flush=True)
    for server in SERVERS:
        if chosen.only not in server.name:
            continue
        if not chosen.built:
            server.subject.build(chosen.flux)
        if chosen.build_only:
            continue
        (mean, spread), (promised, within), others = measured(server, chosen.percent, chosen.slices)
        kept = kept and abs((1 + mean) / (1 + promised) - 1) <= 0.15
        print(f"{server.name:<28}  {server.node:<4}  {100 * promised:7.1f} ±{100 * within:5.1f} %"
              f"  {100 * mean:7.1f} ±{100 * spread:5.1f} %  {(1 + mean) / (1 + promised):10.3f}"
              f"  {100 * others:4.1f} %", flush=True)
    sys.exit(0 if kept else 1)


if __name__ == "__main__":
    main()
