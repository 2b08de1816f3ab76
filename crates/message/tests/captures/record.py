"""Records what a real client and a real server say to each other, a file for each direction.

    record.py                  all of these
    record.py memcached        memcached and libmemcached-tools, in binary
    record.py memcached_text   memcached, libmemcached-tools and pymemcache, in text
    record.py redis            redis-server and redis-cli, RESP2 and RESP3
    record.py dns              dnsmasq over UDP, and nsd over TCP, with dig
    record.py http             nginx with curl, node and chromium
    record.py fastcgi          php-fpm with nginx and cgi-fcgi
    record.py bittorrent       aria2 and libtorrent
    record.py ifile            records.ifile, with Hadoop's library, which Maven brings, as ifile/pom.xml says
    record.py hadoop           what Hadoop's mappers give, and what it reads of what examples/hadoop makes of that, into
                               crates/cli/tests/flick_services; the `flux` command has to be built

It starts the server on a port of its own, goes between it and the client, and writes NAME.request and NAME.response
into the folder that it is in. Times and random numbers are in what is said, so each run gives other bytes. The Debian
packages are memcached libmemcached-tools python3-pymemcache redis dnsmasq-base nsd bind9-dnsutils nginx-light curl
nodejs chromium php-fpm libfcgi-bin aria2 python3-libtorrent maven.
"""

import os
import pathlib
import shlex
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

FOLDER = pathlib.Path(__file__).parent
QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


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
    """Goes between clients and a server, and keeps what both say, of each connection by itself."""

    def __init__(self, server_port):
        self.server_port = server_port
        self.connections = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            client, _ = self.listener.accept()
            server = socket.create_connection(("127.0.0.1", self.server_port))
            said = {"request": b"", "response": b""}
            self.connections.append(said)
            for way in [(client, server, "request"), (server, client, "response")]:
                threading.Thread(target=self.pump, args=(said, *way), daemon=True).start()

    def pump(self, said, source, target, kind):
        try:
            while data := source.recv(65536):
                said[kind] += data
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def write(self, name, connections=None):
        """Writes what has been said since the last time, one connection after the other."""
        time.sleep(0.3)
        for kind in ["request", "response"]:
            keep(f"{name}.{kind}", b"".join(said[kind] for said in connections or self.connections))
        self.connections.clear()


def keep(name, data):
    (FOLDER / name).write_bytes(data)
    print(f"{name}: {len(data)} bytes")


def run(*command, data=None, **options):
    subprocess.run(command, input=data, timeout=60, **QUIET, **options)


class Server:
    """A program that listens, while one is inside of it."""

    def __init__(self, port, *command, **options):
        self.port = port
        self.process = subprocess.Popen(command, **QUIET, **options)

    def __enter__(self):
        wait_for(self.port)
        return Between(self.port)

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


def start_memcached():
    port = free_port()
    return Server(port, "memcached", "-u", "nobody", "-l", "127.0.0.1", "-p", str(port))


def memcached(name="memcached", protocol=("--binary",)):
    with start_memcached() as between:
        at = f"--servers=127.0.0.1:{between.port}"
        with tempfile.TemporaryDirectory() as folder:
            for key, value in [("greeting", b"hello"), ("empty", b""), ("large", bytes(range(256)) * 12)]:
                path = os.path.join(folder, key)
                pathlib.Path(path).write_bytes(value)
                run("memccp", *protocol, at, "--set", path)
        run("memccat", *protocol, at, "greeting", "large", "missing")
        for command in (["memcexist"], ["memctouch", "--expire=60"], ["memcrm"]):
            run(*command, *protocol, at, "greeting")
        run("memcflush", *protocol, at)
        if name == "memcached_text":
            run("memcstat", at)
            speak_memcached(between.port)
        between.write(name)


