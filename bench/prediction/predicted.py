#!/usr/bin/env python3
"""What flux sim predicts from a profile, beside what is measured: the image server on one processor, every picture
compressed anew. The profile is taken once, at half of what the processor can do; from it other loads are predicted, and
then measured, each in a run of its own in which requests come at random times, independent of each other.

Figures: flows a second, the median and the 95th percentile of latency in milliseconds, and measured divided by
predicted. Latencies of a load include what its connections cost, which is in no node.
"""

import argparse

from image_server import ROOT, load, load_at, predict, profiled, running

PARTS = (0.2, 0.4, 0.6, 0.7, 0.8, 0.9)
PROFILED = 0.5


def table(flux, runtime, seconds):
    """Prints the table of one runtime."""
    with running(runtime) as subject:
        capacity = load(subject, ["--closed", "8"], seconds)["answers_per_s"]
    with running(runtime) as subject:
        load_at(subject, capacity * PROFILED, 9, seconds)
        profile = profiled(subject)
    rates = [capacity * part for part in PARTS]
    print(f"\n{runtime}: at most {capacity:.0f} a second\n{'load':>5} {'rate':>6}   {'flows/s':>15}   {'p50 ms':>17}"
          f"   {'p95 ms':>17}   measured/predicted", flush=True)
    for seed, (part, rate, one) in enumerate(zip(PARTS, rates, predict(flux, profile, rates, runtime)), 10):
        with running(runtime) as subject:
            seen = load_at(subject, rate, seed, seconds)
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
