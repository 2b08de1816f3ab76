// The world in which the proxy for memcached's text is tested before servers that fail in each way: they end
// connections in good order or at once, send no more but still read, say what nobody has asked, and are away for a
// while. Its clients ask for keys of all servers, as one or one by one, for what may be asked again and what may not,
// and for what has no reply or may have none; some send no more while replies are to come. Each key has a number of its
// own, and its reply names it.
//
// However the proxy is bound: replies come in the order of the requests, nobody gets another's, and each client comes
// to the end of its connection, or has its reply, long before a limit of time could help. See docs/simulation.md.
#include <flux/simulated_peers.hpp>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

constexpr std::uint16_t first_server = 7001;
constexpr int servers = 3;
constexpr int clients = 8;
// So many connections a server has at once, at most.
constexpr int at_once = 16;
constexpr std::uint16_t proxy = 7000;
constexpr std::uint16_t away = 7100;
// Who waits longer was forgotten: no limit of the proxy is as short.
constexpr std::chrono::minutes longest{10};
// What a rule of the program says.
const std::string told = "SERVER_ERROR";
// What a server says in place of a reply.
const std::string wrong = "OK";

using std::chrono::milliseconds;

bool is(const std::string &line, const char *verb)
{
    return line.compare(0, std::string(verb).size() + 1, std::string(verb) + " ") == 0;
}

std::string key_of(const std::string &line)
{
    const std::size_t begin = line.find(' ') + 1;
    return line.substr(begin, line.find(' ', begin) - begin);
}

// What a server answers to a line. Of a meta command that may have no reply every other key has one.
std::string answer_to(const std::string &line)
{
    if (is(line, "get")) {
        return "VALUE " + key_of(line) + " 0 1\r\nx\r\nEND\r\n";
    }
    if (is(line, "incr")) {
        return line.ends_with(" noreply") ? "" : key_of(line).substr(1) + "\r\n";
    }
    if (is(line, "mg")) {
        return key_of(line).back() % 2 == 0 ? "HD k" + key_of(line) + "\r\n" : "";
    }
    return line == "mn" ? "MN\r\n" : "ERROR\r\n";
}

// The next line, without its end, which may be one byte; empty at the end.
std::string next_line(flux::simulated_peer &self, std::string &unread)
{
    while (unread.find('\n') == std::string::npos) {
        const std::string more = self.receive();
        if (more.empty()) {
            return "";
        }
        unread += more;
    }
    const std::size_t end = unread.find('\n');
    const std::string line = unread.substr(0, end);
    unread.erase(0, end + 1);
    return line.ends_with('\r') ? line.substr(0, end - 1) : line;
}

// On one connection, until it has ended; a mean one fails at times.
void answer_all(flux::simulated_peer &self, bool is_mean)
{
    std::string unread;
    bool sends = true;
    for (std::string line = next_line(self, unread); !line.empty(); line = next_line(self, unread)) {
        switch (is_mean ? self.draw(40) : 39) {
        case 0:
            return self.reset();
        case 1:
            return self.close();
        case 2:
            self.end_output();
            sends = false;
            break;
        case 3:
            answer_to(line).empty() ? 0 : self.send(wrong + "\r\n");
            return self.close();
        case 4:
            self.wait(milliseconds(self.draw(50)));
            break;
        default:
            break;
        }
        if (sends && self.send(answer_to(line)) != 0) {
            return;
        }
    }
    // Some stay connected, though nothing more is asked; unless others wait for the place of the connection.
    static const bool may_stay = std::getenv("FLICK_STAYS") != nullptr;
    const bool stays = is_mean && sends && may_stay && self.draw(20) == 0;
    self.wait(stays ? longest * 2 : milliseconds(self.draw(10)));
    self.close();
}

// Those who connect where that one listens.
void answer_for_ever(flux::simulated_peer &self, flux::simulated_peer &listener, bool is_mean)
{
    while (true) {
        self.accept(listener);
        answer_all(self, is_mean);
    }
}

// A server, which a mean one is not at times.
void listen(flux::simulated_peer &self, int number, bool is_mean)
{
    const auto listen_at = [&](int port) {
        const flux::address at = flux::loopback_address(static_cast<std::uint16_t>(port));
        self.expect(self.listen(at) == 0, "an address");
    };
    listen_at(first_server + number);
    for (int each = 0; is_mean && each != 3; ++each) {
        self.wait(milliseconds(1 + self.draw(200)));
        listen_at(away + number);
        self.wait(milliseconds(1 + self.draw(100)));
        listen_at(first_server + number);
    }
    answer_for_ever(self, self, is_mean);
}

struct circumstances {
    // No server fails, and the network does not.
    bool all_is_well;
    // Connections have room for more than a few bytes.
    bool has_room;
    // A rule of the program says something where replies are lost.
    bool rule_tells;
};

struct asked {
    std::string sent;
    // What comes for it, line by line.
    std::vector<std::string> wanted;
    bool may_have_none = false;
    // How many requests it is to servers.
    std::uint64_t parts = 1;
};

