#!/usr/bin/env python3
"""Whether a newcomer is served while many who were before it say nothing: of the relay, whose flow keeps its client
until that goes, and of the image server, whose flows keep one only for a request. Under a pool of 16 threads, and under
event loops.

Prints in how many milliseconds each newcomer has had its answer, the median of ten; or that one has had none in five
seconds.
"""

import argparse
import os
import statistics
import sys
import time

import idle
import server

PATIENCE = 5  # seconds
# Each keeps a flow of the relay, and each loop has its part of the bound.
MANY_FLOWS = "--flux-max-flows=8192"
RUNTIMES = {
    "pool of 16": ["--flux-runtime=pool", "--flux-workers=16", MANY_FLOWS],
    "event": ["--flux-runtime=event", MANY_FLOWS],
}


def asked(client, question, end):
    """The seconds until the answer that ends so has come; None where that takes too long."""
    began = time.monotonic()
    client.settimeout(PATIENCE)
    answer = b""
    try:
        client.sendall(question)
        while not answer.endswith(end):
            piece = client.recv(65536)
            if not piece:
                return None
            answer += piece
    except TimeoutError:
        return None
    return time.monotonic() - began


def newcomers(port, others, question, end):
    """What becomes of newcomers when so many others have had an answer each and stay, as far as these had one."""
    held = []
    for number in range(others):
        client = idle.connect(port, number)
        held.append(client)
        if asked(client, question, end) is None:
            return f"none in {PATIENCE} s, with {number} others connected"
    times = []
    for number in range(10):
        with idle.connect(port, others + number) as client:
            times.append(asked(client, question, end))
    if None in times:
        return f"none in {PATIENCE} s"
    return f"{statistics.median(times) * 1000:.1f} ms"


def relay(options, flags):
    """The relay before the echo."""
    with server.running([options.echo, "--port=0", "--flux-runtime=event"]) as behind:
        before = [options.relay, "--port=0", f"--server=127.0.0.1:{behind.port}"]
        with server.running(before + flags) as started:
            return newcomers(started.port, options.others, b"hello", b"hello")


def image(options, flags):
    """The image server, and a picture from its cache; its answers end as a JPEG does."""
    with server.running([options.image, "--root", options.pictures, "--port", "0"] + flags) as started:
        request = f"GET {options.picture} HTTP/1.1\r\nHost: bench\r\n\r\n".encode()
        return newcomers(started.port, options.others, request, b"\xff\xd9")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--echo", required=True, help="the server of examples/echo")
    parser.add_argument("--relay", required=True, help="the server of examples/relay")
    parser.add_argument("--image", required=True, help="the server of examples/image")
    parser.add_argument("--pictures", required=True, help="its pictures")
    parser.add_argument("--picture", default="/bridge.jpg?scale=1", help="which of them is asked for")
    parser.add_argument("--others", type=int, default=1000)
    options = parser.parse_args()
    idle.raise_limit(8 * options.others)
    for name, serve in (("relay", relay), ("image server", image)):
        for runtime, flags in RUNTIMES.items():
            print(f"{name:<12}  {runtime:<10}  {serve(options, flags)}", flush=True)


if __name__ == "__main__":
    main()
