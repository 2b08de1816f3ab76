#!/usr/bin/env python3
"""Servers that run: what a live experiment says that a faster node would give, and what it gives.

Each server is one of small nodes, as those of advice.py, with as many flows at once as there are clients. It runs with
one node as it is and truly faster, in turns, which is what is found; and once more with the experiment, which is what
is said: by how much throughput changes, and within what, at 95 of 100.
"""

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import time
import urllib.request

from advice import CHAIN, HERE, ROOT, Subject, compute, rest

NODES = {"A": ("compute", 300), "B": ("compute", 1000), "C": ("compute", 300)}


class Live:
    """A server, and the node that is to be faster."""

    def __init__(self, name, node, nodes=None, flow=CHAIN, clients=8, runtime="pool", workers=2, cpus="0,1"):
        self.name, self.node, self.cpus, self.nodes = name, node, cpus, nodes or NODES
        self.flow, self.clients, self.runtime, self.workers = flow, clients, runtime, workers

    def subject(self, part, suffix):
        """The server with its node at this part of its time."""
        kinds = {"compute": compute, "rest": rest}
        nodes = {node: kinds[kind](us * (part if node == self.node else 1)) for node, (kind, us) in self.nodes.items()}
        return Subject(self.name + suffix, nodes, self.flow, ("clients", self.clients), None, None, self.runtime,
                       self.workers, self.cpus)


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
    """A server that runs, with its admin interface."""

    def __init__(self, subject):
        folder = os.path.join(HERE, "build", subject.name)
        self.at = os.path.join(folder, "admin")
        self.process = subprocess.Popen(
            ["taskset", "-c", subject.cpus, os.path.join(folder, "build", subject.name, subject.name),
             f"--flux-runtime={subject.runtime}", f"--flux-workers={subject.workers}",
             f"--flux-max-flows={subject.load[1]}", "--flux-admin=0"], stderr=subprocess.PIPE, text=True)
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

    def end(self):
        """Ends it."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


def flows(running):
    """Those that have ended, and when."""
    return running.ask("/profile")["flows"]["done"], time.monotonic()


def rate_of(subject, seconds):
    """Flows a second."""
    running = Running(subject)
    before, begin = flows(running)
    time.sleep(seconds)
    after, end = flows(running)
    running.end()
    return (after - before) / (end - begin)


def said(subject, node, percent, slices):
    """What the experiment says: a mean, and within what."""
    running = Running(subject)
    found = running.ask(f"/speed-up?node={node}&percent={percent}&slices={slices}", post=True)
    while found["is_running"]:
        time.sleep(0.5)
        found = running.ask("/speed-up")
    running.end()
    rates = [(one["percent"], 1e9 * one["flows"] / (one["ns"] - one["delays_ns"])) for one in found["slices"]]
    parts = []
    for pair in zip(rates[::2], rates[1::2]):
        (_, slow), (_, fast) = sorted(pair)
        parts.append(fast / slow - 1)
    return statistics.mean(parts), 2 * statistics.stdev(parts) / len(parts) ** 0.5


def main():
    """Prints the table."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--flux", default=f"{ROOT}/target/release/flux", help="the compiler")
    arguments.add_argument("--percent", type=int, default=25, help="how much less the node takes (25)")
    arguments.add_argument("--slices", type=int, default=40, help="of 250 ms (40)")
    arguments.add_argument("--turns", type=int, default=4, help="runs of each server with its node as it is (4)")
    arguments.add_argument("--built", action="store_true", help="the servers are built: measure them")
    arguments.add_argument("--build-only", action="store_true", help="build them and measure nothing")
    arguments.add_argument("--only", default="", help="those whose name has this in it")
    chosen = arguments.parse_args()
    kept = True
    print(f"{'server':<28}  {'node':<4}  {'said':>16}  {'found':>16}  found/said", flush=True)
    for server in SERVERS:
        if chosen.only not in server.name:
            continue
        slow, fast = server.subject(1, ""), server.subject(1 - chosen.percent / 100, "_faster")
        for one in () if chosen.built else (slow, fast):
            one.build(chosen.flux)
        if chosen.build_only:
            continue
        mean, within = said(slow, server.node, chosen.percent, chosen.slices)
        parts = [rate_of(fast, 2) / rate_of(slow, 2) - 1 for _ in range(chosen.turns)]
        found = statistics.mean(parts)
        spread = 2 * statistics.stdev(parts) / len(parts) ** 0.5
        kept = kept and abs((1 + found) / (1 + mean) - 1) <= 0.15
        print(f"{server.name:<28}  {server.node:<4}  {100 * mean:7.1f} ±{100 * within:5.1f} %"
              f"  {100 * found:7.1f} ±{100 * spread:5.1f} %  {(1 + found) / (1 + mean):10.3f}", flush=True)
    sys.exit(0 if kept else 1)


if __name__ == "__main__":
    main()
