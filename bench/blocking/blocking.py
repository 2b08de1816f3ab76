#!/usr/bin/env python3
"""Code that blocks, on one event loop, while other flows are answered: each case of cases.flux, what it gives, how long
the other flows' answers take meanwhile, and how many threads the server has.

blocking.py            the table, on one event loop by epoll
blocking.py --realtime the same on a machine that has other work to do: the server and the client that measures have
                       real-time priority, so that they wait for each other and not for the rest (needs root)
blocking.py --check    a test: on every runtime each case gives the same, and on event loops the others are answered

Each case runs several times at once; each waits for 300 ms or so. The others are one connection that asks for a line
each 2 ms. The servers that cases ask are real, on free ports, and end with this: PostgreSQL, MariaDB and Redis are
started from their packages, each with its data in a folder of its own.

The name server that does not answer is one of ours, on 127.77.0.53. The C library takes it from /etc/resolv.conf and
asks no other port than 53, so the server under test runs in a mount namespace of its own, in which these files are
others; nothing changes for the machine. That needs root, as port 53 does: elsewhere the case is left out, and the
script says so.
"""

import argparse
import contextlib
import http.server
import os
import pathlib
import pwd
import select
import shutil
import socket
import socketserver
import ssl
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
sys.path.insert(0, str(HERE.parent.parent / "crates/cli/tests/support"))

import patience  # noqa: E402
import server  # noqa: E402

# What each case gives.
CASES = {
    "read-write": "onetwo",
    "poll": "1one",
    "select": "1one",
    "epoll": "1one",
    "sleep": "slept",
    "mutex": "alone",
    "recursive": "alone",
    "shared": "alone",
    "condition": "signalled",
    "semaphore": "at most 2",
    "atomic": "7",
    "future": "7",
    "once": "once",
    "static": "once",
    "ifstream": "late line",
    "fread": "late line",
    "popen": "late line",
    "system": "3",
    "waitpid": "0",
    "name": "nobody answers",
    "throw": "its own",
    "unwind": "its own",
    "curl": "slow page",
    "curl-tls": "as it trusts",
    "postgres": "row",
    "redis": "nothing",
    "mariadb": "0",
}
AT_ONCE = 4
# So many answers nobody has who is held up by each of these once.
ENOUGH = 4 * AT_ONCE
DELAY_S = 0.3
RUNTIMES = {
    "event": ["--flux-runtime=event", "--flux-workers=1"],
    "proactor": ["--flux-runtime=event", "--flux-io=proactor", "--flux-workers=1"],
    "pool": ["--flux-runtime=pool", "--flux-workers=8"],
    "thread": ["--flux-runtime=thread"],
}


class SlowLines(socketserver.StreamRequestHandler):
    """Gives each line back, late."""

    def handle(self):
        for line in self.rfile:
            patience.let_pass(DELAY_S / 2)
            self.wfile.write(line.rstrip())


class SlowPage(http.server.BaseHTTPRequestHandler):
    """A page, late."""

    def do_GET(self):
        patience.let_pass(DELAY_S)
        page = b"slow page"
        self.send_response(200)
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, *_):
        pass


