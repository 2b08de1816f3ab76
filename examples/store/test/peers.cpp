// The world that the store is tested in: clients who each have a key of their own, and one that all of them change. See
// docs/simulation.md.
#include <flux/simulated_peers.hpp>

#include <string>

// The answer to a line; empty where the connection has broken.
static std::string ask(flux::simulated_peer &self, const std::string &line)
{
    std::string answer;
    if (self.send(line + "\n") == 0) {
        while (!answer.ends_with('\n')) {
            const std::string next = self.receive(1);
            if (next.empty()) {
                return "";
            }
            answer += next;
        }
    }
    return answer;
}

static void talk(flux::simulated_peer &self, bool all_is_well)
{
    if (self.connect(flux::loopback_address(7070)) != 0) {
        self.expect(!all_is_well, "who connects is served");
        return;
    }
    const auto holds = [&](const std::string &line, const std::string &answer) {
        const std::string said = ask(self, line);
        self.expect(said == answer || (said.empty() && !all_is_well), line + " is answered by " + answer);
        return !said.empty();
    };
    const std::string &own = self.name();
    if (holds("GET " + own, "NONE\n") && holds("SET " + own + " a b", "OK\n") &&
        holds("GET " + own, "VALUE a b\n") && holds("SET all " + own, "OK\n") && holds("DEL " + own, "OK\n") &&
        holds("GET " + own, "NONE\n") && holds("HELP", "ERROR\n")) {
        self.end_output();
        self.expect(self.receive_all().empty(), "nothing comes after that");
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
