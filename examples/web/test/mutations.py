#!/usr/bin/env python3
"""Sends changed requests of conformance.md, and paths that try to leave the folder, to a server with its files. All
that comes back are answers of HTTP, nothing of a file outside is in them, and the server still answers at the end. A
seed gives the same requests again.

python3 mutations.py [--tls] PORT [ROUNDS [SEED]]

ROUNDS is a number, or minutes, `10m`. With --tls all of it is the plaintext of TLS, whose records end anywhere.
"""

import os
import random
import re
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../crates/cli/tests/support"))

import conformance  # noqa: E402
import patience  # noqa: E402

# What `outside`, a link in the folder, leads to.
SECRET = b"root:"
PIECES = ["..", ".", "%2e%2e", "%2E.", ".%2e", "%252e%252e", "..%2f", "..%5c", "..\\", "%2f", "%00", "~root", "~",
          "outside", "etc", "passwd", "folder", "digits.txt", "", "%", "%g0", "%c0%ae%c0%ae", "\u2215", "a" * 300, ";",
          "?", "*"]
NOISE = [b"\r\n", b"\n", b"\r", b" ", b"\t", b":", b"\x00", b"\xff", b"Transfer-Encoding: chunked\r\n",
         b"Content-Length: 5\r\n", b"Content-Length: 99999999999999999999\r\n", b"Host: b\r\n",
         b"Range: bytes=0-1,3-4\r\n", b"0\r\n\r\n", b"GET / HTTP/1.1\r\n", b"Connection: close\r\n",
         b"Expect: 100-continue\r\n", b"x" * 9000, b"-1", b"HTTP/2.0"]


def changed(chosen, sent):
    """With some bytes less, more, or others."""
    made = bytearray(sent)
    for _ in range(chosen.randint(1, 4)):
        at = chosen.randrange(len(made) + 1)
        match chosen.randrange(4):
            case 0:
                made[at:at] = chosen.choice(NOISE)
            case 1:
                del made[at : at + chosen.randint(1, 20)]
            case 2 if at < len(made):
                made[at] = chosen.randrange(256)
            case _:
                other = chosen.randrange(len(made) + 1)
                made[at:at] = made[min(at, other) : max(at, other)][:2000]
    return bytes(made)


def path_request(chosen):
    """A request for a path that tries to leave the folder."""
    path = "/" + "/".join(chosen.choices(PIECES, k=chosen.randint(1, 7)))
    return f"GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".encode()


def came_of(port, sent, chosen):
    """All that comes back, in one piece or, sometimes, for what is sent in two."""
    with conformance.Connection(port).socket as connection:
        connection.settimeout(patience.LIMIT_S)
        came = b""
        try:
            at = chosen.randrange(len(sent) + 1) if chosen.randrange(8) == 0 else 0
            connection.sendall(sent[:at])
            connection.sendall(sent[at:])
            # Of TCP alone, as there is still something to be received.
            with socket.socket(fileno=os.dup(connection.fileno())) as below:
                below.shutdown(socket.SHUT_WR)
            while (piece := connection.recv(65536)) != b"":
                came += piece
        except OSError as gone:
            if isinstance(gone, TimeoutError):
                sys.exit(f"nothing comes for {sent!r}")
        return came


def fault_of(came):
    """What is wrong with it; None where nothing is."""
    if SECRET in came:
        return "a file outside of the folder"
    if came != b"" and re.match(rb"HTTP/1\.1 [1-5]\d\d [A-Za-z ]+\r\n", came) is None:
        return "no answer of HTTP"
    return None


def main():
    if "--tls" in sys.argv:
        sys.argv.remove("--tls")
        conformance.speak_tls()
    port = int(sys.argv[1])
    rounds = patience.rounds(sys.argv[2] if len(sys.argv) > 2 else "1000")
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else int.from_bytes(os.urandom(4), "little")
    chosen = random.Random(seed)
    known = {"etag": '"a"', "date": "Fri, 02 Jan 2026 03:04:05 GMT"}
    requests = [conformance.bytes_of(row.sent, known) for row in conformance.rows()]
    requests = [each for each in requests if len(each) < 20_000]
    count = 0
    for count in rounds:
        sent = path_request(chosen) if chosen.randrange(3) == 0 else changed(chosen, chosen.choice(requests))
        came = came_of(port, sent, chosen)
        if (fault := fault_of(came)) is not None:
            sys.exit(f"seed {seed}, request {count}: {fault}\nsent {sent!r}\ncame {came[:500]!r}")
    if not conformance.Connection(port).is_open():
        sys.exit(f"seed {seed}: after {count + 1} requests the server does not answer")
    print(f"{count + 1} requests, seed {seed}: answered as HTTP, from the folder")


if __name__ == "__main__":
    main()
