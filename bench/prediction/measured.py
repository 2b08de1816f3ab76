"""What is measured of a server under an open load that it makes itself (open_load.hpp), and what disturbed it."""

import array
import contextlib
import dataclasses
import os
import random
import resource
import struct
import subprocess
import tempfile

BLOCKS = 20
RESAMPLED = 200
# Timing takes time itself, of which a profile knows only a part; in three turns each request of a log is timed.
TIMED = "--flux-times-one-in=3"
# A server that goes on for so much longer than its load never ends.
LIMIT_S = 60
HERE = os.path.dirname(os.path.abspath(__file__))


@dataclasses.dataclass
class Setting:
    """What runs a server: a strategy with so many workers, on so many processors."""

    runtime: str
    cpus: int

    def workers(self):
        """Of the pool, or loops; none where there is a thread for each flow."""
        return {"thread": None, "pool": 16, "event": self.cpus}[self.runtime]

    def is_brought(self):
        """Whether its flows are brought by another processor. Threads begin where the one runs that makes them."""
        return self.cpus == 1 and self.runtime != "thread"

    def named(self):
        """As tables have it."""
        return f"{self.runtime} {self.cpus}"


def percentile(ordered, part):
    """What this part of them is not above; they are in ascending order."""
    return ordered[max(0, min(len(ordered) - 1, int(part * len(ordered))))]


def interval_of_p95(latencies):
    """The 95th percentile, and where it is in 95 of 100 runs: blocks of flows next to each other are drawn anew."""
    size = max(1, len(latencies) // BLOCKS)
    blocks = [latencies[at:at + size] for at in range(0, size * BLOCKS, size)]
    draw = random.Random(1)
    drawn = sorted(percentile(sorted(sum((draw.choice(blocks) for _ in blocks), [])), 0.95)
                   for _ in range(RESAMPLED))
    return percentile(sorted(latencies), 0.95), percentile(drawn, 0.025), percentile(drawn, 0.975)


def mean_interval(values):
    """The mean, and half the width of its interval of 95 %."""
    mean = sum(values) / len(values)
    variance = sum((value - mean) ** 2 for value in values) / (len(values) - 1)
    return mean, 2.1 * (variance / len(values)) ** 0.5


def busy_s(processors):
    """How long these processors have been busy so far, and stolen by the host, in seconds."""
    busy = stolen = 0
    with open("/proc/stat", encoding="ascii") as stat:
        for line in stat:
            name, *fields = line.split()
            if name in {f"cpu{each}" for each in processors}:
                user, nice, system, _, _, irq, soft, steal = map(int, fields[:8])
                busy += user + nice + system + irq + soft + steal
                stolen += steal
    ticks = os.sysconf("SC_CLK_TCK")
    return busy / ticks, stolen / ticks


def arrivals(rate, seconds, seed):
    """Times at which flows come, independent of each other, for so many seconds."""
    draw = random.Random(seed)
    times, now = [], draw.expovariate(rate)
    while now < seconds:
        times.append(now)
        now += draw.expovariate(rate)
    return times


def come_first():
    """This process, and those that it starts, come before all others of the machine: they are a group, whose threads
    have the processors among each other as they would if they were alone."""
    if os.getsid(0) != os.getpid():
        os.setsid()
    with open("/proc/self/autogroup", "w", encoding="ascii") as group:
        group.write("-20")
    os.environ["LOAD_FIRST"] = "yes"


@contextlib.contextmanager
def awake():
    """No processor of the machine rests while this is held: one that is idle polls, so that on a virtual machine nobody
    else has it when a thread of the server wakes. To the kernel it is idle all the same: a program that keeps it busy
    would have a turn now and then while a flow waits."""
    with open("/dev/cpu_dma_latency", "wb", buffering=0) as latency:
        latency.write(struct.pack("i", 0))
        yield


def run(command, setting, times, seconds, report=None):
    """Runs a server under this load, and gives what came of it: a row's `measured`."""
    processors = list(range(setting.cpus))
    with tempfile.TemporaryDirectory() as folder:
        load, results = os.path.join(folder, "arrivals"), os.path.join(folder, "results")
        with open(load, "wb") as file:
            array.array("d", times).tofile(file)
        environment = {**os.environ, "LOAD_ARRIVALS": load, "LOAD_RESULTS": results, "LOAD_SECONDS": str(seconds)}
        if setting.is_brought():
            environment["LOAD_PROCESSOR"] = "1"
        flags = [f"--flux-runtime={setting.runtime}"]
        if setting.workers():
            flags.append(f"--flux-workers={setting.workers()}")
        if report:
            flags += [TIMED, f"--flux-report=json:{report}"]
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), busy_s(processors)
        with open("/proc/uptime", encoding="ascii") as up:
            at = float(up.read().split()[0])
        ended = subprocess.run(["taskset", "-c", ",".join(map(str, processors)), *command, *flags], env=environment,
                               stderr=subprocess.PIPE, check=False, timeout=seconds + LIMIT_S)
        with open("/proc/uptime", encoding="ascii") as up:
            lasted = float(up.read().split()[0]) - at
        after, finished = resource.getrusage(resource.RUSAGE_CHILDREN), busy_s(processors)
        if ended.returncode != 0:
            raise RuntimeError(f"{command[0]} has ended with {ended.returncode}: {ended.stderr.decode()}")
        with open(results, "rb") as file:
            written = array.array("d")
            written.frombytes(file.read())
    own = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    others = finished[0] - began[0] - own
    return told(times, written, seconds) | {
        "cpu_s": own, "others": max(0.0, others) / lasted / setting.cpus,
        "loops_waited": written[-1] / seconds / setting.cpus,
        "stolen": (finished[1] - began[1]) / lasted / setting.cpus}


def told(times, written, seconds):
    """Figures of flows that came at these times: latencies of all but the first tenth, and how many ended a second in
    the second half."""
    count = len(times)
    ended = sum(latency >= 0 for latency in written[:count])
    latencies = [latency for due, latency in zip(times, written[:count]) if latency >= 0 and due >= seconds / 10]
    windows = [0] * 10
    for end in written[count:2 * count]:
        window = int((end / seconds - 0.5) * 20)
        if end >= seconds / 2 and window < 10:
            windows[window] += 1
    throughput = mean_interval([window * 20 / seconds for window in windows])
    p95, low, high = interval_of_p95(latencies)
    return {"flows": len(latencies), "ended": ended, "throughput": throughput[0], "throughput_within": throughput[1],
            "arrived": sum(due >= seconds / 2 for due in times) * 2 / seconds,
            "p50": percentile(sorted(latencies), 0.5), "p95": p95, "p95_low": low, "p95_high": high}
