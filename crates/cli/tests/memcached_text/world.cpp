// The world in which the proxy for the text protocol of memcached is tested before several servers, which answer as
// they like, and end connections: replies have no numbers, so the client looks whether they come in the order of its
// requests. Each key is asked for once, and its value is the key. The servers have one connection at a time, so there
// is one client. See docs/simulation.md.
#include <flux/simulated_peers.hpp>

#include <cstdint>
#include <string>

namespace {

constexpr std::uint16_t proxy = 7000;
constexpr std::uint16_t first_server = 7001;
constexpr int servers = 3;

std::string item(const std::string &key)
{
    return "VALUE " + key + " 0 " + std::to_string(key.size()) + "\r\n" + key + "\r\n";
}

// A get of one key, a removal, or a meta command that is quiet: that of a key with an even number has a reply.
std::string reply_to(const std::string &line)
{
    if (line == "mn") {
        return "MN\r\n";
    }
    if (line.starts_with("mg ")) {
        const bool is_even = std::stoi(line.substr(4)) % 2 == 0;
        return is_even ? "HD " + line.substr(3, line.find(' ', 3) - 3) + "\r\n" : std::string();
    }
    return line.starts_with("get ") ? item(line.substr(4)) + "END\r\n" : "DELETED\r\n";
}

void serve(flux::simulated_peer &self, int number, bool is_mean)
{
    const auto port = static_cast<std::uint16_t>(first_server + number);
    self.expect(self.listen(flux::loopback_address(port)) == 0, "an address");
    while (true) {
        self.accept();
        std::string unread;
        while (true) {
            const std::size_t end = unread.find('\n');
            if (end == std::string::npos) {
                const std::string more = self.receive();
                if (more.empty()) {
                    break;
                }
                unread += more;
                continue;
            }
            const std::string line = unread.substr(0, end - (unread[end - 1] == '\r' ? 1 : 0));
            unread.erase(0, end + 1);
            if (self.draw(3) == 0) {
                self.wait(std::chrono::milliseconds(self.draw(20)));
            }
            const std::string reply = reply_to(line);
            if ((is_mean && self.draw(20) == 0) || (!reply.empty() && self.send(reply) != 0)) {
                break;
            }
        }
        is_mean && self.draw(2) == 0 ? self.reset() : self.close();
    }
}

void ask(flux::simulated_peer &self, bool all_is_well)
{
    self.wait(std::chrono::milliseconds(10)); // all listen by then
    int asked = 0;
    const auto next_key = [&] { return "k" + std::to_string(++asked); };
    for (int round = 0; round != 12; ++round) {
        std::string sent;
        std::string wanted;
        for (std::uint64_t each = 1 + self.draw(6); each != 0; --each) {
            if (self.draw(4) == 0) {
                sent += "delete " + next_key() + "\r\n";
                wanted += "DELETED\r\n";
                continue;
            }
            if (self.draw(4) == 0) {
                const std::string line = "mg " + next_key() + " q";
                sent += line + "\r\n";
                wanted += reply_to(line);
                continue;
            }
            sent += "get";
            for (std::uint64_t more = 1 + self.draw(3); more != 0; --more) {
                const std::string key = next_key();
                sent += " " + key;
                wanted += item(key);
            }
            sent += "\r\n";
            wanted += "END\r\n";
        }
        if (self.connect(flux::loopback_address(proxy)) != 0 || self.send(sent) != 0) {
            self.expect(!all_is_well, "who asks is served");
            continue;
        }
        if (!all_is_well && self.draw(8) == 0) {
            self.close(); // before the replies have come, so two runs may wait for each other's servers
            continue;
        }
        const std::string found = self.receive_exactly(wanted.size());
        self.expect(wanted.starts_with(found), "replies in the order of the requests");
        self.expect(found == wanted || !all_is_well, "each request is answered");
        self.close();
    }
}

} // namespace

void simulated_peers(flux::simulation &world)
{
    const bool is_perfect = world.faults() == flux::simulated_faults();
    for (int each = 0; each != servers; ++each) {
        const bool is_mean = !is_perfect && each != 0;
        world.add("server" + std::to_string(each), [=](flux::simulated_peer &self) { serve(self, each, is_mean); });
    }
    world.add("client", [=](flux::simulated_peer &self) { ask(self, is_perfect); });
}
