#!/usr/bin/env python3
"""Sends the frames of http2.md to a server, each row on a connection of its own, and compares what comes back.

python3 http2.py PORT
python3 http2.py --mean PORT    # clients that mean no good: those of which the server should rid itself
python3 http2.py --random ROUNDS PORT    # random frames; ROUNDS is a number or minutes, `10m`; FUZZ_SEED repeats them

The server has the files that `conformance.py --files FOLDER` writes.
"""

import os
import random
import re
import socket
import struct
import sys
from concurrent.futures import ThreadPoolExecutor

import hpack

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../crates/cli/tests/support"))

import patience  # noqa: E402

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "http2.md")
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
TYPES = ["DATA", "HEADERS", "PRIORITY", "RST_STREAM", "SETTINGS", "PUSH_PROMISE", "PING", "GOAWAY", "WINDOW_UPDATE",
         "CONTINUATION"]
ERRORS = ["NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
          "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM"]


def frame(kind, stream=0, payload=b"", flags=0):
    """RFC 9113, 4.1."""
    number = TYPES.index(kind) if isinstance(kind, str) else kind
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", number, flags, stream) + payload


def head(stream, path="/digits.txt", ends=True, method="GET", more=(), without=(), whole=True, flags=0):
    """A request without a body, or the beginning of one with it."""
    fields = [(":method", method), (":scheme", "http"), (":path", path), (":authority", "a")]
    fields = [field for field in fields if field[0] not in without] + list(more)
    block = hpack.Encoder().encode([(name, value, True) for name, value in fields])
    return frame("HEADERS", stream, block, (1 if ends else 0) | (4 if whole else 0) | flags)


def settings(*pairs):
    """Of (number, value)."""
    return frame("SETTINGS", 0, b"".join(struct.pack(">HI", *pair) for pair in pairs))


HELLO = PREFACE + settings()


def number(value):
    """Four bytes."""
    return struct.pack(">I", value)


class Connection:
    """One, what came on it by frames, and what was said of each stream."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=patience.LIMIT_S)
        self.rest = b""
        self.decoder = hpack.Decoder()
        self.decoder.max_allowed_table_size = 1 << 20
        self.statuses, self.fields, self.contents, self.ended, self.resets = {}, {}, {}, set(), {}
        self.goaway = None
        self.closed = False
        self.pings, self.settings, self.windows = [], 0, 0

    def send(self, some):
        """What a server that has closed does not want any more is nobody's."""
        try:
            self.socket.sendall(some)
        except OSError:
            pass

    def next(self):
        """Takes one frame; False at the end."""
        while len(self.rest) < 9 or len(self.rest) < 9 + int.from_bytes(self.rest[:3], "big"):
            try:
                came = self.socket.recv(65536)
            except ConnectionResetError:
                came = b""
            if came == b"":
                self.closed = True
                return False
            self.rest += came
        size = int.from_bytes(self.rest[:3], "big")
        kind, flags = self.rest[3], self.rest[4]
        stream = int.from_bytes(self.rest[5:9], "big")
        payload, self.rest = self.rest[9 : 9 + size], self.rest[9 + size :]
        getattr(self, "on_" + TYPES[kind].lower(), lambda *_: None)(stream, flags, payload)
        return True

    def on_headers(self, stream, flags, payload):
        """Without padding or priority, which no server sends here."""
        fields = dict(self.decoder.decode(payload))
        self.statuses.setdefault(stream, []).append(fields.pop(":status"))
        self.fields[stream] = fields
        if flags & 1:
            self.ended.add(stream)

    def on_data(self, stream, flags, payload):
        """A part of a content."""
        self.contents[stream] = self.contents.get(stream, b"") + payload
        if flags & 1:
            self.ended.add(stream)

    def on_rst_stream(self, stream, _, payload):
        """Says why."""
        self.resets[stream] = ERRORS[int.from_bytes(payload, "big")]

    def on_goaway(self, _, __, payload):
        """The first says why."""
        self.goaway = ERRORS[int.from_bytes(payload[4:8], "big")]

    def on_ping(self, _, flags, payload):
        """Only answers count."""
        if flags & 1:
            self.pings.append(payload)

    def on_settings(self, _, flags, __):
        """Only answers count."""
        self.settings += flags & 1

    def on_window_update(self, stream, _, payload):
        """Of the streams."""
        if stream != 0:
            self.windows += int.from_bytes(payload, "big")

    def until(self, met):
        """Takes frames until it is met: whether it was."""
        while not met():
            if not self.next():
                return met()
        return True

    def is_open(self):
        """Whether a ping is answered."""
        self.send(frame("PING", 0, b"is open?"))
        return self.until(lambda: b"is open?" in self.pings)


