#!/usr/bin/env python3
"""Clients of a server that speaks TLS, each with its own manners. Says `ok` at the end, or what is wrong.

usage: clients.py PORT PORT_OF_LINES CERTIFICATE ROOT
       clients.py PORT    (one whose handshake does not end)
"""

import os
import random
import socket
import ssl
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))

import patience  # noqa: E402

GET = b"GET /small.txt HTTP/1.1\r\nHost: localhost\r\n\r\n"


def context(certificate, version=None):
    made = ssl.create_default_context(cafile=certificate)
    made.set_alpn_protocols(["http/1.1"])
    made.options &= ~0x80  # SSL_OP_IGNORE_UNEXPECTED_EOF: an end that is not announced would be taken for one that is
    if version is not None:
        made.minimum_version = made.maximum_version = version
    return made


class Peer:
    """A connection whose records the test hands over itself, in pieces of any size."""

    def __init__(self, port, made, piece=None):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=patience.LIMIT_S)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.come, self.gone, self.piece = ssl.MemoryBIO(), ssl.MemoryBIO(), piece
        self.tls = made.wrap_bio(self.come, self.gone, server_hostname="localhost")
        self.do(self.tls.do_handshake)

    def push(self):
        bytes_out = self.gone.read()
        step = self.piece or max(len(bytes_out), 1)
        for begin in range(0, len(bytes_out), step):
            self.socket.sendall(bytes_out[begin:begin + step])
            if self.piece:
                patience.let_pass(0.0005)

    def do(self, call, *arguments):
        while True:
            try:
                result = call(*arguments)
                self.push()
                return result
            except ssl.SSLWantReadError:
                self.push()
                came = self.socket.recv(65536)
                self.come.write(came) if came else self.come.write_eof()

    def send(self, content):
        self.do(self.tls.write, content)

    def read(self, count):
        content = b""
        while len(content) < count:
            more = self.do(self.tls.read, count - len(content))
            assert more, f"the end after {len(content)} of {count} bytes"
            content += more
        return content

    def answer(self):
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += self.read(1)
        length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        return head, self.read(length)

    def end(self):
        """What comes up to close_notify; raises where the connection ends without that."""
        content = b""
        while True:
            try:
                more = self.do(self.tls.read, 65536)
            except ssl.SSLZeroReturnError:
                return content
            if not more:
                return content
            content += more


def raw(port, content):
    """What a client gets that sends these bytes and nothing more."""
    with socket.create_connection(("127.0.0.1", port), timeout=patience.LIMIT_S) as client:
        client.sendall(content)
        client.shutdown(socket.SHUT_WR)
        answer = b""
        try:
            while more := client.recv(65536):
                answer += more
        except ConnectionResetError:
            pass
        return answer


def pipelined(port, made, small):
    peer = Peer(port, made)
    peer.send(GET * 200)
    for _ in range(200):
        assert peer.answer()[1] == small
    # Each in a record of its own, all in one packet.
    for _ in range(50):
        peer.tls.write(GET)
    peer.push()
    for _ in range(50):
        assert peer.answer()[1] == small


def in_pieces(port, made, small):
    peer = Peer(port, made, piece=1)
    peer.send(GET)
    assert peer.answer()[1] == small
    peer = Peer(port, made, piece=7)
    for byte in GET:  # a record for each byte
        peer.send(bytes([byte]))
    assert peer.answer()[1] == small


def large_ones(port, made, large):
    peer = Peer(port, made)
    peer.send(b"GET /large.bin HTTP/1.1\r\nHost: a\r\n\r\n" + GET)
    assert peer.answer()[1] == large
    peer.answer()
    content = bytes(range(256)) * 3000
    peer.send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % len(content) + content + GET)
    assert peer.answer()[1] == content
    peer.answer()


