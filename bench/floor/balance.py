"""How many connections each of four loops has, of those that come one by one, and of those that come at once."""

import collections
import re
import socket
import time

import cases
import server

LOOPS = 4
REQUEST, ANSWER = cases.SIZES["fixed"]
PATIENCE_S = 30
# Longer than a loop takes to go to sleep.
PAUSE_S = 0.005


def thread_of(client):
    """Who answers this connection."""
    client.sendall(b"x" * REQUEST)
    answer = b""
    while len(answer) < ANSWER:
        piece = client.recv(ANSWER - len(answer))
        if not piece:
            raise RuntimeError("the server has closed a connection")
        answer += piece
    return re.match(rb"thread (\d+)\.", answer).group(1)


def distribution(io, at_once, connections, options):
    """The loops' connections, the most first."""
    command = cases.command(io, "fixed", options.build) + [f"--flux-workers={LOOPS}"]
    with server.running(command) as started:
        clients, threads = [], []
        for _ in range(connections):
            clients.append(socket.create_connection(("127.0.0.1", started.port), PATIENCE_S))
            if not at_once:
                threads.append(thread_of(clients[-1]))
                time.sleep(PAUSE_S)
        threads = threads or [thread_of(client) for client in clients]
    counts = sorted(collections.Counter(threads).values(), reverse=True)
    return counts + [0] * (LOOPS - len(counts))


def table(options):
    """The lines as they come, with the results."""
    yield f"connections of {LOOPS} loops", None
    for io in cases.IO:
        for name, at_once in (("one by one", False), ("at once", True)):
            for connections in (40, 400):
                counts = distribution(io, at_once, connections, options)
                even = connections / LOOPS
                uneven = max(abs(count - even) for count in counts) / even
                shown = " ".join(f"{count:>4}" for count in counts)
                yield f"{io:<10}{name:<11}{shown}   {uneven:>4.0%} from even", {
                    "io": io, "come": name, "connections": counts, "from_even": uneven}
