#!/usr/bin/env python3
"""Compares a server that sends back what it is sent with the floors, bare loops of epoll and io_uring that do nothing
else, in turns (A B C B C A …), each pinned to one processor and the load to the other.

Prints for 64 and 512 connections the ratio server/floor of processor time for each message of 1 KiB, round by round:
the median and a 95 % interval by bootstrap.
"""

import argparse
import os
import re
import socket
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import pairs

BUILD = os.path.join(HERE, "build")
FLOORS = {name: f"{BUILD}/{name}_echo {{port}}" for name in ("epoll", "uring")}


def free_port():
    """A port that nobody listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def measure(command, connections, options):
    """Nanoseconds of the server's processor time for each message."""
    port = free_port()
    pinned = ["taskset", "-c", str(options.server_processor)] + command.format(port=port).split()
    server = subprocess.Popen(pinned, stdout=subprocess.DEVNULL)
    try:
        load = ["taskset", "-c", str(options.load_processor), f"{BUILD}/echo_load"]
        load += [str(word) for word in (port, server.pid, connections, options.seconds, options.bytes)]
        said = subprocess.run(load, check=True, capture_output=True, text=True).stdout
    finally:
        server.kill()
        server.wait()
    return float(re.search(r"([\d.]+) ns of processor time", said).group(1))


def compare(commands, connections, options):
    """A line for each floor: what it takes, and how many times that the server does."""
    runs = {name: [] for name in commands}
    names = list(commands)
    for turn in range(options.pairs):
        # Who goes first changes, so that a machine that slows down favours none.
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            runs[name].append(measure(commands[name], connections, options))
    for floor in FLOORS:
        ratios = [ours / theirs for ours, theirs in zip(runs["server"], runs[floor])]
        took = sorted(runs[floor])[len(runs[floor]) // 2]
        ratio = "%.3f  [%.3f, %.3f]" % pairs.interval(ratios)
        print(f"{connections:>11}  {floor:<6}  {took / 1000:>8.2f} us   {ratio}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", required=True, help="the server's command, with {port} where it is told its port")
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=2, help="measured seconds of each run")
    parser.add_argument("--bytes", type=int, default=1024, help="the size of a message")
    parser.add_argument("--server-processor", type=int, default=0)
    parser.add_argument("--load-processor", type=int, default=1)
    options = parser.parse_args()
    if "{port}" not in options.server:
        parser.error("--server says nothing of a {port}")
    print("connections  floor   of the floor  server/floor, 95 %")
    for connections in (64, 512):
        compare({"server": options.server, **FLOORS}, connections, options)


if __name__ == "__main__":
    main()
