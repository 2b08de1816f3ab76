// Says what the generated reader reads: each line of the file is a message's name, in how many places its bytes are
// split, and these in hexadecimal. Printed is what came of the bytes, first with the peer still there and then with
// its input at its end. The compiler is given a header with the functions `show` and `check`, and the names of the
// messages.

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

namespace {

int nibble(char digit)
{
    return digit <= '9' ? digit - '0' : digit - 'a' + 10;
}

} // namespace

int main(int, char **argv)
{
    std::ifstream file(argv[1]);
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::string message;
        std::size_t splits = 0;
        std::string hex;
        words >> message >> splits >> hex;
        std::string bytes;
        for (std::size_t at = 0; at + 1 < hex.size(); at += 2) {
            bytes += static_cast<char>(nibble(hex[at]) << 4 | nibble(hex[at + 1]));
        }
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
