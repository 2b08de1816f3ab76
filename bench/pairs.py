#!/usr/bin/env python3
"""Compares two HTTP servers side by side, in turns (A B A B …), each pinned to one processor and the load to the other.
With --ends, compares two programs that bring their load along and end by themselves, saying at the end how long they
took: "in 1.234 s, 0.987 s of processor time".

Prints the ratio A/B of throughput and of processor time per answer, pair by pair: the median and a 95 % interval by
bootstrap. An absolute figure says little on a shared machine; the ratio of neighbours in time does.
"""

import argparse
import json
import os
import random
import re
import signal
import statistics
import subprocess
import sys

import server

HERE = os.path.dirname(os.path.abspath(__file__))
LOAD = os.path.join(HERE, "load", "build", "flux-load")
LOAD_LIMIT_S = 60


def measure(command, options):
    """One run: answers a second, and milliseconds of processor time for each."""
    with server.running(command, processor=options.server_processor) as started:
        load = ["taskset", "-c", str(options.load_processor), LOAD, "--json", "--closed", str(options.connections)]
        load += ["--port", str(started.port), "--duration", str(options.seconds), "--warmup", "1"]
        load += ["--pid", str(started.pid)]
        report = json.loads(server.words(load + options.targets, LOAD_LIMIT_S + options.seconds))
        started.end(signal.SIGTERM)
    return report


def measure_ending(command, _):
    """One run of a program that ends: runs a second, and milliseconds of processor time for each."""
    ended = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    took = re.search(r"in ([\d.]+) s, ([\d.]+) s of processor time", ended.stdout)
    if took is None:
        sys.exit(f"pairs: {' '.join(command)} does not say how long it took")
    return {"answers_per_s": 1 / float(took.group(1)), "server_cpu_ms": 1000 * float(took.group(2))}


def interval(ratios):
    """The median of the ratios with a 95 % interval: percentiles of the medians of 10,000 resamples."""
    chance = random.Random(1)
    medians = sorted(statistics.median(chance.choices(ratios, k=len(ratios))) for _ in range(10_000))
    return statistics.median(ratios), medians[250], medians[9749]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--a", required=True, help="the first server's command")
    parser.add_argument("--b", required=True, help="the second server's command")
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=3, help="measured seconds of each run")
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--server-processor", type=int, default=0)
    parser.add_argument("--load-processor", type=int, default=1)
    parser.add_argument("--ends", action="store_true", help="the commands end by themselves")
    parser.add_argument("targets", nargs="*", help="what to ask the servers for")
    options = parser.parse_args()
    if bool(options.targets) == options.ends:
        parser.error("either targets or --ends")
    run_one = measure_ending if options.ends else measure

    throughput, processor_time = [], []
    for pair in range(options.pairs):
        # Who goes first changes, so that a machine that slows down favours neither.
        order = ("a", "b") if pair % 2 == 0 else ("b", "a")
        run = {which: run_one(getattr(options, which).split(), options) for which in order}
        throughput.append(run["a"]["answers_per_s"] / run["b"]["answers_per_s"])
        processor_time.append(run["a"]["server_cpu_ms"] / run["b"]["server_cpu_ms"])
        print(f"pair {pair + 1} of {options.pairs}", file=sys.stderr, end="\r" if sys.stderr.isatty() else "\n")
    print(f"A  {options.a}\nB  {options.b}")
    for name, ratios in (("throughput", throughput), ("processor time per answer", processor_time)):
        median, low, high = interval(ratios)
        print(f"{name:<26} A/B  {median:.3f}   95 % [{low:.3f}, {high:.3f}]   {len(ratios)} pairs")


if __name__ == "__main__":
    main()
