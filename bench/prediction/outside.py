"""What is measured of a server whose load comes through sockets, from flux-load, at the times that are asked for."""

import contextlib
import dataclasses
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

from measured import TIMED, busy_s, told

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.dirname(HERE))
import server

LOAD = os.path.join(ROOT, "bench", "load", "build", "flux-load")
INTERFACE = re.compile(r"the admin interface listens at (\S+)")
# As many as a source has in progress at most would hold gigabytes of pictures.
CONNECTIONS = 256


@dataclasses.dataclass
class Used:
    """What a server, its load and all others have used of processors so far, in seconds."""

    server: float
    load: float
    busy: float
    stolen: float
    loops_ran: float
    loops_waited: float
    at: float

    @staticmethod
    def by(pid, processors, loops):
        """Now; of a process with so many event loops."""
        with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        return Used((int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), ended.ru_utime + ended.ru_stime,
                    *busy_s(processors), *loops_use(pid, loops), time.monotonic())

    def since(self, before):
        """What was used since then."""
        return Used(*(after - then for after, then in zip(dataclasses.astuple(self), dataclasses.astuple(before))))


def loops_use(pid, loops):
    """How long event loops of a process ran, and were ready and had no processor, so far, in seconds, together."""
    used = []
    for thread in sorted(map(int, os.listdir(f"/proc/{pid}/task"))):
        with contextlib.suppress(OSError):  # one that has ended meanwhile
            with open(f"/proc/{pid}/task/{thread}/comm", encoding="ascii") as name:
                is_loop = name.read().strip() == "flux-loop"
            with open(f"/proc/{pid}/task/{thread}/schedstat", encoding="ascii") as stat:
                used += [[float(word) * 1e-9 for word in stat.read().split()[:2]]] if is_loop else []
    return [sum(each) for each in zip(*used[:loops])] or [0.0, 0.0]


@contextlib.contextmanager
def running(command, setting, options=()):
    """The server of this command under a setting, on its processors."""
    workers = [f"--flux-workers={setting.workers()}"] if setting.workers() else []
    command = [*command, "--port", "0", f"--flux-runtime={setting.runtime}", *workers, *options]
    processors = ",".join(str(each) for each in range(setting.cpus))
    with server.running(command, processor=processors, by=signal.SIGTERM) as subject:
        yield subject


def load(subject, targets, processors, arguments, limit_s):
    """Runs flux-load against a server. It comes before all others where it may, as who is late measures that."""
    first = ["chrt", "-f", "2"] if os.geteuid() == 0 else []
    return json.loads(server.words(
        [*first, "taskset", "-c", processors, LOAD, "--json", "--port", str(subject.port), *arguments, *targets],
        limit_s))


def mean_us(command, targets, setting, seconds):
    """What an answer takes of processors where eight clients always ask, in microseconds."""
    with running(command, setting) as subject:
        return 1e3 * load(subject, targets, "1", ["--closed", "8", "--warmup", "0.5", "--duration", str(seconds),
                                                  "--pid", str(subject.pid)], seconds + 60)["server_cpu_ms"]


def profiled(subject):
    """What a server with an admin interface has measured so far."""
    while not (found := INTERFACE.search(subject.said())):
        time.sleep(0.01)
    with urllib.request.urlopen(f"http://{found.group(1)}/profile", timeout=30) as page:
        return page.read()


def run(command, targets, setting, times, seconds, report=None):
    """Runs a server under this load, and gives what came of it: a row's `measured`. Its profile goes to `report`."""
    options = [TIMED, "--flux-admin=0"] if report else []
    processors = list(range(setting.cpus))
    loops = setting.cpus if setting.runtime == "event" else 0
    # On one processor the load has the other; on two it has a part of both.
    load_on = "1" if setting.cpus == 1 else "0,1"
    with tempfile.TemporaryDirectory() as folder, running(command, setting, options) as subject:
        due, each = os.path.join(folder, "arrivals"), os.path.join(folder, "each")
        with open(due, "w", encoding="ascii") as file:
            file.write("\n".join(f"{one:.9f}" for one in times))
        before = Used.by(subject.pid, processors, loops)
        said = load(subject, targets, load_on,
                    ["--arrivals", due, "--each", each, "--duration", str(seconds), "--timeout", "60",
                     "--connections", str(CONNECTIONS)], seconds + 120)
        used = Used.by(subject.pid, processors, loops).since(before)
        if report:
            with open(report, "wb") as file:
                file.write(profiled(subject))
        with open(each, encoding="ascii") as file:
            latencies = [float(line.split()[1]) for line in file]
    written = latencies + [due + latency for due, latency in zip(times, latencies)]
    beside = used.load if setting.cpus > 1 else 0
    # What loops waited for the load, and for other threads of their server, is no disturbance.
    own = beside + used.server - used.loops_ran
    return told(times, written, seconds) | {
        "cpu_s": used.server, "others": max(0.0, used.busy - used.server - beside) / used.at / setting.cpus,
        "loops_waited": max(0.0, used.loops_waited - own) / seconds / setting.cpus,
        "stolen": used.stolen / used.at / setting.cpus,
        "load_us": 1e6 * used.load / len(times), "lag_ms": said["lag_ms"]}


def built():
    """Builds flux-load where it is not."""
    subprocess.run(["make", "-s", "-C", os.path.dirname(os.path.dirname(LOAD))], check=True)
