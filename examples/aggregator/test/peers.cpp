// The world that the aggregator is tested in: clients, and two servers behind it, of which the second sometimes takes
// longer than the aggregator waits. See docs/simulation.md.
#include <flux/simulated_peers.hpp>

#include <string>

using namespace std::chrono_literals;

// A line without its end; empty where the connection has come to its end or broken.
static std::string line_of(flux::simulated_peer &self)
{
    std::string line;
    for (std::string next = self.receive(1); next != "\n"; next = self.receive(1)) {
        if (next.empty()) {
            return "";
        }
        line += next;
    }
    return line;
}

// Serves one after the other. What is asked first over each connection takes time.
static void serve(flux::simulated_peer &self, std::uint16_t port, std::chrono::milliseconds time)
{
    self.expect(self.listen(flux::loopback_address(port)) == 0, "nobody else listens");
    for (self.accept();; self.accept()) {
        for (std::string line = line_of(self); !line.empty(); line = line_of(self)) {
            self.wait(time);
            if (self.send(line + "!\n") != 0) {
                break;
            }
        }
        self.close();
    }
}

static void talk(flux::simulated_peer &self, bool all_is_well)
{
    self.wait(10ms); // the servers listen by then
    if (self.connect(flux::loopback_address(7300)) != 0) {
        self.expect(!all_is_well, "who connects is served");
        return;
    }
    for (int round = 1; round <= 3; ++round) {
        const std::string line = self.name() + " " + std::to_string(round);
        const std::string answer = self.send(line + "\n") == 0 ? line_of(self) : "";
        if (answer.empty()) {
            self.expect(!all_is_well, line + " is answered");
            return;
        }
        // Each part is the answer to this line and to no other, or says why there is none.
        const std::size_t middle = answer.find(" | ");
        for (const std::string &part : {answer.substr(0, middle), answer.substr(middle + 3)}) {
            self.expect(part == line + "!" || part == "(slow)" || (part == "(dead)" && !all_is_well),
                        line + " is answered by " + part);
        }
    }
    self.end_output();
    self.expect(self.receive(1).empty(), "nothing comes after that");
}

void simulated_peers(flux::simulation &world)
{
    const bool all_is_well = world.faults() == flux::simulated_faults();
    world.add("first", [](flux::simulated_peer &self) { serve(self, 7301, 0ms); });
    world.add("second", [](flux::simulated_peer &self) {
        serve(self, 7302, std::chrono::milliseconds(self.draw(400)));
    });
    for (int number = 1; number <= 4; ++number) {
        world.add("client" + std::to_string(number),
                  [all_is_well](flux::simulated_peer &self) { talk(self, all_is_well); });
    }
}
