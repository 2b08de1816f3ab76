#!/usr/bin/env python3
"""How the image server that Flux builds compares with the one written by hand: compare.py FLUX_SERVER [OPTION]...

Runs both in turns, in pairs (A B, B A, A B, ...), under full load: a closed loop of connections that keeps every worker
busy. The server has one core and the load generator another, where there are two. Two loads: `hit`, one small picture
that is in the cache, so that what is between the nodes weighs most; and `compress`, the pictures of examples/image with
no cache, as in the paper.

Prints for each load the ratios Flux / by hand of throughput and of the server's processor time per answer: their
geometric mean over the pairs, and its 95 % interval (Student's t on the logarithms).

  --pairs N         how many pairs of runs (10)
  --duration S      seconds of each run (3)
  --connections N   of the closed loop (16)
  --flux OPTIONS    what the Flux server is given besides (--flux-runtime=pool)
  --json FILE       also writes every run there
"""

import argparse
import json
import math
import os
import pathlib
import re
import signal
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PICTURES = HERE.parent.parent / "examples/image/pictures"
LOAD = HERE.parent / "load/build/flux-load"
BY_HAND = HERE / "build/image_by_hand"

# Student's t for a two-sided 95 % interval, by degrees of freedom; beyond the table it is near enough to the last.
T_95 = [12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
        2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042]

LOADS = {
    "hit": (["--cache-size", "64M"], lambda pictures: [f"/{pictures[0]}.jpg?scale=1"]),
    "compress": (["--cache-size", "0"], lambda pictures: [f"/{name}.jpg?scale={scale}" for name in pictures
                                                          for scale in range(1, 9)]),
}


def pinned(core, command):
    """`command` on one core; the number is taken modulo the cores that there are."""
    cores = sorted(os.sched_getaffinity(0))
    return ["taskset", "-c", str(cores[core % len(cores)]), *map(str, command)]


def run(server, targets, arguments):
    """One run: what flux-load reports of `server`."""
    process = subprocess.Popen(pinned(0, server), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        port = re.search(r":(\d+)/$", process.stdout.readline().strip())[1]
        load = [LOAD, "--json", "--port", port, "--closed", arguments.connections, "--warmup", 1,
                "--duration", arguments.duration, "--pid", process.pid, *targets]
        return json.loads(subprocess.run(pinned(1, load), check=True, capture_output=True, text=True).stdout)
    finally:
        process.send_signal(signal.SIGTERM)
        if process.wait(timeout=60) != 0:
            sys.exit(f"{server[0]} ended with {process.returncode}")


def interval(ratios):
    """The geometric mean of `ratios` and the bounds of its 95 % interval."""
    logarithms = [math.log(ratio) for ratio in ratios]
    mean = statistics.mean(logarithms)
    t = T_95[min(len(ratios) - 1, len(T_95)) - 1]
    half = t * statistics.stdev(logarithms) / math.sqrt(len(ratios))
    return math.exp(mean), math.exp(mean - half), math.exp(mean + half)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     usage="compare.py FLUX_SERVER [OPTION]...")
    parser.add_argument("server")
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--duration", type=float, default=3)
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--flux", default="--flux-runtime=pool")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    if arguments.pairs < 2:
        parser.error("an interval needs two pairs at least")
    pictures = sorted(path.stem for path in PICTURES.glob("*.ppm"))
    if not pictures:
        sys.exit("there are no pictures: run examples/image/setup")

    common = ["--root", PICTURES, "--port", "0"]
    runs = []
    for load, (options, targets) in LOADS.items():
        servers = {"flux": [arguments.server, *common, *options, *arguments.flux.split()],
                   "by_hand": [BY_HAND, *common, *options]}
        ratios = {"answers_per_s": [], "server_cpu_ms": []}
        for pair in range(arguments.pairs):
            reports = {}
            for name in ("flux", "by_hand") if pair % 2 == 0 else ("by_hand", "flux"):
                reports[name] = run(servers[name], targets(pictures), arguments)
                runs.append({"load": load, "server": name, "pair": pair, **reports[name]})
            for measure, values in ratios.items():
                values.append(reports["flux"][measure] / reports["by_hand"][measure])
        for measure, title in (("answers_per_s", "throughput"), ("server_cpu_ms", "CPU per answer")):
            mean, low, high = interval(ratios[measure])
            print(f"{load:9} {title:15} flux / by hand {mean:.3f}  [{low:.3f}, {high:.3f}]  {arguments.pairs} pairs",
                  flush=True)
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(runs, indent=1) + "\n")


if __name__ == "__main__":
    main()
