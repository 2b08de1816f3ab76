#!/usr/bin/env python3
"""Servers with a planted bottleneck: whether `flux advise` names it first, from a profile of the running server, and
whether mending it gives what was promised.

Each server is a small program whose nodes compute (by the clock of their thread) and sleep for a given time, under a
load that it makes itself: requests at random times, or as many at once as there are clients. It runs for some seconds,
its profile goes to flux advise, and then it runs again with that mended which was planted. Promised and found is the
part by which throughput changes, or the mean latency where all requests are answered; "found/promised" compares what
they come to.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))

COMMON = """
#include "{name}.flux.h"
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <random>
#include <sys/mman.h>
#include <thread>

static const double rate = std::getenv("RATE") ? std::atof(std::getenv("RATE")) : 0;
using clock_type = std::chrono::steady_clock;

// What live.py changes and reads while the server runs, in a file that both have in memory: the part of its time that
// the node takes which is to be faster, and how many flows have begun.
struct board {{
    std::atomic<double> part{{1}};
    std::atomic<std::int64_t> flows{{0}};
}};

static board &shared_board()
{{
    static board own;
    const char *const name = std::getenv("BOARD");
    const int file = name == nullptr ? -1 : open(name, O_RDWR);
    void *const at = mmap(nullptr, sizeof(board), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return file < 0 || at == MAP_FAILED ? own : *static_cast<board *>(at);
}}

[[maybe_unused]] static board &shared = shared_board();

[[maybe_unused]] static void compute(double us)
{{
    const auto now = [] {{
        timespec time;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        return 1e6 * static_cast<double>(time.tv_sec) + 1e-3 * static_cast<double>(time.tv_nsec);
    }};
    for (const double end = now() + us; now() < end;) {{
    }}
}}

[[maybe_unused]] static void rest(double us)
{{
    std::this_thread::sleep_for(std::chrono::duration<double, std::micro>(us));
}}

int Next(Next_out *out)
{{
    static std::mt19937 random(7);
    static auto next = clock_type::now();
    static int number = 0;
    if (rate > 0) {{
        next += std::chrono::duration_cast<clock_type::duration>(
            std::chrono::duration<double>(std::exponential_distribution<>(rate)(random)));
        std::this_thread::sleep_until(next);
    }}
    out->number = ++number;
    shared.flows.store(number, std::memory_order_relaxed);
    return 0;
}}
"""

NODE = """
int {node}({node}_in *in, {node}_out *out)
{{
    {work}
    out->number = in->number;
    return 0;
}}
"""


class Subject:
    """A server: its nodes with what they do, how they are connected, its load, and what is planted."""

    def __init__(self, name, nodes, flow, load, planted, mended, runtime="event", workers=2, cpus="0,1"):
        self.name, self.nodes, self.flow, self.load = name, nodes, flow, load
        self.planted, self.mended = planted, mended
        self.runtime, self.workers, self.cpus = runtime, workers, cpus

    def with_mended(self):
        """The same without its bottleneck."""
        kept = {"name": self.name + "_mended", "nodes": self.nodes, "flow": self.flow, "load": self.load,
                "planted": None, "mended": None, "runtime": self.runtime, "workers": self.workers, "cpus": self.cpus}
        return Subject(**{**kept, **self.mended})

    def build(self, flux):
        """Writes and builds it."""
        folder = os.path.join(HERE, "build", self.name)
        os.makedirs(folder, exist_ok=True)
        lines = ["Next () => (int number);", "source Next => Work;", self.flow]
        lines += [f"{node} (int number) => (int number);" for node in self.nodes]
        with open(os.path.join(folder, f"{self.name}.flux"), "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        with open(os.path.join(folder, "nodes.cpp"), "w", encoding="utf-8") as file:
            file.write(COMMON.format(name=self.name))
            file.writelines(NODE.format(node=node, work=work) for node, work in self.nodes.items())
        subprocess.run([flux, "build", f"{self.name}.flux", "nodes.cpp"], cwd=folder, check=True, capture_output=True)

    def run(self, seconds):
        """Runs it, and gives its profile."""
        folder = os.path.join(HERE, "build", self.name)
        kind, much = self.load
        report = os.path.join(folder, "profile.json")
        command = ["taskset", "-c", self.cpus, os.path.join(folder, "build", self.name, self.name),
                   f"--flux-runtime={self.runtime}", f"--flux-workers={self.workers}", f"--flux-report=json:{report}"]
        if kind == "clients":
            command.append(f"--flux-max-flows={much}")
        environment = {**os.environ, **({"RATE": str(much)} if kind == "rate" else {})}
        with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as running:
            time.sleep(seconds)
            running.send_signal(signal.SIGTERM)
        with open(report, encoding="utf-8") as file:
            return json.load(file)

    def advise(self, flux):
        """What would help, the best first."""
        folder = os.path.join(HERE, "build", self.name)
        kind, much = self.load
        command = [flux, "advise", f"{self.name}.flux", "--profile", "profile.json", "--json", f"--{kind}", str(much),
                   "--cpus", str(self.cpus.count(",") + 1), "--runtime", self.runtime, "--flows", "4000"]
        if self.runtime != "thread":
            command += ["--workers", str(self.workers)]
        said = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout
        return [json.loads(line) for line in said.splitlines()]


def compute(us):
    """A node that computes."""
    return f"compute({us});"


def rest(us):
    """A node that waits for the world."""
    return f"rest({us});"


CHAIN = "Work = A -> B -> C;"
SUBJECTS = [
    Subject("slow_node", {"A": compute(200), "B": compute(2000), "C": compute(200)}, CHAIN, ("rate", 150),
            "B takes a tenth less", {"nodes": {"A": compute(200), "B": compute(1800), "C": compute(200)}}),
    Subject("slow_line", {"A": compute(200), "B": compute(300), "C": compute(9000)},
            "typedef rare (int number) { number % 4 == 0 };\nWork = A -> Look;\nLook (int number) => (int number);\n"
            "Look:[rare] = C;\nLook:[_] = B;", ("rate", 100),
            "C takes a tenth less", {"nodes": {"A": compute(200), "B": compute(300), "C": compute(8100)}}),
    Subject("slow_backend", {"A": compute(200), "B": rest(8000), "C": compute(400)}, CHAIN, ("rate", 200),
            "B takes a tenth less", {"nodes": {"A": compute(200), "B": rest(7200), "C": compute(400)}}),
    Subject("slow_node_of_a_pool", {"A": compute(300), "B": rest(1000), "C": compute(3000)}, CHAIN, ("rate", 120),
            "C takes a tenth less", {"nodes": {"A": compute(300), "B": rest(1000), "C": compute(2700)}},
            runtime="pool", workers=16),
    Subject("writer_that_reads", {"A": compute(200), "B": rest(2000), "C": compute(100)},
            CHAIN + "\natomic B:{table};", ("clients", 8), "table? in place of table",
            {"flow": CHAIN + "\natomic B:{table?};"}, runtime="pool", workers=16),
    Subject("writer_that_computes", {"A": compute(200), "B": compute(1000), "C": compute(100)},
            CHAIN + "\natomic B:{table};", ("clients", 8), "table? in place of table",
            {"flow": CHAIN + "\natomic B:{table?};"}, runtime="thread"),
    Subject("one_of_two_locks", {"A": rest(500), "B": rest(3000), "C": compute(100)},
            CHAIN + "\natomic A:{light};\natomic B:{heavy};", ("clients", 12), "heavy? in place of heavy",
            {"flow": CHAIN + "\natomic A:{light};\natomic B:{heavy?};"}, runtime="event"),
    Subject("few_threads", {"A": compute(200), "B": rest(5000), "C": compute(100)}, CHAIN, ("clients", 32),
            "twice the threads", {"workers": 4}, runtime="pool"),
    Subject("threads_that_wait", {"A": compute(100), "B": rest(10000), "C": compute(100)}, CHAIN, ("rate", 330),
            "twice the threads", {"workers": 8}, runtime="pool", workers=4),
    Subject("one_processor", {"A": compute(500), "B": compute(500), "C": compute(500)}, CHAIN, ("clients", 8),
            "one more CPU", {"cpus": "0,1", "workers": 2}, workers=1, cpus="0"),
]


def figure(profile, kind):
    """What is compared: flows a second, or how long they take."""
    if kind == "clients":
        return profile["flows"]["done"] / profile["seconds"]
    whole = profile["flow_times"][0]["whole"]
    return whole["sum_ns"] / whole["times"]


def main():
    """Prints the table."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--flux", default=f"{ROOT}/target/release/flux", help="the compiler")
    arguments.add_argument("--seconds", type=float, default=8, help="how long each run is (8)")
    arguments.add_argument("--only", default="", help="those whose name has this in it")
    chosen = arguments.parse_args()
    named = kept = count = 0
    print(f"{'server':<20}  {'advice':<24}  {'first?':<6}  {'promised':>8}  {'found':>8}  found/promised", flush=True)
    for subject in SUBJECTS:
        if chosen.only not in subject.name:
            continue
        mended = subject.with_mended()
        for one in (subject, mended):
            one.build(chosen.flux)
        before, kind = subject.run(chosen.seconds), subject.load[0]
        advices = subject.advise(chosen.flux)
        after = mended.run(chosen.seconds)
        planted = next(advice for advice in advices if advice["change"] == subject.planted)
        promised = 1 + (planted["throughput"] if kind == "clients" else planted["latency"])["mean"]
        found = figure(after, kind) / figure(before, kind)
        is_first = advices[0]["change"] == subject.planted
        is_kept = abs(found / promised - 1) <= 0.15
        count, named, kept = count + 1, named + is_first, kept + is_kept
        print(f"{subject.name:<20}  {advices[0]['change']:<24}  {'yes' if is_first else 'no':<6}"
              f"  {100 * promised - 100:7.1f}%  {100 * found - 100:7.1f}%  {found / promised:14.3f}", flush=True)
    print(f"\n{named} of {count} name what was planted first; {kept} of {count} give what was promised within 15 %")
    sys.exit(0 if named >= 0.9 * count and kept == count else 1)


if __name__ == "__main__":
    main()
