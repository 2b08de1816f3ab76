/// \file
/// The options of the program: each is a flag of the server, `--port 80` or `--port=80`, and a variable of the
/// environment, `ECHO_PORT` where the program is called `echo`. Generated code has the values in variables of its own,
/// which are written before the first source starts and never after.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <type_traits>

namespace flux {

/// What values an option has.
enum class option_kind : unsigned char { integer, text, path, truth, duration, size };

/// The value of an option that is a number: a duration in milliseconds, a size in bytes.
using option_number = std::int64_t;

/// An option of the program. Made by `make_option`.
struct option_info {
    /// The flag, without the dashes before it.
    const char *flag;
    option_kind kind;
    /// The value where none is given, as the author writes it; null where one must be given.
    const char *fallback;
    /// What `--help` says of it; empty where there is nothing to say.
    const char *about;
    /// Where the value goes, by its kind; the others are null.
    option_number *number;
    const char **text;
    bool *truth;
    /// What a number must lie between to be of all types that the program makes of it.
    option_number least;
    option_number most;
};

/// An option that is a number, and becomes values of the types `Taken`. A class may say in `least` and `most` which
/// numbers it takes. The value stands in `value` already where there is a default.
template <class... Taken>
constexpr option_info make_option(const char *flag, option_kind kind, const char *fallback, const char *about,
                                  option_number &value)
{
    using all = std::numeric_limits<option_number>;
    option_number least = kind == option_kind::integer ? all::min() : 0;
    option_number most = all::max();
    [[maybe_unused]] const auto narrow = [&]<class T>(std::type_identity<T>) {
        if constexpr (requires { T::least; T::most; }) {
            least = std::max(least, T::least);
            most = std::min(most, T::most);
        } else if constexpr (std::is_integral_v<T>) {
            using these = std::numeric_limits<T>;
            if constexpr (std::is_unsigned_v<T>) {
                least = std::max<option_number>(least, 0);
            } else {
                least = std::max(least, static_cast<option_number>(these::min()));
            }
            if constexpr (sizeof(T) < sizeof(option_number) || std::is_signed_v<T>) {
                most = std::min(most, static_cast<option_number>(these::max()));
            }
        }
    };
    (narrow(std::type_identity<Taken>()), ...);
    return {flag, kind, fallback, about, &value, nullptr, nullptr, least, most};
}

/// An option that is a string or a path.
constexpr option_info make_option(const char *flag, option_kind kind, const char *fallback, const char *about,
                                  const char *&value)
{
    return {flag, kind, fallback, about, nullptr, &value, nullptr, 0, 0};
}

/// An option that is true or false.
constexpr option_info make_option(const char *flag, option_kind kind, const char *fallback, const char *about,
                                  bool &value)
{
    return {flag, kind, fallback, about, nullptr, nullptr, &value, 0, 0};
}

/// Reads the options of the program called `name` from the environment and then from the arguments, and takes them out
/// of the latter (up to a `--`); `argv[argc]` stays null. Where the program has options, a flag that is none of them is
/// wrong, and so is any other argument unless `takes_arguments` says so. Gives a message where something is wrong, and
/// nothing where all is well. The texts live as long as the arguments and the environment.
std::string read_program_options(std::span<const option_info> options, const char *name, int &argc, char **argv,
                                 char *(*variables)(const char *name), bool takes_arguments);

/// The part of `--help` on the options of the program called `name`; empty where it has none.
std::string program_help(std::span<const option_info> options, const char *name);

} // namespace flux
