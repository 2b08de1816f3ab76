#!/usr/bin/env python3
"""Compares the web server of examples/web with nginx, h2o, lighttpd and Apache, and with a bare loop that sends the
same bytes without parsing: one worker each, pinned to one processor, the load on the other, in turns (A B C, B C A, …).

For each row: the server's processor time for a request; how many times what the others take, as the median of the turns
with the lowest and the highest; and the throughput beside nginx's, which counts where both processors of the servers
are busy. Then the latency at a constant rate of 70 % of nginx's most, beside nginx and nginx beside itself; and what a
request takes with two workers, beside one; and the memory of 20,000 idle connections. At last what misses a goal. Rows
over TLS need h2load (package nghttp2-client); those of a protocol that the server does not speak are left out.

A short look: --turns 1 --seconds 0.5 --row '1 KiB, 64'
"""

import argparse
import dataclasses
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

import peers
import rows

sys.path.insert(0, str(peers.HERE.parent / "idle"))
import idle as idle_of  # noqa: E402

LOAD = peers.HERE / "build/web_load"
P99_RATE = 0.7
IDLE_CONNECTIONS, IDLE_MIB = 20_000, 200
# What a row is asked over, as ALPN calls it.
PROTOCOLS = {"h1": "http/1.1", "h2": "h2"}
# So much of its processor a server has to use to count as the bottleneck.
SATURATED = 0.95


@dataclasses.dataclass(frozen=True)
class Run:
    """What came of one run."""
    ns: float  # processor time of the server for a request
    rate: float  # requests a second
    busy: float  # processors that the server used
    p99_us: float = 0


class Bench:
    """What all runs have in common."""

    def __init__(self, options, home):
        self.options = options
        self.home = pathlib.Path(home)
        self.root = self.home / "root"
        self.home.chmod(0o755)  # Apache's workers are nobody
        self.root.mkdir()
        rows.write_files(self.root)
        self.missed = []
        self.tls = {"certificate": str(self.home / "certificate.pem"), "key": str(self.home / "key.pem")}
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                        "-days", "2", "-subj", "/CN=localhost", "-keyout", self.tls["key"],
                        "-out", self.tls["certificate"]], check=True, capture_output=True)

    def run(self, name, row, workers=1, rate=0.0):
        """One run of one server."""
        both = workers > 1
        tls = self.tls if row.tls else None
        servers_on = f"0-{workers - 1}" if both else self.options.server_processor
        with peers.serving(name, self.home, self.root, row, servers_on, workers, tls) as (port, pids):
            load = self.h2load if row.tls else self.web_load
            return load(row, port, pids, f"0-{os.cpu_count() - 1}" if both else self.options.load_processor, rate)

    def web_load(self, row, port, pids, processor, rate):
        """The load of this bench."""
        targets = self.home / "targets"
        targets.write_text("".join(f"{each}\n" for each in row.targets), encoding="ascii")
        seconds = self.options.seconds
        said = json.loads(peers.server.words(
            ["taskset", "-c", str(processor), str(LOAD), "--port", str(port), "--connections", str(row.connections),
             "--targets", str(targets), "--each", str(row.each), "--rate", str(rate), "--seconds", str(seconds),
             "--warm-up", str(seconds / 4), "--servers", ",".join(map(str, pids))], 60 + 3 * seconds))
        if said["asked_again"] > said["answers"] / 1000:
            print(f"    {said['asked_again']} requests of {said['answers']} met a connection that was being closed")
        return Run(said["processor_ns"] / max(said["answers"], 1), said["answers"] / said["seconds"],
                   said["processor_ns"] / said["seconds"] / 1e9, said["p99_us"])

    def h2load(self, row, port, pids, processor, _):
        """That of nghttp2, over TLS; what the handshakes take is in it, once for each connection."""
        before = processor_time(pids)
        seconds = max(1, round(self.options.seconds))
        said = peers.server.words(
            ["taskset", "-c", str(processor), "h2load", "-t1", f"-c{row.connections}", "-m10", f"-D{seconds}",
             *(["--h1"] if row.tls == "h1" else []), f"https://127.0.0.1:{port}{row.targets[0]}"], 60 + 3 * seconds)
        used = processor_time(pids) - before
        found = re.search(r"requests: \d+ total, \d+ started, (\d+) done, (\d+) succeeded", said)
        if found is None or found.group(1) != found.group(2) or found.group(1) == "0":
            sys.exit(f"bench: h2load says\n{said}")
        if f"Application protocol: {PROTOCOLS[row.tls]}" not in said:
            sys.exit(f"bench: h2load was to speak {PROTOCOLS[row.tls]}, but it says\n{said}")
        done = int(found.group(1))
        return Run(used / done, done / seconds, used / seconds / 1e9)

    def turns(self, runs):
        """What each of these gives, turn by turn, who goes first changing, so that a machine that slows down favours
        none."""
        names = list(runs)
        found = {name: [] for name in names}
        for turn in range(self.options.turns):
            first = turn % len(names)
            for name in names[first:] + names[:first]:
                found[name].append(runs[name]())
        return found

    def miss(self, what):
        """A goal is missed."""
        self.missed.append(what)
        print(f"    misses: {what}", flush=True)


def processor_time(pids):
    """Nanoseconds, of all threads."""
    used = 0
    for pid in pids:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/schedstat", encoding="ascii") as file:
                used += int(file.read().split()[0])
    return used


def ratios(ours, theirs, what="ns"):
    """Turn by turn."""
    return [getattr(one, what) / getattr(other, what) for one, other in zip(ours, theirs)]


def shown(values):
    """The median with the lowest and the highest."""
    return f"{statistics.median(values):.3f} [{min(values):.3f}, {max(values):.3f}]"