def fault_of(port, row):
    """What is wrong with an answer; None where nothing is."""
    where, sent, wanted = row
    connection = Connection(port)
    try:
        connection.send(sent)
        for part in [part.strip() for part in wanted.split(";")]:
            if not is_met(connection, part):
                seen = (connection.statuses, connection.resets, connection.goaway, connection.closed)
                return f"{where}: not {part}, but {seen}"
    except TimeoutError:
        seen = (connection.statuses, connection.resets, connection.goaway)
        return f"{where}: nothing comes; so far {seen}, not: {wanted}"
    finally:
        connection.socket.close()
    return None


def is_met(on, part):
    """One part of what is wanted."""
    if (found := re.fullmatch(r"(\d+): ([\d ]+)((?: [a-z-]+=\S+)*)(?: =(.*))?", part)) is not None:
        stream = int(found[1])
        if not on.until(lambda: stream in on.ended or stream in on.resets):
            return False
        fields = [field.split("=", 1) for field in found[3].split()]
        return (on.statuses.get(stream) == found[2].split() and stream in on.ended
                and all(on.fields[stream].get(name) == value for name, value in fields)
                and (found[4] is None or on.contents.get(stream, b"").decode() == found[4]))
    if (found := re.fullmatch(r"(\d+): reset ([A-Z_ |]+)", part)) is not None:
        stream = int(found[1])
        return on.until(lambda: stream in on.resets) and on.resets[stream] in found[2].split(" | ")
    if (found := re.fullmatch(r"(\d+): nothing", part)) is not None:
        return int(found[1]) not in on.statuses
    if (found := re.fullmatch(r"goaway ([A-Z_ |]+)", part)) is not None:
        return on.until(lambda: on.goaway is not None) and on.goaway in found[1].split(" | ")
    if (found := re.fullmatch(r"pong (\S+)", part)) is not None:
        return on.until(lambda: found[1].encode() in on.pings)
    if part == "settings":
        return on.until(lambda: on.settings > 0)
    if part == "window":
        return on.until(lambda: on.windows > 0)
    if part == "open":
        return on.is_open()
    if part == "closed":
        while on.next():
            pass
        return True
    raise ValueError(part)


def rows():
    """Each row of the page: where, the bytes that are sent, what is wanted. The bytes are an expression of Python."""
    title = ""
    with open(PAGE, encoding="utf-8") as page:
        for line_number, line in enumerate(page, 1):
            if line.startswith("## "):
                title = line[3:].strip()
            found = re.match(r"\| (.*?) \| `(.*)` \| (.*?) \|$", line)
            if found is not None:
                sent = found[2].replace("¦", "|")
                yield (f"{line_number}, {title}: {found[1]}", HELLO + eval(sent), found[3].replace("¦", "|"))


