#!/usr/bin/env python3
"""What an HTTP client may rely on: http_test.py BASE_URL, against a running image server.

It speaks over bare sockets, so that it sees every byte, and needs nothing but Python's own library. The pictures are
those that the server lists.
"""

import email.utils
import os
import re
import select
import socket
import sys
import threading
import unittest
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../crates/cli/tests/support"))

import patience  # noqa: E402

BASE = urllib.parse.urlsplit("http://127.0.0.1:8080/")


class Connection:
    """A socket to the server, and what has been read from it beyond the last response."""

    def __init__(self):
        self.socket = socket.create_connection((BASE.hostname, BASE.port), timeout=patience.LIMIT_S)
        self.rest = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data.encode() if isinstance(data, str) else data)

    def receive(self):
        part = self.socket.recv(1 << 16)
        self.rest += part
        return bool(part)

    def response(self, to_head=False):
        """The next response: its status, its fields in lower case, its body. None where the server has closed."""
        while b"\r\n\r\n" not in self.rest:
            if not self.receive():
                assert self.rest == b"", f"closed within a head: {self.rest!r}"
                return None
        head, self.rest = self.rest.split(b"\r\n\r\n", 1)
        status_line, *lines = head.decode("ascii").split("\r\n")
        version, status, reason = status_line.split(" ", 2)
        assert version == "HTTP/1.1" and reason, status_line
        fields = {}
        for line in lines:
            name, value = line.split(": ", 1)
            assert name.lower() not in fields, f"{name} is there twice"
            fields[name.lower()] = value
        length = 0 if to_head else int(fields["content-length"])
        while len(self.rest) < length:
            assert self.receive(), "closed within a body"
        body, self.rest = self.rest[:length], self.rest[length:]
        return int(status), fields, body

    def is_closed(self):
        """Whether the server closes now, having sent nothing more."""
        assert self.rest == b"", self.rest
        return not self.receive()


def request(target, method="GET", version="HTTP/1.1", fields=()):
    lines = [f"{method} {target} {version}", f"Host: {BASE.netloc}", *fields, "", ""]
    return "\r\n".join(lines)


def once(data, to_head=False):
    """The response to one request on a connection of its own."""
    with Connection() as connection:
        connection.send(data)
        return connection.response(to_head)


def jpeg_size(data):
    """The width and height in the frame header of a JPEG file, which must be whole."""
    assert data[:2] == b"\xff\xd8" and data[-2:] == b"\xff\xd9", "not a JPEG file"
    at = 2
    while True:
        assert data[at] == 0xFF
        marker, length = data[at + 1], int.from_bytes(data[at + 2:at + 4], "big")
        if marker in (0xC0, 0xC1, 0xC2):
            return int.from_bytes(data[at + 7:at + 9], "big"), int.from_bytes(data[at + 5:at + 7], "big")
        at += 2 + length


def pictures():
    status, _, body = once(request("/"))
    assert status == 200
    return sorted(set(re.findall(r'href="(/[^"?]+\.jpg)\?', body.decode())))