def compare(bench, row):
    """The line of a row."""
    names = (["loop"] if row.goal else []) + list(bench.options.server) + list(row.peers)
    found = bench.turns({name: (lambda name=name: bench.run(name, row)) for name in names})
    ours = bench.options.server[0]
    print(f"{row.name:<18}" + "  ".join(f"{name} {statistics.median(run.ns for run in found[name]) / 1000:.2f} us"
                                        for name in names), flush=True)
    for name in bench.options.server:
        for other in names:
            if other not in bench.options.server:
                faster = ratios(found[name], found[other], "rate")
                print(f"    {name:<14}/ {other:<9} time {shown(ratios(found[name], found[other]))}"
                      f"   requests a second {shown(faster)}", flush=True)
    if row.goal and (ratio := statistics.median(ratios(found[ours], found["loop"]))) > row.goal:
        bench.miss(f"{row.name}: {ratio:.3f} of the loop's processor time, not {row.goal}")
    busy = statistics.median(run.busy for run in found[ours])
    faster = ratios(found[ours], found["nginx"], "rate")
    if busy >= SATURATED and statistics.median(faster) < 1:
        bench.miss(f"{row.name}: {statistics.median(faster):.3f} of nginx's requests a second")


def latency(bench, row):
    """The latency at a constant rate, below what nginx can do."""
    peak = statistics.median(bench.run("nginx", row).rate for _ in range(min(3, bench.options.turns)))
    rate = peak * P99_RATE
    names = ("nginx", *bench.options.server, "nginx again")
    found = bench.turns({name: (lambda name=name: bench.run(name.split()[0], row, rate=rate)) for name in names})
    print(f"p99, {row.name}, at {rate:.0f} requests a second: " + "  ".join(
        f"{name} {statistics.median(run.p99_us for run in found[name]):.0f} us" for name in names), flush=True)
    itself = ratios(found["nginx again"], found["nginx"], "p99_us")
    for name in bench.options.server:
        print(f"    {name:<14}/ nginx     {shown(ratios(found[name], found['nginx'], 'p99_us'))}"
              f"   nginx beside itself {shown(itself)}", flush=True)
    ratio = statistics.median(ratios(found[bench.options.server[0]], found["nginx"], "p99_us"))
    if ratio > max(1.0, *itself):
        bench.miss(f"{row.name}: p99 is {ratio:.3f} of nginx's, which is at most {max(itself):.3f} of itself")


def workers(bench, row):
    """Two workers on two processors, which they share with the load, beside one."""
    for name in (*bench.options.server, "nginx"):
        found = bench.turns({count: (lambda count=count: bench.run(name, row, workers=count)) for count in (1, 2)})
        print(f"two workers, {row.name}: {name:<14} time for a request beside one worker "
              f"{shown(ratios(found[2], found[1]))}", flush=True)


def idle(bench):
    """The memory of a server whose clients have asked once and are silent."""
    wanted = idle_of.raise_limit(IDLE_CONNECTIONS + 1000) - 1000
    row = rows.ROWS[0]
    for name in bench.options.server:
        with peers.serving(name, bench.home, bench.root, row, bench.options.server_processor) as (port, pids):
            clients = []
            for number in range(min(wanted, IDLE_CONNECTIONS)):
                clients.append(idle_of.connect(port, number))
                clients[-1].sendall(b"GET /1k.bin HTTP/1.1\r\nHost: a\r\n\r\n")
            answered = sum(client.recv(4096).startswith(b"HTTP/1.1 200 ") for client in clients)
            mib = idle_of.settled(pids[0]) / 1024
            print(f"{name}: {len(clients)} idle connections, {answered} answered: {mib:.1f} MiB", flush=True)
            for client in clients:
                client.close()
        if mib > IDLE_MIB or answered < len(clients):
            bench.miss(f"{mib:.0f} MiB for {len(clients)} idle connections, {answered} answered")


def speaks(bench, row):
    """Whether the server of this build speaks what the row is asked over."""
    if not row.tls:
        return True
    with peers.serving("flux", bench.home, bench.root, row, bench.options.server_processor, 1, bench.tls) as (port, _):
        client = ["openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-alpn", PROTOCOLS[row.tls]]
        said = subprocess.run(client, input="", capture_output=True, text=True, check=False, timeout=10).stdout
    return f"ALPN protocol: {PROTOCOLS[row.tls]}\n" in said


def read_options():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--row", action="append", help="the row of this name, instead of all")
    parser.add_argument("--part", choices=("time", "latency", "workers", "idle"), action="append")
    parser.add_argument("--server", action="append", help="flux-reactor or flux-proactor (flux-reactor); the first one "
                        "is held to the goals")
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1, help="measured seconds of each run")
    parser.add_argument("--server-processor", type=int, default=0)
    parser.add_argument("--load-processor", type=int, default=os.cpu_count() - 1)
    options = parser.parse_args()
    options.server = options.server or ["flux-reactor"]
    options.part = options.part or ["time", "latency", "workers", "idle"]
    return options


def main():
    options = read_options()
    chosen = [row for row in rows.ROWS if options.row is None or row.name in options.row]
    with tempfile.TemporaryDirectory() as home:
        bench = Bench(options, home)
        if "time" in options.part:
            for row in chosen:
                if speaks(bench, row):
                    compare(bench, row)
                else:
                    print(f"{row.name:<18}left out: the server does not speak {PROTOCOLS[row.tls]}", flush=True)
        first = next((row for row in chosen if not row.tls), None)
        if first is not None and "latency" in options.part:
            latency(bench, first)
        if first is not None and "workers" in options.part:
            workers(bench, first)
        if "idle" in options.part:
            idle(bench)
        print("\nmissed: " + ("; ".join(bench.missed) or "nothing"))


if __name__ == "__main__":
    main()
