#!/usr/bin/env python3
"""What flux sim predicts from a profile, beside what is measured: the image server on one processor, every picture
compressed anew. The profile is taken once, at half of what the processor can do; from it other loads are predicted, and
then measured, each in a run of its own in which requests come at random times, independent of each other.

Figures: flows a second, the median and the 95th percentile of latency in milliseconds, and measured divided by
predicted. Latencies of a load include what its connections cost, which is in no node.
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.dirname(HERE))
import server

LOAD = os.path.join(ROOT, "bench", "load", "build", "flux-load")
INTERFACE = re.compile(r"the admin interface listens at (\S+)")
TARGETS = [f"/{name}.jpg?scale={scale}" for name in ("bridge", "sunset", "seedling") for scale in (1, 2, 4, 8)]
PARTS = (0.2, 0.4, 0.6, 0.7, 0.8, 0.9)
PROFILED = 0.5


def load(running, arguments, seconds):
    """What a load of the server says of itself."""
    command = ["taskset", "-c", "1", LOAD, "--json", "--port", str(running.port), "--duration", str(seconds),
               "--warmup", "2", "--pid", str(running.pid), *arguments, *TARGETS]
    return json.loads(server.words(command, seconds + 120))


def profiled(running):
    """What the server has measured so far."""
    while not (found := INTERFACE.search(running.said())):
        time.sleep(0.01)
    with urllib.request.urlopen(f"http://{found.group(1)}/profile") as page:
        return page.read()


def predict(flux, profile, rates, runtime):
    """A prediction for each rate."""
    with tempfile.NamedTemporaryFile(suffix=".json") as kept:
        kept.write(profile)
        kept.flush()
        command = [flux, "sim", f"{ROOT}/examples/image/image.flux", "--profile", kept.name, "--cpus", "1", "--json",
                   "--runtime", runtime, "--workers", "16" if runtime == "pool" else "1", "--flows", "20000",
                   "--rate", ",".join(f"{rate:.1f}" for rate in rates)]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [json.loads(line) for line in said.splitlines()]


def table(flux, runtime, seconds):
    """Prints the table of one runtime."""
    image = f"{ROOT}/examples/image/build/image/image"
    command = [image, "--root", f"{ROOT}/examples/image/pictures", "--port", "0", "--cache-size", "0",
               f"--flux-runtime={runtime}", "--flux-admin=0", *(["--flux-workers=1"] if runtime == "event" else [])]
    with server.running(command, processor=0, by=signal.SIGTERM) as running:
        capacity = load(running, ["--closed", "8"], seconds)["answers_per_s"]
    with server.running(command, processor=0, by=signal.SIGTERM) as running:
        load(running, ["--poisson", "--rate", f"{capacity * PROFILED:.1f}", "--seed", "9"], seconds)
        profile = profiled(running)
    rates = [capacity * part for part in PARTS]
    print(f"\n{runtime}: at most {capacity:.0f} a second\n{'load':>5} {'rate':>6}   {'flows/s':>15}   {'p50 ms':>17}"
          f"   {'p95 ms':>17}   measured/predicted")
    predictions = predict(flux, profile, rates, runtime)
    for seed, (part, rate, one) in enumerate(zip(PARTS, rates, predictions), 10):
        with server.running(command, processor=0, by=signal.SIGTERM) as running:
            seen = load(running, ["--poisson", "--rate", f"{rate:.1f}", "--seed", str(seed)], seconds)
        if one["overloaded"]:
            answered, most = seen["answers_per_s"], one["throughput"]["mean"]
            print(f"{100 * part:4.0f}% {rate:6.1f}  {answered:8.2f}   predicted to be beyond its capacity: {most:.1f}",
                  flush=True)
            continue
        pairs = [(seen["answers_per_s"], one["throughput"]["mean"]),
                 (seen["latency_ms"]["p50"], one["p50"]["mean"] * 1e3),
                 (seen["latency_ms"]["p95"], one["p95"]["mean"] * 1e3)]
        figures = "   ".join(f"{measured:8.2f}{predicted:9.2f}" for measured, predicted in pairs)
        ratios = "  ".join(f"{measured / predicted:5.2f}" for measured, predicted in pairs)
        print(f"{100 * part:4.0f}% {rate:6.1f}  {figures}   {ratios}", flush=True)


def main():
    """Prints the tables."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--flux", default=f"{ROOT}/target/release/flux", help="the compiler")
    arguments.add_argument("--seconds", type=int, default=20, help="how long each load is (20)")
    arguments.add_argument("--runtimes", default="thread,pool,event", help="which are measured (all three)")
    chosen = arguments.parse_args()
    for runtime in chosen.runtimes.split(","):
        table(chosen.flux, runtime, chosen.seconds)


if __name__ == "__main__":
    main()
