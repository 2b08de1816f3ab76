// The world in which the proxy for memcached is tested before servers that fail: each has one connection at a time, so
// its clients wait for those of others, which are kept, and asked again where they end. Each request has a number of
// its own, and its reply names it, so nobody is given what is another's. See docs/simulation.md.
#include <flux/simulated_peers.hpp>

#include <cstdint>
#include <string>

namespace {

constexpr std::size_t head_size = 24;
constexpr std::uint16_t first_server = 7001;
constexpr int servers = 3;
constexpr int clients = 6;

std::string number(std::uint64_t value, int size)
{
    std::string bytes;
    for (int at = size; at-- != 0;) {
        bytes += static_cast<char>(value >> (8 * at));
    }
    return bytes;
}

std::uint32_t number_at(const std::string &bytes, std::size_t at)
{
    std::uint32_t value = 0;
    for (std::size_t each = at; each != at + 4; ++each) {
        value = value << 8 | static_cast<unsigned char>(bytes[each]);
    }
    return value;
}

// A message without a value: a get, or a set of nothing, or the reply to one.
std::string message(int magic, int opcode, std::uint32_t opaque, const std::string &extras, const std::string &key)
{
    return number(static_cast<std::uint64_t>(magic), 1) + number(static_cast<std::uint64_t>(opcode), 1) +
           number(key.size(), 2) + number(extras.size(), 1) + number(0, 3) + number(extras.size() + key.size(), 4) +
           number(opaque, 4) + number(0, 8) + extras + key;
}

// Answers with the key, in the order of the requests, and ends some connections.
void serve(flux::simulated_peer &self, int number, bool is_mean)
{
    const auto port = static_cast<std::uint16_t>(first_server + number);
    self.expect(self.listen(flux::loopback_address(port)) == 0, "an address");
    while (true) {
        self.accept();
        while (true) {
            const std::string head = self.receive_exactly(head_size);
            const std::size_t size = head.size() == head_size ? number_at(head, 8) : 0;
            const std::string body = self.receive_exactly(size);
            if (head.size() != head_size || body.size() != size || (is_mean && self.draw(12) == 0)) {
                break;
            }
            if (self.draw(4) == 0) {
                self.wait(std::chrono::milliseconds(self.draw(20)));
            }
            const std::string key = body.substr(static_cast<unsigned char>(head[4]));
            if (self.send(message(0x81, head[1], number_at(head, 12), "", key)) != 0) {
                break;
            }
        }
        is_mean && self.draw(2) == 0 ? self.reset() : self.close();
    }
}

// One connection after the other, with some requests at once on each.
void ask(flux::simulated_peer &self, int own, bool all_is_well)
{
    self.wait(std::chrono::milliseconds(10)); // all listen by then
    std::uint32_t opaque = static_cast<std::uint32_t>(own) << 16;
    for (int round = 0; round != 4; ++round) {
        if (self.connect(flux::loopback_address(7000)) != 0) {
            self.expect(!all_is_well, "who connects is served");
            continue;
        }
        const std::uint64_t count = 1 + self.draw(4);
        std::string sent;
        for (std::uint64_t each = 0; each != count; ++each) {
            // All for one server, so the replies come in the order of the requests.
            const bool is_set = self.draw(2) == 0;
            const std::string extras = is_set ? std::string(8, '\0') : "";
            sent += message(0x80, is_set ? 1 : 0, ++opaque, extras, "key " + std::to_string(own));
        }
        if (self.send(sent) != 0) {
            self.expect(!all_is_well, "what is sent is taken");
            continue;
        }
        if (self.draw(6) == 0) {
            self.close(); // before the replies have come
            continue;
        }
        if (self.draw(4) == 0) {
            self.end_output();
        }
        for (std::uint64_t each = 0; each != count; ++each) {
            const std::string head = self.receive_exactly(head_size);
            const std::string body = self.receive_exactly(head.size() == head_size ? number_at(head, 8) : 0);
            if (head.size() != head_size || body.size() != number_at(head, 8)) {
                self.expect(!all_is_well, "each request is answered");
                break;
            }
            self.expect(number_at(head, 12) == opaque - static_cast<std::uint32_t>(count - 1 - each), "the own reply");
            self.expect(body == "key " + std::to_string(own), "what was asked for");
        }
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
    for (int each = 0; each != clients; ++each) {
        world.add("client" + std::to_string(each), [=](flux::simulated_peer &self) { ask(self, each, is_perfect); });
    }
}
