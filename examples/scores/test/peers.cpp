// The world that the scoreboard is tested in: players who add points, of their own and of all. See docs/simulation.md.
#include <flux/simulated_peers.hpp>

#include <string>

// The next line with its end; empty where the connection has broken.
static std::string line_of(flux::simulated_peer &self)
{
    std::string line;
    while (!line.ends_with('\n')) {
        const std::string next = self.receive(1);
        if (next.empty()) {
            return "";
        }
        line += next;
    }
    return line;
}

static void talk(flux::simulated_peer &self, bool all_is_well)
{
    if (self.connect(flux::loopback_address(7400)) != 0) {
        self.expect(!all_is_well, "who connects is served");
        return;
    }
    for (int points = 1; points <= 3; ++points) {
        for (const std::string &name : {self.name(), std::string("all")}) {
            const std::string answer = self.send("ADD " + name + " 1\n") == 0 ? line_of(self) : "";
            if (answer.empty() || answer.starts_with("ERROR")) {
                self.expect(!all_is_well, "who adds points is answered");
                return;
            }
            const bool is_own = name != "all";
            self.expect(is_own ? answer == "OK " + std::to_string(points) + "\n" : answer.starts_with("OK "),
                        "points are added up: " + answer);
        }
    }
    if (self.send("TOP 9\n") == 0) {
        std::string line = line_of(self);
        self.expect(line.starts_with("all ") || !all_is_well, "all together have most: " + line);
        while (!line.empty() && line != ".\n") {
            line = line_of(self);
        }
    }
}

void simulated_peers(flux::simulation &world)
{
    const bool all_is_well = world.faults() == flux::simulated_faults();
    for (int number = 1; number <= 4; ++number) {
        world.add("client" + std::to_string(number),
                  [all_is_well](flux::simulated_peer &self) { talk(self, all_is_well); });
    }
}
