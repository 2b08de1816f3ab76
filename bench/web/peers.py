"""The servers of the comparison: how each is started for the files of a folder, configured as its own documentation
recommends it for static files on so many processors: as many workers, no access log, descriptors kept open."""

import contextlib
import pathlib
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import server  # noqa: E402
from server import descendants, free_port, wait_until_reached  # noqa: E402

WEB = HERE / "build/web/web"
LOOP = HERE / "build/web_loop"
# Peers listen before their workers are there.
WORKERS_START_S = 0.4

NGINX = """
daemon off; master_process {master}; worker_processes {workers}; user root; pid {home}/pid; error_log {home}/error.log;
worker_rlimit_nofile 20000;
events {{ worker_connections 16384; }}
http {{
  include /etc/nginx/mime.types; default_type application/octet-stream; access_log off;
  sendfile on; tcp_nopush on; tcp_nodelay on; keepalive_timeout 65; keepalive_requests 1000000000;
  open_file_cache max=10000 inactive=60s; open_file_cache_valid 30s; open_file_cache_min_uses 1;
  client_body_temp_path {home}; proxy_temp_path {home}; fastcgi_temp_path {home}; uwsgi_temp_path {home};
  scgi_temp_path {home};
  server {{ listen 127.0.0.1:{port} backlog=4096{tls}; root {root};{keys} }}
}}
"""
NGINX_KEYS = " ssl_certificate {certificate}; ssl_certificate_key {key}; ssl_session_cache shared:SSL:10m;"

H2O = """
num-threads: {workers}
max-connections: 16384
user: root
pid-file: {home}/pid
listen: {{host: 127.0.0.1, port: {port}{keys}}}
hosts:
  default:
    paths:
      /:
        file.dir: {root}
"""
H2O_KEYS = ", ssl: {{certificate-file: {certificate}, key-file: {key}}}"

LIGHTTPD = """
server.document-root = "{root}"
server.bind = "127.0.0.1"
server.port = {port}
server.modules = ()
server.max-fds = 20000
server.max-connections = 16384
server.max-keep-alive-requests = 60000
server.max-keep-alive-idle = 60
server.listen-backlog = 4096
mimetype.assign = ( "" => "application/octet-stream" )
"""

APACHE = """
ServerRoot {home}
ServerName 127.0.0.1
PidFile {home}/pid
ErrorLog {home}/error.log
Listen 127.0.0.1:{port}
ListenBacklog 4096
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
User nobody
Group nogroup
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LoadModule mime_module /usr/lib/apache2/modules/mod_mime.so
TypesConfig /etc/mime.types
StartServers {workers}
ServerLimit {workers}
MinSpareThreads 1
MaxSpareThreads {threads}
ThreadsPerChild 128
ThreadLimit 128
MaxRequestWorkers {threads}
AsyncRequestWorkerFactor 200
MaxConnectionsPerChild 0
KeepAlive On
MaxKeepAliveRequests 0
KeepAliveTimeout 60
EnableSendfile On
DocumentRoot {root}
<Directory {root}>
  Require all granted
  AllowOverride None
  Options FollowSymLinks
</Directory>
"""


def configured(text, home, name, **words):
    """A configuration file."""
    path = home / f"{name}.conf"
    path.write_text(text.format(home=home, **words), encoding="utf-8")
    return str(path)


def command(name, home, port, root, row, workers, tls):
    """How the server is started; those of Flux and the loop choose their port."""
    words = {"port": port, "root": root, "workers": workers, "threads": workers * 128}
    if name.startswith("flux"):
        more = ["--tls-certificate", tls["certificate"], "--tls-key", tls["key"]] if tls else []
        io = name.removeprefix("flux-") if "-" in name else "reactor"
        return [str(WEB), "--port=0", f"--root={root}", "--flux-runtime=event", f"--flux-workers={workers}",
                f"--flux-io={io}", *more]
    if name == "loop":
        return [str(LOOP), "0", f"{root}{row.targets[0]}", "closes" if row.each == 1 else "keeps"]
    if name.startswith("nginx"):
        keys = NGINX_KEYS.format(**tls) if tls else ""
        file = configured(NGINX, home, name, tls=" ssl http2" if tls else "", keys=keys,
                          master="on" if workers > 1 else "off", **words)
        return ["/usr/sbin/nginx", "-e", f"{home}/error.log", "-c", file]
    if name == "h2o":
        return ["h2o", "-c", configured(H2O, home, name, keys=H2O_KEYS.format(**tls) if tls else "", **words)]
    if name == "lighttpd":
        return ["/usr/sbin/lighttpd", "-D", "-f", configured(LIGHTTPD, home, name, **words)]
    return ["/usr/sbin/apache2", "-D", "FOREGROUND", "-f", configured(APACHE, home, name, **words)]


@contextlib.contextmanager
def serving(name, home, root, row, processors, workers=1, tls=None):
    """A server that listens: its port, and its processes."""
    says_port = name.startswith("flux") or name == "loop"
    port = 0 if says_port else free_port()
    with server.running(command(name, home, port, root, row, workers, tls), processor=processors,
                        listens=says_port, by=server.signal.SIGTERM if not says_port else server.signal.SIGKILL) as run:
        port = run.port or port
        wait_until_reached(port)
        if not says_port:
            time.sleep(WORKERS_START_S)
        yield port, descendants(run.pid)
