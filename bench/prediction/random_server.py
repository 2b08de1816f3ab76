"""Random servers: chains of nodes that compute and wait for times of several distributions, with choices, parallel
steps, failures, constraints of readers and writers, and keys. The same seed gives the same server."""

import dataclasses
import os
import random
import subprocess

from measured import run

HERE = os.path.dirname(os.path.abspath(__file__))
# Computing of a flow, on average.
MEAN_US = 700.0
KEYS = 40
ZIPF = 0.8

NODE = """
int {name}({name}_in *in{out})
{{
    open_load::draws draws(in->number, {purpose});
    {work}
    {give}
    return 0;
}}
"""
FAILS = """    if (open_load::uniform(draws, 0, 1) < {fails}) {{
        return EIO;
    }}
"""


@dataclasses.dataclass
class Node:
    """A node: the distribution of its times, their mean in microseconds, and how often a flow comes there."""

    shape: str
    mean: float
    often: float
    fails: float = 0
    role: str = "step"


class RandomServer:
    """What the server of a seed does, and its program."""

    def __init__(self, seed):
        self.name = f"random_{seed}"
        self.draw = random.Random(seed)
        self.nodes = {}
        self.lines = []
        self.atomics = []
        self.dice = 0
        self.features = set()
        chain = [self._stage(index) for index in range(self.draw.randint(3, 5))]
        self.lines.insert(0, f"Work = {' -> '.join(chain)} -> Finish;")
        self._constrain()
        computing = sum(node.mean * node.often for node in self.nodes.values() if node.shape != "rest")
        self.scale = MEAN_US / computing

    def _node(self, often, shape=None):
        name = f"N{len(self.nodes)}"
        shape = shape or self.draw.choice(["constant", "exponential", "lognormal", "uniform"])
        self.nodes[name] = Node(shape, self.draw.uniform(40, 250), often)
        return name

    def _stage(self, index):
        """A step of the chain."""
        kind = self.draw.choice(["node", "node", "choice", "fork", "rest", "fails"])
        if kind == "choice" and self.dice < 2:
            self.dice += 1
            likely = self.draw.choice([100, 250, 500])
            mine, other = self._node(likely / 1000), self._node(1 - likely / 1000)
            tests = ["_", "_", "_", "_"]
            tests[1 + self.dice] = f"rare{index}"
            self.lines += [f"typedef rare{index} (int dice{self.dice}) {{ dice{self.dice} < {likely} }};",
                           f"Stage{index} (request) => (request);",
                           f"Stage{index}:[{', '.join(tests)}] = {mine};",
                           f"Stage{index}:[_, _, _, _] = {other};"]
            self.features.add("choices")
            return f"Stage{index}"
        if kind == "fork":
            one, two = self._node(1), self._node(1)
            self.nodes[one].role = self.nodes[two].role = "branch"
            self.lines += [f"Stage{index} (request) => (request);", f"Stage{index} = ({one} & {two} & );"]
            self.features.add("parallel steps")
            return f"Stage{index}"
        if kind == "rest":
            self.features.add("waits")
            return self._node(1, "rest")
        name = self._node(1)
        if kind == "fails":
            self.nodes[name].fails = self.draw.choice([0.02, 0.1])
            excuse = self._node(self.nodes[name].fails)
            self.nodes[excuse].role = "handler"
            self.lines.append(f"handle error {name} => {excuse};")
            self.features.add("failures")
        return name

    def _constrain(self):
        """One to three nodes share something, and somebody changes it."""
        free = [name for name, node in self.nodes.items() if node.role == "step"]
        takes = {}
        for name in self.draw.sample(free, min(len(free), self.draw.randint(1, 3))):
            takes[name] = [self.draw.choice(["table", "shelf"]), self.draw.choice(["", "?"])]
        for what, feature in (("table", "one lock"), ("shelf", "keys")):
            those = [taken for taken in takes.values() if taken[0] == what]
            if those:
                self.features.add(feature)
                if all(mode for _, mode in those):
                    those[0][1] = ""
                if any(mode for _, mode in those):
                    self.features.add("readers")
        for name, (what, mode) in takes.items():
            self.atomics.append(f"atomic {name}:{{{what}{mode}{'(key)' if what == 'shelf' else ''}}};")

    def describe(self):
        """What it has, in words."""
        return f"{len(self.nodes)} nodes, " + ", ".join(sorted(self.features))

    def program(self):
        """The text in Flux."""
        lines = ["// A random server; random_server.py has made it.",
                 "using request = (int number, int key, int dice1, int dice2);", "Next () => (request);",
                 "Finish (request) => ();", "source Next => Work;", "Work (request) => ();"]
        for name, node in self.nodes.items():
            takes = "request, int error" if node.role == "handler" else "request"
            lines.append(f"{name} ({takes}) => ({'' if node.role == 'branch' else 'request'});")
        return "\n".join(lines + self.lines + self.atomics) + "\n"

    def _work(self, node):
        mean = f"{node.mean * (1 if node.shape == 'rest' else self.scale):.1f}"
        drawn = {"constant": mean, "exponential": f"open_load::exponential(draws, {mean})",
                 "lognormal": f"open_load::lognormal(draws, {mean}, 0.8)",
                 "uniform": f"open_load::uniform(draws, 0, 2 * {mean})",
                 "rest": f"500 + open_load::exponential(draws, {mean})"}[node.shape]
        work = f"open_load::{'rest' if node.shape == 'rest' else 'compute'}({drawn});"
        return work + ("\n" + FAILS.format(fails=node.fails).rstrip() if node.fails else "")

    def source(self):
        """The text in C++."""
        fields = ("number", "key", "dice1", "dice2")
        text = [f'#include "{self.name}.flux.h"\n#include "../../open_load.hpp"\n']
        text.append(f"""
int Next(Next_out *out)
{{
    out->number = open_load::next();
    if (out->number < 0) {{
        return ECANCELED;
    }}
    open_load::draws draws(out->number, 0);
    out->key = open_load::zipf(draws, {KEYS}, {ZIPF});
    out->dice1 = static_cast<int>(draws() % 1000);
    out->dice2 = static_cast<int>(draws() % 1000);
    return 0;
}}

int Finish(Finish_in *in)
{{
    open_load::end(in->number);
    return 0;
}}

void fini()
{{
    open_load::write();
}}
""")
        for purpose, (name, node) in enumerate(self.nodes.items(), 1):
            gives = node.role != "branch"
            give = " ".join(f"out->{field} = in->{field};" for field in fields) if gives else "static_cast<void>(in);"
            text.append(NODE.format(name=name, purpose=purpose, out=f", {name}_out *out" if gives else "", give=give,
                                    work=self._work(node)))
        return "".join(text)

    def mean_us(self):
        """What a flow computes on average, in microseconds."""
        return MEAN_US

    def profile_rate(self, _):
        """The flows a second of its profile: half of what it can do."""
        return 0.5e6 / MEAN_US

    def run(self, setting, times, seconds, report=None):
        """What is measured of it under this load."""
        return run([self.server], setting, times, seconds, report)

    def took_us(self, _, __):
        """None: nodes take what the processor's clock says."""
        return None

    def estimates(self, setting, _):
        """What no profile says: which keys there are; and where flows are brought by the other processor."""
        keys = [f"shelf=zipf({KEYS}, {ZIPF})"] if "keys" in self.features else []
        return keys + (["Next=0us"] if setting.is_brought() else [])

    def options(self):
        """Further words for `flux sim`."""
        return []

    def folder(self):
        """Where its profile is kept."""
        return os.path.join(HERE, "build", self.name)

    def build(self, flux):
        """Writes and builds it; gives the program and the server."""
        folder = self.folder()
        os.makedirs(folder, exist_ok=True)
        for name, text in ((f"{self.name}.flux", self.program()), ("nodes.cpp", self.source())):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        subprocess.run([flux, "build", f"{self.name}.flux", "nodes.cpp"], cwd=folder, check=True)
        return os.path.join(folder, f"{self.name}.flux"), os.path.join(folder, "build", self.name, self.name)
