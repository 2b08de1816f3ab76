#!/usr/bin/env python3
"""What it costs a server to be asked how it runs: examples/web on one event loop under a full load of a small page, in
turns with nobody at its admin interface, and with one who asks for its metrics, its graph and its flows every second.

Figures: processor time of a request and its 99th percentile, each as the median of the ratios of neighbours with the
lowest and the highest; and how long the answers of the interface took meanwhile.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import threading
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.dirname(HERE))
import server

PAGES = ("/metrics", "/graph.json", "/flows")
INTERFACE = re.compile(r"the admin interface listens at (\S+)")
MICROSECONDS = {"us": 1, "ms": 1e3, "s": 1e6}


def build(flux):
    """The server, in a folder of the bench's own."""
    folder = os.path.join(HERE, "build")
    subprocess.run([flux, "build", f"{ROOT}/examples/web/web.flux", "--build-dir", folder], check=True,
                   stderr=subprocess.DEVNULL)
    return os.path.join(folder, "web")


def processor_seconds(pid):
    """Inside and outside of the kernel, so far."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Asker:
    """Asks for the pages every second, until the end of the block; knows how long each answer took."""

    def __init__(self, address, seconds):
        self._address, self._seconds = address, seconds
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._ask)

    def _ask(self):
        while True:
            for page in PAGES:
                begin = time.perf_counter()
                urllib.request.urlopen(f"http://{self._address}{page}").read()
                self._seconds.append(time.perf_counter() - begin)
            if self._over.wait(1):
                return

    def __enter__(self):
        self._thread.start()

    def __exit__(self, *_):
        self._over.set()
        self._thread.join()


def load(running, seconds):
    """Processor time of a request, and its 99th percentile, in microseconds."""
    before = processor_seconds(running.pid)
    command = ["taskset", "-c", "1", "wrk", "-t1", "-c64", f"-d{seconds}s", "--latency",
               f"http://127.0.0.1:{running.port}/index.html"]
    said = server.words(command, seconds + 60)
    requests = int(re.search(r"(\d+) requests in", said).group(1))
    amount, unit = re.search(r"99%\s+([\d.]+)(us|ms|s)", said).groups()
    return (processor_seconds(running.pid) - before) / requests * 1e6, float(amount) * MICROSECONDS[unit]


def ratio(name, alone, asked):
    """A line of the table."""
    ratios = sorted(right / left for left, right in zip(alone, asked))
    print(f"{name:24} {statistics.median(alone):8.2f} {statistics.median(asked):8.2f}   "
          f"{statistics.median(ratios):5.3f} ({ratios[0]:.2f} to {ratios[-1]:.2f})")


def main():
    """Prints the table."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--flux", default=f"{ROOT}/target/release/flux", help="the compiler")
    arguments.add_argument("--turns", type=int, default=7, help="pairs of loads (7)")
    arguments.add_argument("--seconds", type=int, default=6, help="how long each is (6)")
    chosen = arguments.parse_args()
    command = [build(chosen.flux), "--port=0", f"--root={ROOT}/examples/web/public", "--flux-runtime=event",
               "--flux-workers=1", "--flux-admin=0"]
    alone, asked, answers = [], [], []
    with server.running(command, processor=0) as running:
        while not (found := INTERFACE.search(running.said())):
            time.sleep(0.01)
        for turn in range(chosen.turns):
            print(f"\rturn {turn + 1} of {chosen.turns}", end="", file=sys.stderr, flush=True)
            alone.append(load(running, chosen.seconds))
            with Asker(found.group(1), answers):
                asked.append(load(running, chosen.seconds))
    print("\r", end="", file=sys.stderr)
    print(f"{'microseconds':24} {'alone':>8} {'asked':>8}   asked/alone (lowest to highest)")
    for at, name in enumerate(("processor, of a request", "99th percentile")):
        ratio(name, [each[at] for each in alone], [each[at] for each in asked])
    print(f"an answer of the interface: {statistics.median(answers) * 1e3:.1f} ms, "
          f"{max(answers) * 1e3:.1f} at most, of {len(answers)}")


if __name__ == "__main__":
    main()