class Threaded(socketserver.ThreadingTCPServer):
    """A thread for each connection, on a free port of 127.0.0.1."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, handles, context=None):
        super().__init__(("127.0.0.1", 0), handles)
        if context:
            self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, *_):
        pass  # a client that does not trust it


class SilentNameServer:
    """Takes all questions for names and answers none. `command` has a server ask it, and nobody else."""

    ADDRESS = "127.77.0.53"

    def __init__(self, folder):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((self.ADDRESS, 53))
        (folder / "resolv.conf").write_text(f"nameserver {self.ADDRESS}\noptions timeout:1 attempts:1\n")
        (folder / "nsswitch.conf").write_text("passwd: files\ngroup: files\nhosts: files dns\n")
        binds = [f"mount --bind {folder}/{name} /etc/{name}" for name in ("resolv.conf", "nsswitch.conf")]
        self.prefix = ["unshare", "--mount", "sh", "-c", " && ".join([*binds, 'exec "$@"']), "sh"]
        quietly([*self.prefix, "true"])

    def command(self, command):
        return [*self.prefix, *command]


def silent_name_server(folder):
    """One, or nothing where it cannot be had."""
    try:
        return SilentNameServer(folder)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"blocking: the case `name` is left out, as there is no name server that does not answer: {error}",
              file=sys.stderr)
        del CASES["name"]
        return None


def await_port(port, process):
    def listens():
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=patience.LIMIT_S):
            return True
        if process.poll() is not None:
            sys.exit(f"blocking: {process.args[0]} has ended with {process.returncode}")
        return False

    patience.wait_for(f"{process.args[0]}, which listens", listens)


def user_for_data():
    """Who owns the data of database servers, which do not run as root."""
    return "nobody" if os.getuid() == 0 else pwd.getpwuid(os.getuid()).pw_name


def as_user(user):
    return {"user": user, "group": pwd.getpwnam(user).pw_gid} if os.getuid() == 0 else {}


def find(name, *places):
    found = shutil.which(name) or next((str(each) for place in places for each in pathlib.Path("/").glob(place)), None)
    return found or sys.exit(f"blocking: {name} is not installed: see packages-test.txt")


def start(command, port, **options):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
    await_port(port, process)
    return process


def quietly(command, **options):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)


def start_postgres(folder):
    user = user_for_data()
    port = patience.free_port()
    data = folder / "postgres"
    initdb = find("initdb", "usr/lib/postgresql/*/bin/initdb")
    quietly([initdb, "-D", data, "-A", "trust", "-U", "cases", "--no-sync"], **as_user(user))
    command = [find("postgres", "usr/lib/postgresql/*/bin/postgres"), "-D", data, "-p", str(port), "-k", "", "-F",
               "-c", "listen_addresses=127.0.0.1"]
    return port, start(command, port, **as_user(user))


def start_mariadb(folder):
    user = user_for_data()
    port = patience.free_port()
    data = folder / "mariadb"
    quietly([find("mariadb-install-db"), "--no-defaults", f"--datadir={data}", "--skip-test-db", f"--user={user}",
             "--auth-root-authentication-method=normal"], **as_user(user))
    first = folder / "first.sql"
    first.write_text("CREATE USER cases@'127.0.0.1';\nCREATE USER cases@localhost;\n")
    command = [find("mariadbd", "usr/sbin/mariadbd"), "--no-defaults", f"--datadir={data}", f"--port={port}",
               "--bind-address=127.0.0.1", f"--socket={folder}/mariadb.socket", f"--init-file={first}",
               f"--pid-file={folder}/mariadb.pid"]
    return port, start(command, port, **as_user(user))


def start_redis(folder):
    port = patience.free_port()
    command = [find("redis-server"), "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
    return port, start(command, port)


@contextlib.contextmanager
def peers():
    """A file that says where all are whom the cases ask, and what has a server ask the silent name server; until the
    end of the block."""
    processes = []
    # Below /tmp, as a socket's path is to be short.
    folder = pathlib.Path(tempfile.mkdtemp(prefix="flux-blocking-"))
    try:
        folder.chmod(0o777)
        for name in ("certificate", "stranger"):
            quietly(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
                     "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", f"{folder}/{name}.key", "-out",
                     folder / name])
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / "certificate", folder / "certificate.key")
        where = {"slow": Threaded(SlowLines).server_address[1], "http": Threaded(SlowPage).server_address[1],
                 "tls": Threaded(SlowPage, context).server_address[1]}
        for name, start_one in {"postgres": start_postgres, "mariadb": start_mariadb, "redis": start_redis}.items():
            where[name], process = start_one(folder)
            processes.append(process)
        names = silent_name_server(folder)
        file = folder / "peers"
        lines = [f"{name} 127.0.0.1 {port}\n" for name, port in where.items()]
        lines += [f"{name} {folder}/{name} -\n" for name in ("certificate", "stranger")]
        file.write_text("".join(lines))
        yield file, names.command if names else lambda command: command
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait()
        shutil.rmtree(folder, ignore_errors=True)


class Client:
    """A connection on which lines are answered."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.socket.makefile("rb")

    def ask(self, line):
        self.socket.sendall(line.encode() + b"\n")
        return self.file.readline().decode().rstrip("\n")


