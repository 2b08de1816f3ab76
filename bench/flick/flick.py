#!/usr/bin/env python3
"""Compares the services of FLICK with others: the HTTP load balancer of examples/balancer with nginx, haproxy and
Apache, and both it and the memcached proxy with a bare relay (bench/floor/relay.cpp), which sends on what comes and
parses nothing. The proxy's clients share its connections to servers; it is also compared with itself where each has its
own. One worker each, pinned to one processor; the load and the servers on the other, in turns (A B C, B C A,
…), so that a machine that slows down favours none. Then the aggregator of examples/hadoop beside a merge by hand
(merge.cpp) and `sort -m` of the same words as lines of text; and two runs of it at once on two event loops, beside two
copies of it with a loop and a run each.

For each case: the processor time of the service for a request, how many times what the others take (the median of the
turns with the lowest and the highest), and the requests a second beside theirs, which count where the service's
processor is busy. Then the latency at a constant rate, beside nginx and nginx beside itself. Of aggregators it is the
processor time for a megabyte, and megabytes a second of it; and how much memory ours has while 8 GiB go through it. At
last what misses a goal. --json keeps all that figures.py draws.

A short look: --turns 1 --seconds 0.5 --case 'kept, 64'
"""

import argparse
import contextlib
import dataclasses
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

import services

LOAD = services.HERE / "build/web_load"
TEXT_LOAD = services.HERE / "build/text_load"
IFILE_LOAD = services.HERE / "build/ifile_load"
SERVERS = 4
CONTENT = 137
MAPPERS = 8
LETTERS = (8, 12, 16)
# What an aggregator does in a second of its processor, of what the merge by hand does.
BY_HAND = 0.6
# Megabytes through the aggregator: a little, and much; and how many MiB more of memory the latter may take.
STREAMED = (64, 8192)
MORE_MEMORY = 4
# Event loops, and runs at once; what one aggregator on all of these does, of what so many copies do on one each.
LOOPS = 2
OF_COPIES = 0.9
# How much longer flows may take in slices, all together.
FAIR = 1.03
# Of nginx's most, for the latency.
P99_RATE = 0.7
# So much of its processor a service has to use to count as the bottleneck.
SATURATED = 0.95
# At most so many times the processor time of another for a request, and at least so many times its requests a second.
KEPT = {"relay": 1.15, "nginx": 0.70, "haproxy": 0.90}
EACH = {"nginx": 0.95}
OF_NUTCRACKER = 0.70
FASTER = {"nginx": 1.4, "apache": 2.2}


@dataclasses.dataclass(frozen=True)
class Case:
    """A load of the balancer: connections, and how many requests each of them sends before it ends; 0: all."""
    name: str
    connections: int
    each: int
    goals: dict
    peers: tuple = ("relay", "nginx", "haproxy", "apache")


CASES = tuple(Case(f"kept, {count}", count, 0, KEPT) for count in (64, 400, 1600)) + (
    Case("one each, 64", 64, 1, EACH),)


@dataclasses.dataclass(frozen=True)
class Run:
    """What came of one run."""
    ns: float  # processor time of the service for a request
    rate: float  # requests a second
    busy: float  # of its processor
    p99_us: float = 0


def processor_time(pids):
    """Nanoseconds, of all threads."""
    threads = [thread for pid in pids for thread in pathlib.Path(f"/proc/{pid}/task").iterdir()]
    return sum(int((thread / "schedstat").read_text(encoding="ascii").split()[0]) for thread in threads)


def shown(values):
    """The median with the lowest and the highest."""
    return f"{statistics.median(values):.3f} [{min(values):.3f}, {max(values):.3f}]"


