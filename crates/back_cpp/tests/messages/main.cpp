// Says what the generated reader reads: each line of the file is a message's name and its bytes in hexadecimal. The
// bytes are read at once, one by one, and in two pieces, and the same must come of it. Printed is what came of the
// bytes, first with the peer still there and then with its input at its end. Its header is given to the compiler: the
// functions `show`, and the names of the messages.

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace {

int nibble(char digit)
{
    return digit <= '9' ? digit - '0' : digit - 'a' + 10;
}

template <class Message>
std::string read_in(const std::string &all, const std::vector<std::size_t> &arrivals, bool is_end)
{
    flux::unfinished_message unfinished;
    typename Message::places at;
    for (const std::size_t size : arrivals) {
        // Of its own size, so that a sanitizer finds each byte that is looked at too early.
        const std::vector<char> bytes(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(size));
        const bool ends = is_end && size == all.size();
        flux::message_reader in(std::string_view(bytes.data(), bytes.size()), ends, unfinished);
        switch (Message::read(in, at)) {
        case flux::reading::whole: {
            const auto kept = flux::message_bytes::copy_of(std::as_bytes(std::span(all.data(), in.size())));
            std::string shown;
            show(Message(kept, at), shown);
            return "whole " + std::to_string(in.size()) + " " + shown;
        }
        case flux::reading::wrong:
            if (in.fault().text == std::string_view("the data ends too early")) {
                return "early end";
            }
            return "wrong " + std::to_string(in.fault().offset) + " " + in.fault().field();
        case flux::reading::unfinished:
            if (in.wanted() == 0 || ends) {
                return "nothing is wanted";
            }
            break;
        }
    }
    return "unfinished";
}

template <class Message>
void read_all(const std::string &bytes)
{
    for (const bool is_end : {false, true}) {
        const std::string whole = read_in<Message>(bytes, {bytes.size()}, is_end);
        std::vector<std::size_t> one_by_one;
        for (std::size_t size = 0; size <= bytes.size(); ++size) {
            one_by_one.push_back(size);
            if (bytes.size() < 60 || size % 11 == bytes.size() % 11) {
                const std::string split = read_in<Message>(bytes, {size, bytes.size()}, is_end);
                if (split != whole) {
                    std::printf("split at %zu: %s instead of %s\n", size, split.c_str(), whole.c_str());
                    std::exit(0);
                }
            }
        }
        const std::string pieces = read_in<Message>(bytes, one_by_one, is_end);
        if (pieces != whole) {
            std::printf("one by one: %s instead of %s\n", pieces.c_str(), whole.c_str());
            std::exit(0);
        }
        std::puts(whole.c_str());
    }
}

} // namespace

int main(int, char **argv)
{
    std::ifstream file(argv[1]);
    std::string message;
    std::string hex;
    for (std::string line; std::getline(file, line);) {
        const std::size_t space = line.find(' ');
        message = line.substr(0, space);
        hex = line.substr(space + 1);
        std::string bytes;
        for (std::size_t at = 0; at + 1 < hex.size(); at += 2) {
            bytes += static_cast<char>(nibble(hex[at]) << 4 | nibble(hex[at + 1]));
        }
#define MESSAGE(name)                                                                                                  \
    if (message == #name) {                                                                                            \
        read_all<::name>(bytes);                                                                                       \
    }
        ALL_MESSAGES
    }
}