asked draw_request(flux::simulated_peer &self, int own, int &last)
{
    const auto next = [&] { return "k" + std::to_string(own * 10'000 + ++last); };
    switch (self.draw(8)) {
    case 0: {
        const std::string one = next(), two = next(), three = next();
        return {"get " + one + " " + two + " " + three + "\r\n",
                {"VALUE " + one + " 0 1", "x", "VALUE " + two + " 0 1", "x", "VALUE " + three + " 0 1", "x", "END"},
                false,
                3};
    }
    case 1: {
        const std::string key = next();
        return {"incr " + key + " 1\r\n", {key.substr(1)}};
    }
    case 2:
        return {"incr " + next() + " 1 noreply\r\n", {}, true};
    case 3: {
        const std::string key = next();
        const bool is_there = key.back() % 2 == 0;
        return {"mg " + key + " q\r\n",
                is_there ? std::vector<std::string>{"HD k" + key} : std::vector<std::string>{}, true};
    }
    default: {
        const std::string key = next();
        return {"get " + key + "\r\n", {"VALUE " + key + " 0 1", "x", "END"}};
    }
    }
}

// Some at once, and no more than that: then all comes, and the end. Where there is room for a few bytes only, who sends
// more than he reads waits for himself.
void ask_and_end(flux::simulated_peer &self, int own, int &last, const circumstances &are)
{
    std::vector<std::string> wanted;
    std::uint64_t may_be_lost = 0;
    const std::uint64_t count = are.has_room ? 1 + self.draw(6) : 1;
    for (std::uint64_t each = 0; each != count; ++each) {
        const asked one = draw_request(self, own, last);
        wanted.insert(wanted.end(), one.wanted.begin(), one.wanted.end());
        may_be_lost += one.parts;
        if (self.send(one.sent) != 0) {
            self.expect(!are.all_is_well, "what is sent is taken");
            return;
        }
        self.draw(4) == 0 ? self.wait(milliseconds(self.draw(30))) : void();
    }
    self.end_output();
    std::string unread;
    std::size_t at = 0;
    bool was_told = false;
    for (std::string line = next_line(self, unread); !line.empty(); line = next_line(self, unread)) {
        if (line == told || line == wrong) {
            self.expect(!are.all_is_well, "no server fails");
            self.expect(line != told || may_be_lost-- != 0, "what is lost is told once");
            was_told = true;
            continue;
        }
        std::size_t found = at;
        while (found != wanted.size() && wanted[found] != line) {
            ++found;
        }
        const bool is_next = found != wanted.size() && (!are.all_is_well || found == at);
        if (!self.expect(is_next, "the next reply, and not " + line)) {
            return;
        }
        self.expect(line != "END" || found != at || !was_told, "a rule says nothing within a reply");
        was_told = false;
        at = found + 1;
    }
    self.expect(!are.all_is_well || at == wanted.size(), "all is answered");
}

// One after the other: each has its reply, or the rule says something in its place, or the connection ends.
void ask_one_by_one(flux::simulated_peer &self, int own, int &last, const circumstances &are)
{
    std::string unread;
    for (std::uint64_t count = are.has_room ? 1 + self.draw(6) : 1; count != 0; --count) {
        asked one = draw_request(self, own, last);
        while (one.may_have_none) {
            one = draw_request(self, own, last);
        }
        if (self.send(one.sent) != 0) {
            self.expect(!are.all_is_well, "what is sent is taken");
            return;
        }
        if (!are.rule_tells) {
            self.end_output();
        }
        // Where a part is lost the others may come.
        std::string line;
        do {
            line = next_line(self, unread);
            if (line.empty()) {
                self.expect(!are.all_is_well, "what is asked is answered");
                return;
            }
        } while (line != one.wanted.back() && line != told && line != wrong);
        self.draw(4) == 0 ? self.wait(milliseconds(self.draw(30))) : void();
    }
}

void ask(flux::simulated_peer &self, int own, const circumstances &are)
{
    self.wait(milliseconds(20)); // all listen by then
    int last = 0;
    for (int round = 0; round != 4; ++round) {
        const flux::moment began = self.now();
        if (self.connect(flux::loopback_address(proxy)) != 0) {
            self.expect(!are.all_is_well, "who connects is served");
            continue;
        }
        if (are.rule_tells && self.draw(3) == 0) {
            ask_one_by_one(self, own, last, are);
        } else {
            ask_and_end(self, own, last, are);
        }
        self.expect(self.now() - began < longest, "nobody is forgotten");
        self.draw(8) == 0 ? self.reset() : self.close();
    }
}

} // namespace

void simulated_peers(flux::simulation &world)
{
    const bool is_perfect = world.faults() == flux::simulated_faults();
    const bool may_refuse = std::getenv("FLICK_REFUSES") != nullptr;
    const circumstances are{.all_is_well = is_perfect && !may_refuse,
                            .has_room = world.faults().small_windows == 0,
                            .rule_tells = std::getenv("FLICK_TELLS") != nullptr};
    for (int each = 0; each != servers; ++each) {
        const bool is_mean = !is_perfect && each != 0;
        const std::string name = "server" + std::to_string(each);
        const auto listens = [=](flux::simulated_peer &self) { listen(self, each, is_mean); };
        flux::simulated_peer &listener = world.add(name, listens);
        for (int other = 0; other != at_once; ++other) {
            world.add(name + "." + std::to_string(other), [=, &listener](flux::simulated_peer &self) {
                answer_for_ever(self, listener, is_mean);
            });
        }
    }
    for (int each = 0; each != clients; ++each) {
        world.add("client" + std::to_string(each),
                  [=](flux::simulated_peer &self) { ask(self, each, are); });
    }
}