class Bench:
    """What all runs have in common."""

    def __init__(self, options, home):
        self.options = options
        self.home = pathlib.Path(home)
        self.home.chmod(0o755)  # Apache's workers are nobody
        self.file = self.home / "answer"
        self.file.write_bytes(b"a" * CONTENT)
        self.targets = self.home / "targets"
        self.targets.write_text("/\n", encoding="ascii")
        self.results, self.missed = [], []

    def balanced(self, name, case, rate=0.0):
        """A run of a balancer."""
        load_on, seconds = self.options.load_processor, self.options.seconds
        with services.web_servers(SERVERS, self.file, case.each == 1, load_on) as ports, \
                services.serving(name, self.home, ports, self.options.server_processor) as (port, pids):
            said = json.loads(services.server.words(
                ["taskset", "-c", str(load_on), str(LOAD), "--port", str(port), "--connections", str(case.connections),
                 "--targets", str(self.targets), "--each", str(case.each), "--rate", str(rate),
                 "--seconds", str(seconds), "--warm-up", str(seconds / 4), "--servers", ",".join(map(str, pids))],
                60 + 3 * seconds))
        answers = max(said["answers"], 1)
        return Run(said["processor_ns"] / answers, answers / said["seconds"],
                   said["processor_ns"] / said["seconds"] / 1e9, said["p99_us"])

    def proxied(self, name, connections, at_once):
        """A run of memcaslap with sets and gets in binary, so many gets at once on each connection."""
        options = self.options
        with services.memcached(options.load_processor) as memcached, \
                services.serving(name, self.home, [memcached], options.server_processor) as (port, pids):
            return self.memcaslap(port, pids, connections, at_once)

    def memcaslap(self, port, pids, connections, at_once):
        """What it says; it has no warm-up, so its own sets that fill the memory are counted with the others."""
        before = processor_time(pids)
        program = shutil.which("memcaslap") or shutil.which("memaslap")
        said = services.server.words(
            ["taskset", "-c", str(self.options.load_processor), program, f"--servers=127.0.0.1:{port}", "--binary",
             "--threads=1", f"--concurrency={connections}", f"--time={max(1, round(self.options.seconds))}s",
             f"--division={at_once}"], 60 + 3 * self.options.seconds)
        used = processor_time(pids) - before
        found = re.search(r"Run time: ([\d.]+)s Ops: (\d+)", said)
        if found is None:
            sys.exit(f"bench: memcaslap says\n{said}")
        seconds, operations = float(found.group(1)), int(found.group(2))
        return Run(used / operations, operations / seconds, used / seconds / 1e9)

    def asked_in_text(self, name, connections, at_once):
        """A run of gets and sets in text, so many requests at once on each connection, before some memcacheds."""
        options = self.options
        with contextlib.ExitStack() as stack:
            ports = [stack.enter_context(services.memcached(options.load_processor)) for _ in range(SERVERS)]
            port, pids = stack.enter_context(services.serving(name, self.home, ports, options.server_processor))
            before = processor_time(pids)
            said = json.loads(services.server.words(
                ["taskset", "-c", str(options.load_processor), str(TEXT_LOAD), str(port), str(connections),
                 str(at_once), str(max(1, round(options.seconds)))], 60 + 3 * options.seconds))
            used = processor_time(pids) - before
        return Run(used / said["operations"], said["operations"] / said["seconds"], used / said["seconds"] / 1e9)

    def aggregated(self, name, letters):
        """A run of an aggregator: megabytes of words of so many letters."""
        options, reducer = self.options, services.server.free_port()
        with services.aggregating(name, MAPPERS, reducer, options.server_processor) as (port, pids):
            said = json.loads(services.server.words(
                ["taskset", "-c", str(options.load_processor), str(IFILE_LOAD), str(port), str(reducer), str(MAPPERS),
                 str(options.megabytes), str(letters), *map(str, pids)], 600))
        megabytes = said["bytes"] / 1e6
        return Run(said["processor_ns"] / megabytes, megabytes / said["seconds"],
                   said["processor_ns"] / said["seconds"] / 1e9)

    def aggregated_at_once(self, copies, loops=LOOPS):
        """Runs at the same time of so many aggregators that have so many loops together; on all processors, as the
        load is: megabytes, and nanoseconds for a record."""
        options, reducer = self.options, services.server.free_port()
        with contextlib.ExitStack() as stack:
            name = self.ours("hadoop")[0]
            all_of = [stack.enter_context(services.aggregating(name, MAPPERS, reducer, None, loops // copies))
                      for _ in range(copies)]
            ports = ",".join(str(all_of[run % copies][0]) for run in range(LOOPS))
            said = json.loads(services.server.words(
                [str(IFILE_LOAD), ports, str(reducer), str(MAPPERS), str(options.megabytes // LOOPS), str(LETTERS[0]),
                 *(str(pid) for _, pids in all_of for pid in pids)], 600))
        return Run(said["processor_ns"] / said["records"], said["bytes"] / 1e6 / said["seconds"],
                   said["processor_ns"] / said["seconds"] / 1e9)

    def most_memory(self, megabytes):
        """The most that the aggregator has, in MiB, while so many megabytes go through it."""
        options, reducer = self.options, services.server.free_port()
        name = self.ours("hadoop")[0]
        with services.aggregating(name, MAPPERS, reducer, options.server_processor) as (port, pids):
            services.server.words(
                ["taskset", "-c", str(options.load_processor), str(IFILE_LOAD), str(port), str(reducer), str(MAPPERS),
                 str(megabytes), str(LETTERS[0])], 3600)
            of = [pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii") for pid in pids]
        return max(int(re.search(r"VmHWM:\s*(\d+)", status).group(1)) for status in of) / 1024

    def sorted_text(self, letters):
        """The same words and counts as lines of text, merged by sort; the sums are not made."""
        file = self.home / f"words{letters}"
        if not file.exists():
            with open(file, "wb") as lines:
                subprocess.run([str(IFILE_LOAD), "text", str(self.options.megabytes), str(MAPPERS), str(letters)],
                               check=True, stdout=lines)
        before = os.times()
        subprocess.run(["taskset", "-c", str(self.options.server_processor), "sort", "-m", *[str(file)] * MAPPERS],
                       check=True, stdout=subprocess.DEVNULL, env={**os.environ, "LC_ALL": "C"})
        after = os.times()
        used = after.children_user + after.children_system - before.children_user - before.children_system
        megabytes, took = MAPPERS * file.stat().st_size / 1e6, after.elapsed - before.elapsed
        return Run(1e9 * used / megabytes, megabytes / took, used / took)

    def turns(self, runs):
        """What each of these gives, turn by turn, who goes first changing."""
        names = list(runs)
        found = {name: [] for name in names}
        for turn in range(self.options.turns):
            first = turn % len(names)
            for name in names[first:] + names[:first]:
                found[name].append(runs[name]())
        return found

    def ours(self, program):
        """What a program of ours is called, by each kind of I/O that was asked for."""
        return [f"flux {program} {io}" for io in self.options.io.split(",")]

    def report(self, what, ours, found, goals, faster=None, **more):
        """The lines of a case, and what misses a goal in it; `more` is kept beside its figures."""
        print(f"{what:<24}" + "  ".join(f"{name} {statistics.median(run.ns for run in runs) / 1000:.2f} us"
                                        for name, runs in found.items()), flush=True)
        result = {"case": what, "ns": {name: [run.ns for run in runs] for name, runs in found.items()},
                  "rate": {name: [run.rate for run in runs] for name, runs in found.items()},
                  "p99_us": {name: [run.p99_us for run in runs] for name, runs in found.items()},
                  "busy": {name: statistics.median(run.busy for run in runs) for name, runs in found.items()}, **more}
        self.results.append(result)
        for own in ours:
            print(f"  {own}: its processor is busy for {result['busy'][own]:.2f} of the time", flush=True)
            for other in (name for name in found if name not in ours):
                times = [one.ns / two.ns for one, two in zip(found[own], found[other])]
                rates = [one.rate / two.rate for one, two in zip(found[own], found[other])]
                print(f"    / {other:<10} time {shown(times)}   requests a second {shown(rates)}", flush=True)
                self.check(f"{what}: {own} of {other}'s processor time", statistics.median(times), goals.get(other),
                           False)
                if result["busy"][own] >= SATURATED:
                    self.check(f"{what}: {own} of {other}'s requests a second", statistics.median(rates),
                               (faster or {}).get(other), True)

    def check(self, what, value, goal, at_least):
        """Notes what misses its goal."""
        if goal is not None and (value < goal if at_least else value > goal):
            self.missed.append(f"{what} {value:.3f}, not {goal}")


def balancer(bench):
    """Processor time and throughput of the balancers."""
    for case in CASES:
        if bench.options.case and case.name not in bench.options.case:
            continue
        ours = bench.ours("balancer")
        found = bench.turns({name: (lambda name=name: bench.balanced(name, case)) for name in (*ours, *case.peers)})
        bench.report(case.name, ours, found, case.goals, FASTER if case.each == 0 else None,
                     connections=case.connections, each=case.each)


def latency(bench):
    """The latency at a constant rate, below what nginx can do."""
    case = CASES[0]
    ours = bench.ours("balancer")
    rate = P99_RATE * statistics.median(bench.balanced("nginx", case).rate for _ in range(min(3, bench.options.turns)))
    names = ("nginx", *ours, "nginx again")
    found = bench.turns({name: (lambda name=name: bench.balanced(name.removesuffix(" again"), case, rate))
                         for name in names})
    median = {name: statistics.median(run.p99_us for run in runs) for name, runs in found.items()}
    beside = {name: [one.p99_us / two.p99_us for one, two in zip(found[name], found["nginx"])] for name in names[1:]}
    print(f"p99, {case.name}, at {rate:.0f} requests a second: nginx {median['nginx']:.0f} us, "
          f"{shown(beside['nginx again'])} of itself", flush=True)
    for own in ours:
        print(f"    {own} {median[own]:.0f} us: {shown(beside[own])} of nginx's", flush=True)
        bench.check(f"p99 of nginx's, {own}", statistics.median(beside[own]), max(1.0, *beside["nginx again"]), False)
    bench.results.append({"case": "p99", "us": median, "rate": rate})


def proxy(bench):
    """Processor time of the memcached proxy for an operation."""
    ours = bench.ours("proxy")
    for connections, at_once in ((8, 1), (32, 1), (128, 1), (32, 20)):
        found = bench.turns({name: (lambda name=name: bench.proxied(name, connections, at_once))
                             for name in (*ours, ours[0] + " own", "relay")})
        bench.report(f"memcached, {connections}, {at_once} at once", ours, found, {"relay": 1.15},
                     connections=connections, at_once=at_once)


def text(bench):
    """Processor time of the memcached proxy for an operation in text, beside nutcracker."""
    ours = bench.ours("text")
    for connections, at_once in ((32, 1), (128, 1), (32, 20)):
        found = bench.turns({name: (lambda name=name: bench.asked_in_text(name, connections, at_once))
                             for name in (*ours, ours[0] + " own", "nutcracker")})
        bench.report(f"text, {connections}, {at_once} at once", ours, found, {"nutcracker": OF_NUTCRACKER},
                     connections=connections)


def aggregator(bench):
    """Processor time of the aggregators for a megabyte."""
    ours, by_hand, text = bench.ours("hadoop"), "merge by hand", "sort -m"
    for letters in LETTERS:
        runs = {name: (lambda name=name: bench.aggregated(name, letters)) for name in (*ours, by_hand)}
        runs[text] = lambda: bench.sorted_text(letters)
        found = bench.turns(runs)
        what = f"words of {letters} letters"
        bench.report(what, ours, found, {by_hand: 1 / BY_HAND}, letters=letters)
        rates = {name: [1e9 / run.ns for run in all_runs] for name, all_runs in found.items()}
        print("    megabytes a second of a processor: "
              + "; ".join(f"{name} {shown(rate)}" for name, rate in rates.items()), flush=True)


def loops(bench):
    """Runs at once on all loops of one aggregator, beside copies with a loop and a run each; and on one loop."""
    ours, copies, alone = f"one aggregator, {LOOPS} loops", f"{LOOPS} copies", "one aggregator, 1 loop"
    found = bench.turns({ours: lambda: bench.aggregated_at_once(1), copies: lambda: bench.aggregated_at_once(LOOPS),
                         alone: lambda: bench.aggregated_at_once(1, 1)})
    for name, runs in found.items():
        print(f"{name:<24} {shown([run.rate for run in runs])} megabytes a second; processor time of a record, ns "
              f"{shown([run.ns for run in runs])}; processors {shown([run.busy for run in runs])}", flush=True)
    rates = [one.rate / two.rate for one, two in zip(found[ours], found[copies])]
    times = [one.ns / two.ns for one, two in zip(found[ours], found[copies])]
    print(f"    / {copies:<10} megabytes a second {shown(rates)}   processor time {shown(times)}", flush=True)
    bench.results.append({"case": "loops", "rates": rates, "times": times})
    bench.check(f"{LOOPS} loops: of the megabytes a second of {copies}", statistics.median(rates), OF_COPIES, True)


def memory(bench):
    """The most memory of the aggregator, with a little and with much that goes through it."""
    little, much = (bench.most_memory(megabytes) for megabytes in (STREAMED[0], bench.options.streamed or STREAMED[1]))
    print(f"memory of the aggregator: {little:.1f} MiB at most, and {much:.1f} MiB with more", flush=True)
    bench.results.append({"case": "memory", "little": little, "much": much})
    bench.check("memory, MiB more with more that goes through", much - little, MORE_MEMORY, False)


def fairness(bench):
    """Light and heavy flows, in slices and each to its end (the paper's Figure 7)."""
    program = [str(services.HERE / "build/fairness/fairness"), "--flux-runtime=event", "--flux-workers=1"]
    policies = {"slices": [], "each to its end": ["--flux-max-flows=1"]}
    found = {name: [] for name in policies}
    for turn in range(bench.options.turns):
        for name in sorted(policies, reverse=turn % 2 == 1):
            pinned = ["taskset", "-c", str(bench.options.server_processor)]
            found[name].append(json.loads(services.server.words(pinned + program + policies[name], 60)))
    total = [one["all_s"] / two["all_s"] for one, two in zip(found["slices"], found["each to its end"])]
    light = [one["light_s"] / one["all_s"] for one in found["slices"]]
    print(f"fairness: light flows end after {shown(light)} of the time of all, which is {shown(total)} of what each to "
          "its end takes", flush=True)
    bench.results.append({"case": "fairness", "runs": found})
    bench.check("all flows in slices, of each to its end", statistics.median(total), FAIR, False)


PARTS = {"balancer": balancer, "latency": latency, "proxy": proxy, "text": text, "aggregator": aggregator,
         "loops": loops, "memory": memory, "fairness": fairness}


def read_options():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=PARTS, action="append", help="this part, instead of all")
    parser.add_argument("--case", action="append", help="the case of this name, instead of all")
    parser.add_argument("--io", choices=("reactor", "proactor", "reactor,proactor"), default="reactor,proactor",
                        help="how ours do I/O")
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1, help="measured seconds of each run")
    parser.add_argument("--megabytes", type=int, default=200, help="of all mappers together")
    parser.add_argument("--streamed", type=int, help="megabytes for the part memory, instead of 8192")
    parser.add_argument("--server-processor", type=int, default=0)
    parser.add_argument("--load-processor", type=int, default=os.cpu_count() - 1)
    parser.add_argument("--json", metavar="FILE", help="writes all figures there")
    return parser.parse_args()


def main():
    options = read_options()
    missing = [name for name in ("nginx", "haproxy", "apache2", "memcached", "nutcracker")
               if subprocess.run(["which", name], capture_output=True, check=False).returncode != 0]
    if missing:
        packages = "nginx-light haproxy apache2-bin memcached nutcracker"
        sys.exit(f"bench: {', '.join(missing)} missing: apt-get install {packages}")
    with tempfile.TemporaryDirectory() as home:
        bench = Bench(options, home)
        for part in options.part or PARTS:
            PARTS[part](bench)
        print("\nmissed: " + ("; ".join(bench.missed) or "nothing"))
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(bench.results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
