"""Networks of queues in SimPy, for networks.rs: reads an object a line, and prints the throughput and the mean latency
of each run of each as a list of pairs.

Debian's python3-simpy is SimPy 2 (Klaus Müller and Tony Vignaux).
"""

import json
import random
import sys

from SimPy.Simulation import (
    Process, Resource, SimEvent, Simulation, hold, release, request, waitevent)


class Network(Simulation):
    """One run of a network."""

    def __init__(self, net, flows):
        Simulation.__init__(self)
        self.initialize()
        self.net, self.flows, self.warm_up = net, flows, flows // 5
        self.threads = Resource(net["threads"], sim=self) if net["threads"] else None
        self.loop = Resource(1, sim=self) if net["loop"] else None
        self.locks = [Resource(1, sim=self) for _ in range(8)]
        self.ended, self.latencies, self.began = 0, [], None
        if "rate" in net:
            self.limit = (self.warm_up + flows) / net["rate"]
            self.began = self.warm_up / net["rate"]
            arrivals = Arrivals(sim=self)
            self.activate(arrivals, arrivals.run())
        else:
            self.limit = 1e12
            for _ in range(net["clients"]):
                client = Client(sim=self)
                self.activate(client, client.run())

    def route(self):
        drawn = random.random()
        for likely, stages in self.net["routes"]:
            drawn -= likely
            if drawn < 0:
                return stages
        return self.net["routes"][-1][1]

    def end(self, arrived):
        self.ended += 1
        now = self.now()
        if "rate" in self.net:
            if now >= self.began:
                self.latencies.append(now - arrived)
        elif self.began is not None:
            self.latencies.append(now - arrived)
            if len(self.latencies) >= self.flows:
                self.limit = now
                self.stopSimulation()
        elif self.ended >= self.warm_up:
            self.began = now

    def result(self):
        self.simulate(until=self.limit)
        return len(self.latencies) / (self.limit - self.began), sum(self.latencies) / len(self.latencies)


class Staged(Process):
    """What goes through stages."""

    def stages(self, stages):
        sim = self.sim
        for kind, *what in stages:
            if kind == "wait":
                yield hold, self, random.expovariate(1 / what[0])
            elif kind == "compute":
                if sim.loop:
                    yield request, self, sim.loop
                yield hold, self, random.expovariate(1 / what[0])
                if sim.loop:
                    yield release, self, sim.loop
            elif kind == "lock":
                yield request, self, sim.locks[what[0]]
                for step in self.stages(what[1]):
                    yield step
                yield release, self, sim.locks[what[0]]
            elif kind == "fork":
                done, left = SimEvent(sim=sim), [len(what[0])]
                for branch in what[0]:
                    child = Branch(sim=sim)
                    sim.activate(child, child.run(branch, done, left))
                yield waitevent, self, done

    def flow(self, arrived):
        sim = self.sim
        if sim.threads:
            yield request, self, sim.threads
        for step in self.stages(sim.route()):
            yield step
        if sim.threads:
            yield release, self, sim.threads
        sim.end(arrived)


class Branch(Staged):
    def run(self, stages, done, left):
        for step in self.stages(stages):
            yield step
        left[0] -= 1
        if left[0] == 0:
            done.signal()


class Flow(Staged):
    def run(self):
        for step in self.flow(self.sim.now()):
            yield step


class Arrivals(Process):
    def run(self):
        while True:
            yield hold, self, random.expovariate(self.sim.net["rate"])
            flow = Flow(sim=self.sim)
            self.sim.activate(flow, flow.run())


class Client(Staged):
    def run(self):
        while True:
            yield hold, self, random.expovariate(1 / self.sim.net["think"])
            for step in self.flow(self.sim.now()):
                yield step


random.seed(1)
RUNS, FLOWS = int(sys.argv[1]), int(sys.argv[2])
for line in sys.stdin:
    print(json.dumps([Network(json.loads(line), FLOWS).result() for _ in range(RUNS)]), flush=True)
