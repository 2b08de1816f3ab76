"""Three servers of the examples as subjects of predictions: the image server, the web server and the bank."""

import json
import os
import subprocess

import measured
import outside
from image_server import PICTURES, TARGETS
from outside import ROOT

BUILD = os.path.join(ROOT, "bench", "prediction", "build")
# How long it is measured what a flow takes of processors, to know at which rate to take the profile: half of what one
# can do.
MEAN_S = 3


class Real:
    """A server of the examples. What is known of it before it runs is its program, and what its author knows."""

    # The node that makes its flows.
    source = ""

    def __init__(self, name):
        self.name = name
        self.program = self.server = self.profile = None

    def folder(self):
        """Where its profile is kept."""
        folder = os.path.join(BUILD, self.name)
        os.makedirs(folder, exist_ok=True)
        return folder

    def mean_us(self):
        """What a flow takes of processors on average, in microseconds, by its profile."""
        with open(self.profile, encoding="utf-8") as file:
            profile = json.load(file)
        return 1e6 * profile["cpu_seconds"] / profile["flows"]["started"]

    def estimates(self, setting, speed):
        """What no profile says, or what is otherwise under this setting, where all is simulated so much faster."""
        raise NotImplementedError

    def took_us(self, _, __):
        """What a flow takes of processors in a simulation, in microseconds, to be held against what it took; none
        where it takes the same each time."""
        return None

    def options(self):
        """Further words for `flux sim`."""
        return []


class Outside(Real):
    """One whose load comes through sockets."""

    def command(self):
        """The server, with its options."""
        raise NotImplementedError

    def targets(self):
        """What is asked for, each as likely as any other."""
        raise NotImplementedError

    def profile_rate(self, setting):
        """The flows a second of its profile."""
        return 0.5e6 / outside.mean_us(self.command(), self.targets(), setting, MEAN_S)

    def run(self, setting, times, seconds, report=None):
        """What is measured of it under this load."""
        seen = outside.run(self.command(), self.targets(), setting, times, seconds, report)
        if report:
            with open(f"{report}.load", "w", encoding="utf-8") as file:
                json.dump({"load_us": seen["load_us"]}, file)
        return seen

    def _load_us(self):
        """What the load took for a request when the profile was taken."""
        with open(f"{self.profile}.load", encoding="utf-8") as file:
            return json.load(file)["load_us"]

    def estimates(self, setting, speed):
        """The load is simulated as work of the source: what it took for a request when the profile was taken, besides
        what the source took itself. On one processor that is a wait, as the load is on the other; on two it is beside
        the server."""
        with open(self.profile, encoding="utf-8") as file:
            profile = json.load(file)
        own_us = 1e6 * profile["source_cpu_seconds"] / profile["flows"]["started"]
        beside, load_us = ("wait ", self._load_us()) if setting.cpus == 1 else ("", speed * self._load_us())
        return [f"{self.source}={own_us:.3f}us + {beside}{load_us:.3f}us"]

    def took_us(self, setting, foreseen):
        used_us = 1e6 * foreseen["cpus_used"]["mean"] * setting.cpus / foreseen["throughput"]["mean"]
        return used_us - (self._load_us() if setting.cpus > 1 else 0)


