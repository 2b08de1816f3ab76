#!/usr/bin/env python3
"""How long the command takes with large programs: processor time of check, of the C++ and of the picture.

The best of a few runs, for a program and for one twice as large: where the ratio is about 2 the work is linear.
"""

import argparse
import os
import resource
import subprocess
import tempfile


def server(nodes):
    """Pages of three nodes that share constraints and a handler; every tenth has a source."""
    lines = []
    for page in range(nodes // 4):
        lines += [
            f"Parse_{page} (int socket, std::map<int, char *> headers) => (int socket, image_tag *request);",
            f"Find_{page} (int socket, image_tag *request) => (int socket, image_tag *request);",
            f"Send_{page} (int socket, image_tag *request) => ();",
            f"Page_{page} (int socket, std::map<int, char *> headers) => ();",
            f"Page_{page} = Parse_{page} -> Find_{page} -> Send_{page};",
            f"atomic Find_{page}:{{lock_{page % 50}?, cache}};",
            f"handle error Parse_{page} => BadRequest;",
        ]
        if page % 10 == 0:
            lines.append(f"Read_{page} () => (int socket, std::map<int, char *> headers);")
            lines.append(f"source Read_{page} => Page_{page};")
    return lines


def shared(nodes):
    """Abstract nodes each of which applies the next twice."""
    lines = ["Read () => (int a);", "source Read => A0;", f"A{nodes} (int a) => (int a);"]
    return lines + [f"A{node} = A{node + 1} -> A{node + 1};" for node in range(nodes)]


def processor_ms(command, folder, runs):
    """The least processor time of a command, its system calls included."""
    best = None
    for _ in range(runs):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken = 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        best = taken if best is None else min(best, taken)
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--flux", required=True, help="the command")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    flux = os.path.abspath(options.flux)
    commands = {
        "check": [flux, "check", "--quiet", "program.flux"],
        "C++": [flux, "build", "--quiet", "--generate-only", "program.flux", "nodes.cpp"],
        "picture": [flux, "graph", "--format", "dot", "program.flux", "-o", "picture.dot"],
    }
    print(f"{'':<40}{'ms':>10}{'twice as large':>20}{'ratio':>8}")
    for program, nodes, what in ((server, 10_000, "nodes"), (shared, 2_000, "nodes that share each other")):
        for name, command in commands.items():
            times = []
            for size in (nodes, 2 * nodes):
                with tempfile.TemporaryDirectory() as folder:
                    for file, lines in (("program.flux", program(size)), ("nodes.cpp", [])):
                        with open(os.path.join(folder, file), "w", encoding="utf-8") as out:
                            out.write("\n".join(lines) + "\n")
                    times.append(processor_ms(command, folder, options.runs))
            label = f"{nodes:,} {what}: {name}"
            print(f"{label:<40}{times[0]:>10.0f}{times[1]:>20.0f}{times[1] / times[0]:>8.2f}")


if __name__ == "__main__":
    main()
