"""Records what a real client and a real server say to each other, a file for each direction.

    record.py memcached    with memcached and libmemcached-tools, in binary
    record.py redis        with redis-server and redis-cli, RESP2 and RESP3
    record.py dns          with dnsmasq and dig, the messages each after its length

It starts the server on a port of its own, goes between it and the client, and writes NAME.request and NAME.response
into the folder that it is in. Times and random numbers are in what is said, so each run gives other bytes.
"""

import os
import pathlib
import shlex
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

FOLDER = pathlib.Path(__file__).parent


def free_port(kind=socket.SOCK_STREAM):
    with socket.socket(socket.AF_INET, kind) as it:
        it.bind(("127.0.0.1", 0))
        return it.getsockname()[1]


def wait_for(port):
    for _ in range(100):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except OSError:
            time.sleep(0.05)
    sys.exit("the server does not start")


class Between:
    """Goes between clients and a server, one connection after the other, and keeps what both say."""

    def __init__(self, server_port):
        self.server_port = server_port
        self.said = {"request": b"", "response": b""}
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            client, _ = self.listener.accept()
            server = socket.create_connection(("127.0.0.1", self.server_port))
            ways = [(client, server, "request"), (server, client, "response")]
            threads = [threading.Thread(target=self.pump, args=way) for way in ways]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

    def pump(self, source, target, kind):
        while True:
            data = source.recv(65536)
            if not data:
                break
            self.said[kind] += data
            target.sendall(data)
        try:
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def write(self, name):
        time.sleep(0.3)
        for kind, data in self.said.items():
            (FOLDER / f"{name}.{kind}").write_bytes(data)
            print(f"{name}.{kind}: {len(data)} bytes")


def run(*command, data=None):
    subprocess.run(command, input=data, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=20)


def memcached():
    port = free_port()
    server = subprocess.Popen(["memcached", "-u", "nobody", "-l", "127.0.0.1", "-p", str(port)])
    try:
        wait_for(port)
        between = Between(port)
        at = f"--servers=127.0.0.1:{between.port}"
        with tempfile.TemporaryDirectory() as folder:
            for name, value in [("greeting", b"hello"), ("empty", b""), ("large", bytes(range(256)) * 12)]:
                path = os.path.join(folder, name)
                pathlib.Path(path).write_bytes(value)
                run("memccp", "--binary", at, "--set", path)
        run("memccat", "--binary", at, "greeting", "large", "missing")
        for command in (["memcexist"], ["memctouch", "--expire=60"], ["memcrm"]):
            run(*command, "--binary", at, "greeting")
        run("memcflush", "--binary", at)
        between.write("memcached")
    finally:
        server.terminate()


def arguments(command):
    return [os.fsencode(word) for word in shlex.split(command)]


def redis():
    port = free_port()
    options = ["--port", str(port), "--save", "", "--enable-debug-command", "yes"]
    server = subprocess.Popen(["redis-server", *options], stdout=subprocess.DEVNULL)
    try:
        wait_for(port)
        between = Between(port)
        commands = [
            "SET greeting hello", "GET greeting", "GET missing", "INCR hits", "INCRBYFLOAT half 0.5",
            "SET bytes \udcff\udcfe\r\n", "GET bytes", "RPUSH list a b c",
            "LRANGE list 0 -1", "HSET hash one 1 two 2", "HGETALL hash", "SADD set x y", "SMEMBERS set",
            "INCR greeting", "NOSUCH", "ZADD scores 1.5 a", "ZSCORE scores a",
            "EVAL 'return {1, {2, \"three\"}, false}' 0",
        ]
        kinds = ["double", "map", "set", "bignum", "true", "false", "verbatim", "null", "attrib", "push"]
        for command in commands:
            run("redis-cli", "-2", "-p", str(between.port), *arguments(command))
        for command in commands + [f"DEBUG PROTOCOL {kind}" for kind in kinds]:
            run("redis-cli", "-3", "-p", str(between.port), *arguments(command))
        between.write("redis")
    finally:
        server.terminate()


def dns():
    port = free_port(socket.SOCK_DGRAM)
    server = subprocess.Popen([
        "dnsmasq", "--no-daemon", "--no-resolv", "--no-hosts", f"--port={port}", "--listen-address=127.0.0.1",
        "--bind-interfaces", "--address=/www.example.test/192.0.2.1", "--address=/www.example.test/2001:db8::1",
        "--cname=alias.example.test,www.example.test", "--mx-host=example.test,mail.example.test,10",
        "--txt-record=example.test,one,two words", "--ptr-record=1.2.0.192.in-addr.arpa,www.example.test",
        "--srv-host=_web._tcp.example.test,www.example.test,80", "--host-record=www.example.test,192.0.2.1",
        "--auth-server=ns.example.test", "--auth-zone=example.test"], stderr=subprocess.DEVNULL)
    said = {"request": b"", "response": b""}
    try:
        time.sleep(0.5)
        proxy = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        proxy.bind(("127.0.0.1", 0))
        there = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        there.settimeout(2)

        def serve():
            while True:
                data, client = proxy.recvfrom(65536)
                said["request"] += struct.pack(">H", len(data)) + data
                there.sendto(data, ("127.0.0.1", port))
                try:
                    answer = there.recv(65536)
                except TimeoutError:
                    continue
                said["response"] += struct.pack(">H", len(answer)) + answer
                proxy.sendto(answer, client)

        threading.Thread(target=serve, daemon=True).start()
        questions = [("www.example.test", "A"), ("www.example.test", "AAAA"), ("alias.example.test", "A"),
                     ("example.test", "MX"), ("example.test", "TXT"), ("example.test", "SOA"), ("example.test", "ANY"),
                     ("_web._tcp.example.test", "SRV"), ("missing.example.test", "A")]
        at = ["dig", "@127.0.0.1", "-p", str(proxy.getsockname()[1]), "+tries=1", "+time=2"]
        for name, kind in questions:
            run(*at, name, kind)
        run(*at, "-x", "192.0.2.1")
        for kind, data in said.items():
            (FOLDER / f"dns.{kind}").write_bytes(data)
            print(f"dns.{kind}: {len(data)} bytes")
    finally:
        server.terminate()


if __name__ == "__main__":
    {"memcached": memcached, "redis": redis, "dns": dns}[sys.argv[1]]()
