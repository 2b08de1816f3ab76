// The world that the chat is tested in: guests of two rooms, whose messages may be lost, or come twice. See
// docs/simulation.md.
#include <flux/simulated_peers.hpp>

#include <netinet/in.h>
#include <string>

using namespace std::chrono_literals;

// A host in the network 127.0.0.0/8.
static flux::address host(unsigned number)
{
    flux::address at = flux::loopback_address(0);
    reinterpret_cast<sockaddr_in &>(at.storage).sin_addr.s_addr = htonl((127u << 24) + number);
    return at;
}

// Is in its room for a second, says something in the middle, and hears what others say there.
static void talk(flux::simulated_peer &self, unsigned room, const std::string &own, const std::string &other)
{
    const flux::address chat = flux::loopback_address(7002);
    self.expect(self.bind(host(room)) == 0, "there is a port");
    self.send_message(chat, "join");
    self.wait(200ms + std::chrono::milliseconds(self.draw(500)));
    self.send_message(chat, own);
    while (const auto heard = self.receive_message(2s)) {
        self.expect(heard->first == other, own + " hears what was said in its room, and not itself");
    }
    self.send_message(chat, "leave");
}

void simulated_peers(flux::simulation &world)
{
    const bool all_is_well = world.faults() == flux::simulated_faults();
    for (const std::string room : {"1", "2"}) {
        for (const std::string name : {"anna", "bert"}) {
            const std::string other = name == "anna" ? "bert" : "anna";
            world.add(name + room, [=](flux::simulated_peer &self) {
                talk(self, static_cast<unsigned>(std::stoi(room)), name + room, other + room);
            });
        }
        world.add("listener" + room, [=](flux::simulated_peer &self) {
            int heard = 0;
            self.expect(self.bind(host(static_cast<unsigned>(std::stoi(room)))) == 0, "there is a port");
            self.send_message(flux::loopback_address(7002), "join");
            while (self.receive_message(2s)) {
                ++heard;
            }
            self.expect(heard == 2 || !all_is_well, "all that is said in a room is heard there");
        });
    }
}
