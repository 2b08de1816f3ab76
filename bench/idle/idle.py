#!/usr/bin/env python3
"""What it costs to wait: the memory of a server whose 10,000 flows sleep on their fibers, and of one that holds 100,000
idle connections and then answers on each of them.

The limit of open files is raised where this may be done; else there are as many connections as it allows, and the table
says how many.
"""

import argparse
import os
import resource
import select
import socket
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import server

# Each address of the loopback network has ports of its own, some 28,000.
CONNECTIONS_FOR_EACH_ADDRESS = 20_000
PATIENCE_S = 30


def resident_kib(pid):
    """Kibibytes of memory that the process has."""
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


def settled(pid):
    """Kibibytes of memory, when that grows no more."""
    before, now = -1, resident_kib(pid)
    while now != before:
        time.sleep(0.5)
        before, now = now, resident_kib(pid)
    return now


def sleep(sleepers, flows):
    """Kibibytes of memory with so many flows asleep."""
    command = [sleepers, "--flux-runtime=event", "--flux-workers=1", f"--flux-max-flows={flows}"]
    with server.running(command, listens=False) as started:
        time.sleep(1)
        return settled(started.pid)


def raise_limit(wanted):
    """Allows so many open files, or as many as may be."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, max(wanted, hard)))
        return wanted
    except (ValueError, PermissionError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        return hard


def connect(port, number):
    """The connection of this number, from an address that has a port left."""
    made = socket.socket()
    made.bind((f"127.0.0.{2 + number // CONNECTIONS_FOR_EACH_ADDRESS}", 0))
    made.connect(("127.0.0.1", port))
    return made


def hold(echo, io, wanted):
    """How many connections were held, the memory before and with them, and how many answered at last."""
    count = min(wanted, raise_limit(wanted + 1000) - 1000)
    command = [echo, "--port=0", "--flux-runtime=event", "--flux-workers=1", f"--flux-io={io}"]
    with server.running(command) as started:
        clients = [connect(started.port, 0)]
        before = settled(started.pid)
        clients += [connect(started.port, number) for number in range(1, count)]
        with_them = settled(started.pid)
        poll = select.epoll()
        by_number = {client.fileno(): client for client in clients}
        for client in clients:
            client.sendall(b"still there?")
            poll.register(client, select.EPOLLIN | select.EPOLLONESHOT)
        answered = 0
        while answered < count:
            events = poll.poll(PATIENCE_S)
            if not events:
                raise RuntimeError(f"only {answered} of {count} connections answered")
            answered += sum(by_number[number].recv(100) == b"still there?" for number, _ in events)
        return count, before, with_them, answered


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sleepers", required=True, help="the server built from sleepers.flux")
    parser.add_argument("--echo", required=True, help="the server of examples/echo")
    parser.add_argument("--flows", type=int, default=10_000)
    parser.add_argument("--connections", type=int, default=100_000)
    options = parser.parse_args()
    one = sleep(options.sleepers, 1)
    many = sleep(options.sleepers, options.flows)
    each = (many - one) / options.flows
    print(f"{options.flows} flows asleep: {many / 1024:.1f} MiB, {each:.2f} KiB each", flush=True)
    for io in ("reactor", "proactor"):
        count, before, with_them, answered = hold(options.echo, io, options.connections)
        each = (with_them - before) / count * 1024
        print(f"{count} idle connections, {io}: {with_them / 1024:.1f} MiB, {each:.0f} bytes each; {answered} answered",
              flush=True)


if __name__ == "__main__":
    main()
