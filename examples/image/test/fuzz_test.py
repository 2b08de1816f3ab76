#!/usr/bin/env python3
"""Bad input, at random: fuzz_test.py BASE_URL [ROUNDS [SEED]], against a running image server.

Each round sends what once was a good request, or several, after some mutations, in pieces, and sometimes leaves early.
Whatever comes back must be whole HTTP responses with a status that this server gives, and after every hundred rounds
a good request must get its picture. The seed is printed: the same one sends the same bytes.
"""

import random
import socket
import sys
import urllib.parse

from http_test import request
import http_test
import patience

STATUSES = {200, 400, 404, 405, 408, 413, 414, 431, 501, 505}

SEEDS = [
    "GET /{picture}?scale=1 HTTP/1.1\r\nHost: a\r\n\r\n",
    "HEAD / HTTP/1.1\r\nHost: a\r\nAccept: */*\r\n\r\n",
    "GET http://a/{picture}?scale=2 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\nhello=world",
    "GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    "GET /missing.jpg HTTP/1.1\r\nHost: a\r\nCookie: x=y; z=\"w\"\r\nRange: bytes=0-1\r\n\r\n",
]

TOKENS = [b"\r\n", b"\n", b"\r", b"\0", b" ", b"\t", b":", b"/", b"?", b"%00", b"%", b"../", b"scale=", b"HTTP/1.1",
          b"HTTP/9.9", b"Content-Length: 18446744073709551616\r\n", b"Transfer-Encoding: chunked\r\n", b"Host: b\r\n",
          b"Connection: close\r\n", b"\xff\xfe", b"A" * 9000, b"\r\n\r\n", b"-1", b"99999999999999999999"]


def mutated(chance, picture):
    count = chance.choice((1, 1, 1, 2, 5))
    data = b"".join(chance.choice(SEEDS).format(picture=picture).encode() for _ in range(count))
    for _ in range(chance.choice((0, 1, 1, 2, 3, 8))):
        at = chance.randrange(len(data) + 1)
        end = min(len(data), at + chance.choice((0, 1, 1, 2, 10)))
        kind = chance.randrange(4)
        if kind == 0:
            data = data[:at] + data[end:]
        elif kind == 1:
            data = data[:at] + bytes(chance.randrange(256) for _ in range(chance.randrange(1, 5))) + data[end:]
        elif kind == 2:
            data = data[:at] + chance.choice(TOKENS) + data[end:]
        else:
            data = data[:at] + data[at:end] * 3 + data[end:]
    return data


def read_to_end(connection):
    parts = []
    try:
        while part := connection.recv(1 << 16):
            parts.append(part)
    except ConnectionResetError:
        return None
    return b"".join(parts)


def check(answer):
    """That `answer` is whole responses, one after the other."""
    statuses = []
    while answer:
        head, separator, rest = answer.partition(b"\r\n\r\n")
        assert separator and head.startswith(b"HTTP/1.1 "), answer[:200]
        status = int(head[9:12])
        assert status in STATUSES, status
        length = int(next(line for line in head.split(b"\r\n") if line.startswith(b"Content-Length: "))[16:])
        # The answer to HEAD has no body: what follows then is the next head, or nothing.
        has_body = rest and not rest.startswith(b"HTTP/1.1 ")
        assert not has_body or len(rest) >= length, f"{len(rest)} bytes of a body of {length}"
        answer = rest[length:] if has_body else rest
        statuses.append(status)
    return statuses


def main():
    http_test.BASE = urllib.parse.urlsplit(sys.argv[1])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3000
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 32)
    chance = random.Random(seed)
    picture = http_test.pictures()[0].lstrip("/")
    expected = http_test.once(request(f"/{picture}?scale=1"))[2]
    print(f"fuzz: {rounds} rounds, seed {seed}", flush=True)
    seen = {}
    for number in range(rounds):
        data = mutated(chance, picture)
        address = (http_test.BASE.hostname, http_test.BASE.port)
        with socket.create_connection(address, timeout=patience.LIMIT_S) as connection:
            try:
                at = 0
                while at < len(data):
                    size = chance.choice((1, 7, 100, 10_000, 10_000))
                    connection.sendall(data[at:at + size])
                    at += size
                if chance.randrange(10) == 0:
                    continue
                connection.shutdown(socket.SHUT_WR)
            except OSError:
                pass  # the server may close before it has read everything
            answer = read_to_end(connection)
        try:
            for status in check(answer or b""):
                seen[status] = seen.get(status, 0) + 1
        except AssertionError as error:
            sys.exit(f"fuzz: round {number} of seed {seed}: {error}\nsent: {data!r}")
        if number % 100 == 99:
            assert http_test.once(request(f"/{picture}?scale=1"))[2] == expected, "the picture has changed"
    missing = {200, 400, 404, 405, 413} - set(seen)
    assert not missing, f"no input led to {missing}: the mutations have lost their teeth"
    print("fuzz: the server is well; statuses: " + ", ".join(f"{status} x {seen[status]}" for status in sorted(seen)))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main()
