// Says what the generated classes read and make, a line of the file each. `read`, a message's name, in how many places
// its bytes are split, and these in hexadecimal: printed is what came of the bytes, first with the peer still there and
// then with its input at its end. `make`, a message's name and values: printed is what is made of them, which is read
// in the same way. `fail_read` and `fail_make` with the same let each allocation fail in turn, and say how many there
// are. The compiler is given a header with the functions `show`, `check` and `take_given`, and the names of
// the messages.

#include "allocation.hpp"

#include <cstdio>
#include <fstream>
#include <string>

namespace {

/// What is made of values; where it can be read by itself it is, in pieces too.
template <class Message, bool is_by_itself>
std::string made_of(harness::given_values &in, const std::string &)
{
    constexpr std::size_t splits = 12;
    Message made;
    if (!take_given(in, made)) {
        return "refused";
    }
    const std::string bytes(made.wire());
    std::string shown;
    show(made, shown);
    if constexpr (is_by_itself) {
        const std::string wanted = "whole " + std::to_string(bytes.size()) + " " + shown;
        const std::string read = bytes.empty() ? wanted : harness::hold<Message>(bytes, true, splits);
        if (read != wanted) {
            harness::broken("what was made is read as another", read, wanted);
        }
    }
    std::string hex;
    show(std::string_view(bytes), hex);
    return "made x" + hex + " " + shown;
}

template <class Message>
std::string fail_making(harness::given_values &, const std::string &line)
{
    return harness::fail_making<Message>(line);
}

} // namespace

int main(int, char **argv)
{
    flux::message_bytes::let_fail(&harness::fails);
    std::ifstream file(argv[1]);
    for (std::string line; std::getline(file, line);) {
        harness::given_values words(line);
        const std::string_view what = words.next();
        const std::string_view message = words.next();
        if (what == "make" || what == "fail_make") {
#define MAKE(name, is_by_itself)                                                                                       \
    if (message == #name) {                                                                                            \
        const auto make = what == "make" ? &made_of<::name, is_by_itself> : &fail_making<::name>;                      \
        std::puts(make(words, line).c_str());                                                                          \
    }
#define MESSAGE(name) MAKE(name, true)
            ALL_MESSAGES
#undef MESSAGE
#define MESSAGE(name) MAKE(name, false)
            ALL_WITH_PARAMETERS
#undef MESSAGE
            continue;
        }
        const std::size_t splits = std::stoul(std::string(words.next()));
        const std::string bytes = harness::of_hexadecimal(words.next());
#define MESSAGE(name)                                                                                                  \
    if (message == #name) {                                                                                            \
        if (what == "fail_read") {                                                                                     \
            std::puts(harness::fail_reading<::name>(bytes).c_str());                                                   \
        } else {                                                                                                       \
            std::puts(harness::hold<::name>(bytes, false, splits).c_str());                                            \
            std::puts(harness::hold<::name>(bytes, true, splits).c_str());                                             \
        }                                                                                                              \
    }
        ALL_MESSAGES
#undef MESSAGE
    }
}