def mean_clients():
    """What each sends, after which the server is to end its connection within the limit."""
    headers = [head(at, ends=False, method="POST") + frame("RST_STREAM", at, number(8)) for at in range(1, 2001, 2)]
    yield "requests that are reset at once", b"".join(headers)
    yield "pings", frame("PING", 0, b"12345678") * 5000
    yield "settings", settings() * 5000
    yield "empty settings of all kinds", settings((3, 100)) * 5000
    yield "empty DATA", head(1, ends=False, method="POST") + frame("DATA", 1) * 5000
    yield "priorities", frame("PRIORITY", 3, number(0) + b"x") * 5000
    yield "a header that does not go on", head(1, whole=False)
    yield "a preface that does not go on", b""


def mean(port):
    """Prints how many of these are not sent away, and whether others are served meanwhile."""
    went_on = []
    for what, sent in mean_clients():
        connection = Connection(port)
        connection.send(PREFACE[:10] if sent == b"" else HELLO + sent)
        try:
            connection.until(lambda: False)
        except TimeoutError:
            went_on.append(what)
        connection.socket.close()
        other = Connection(port)
        other.send(HELLO + head(1))
        if not is_met(other, "1: 200 =0123456789"):
            went_on.append(f"behind {what} nobody is served")
    print(*went_on, f"{len(went_on)} of them went on", sep="\n")
    return 1 if went_on else 0


def random_frames(chance):
    """Some that are right and some that are not."""
    kinds = [
        lambda: head(chance.choice([1, 3, 5, 7, 9]), ends=chance.random() < 0.5, whole=chance.random() < 0.9,
                     method=chance.choice(["GET", "POST", "HEAD"]), path=chance.choice(["/digits.txt", "/", "/x"])),
        lambda: frame("DATA", chance.choice([1, 3, 5]), chance.randbytes(chance.randrange(300)), chance.choice([0, 1])),
        lambda: frame("RST_STREAM", chance.choice([1, 3, 5]), number(8)),
        lambda: frame("WINDOW_UPDATE", chance.choice([0, 1, 3]), number(chance.randrange(1, 70000))),
        lambda: settings((chance.randrange(1, 7), chance.choice([0, 1, 10, 65535, 1 << 20]))),
        lambda: frame("PING", 0, chance.randbytes(8)),
        lambda: frame(chance.randrange(12), chance.randrange(8), chance.randbytes(chance.randrange(64)),
                      chance.randrange(256)),
        lambda: chance.randbytes(chance.randrange(20)),
    ]
    weights = [8, 4, 3, 3, 2, 2, 1, 0.1]
    return b"".join(chance.choices(kinds, weights)[0]() for _ in range(chance.randrange(1, 30)))


def fuzz(rounds, port):
    """Sends random frames, and looks whether the server serves others as before."""
    seed = int(os.environ.get("FUZZ_SEED", random.SystemRandom().getrandbits(64)))
    print(f"FUZZ_SEED={seed}")
    chance = random.Random(seed)
    count = 0
    for _ in patience.rounds(rounds):
        some = [Connection(port) for _ in range(4)]
        for each in some:
            each.send(HELLO + random_frames(chance))
        for each in some:
            # It leaves when some of its answers have come, if there are any.
            patience.let_pass(0.01)
            each.socket.setblocking(False)
            try:
                each.until(lambda: False)
            except (BlockingIOError, hpack.HPACKError):
                pass
            each.socket.close()
        count += len(some)
    last = Connection(port)
    last.send(HELLO + head(1))
    is_right = is_met(last, "1: 200 =0123456789")
    print(f"{count} connections, and then it {'answers' if is_right else 'does not answer'}")
    return 0 if is_right else 1


def main():
    """Prints what is wrong."""
    if sys.argv[1] == "--mean":
        return mean(int(sys.argv[2]))
    if sys.argv[1] == "--random":
        return fuzz(sys.argv[2], int(sys.argv[3]))
    cases = list(rows())
    with ThreadPoolExecutor(8) as several:
        faults = [fault for fault in several.map(lambda row: fault_of(int(sys.argv[1]), row), cases) if fault]
    print(*faults, f"{len(cases) - len(faults)} of {len(cases)} as the page says", sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
