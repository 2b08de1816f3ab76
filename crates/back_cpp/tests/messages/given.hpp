// Values of which a message is to be made, as words in a line: an integer; `x` and the bytes of a text in hexadecimal;
// of a list the number of its elements, and these; of a message what it is made of. Before what is optional stands `+`,
// or `-` where it is not there.
#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <deque>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace harness {

inline int nibble(char digit)
{
    return digit <= '9' ? digit - '0' : digit - 'a' + 10;
}

inline std::string of_hexadecimal(std::string_view hex)
{
    std::string bytes;
    for (std::size_t at = 0; at + 1 < hex.size(); at += 2) {
        bytes += static_cast<char>(nibble(hex[at]) << 4 | nibble(hex[at + 1]));
    }
    return bytes;
}

class given_values
{
  public:
    explicit given_values(const std::string &line) : words_(line) {}

    std::string next()
    {
        std::string word;
        words_ >> word;
        return word;
    }

    /// Whether one that is optional is there.
    bool has_next() { return next() == "+"; }

    /// A text, which stays as long as these values.
    std::string_view text() { return kept_.emplace_back(of_hexadecimal(std::string_view(next()).substr(1))); }

  private:
    std::istringstream words_;
    std::deque<std::string> kept_;
};

inline bool take_given(given_values &in, bool &out)
{
    out = in.next() == "1";
    return true;
}

inline bool take_given(given_values &in, std::integral auto &out)
{
    const std::string word = in.next();
    return std::from_chars(word.data(), word.data() + word.size(), out).ec == std::errc();
}

inline bool take_given(given_values &in, std::string_view &out)
{
    out = in.text();
    return true;
}

template <class Value>
bool take_given(given_values &in, std::vector<Value> &out);

template <class Value>
bool take_given(given_values &in, std::optional<Value> &out)
{
    return !in.has_next() || take_given(in, out.emplace());
}

template <class Value>
bool take_given(given_values &in, std::vector<Value> &out)
{
    std::size_t count = 0;
    take_given(in, count);
    out.resize(count);
    for (Value &one : out) {
        if (!take_given(in, one)) {
            return false;
        }
    }
    return true;
}

} // namespace harness
