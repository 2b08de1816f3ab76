#!/usr/bin/env python3
"""Whether flux-load tells the truth: load_test.py FLUX_LOAD

The servers here are made to be slow, to stall, to fail, in ways that are known, and its report must say so.
"""

import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import unittest

LOAD = "build/flux-load"


class Server:
    """Answers every request on every connection with what `answer` gives for its number, from 0 on."""

    def __init__(self, answer):
        self.answer = answer
        self.requests = []
        self.lock = threading.Lock()
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port = self.socket.getsockname()[1]
        self.connections = 0

    def __enter__(self):
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()

    def accept(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        with connection:
            rest = b""
            while True:
                while b"\r\n\r\n" not in rest:
                    try:
                        part = connection.recv(4096)
                    except OSError:
                        return
                    if not part:
                        return
                    rest += part
                head, rest = rest.split(b"\r\n\r\n", 1)
                with self.lock:
                    number = len(self.requests)
                    self.requests.append((time.monotonic(), head.decode().split(" ")[1]))
                parts = self.answer(number)
                if parts is None:
                    return
                try:
                    for part in [parts] if isinstance(parts, bytes) else parts:
                        connection.sendall(part)
                        if len(parts) < 10:
                            time.sleep(0.001)
                except OSError:
                    return


def reply(body=b"ok", status=b"200 OK", more=b""):
    return b"HTTP/1.1 %s\r\nContent-Length: %d\r\n%s\r\n%s" % (status, len(body), more, body)


def run(server, *options, targets=("/a",), code=0):
    port = server if isinstance(server, int) else server.port
    command = [LOAD, "--json", "--port", str(port), *map(str, options), *targets]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
    return json.loads(done.stdout) if code in (0, 1) else done.stderr


class OpenLoop(unittest.TestCase):
    def test_requests_go_out_at_their_times(self):
        with Server(lambda _: reply()) as server:
            report = run(server, "--rate", 200, "--duration", 2)
            times = [at for at, _ in server.requests]
        self.assertEqual((report["requests"], report["answered"], len(times)), (400, 400, 400))
        self.assertAlmostEqual(times[-1] - times[0], 399 / 200, delta=0.1)
        self.assertAlmostEqual(report["answers_per_s"], 200, delta=10)

    def test_requests_may_come_at_random_times(self):
        """The gaps between them are as long as they vary (an exponential distribution)."""
        with Server(lambda _: reply()) as server:
            run(server, "--rate", 300, "--poisson", "--duration", 3)
            times = [at for at, _ in server.requests]
        gaps = [after - before for before, after in zip(times, times[1:])]
        self.assertAlmostEqual(len(times), 900, delta=120)
        self.assertAlmostEqual(statistics.stdev(gaps) / statistics.mean(gaps), 1, delta=0.25)
        self.assertIn("--poisson goes with --rate", run(1, "--closed", 1, "--poisson", code=2))

    def test_requests_come_at_the_times_of_a_file_and_each_is_told(self):
        """The third of four is answered late, and the last is not."""

        def answer(number):
            time.sleep(0.2 if number == 2 else 0)
            return None if number == 3 else reply()

        with tempfile.TemporaryDirectory() as folder, Server(answer) as server:
            arrivals, each = os.path.join(folder, "arrivals"), os.path.join(folder, "each")
            with open(arrivals, "w", encoding="ascii") as file:
                file.write("0.1\n0.1\n0.35\n0.8\n")
            options = ["--duration", 1, "--each", each]
            report = run(server, "--arrivals", arrivals, *options, code=1)
            with open(each, encoding="ascii") as file:
                told = [tuple(map(float, line.split())) for line in file]
            with open(arrivals, "w", encoding="ascii") as file:
                file.write("0.1\n0.05\n")
            self.assertIn("line 2", run(server, "--arrivals", arrivals, *options, code=2))
        self.assertEqual((report["requests"], report["answered"], report["failed"]), (4, 3, 1))
        self.assertEqual([due for due, _ in told], [0.1, 0.1, 0.35, 0.8])
        self.assertLess(told[0][1], 0.1)
        self.assertAlmostEqual(told[2][1], 0.2, delta=0.1)
        self.assertEqual(told[3][1], -1)

    def test_a_stall_is_charged_to_all_that_were_due(self):
        """A server that stalls for a second with 100 requests a second: their latencies fall from 1 s to nothing."""

        def answer(number):
            if number == 100:
                stall.acquire()
                time.sleep(1)
                stall.release()
            else:
                with stall:
                    pass
            return reply()

        stall = threading.Lock()
        with Server(answer) as server:
            report = run(server, "--rate", 100, "--duration", 4, "--connections", 4)
        self.assertEqual(report["answered"], 400)
        self.assertAlmostEqual(report["latency_ms"]["max"], 1000, delta=100)
        # The slowest 100 of 400 are spread evenly over the second.
        self.assertAlmostEqual(report["latency_ms"]["p90"], 600, delta=120)
        self.assertLess(report["latency_ms"]["p50"], 100)

    def test_a_slow_server_is_seen_to_fall_behind(self):
        with Server(lambda _: time.sleep(0.02) or reply()) as server:
            report = run(server, "--rate", 100, "--duration", 1, "--connections", 1)
        self.assertEqual(report["answered"], 100)
        # It does 50 a second, so the last of 100 waits for the other half of two seconds.
        self.assertAlmostEqual(report["latency_ms"]["max"], 1000, delta=250)
        self.assertAlmostEqual(report["latency_ms"]["mean"], 510, delta=150)

    def test_answers_that_do_not_come_are_given_up_and_counted(self):
        with Server(lambda number: time.sleep(3) or reply() if number % 10 == 0 else reply()) as server:
            report = run(server, "--rate", 50, "--duration", 1, "--timeout", 0.5, code=1)
        self.assertEqual((report["answered"], report["given_up"]), (45, 5))
        self.assertGreaterEqual(report["latency_ms"]["max"], 500)
        self.assertLess(report["latency_ms"]["max"], 700)

    def test_the_warm_up_is_not_counted(self):
        with Server(lambda number: time.sleep(0.2 if number < 50 else 0) or reply()) as server:
            report = run(server, "--rate", 100, "--warmup", 0.8, "--duration", 1)
            self.assertEqual(len(server.requests), 180)
        self.assertEqual(report["requests"], 100)
        self.assertLess(report["latency_ms"]["max"], 150)

    def test_connections_are_bounded_and_used_again(self):
        with Server(lambda _: time.sleep(0.05) or reply()) as server:
            run(server, "--rate", 200, "--duration", 1, "--connections", 5)
            self.assertEqual(server.connections, 5)
        with Server(lambda _: reply()) as server:
            run(server, "--rate", 50, "--duration", 1)
            self.assertLessEqual(server.connections, 3)

    def test_the_seed_chooses_the_targets(self):
        targets = [f"/{letter}" for letter in "abcdefgh"]

        def asked(seed):
            with Server(lambda _: reply()) as server:
                run(server, "--rate", 400, "--duration", 1, "--seed", seed, "--connections", 1, targets=targets)
                return [target for _, target in server.requests]

        first = asked(1)
        self.assertEqual(first, asked(1))
        self.assertNotEqual(first, asked(2))
        for target in targets:
            self.assertGreater(first.count(target), 20)


class ClosedLoop(unittest.TestCase):
    def test_there_are_as_many_requests_as_connections(self):
        with Server(lambda _: time.sleep(0.02) or reply()) as server:
            report = run(server, "--closed", 4, "--duration", 2)
            self.assertEqual(server.connections, 4)
        self.assertAlmostEqual(report["answers_per_s"], 200, delta=40)
        self.assertAlmostEqual(report["latency_ms"]["p50"], 20, delta=5)


class Answers(unittest.TestCase):
    def test_other_statuses_are_counted_apart(self):
        with Server(lambda number: reply(status=b"404 Not Found") if number % 4 == 0 else reply()) as server:
            report = run(server, "--rate", 100, "--duration", 1, code=1)
        self.assertEqual((report["answered"], report["other_status"], report["failed"]), (75, 25, 0))

    def test_lost_connections_are_failures(self):
        with Server(lambda number: None if number % 5 == 0 else reply()) as server:
            report = run(server, "--rate", 100, "--duration", 1, code=1)
        self.assertEqual((report["answered"], report["failed"]), (80, 20))

    def test_what_is_not_http_is_a_failure(self):
        for bad in (b"hello\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\nno length", reply() + b"more",
                    b"HTTP/1.1 200 OK\r\nContent-"):
            with Server(lambda number: bad if number == 3 else reply()) as server:
                report = run(server, "--rate", 20, "--duration", 0.5, "--timeout", 1, code=1)
            self.assertEqual(report["failed"] + report["given_up"], 1, bad)

    def test_answers_may_come_in_pieces(self):
        whole = reply(b"x" * 3000)
        pieces = [whole[:5], whole[5:30], whole[30:45], whole[45:2000], whole[2000:]]
        with Server(lambda _: pieces) as server:
            self.assertEqual(run(server, "--rate", 50, "--duration", 1)["answered"], 50)

    def test_large_answers_are_read_to_the_end(self):
        with Server(lambda _: reply(b"x" * 2_000_000)) as server:
            report = run(server, "--rate", 20, "--duration", 1)
        self.assertGreater(report["received_bytes"], 20 * 2_000_000)

    def test_a_closed_connection_is_opened_again(self):
        with Server(lambda _: reply(more=b"Connection: close\r\n")) as server:
            run(server, "--rate", 50, "--duration", 1)
            self.assertEqual(server.connections, 50)

    def test_a_server_that_is_not_there_is_a_failure(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
        self.assertEqual(run(port, "--rate", 20, "--duration", 0.5, code=1)["failed"], 10)
        self.assertGreater(run(port, "--closed", 2, "--duration", 0.5, code=1)["failed"], 1)


class CommandLine(unittest.TestCase):
    def test_other_machines_are_not_loaded_by_accident(self):
        self.assertIn("--anywhere", run(80, "--host", "192.0.2.1", "--rate", 1, code=2))

    def test_what_makes_no_sense_is_refused(self):
        for options in ((), ("--rate", 1, "--closed", 1), ("--rate", "x"), ("--rate", 0),
                        ("--rate", 1, "--duration", -1)):
            self.assertTrue(run(80, *options, code=2))
        self.assertTrue(run(80, "--rate", 1, targets=(), code=2))
        self.assertTrue(run(80, "--rate", 1, targets=("a",), code=2))

    def test_the_processor_time_of_the_server_is_told(self):
        busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
        try:
            with Server(lambda _: reply()) as server:
                report = run(server, "--rate", 20, "--duration", 2, "--pid", busy.pid)
        finally:
            busy.kill()
            busy.wait()
        self.assertGreater(report["server_cores"], 0.2)
        self.assertLess(report["server_cores"], 1.1)
        self.assertAlmostEqual(report["server_cpu_ms"], report["server_cores"] * 1000 / 20, delta=3)

    def test_the_report_for_people_says_the_same(self):
        with Server(lambda _: reply()) as server:
            command = [LOAD, "--port", str(server.port), "--rate", "20", "--duration", "1", "/a"]
            text = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
        self.assertIn("20 answered with 200, 0 otherwise, 0 failed, 0 given up", text)
        self.assertRegex(text, r"latency ms  mean \d+\.\d+  p50 \d+\.\d+ .* p99.99 \d+\.\d+  max \d+\.\d+")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    LOAD = sys.argv.pop(1)
    unittest.main()