class Answers(unittest.TestCase):
    def test_the_list_links_every_picture_at_every_scale(self):
        status, fields, body = once(request("/"))
        self.assertEqual(status, 200)
        self.assertEqual(fields["content-type"], "text/html; charset=utf-8")
        self.assertTrue(pictures(), "the server has no pictures")
        for picture in pictures():
            for scale in range(1, 9):
                self.assertIn(f'href="{picture}?scale={scale}"'.encode(), body)

    def test_a_picture_comes_at_every_scale(self):
        for picture in pictures():
            _, _, full = once(request(picture))
            width, height = jpeg_size(full)
            for scale in range(1, 9):
                status, fields, body = once(request(f"{picture}?scale={scale}"))
                self.assertEqual((status, fields["content-type"]), (200, "image/jpeg"))
                self.assertEqual(jpeg_size(body), ((width * scale + 7) // 8, (height * scale + 7) // 8))
            self.assertEqual(body, full, "scale 8 is the default")

    def test_an_answer_is_the_same_from_the_cache(self):
        target = f"{pictures()[0]}?scale=2"
        self.assertEqual(once(request(target))[2], once(request(target))[2])

    def test_a_response_has_the_date_of_now(self):
        for target in ("/", pictures()[0], "/missing.jpg"):
            before = patience.now()
            date = email.utils.parsedate_to_datetime(once(request(target))[1]["date"]).timestamp()
            # It has whole seconds, and may be a second old.
            self.assertTrue(before - 3 < date < patience.now() + 1, f"{before} {date}")

    def test_head_is_get_without_the_body(self):
        for target in ("/", pictures()[0], f"{pictures()[0]}?scale=1", "/missing.jpg"):
            with Connection() as connection:
                connection.send(request(target))
                status, fields, body = connection.response()
                connection.send(request(target, "HEAD") + request(target))
                head_status, head_fields, _ = connection.response(to_head=True)
                self.assertEqual(connection.response()[2], body)
                fields.pop("date"), head_fields.pop("date")
                self.assertEqual((head_status, head_fields), (status, fields))

    def test_a_refused_head_has_no_body(self):
        with Connection() as connection:
            connection.send(request("/x.jpg?scale=9", "HEAD"))
            self.assertEqual(connection.response(to_head=True)[0], 400)
            self.assertTrue(connection.is_closed())

    def test_what_is_not_there_is_not_found(self):
        for target in ("/missing.jpg", "/favicon.ico", "/a/b.jpg", "/.jpg", f"{pictures()[0][:-4]}.ppm", "*"):
            self.assertEqual(once(request(target))[0], 404, target)

    def test_nothing_outside_the_folder_is_given(self):
        for target in ("/../../etc/passwd", "/../../../../../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd",
                       "/..%2f..%2fetc/passwd", "/../../etc/passwd.jpg", "/....//etc/passwd", "//etc/passwd",
                       "/\\..\\etc\\passwd", "http://x/../../etc/passwd"):
            status, _, body = once(request(target))
            self.assertIn(status, (400, 404), target)
            self.assertNotIn(b"root:", body)

    def test_a_bad_scale_is_refused(self):
        for scale in ("0", "9", "-1", "", "x", "1e0", "8" * 30):
            self.assertEqual(once(request(f"{pictures()[0]}?scale={scale}"))[0], 400, scale)

    def test_a_whole_url_is_taken(self):
        self.assertEqual(once(request(f"http://{BASE.netloc}{pictures()[0]}?scale=1"))[0], 200)


class Connections(unittest.TestCase):
    def test_they_are_kept(self):
        with Connection() as connection:
            for _ in range(20):
                connection.send(request(f"{pictures()[0]}?scale=1"))
                status, fields, _ = connection.response()
                self.assertEqual((status, fields["connection"]), (200, "keep-alive"))
            connection.send(request("/missing.jpg"))
            self.assertEqual(connection.response()[0], 404)
            connection.send(request("/"))
            self.assertEqual(connection.response()[0], 200, "a 404 does not end the connection")

    def test_they_are_closed_on_request(self):
        for target in ("/", f"{pictures()[0]}?scale=1", "/missing.jpg"):
            with Connection() as connection:
                connection.send(request(target, fields=["Connection: close"]))
                self.assertEqual(connection.response()[1]["connection"], "close")
                self.assertTrue(connection.is_closed())

    def test_http_1_0_closes_unless_asked_not_to(self):
        with Connection() as connection:
            connection.send("GET / HTTP/1.0\r\n\r\n")
            self.assertEqual(connection.response()[1]["connection"], "close")
            self.assertTrue(connection.is_closed())
        with Connection() as connection:
            for _ in range(3):
                connection.send("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n")
                self.assertEqual(connection.response()[1]["connection"], "keep-alive")

    def test_pipelined_requests_are_answered_in_order(self):
        targets = [f"{picture}?scale={scale}" for picture in pictures() for scale in (1, 2)] + ["/missing.jpg", "/"]
        expected = [once(request(target))[2] for target in targets]
        with Connection() as connection:
            connection.send("".join(request(target) for target in targets * 3))
            for body in expected * 3:
                self.assertEqual(connection.response()[2], body)

    def test_hundreds_of_pipelined_requests_are_answered(self):
        count = 500
        target = f"{pictures()[0]}?scale=1"
        with Connection() as connection:
            sender = threading.Thread(target=lambda: connection.send(request(target) * count))
            sender.start()
            bodies = {connection.response()[2] for _ in range(count)}
            sender.join()
            self.assertEqual(len(bodies), 1)

    def test_a_request_may_come_byte_by_byte(self):
        with Connection() as connection:
            for byte in request(f"{pictures()[0]}?scale=1"):
                connection.send(byte)
            self.assertEqual(connection.response()[0], 200)

    def test_empty_lines_before_a_request_do_no_harm(self):
        with Connection() as connection:
            connection.send("\r\n\r\n" + request("/") + "\r\n" + request("/"))
            self.assertEqual([connection.response()[0], connection.response()[0]], [200, 200])

    def test_a_client_may_close_its_side_first(self):
        with Connection() as connection:
            connection.send(request("/") * 2)
            connection.socket.shutdown(socket.SHUT_WR)
            self.assertEqual([connection.response()[0], connection.response()[0]], [200, 200])
            self.assertTrue(connection.is_closed())

    def test_a_client_may_leave_at_any_time(self):
        full = f"{pictures()[0]}?scale=8"
        for cut in ("", request(full)[:9], request(full), request(full) * 5):
            for reset in (False, True):
                connection = Connection()
                if reset:
                    linger = (1).to_bytes(4, sys.byteorder) + (0).to_bytes(4, sys.byteorder)
                    connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                connection.send(cut)
                connection.socket.close()
        self.assertEqual(once(request("/"))[0], 200)

    def test_many_at_once_get_the_picture_they_asked_for(self):
        targets = [f"{picture}?scale={scale}" for picture in pictures() for scale in range(1, 4)]
        expected = {target: once(request(target))[2] for target in targets}
        wrong = []

        def ask(offset):
            with Connection() as connection:
                for at in range(40):
                    target = targets[(at * 7 + offset) % len(targets)]
                    connection.send(request(target))
                    if connection.response()[2] != expected[target]:
                        wrong.append(target)

        threads = [threading.Thread(target=ask, args=(offset,)) for offset in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


class Refusals(unittest.TestCase):
    def refused(self, data, *statuses):
        """That `data` gets a single response, one of `statuses`, and the connection is closed."""
        with Connection() as connection:
            connection.send(data)
            status, fields, _ = connection.response()
            self.assertIn(status, statuses, data[:60])
            self.assertEqual(fields["connection"], "close")
            self.assertTrue(connection.is_closed(), data[:60])
            return fields

    def test_other_methods(self):
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH"):
            self.assertEqual(self.refused(request("/", method), 405)["allow"], "GET, HEAD")
        self.refused(request("/", "BREW"), 501)

    def test_bodies_are_not_taken_for_requests(self):
        smuggled = request("/")
        self.refused(request("/", "POST", fields=[f"Content-Length: {len(smuggled)}"]) + smuggled, 405)
        self.refused(request("/", fields=[f"Content-Length: {len(smuggled)}"]) + smuggled, 413)
        self.refused(request("/", fields=["Transfer-Encoding: chunked"]) + "0\r\n\r\n" + smuggled, 413)
        self.refused(request("/", fields=["Content-Length: 0", "Transfer-Encoding: chunked"]) + smuggled, 400, 413)

    def test_the_answer_to_a_large_body_arrives(self):
        self.refused(request("/", "POST", fields=["Content-Length: 500000"]) + "x" * 500_000, 405)

    def test_expect_is_not_waited_for(self):
        self.refused(request("/", fields=["Content-Length: 5", "Expect: 100-continue"]), 413)
        self.assertEqual(once(request("/", fields=["Expect: 100-continue"]))[0], 200)

    def test_other_versions(self):
        for version in ("HTTP/2.0", "HTTP/0.9", "HTTP/1.2"):
            self.refused(request("/", version=version), 505)
        self.refused("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505)

    def test_heads_without_a_host_or_with_two(self):
        self.refused("GET / HTTP/1.1\r\n\r\n", 400)
        self.refused(request("/", fields=["Host: other"]), 400)

    def test_heads_that_are_too_long(self):
        self.refused("GET /" + "a" * 10_000, 414)
        self.refused("GET / HTTP/1.1\r\nx: " + "a" * 10_000, 431)
        self.refused("GET / HTTP/1.1\r\n" + "x: y\r\n" * 2_000 + "\r\n", 431)

    def test_malformed_heads(self):
        for data in ("hello\r\n\r\n", "GET /\r\n\r\n", "GET / HTTP/1.1\nHost: a\n\n",
                     "GET / HTTP/1.1\r\nHost a\r\n\r\n", "GET / HTTP/1.1\r\nHost : a\r\n\r\n",
                     "GET\t/\tHTTP/1.1\r\nHost: a\r\n\r\n",
                     "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
                     "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"):
            self.refused(data, 400)

    def test_slow_clients_are_given_up(self):
        """They hold nothing that others need, and get 408, or are closed where they have sent nothing."""
        for _ in patience.tries():
            slow = [Connection() for _ in range(64)]
            for connection in slow[1:]:
                connection.send("GET / HT")
            self.assertEqual(once(request("/"))[0], 200)
            # On a slow machine some are given up by then, but not each time.
            given_up, _, _ = select.select([connection.socket for connection in slow], [], [], 0)
            if not given_up:
                break
            for connection in slow:
                connection.socket.close()
        self.assertFalse(given_up, "slow clients hold others up")
        self.assertTrue(slow[0].is_closed())
        slow[0].socket.close()
        for connection in slow[1:]:
            self.assertEqual(connection.response()[0], 408)
            self.assertTrue(connection.is_closed())
            connection.socket.close()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    BASE = urllib.parse.urlsplit(sys.argv.pop(1))
    unittest.main()
