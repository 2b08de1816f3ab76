"""The image server as a subject of predictions: every picture is compressed anew. It is loaded at random times, asked
for its profile, and predicted by `flux sim`."""

import json
import signal
import subprocess
import tempfile

from outside import LOAD, ROOT, profiled, server

PICTURES = ("bridge", "sunset", "seedling")
TARGETS = [f"/{name}.jpg?scale={scale}" for name in PICTURES for scale in (1, 2, 4, 8)]


def running(runtime, processors="0"):
    """The server under this runtime on these processors, in a `with`; with one event loop for each."""
    count = processors.count(",") + 1
    command = [f"{ROOT}/examples/image/build/image/image", "--root", f"{ROOT}/examples/image/pictures", "--port", "0",
               "--cache-size", "0", f"--flux-runtime={runtime}", "--flux-admin=0",
               *([f"--flux-workers={count}"] if runtime == "event" else [])]
    return server.running(command, processor=processors, by=signal.SIGTERM)


def load(subject, arguments, seconds, processor="1"):
    """What a load of the server says of itself."""
    command = ["taskset", "-c", processor, LOAD, "--json", "--port", str(subject.port), "--duration", str(seconds),
               "--warmup", "2", "--pid", str(subject.pid), *arguments, *TARGETS]
    return json.loads(server.words(command, seconds + 120))


def load_at(subject, rate, seed, seconds, processor="1"):
    """The same, of requests that come at random times, so many a second."""
    return load(subject, ["--poisson", "--rate", f"{rate:.1f}", "--seed", str(seed)], seconds, processor)


def predict(flux, profile, rates, runtime, cpus=(1,), flows=20000, clients=()):
    """A prediction for each number of CPUs and each rate, in this order; or for clients, as `--clients` has them."""
    workers = ["--workers", "16"] if runtime == "pool" else []
    with tempfile.NamedTemporaryFile(suffix=".json") as kept:
        kept.write(profile)
        kept.flush()
        command = [flux, "sim", f"{ROOT}/examples/image/image.flux", "--profile", kept.name, "--json",
                   "--runtime", runtime, *workers, "--flows", str(flows), "--cpus", ",".join(map(str, cpus)),
                   *(clients or ["--rate", ",".join(f"{rate:.1f}" for rate in rates)])]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [json.loads(line) for line in said.splitlines()]
