"""Servers that a bench starts: each is asked for port 0 and says which port it has found, and one that ends by itself
ends the bench with what it said."""

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time

# A server starts in milliseconds, but under valgrind.
START_LIMIT_S = 60
END_LIMIT_S = 60
REACHED_LIMIT_S = 20
# `flux: listening on 127.0.0.1:43210`, and as the image server says it: `image: 12 pictures at http://127.0.0.1:43210`.
LISTENS = re.compile(r"(?:listening on |http://)\S*:(\d+)")


class Server:
    """A server that has been started, and what it has said so far, on both of its outputs."""

    def __init__(self, command, **options):
        self.command = command
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
        self.pid = self.process.pid
        self.port = None
        self.is_ended = False
        self._said = []
        self._heard = threading.Event()
        # Reads to the end, so that a server never waits for who reads it.
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self.process.stdout:
            self._said.append(line)
            found = LISTENS.search(line)
            if found and self.port is None:
                self.port = int(found.group(1))
                self._heard.set()
        self._heard.set()

    def said(self):
        """All that it has said."""
        return "".join(self._said)

    def wait_for_port(self):
        """Waits until it says its port."""
        self._heard.wait(START_LIMIT_S)
        if self.port is None:
            self._give_up("says no port")

    def _give_up(self, what):
        self.process.poll()
        if self.process.returncode is not None:
            what = f"has ended with {self.process.returncode}"
            self._reader.join(END_LIMIT_S)
        self.end(signal.SIGKILL)
        sys.exit(f"bench: {' '.join(self.command)} {what}. It said:\n{self.said()}")

    def check(self):
        """Ends the bench where the server has ended by itself."""
        if not self.is_ended and self.process.poll() is not None:
            self._give_up("")

    def end(self, by):
        """Ends it by this signal, with its last words."""
        self.is_ended = True
        self.process.send_signal(by)
        try:
            self.process.wait(END_LIMIT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._reader.join(END_LIMIT_S)


@contextlib.contextmanager
def running(command, processor=None, listens=True, by=signal.SIGKILL, **options):
    """The server, until the end of the block, when this signal ends it; pinned to a processor, or on all. Where the
    block fails since the server has ended, that is what ends the bench."""
    pinned = ["taskset", "-c", str(processor)] if processor is not None else []
    server = Server(pinned + command, **options)
    try:
        if listens:
            server.wait_for_port()
        yield server
        server.check()
    except Exception:
        server.check()
        raise
    finally:
        if server.process.poll() is None:
            server.end(by)


def words(command, limit_s):
    """What a program says that loads a server. One that fails, or goes on for longer, raises."""
    try:
        ended = subprocess.run(command, check=True, capture_output=True, text=True, timeout=limit_s)
    except subprocess.CalledProcessError as failed:
        raise RuntimeError(f"{os.path.basename(command[0])} has failed: {failed.stderr}") from failed
    return ended.stdout


def free_port():
    """A port of loopback on which nobody listens."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return unused.getsockname()[1]


def wait_until_reached(port):
    """Waits until somebody listens."""
    end = time.monotonic() + REACHED_LIMIT_S
    while time.monotonic() < end:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.02)
    sys.exit(f"bench: nobody listens on port {port}")


def descendants(pid):
    """A process and those that it has started."""
    found = [pid]
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as children:
            for child in children.read().split():
                found += descendants(int(child))
    return found
