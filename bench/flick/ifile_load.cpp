/// \file
/// Loads an aggregator of word counts: mappers that all send the same sorted words as IFiles, and the reducer that gets
/// their sums. Checks what the reducer gets, to the last byte, and prints what it took as JSON.
///
///     ifile_load PORT[,PORT…] REDUCER_PORT MAPPERS MEGABYTES LETTERS [PID…]
///     ifile_load text MEGABYTES MAPPERS LETTERS
///
/// There is a run for each PORT, all at the same time: of one aggregator, or of one each. MEGABYTES are those of all
/// mappers of a run together, LETTERS the length of the words; PIDs are the aggregators' processes, whose processor
/// time is told. The second prints what one mapper sends, as lines of text.
#include "../floor/checked.hpp"
#include "ifile.hpp"

#include <arpa/inet.h>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <netinet/in.h>
#include <sstream>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

/// What `put` makes of the words `aaa…`, `aab…` and so on, to so many bytes.
template <class Put>
std::string of_words(std::size_t size, std::size_t letters, Put put)
{
    std::string out;
    std::string word(letters, 'a');
    out.reserve(size + 64);
    while (out.size() < size) {
        put(out, word);
        for (std::size_t at = letters; at-- != 0;) {
            if (word[at] != 'z') {
                ++word[at];
                break;
            }
            word[at] = 'a';
        }
    }
    return out;
}

std::string records(std::size_t size, std::size_t letters, std::uint32_t times)
{
    return of_words(size, letters,
                    [&](std::string &out, const std::string &word) { ifile::put_record(out, word, times); });
}

sockaddr_in loopback(int port)
{
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    at.sin_port = htons(static_cast<std::uint16_t>(port));
    return at;
}

void send_all(int socket, std::string_view bytes)
{
    while (!bytes.empty()) {
        const ssize_t sent = send(socket, bytes.data(), std::min(bytes.size(), std::size_t{1} << 18), MSG_NOSIGNAL);
        if (sent < 0) {
            std::perror("ifile_load: send");
            std::exit(EXIT_FAILURE);
        }
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
}

void map(int port, std::string_view records, std::string_view end)
{
    const int socket = checked(::socket(AF_INET, SOCK_STREAM, 0), "socket");
    const sockaddr_in at = loopback(port);
    checked(connect(socket, reinterpret_cast<const sockaddr *>(&at), sizeof at), "connect");
    send_all(socket, records);
    send_all(socket, end);
    shutdown(socket, SHUT_WR);
    char rest = 0;
    static_cast<void>(recv(socket, &rest, 1, 0));
    close(socket);
}

/// Nanoseconds of all threads of these processes.
double processor_time(const std::vector<std::string> &pids)
{
    double all = 0;
    for (const std::string &pid : pids) {
        for (const auto &thread : std::filesystem::directory_iterator("/proc/" + pid + "/task")) {
            double own = 0;
            std::ifstream(thread.path() / "schedstat") >> own;
            all += own;
        }
    }
    return all;
}

/// Whether the reducer gets just this.
bool reduce(int listener, std::string_view wanted)
{
    const int socket = checked(accept(listener, nullptr, nullptr), "accept");
    std::vector<char> window(std::size_t{1} << 18);
    while (true) {
        const int count = checked(static_cast<int>(recv(socket, window.data(), window.size(), 0)), "recv");
        const std::string_view come(window.data(), static_cast<std::size_t>(count));
        if (come.empty() || wanted.substr(0, come.size()) != come) {
            close(socket);
            return come.empty() && wanted.empty();
        }
        wanted.remove_prefix(come.size());
    }
}

/// The same of each of so many runs.
bool reduce_all(int listener, std::size_t runs, std::string_view wanted)
{
    std::atomic<bool> are_right{true};
    std::vector<std::thread> all;
    for (std::size_t each = 0; each != runs; ++each) {
        all.emplace_back([&] {
            if (!reduce(listener, wanted)) {
                are_right = false;
            }
        });
    }
    for (std::thread &each : all) {
        each.join();
    }
    return are_right;
}

/// `7000,7001`
std::vector<int> ports_of(const std::string &text)
{
    std::vector<int> all;
    std::istringstream parts(text);
    for (std::string port; std::getline(parts, port, ',');) {
        all.push_back(std::atoi(port.c_str()));
    }
    return all;
}

} // namespace

int main(int count, char **arguments)
{
    if (count == 5 && std::string_view(arguments[1]) == "text") {
        const auto number = [&](int at) { return std::strtoul(arguments[at], nullptr, 10); };
        const std::string lines = of_words((number(2) << 20) / number(3), number(4),
                                           [](std::string &out, const std::string &word) { (out += word) += " 1\n"; });
        return std::fwrite(lines.data(), 1, lines.size(), stdout) == lines.size() ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    if (count < 6) {
        std::fputs("usage: ifile_load PORT[,PORT...] REDUCER_PORT MAPPERS MEGABYTES LETTERS [PID...]\n"
                   "       ifile_load text MEGABYTES MAPPERS LETTERS\n",
                   stderr);
        return EXIT_FAILURE;
    }
    const auto number = [&](int at) { return std::atoi(arguments[at]); };
    const std::vector<int> ports = ports_of(arguments[1]);
    const auto mappers = static_cast<std::size_t>(number(3));
    const std::size_t size = (static_cast<std::size_t>(number(4)) << 20) / mappers;
    const auto letters = static_cast<std::size_t>(number(5));
    const std::string sent = records(size, letters, 1);
    std::string wanted = records(size, letters, static_cast<std::uint32_t>(mappers));
    const auto end_of = [](std::string_view records) {
        ifile::checksum sum;
        sum.add(records);
        std::string end;
        ifile::put_end(end, sum);
        return end;
    };
    const std::string end = end_of(sent);
    wanted += end_of(wanted);

    const int listener = checked(socket(AF_INET, SOCK_STREAM, 0), "socket");
    const int yes = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    const sockaddr_in at = loopback(number(2));
    checked(bind(listener, reinterpret_cast<const sockaddr *>(&at), sizeof at), "bind");
    checked(listen(listener, static_cast<int>(ports.size())), "listen");

    const std::vector<std::string> pids(arguments + 6, arguments + count);
    const double before = processor_time(pids);
    const auto begun = std::chrono::steady_clock::now();
    std::vector<std::thread> all;
    for (const int port : ports) {
        for (std::size_t each = 0; each != mappers; ++each) {
            all.emplace_back([&, port] { map(port, sent, end); });
        }
    }
    const bool is_right = reduce_all(listener, ports.size(), wanted);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
    const double used = processor_time(pids) - before;
    for (std::thread &each : all) {
        each.join();
    }
    if (!is_right) {
        std::fputs("ifile_load: the reducer gets something else\n", stderr);
        return EXIT_FAILURE;
    }
    std::printf("{\"bytes\": %zu, \"records\": %zu, \"seconds\": %.6f, \"processor_ns\": %.0f}\n",
                (sent.size() + end.size()) * mappers * ports.size(),
                sent.size() / records(1, letters, 1).size() * mappers * ports.size(), took.count(), used);
}
