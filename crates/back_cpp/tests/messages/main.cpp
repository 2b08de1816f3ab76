// Says what the generated classes read and make, a line of the file each. `read`, a message's name, in how many places
// its bytes are split, and these in hexadecimal: printed is what came of the bytes, first with the peer still there and
// then with its input at its end. `make`, a message's name and values: printed is what is made of them, which is read
// in the same way. The compiler is given a header with the functions `show`, `check` and `take_given`, and the names of
// the messages.

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

namespace {

/// What is made of values; where it can be read by itself it is, in pieces too.
template <class Message, bool is_by_itself>
std::string made_of(harness::given_values &in)
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

} // namespace

int main(int, char **argv)
{
    std::ifstream file(argv[1]);
    for (std::string line; std::getline(file, line);) {
        harness::given_values words(line);
        const std::string what = words.next();
        const std::string message = words.next();
        if (what == "make") {
#define MESSAGE(name)                                                                                                  \
    if (message == #name) {                                                                                            \
        std::puts(made_of<::name, true>(words).c_str());                                                               \
    }
            ALL_MESSAGES
#undef MESSAGE
#define MESSAGE(name)                                                                                                  \
    if (message == #name) {                                                                                            \
        std::puts(made_of<::name, false>(words).c_str());                                                              \
    }
            ALL_WITH_PARAMETERS
#undef MESSAGE
            continue;
        }
        const std::size_t splits = std::stoul(words.next());
        const std::string bytes = harness::of_hexadecimal(words.next());
        for (const bool is_end : {false, true}) {
#define MESSAGE(name)                                                                                                  \
    if (message == #name) {                                                                                            \
        std::puts(harness::hold<::name>(bytes, is_end, splits).c_str());                                               \
    }
            ALL_MESSAGES
#undef MESSAGE
        }
    }
}