def smaller(path, by):
    """The bytes of a picture (PPM) with one of `by` pixels each way."""
    with open(path, "rb") as file:
        kind, size, most, pixels = file.read().split(b"\n", 3)
    width, height = map(int, size.split())
    rows = []
    for at in range(0, height, by):
        line = pixels[3 * width * at:3 * width * (at + 1)]
        row = bytearray(3 * len(line[::3 * by]))
        for color in range(3):
            row[color::3] = line[color::3 * by]
        rows.append(bytes(row))
    return b"\n".join([kind, b"%d %d" % (len(rows[0]) // 3, len(rows)), most, b"".join(rows)])


class Image(Outside):
    """The image server; every picture is compressed anew. Pictures are small, so that some seconds have requests enough
    to tell a percentile."""

    source = "Listen"
    SMALLER = 3

    def __init__(self):
        super().__init__("image")

    def describe(self):
        """What it is asked for, in words."""
        return "small pictures at four scales, compressed anew"

    def pictures(self):
        """The folder that it serves."""
        return os.path.join(self.folder(), "pictures")

    def build(self, flux):
        """Builds it; gives its program and the server."""
        here = os.path.join(ROOT, "examples", "image")
        subprocess.run([os.path.join(here, "setup")], check=True)
        outside.built()
        subprocess.run([flux, "build", "image.flux", "-l", "turbojpeg"], cwd=here, check=True)
        os.makedirs(self.pictures(), exist_ok=True)
        for name in PICTURES:
            with open(os.path.join(self.pictures(), f"{name}.ppm"), "wb") as file:
                file.write(smaller(os.path.join(here, "pictures", f"{name}.ppm"), self.SMALLER))
        return os.path.join(here, "image.flux"), os.path.join(here, "build", "image", "image")

    def command(self):
        return [self.server, "--root", self.pictures(), "--cache-size", "0"]

    def targets(self):
        return TARGETS


class Web(Outside):
    """The web server: small files, and listings of folders, which it makes anew for each request."""

    source = "http.Listen"
    FILES = {"small.html": 1_000, "page.html": 20_000}
    FOLDERS = (100, 300, 600)

    def __init__(self):
        super().__init__("web")

    def describe(self):
        """What it is asked for, in words."""
        return "files of 1 and 20 kB, and listings of " + ", ".join(map(str, self.FOLDERS)) + " files"

    def root(self):
        """The folder that it serves."""
        return os.path.join(self.folder(), "root")

    def build(self, flux):
        """Builds it, and writes the files; gives its program and the server."""
        here = os.path.join(ROOT, "examples", "web")
        outside.built()
        subprocess.run([flux, "build", "web.flux"], cwd=here, check=True)
        for name, size in self.FILES.items():
            self._write(name, size)
        for count in self.FOLDERS:
            for number in range(count):
                self._write(f"{count}/file-{number:03}.txt", 100)
        return os.path.join(here, "web.flux"), os.path.join(here, "build", "web", "web")

    def _write(self, name, size):
        path = os.path.join(self.root(), name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="ascii") as file:
            file.write("x" * size)

    def command(self):
        return [self.server, "--root", self.root()]

    def targets(self):
        return [*(f"/{name}" for name in self.FILES), *(f"/{count}/" for count in self.FOLDERS)]

    def estimates(self, setting, speed):
        # What is not found is a folder, in each case.
        return [*super().estimates(setting, speed), "http.get=100%", "folder=100%", "not_there=100%"]


class Bank(Real):
    """The bank; it brings its load itself (open_load.hpp). Its audits are flows, too, but figures are of transfers."""

    source = "Order"
    ACCOUNTS = 10_000
    CALIBRATED = 1000

    def __init__(self):
        super().__init__("bank")

    def describe(self):
        """What it does, in words."""
        return f"transfers between {self.ACCOUNTS} accounts, an audit every 10 ms"

    def build(self, flux):
        """Builds it; gives its program and the server."""
        here = os.path.join(ROOT, "bench", "prediction")
        program = os.path.join(ROOT, "examples", "bank", "bank.flux")
        folder = os.path.join(self.folder(), "built")
        subprocess.run([flux, "build", program, os.path.join(here, "bank", "nodes.cpp"), "--build-dir", folder],
                       check=True)
        return program, os.path.join(folder, "bank")

    def profile_rate(self, setting):
        """The flows a second of its profile."""
        # All come at once, behind the part of the run that no figure counts.
        return 0.5 * self.CALIBRATED / measured.run([self.server], setting, [0.2] * self.CALIBRATED, 1)["cpu_s"]

    def run(self, setting, times, seconds, report=None):
        """What is measured of it under this load."""
        return measured.run([self.server], setting, times, seconds, report)

    def estimates(self, setting, speed):
        return [f"account={self.ACCOUNTS}", *([f"{self.source}=0us"] if setting.is_brought() else [])]

    def options(self):
        return ["--of", self.source]


REAL = {"image": Image, "bank": Bank, "web": Web}
