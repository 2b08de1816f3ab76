#!/usr/bin/env python3
"""Compares examples/redis with redis-server, in turns (A B A B …), each pinned to one processor and redis-benchmark to
the other: the processor time of the server for one command, and commands a second. redis-server runs as it recommends
itself, but keeps nothing on disk. Prints medians with the least and the most, and the median of the turns' ratios."""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import server  # noqa: E402

CONNECTIONS = 50
LOAD_LIMIT_S = 300
# `redis-server: Ready to accept connections` says no port, so it is given one.
REDIS_PORT = 17379


def processor_time_ns(pid):
    """What the threads of the process have had so far, of their own and in the kernel. None of them ends before it."""
    threads = pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(each.read_text(encoding="ascii").split()[0]) for each in threads)


def load(port, test, pipelined, commands, processor):
    """Commands a second."""
    command = ["taskset", "-c", str(processor), "redis-benchmark", "-p", str(port), "-c", str(CONNECTIONS)]
    command += ["-P", str(pipelined), "-n", str(commands), "--csv"]
    # What is published has nobody to hear it: finding that out is what is measured.
    command += ["publish", "news", "hello"] if test == "publish" else ["-t", test]
    return float(server.words(command, LOAD_LIMIT_S).splitlines()[-1].rsplit('","', 7)[1].strip('"'))


def shown(values, unit):
    """The median, and from where to where they are."""
    return f"{statistics.median(values):>9.0f} {unit} [{min(values):.0f}, {max(values):.0f}]"


def compare(ports_and_pids, test, pipelined, options):
    commands = options.commands if pipelined == 1 else options.commands * 8
    times, rates = ([], []), ([], [])
    for turn in range(options.turns):
        # Who goes first changes, so that a machine that slows down favours neither.
        for which in (0, 1) if turn % 2 == 0 else (1, 0):
            port, pid = ports_and_pids[which]
            before = processor_time_ns(pid)
            rates[which].append(load(port, test, pipelined, commands, options.load_processor))
            times[which].append((processor_time_ns(pid) - before) / commands)
    ratios = sorted(ours / theirs for ours, theirs in zip(*times))
    print(f"{test:<8} -P {pipelined:<3} ours {shown(times[0], 'ns')}  redis-server {shown(times[1], 'ns')}"
          f"  ratio {statistics.median(ratios):.2f} [{ratios[0]:.2f}, {ratios[-1]:.2f}]"
          f"   commands/s {shown(rates[0], '')} {shown(rates[1], '')}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--example", required=True, help="the server of examples/redis")
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--commands", type=int, default=100_000, help="of each turn; eight times as many in pipelines")
    parser.add_argument("--tests", nargs="+", default=["get", "set", "incr", "publish"])
    parser.add_argument("--io", nargs="+", default=["reactor", "proactor"], help="by epoll, by io_uring")
    parser.add_argument("--server-processor", type=int, default=0)
    parser.add_argument("--load-processor", type=int, default=1)
    options = parser.parse_args()
    redis = ["redis-server", "--port", str(REDIS_PORT), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
    for way in options.io:
        ours = [options.example, "--port=0", "--flux-runtime=event", "--flux-workers=1", f"--flux-io={way}"]
        with server.running(redis, processor=options.server_processor, listens=False) as theirs, \
                server.running(ours, processor=options.server_processor) as own:
            wait = ["redis-cli", "-p", str(REDIS_PORT), "ping"]
            while subprocess.run(wait, capture_output=True, check=False).returncode != 0:
                theirs.check()
            print(f"examples/redis by the {way}, beside redis-server: processor time of a command")
            for test in options.tests:
                for pipelined in (1, 16):
                    compare(((own.port, own.pid), (REDIS_PORT, theirs.pid)), test, pipelined, options)


if __name__ == "__main__":
    main()
