// The world that the echo is tested in: clients that send, byte by byte, and look at what comes back. See
// docs/simulation.md.
#include <flux/simulated_peers.hpp>

#include <string>

static void talk(flux::simulated_peer &self, bool all_is_well)
{
    if (self.connect(flux::loopback_address(7000)) != 0) {
        self.expect(!all_is_well, "who connects is served");
        return;
    }
    for (char each = 'a'; each <= 'j'; ++each) {
        const std::string sent(1, each);
        const std::string back = self.send(sent) == 0 ? self.receive(1) : "";
        self.expect(back == sent || (back.empty() && !all_is_well), "what was sent comes back");
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
    for (int number = 1; number <= 4; ++number) {
        world.add("client" + std::to_string(number),
                  [all_is_well](flux::simulated_peer &self) { talk(self, all_is_well); });
    }
}
