"""Rows of predictions and measurements as a table, with a verdict for each, and how many were right."""

import math

THROUGHPUT = 0.03
P95 = 0.10
LIMIT_LOAD = 0.03
# Up to this load latencies are compared; above it, loads at which they come to a limit.
COMPARED = 0.8
LIMITED = (0.8, 0.9, 0.95)
LIMIT_AT = 0.9


def verdict(ratio, low, high, allowed):
    """Whether it is right; where it is not, whether its interval says that it may be."""
    if abs(ratio - 1) <= allowed:
        return "right"
    return "open" if low <= 1 + allowed and high >= 1 - allowed else "missed"


def spread(ratio, parts):
    """The interval of a ratio, where its two figures are as uncertain as that, in parts of themselves."""
    within = math.hypot(*parts)
    return ratio * (1 - within), ratio * (1 + within)


def throughput(row):
    """Predicted divided by measured, its interval, the verdict: of flows that end, for each that has come."""
    seen, foreseen = row["measured"], row["predicted"]["throughput"]
    if row["load"] < 1:
        # Who is not late ends as many as come, and in a window of some seconds not as many come as on average.
        ratio = foreseen["mean"] / row["rate"] / (seen["throughput"] / seen["arrived"])
        parts = (foreseen["within"] / foreseen["mean"], 0)
    else:
        ratio = foreseen["mean"] / seen["throughput"]
        parts = (foreseen["within"] / foreseen["mean"], seen["throughput_within"] / seen["throughput"])
    low, high = spread(ratio, parts)
    return ratio, low, high, verdict(ratio, low, high, THROUGHPUT)


def p95(row):
    """The same of the 95th percentile; none where it grows for ever."""
    seen, foreseen = row["measured"], row["predicted"]["p95"]
    if foreseen is None or row["load"] > 1:
        return None
    ratio = foreseen["mean"] / seen["p95"]
    within = max(seen["p95_high"] - seen["p95"], seen["p95"] - seen["p95_low"]) / seen["p95"]
    low, high = spread(ratio, (within, foreseen["within"] / foreseen["mean"]))
    return ratio, low, high, verdict(ratio, low, high, P95)


def crossing(points, limit):
    """The load at which a latency comes to the limit, between points of which it is known; logarithms are straight
    there. Beyond all points, the line goes on."""
    pairs = list(zip(points, points[1:]))
    for (load, latency), (next_load, next_latency) in pairs:
        if latency <= limit <= next_latency or (next_load, next_latency) == points[-1]:
            if next_latency == latency:
                return next_load
            part = math.log(limit / latency) / math.log(next_latency / latency)
            return load + part * (next_load - load)
    raise ValueError("no points")


def limit_load(rows):
    """Of rows of one server and setting: the load that is predicted for a limit, divided by what is measured."""
    those = {row["load"]: row for row in rows}
    if any(load not in those or those[load]["predicted"]["p95"] is None for load in LIMITED):
        return None
    limit = those[LIMIT_AT]["predicted"]["p95"]["mean"]

    def at(name):
        return LIMIT_AT / crossing([(load, those[load]["measured"][name]) for load in LIMITED], limit)

    ratio = at("p95")
    low, high = sorted((at("p95_low"), at("p95_high")))
    return ratio, low, high, verdict(ratio, low, high, LIMIT_LOAD)


def cell(compared):
    """A ratio as the table has it."""
    if compared is None:
        return "–"
    ratio, low, high, how = compared
    mark = {"right": "", "open": " ?", "missed": " ✗"}[how]
    return f"{ratio:.2f} ({low:.2f}–{high:.2f}){mark}"


def grouped(rows):
    """Rows by server and setting, in the order in which they came."""
    groups = {}
    for row in rows:
        groups.setdefault((row["server"], f"{row['runtime']} {row['cpus']}"), []).append(row)
    return groups


def verdicts(rows):
    """All that are told, with what they are of."""
    found = []
    for (server, setting), group in grouped(rows).items():
        for row in group:
            found.append(("throughput", server, setting, row["load"], throughput(row)))
            if row["load"] <= COMPARED:
                found.append(("p95", server, setting, row["load"], p95(row)))
        found.append(("load at a limit", server, setting, LIMIT_AT, limit_load(group)))
    return [each for each in found if each[-1] is not None]


def lines_of(rows):
    """Markdown: a line for each server and setting."""
    compared = sorted({row["load"] for row in rows if row["load"] <= COMPARED})
    yield ("| server | threads | " + " | ".join(f"p95 at {100 * load:.0f} %" for load in compared)
           + " | load at the limit | throughput beyond |")
    yield "| --- " * (4 + len(compared)) + "|"
    for (server, setting), group in grouped(rows).items():
        those = {row["load"]: row for row in group}
        cells = [cell(p95(those[load])) if load in those else "–" for load in compared]
        beyond = [throughput(row) for row in group if row["load"] > 1]
        disturbed = " *" if any(row.get("disturbed") for row in group) else ""
        yield f"| {server} | {setting}{disturbed} | " + " | ".join(
            [*cells, cell(limit_load(group)), cell(beyond[0] if beyond else None)]) + " |"


def sums_of(rows):
    """Markdown: how many are right, open and missed, by setting."""
    found = [(what if what != "throughput" else f"throughput {'below' if load < 1 else 'beyond'}", setting, how)
             for what, _, setting, load, (*_, how) in verdicts(rows)]
    settings = list(dict.fromkeys(setting for _, setting, _ in found))
    yield "| right, open, missed | " + " | ".join([*settings, "all"]) + " |"
    yield "| --- " * (2 + len(settings)) + "|"
    for what in ("p95", "load at a limit", "throughput beyond", "throughput below"):
        groups = [[how for each, of, how in found if each == what and of in within]
                  for within in [*([one] for one in settings), settings]]
        yield f"| {what} | " + " | ".join(
            ", ".join(str(group.count(how)) for how in ("right", "open", "missed")) for group in groups) + " |"


def table(rows):
    """Markdown: all rows, and how many are right; and the same of those that were predicted once more, as if nodes had
    taken in the profile what they took in the run."""
    lines = [*lines_of(rows), "", *sums_of(rows)]
    own = [{**row, "predicted": row["at_own_speed"]} for row in rows if "at_own_speed" in row]
    if own:
        speeds = sorted(row["speed"] for row in rows if "speed" in row)
        lines += ["", f"As fast as in the run that was measured, {speeds[0]:.2f} to {speeds[-1]:.2f} times as fast as "
                  "in the profile:", "", *lines_of(own), "", *sums_of(own)]
    return "\n".join(lines)
