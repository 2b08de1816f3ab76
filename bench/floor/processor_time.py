"""Processor time for each message, beside that of the floors, in turns (A B C D, B C D A, …)."""

import os
import statistics

import cases
import server


def measure(name, case, options):
    """Nanoseconds of the server's processor time for each message."""
    command = cases.command(name, case[0], options.build)
    with server.running(command, processor=options.server_processor) as started:
        # The load inherits the processor from here.
        os.sched_setaffinity(0, {options.load_processor})
        try:
            said = cases.load(started.port, case, "--server", started.pid, "--seconds", options.seconds,
                              "--warm-up", min(0.5, options.seconds / 2))
        finally:
            os.sched_setaffinity(0, range(os.cpu_count()))
    return said["processor_ns"] / said["messages"]


def spread(values):
    """The median, and the lowest and the highest."""
    return {"median": statistics.median(values), "lowest": min(values), "highest": max(values)}


def compare(case, options):
    """What each takes for a message, and how many times what the loop of epoll takes, round by round."""
    runs = {name: [] for name in cases.NAMES}
    for turn in range(options.pairs):
        # Who goes first changes, so that a machine that slows down favours none.
        first = turn % len(cases.NAMES)
        for name in cases.NAMES[first:] + cases.NAMES[:first]:
            runs[name].append(measure(name, case, options))
    ratios = {name: [ours / floor for ours, floor in zip(runs[name], runs["epoll"])] for name in cases.NAMES}
    work, at_once, connections = case
    return {"work": work, "at_once": at_once, "connections": connections,
            "nanoseconds": {name: spread(runs[name]) for name in cases.NAMES},
            "beside_epoll": {name: spread(ratios[name]) for name in cases.NAMES}}


def line(result):
    """A line of the table."""
    floor = result["nanoseconds"]["epoll"]["median"] / 1000
    ratios = [result["beside_epoll"][name] for name in cases.NAMES[1:]]
    shown = "".join("   %.3f [%.3f, %.3f]" % (each["median"], each["lowest"], each["highest"]) for each in ratios)
    return f"{result['work']:<6}{result['at_once']:>8}{result['connections']:>12}{floor:>9.2f} us{shown}"


def table(options):
    """The lines as they come, and at last the results."""
    heads = "".join(f"   {name + '/epoll':<20}" for name in cases.NAMES[1:])
    yield f"{'work':<6}{'at once':>8}{'connections':>12}{'epoll':>12}{heads}", None
    for case in options.cases:
        result = compare(case, options)
        yield line(result), result