def speak_memcached(port):
    """With pymemcache; and by hand what no client here says, the meta commands and `gat`."""
    from pymemcache.client.base import Client
    client = Client(("127.0.0.1", port), timeout=5)
    client.set("number", "10")
    client.set("quiet", "x", noreply=True)
    client.add("number", "11", noreply=False)
    client.replace("number", "12", expire=60, noreply=False, flags=5)
    client.append("number", "3", noreply=False)
    client.prepend("number", "4", noreply=False)
    client.incr("number", 5)
    client.decr("number", 7)
    client.incr("missing", 1)
    client.set_many({"a": "1", "b": "2\r\nEND\r\n"}, noreply=False)
    client.get_many(["a", "b", "c"])
    _, unique = client.gets("a")
    client.cas("a", "3", unique)
    client.cas("a", "4", unique)
    client.touch("a", 60, noreply=False)
    client.delete("a", noreply=False)
    client.delete("a", noreply=False)
    client.set("k" * 250, "v")
    client.get("k" * 250)
    client.stats()
    client.stats("settings")
    client.version()
    client.flush_all(noreply=False)
    client.quit()
    with socket.create_connection(("127.0.0.1", port)) as plain:
        for line in ["ms key 5 T60 F3\r\nhello", "mg key v t f k", "mg missing v", "mn", "ma number N0 J5 v",
                     "me key", "md key", "gat 60 number", "gats 60 number missing", "nonsense", "verbosity 1",
                     "set key 0 -1 3\r\nabc", "get"]:
            plain.sendall(line.encode() + b"\r\n")
            time.sleep(0.05)
            plain.recv(65536)


def arguments(command):
    return [os.fsencode(word) for word in shlex.split(command)]


def redis():
    port = free_port()
    # redis-cli asks for the documentation of all commands, which is long.
    options = ["--port", str(port), "--save", "", "--enable-debug-command", "yes", "--rename-command", "COMMAND", ""]
    with Server(port, "redis-server", *options) as between:
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
        # What the server says unasked: that a key has changed, and what is published.
        at = ["redis-cli", "-3", "-p", str(between.port)]
        run(*at, data=b"CLIENT TRACKING ON\nGET greeting\nSET greeting changed\nPING\n")
        subscriber = subprocess.Popen([*at, "SUBSCRIBE", "news"], **QUIET)
        time.sleep(0.5)
        run(*at, "PUBLISH", "news", "hello")
        time.sleep(0.2)
        subscriber.terminate()
        between.write("redis")


class BetweenDatagrams:
    """As Between, for one question and its answer after the other, each with its length before it."""

    def __init__(self, server_port):
        self.server_port = server_port
        self.said = {"request": b"", "response": b""}
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        there = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        there.settimeout(2)
        while True:
            data, client = self.socket.recvfrom(65536)
            self.said["request"] += struct.pack(">H", len(data)) + data
            there.sendto(data, ("127.0.0.1", self.server_port))
            try:
                answer = there.recv(65536)
            except TimeoutError:
                continue
            self.said["response"] += struct.pack(">H", len(answer)) + answer
            self.socket.sendto(answer, client)


def dns():
    port = free_port(socket.SOCK_DGRAM)
    server = subprocess.Popen([
        "dnsmasq", "--no-daemon", "--no-resolv", "--no-hosts", f"--port={port}", "--listen-address=127.0.0.1",
        "--bind-interfaces", "--address=/www.example.test/192.0.2.1", "--address=/www.example.test/2001:db8::1",
        "--cname=alias.example.test,www.example.test", "--mx-host=example.test,mail.example.test,10",
        "--txt-record=example.test,one,two words", "--ptr-record=1.2.0.192.in-addr.arpa,www.example.test",
        "--srv-host=_web._tcp.example.test,www.example.test,80", "--host-record=www.example.test,192.0.2.1",
        "--auth-server=ns.example.test", "--auth-zone=example.test"], **QUIET)
    try:
        time.sleep(0.5)
        between = BetweenDatagrams(port)
        questions = [("www.example.test", "A"), ("www.example.test", "AAAA"), ("alias.example.test", "A"),
                     ("example.test", "MX"), ("example.test", "TXT"), ("example.test", "SOA"), ("example.test", "ANY"),
                     ("_web._tcp.example.test", "SRV"), ("missing.example.test", "A")]
        at = ["dig", "@127.0.0.1", "-p", str(between.port), "+tries=1", "+time=2"]
        for name, kind in questions:
            run(*at, name, kind)
        run(*at, "-x", "192.0.2.1")
        for kind, data in between.said.items():
            keep(f"dns.{kind}", data)
    finally:
        server.terminate()
    dns_over_tcp()


