#!/usr/bin/env python3
"""What `flux sim` predicts of servers beside what is measured of them, on one machine: over strategies, processors and
loads, from one profile of each server, taken on one event loop at half of its capacity. The servers are six random ones
(random_server.py), and the image server, the bank and the web server of the examples (real_servers.py).

Flows come at random times, whatever became of those before, and latency counts from when a flow should have come.
Random servers and the bank bring them themselves (open_load.hpp); on one processor the thread that does so is on the
other. The image server and the web server are asked by flux-load: on one processor it is on the other; on two it has a
part of both. What it takes is simulated as a wait or as work of the source. The simulation gets the same arrivals, so
what differs is the model, and the times of nodes, which are drawn anew. A row is measured again where other processes
or the host took a part of the server's processors; one that still was disturbed is marked so.

Rows go to a JSON file as they are made, and what is there is not made again, nor are profiles: who was interrupted
gives the same command again. `--table` prints the rows as the table of the docs. A server takes about five minutes: 36
loads of 6 s, its profile, and simulations. All nine take 45; rows that are disturbed are measured twice, so with others
on the machine it is up to 80 (`--minutes` ends it before). `--quick` shows in a few minutes that all works.

Verdicts: throughput is right within 3 %, and up to 80 % of the load the 95th percentile within 10 %. Above that a small
error of the load is a large one of latency, so there the load is compared at which the 95th percentile comes to that
which is predicted at 90 %: right within 3 %.
"""

import argparse
import contextlib
import fcntl
import json
import os
import subprocess
import sys
import tempfile
import time
import traceback

from measured import Setting, arrivals, awake, come_first
from random_server import RandomServer
from real_servers import REAL
from told import table

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
ALL = "1,2,3,4,5,6,image,bank,web"
PROFILED = Setting("event", 1)
EVERYWHERE = Setting("event", 2)
SETTINGS = [Setting(runtime, cpus) for cpus in (1, 2) for runtime in ("event", "pool", "thread")]
LOADS = (0.2, 0.5, 0.8, 0.9, 0.95, 1.5)
# Beyond this part of the processors taken by others a row is measured again, at most so often.
DISTURBED = 0.02
SHARED = 0.1
TRIES = 2
PROFILE_S = 10
# Of one that is taken under a setting itself, at this part of its capacity.
OWN_PROFILE_S = 6
PROFILED_AT = 0.5
# No simulation takes longer.
LIMIT_S = 300


@contextlib.contextmanager
def alone(chosen):
    """While nobody else holds the lock, as others do who would disturb a measurement; and where servers come first, on
    processors that do not rest."""
    with contextlib.ExitStack() as held:
        if chosen.lock is not None:
            file = held.enter_context(open(chosen.lock, "a", encoding="ascii"))
            fcntl.flock(file, fcntl.LOCK_EX)
        if chosen.first:
            held.enter_context(awake())
        yield


def predicted(chosen, subject, setting, rates, flows, times=None, speed=1.0):
    """What flux sim says of each rate; with these arrivals, or with random ones; where the server computes so many
    times as fast as when the profile was taken."""
    workers = ["--workers", str(setting.workers())] if setting.workers() else []
    estimates = [word for estimate in subject.estimates(setting, speed) for word in ("-e", estimate)]
    with tempfile.NamedTemporaryFile("w", suffix=".arrivals") as kept:
        replayed = []
        if times:
            kept.write("\n".join(f"{time:.9f}" for time in times))
            kept.flush()
            replayed = ["--arrivals", kept.name]
        said = subprocess.run(
            ["setsid", "nice", "-n", "10", chosen.flux, "sim", subject.program, "--profile", subject.profile, "--json",
             *estimates, *subject.options(), "--runtime", setting.runtime, *workers, "--cpus", str(setting.cpus),
             "--flows", str(flows), *packing(), "--cpu-speed", f"{speed:.6f}",
             "--rate", ",".join(f"{rate:.2f}" for rate in rates), *replayed],
            check=True, capture_output=True, text=True, timeout=LIMIT_S).stdout
    return [json.loads(line) for line in said.splitlines()]


def packing():
    """What flux sim is told of the kernel that this machine runs."""
    with open("/proc/cmdline", encoding="ascii") as words:
        return ["--vcpu-pack"] if "sched_vcpu_pack" in words.read() else []


def is_disturbed(setting, seen):
    """Whether others took a part of what it was to have: the host, or who kept a loop waiting that is to have its
    processor alone. Where there are several, threads of the server wait for each other, and the kernel may let them do
    so beside an idle one; there all that others used is looked at, as they lead the kernel astray."""
    waited = seen["loops_waited"] if setting.cpus == 1 else 0
    return waited + seen["stolen"] > DISTURBED or (setting.cpus > 1 and seen["others"] > SHARED)


