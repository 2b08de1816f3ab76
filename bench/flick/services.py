"""What the bench starts: the services that are compared, each on one processor with one worker and configured as its
own documentation recommends it for a proxy, and the servers behind them."""

import contextlib
import pathlib
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import server  # noqa: E402
from server import descendants, free_port, wait_until_reached  # noqa: E402

# Peers listen before their workers are there.
WORKERS_START_S = 0.4

NGINX = """
daemon off; master_process off; worker_processes 1; user root; pid {home}/nginx.pid; error_log {home}/error.log crit;
worker_rlimit_nofile 20000;
events {{ worker_connections 16384; }}
http {{
  access_log off; tcp_nodelay on; keepalive_timeout 65; keepalive_requests 1000000000;
  client_body_temp_path {home}; proxy_temp_path {home}; fastcgi_temp_path {home}; uwsgi_temp_path {home};
  scgi_temp_path {home};
  upstream servers {{
    hash $remote_addr$remote_port; {servers}
    keepalive 4096; keepalive_requests 1000000000;
  }}
  server {{
    listen 127.0.0.1:{port} backlog=4096;
    location / {{ proxy_pass http://servers; proxy_http_version 1.1; proxy_set_header Connection ""; }}
  }}
}}
"""

HAPROXY = """
global
  nbthread 1
  maxconn 4096
defaults
  mode http
  timeout connect 10s
  timeout client 60s
  timeout server 60s
  http-reuse safe
frontend clients
  bind 127.0.0.1:{port} backlog 4096
  default_backend servers
backend servers
  balance hash src_port
  {servers}
"""

NUTCRACKER = """
pool:
  listen: 127.0.0.1:{port}
  hash: fnv1a_64
  distribution: modula
  backlog: 4096
  servers:
  {servers}
"""

APACHE = """
ServerRoot {home}
ServerName 127.0.0.1
PidFile {home}/apache.pid
ErrorLog {home}/error.log
Listen 127.0.0.1:{port}
ListenBacklog 4096
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LoadModule proxy_module /usr/lib/apache2/modules/mod_proxy.so
LoadModule proxy_http_module /usr/lib/apache2/modules/mod_proxy_http.so
LoadModule slotmem_shm_module /usr/lib/apache2/modules/mod_slotmem_shm.so
LoadModule proxy_balancer_module /usr/lib/apache2/modules/mod_proxy_balancer.so
LoadModule lbmethod_byrequests_module /usr/lib/apache2/modules/mod_lbmethod_byrequests.so
User nobody
Group nogroup
StartServers 1
ServerLimit 1
MinSpareThreads 1
MaxSpareThreads 256
ThreadsPerChild 256
ThreadLimit 256
MaxRequestWorkers 256
AsyncRequestWorkerFactor 20
MaxConnectionsPerChild 0
KeepAlive On
MaxKeepAliveRequests 0
KeepAliveTimeout 60
ProxyRequests Off
<Proxy balancer://servers>
  {servers}
</Proxy>
ProxyPass / balancer://servers/
"""


def configured(text, home, name, port, servers):
    """A configuration file; `servers` are its lines of them."""
    path = home / f"{name}.conf"
    path.write_text(text.format(home=home, port=port, servers="\n  ".join(servers)), encoding="utf-8")
    return str(path)


def command(name, home, port, servers):
    """How a service is started for servers at these ports; those of Flux and the relay choose their own port. Of the
    proxies of Flux one that is called `own` has connections for each client, others share them."""
    if name.startswith("flux"):
        program, io, *own = name.removeprefix("flux ").split(" ")
        others = "servers" if program == "balancer" else "backends"
        at = ",".join(f"127.0.0.1:{each}" for each in servers)
        bound = at if program == "balancer" or own else at + "; shared"
        return [str(HERE / f"build/{program}/{program}"), "--client=0", f"--{others}={bound}", "--flux-workers=1",
                f"--flux-io={io}"]
    if name == "relay":
        return [str(HERE / "build/relay"), *map(str, servers)]
    if name == "nginx":
        lines = [f"server 127.0.0.1:{each};" for each in servers]
        return ["/usr/sbin/nginx", "-e", f"{home}/error.log", "-c", configured(NGINX, home, name, port, lines)]
    if name == "haproxy":
        lines = [f"server s{each} 127.0.0.1:{each}" for each in servers]
        return ["/usr/sbin/haproxy", "-db", "-f", configured(HAPROXY, home, name, port, lines)]
    if name == "nutcracker":
        lines = [f"- 127.0.0.1:{each}:1" for each in servers]
        return ["/usr/sbin/nutcracker", "-o", f"{home}/error.log", "-s", str(free_port()), "-c",
                configured(NUTCRACKER, home, name, port, lines)]
    lines = [f"BalancerMember http://127.0.0.1:{each}" for each in servers]
    return ["/usr/sbin/apache2", "-D", "FOREGROUND", "-f", configured(APACHE, home, name, port, lines)]


@contextlib.contextmanager
def serving(name, home, servers, processor):
    """A service that listens: its port, and its processes."""
    says_port = name.startswith("flux") or name == "relay"
    port = 0 if says_port else free_port()
    by = server.signal.SIGKILL if says_port else server.signal.SIGTERM
    with server.running(command(name, home, port, servers), processor=processor, listens=says_port, by=by) as run:
        port = run.port or port
        wait_until_reached(port)
        if not says_port:
            time.sleep(WORKERS_START_S)
        yield port, descendants(run.pid)


@contextlib.contextmanager
def aggregating(name, mappers, reducer, processor, loops=1):
    """An aggregator for so many mappers, before a reducer at this port: its port, and its processes. One of Flux has so
    many event loops."""
    started = [str(HERE / "build/merge"), str(reducer), str(mappers)]
    if name.startswith("flux"):
        io = name.split(" ")[2]
        started = [str(HERE / "build/hadoop/hadoop"), f"--mappers=127.0.0.1:0*{mappers}",
                   f"--reducer=connect:127.0.0.1:{reducer}", f"--flux-workers={loops}", f"--flux-io={io}"]
    with server.running(started, processor=processor) as run:
        yield run.port, descendants(run.pid)


@contextlib.contextmanager
def web_servers(count, file, closes, processor):
    """The ports of bare loops that answer each request with this file."""
    with contextlib.ExitStack() as stack:
        loop = [str(HERE / "build/web_loop"), "0", str(file), "closes" if closes else "keeps"]
        yield [stack.enter_context(server.running(loop, processor=processor)).port for _ in range(count)]


@contextlib.contextmanager
def memcached(processor):
    """The port of a memcached with one thread."""
    port = free_port()
    started = ["memcached", "-l", "127.0.0.1", "-p", str(port), "-U", "0", "-u", "nobody", "-t", "1", "-c", "8192",
               "-m", "512"]
    with server.running(started, processor=processor, listens=False):
        wait_until_reached(port)
        yield port