class Others:
    """Another client, who asks all the time: how long each answer takes. A process of its own, so that it waits for
    nobody here."""

    def __init__(self, port, realtime):
        command = [sys.executable, __file__, "--others", str(port), *(["--realtime"] if realtime else [])]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.process.stdout.readline()  # it has begun

    def took_ms(self):
        """Ends it."""
        said, _ = self.process.communicate()
        return [float(each) for each in said.split()]


def be_others(port, realtime):
    """The process of `Others`, until its input ends."""
    if realtime:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(2))
    client = Client(port)
    client.ask("others")
    print("begun", flush=True)
    took_ms = []
    while not select.select([sys.stdin], [], [], 0.002)[0]:
        begin = time.perf_counter()
        client.ask("others")
        took_ms.append(1000 * (time.perf_counter() - begin))
    print(*took_ms)


def threads_of(pid):
    return len(os.listdir(f"/proc/{pid}/task"))


def idle(_):
    patience.let_pass(2 * DELAY_S)


def run_case(name, running, realtime=False):
    """What the case gives, each distinct answer once; the others' latencies; the most threads. What is no case asks for
    nothing: then the others' latencies are those of the machine."""
    others = Others(running.port, realtime)
    answers = set()
    clients = [Client(running.port) for _ in range(AT_ONCE)]
    ask = (lambda one: answers.add(one.ask(name))) if name in CASES else idle
    asking = [threading.Thread(target=ask, args=(one,)) for one in clients]
    for each in asking:
        each.start()
    most_threads = 0
    while any(each.is_alive() for each in asking):
        most_threads = max(most_threads, threads_of(running.pid))
        patience.let_pass(0.01)
    return answers, others.took_ms(), most_threads


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))] if values else float("nan")


def table(command, where, asking, realtime):
    first = ["chrt", "--rr", "1"] if realtime else []
    print(f"{'case':12} {'gives':14} {'others: p50':>12} {'p99':>9} {'longest':>9} {'threads':>8}")
    with server.running(asking([*first, *command, *RUNTIMES["event"], "--peers", str(where)])) as running:
        for name, expected in {"nothing": "nothing", **CASES}.items():
            answers, took_ms, threads = run_case(name, running, realtime)
            said = expected if answers <= {expected} else "/".join(sorted(answers))
            print(f"{name:12} {said:14} {percentile(took_ms, 0.5):9.2f} ms {percentile(took_ms, 0.99):6.2f} ms "
                  f"{max(took_ms):6.2f} ms {threads:8}")


def check(command, where, asking, runtimes):
    failures = []
    for runtime in runtimes:
        with server.running(asking([*command, *RUNTIMES[runtime], "--peers", str(where)])) as running:
            for name, expected in CASES.items():
                # While a case waits, the others get many answers; while it blocks its loop, they get one. On a slow
                # machine the others may be slow themselves, but not each time.
                for _ in patience.tries():
                    answers, took_ms, _ = run_case(name, running)
                    if answers != {expected}:
                        failures.append(f"{runtime}: {name} gives {sorted(answers)}, not {expected!r}")
                        break
                    if len(took_ms) >= ENOUGH:
                        break
                else:
                    failures.append(f"{runtime}: others have {len(took_ms)} answers while {name} waits")
        print(f"blocking: {runtime} done")
    if failures:
        sys.exit("\n".join(failures))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default=HERE / "build/cases/cases", help="the built server")
    parser.add_argument("--check", action="store_true", help="test instead of measuring")
    parser.add_argument("--realtime", action="store_true", help="measure with real-time priority")
    parser.add_argument("--runtimes", default=",".join(RUNTIMES), help="those to check")
    parser.add_argument("--without", action="append", default=[], choices=CASES, help="a case to leave out")
    parser.add_argument("--others", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.others:
        return be_others(arguments.others, arguments.realtime)
    for left_out in arguments.without:
        CASES.pop(left_out)
    with peers() as (where, asking):
        if arguments.check:
            check([str(arguments.server)], where, asking, arguments.runtimes.split(","))
        else:
            table([str(arguments.server)], where, asking, arguments.realtime)


if __name__ == "__main__":
    main()
