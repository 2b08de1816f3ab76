"""The rows of the table: what is asked for, by how many connections, and with how many requests each."""

import dataclasses
import pathlib
import random

# The goals of the issue: at most so many times the processor time of the bare loop.
SMALL, LARGE, CLOSED = 1.12, 1.05, 1.08


@dataclasses.dataclass(frozen=True)
class Row:
    """A load."""
    name: str
    targets: tuple
    connections: int
    # Requests of a connection; 0: all.
    each: int = 0
    # At most so many times the processor time of the loop; None: there is no loop that does the same.
    goal: float | None = None
    # Asked by h2load over TLS: h1 or h2.
    tls: str = ""
    peers: tuple = ("nginx",)


def mix(folders=6, count=20_000):
    """The static part of SPECweb99: folders of 36 files, about 5 MB each, so that six are about 32 MB; in four classes
    of nine sizes, from 100 bytes to 900 kB, of which 35, 50, 14 and 1 of a hundred requests are. Which folder it is,
    and which file of a class, follows Zipf."""
    chosen = random.Random(1)
    zipf = [1 / rank for rank in range(1, folders + 1)]
    sizes = [1 / rank for rank in range(1, 10)]
    targets = []
    for _ in range(count):
        folder = chosen.choices(range(folders), zipf)[0]
        kind = chosen.choices(range(4), (35, 50, 14, 1))[0]
        # The middle of a class is asked for most, as SPECweb99 has it.
        size = (5, 4, 6, 3, 7, 2, 8, 1, 9)[chosen.choices(range(9), sizes)[0]]
        targets.append(f"/dir{folder:05}/class{kind}_{size}")
    return tuple(targets)


ROWS = (
    Row("1 KiB, 64", ("/1k.bin",), 64, goal=SMALL),
    Row("1 KiB, 512", ("/1k.bin",), 512, goal=SMALL),
    Row("1 KiB, 5000", ("/1k.bin",), 5000),
    Row("one request each", ("/1k.bin",), 64, each=1, goal=CLOSED),
    Row("100 KiB, 64", ("/100k.bin",), 64, goal=LARGE),
    Row("5 MB, 16", ("/5m.bin",), 16),
    Row("mix, 64", mix(), 64, each=5, peers=("nginx", "h2o", "lighttpd", "apache")),
    Row("TLS 1 KiB, 64", ("/1k.bin",), 64, tls="h1", peers=("nginx", "h2o")),
    Row("TLS 100 KiB, 64", ("/100k.bin",), 64, tls="h1", peers=("nginx", "h2o")),
    Row("h2 1 KiB, 64", ("/1k.bin",), 64, tls="h2", peers=("nginx", "h2o")),
    Row("h2 100 KiB, 64", ("/100k.bin",), 64, tls="h2", peers=("nginx", "h2o")),
)


def write_files(root: pathlib.Path):
    """All files that the rows ask for."""
    content = random.Random(2)
    for name, size in (("1k.bin", 1 << 10), ("100k.bin", 100 << 10), ("5m.bin", 5_000_000)):
        (root / name).write_bytes(content.randbytes(size))
    for folder in range(6):
        (root / f"dir{folder:05}").mkdir()
        for kind in range(4):
            for size in range(1, 10):
                (root / f"dir{folder:05}/class{kind}_{size}").write_bytes(content.randbytes(size * 100 * 10**kind))