def ends(port, made, small):
    """close_notify comes behind the last answer; and half-open clients get what they asked for."""
    peer = Peer(port, made)
    peer.send(GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
    assert peer.end().endswith(small)
    peer = Peer(port, made)
    peer.send(GET)
    peer.socket.shutdown(socket.SHUT_WR)
    assert peer.answer()[1] == small
    peer = Peer(port, made)
    peer.send(b"nonsense\r\n\r\n")
    assert peer.end().startswith(b"HTTP/1.1 400 "), "a request that is none"


def lines(port, made):
    peer = Peer(port, made)
    for line in (b"one\n", b"two\nthree\n"):
        peer.send(line)
        assert peer.read(len(line)) == line
    plain = raw(port, b"one\n")
    assert b"one" not in plain


def no_tls(port):
    answer = raw(port, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 400 ") and b"https://" in answer, answer
    chance = random.Random(7)
    hello = bytes.fromhex("1603010005010000010303")
    for number in range(150):
        garbage = chance.randbytes(chance.randrange(1, 400))
        raw(port, garbage if number % 2 else hello + garbage)


def spoiled(port, made):
    """Clients that talk TLS well, and then change some bytes of their records, or send what OpenSSL does not expect."""
    chance = random.Random(11)
    for number in range(60):
        peer = Peer(port, made)
        peer.tls.write(GET * chance.randrange(1, 4))
        records = bytearray(peer.gone.read())
        if number % 3 == 0:
            records[chance.randrange(len(records))] ^= 1 << chance.randrange(8)
        elif number % 3 == 1:
            del records[chance.randrange(len(records)):]
        else:
            records += chance.randbytes(chance.randrange(1, 100))
        peer.socket.sendall(records)
        peer.socket.shutdown(socket.SHUT_WR)
        peer.socket.settimeout(patience.LIMIT_S)
        try:
            while peer.socket.recv(65536):
                pass
        except ConnectionResetError:
            pass


def random_plaintext(port, made):
    """Whatever is in the records: the grammar of requests decides, as it does without TLS."""
    chance = random.Random(13)
    parts = [b"GET ", b"POST ", b"/", b" HTTP/1.1\r\n", b"Host: a\r\n", b"\r\n", b"Content-Length: 5\r\n", b"hello",
             b"Transfer-Encoding: chunked\r\n", b"5\r\nhello\r\n", b"0\r\n\r\n", b"\x00", b"PRI * HTTP/2.0\r\n"]
    for _ in range(100):
        peer = Peer(port, made)
        for _ in range(chance.randrange(1, 5)):
            peer.tls.write(b"".join(chance.choices(parts, k=chance.randrange(1, 12))))
        peer.push()
        peer.tls.write(b"\r\n\r\n")
        try:
            peer.tls.unwrap()
        except ssl.SSLError:
            pass
        try:
            peer.push()
            peer.socket.shutdown(socket.SHUT_WR)
            while peer.socket.recv(65536):
                pass
        except OSError:
            pass  # it is closed already


def broken_off(port, made):
    """Nobody takes a part of an answer for all of it."""
    for version in (b"1.0", b"1.1"):
        peer = Peer(port, made)
        peer.send(b"GET /broken HTTP/" + version + b"\r\nHost: a\r\n\r\n")
        try:
            content = peer.end()
        except (ssl.SSLError, ConnectionResetError):
            continue
        raise AssertionError(f"after {len(content)} bytes the end was announced")


def slow_handshake(port):
    hello, none = ssl.MemoryBIO(), ssl.MemoryBIO()
    try:
        ssl.create_default_context().wrap_bio(none, hello, server_hostname="localhost").do_handshake()
    except ssl.SSLWantReadError:
        pass
    with socket.create_connection(("127.0.0.1", port), timeout=patience.LIMIT_S) as client:
        client.setblocking(False)
        for byte in hello.read():
            patience.let_pass(0.1)
            try:
                client.sendall(bytes([byte]))
                if client.recv(1) == b"":
                    return
            except BlockingIOError:
                pass
            except (BrokenPipeError, ConnectionResetError):
                return
    raise AssertionError("the whole hello was taken")


def main():
    if len(sys.argv) == 2:
        slow_handshake(int(sys.argv[1]))
        print("ok")
        return
    port, of_lines, certificate, root = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
    with open(f"{root}/small.txt", "rb") as small, open(f"{root}/large.bin", "rb") as large:
        small, large = small.read(), large.read()
    for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
        made = context(certificate, version)
        pipelined(port, made, small)
        in_pieces(port, made, small)
        large_ones(port, made, large)
        ends(port, made, small)
        lines(of_lines, made)
        broken_off(port, made)
        spoiled(port, made)
        random_plaintext(port, made)
    no_tls(port)
    assert Peer(port, context(certificate)).tls.selected_alpn_protocol() == "http/1.1"
    print("ok")


main()
