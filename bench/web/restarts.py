#!/usr/bin/env python3
"""Hot restarts of the web server under load: each server takes over the listening sockets of the one before, which
drains. Clients with 100 requests a connection get all their answers, and the servers have answered no more requests
than there are answers, so none was lost and none answered twice. A client that finds its connection closed between two
requests asks again on another, as RFC 9112, 9.3.1 says; the last line says how often that was.

    restarts.py --requests 1000000 --restarts 10
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import peers

LOAD = peers.HERE / "build/web_load"
LIMIT_S = 3600
REST_S = 0.3


class Restarted:
    """The servers, one after the other, and what each has said."""

    def __init__(self, home, options):
        self.home = home
        self.options = options
        self.port = peers.free_port()
        self.servers = []

    def start(self):
        """The next one, as soon as it serves; the one before ends by itself."""
        number = len(self.servers)
        command = [self.options.server, f"--port={self.port}", f"--root={self.home}",
                   f"--flux-takeover={self.home}/place", f"--flux-report=json:{self.home}/report{number}",
                   *self.options.flux]
        started = peers.server.Server(command)
        started.wait_for_port()
        self.servers.append(started)

    def wait_for(self, which):
        """Until this one has ended."""
        code = self.servers[which].process.wait(LIMIT_S)
        if code != 0:
            sys.exit(f"restarts: a server has ended with {code}:\n{self.servers[which].said()}")

    def requests(self):
        """How many of them had flows, and how many of these did not answer with a file."""
        all_of_them, others = 0, 0
        for number in range(len(self.servers)):
            flows = json.loads((self.home / f"report{number}").read_text(encoding="utf-8"))["flows"]
            all_of_them += flows["started"]
            others += flows["started"] - flows["done"]
        return all_of_them, others


class Load:
    """The load. It begins again where it has ended before all restarts were made, so that each begins under load."""

    def __init__(self, port, targets, options):
        self.command = [str(LOAD), "--port", str(port), "--connections", str(options.connections), "--targets",
                        str(targets), "--each", "100", "--requests", str(options.requests)]
        self.begun = 0
        self.answers = 0
        self.asked_again = 0
        self._begin()

    def _begin(self):
        self.begun += 1
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, text=True)

    def go_on(self):
        """Sees to it that it is running."""
        if self.process.poll() is not None:
            self.end()
            self._begin()

    def end(self):
        """Waits for the end, and counts."""
        said, _ = self.process.communicate(timeout=LIMIT_S)
        if self.process.returncode != 0:
            sys.exit(f"restarts: the load ended with {self.process.returncode}")
        counts = json.loads(said)
        self.answers += counts["answers"]
        self.asked_again += counts["asked_again"]


def run(home, options):
    """All restarts, while the load goes on: the load, and the servers."""
    (home / "1k.bin").write_bytes(os.urandom(1024))
    (home / "targets").write_text("/1k.bin\n", encoding="ascii")
    servers = Restarted(home, options)
    servers.start()
    load = Load(servers.port, home / "targets", options)
    # Restarts come evenly over the load, however fast that is.
    for number in range(options.restarts):
        time.sleep(REST_S if options.seconds is None else options.seconds / (options.restarts + 1))
        load.go_on()
        servers.start()
        servers.wait_for(number)
    load.end()
    servers.servers[-1].process.terminate()
    servers.wait_for(-1)
    return load, servers


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default=str(peers.WEB))
    parser.add_argument("--requests", type=int, default=1_000_000)
    parser.add_argument("--restarts", type=int, default=10)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--seconds", type=float, help="how long the load will take, for restarts over all of it")
    parser.add_argument("--flux", action="append", default=[], help="an option of the servers")
    options = parser.parse_args()
    options.flux = options.flux or ["--flux-runtime=event", "--flux-workers=2"]
    with tempfile.TemporaryDirectory() as home:
        load, servers = run(pathlib.Path(home), options)
        requests, others = servers.requests()
    print(f"{load.answers} answers through {options.restarts} restarts; the servers have answered {requests} "
          f"requests, {others} of them otherwise; asked again {load.asked_again}")
    # As many may be under way each time when the load has enough.
    if others != 0 or not load.answers <= requests <= load.answers + load.begun * options.connections:
        sys.exit("restarts: a request was lost, or answered twice")


if __name__ == "__main__":
    main()
