// The world in which the proxy for memcached is tested before servers that fail: each has one connection at a time, so
// its clients wait for those of others, which are kept, and asked again where they end. Each request has a number of
// its own, and its reply names it, so nobody is given what is another's, or it in another order. One client asks for
// much and reads it late, so that everything on the way is full; the proxy holds little of it meanwhile. Where
// FLICK_CROSSWISE is set, there are clients besides that ask all servers in turn on one connection, so runs that have
// the only connection to a server want those of others; "refused" says that this may end some of them. See
// docs/simulation.md.
#include <flux/simulated_peers.hpp>

#include <malloc.h>

#include <cstdint>
#include <cstdlib>
#include <string>

namespace {

constexpr std::size_t head_size = 24;
constexpr std::uint16_t first_server = 7001;
constexpr int servers = 3;
constexpr int clients = 6;
constexpr int crosswise = 4;
constexpr std::uint16_t proxy = 7000;
// What the last client asks for, and how much more memory may be in use while it does not read that: with the trace of
// the world, which grows in large steps.
constexpr int much = 200;
constexpr std::size_t large = 20'000;
constexpr std::size_t most_held = std::size_t{2} << 20;

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

// A get, or a set of nothing, or the reply to one.
std::string message(int magic, int opcode, std::uint32_t opaque, const std::string &extras, const std::string &key,
                    const std::string &value = "")
{
    return number(static_cast<std::uint64_t>(magic), 1) + number(static_cast<std::uint64_t>(opcode), 1) +
           number(key.size(), 2) + number(extras.size(), 1) + number(0, 3) +
           number(extras.size() + key.size() + value.size(), 4) + number(opaque, 4) + number(0, 8) + extras + key +
           value;
}

// What a request for this key is answered by. The key of the last client is answered by much.
std::string reply_to(int opcode, std::uint32_t opaque, const std::string &key)
{
    const bool is_large = key.ends_with('!');
    return message(0x81, opcode, opaque, "", key, std::string(is_large ? large : 0, static_cast<char>(opaque)));
}

std::size_t memory_in_use()
{
    const auto now = mallinfo2();
    return now.uordblks + now.hblkhd;
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
            if (self.send(reply_to(head[1], number_at(head, 12), key)) != 0) {
                break;
            }
        }
        is_mean && self.draw(2) == 0 ? self.reset() : self.close();
    }
}

// The replies to these come, in order, unless the connection ends.
void expect_replies(flux::simulated_peer &self, const std::string &key, std::uint32_t first, std::uint64_t count,
                    bool all_is_well)
{
    for (std::uint32_t opaque = first; opaque != first + count; ++opaque) {
        const std::string head = self.receive_exactly(head_size);
        const std::size_t size = head.size() == head_size ? number_at(head, 8) : 0;
        const std::string body = self.receive_exactly(size);
        if (head.size() != head_size || body.size() != size) {
            self.expect(!all_is_well, "each request is answered");
            return;
        }
        self.expect(number_at(head, 12) == opaque, "the own reply");
        self.expect(head + body == reply_to(head[1], opaque, key), "what was asked for");
    }
}

// One connection after the other, with some requests at once on each.
void ask(flux::simulated_peer &self, int own, bool all_is_well)
{
    self.wait(std::chrono::milliseconds(10)); // all listen by then
    std::uint32_t opaque = static_cast<std::uint32_t>(own) << 16;
    const std::string key = "key " + std::to_string(own); // all for one server, so the replies come in order
    for (int round = 0; round != 4; ++round) {
        if (self.connect(flux::loopback_address(proxy)) != 0) {
            self.expect(!all_is_well, "who connects is served");
            continue;
        }
        const std::uint64_t count = 1 + self.draw(4);
        const std::uint32_t first = opaque + 1;
        std::string sent;
        for (std::uint64_t each = 0; each != count; ++each) {
            const bool is_set = self.draw(2) == 0;
            sent += message(0x80, is_set ? 1 : 0, ++opaque, is_set ? std::string(8, '\0') : "", key);
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
        expect_replies(self, key, first, count, all_is_well);
        self.close();
    }
}

// One after the other, of one server after the other, and rests at times while it has nothing to ask.
void ask_crosswise(flux::simulated_peer &self, int own, bool all_is_well)
{
    self.wait(std::chrono::milliseconds(10));
    std::uint32_t opaque = static_cast<std::uint32_t>(own) << 16;
    for (int round = 0; round != 2; ++round) {
        if (self.connect(flux::loopback_address(proxy)) != 0) {
            self.expect(!all_is_well, "who connects is served");
            continue;
        }
        for (int each = 0; each != 12 && !self.broken(); ++each) {
            const std::string key = "cross " + std::to_string(self.draw(30));
            if (self.send(message(0x80, 0, ++opaque, "", key)) != 0) {
                self.expect(!all_is_well, "what is sent is taken");
                break;
            }
            expect_replies(self, key, opaque, 1, all_is_well);
            if (self.draw(4) == 0) {
                self.wait(std::chrono::milliseconds(self.draw(40)));
            }
        }
        self.close();
    }
}

// All at once, and then it reads nothing for a while. Where there is room for a few bytes only, who sends more than he
// reads waits for himself: then it asks for one after the other.
void ask_for_much(flux::simulated_peer &self, bool has_room, bool all_is_well)
{
    self.wait(std::chrono::milliseconds(10));
    if (self.connect(flux::loopback_address(proxy)) != 0) {
        return;
    }
    const std::string key = "much!";
    const std::uint32_t at_once = has_room ? much : 1;
    for (std::uint32_t first = 1; first <= much && !self.broken(); first += at_once) {
        const std::size_t before = memory_in_use();
        std::string sent;
        for (std::uint32_t each = first; each != first + at_once; ++each) {
            sent += message(0x80, 0, each, "", key);
        }
        if (self.send(sent) != 0) {
            self.expect(!all_is_well, "what is sent is taken");
            return;
        }
        self.wait(std::chrono::milliseconds(has_room ? 500 : 1));
        self.expect(!has_room || memory_in_use() < before + most_held, "little is held for who does not read");
        expect_replies(self, key, first, at_once, all_is_well);
    }
}

} // namespace

void simulated_peers(flux::simulation &world)
{
    const bool is_perfect = world.faults() == flux::simulated_faults();
    const char *const asked_crosswise = std::getenv("FLICK_CROSSWISE");
    const bool all_is_well = is_perfect && (asked_crosswise == nullptr || std::string(asked_crosswise) != "refused");
    for (int each = 0; each != servers; ++each) {
        const bool is_mean = !is_perfect && each != 0;
        world.add("server" + std::to_string(each), [=](flux::simulated_peer &self) { serve(self, each, is_mean); });
    }
    for (int each = 0; each != clients; ++each) {
        world.add("client" + std::to_string(each), [=](flux::simulated_peer &self) { ask(self, each, all_is_well); });
    }
    for (int each = 0; asked_crosswise != nullptr && each != crosswise; ++each) {
        const int number = clients + each;
        world.add("crosswise" + std::to_string(each),
                  [=](flux::simulated_peer &self) { ask_crosswise(self, number, all_is_well); });
    }
    const bool has_room = world.faults().small_windows == 0;
    world.add("greedy", [=](flux::simulated_peer &self) { ask_for_much(self, has_room, all_is_well); });
}