ZONE = """
$ORIGIN example.test.
$TTL 300
@ IN SOA ns hostmaster 7 3600 600 86400 60
@ IN NS ns
@ IN MX 10 mail
@ IN TXT "one" "two words" ""
@ IN CAA 0 issue "authority.test"
ns IN A 192.0.2.53
mail IN A 192.0.2.25
www IN A 192.0.2.1
www IN AAAA 2001:db8::1
alias IN CNAME www
_web._tcp IN SRV 0 0 80 www
*.wild IN A 192.0.2.9
below IN NS ns.below
ns.below IN A 192.0.2.54
"""


def dns_over_tcp():
    """Among what is asked is the whole zone, many records in one message."""
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "zone").write_text(ZONE)
        pathlib.Path(folder, "nsd.conf").write_text(f"""
server:
  ip-address: 127.0.0.1@{port}
  username: ""
  zonesdir: "{folder}"
  database: ""
  zonelistfile: "{folder}/zone.list"
  pidfile: "{folder}/nsd.pid"
  xfrdfile: "{folder}/xfrd.state"
  xfrdir: "{folder}"
remote-control:
  control-enable: no
zone:
  name: example.test
  zonefile: zone
  provide-xfr: 127.0.0.1 NOKEY
""")
        with Server(port, "nsd", "-d", "-c", f"{folder}/nsd.conf") as between:
            at = ["dig", "@127.0.0.1", "-p", str(between.port), "+tcp", "+tries=1", "+time=2"]
            for name, kind in [("example.test", "AXFR"), ("alias.example.test", "A"), ("a.wild.example.test", "A"),
                               ("x.below.example.test", "A"), ("example.test", "CAA"), ("missing.example.test", "A")]:
                run(*at, name, kind)
            run(*at, "+keepopen", "www.example.test", "A", "www.example.test", "AAAA", "example.test", "TXT")
            between.write("dns_tcp")


PAGE = """<!DOCTYPE html><title>page</title><link rel=stylesheet href=style.css><script src=script.js></script>
<body><form method=post action=/echo><input name=a value="b c"></form>"""
SCRIPT = """
fetch("/echo", {method: "PUT", body: new Blob(["x".repeat(3000)])}).then(_ => document.forms[0].submit());
"""
NODE = """
const http = require("http");
const headers = {Trailer: "X-Sum, X-Other"};
const to = {port: process.argv[1], host: "127.0.0.1", method: "POST", path: "/echo", headers};
const request = http.request(to, answer => answer.resume());
request.write("first chunk");
setTimeout(() => {
  request.write("second ".repeat(1000));
  request.addTrailers({"X-Sum": "12", "X-Other": "some text"});
  request.end();
}, 50);
"""


