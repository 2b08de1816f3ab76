// Values of which a message is to be made, as words in a line: an integer; `x` and the bytes of a text in hexadecimal;
// of a list the number of its elements, and these; of a message what it is made of. Before what is optional stands `+`,
// or `-` where it is not there.
#pragma once

#include <algorithm>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <deque>
#include <optional>
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
    /// Those in a line that stays.
    explicit given_values(std::string_view line) : left_(line) {}

    std::string_view next()
    {
        const std::string_view word = left_.substr(0, left_.find(' '));
        left_.remove_prefix(std::min(word.size() + 1, left_.size()));
        return word;
    }

    /// Whether one that is optional is there.
    bool has_next() { return next() == "+"; }

    /// A text, which stays as long as these values.
    std::string_view text() { return kept_.emplace_back(of_hexadecimal(next().substr(1))); }

  private:
    std::string_view left_;
    std::deque<std::string> kept_;
};

inline bool take_given(given_values &in, bool &out)
{
    out = in.next() == "1";
    return true;
}

inline bool take_given(given_values &in, std::integral auto &out)
{
    const std::string_view word = in.next();
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
