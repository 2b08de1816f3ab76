#!/usr/bin/env python3
"""What the programs of one host cost each other, and what it costs to replace one: four HTTP load balancers of
examples/balancer in one process, with a bare web server behind each.

Attack: the first takes as much as it gets in each of four ways (a flood of a closed loop, heads of the largest size,
clients that ask and never read, once with as much room for answers as the kernel gives them, once with 64 KiB each:
what fills that room is work of the attackers' kernel, which is the same one here); the others have an open loop at half
of what each keeps up when all four are busy. It says how many of their requests were answered in time and their p99,
with the attack and without. Those who attack are nice (19): they would be on other machines, and are not to take the
processors from those who are attacked.

Reload: clients that keep their connections for some requests come without a pause, while the program is replaced again
and again. A request is lost where a connection fails, or is closed while somebody waits for an answer."""

import argparse
import contextlib
import json
import multiprocessing
import os
import pathlib
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import server  # noqa: E402

LOAD = HERE / "build/web_load"
BALANCER = HERE.parent.parent / "examples/balancer/build/balancer.so/balancer.so"
CONTENT = 137
CONNECTIONS = 16
NAMES = ("attacked", "second", "third", "fourth")
ATTACKER = 19
KEPT_UP = 0.98
STEP = 0.9
ATTACKS = ("none", "flood", "largest", "unread", "unread 64K")


class Bench:
    def __init__(self, options, home, stack):
        self.options = options
        self.home = pathlib.Path(home)
        (self.home / "page").write_text("x" * CONTENT)
        (self.home / "targets").write_text("/page\n")
        self.file = self.home / "bench.host"
        self.ports = {name: server.free_port() for name in NAMES}
        loop = [str(HERE / "build/web_loop"), "0", str(self.home / "page"), "keeps"]
        self.backs = {name: stack.enter_context(server.running(loop)).port for name in NAMES}

    def write(self, names, weight=100):
        lines = [f"{name} {BALANCER} weight={weight} -- --client=127.0.0.1:{self.ports[name]} "
                 f"--servers=127.0.0.1:{self.backs[name]} --flux-workers=1" for name in names]
        self.file.write_text("\n".join(lines) + "\n")

    @contextlib.contextmanager
    def host(self, names):
        self.write(names)
        command = [self.options.flux, "host", str(self.file), "--quiet"]
        with open(HERE / "build/log", "w") as log, subprocess.Popen(command, stderr=log) as process:
            try:
                for name in names:
                    server.wait_until_reached(self.ports[name])
                yield
            finally:
                process.send_signal(signal.SIGTERM)
                process.send_signal(signal.SIGTERM)

    def load(self, name, *more):
        return [str(LOAD), "--port", str(self.ports[name]), "--connections", str(CONNECTIONS), "--targets",
                str(self.home / "targets"), *map(str, more)]

    def timed(self, name, seconds, rate=0, nice=0):
        load = self.load(name, "--rate", rate, "--seconds", seconds, "--warm-up", seconds / 4, "--servers", os.getpid())
        return subprocess.Popen(["nice", "-n", str(nice), *load], stdout=subprocess.PIPE, text=True)

    def reload(self):
        return subprocess.run([self.options.flux, "host", str(self.file), "--quiet", "--reload"], check=True,
                              capture_output=True, text=True).stdout


def rate_of(process):
    said = json.loads(process.communicate()[0])
    return said["answers"] / said["seconds"], said["p99_us"]


def attack(how, port, until):
    """Messages of the largest size, or clients that never read."""
    def one():
        while time.monotonic() < until:
            with contextlib.suppress(OSError), socket.socket() as at:
                if how == "unread 64K":
                    at.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 15)  # the kernel doubles it
                at.connect(("127.0.0.1", port))
                at.settimeout(0.2)
                while time.monotonic() < until:
                    if how == "largest":
                        at.sendall(b"GET /page HTTP/1.1\r\nHost: a\r\nX: " + b"x" * 7000 + b"\r\n\r\n")
                        at.recv(65536)
                    else:
                        with contextlib.suppress(TimeoutError):
                            at.sendall(b"GET /page HTTP/1.1\r\nHost: a\r\n\r\n" * 100)
    processes = [multiprocessing.Process(target=lambda: os.nice(ATTACKER) and one()) for _ in range(4)]
    for each in processes:
        each.start()
    return processes