def measured(chosen, subject, setting, times, seconds, report=None):
    """A row's figures, of the run that was disturbed least. Its profile goes to `report`."""
    best = None
    for _ in range(TRIES):
        own = report and f"{report}.try"
        seen = subject.run(setting, times, seconds, own)
        if best is None or seen["loops_waited"] + seen["stolen"] < best["loops_waited"] + best["stolen"]:
            best = seen
            for of in ("", ".load") if report else ():
                if os.path.exists(own + of):
                    os.replace(own + of, report + of)
        if not is_disturbed(setting, seen):
            break
    return best


def brought(rate, seconds, load):
    """When flows come: the same times each time."""
    return arrivals(rate, seconds, int(1000 * load))


def row(chosen, subject, setting, load, asked, seconds, seen):
    """Predicts a point that was measured for so long, where so many a second were asked for."""
    times = brought(asked, seconds, load)
    rate, flows = len(times) / seconds, max(len(times), 2000)

    def foreseen(speed=1.0):
        return predicted(chosen, subject, setting, [rate], flows, times if load < 1 else None, speed)[0]

    usual = foreseen()
    took_us = subject.took_us(setting, usual)
    # Where a server takes another time for the same in each minute: if its nodes had taken in the profile what they
    # took in the run that was measured. What is missed then is the model's.
    speed = took_us and took_us * seen["ended"] / (1e6 * seen["cpu_s"])
    own = {"speed": speed, "at_own_speed": figures(foreseen(speed))} if speed else {}
    return {"server": subject.name, "runtime": setting.runtime, "cpus": setting.cpus, "load": load, "rate": rate,
            "asked": asked, "seconds": seconds,
            "disturbed": is_disturbed(setting, seen), "measured": seen, "predicted": figures(usual), **own}


def figures(foreseen):
    """What a row keeps of a prediction."""
    return {name: foreseen[name] for name in ("throughput", "p50", "p95", "overloaded")}


def shown(one):
    """A row as it is made."""
    seen, foreseen = one["measured"], one["predicted"]
    p95_s = foreseen["p95"]["mean"] if foreseen["p95"] else float("nan")
    return (f"{one['server']:9} {one['runtime']:6} {one['cpus']} {100 * one['load']:4.0f} %  flows/s "
            f"{seen['throughput']:7.1f} {foreseen['throughput']['mean']:7.1f}  p95 ms {1e3 * seen['p95']:8.3f} "
            f"{1e3 * p95_s:8.3f} {p95_s / seen['p95']:6.3f}  waited {100 * seen['loops_waited']:.1f} % "
            f"stolen {100 * seen['stolen']:.1f} %{'  disturbed' if one['disturbed'] else ''}")


def profiled(chosen, subject):
    """Builds the server, and takes its profile where there is none that is younger."""
    subject.program, subject.server = subject.build(chosen.flux)
    subject.profile = os.path.join(subject.folder(), "profile.json")
    if not os.path.exists(subject.profile) or chosen.profile:
        with alone(chosen):
            rate = subject.profile_rate(PROFILED)
            measured(chosen, subject, PROFILED, arrivals(rate, PROFILE_S, 1), PROFILE_S, subject.profile)
            add_thread_cost(subject, rate)


def add_thread_cost(subject, rate):
    """What a thread takes on several processors is not known to a server that has one: it is taken from a second's
    profile of one that has all."""
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "profile.json")
        subject.run(EVERYWHERE, arrivals(rate, 1, 1), 1, report)
        with open(report, encoding="utf-8") as file:
            cost = json.load(file)["thread_cost_ns"]
    with open(subject.profile, encoding="utf-8") as file:
        profile = json.load(file)
    profile["thread_cost_ns"] = cost
    with open(subject.profile, "w", encoding="utf-8") as file:
        json.dump(profile, file)


def named(name):
    """The subject of this name: one of the examples, or a random server by its seed."""
    return REAL[name]() if name in REAL else RandomServer(int(name))


def again(chosen, rows):
    """The same rows, predicted anew."""
    subjects = {}
    for one in rows:
        if one["server"] not in subjects:
            subjects[one["server"]] = named(one["server"].removeprefix("random_"))
            profiled(chosen, subjects[one["server"]])
        setting = Setting(one["runtime"], one["cpus"])
        if chosen.own:
            subjects[one["server"]].profile = own_profile(subjects[one["server"]], setting)
        yield row(chosen, subjects[one["server"]], setting, one["load"], one["asked"], one["seconds"], one["measured"])


def own_profile(subject, setting):
    """Where the profile is kept that a subject gave under this setting."""
    return os.path.join(subject.folder(), f"own_{setting.named().replace(' ', '_')}.json")


