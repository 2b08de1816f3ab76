"""What is compared with the floors: the work, who does it, and the load on them."""

import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import server

BUILD = os.path.join(HERE, "build")
# Bytes of a message and of its answer. The fixed answer is for a short request.
SIZES = {"echo": (1024, 1024), "fixed": (64, 1024)}
AT_ONCE = (1, 8)
CONNECTIONS = (64, 512)
FLOORS = ("epoll", "uring")
IO = ("reactor", "proactor")
NAMES = FLOORS + IO
LOAD_LIMIT_S = 300


def command(name, work, folder):
    """How the server of this name is started for this work, one of those that were built in this folder."""
    if name in FLOORS:
        return [f"{folder}/{name}_loop", "0", work]
    return [f"{folder}/{work}/{work}", "--port=0", "--flux-runtime=event", "--flux-workers=1", f"--flux-io={name}"]


def load(port, case, *more):
    """What the load says that is put on the server at this port."""
    work, at_once, connections = case
    request, answer = SIZES[work]
    said = server.words(
        [f"{BUILD}/message_load", "--port", str(port), "--connections", str(connections), "--at-once", str(at_once),
         "--request", str(request), "--answer", str(answer), *map(str, more)], LOAD_LIMIT_S)
    return json.loads(said)
