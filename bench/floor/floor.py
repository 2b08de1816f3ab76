#!/usr/bin/env python3
"""Compares what a message costs over std.tcp with the floors, bare loops of epoll and of io_uring that do nothing else:
sent back, and answered by a fixed 1 KiB; one message at a time on each connection, and eight at once.

Three parts. `time`: processor time for a message, in turns, the server on one processor and the load on the other; the
median of the ratios beside the loop of epoll, with the lowest and the highest. `count`: instructions outside of the
kernel and system calls for a message, which are the same on a busy machine. `balance`: how connections are spread over
four loops.

A short look: --pairs 3 --seconds 0.5, or --part count --work fixed --at-once 1.
"""

import argparse
import itertools
import json
import os

import balance
import cases
import counts
import processor_time

PARTS = {"time": processor_time.table, "count": counts.table, "balance": balance.table}


def read_options():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=cases.BUILD, help="the folder that `make all` has built")
    parser.add_argument("--part", choices=PARTS, action="append", help="one of the parts, instead of all")
    parser.add_argument("--work", choices=cases.SIZES, action="append")
    parser.add_argument("--at-once", type=int, action="append", help="messages at once on each connection")
    parser.add_argument("--connections", type=int, action="append")
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=2, help="measured seconds of each run")
    parser.add_argument("--server-processor", type=int, default=0)
    parser.add_argument("--load-processor", type=int, default=os.cpu_count() - 1)
    parser.add_argument("--json", action="store_true", help="the results, one object, instead of the table")
    options = parser.parse_args()
    return options


def cases_of(part, options):
    """Counts hardly depend on the number of connections: the first is enough."""
    connections = options.connections or cases.CONNECTIONS[:1 if part == "count" else None]
    return list(itertools.product(options.work or cases.SIZES, options.at_once or cases.AT_ONCE, connections))


def main():
    options = read_options()
    results = {}
    for part in options.part or PARTS:
        options.cases = cases_of(part, options)
        for line, result in PARTS[part](options):
            if not options.json:
                print(line, flush=True)
            if result is not None:
                results.setdefault(part, []).append(result)
    if options.json:
        print(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
