#!/usr/bin/env python3
"""The readers that the compiler generates beside others for the same protocols: the time of one message in turns, and
its instructions counted by valgrind. First all readers must find the same, and ours must allocate nothing.

What the rows compare: in rows of one name all check the same of the bytes and find the same. "fields" and "words" are
those where every element of a list is taken out; llhttp and picohttpparser do that anyway, as they go along, so the
other HTTP rows ask more of them than of ours, which only says where the list is, and reads it again for who goes
through it. hiredis without objects takes nothing out, and copies what it is fed; ours notes where each part is.

Prints for each case and reader the median of the processor time, its ratio to the reader of Flux round by round (the
median and a 95 % interval by bootstrap; above 1 Flux is faster), instructions and allocations, all for one message.
"""

import argparse
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import pairs


def lines(program, *arguments):
    """What the program says: by case and reader a number, in its order."""
    said = subprocess.run([program, *arguments], check=True, capture_output=True, text=True).stdout
    found = {}
    for line in said.splitlines():
        case, reader, number = line.split("|")
        found[case, reader] = float(number)
    return found


def instructions(program, case, reader):
    """Instructions for a message: what so many more of them add."""

    def total(times):
        count = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, case, reader, str(times)]
        ran = subprocess.run(count, check=True, capture_output=True, text=True)
        return int(re.search(r"Collected : (\d+)", ran.stderr).group(1)), int(ran.stdout)

    (more, many), (fewer, few) = total(400), total(100)
    return (more - fewer) / (many - few)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=f"{HERE}/build/readers")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--milliseconds", type=float, default=10, help="how long a turn takes at least")
    parser.add_argument("--count", action="store_true", help="no times: instructions and allocations alone")
    options = parser.parse_args()
    allocated = lines(options.program, "check")
    rounds = 0 if options.count else options.rounds
    times = [lines(options.program, "time", str(options.milliseconds)) for _ in range(rounds)]
    print(f"{'':<28}{'':<21}{'ns':>8}  {'beside Flux':<19}{'instructions':>13}{'allocations':>13}")
    last = None
    for case, reader in allocated:
        nanoseconds, ratio = "", ""
        if times:
            nanoseconds = "%.1f" % pairs.interval([one[case, reader] for one in times])[0]
        if times and reader != "flux":
            ratio = "%.2f [%.2f, %.2f]" % pairs.interval([one[case, reader] / one[case, "flux"] for one in times])
        count = instructions(options.program, case, reader)
        name = case if case != last else ""
        last = case
        figures = f"{nanoseconds:>8}  {ratio:<19}{count:>13.0f}{allocated[case, reader]:>13.0f}"
        print(f"{name:<28}{reader:<21}{figures}", flush=True)


if __name__ == "__main__":
    main()
