#!/usr/bin/env python3
"""What it costs a server that it measures itself: in every second slice of 50 ms, in one process under a full load, it
times no flow. Figures: how much more processor time a flow takes where some are timed, the geometric mean of the ratios
of neighbouring slices with its interval at 95 of 100.

examples/echo and examples/web, on one event loop, under clients that send sixteen requests at a time.
"""

import argparse
import json
import math
import os
import re
import statistics
import subprocess
import sys
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.dirname(HERE))

CLIENT = """
import socket, sys, threading
request = sys.argv[2].encode().decode("unicode_escape").encode()
def ask():
    client = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    while True:
        client.sendall(request * 16)
        seen = 0
        while seen < 16:
            more = client.recv(1 << 16)
            if not more:
                return
            seen += more.count(sys.argv[3].encode().decode("unicode_escape").encode())
for _ in range(int(sys.argv[4])):
    threading.Thread(target=ask, daemon=True).start()
threading.Event().wait()
"""
SERVERS = {
    "echo": (r"hello\n", r"\n"),
    "web": (r"GET /index.html HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 "),
}


def built(flux, name):
    """The server, in a folder of the bench's own."""
    folder = os.path.join(HERE, "build", name)
    program = os.path.join(ROOT, "examples", name, f"{name}.flux")
    if flux:
        subprocess.run([flux, "build", program, "--build-dir", folder], check=True, stderr=subprocess.DEVNULL)
    return os.path.join(folder, name)


def ask(address, query, post=False):
    """What /speed-up says."""
    request = urllib.request.Request(f"http://{address}/speed-up{query}", method="POST" if post else "GET")
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def slices_of(binary, name, chosen, port):
    """Those of an experiment."""
    command = ["taskset", "-c", "0", binary, f"--port={port}", "--flux-runtime=event", "--flux-workers=1",
               "--flux-admin=0", *chosen.flags]
    running = subprocess.Popen(command, cwd=os.path.join(ROOT, "examples", name), stderr=subprocess.PIPE, text=True)
    found = None
    while found is None:
        found = re.search(r"the admin interface listens at (\S+)", running.stderr.readline())
    address = found[1]
    request, mark = SERVERS[name]
    load = subprocess.Popen(["taskset", "-c", "1", sys.executable, "-c", CLIENT, str(port), request, mark,
                             str(chosen.at_once)])
    time.sleep(1)
    said = ask(address, f"?profile=off&slices={chosen.slices}&slice_ms=50", post=True)
    while said["is_running"]:
        time.sleep(0.5)
        said = ask(address, "")
    load.kill()
    running.kill()
    load.wait()
    running.wait()
    return said["slices"]


def main():
    """Prints the table."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--flux", default=f"{ROOT}/target/release/flux", help="the compiler; empty: they are built")
    arguments.add_argument("--slices", type=int, default=400, help="how many (400)")
    arguments.add_argument("--only", default="", help="the server with this name")
    arguments.add_argument("--at-once", type=int, default=8, help="connections (8)")
    arguments.add_argument("--flags", nargs="*", default=[], help="of the server, more")
    chosen = arguments.parse_args()
    print("server  flows     CPU of a flow  of those, timed/not timed, mean (within, median)")
    for number, name in enumerate(each for each in SERVERS if chosen.only in each):
        all_slices = slices_of(built(chosen.flux, name), name, chosen, 18400 + number)
        parts = []
        for pair in zip(all_slices[::2], all_slices[1::2]):
            timed, other = sorted(pair, key=lambda each: not each["timed"])
            if timed["flows"] and other["flows"]:
                ratio = timed["cpu_ns"] / timed["flows"] / (other["cpu_ns"] / other["flows"])
                parts.append(math.log(ratio))
        flows = sum(each["flows"] for each in all_slices)
        used = sum(each["cpu_ns"] for each in all_slices) / flows
        within = 2 * statistics.stdev(parts) / len(parts) ** 0.5
        print(f"{name:<6}  {flows:<8}  {used / 1000:8.2f} us    {math.exp(statistics.mean(parts)):.4f} ±{within:.4f}, "
              f"{math.exp(statistics.median(parts)):.4f}", flush=True)


if __name__ == "__main__":
    main()
