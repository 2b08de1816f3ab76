#!/usr/bin/env python3
"""Draws figures of the paper anew, on this machine, as SVG into docs/figures or where --into says:

figure_6.svg     the image server's throughput over the rate at which requests come: predicted by flux sim from a
                 profile of one processor at half of its capacity, for 1 to 16 processors, and measured on 1 and 2
paths_image.svg  the hot paths of section 5.2: how often flows of the image server took each, and what time they took
paths_bank.svg   the same of the bank

What is drawn is printed, too.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from html import escape

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "prediction"))
from image_server import ROOT, load, load_at, predict, profiled, running

CPUS = (1, 2, 4, 8, 16)
MEASURED = {1: "0", 2: "0,1"}
PARTS = (0.25, 0.5, 0.75, 0.9, 1.0, 1.2)
RUNTIME = "event"
COLORS = ("#0b62a4", "#c2410c", "#15803d", "#7e22ce", "#475569", "#be185d")
DASHES = ("none", "9 4", "2 3", "12 4 2 4", "6 6")


def svg(width, height, parts):
    """A drawing of these parts."""
    begin = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
             f'font-size="12">\n<rect width="{width}" height="{height}" fill="white"/>\n')
    return begin + "\n".join(parts) + "\n</svg>\n"


def text(x, y, what, **attributes):
    """Words at a place."""
    rest = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in attributes.items())
    return f'<text x="{x:.1f}" y="{y:.1f}"{rest}>{escape(str(what))}</text>'


def steps(least, most):
    """1, 2 and 5 times powers of ten, from the last not above the least to the first not below the most."""
    all_steps = [number * 10.0**power for power in range(-3, 10) for number in (1, 2, 5)]
    first = max(step for step in all_steps if step <= least)
    last = min(step for step in all_steps if step >= most)
    return [step for step in all_steps if first <= step <= last]


def axes(place, across, up, names):
    """A frame with these steps along each axis, which is logarithmic."""
    (left, bottom), (right, top) = place((across[0], up[0])), place((across[-1], up[-1]))
    parts = [f'<rect x="{left}" y="{top}" width="{right - left}" height="{bottom - top}" fill="none" stroke="#888"/>']
    for step in across:
        x, _ = place((step, up[0]))
        parts.append(text(x, bottom + 16, f"{step:g}", text_anchor="middle"))
        parts.append(f'<line x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{bottom}" stroke="#ddd"/>')
    for step in up:
        _, y = place((across[0], step))
        parts.append(text(left - 6, y + 4, f"{step:g}", text_anchor="end"))
        parts.append(f'<line x1="{left}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}" stroke="#ddd"/>')
    parts.append(text((left + right) / 2, bottom + 34, names[0], text_anchor="middle"))
    parts.append(text(left, top - 8, names[1]))
    return parts


def figure_6(predicted, measured):
    """Lines of predictions, and points that were measured: both by CPUs, pairs of rate and throughput."""
    left, top, width, height = 70, 60, 560, 400
    points = [point for of in (predicted, measured) for line in of.values() for point in line]
    across, up = (steps(*(of(point[which] for point in points) for of in (min, max))) for which in (0, 1))

    def along(steps_of_axis, value):
        return math.log(value / steps_of_axis[0]) / math.log(steps_of_axis[-1] / steps_of_axis[0])

    def place(point):
        return left + width * along(across, point[0]), top + height * (1 - along(up, point[1]))

    parts = [text(left, 24, "The image server: predicted from one processor, and measured", font_size=15)]
    parts += axes(place, across, up, ("requests a second that come", "requests a second that are answered"))
    for at, (cpus, line) in enumerate(predicted.items()):
        places = " ".join(f"{x:.1f},{y:.1f}" for x, y in map(place, line))
        style = f'stroke="{COLORS[at]}" stroke-dasharray="{DASHES[at]}"'
        parts.append(f'<polyline points="{places}" fill="none" stroke-width="1.8" {style}/>')
        y = top + height + 60 + 18 * at
        parts.append(f'<line x1="{left}" y1="{y - 4}" x2="{left + 40}" y2="{y - 4}" stroke-width="1.8" {style}/>')
        parts.append(text(left + 48, y, f"{cpus} processor{'s' if cpus > 1 else ''}, predicted"))
        for x, y_of_point in map(place, measured.get(cpus, [])):
            parts.append(f'<circle cx="{x:.1f}" cy="{y_of_point:.1f}" r="4" fill="{COLORS[at]}"/>')
        if cpus in measured:
            parts.append(f'<circle cx="{left + 240}" cy="{y - 4}" r="4" fill="{COLORS[at]}"/>')
            parts.append(text(left + 252, y, "measured"))
    return svg(660, top + height + 60 + 18 * len(predicted), parts)


def hot_paths(profile):
    """The paths of a profile: their part of all flows, their part of all time in nodes, and what they are."""
    mean = {node["name"]: node["whole"]["sum_ns"] / max(node["whole"]["times"], 1) for node in profile["node_times"]}
    paths = [path for path in profile["paths"] if path["labels"]]
    takes = [path["count"] * sum(mean.get(label, 0) for label in path["labels"]) for path in paths]
    flows = sum(path["count"] for path in paths)
    rows = [(path["count"] / flows, time / max(sum(takes), 1), " → ".join(path["labels"]))
            for path, time in zip(paths, takes)]
    return sorted(rows, key=lambda row: -row[1])[:8]


def paths_drawn(name, rows):
    """Two bars for each path."""
    parts = [text(20, 24, f"{name}: hot paths", font_size=15),
             '<rect x="20" y="36" width="14" height="10" fill="#0b62a4"/>', text(40, 45, "of the time in nodes"),
             '<rect x="190" y="36" width="14" height="10" fill="none" stroke="#c2410c"/>',
             text(210, 45, "of all flows")]
    for at, (flows, time, path) in enumerate(rows):
        y = 70 + 62 * at
        parts.append(text(20, y, path, font_size=11))
        for below, part, style in ((8, time, 'fill="#0b62a4"'), (24, flows, 'fill="none" stroke="#c2410c"')):
            parts.append(f'<rect x="20" y="{y + below}" width="{max(700 * part, 1):.1f}" height="12" {style}/>')
            parts.append(text(28 + 700 * part, y + below + 10, f"{100 * part:.1f} %"))
    return svg(900, 70 + 62 * len(rows), parts)


def measured_figure(flux, seconds):
    """What figure 6 is drawn of, and a profile."""
    capacity = {}
    for cpus, processors in MEASURED.items():
        with running(RUNTIME, processors) as subject:
            capacity[cpus] = load(subject, ["--closed", str(8 * cpus)], seconds, "0,1")["answers_per_s"]
    with running(RUNTIME) as subject:
        load_at(subject, capacity[1] / 2, 9, seconds)
        profile = profiled(subject)
    measured = {}
    for cpus, processors in MEASURED.items():
        measured[cpus] = []
        for seed, part in enumerate(PARTS, 10):
            with running(RUNTIME, processors) as subject:
                rate = part * capacity[cpus]
                seen = load_at(subject, rate, seed, seconds, "0,1")
            measured[cpus].append((rate, seen["answers_per_s"]))
    return capacity, profile, measured


def predictions(flux, profile, capacity, measured):
    """Lines for all CPUs, and a table where there are measurements."""
    predicted = {}
    for cpus in CPUS:
        rates = [rate for rate, _ in measured.get(cpus, [])] or [part * capacity[1] * cpus for part in PARTS]
        # More than can be answered waits: what is answered then is what as many clients get that always ask.
        clients = ["--clients", str(16 * cpus)]
        most = predict(flux, profile, [], RUNTIME, (cpus,), 5000, clients)[0]["throughput"]["mean"]
        seen = predict(flux, profile, rates, RUNTIME, (cpus,), 5000)
        predicted[cpus] = [(rate, most if one["overloaded"] else one["throughput"]["mean"])
                           for rate, one in zip(rates, seen)]
    print("processors  requests/s  measured/s  predicted/s  measured/predicted")
    for cpus, line in measured.items():
        for (rate, answered), (_, foreseen) in zip(line, predicted[cpus]):
            print(f"{cpus:10}  {rate:10.1f}  {answered:10.1f}  {foreseen:11.1f}  {answered / foreseen:18.3f}")
    for cpus in (cpus for cpus in CPUS if cpus not in measured):
        print(f"{cpus:10}  {predicted[cpus][-1][0]:10.1f}  {'-':>10}  {predicted[cpus][-1][1]:11.1f}")
    return predicted


def build(flux):
    """The two servers, and the pictures of the first."""
    image, bank = f"{ROOT}/examples/image", f"{ROOT}/examples/bank"
    subprocess.run([f"{image}/setup"], check=True, stdout=sys.stderr)
    subprocess.run([flux, "build", "image.flux", "-l", "turbojpeg"], cwd=image, check=True)
    subprocess.run([flux, "build", "bank.flux"], cwd=bank, check=True)


def bank_profile():
    """What the bank measures while it transfers."""
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "bank.json")
        bank = [f"{ROOT}/examples/bank/build/bank/bank", "--transfers", "300000", f"--flux-report=json:{report}"]
        subprocess.run(bank, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open(report, encoding="utf-8") as file:
            return json.load(file)


def main():
    """Draws all of them."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--flux", default=f"{ROOT}/target/release/flux", help="the compiler")
    arguments.add_argument("--seconds", type=int, default=12, help="how long each load is (12)")
    arguments.add_argument("--into", default=f"{ROOT}/docs/figures", help="the folder for the drawings")
    chosen = arguments.parse_args()
    os.makedirs(chosen.into, exist_ok=True)
    build(chosen.flux)

    def write(name, drawing):
        with open(os.path.join(chosen.into, name), "w", encoding="utf-8") as file:
            file.write(drawing)

    capacity, profile, measured = measured_figure(chosen.flux, chosen.seconds)
    write("figure_6.svg", figure_6(predictions(chosen.flux, profile, capacity, measured), measured))
    for name, of in (("image", json.loads(profile)), ("bank", bank_profile())):
        rows = hot_paths(of)
        write(f"paths_{name}.svg", paths_drawn(name, rows))
        print(f"\n{name}: part of the time, of flows, path")
        for flows, time, path in rows:
            print(f"{100 * time:6.1f} % {100 * flows:6.1f} %  {path}")


if __name__ == "__main__":
    main()
