#!/usr/bin/env python3
"""Compares the lock behind constraints with std::shared_mutex and pthread_rwlock, in turns (A B C B C A …), in many
cases: without contention, and with more and more threads that write, that read, and that do both.

Prints for each case the ratios Flux/other of throughput and of processor time per acquisition, round by round: the
median and a 95 % interval by bootstrap. Above 1 in throughput, and below 1 in processor time, Flux does better. With
--count, instructions per acquisition and its release without contention, counted by valgrind.
"""

import argparse
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import pairs

LOCKS = ("flux", "standard", "pthread")
NAMES = {"standard": "std::shared_mutex", "pthread": "pthread_rwlock"}
# Readers of ten acquisitions.
MIXES = {0: "writers", 9: "nine readers, a writer", 10: "readers"}
# A short section: about 50 ns, as long as it takes to find a key in a small map.
HELD = 100
UNCONTENDED, CONTENDED = 10_000_000, 1_000_000


def measure(program, lock, threads, readers):
    """Nanoseconds for an acquisition: of time, and of processor time."""
    held, acquisitions = (0, UNCONTENDED) if threads == 1 else (HELD, CONTENDED)
    command = [program, lock] + [str(word) for word in (threads, readers, held, acquisitions)]
    took, processor = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return float(took), float(processor)


def compare(options, threads, readers):
    """One case: a line for each of the other locks."""
    runs = {lock: [] for lock in LOCKS}
    for turn in range(options.rounds):
        # Who goes first changes, so that a machine that slows down favours none.
        first = turn % len(LOCKS)
        for lock in LOCKS[first:] + LOCKS[:first]:
            runs[lock].append(measure(options.program, lock, threads, readers))
    for other, name in NAMES.items():
        throughput = [theirs[0] / ours[0] for ours, theirs in zip(runs["flux"], runs[other])]
        processor = [ours[1] / theirs[1] for ours, theirs in zip(runs["flux"], runs[other])]
        figures = ["%.2f [%.2f, %.2f]" % pairs.interval(ratios) for ratios in (throughput, processor)]
        print(f"{threads:>7}  {MIXES[readers]:<22}  {name:<17}  {figures[0]:<19}  {figures[1]}", flush=True)


def instructions(program, lock, readers):
    """Instructions for an acquisition and its release: what so many more of them add."""

    def total(acquisitions):
        count = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, lock]
        count += ["1", str(readers), "0", str(acquisitions)]
        said = subprocess.run(count, check=True, capture_output=True, text=True).stderr
        return int(re.search(r"Collected : (\d+)", said).group(1))

    return (total(200_000) - total(100_000)) / 100_000


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, help="lock_bench, built")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--count", action="store_true", help="count instructions")
    options = parser.parse_args()
    if options.count:
        print(f"{'instructions, with the loop':<28}{'a writer':>10}{'a reader':>10}")
        for lock in LOCKS:
            counts = "".join(f"{instructions(options.program, lock, readers):>10.1f}" for readers in (0, 10))
            print(f"{NAMES.get(lock, 'Flux'):<28}{counts}")
        return
    print(f"threads  {'who':<22}  {'Flux beside':<17}  {'throughput':<19}  processor time")
    for threads in (1, 2, 4, 8):
        for readers in MIXES:
            compare(options, threads, readers)


if __name__ == "__main__":
    main()