def make_of(chosen, subject, setting, loads):
    """The rows of a subject under a setting."""
    # Far beyond what it can do.
    most = predicted(chosen, subject, setting, [1e7 * setting.cpus / subject.mean_us()], 20000)[0]
    asked = {load: load * most["throughput"]["mean"] for load in loads}
    shared = subject.profile
    with alone(chosen):
        if chosen.own:
            subject.profile = own_profile(subject, setting)
            rate = PROFILED_AT * most["throughput"]["mean"]
            measured(chosen, subject, setting, arrivals(rate, OWN_PROFILE_S, 1), OWN_PROFILE_S, subject.profile)
        # Not timed: as a thread's clock is read, the kernel looks whether the thread has had its slice.
        seen = {load: measured(chosen, subject, setting, brought(asked[load], chosen.seconds, load), chosen.seconds)
                for load in loads}
    for load in loads:
        yield row(chosen, subject, setting, load, asked[load], chosen.seconds, seen[load])
    subject.profile = shared


@contextlib.contextmanager
def going_on(failures):
    """What fails in it is told, and all else goes on: a server that cannot be built, or ends by itself."""
    try:
        yield
    except (Exception, SystemExit) as failed:
        failures.append(failed)
        traceback.print_exc()


def make(chosen, rows, into):
    """Makes the rows that are missing, and keeps each. What fails is told, and left for the next time: whether all was
    made."""
    known = {(row["server"], row["runtime"], row["cpus"], row["load"]) for row in rows}
    failures = []
    for name in chosen.servers.split(","):
        subject = named(name)
        missing = {setting.named(): (setting, [load for load in chosen.loads if
                                               (subject.name, setting.runtime, setting.cpus, load) not in known])
                   for setting in SETTINGS if any(word in setting.named() for word in chosen.only.split(","))}
        if not any(loads for _, loads in missing.values()):
            continue
        print(f"{subject.name}: {subject.describe()}", flush=True)
        with going_on(failures):
            profiled(chosen, subject)
        for setting, loads in missing.values():
            if not loads:
                continue
            with going_on(failures):
                if time.monotonic() > chosen.until:
                    raise TimeoutError(f"there was no time left for {subject.name}, {setting.named()}")
                for one in make_of(chosen, subject, setting, loads):
                    rows.append(one)
                    into.write(json.dumps(one) + "\n")
                    into.flush()
                    print(shown(one), flush=True)
    return not failures


def main():
    """Makes the rows that are missing, and prints the table."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--flux", default=f"{ROOT}/target/release/flux", help="the compiler")
    arguments.add_argument("--seconds", type=float, default=6, help="how long each load is (6)")
    arguments.add_argument("--servers", help=f"seeds of random servers, and names of real ones ({ALL})")
    arguments.add_argument("--loads", default=LOADS, type=lambda words: [float(word) for word in words.split(",")],
                           help="parts of the predicted capacity (0.2,0.5,0.8,0.9,0.95,1.5)")
    arguments.add_argument("--only", help="settings whose name has one of these in it: event, pool 2")
    arguments.add_argument("--minutes", type=float, default=float("inf"), help="begins no setting after so many")
    arguments.add_argument("--rows", default=os.path.join(HERE, "build", "rows.json"), help="where rows are kept")
    arguments.add_argument("--lock", help="a file that is locked while a row is measured, as others do for builds")
    arguments.add_argument("--first", action="store_true", help="servers come before all else on the machine (root)")
    arguments.add_argument("--profile", action="store_true", help="take profiles anew")
    arguments.add_argument("--own", action="store_true",
                           help="predict a setting from a profile that is taken under it, at half of its capacity, "
                                "just before, so that the model is held against it, and not what nodes take in "
                                "another minute or beside other threads; give it --rows of its own")
    arguments.add_argument("--quick", action="store_true", help="one loop, two loads of 2 s, rows of their own")
    arguments.add_argument("--again", action="store_true", help="predict the rows that there are anew")
    arguments.add_argument("--table", action="store_true", help="only print the rows that there are, as Markdown")
    chosen = arguments.parse_args()
    chosen.flux = os.path.abspath(chosen.flux)
    chosen.until = time.monotonic() + 60 * chosen.minutes
    os.makedirs(os.path.join(HERE, "build"), exist_ok=True)
    if chosen.first:
        come_first()
    if chosen.quick:
        chosen.rows, chosen.seconds, chosen.loads = os.path.join(HERE, "build", "quick.json"), 2, [0.2, 0.8]
        chosen.servers, chosen.only = chosen.servers or "3,image,bank,web", chosen.only or "event 1"
        if os.path.exists(chosen.rows):
            os.remove(chosen.rows)
    chosen.servers, chosen.only = chosen.servers or ALL, chosen.only or ""
    rows, is_whole = [], True
    if os.path.exists(chosen.rows):
        with open(chosen.rows, encoding="utf-8") as file:
            rows = [json.loads(line) for line in file]
    if chosen.again:
        rows = list(again(chosen, rows))
        with open(chosen.rows, "w", encoding="utf-8") as into:
            into.writelines(json.dumps(one) + "\n" for one in rows)
    elif not chosen.table:
        with open(chosen.rows, "a", encoding="utf-8") as into:
            is_whole = make(chosen, rows, into)
    print(table(rows))
    if not is_whole:
        sys.exit("prediction: rows are missing, as the messages above say; the same command makes them")


if __name__ == "__main__":
    main()