def http():
    """Requests and responses of all kinds but those to HEAD, and those that end with the connection: these apart."""
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        style, long = "body { color: red }", "long " * 2000
        texts = {"index.html": PAGE, "style.css": style, "script.js": SCRIPT, "long.txt": long}
        for name, text in texts.items():
            pathlib.Path(folder, name).write_text(text)
        os.chmod(folder, 0o755)
        pathlib.Path(folder, "nginx.conf").write_text(f"""
daemon off; master_process off; pid {folder}/pid; error_log /dev/null; worker_processes 1;
events {{ worker_connections 64; }}
http {{
  access_log off; default_type text/plain; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  server {{
    listen 127.0.0.1:{port}; root {folder}; gzip on; gzip_types text/plain; gzip_min_length 100;
    location / {{ types {{ text/html html; text/css css; text/javascript js; text/plain txt; }} }}
    location /trailers/ {{ alias {folder}/; add_trailer X-Length $bytes_sent; add_trailer X-Other "some text"; }}
    location /echo {{ proxy_pass http://127.0.0.1:{port}/answer; }}
    location /answer {{ return 200 "got it\n"; }}
    location /empty {{ return 204; }}
    location /moved {{ return 301 /index.html; }}
  }}
}}
""")
        with Server(port, "nginx", "-p", folder, "-c", f"{folder}/nginx.conf") as between:
            at = f"http://127.0.0.1:{between.port}"
            curl = ["curl", "-s", "-o", "/dev/null"]
            run(*curl, at + "/index.html", "-o", "/dev/null", at + "/style.css")
            run(*curl, "--compressed", at + "/long.txt")
            run(*curl, "--compressed", at + "/trailers/long.txt", "-o", "/dev/null", at + "/trailers/script.js")
            run(*curl, "-r", "0-99,200-299", at + "/long.txt")
            run(*curl, "-H", "If-Modified-Since: Fri, 01 Jan 2100 00:00:00 GMT", at + "/index.html")
            run(*curl, "-L", at + "/moved")
            for path in ["/empty", "/missing?a=b%20c&d=%C3%A4"]:
                run(*curl, at + path)
            run(*curl, "-d", "a=b&c=d", at + "/echo")
            run(*curl, "-F", "file=@-", at + "/echo", data=b"\0\r\n--" * 500)
            run(*curl, "-T", "-", at + "/echo", data=b"\0\r\n" * 3000)
            run(*curl, "-T", "-", "-H", "Transfer-Encoding:", "-H", "Content-Length: 0", at + "/echo", data=b"")
            run(*curl, "-H", "Expect: 100-continue", "-d", "x" * 100, at + "/echo")
            run(*curl, "-0", "-H", "Connection: keep-alive", at + "/index.html")
            run(*curl, "-x", at, "http://www.example.test/index.html")
            run(*curl, "-p", "-x", at, "http://www.example.test/index.html")
            run(*curl, "-X", "OPTIONS", "--request-target", "*", at)
            run(*curl, "-H", "X-Empty;", "-H", "X-Bytes: \udcc3\udca4", at + "/index.html")
            run("node", "-e", NODE, str(between.port))
            between.write("http")
            run(*curl, "-I", at + "/index.html")
            run(*curl, "-I", "--compressed", at + "/long.txt", "-o", "/dev/null", at + "/missing")
            between.write("http_head")
            run(*curl, "-0", at + "/trailers/long.txt", "-H", "Accept-Encoding: gzip")
            between.write("http_close")
            options = ["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0"]
            data = f"--user-data-dir={folder}/browser"
            browser = subprocess.Popen(["chromium", *options, data, at + "/index.html"], **QUIET)
            for _ in range(200):
                time.sleep(0.1)
                if any(b"POST /echo" in said["request"] for said in between.connections):
                    break
            between.write("http_browser")
            browser.terminate()
            browser.wait()


SCRIPT_PHP = """<?php
if (isset($_GET["fail"])) { error_log("this went wrong"); http_response_code(500); }
header("X-Length: " . strlen(file_get_contents("php://input")));
echo str_repeat("line\n", (int) ($_GET["lines"] ?? 1));
"""


def fastcgi():
    port, front = free_port(), free_port()
    php = next(name for version in range(9, -1, -1) if (name := shutil.which(f"php-fpm8.{version}")))
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        script = pathlib.Path(folder, "index.php")
        script.write_text(SCRIPT_PHP)
        pathlib.Path(folder, "fpm.conf").write_text(f"""
[global]
error_log = {folder}/log
daemonize = no
[www]
listen = 127.0.0.1:{port}
user = nobody
pm = static
pm.max_children = 1
""")
        with Server(port, php, "-F", "-R", "-y", f"{folder}/fpm.conf") as between:
            pathlib.Path(folder, "nginx.conf").write_text(f"""
daemon off; master_process off; pid {folder}/pid; error_log /dev/null; worker_processes 1;
events {{ worker_connections 64; }}
http {{
  access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  upstream php {{ server 127.0.0.1:{between.port}; keepalive 1; }}
  server {{
    listen 127.0.0.1:{front};
    location / {{
      fastcgi_pass php; fastcgi_keep_conn on; include /etc/nginx/fastcgi_params;
      fastcgi_param SCRIPT_FILENAME {script}; fastcgi_param LONG {"x" * 300};
    }}
  }}
}}
""")
            with Server(front, "nginx", "-p", folder, "-c", f"{folder}/nginx.conf"):
                at = f"http://127.0.0.1:{front}"
                run("curl", "-s", at + "/", at + "/?lines=3000", at + "/?fail=1")
                run("curl", "-s", "--data-binary", "@-", at + "/", data=b"posted " * 3000)
            given = {"PATH": "/usr/bin:/bin", "REQUEST_METHOD": "GET"}
            given |= {"SCRIPT_FILENAME": str(script), "QUERY_STRING": "fail=1"}
            run("cgi-fcgi", "-bind", "-connect", f"127.0.0.1:{between.port}", env=given)
            between.write("fastcgi")


