#!/usr/bin/env python3
"""Draws Figures 4 to 7 of the FLICK paper of this machine's figures, which flick.py --json has written, as SVG into
docs/figures or where --into says:

flick_4.svg  the HTTP load balancers: requests a second, and the 99th percentile of the time that each takes
flick_5.svg  the memcached proxy: operations a second over connections
flick_6.svg  aggregators: megabytes a second of a processor over the length of words
flick_7.svg  light and heavy flows: when the last of each has ended, in slices, and each to its end

The middle of a line is the median of all turns, its bars are the lowest and the highest.
"""

import argparse
import json
import math
import pathlib
import statistics
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "figures"))
from figures import COLORS, axes, steps, svg, text  # noqa: E402

LEFT, TOP, WIDTH, HEIGHT = 70, 60, 460, 280


def lines_drawn(title, names, lines):
    """Lines of points, by what they are: where each is across, and all that was measured there."""
    points = [(across, value) for line in lines.values() for across, values in line for value in values]
    ends = [[of(point[which] for point in points) for of in (min, max)] for which in (0, 1)]
    across, up = (steps(*both) for both in ends)

    def along(steps_of_axis, value):
        return math.log(value / steps_of_axis[0]) / math.log(steps_of_axis[-1] / steps_of_axis[0])

    def place(point):
        return LEFT + WIDTH * along(across, point[0]), TOP + HEIGHT * (1 - along(up, point[1]))

    parts = [text(LEFT, 24, title, font_size=15), *axes(place, across, up, names)]
    for at, (name, line) in enumerate(lines.items()):
        style = f'stroke="{COLORS[at % len(COLORS)]}" stroke-width="1.8"'
        middles = [place((x, statistics.median(values))) for x, values in line]
        parts.append(f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in middles)}" fill="none" {style}/>')
        for x, values in line:
            (column, low), (_, high) = place((x, min(values))), place((x, max(values)))
            parts.append(f'<line x1="{column:.1f}" y1="{low:.1f}" x2="{column:.1f}" y2="{high:.1f}" {style}/>')
        y = TOP + HEIGHT + 60 + 18 * at
        parts.append(f'<line x1="{LEFT}" y1="{y - 4}" x2="{LEFT + 40}" y2="{y - 4}" {style}/>')
        parts.append(text(LEFT + 48, y, name))
    return parts, TOP + HEIGHT + 60 + 18 * len(lines)


def beside(drawings):
    """Drawings from left to right."""
    parts = [f'<g transform="translate({560 * at},0)">\n' + "\n".join(drawn) + "\n</g>"
             for at, (drawn, _) in enumerate(drawings)]
    return svg(560 * len(drawings), max(height for _, height in drawings), parts)


def called(name):
    """What a reader calls it, `Flux, by epoll`, where the bench says `flux balancer reactor`."""
    if not name.startswith("flux "):
        return name
    _, _, io, *own = name.split(" ")
    return "Flux, by " + ("epoll" if io == "reactor" else "io_uring") + (", connections of its own" if own else "")


def by_name(cases, across, what, change=lambda value: value):
    """The lines of some cases: by what was measured, where the case is across, and its figures."""
    names = list(cases[0][what])
    return {called(name): [(case[across], [change(value) for value in case[what][name]]) for case in cases]
            for name in names}


def bars_drawn(title, rows):
    """A bar for each: its name, its median, the lowest and the highest, and its color."""
    longest = max(high for _, _, _, high, _ in rows)
    parts = [text(LEFT, 24, title, font_size=15)]
    for at, (name, middle, low, high, color) in enumerate(rows):
        y = 50 + 34 * at
        parts.append(text(190, y + 13, name, text_anchor="end"))
        parts.append(f'<rect x="200" y="{y}" width="{400 * middle / longest:.1f}" height="18" fill="{color}"/>')
        parts.append(f'<line x1="{200 + 400 * low / longest:.1f}" y1="{y + 9}" x2="{200 + 400 * high / longest:.1f}" '
                     f'y2="{y + 9}" stroke="black"/>')
        parts.append(text(210 + 400 * high / longest, y + 13, f"{1000 * middle:.0f} ms"))
    return svg(700, 60 + 34 * len(rows), parts)


def figure_7(runs):
    """When the light flows and all had ended."""
    rows = []
    for policy, found in runs.items():
        for what, name, color in (("light_s", "light", COLORS[0]), ("all_s", "heavy", COLORS[1])):
            values = [run[what] for run in found]
            rows.append((f"{policy}: {name}", statistics.median(values), min(values), max(values), color))
    return bars_drawn("When the last of 100 light and of 100 heavy flows has ended", rows)


def drawn(results):
    """The drawings by their names; of what was not measured there is none."""
    kept = [case for case in results if case.get("each") == 0]
    proxied = [case for case in results if case.get("at_once") == 1]
    aggregated = [case for case in results if "letters" in case]
    if kept:
        throughput = by_name(kept, "connections", "rate")
        latency = by_name(kept, "connections", "p99_us", lambda value: value / 1000)
        yield "flick_4.svg", beside([
            lines_drawn("HTTP load balancers, connections that are kept", ("connections", "requests a second"),
                        throughput),
            lines_drawn("", ("connections", "99th percentile of the latency, ms"), latency)])
    if proxied:
        yield "flick_5.svg", beside([lines_drawn("The memcached proxy under memcaslap, in binary",
                                                 ("connections", "operations a second"),
                                                 by_name(proxied, "connections", "rate"))])
    if aggregated:
        yield "flick_6.svg", beside([lines_drawn("Aggregators of word counts, 8 mappers",
                                                 ("letters of a word", "megabytes for a second of processor time"),
                                                 by_name(aggregated, "letters", "ns", lambda value: 1e9 / value))])
    for case in results:
        if case["case"] == "fairness":
            yield "flick_7.svg", figure_7(case["runs"])


def main():
    """Draws all that there is."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("results", help="what flick.py --json has written")
    arguments.add_argument("--into", default=str(HERE.parents[1] / "docs/figures"), help="the folder for the drawings")
    chosen = arguments.parse_args()
    into = pathlib.Path(chosen.into)
    into.mkdir(parents=True, exist_ok=True)
    for name, drawing in drawn(json.loads(pathlib.Path(chosen.results).read_text(encoding="utf-8"))):
        (into / name).write_text(drawing, encoding="utf-8")
        print(into / name)


if __name__ == "__main__":
    main()
