// The world that the relay is tested in: clients, and the server behind the relay, which sends back what it gets, in
// upper case. See docs/simulation.md.
#include <flux/simulated_peers.hpp>

#include <algorithm>
#include <cctype>
#include <string>

static std::string upper_case(std::string text)
{
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char each) { return std::toupper(each); });
    return text;
}

// Serves one after the other.
static void serve(flux::simulated_peer &self)
{
    self.expect(self.listen(flux::loopback_address(7000)) == 0, "nobody else listens");
    for (self.accept();; self.accept()) {
        for (std::string some = self.receive(); !some.empty(); some = self.receive()) {
            if (self.send(upper_case(some)) != 0) {
                break;
            }
        }
        self.close();
    }
}

static void talk(flux::simulated_peer &self, bool all_is_well)
{
    self.wait(std::chrono::milliseconds(10)); // the server listens by then
    if (self.connect(flux::loopback_address(7001)) != 0) {
        self.expect(!all_is_well, "who connects is served");
        return;
    }
    for (const std::string sent : {"h", "e", "l", "l", "o"}) {
        const std::string back = self.send(sent) == 0 ? self.receive_exactly(sent.size()) : "";
        self.expect(back == upper_case(sent) || (back.empty() && !all_is_well), "the server's answers come back");
        if (back.empty()) {
            return;
        }
    }
    self.end_output();
    self.expect(self.receive_all().empty(), "nothing comes after that");
}

void simulated_peers(flux::simulation &world)
{
    const bool all_is_well = world.faults() == flux::simulated_faults();
    world.add("server", serve);
    for (int number = 1; number <= 4; ++number) {
        world.add("client" + std::to_string(number),
                  [all_is_well](flux::simulated_peer &self) { talk(self, all_is_well); });
    }
}
