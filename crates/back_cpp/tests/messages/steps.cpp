// Counts the steps that reading takes: the basic blocks that run, as the compiler has been told to count. Each line of
// the file is a message's name and bytes in hexadecimal, which come one by one. Printed is how many steps they took.

#include <cstdio>
#include <fstream>
#include <new>
#include <sstream>
#include <string>

namespace {

unsigned long steps;

int nibble(char digit)
{
    return digit <= '9' ? digit - '0' : digit - 'a' + 10;
}

template <class Message>
unsigned long count(const std::string &bytes)
{
    flux::unfinished_message unfinished;
    typename Message::places at;
    const unsigned long before = steps;
    for (std::size_t size = 1; size <= bytes.size(); ++size) {
        flux::message_reader in(std::string_view(bytes).substr(0, size), false, unfinished);
        if (Message::read(in, at) != flux::reading::unfinished) {
            break;
        }
    }
    return steps - before;
}

} // namespace

extern "C" __attribute__((no_sanitize_coverage)) void __sanitizer_cov_trace_pc()
{
    ++steps;
}

int main(int, char **argv)
{
    std::ifstream file(argv[1]);
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::string message;
        std::string hex;
        words >> message >> hex;
        std::string bytes;
        for (std::size_t at = 0; at + 1 < hex.size(); at += 2) {
            bytes += static_cast<char>(nibble(hex[at]) << 4 | nibble(hex[at + 1]));
        }
#define MESSAGE(name)                                                                                                  \
    if (message == #name) {                                                                                            \
        std::printf("%lu\n", count<::name>(bytes));                                                                    \
    }
        ALL_MESSAGES
#undef MESSAGE
    }
}
