/// \file
/// Loads a memcached, or a proxy of some, by the text protocol: nine gets and a set, of values of 100 bytes. Each
/// connection sends so many requests at once, and the next when it has all their replies, which are checked to the last
/// byte. Prints what was done as JSON.
///
///     text_load PORT CONNECTIONS AT_ONCE SECONDS
#include "../floor/checked.hpp"

#include <arpa/inet.h>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <netinet/in.h>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace {

using clock = std::chrono::steady_clock;

constexpr std::size_t keys = 1000;
constexpr std::size_t sets_of = 10;

struct connection {
    int socket = -1;
    std::string wanted;
    std::string found;
    std::size_t next = 0;
};

std::string key(std::size_t number)
{
    return "key" + std::to_string(100'000 + number % keys);
}

std::string value(std::size_t number)
{
    return std::string(100, static_cast<char>('a' + number % keys % 26));
}

// The next requests of one, and what is to come of them.
void ask(connection &of, std::size_t at_once, bool sets_all)
{
    std::string requests;
    of.wanted.clear();
    of.found.clear();
    for (std::size_t each = 0; each != at_once; ++each) {
        const std::size_t number = of.next++;
        if (sets_all || number % sets_of == 0) {
            requests += "set " + key(number) + " 0 0 100\r\n" + value(number) + "\r\n";
            of.wanted += "STORED\r\n";
        } else {
            requests += "get " + key(number) + "\r\n";
            of.wanted += "VALUE " + key(number) + " 0 100\r\n" + value(number) + "\r\nEND\r\n";
        }
    }
    for (std::size_t sent = 0; sent != requests.size();) {
        const ssize_t count = send(of.socket, requests.data() + sent, requests.size() - sent, 0);
        sent += static_cast<std::size_t>(checked(static_cast<int>(count), "send"));
    }
}

// Whether all has come.
bool receive(connection &of)
{
    static char some[64 << 10];
    const ssize_t count = recv(of.socket, some, sizeof(some), 0);
    if (checked(static_cast<int>(count), "recv") == 0) {
        std::fprintf(stderr, "text_load: the connection ended\n");
        std::exit(1);
    }
    of.found.append(some, static_cast<std::size_t>(count));
    if (of.wanted.compare(0, of.found.size(), of.found) != 0) {
        std::fprintf(stderr, "text_load: wrong reply: %s\nwanted: %s\n", of.found.c_str(), of.wanted.c_str());
        std::exit(1);
    }
    return of.found.size() == of.wanted.size();
}

connection connected(int port, std::size_t first)
{
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    at.sin_port = htons(static_cast<std::uint16_t>(port));
    connection made;
    made.socket = checked(socket(AF_INET, SOCK_STREAM, 0), "socket");
    made.next = first;
    checked(connect(made.socket, reinterpret_cast<sockaddr *>(&at), sizeof(at)), "connect");
    return made;
}

} // namespace

int main(int count, char **arguments)
{
    if (count != 5) {
        std::fprintf(stderr, "text_load PORT CONNECTIONS AT_ONCE SECONDS\n");
        return 2;
    }
    const int port = std::atoi(arguments[1]);
    const auto connections = static_cast<std::size_t>(std::atoi(arguments[2]));
    const auto at_once = static_cast<std::size_t>(std::atoi(arguments[3]));
    std::vector<connection> all;
    std::vector<pollfd> polled;
    for (std::size_t each = 0; each != connections; ++each) {
        all.push_back(connected(port, each * 37));
        polled.push_back({all.back().socket, POLLIN, 0});
    }
    for (all[0].next = 0; all[0].next < keys;) {
        ask(all[0], 20, true);
        while (!receive(all[0])) {
            // The rest comes.
        }
    }
    std::size_t operations = keys;
    const clock::time_point begin = clock::now();
    const clock::time_point until = begin + std::chrono::milliseconds(std::atoi(arguments[4]) * 1000);
    for (connection &each : all) {
        ask(each, at_once, false);
    }
    while (clock::now() < until) {
        checked(poll(polled.data(), polled.size(), 1000), "poll");
        for (std::size_t each = 0; each != all.size(); ++each) {
            if (polled[each].revents != 0 && receive(all[each])) {
                operations += at_once;
                ask(all[each], at_once, false);
            }
        }
    }
    const double seconds = std::chrono::duration<double>(clock::now() - begin).count();
    std::printf("{\"operations\": %zu, \"seconds\": %.3f}\n", operations, seconds);
}