def share_of(bench, seconds):
    """The highest rate that all four keep up at once, in requests a second, each in an open loop: requests that come
    one by one cost more than those that a closed loop sends together."""
    def run(rate):
        return [rate_of(each) for each in [bench.timed(name, seconds, rate) for name in NAMES]]
    rate = statistics.mean(each for each, _ in run(0))
    while True:
        print(f"all four at {rate:.0f} requests a second", file=sys.stderr, flush=True)
        if min(answered for answered, _ in run(rate)) >= KEPT_UP * rate:
            return rate
        rate *= STEP


def attacks(bench, options):
    others = NAMES[1:]
    with bench.host(NAMES):
        share = share_of(bench, options.seconds)
        print(f"each of four that are busy: {share:.0f} requests a second; the others have half of it")
        print(f"{'attack':10} {'answered':>9} {'p99 µs':>8}   of each of the others")
        for turn in range(options.turns):
            for how in ATTACKS:
                until = time.monotonic() + options.seconds * 1.25
                flood = bench.timed(NAMES[0], options.seconds, nice=ATTACKER) if how == "flood" else None
                attackers = attack(how, bench.ports[NAMES[0]], until) if how not in ("none", "flood") else []
                runs = [rate_of(each) for each in [bench.timed(name, options.seconds, share / 2) for name in others]]
                if flood is not None:
                    flood.communicate()
                for each in attackers:
                    each.join()
                answered = ", ".join(f"{rate / (share / 2):.3f}" for rate, _ in runs)
                late = ", ".join(f"{p99:.0f}" for _, p99 in runs)
                print(f"{how:10} {answered}   p99 {late}", flush=True)


def reloads(bench, options):
    name = NAMES[1]
    with bench.host([name]):
        ended = threading.Event()
        lost = []
        answers = []

        def clients():
            while not ended.is_set():
                run = subprocess.run(bench.load(name, "--each", 20, "--requests", 5000), capture_output=True, text=True)
                if run.returncode != 0:
                    lost.append(run.stderr)
                    return
                said = json.loads(run.stdout)
                answers.append(said["answers"])
                if said["asked_again"] != 0:
                    lost.append(f"{said['asked_again']} connections were closed before an answer")
        thread = threading.Thread(target=clients)
        thread.start()
        times = []
        for number in range(options.reloads):
            bench.write([name], 1 + number % 100)
            begin = time.monotonic()
            said = bench.reload()
            times.append(time.monotonic() - begin)
            if "is replaced" not in said:
                sys.exit(said)
        ended.set()
        thread.join()
        print(f"replaced {options.reloads} times, {statistics.median(times) * 1000:.0f} ms each by the command; "
              f"{sum(answers)} requests answered; lost: {len(lost)}")
        for each in lost:
            print(each)
        time.sleep(1)
        print(subprocess.run([options.flux, "host", str(bench.file), "--status"], capture_output=True,
                             text=True).stdout, end="")
        return not lost


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--flux", required=True, help="the flux command")
    parser.add_argument("--part", choices=("attack", "reload"), help="this one alone")
    parser.add_argument("--seconds", type=float, default=4, help="of a run (4)")
    parser.add_argument("--turns", type=int, default=3, help="of each attack (3)")
    parser.add_argument("--reloads", type=int, default=100, help="how often the program is replaced (100)")
    options = parser.parse_args()
    options.flux = str(pathlib.Path(options.flux).resolve())
    with tempfile.TemporaryDirectory() as home, contextlib.ExitStack() as stack:
        bench = Bench(options, home, stack)
        if options.part != "reload":
            attacks(bench, options)
        if options.part != "attack" and not reloads(bench, options):
            sys.exit(1)


if __name__ == "__main__":
    main()
