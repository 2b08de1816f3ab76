/// \file
/// The aggregator of examples/hadoop, written by hand: so many mappers connect and send IFiles of words and counts, and
/// one goes to the reducer. One thread, blocking reads, a tree of losers, nothing copied but what is sent; checksums
/// are checked and made. Sizes are those up to 127 alone, and mistakes end the program.
///
///     merge REDUCER_PORT MAPPERS
#include "../floor/checked.hpp"
#include "ifile.hpp"

#include <arpa/inet.h>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <netinet/in.h>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace {

constexpr std::size_t window_size = std::size_t{64} << 10;

[[noreturn]] void give_up(const char *why)
{
    std::fprintf(stderr, "merge: %s\n", why);
    std::exit(EXIT_FAILURE);
}

/// What comes of one mapper.
class input
{
  public:
    explicit input(int socket) : socket_(socket), window_(window_size) {}

    bool is_over() const { return is_over_; }
    std::uint64_t prefix() const { return prefix_; }
    std::string_view key() const { return {window_.data() + at_ + 3, size_ - 7}; }
    std::string_view record() const { return {window_.data() + at_, size_}; }
    std::uint32_t value() const { return ifile::number_at(window_.data() + at_ + size_ - 4); }

    void next()
    {
        const std::uint64_t last = prefix_;
        at_ += size_;
        need(3);
        if (window_[at_] == -1) {
            need(6);
            sum_.add({window_.data() + summed_, at_ + 2 - summed_});
            is_over_ = true;
            if (ifile::number_at(window_.data() + at_ + 2) != sum_.value()) {
                give_up("a wrong checksum");
            }
            return;
        }
        size_ = static_cast<std::size_t>(window_[at_ + 2]) + 7;
        need(size_);
        std::uint64_t prefix = 0;
        std::memcpy(&prefix, window_.data() + at_ + 3, std::min<std::size_t>(8, size_ - 7));
        prefix_ = __builtin_bswap64(prefix);
        if (prefix_ < last) {
            give_up("a mapper that is not sorted");
        }
    }

  private:
    void need(std::size_t count)
    {
        while (filled_ - at_ < count) {
            sum_.add({window_.data() + summed_, at_ - summed_});
            std::memmove(window_.data(), window_.data() + at_, filled_ - at_);
            filled_ -= at_;
            at_ = summed_ = 0;
            const ssize_t come = recv(socket_, window_.data() + filled_, window_.size() - filled_, 0);
            if (come <= 0) {
                give_up("a mapper that ends too early");
            }
            filled_ += static_cast<std::size_t>(come);
        }
    }

    int socket_;
    std::vector<char> window_;
    std::size_t at_ = 0;
    std::size_t size_ = 0;
    std::size_t filled_ = 0;
    std::size_t summed_ = 0;
    std::uint64_t prefix_ = 0;
    bool is_over_ = false;
    ifile::checksum sum_;
};

bool is_before(const input &one, const input &other)
{
    if (one.is_over() || other.is_over()) {
        return !one.is_over();
    }
    return one.prefix() != other.prefix() ? one.prefix() < other.prefix() : one.key() < other.key();
}

/// Which input is first.
class tournament
{
  public:
    explicit tournament(const std::vector<input> &inputs) : inputs_(inputs), losers_(inputs.size())
    {
        std::vector<std::size_t> winners(2 * inputs.size());
        for (std::size_t node = winners.size() - 1; node != 0; --node) {
            if (node >= inputs.size()) {
                winners[node] = node - inputs.size();
                continue;
            }
            const bool wins = is_before(inputs[winners[2 * node]], inputs[winners[2 * node + 1]]);
            winners[node] = winners[2 * node + (wins ? 0 : 1)];
            losers_[node] = winners[2 * node + (wins ? 1 : 0)];
        }
        first_ = winners[1];
    }

    std::size_t first() const { return first_; }

    void replay()
    {
        for (std::size_t node = (losers_.size() + first_) / 2; node != 0; node /= 2) {
            if (is_before(inputs_[losers_[node]], inputs_[first_])) {
                std::swap(losers_[node], first_);
            }
        }
    }

  private:
    const std::vector<input> &inputs_;
    std::vector<std::size_t> losers_;
    std::size_t first_ = 0;
};

/// What goes to the reducer.
class output
{
  public:
    explicit output(int socket) : socket_(socket) {}

    void add(std::string_view key, std::uint32_t value)
    {
        ifile::put_record(bytes_, key, value);
        if (bytes_.size() >= window_size) {
            sum_.add(bytes_);
            flush();
        }
    }

    void end()
    {
        sum_.add(bytes_);
        ifile::put_end(bytes_, sum_);
        flush();
    }

  private:
    void flush()
    {
        std::string_view left = bytes_;
        while (!left.empty()) {
            const ssize_t sent = send(socket_, left.data(), left.size(), MSG_NOSIGNAL);
            if (sent < 0) {
                give_up("a reducer that is gone");
            }
            left.remove_prefix(static_cast<std::size_t>(sent));
        }
        bytes_.clear();
    }

    int socket_;
    std::string bytes_;
    ifile::checksum sum_;
};

void merge(std::vector<input> &inputs, output out)
{
    for (input &each : inputs) {
        each.next();
    }
    tournament order(inputs);
    std::string key;
    while (!inputs[order.first()].is_over()) {
        input *first = &inputs[order.first()];
        key = first->key();
        std::uint32_t sum = 0;
        do {
            sum += first->value();
            first->next();
            order.replay();
            first = &inputs[order.first()];
        } while (!first->is_over() && first->key() == key);
        out.add(key, sum);
    }
    out.end();
}

} // namespace

int main(int count, char **arguments)
{
    if (count != 3) {
        std::fputs("usage: merge REDUCER_PORT MAPPERS\n", stderr);
        return EXIT_FAILURE;
    }
    const int listener = checked(socket(AF_INET, SOCK_STREAM, 0), "socket");
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    checked(bind(listener, reinterpret_cast<const sockaddr *>(&at), sizeof at), "bind");
    checked(listen(listener, 64), "listen");
    socklen_t size = sizeof at;
    checked(getsockname(listener, reinterpret_cast<sockaddr *>(&at), &size), "getsockname");
    std::fprintf(stderr, "listening on 127.0.0.1:%d\n", ntohs(at.sin_port));
    at.sin_port = htons(static_cast<std::uint16_t>(std::atoi(arguments[1])));
    std::vector<int> mappers;
    while (true) {
        std::vector<input> inputs;
        mappers.clear();
        while (inputs.size() != static_cast<std::size_t>(std::atoi(arguments[2]))) {
            mappers.push_back(checked(accept(listener, nullptr, nullptr), "accept"));
            inputs.emplace_back(mappers.back());
        }
        const int reducer = checked(socket(AF_INET, SOCK_STREAM, 0), "socket");
        checked(connect(reducer, reinterpret_cast<const sockaddr *>(&at), sizeof at), "connect");
        merge(inputs, output(reducer));
        close(reducer);
        for (const int each : mappers) {
            close(each);
        }
    }
}
