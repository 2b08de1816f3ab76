#!/usr/bin/env python3
"""A real browser opens what an image server gives: browser_test.py BASE_URL, against one that is running.

Chromium, without a window, says how large it finds each picture, and what it paints of one is compared with what
libjpeg decodes. It runs without its sandbox, as tests may run as root, and without the network but for the server.
"""

import html
import json
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import urllib.request
import zlib

LIMIT_SECONDS = 120

# How far what the browser paints may be from what libjpeg decodes, on average of all samples out of 255: they may round
# colours differently.
MEAN_DIFFERENCE = 2.0

FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage", "--hide-scrollbars",
    "--force-device-scale-factor=1", "--force-color-profile=srgb",
]


def browse(folder, arguments):
    """What Chromium prints, with a profile that is new."""
    profile = tempfile.mkdtemp(dir=folder)
    command = ["chromium", *FLAGS, f"--user-data-dir={profile}", *arguments]
    done = subprocess.run(command, capture_output=True, timeout=LIMIT_SECONDS, check=False)
    if done.returncode != 0:
        sys.exit(f"browser_test: chromium ends with {done.returncode}: {done.stderr.decode(errors='replace')[-2000:]}")
    return done.stdout.decode()


def fetch(url):
    with urllib.request.urlopen(url, timeout=LIMIT_SECONDS) as answer:
        return answer.read()


def decode_ppm(data):
    """Width, height and samples of a PPM as djpeg writes it."""
    _, width, height, _, samples = re.match(rb"(P6)\s(\d+)\s(\d+)\s(\d+)\s(.*)", data, re.DOTALL).groups()
    return int(width), int(height), samples


def decode_png(data):
    """Width, height and RGB samples of a PNG of eight bits without interlacing (PNG specification, section 9)."""
    width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", data[16:29])
    assert (depth, interlaced) == (8, 0) and colour in (2, 6), "not a PNG that this reads"
    size = 3 if colour == 2 else 4
    packed, at = b"", 8
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        packed += data[at + 8 : at + 8 + length] if kind == b"IDAT" else b""
        at += length + 12
    raw, stride = zlib.decompress(packed), width * size
    above, samples = bytearray(stride), bytearray()
    for row in range(height):
        start = row * (stride + 1)
        line = bytearray(raw[start + 1 : start + 1 + stride])
        for at in range(stride):
            left = line[at - size] if at >= size else 0
            corner = above[at - size] if at >= size else 0
            line[at] = (line[at] + predict(raw[start], left, above[at], corner)) % 256
        above = line
        samples += b"".join(line[at : at + 3] for at in range(0, stride, size))
    return width, height, bytes(samples)


def predict(method, left, above, corner):
    """What a filter method of PNG takes a sample to be."""
    if method == 4:
        guess = left + above - corner
        return min((left, above, corner), key=lambda one: abs(guess - one))
    return (0, left, above, (left + above) // 2)[method]


def sizes_in_browser(folder, urls):
    """The sizes that the browser finds the pictures to have; 0 where it cannot open one."""
    images = "".join(f'<img src="{html.escape(url)}">' for url in urls)
    script = ("onload = () => document.body.textContent = 'sizes ' + JSON.stringify("
              "Array.from(document.images, image => [image.naturalWidth, image.naturalHeight])) + ' end'")
    page = pathlib.Path(folder, "sizes.html")
    page.write_text(f"<!DOCTYPE html><body>{images}<script>{script}</script>", encoding="utf-8")
    found = re.search(r"sizes (.*) end", browse(folder, ["--dump-dom", page.as_uri()]))
    return [tuple(size) for size in json.loads(found[1])] if found else []


def painted(folder, url, width, height):
    """The samples of the picture as the browser paints it."""
    page, shot = pathlib.Path(folder, "one.html"), pathlib.Path(folder, "one.png")
    image = f'<img style="position: absolute; left: 0; top: 0" src="{html.escape(url)}">'
    page.write_text(f"<!DOCTYPE html><body>{image}", encoding="utf-8")
    # A window has a least size; what is beyond the picture is left away.
    window = (max(width, 600), max(height, 600))
    browse(folder, [f"--screenshot={shot}", f"--window-size={window[0]},{window[1]}", page.as_uri()])
    wide, high, samples = decode_png(shot.read_bytes())
    assert wide >= width and high >= height, f"the window is {wide} x {high}"
    return b"".join(samples[row * wide * 3 : (row * wide + width) * 3] for row in range(height))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.splitlines()[0])
    base = sys.argv[1].rstrip("/")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        listed = re.findall(r'<img src="(/[^"]*)"', fetch(base + "/").decode())
        shown = re.findall(r'<img src="(/[^"]*)"', browse(folder, ["--dump-dom", base + "/"]))
        assert listed and shown == listed, f"the list shows {shown}, not {listed}"

        urls = [base + re.sub(r"scale=\d", f"scale={scale}", one) for one in listed for scale in (1, 5, 8)]
        pictures = [decode_ppm(subprocess.run(["djpeg"], input=fetch(url), capture_output=True, check=True).stdout)
                    for url in urls]
        found = sizes_in_browser(folder, urls)
        expected = [(width, height) for width, height, _ in pictures]
        assert found == expected, f"in the browser the pictures are {found}, not {expected}"

        url, (width, height, samples) = max(zip(urls, pictures), key=lambda pair: len(pair[1][2]))
        seen = painted(folder, url, width, height)
        difference = sum(abs(one - other) for one, other in zip(seen, samples)) / len(samples)
        assert len(seen) == len(samples) and difference <= MEAN_DIFFERENCE, f"{url} is off by {difference:.2f} in 255"
    print(f"browser_test: Chromium opens {len(urls)} pictures and paints {width} x {height} as libjpeg does")


main()