def bittorrent():
    """What libtorrent, which has nothing, says to aria2, which has all, and what that answers."""
    import libtorrent
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        for name in ["has", "wants"]:
            pathlib.Path(folder, name).mkdir()
        pathlib.Path(folder, "has", "file").write_bytes(bytes(range(256)) * 200)
        files = libtorrent.file_storage()
        libtorrent.add_files(files, f"{folder}/has/file")
        made = libtorrent.create_torrent(files, 16384, libtorrent.create_torrent.v1_only)
        libtorrent.set_piece_hashes(made, f"{folder}/has")
        torrent = pathlib.Path(folder, "file.torrent")
        torrent.write_bytes(libtorrent.bencode(made.generate()))
        options = ["--no-conf", f"--listen-port={port}", f"--dir={folder}/has", "--check-integrity=true",
                   "--enable-dht=false", "--enable-dht6=false", "--bt-enable-lpd=false", "--disable-ipv6=true",
                   "--seed-ratio=0.0"]
        with Server(port, "aria2c", *options, str(torrent)) as between:
            time.sleep(1)
            between.connections.clear()
            session = libtorrent.session({
                "listen_interfaces": "127.0.0.1:0", "enable_dht": False, "enable_lsd": False, "enable_upnp": False,
                "enable_natpmp": False, "enable_outgoing_utp": False, "enable_incoming_utp": False,
                "out_enc_policy": 2, "in_enc_policy": 2})
            wanted = session.add_torrent({"ti": libtorrent.torrent_info(str(torrent)), "save_path": f"{folder}/wants"})
            wanted.connect_peer(("127.0.0.1", between.port))
            for _ in range(200):
                time.sleep(0.05)
                if wanted.status().is_seeding:
                    break
            else:
                sys.exit("the file does not come")
            between.write("bittorrent", between.connections[:1])


def with_hadoop(target, main, *arguments):
    """What a program with Hadoop's library prints."""
    command = ["mvn", "-q", "-B", f"-Dtarget={target}", "compile", "exec:java", f"-Dexec.mainClass={main}",
               f"-Dexec.args={' '.join(arguments)}"]
    ended = subprocess.run(command, cwd=FOLDER / "ifile", check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return ended.stdout.replace(b"\x1b[0m", b"")  # Maven's own


def ifile():
    with tempfile.TemporaryDirectory() as folder:
        with_hadoop(folder, "WriteIFile", f"{folder}/records")
        keep("records.ifile", pathlib.Path(folder, "records").read_bytes())


def hadoop():
    project = FOLDER.parents[3]
    kept = project / "crates/cli/tests/flick_services"
    with tempfile.TemporaryDirectory() as folder:
        with_hadoop(folder, "CountWords", "write", str(kept))
        server = f"{folder}/hadoop"
        subprocess.run([str(project / "target/debug/flux"), "build", str(project / "examples/hadoop/hadoop.flick"),
                        "--build-dir", f"{folder}/build", "-o", server], check=True)
        mappers = sorted(kept.glob("mapper_*.ifile"))
        reducer = socket.create_server(("127.0.0.1", 0))
        port = free_port()
        with subprocess.Popen([server, f"--mappers=127.0.0.1:{port}*{len(mappers)}",
                               f"--reducer=connect:127.0.0.1:{reducer.getsockname()[1]}"], **QUIET) as running:
            threads = [threading.Thread(target=send_file, args=(port, mapper)) for mapper in mappers]
            for thread in threads:
                thread.start()
            with reducer.accept()[0] as given, given.makefile("rb") as bytes_given:
                (kept / "reducer.ifile").write_bytes(bytes_given.read())
            running.kill()
        read = with_hadoop(folder, "CountWords", "read", str(kept / "reducer.ifile"))
        (kept / "reducer.txt").write_bytes(read)


def send_file(port, file):
    """Sends a file, and waits until the other side ends."""
    for _ in range(100):
        try:
            connection = socket.create_connection(("127.0.0.1", port))
            break
        except OSError:
            time.sleep(0.05)
    with connection:
        connection.sendall(file.read_bytes())
        connection.shutdown(socket.SHUT_WR)
        connection.recv(1)


RECORDERS = {
    "memcached": memcached,
    "memcached_text": lambda: memcached("memcached_text", ()),
    "redis": redis,
    "dns": dns,
    "http": http,
    "fastcgi": fastcgi,
    "bittorrent": bittorrent,
    "ifile": ifile,
    "hadoop": hadoop,
}

if __name__ == "__main__":
    for name in sys.argv[1:] or RECORDERS:
        RECORDERS[name]()
