#include "flux/flow/program_option.hpp"

#include "flux/process/edit_distance.hpp"
#include "flux/process/quantity.hpp"

#include <cctype>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

namespace flux {
namespace {

std::optional<option_number> read_integer(std::string_view value)
{
    option_number number = 0;
    const auto [end, error] = std::from_chars(value.begin(), value.end(), number);
    return error == std::errc() && end == value.end() ? std::optional(number) : std::nullopt;
}

std::optional<option_number> read_number(std::string_view value, option_kind kind)
{
    switch (kind) {
    case option_kind::duration:
        return read_duration(value);
    case option_kind::size:
        return read_size(value);
    default:
        return read_integer(value);
    }
}

// What a right value looks like.
std::string wanted(const option_info &option)
{
    const auto range = [&](const char *unit) {
        return std::to_string(option.least) + " to " + std::to_string(option.most) + unit;
    };
    const bool any_size = option.most == std::numeric_limits<option_number>::max();
    switch (option.kind) {
    case option_kind::integer:
        return "a whole number from " + range("");
    case option_kind::duration:
        return std::string("a duration, as ") + duration_examples + (any_size ? "" : ", from " + range(" ms"));
    case option_kind::size:
        return std::string("a size, as ") + size_examples + (any_size ? "" : ", from " + range(" bytes"));
    case option_kind::truth:
        return "true or false";
    case option_kind::path:
        return "a path";
    case option_kind::text:
        break;
    }
    return "a string";
}

// Gives a message where the value is wrong; `as` is what the user calls the option.
std::string set(const option_info &option, const char *value, const std::string &as)
{
    const std::string_view given = value;
    bool right = true;
    if (option.number != nullptr) {
        const std::optional<option_number> number = read_number(given, option.kind);
        right = number.has_value();
        *option.number = number.value_or(*option.number);
    } else if (option.truth != nullptr) {
        right = given == "true" || given == "false";
        *option.truth = given == "true";
    } else {
        right = option.kind == option_kind::text || !given.empty();
        *option.text = value;
    }
    // The default too is checked: it was written without a view of the C++ types.
    right = right && (option.number == nullptr || (*option.number >= option.least && *option.number <= option.most));
    return right ? std::string() : as + " is to be " + wanted(option) + ", not `" + value + "`";
}

// The variable of the environment: ECHO_IDLE_TIME for idle-time of echo.
std::string variable_name(const char *program, const option_info &option)
{
    std::string name = std::string(program) + "_" + option.flag;
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char letter) {
        return std::isalnum(letter) ? static_cast<char>(std::toupper(letter)) : '_';
    });
    return name;
}

class program_arguments
{
  public:
    program_arguments(std::span<const option_info> options, const char *name, bool takes_arguments)
        : options_(options), name_(name), takes_arguments_(takes_arguments), is_set_(options.size())
    {
    }

    std::string read(int &argc, char **argv, char *(*variables)(const char *name))
    {
        for (const option_info &option : options_) {
            const std::string variable = variable_name(name_, option);
            const char *const value = variables(variable.c_str());
            std::string problem;
            if (value != nullptr && value[0] != '\0') {
                problem = set_one(option, value, variable);
            } else if (option.fallback != nullptr && option.number != nullptr) {
                problem = set(option, option.fallback, std::string("the default of --") + option.flag);
            }
            if (!problem.empty()) {
                return problem;
            }
        }
        const std::string problem = read_arguments(argc, argv);
        return problem.empty() ? missing() : problem;
    }

  private:
    std::string read_arguments(int &argc, char **argv)
    {
        int kept = std::min(argc, 1);
        int next = kept;
        for (; next < argc && std::strcmp(argv[next], "--") != 0; ++next) {
            const std::string_view argument = argv[next];
            std::string problem;
            if (argument.size() > 1 && argument.starts_with('-')) {
                problem = read_flag(argv, next, argc);
            } else if (takes_arguments_) {
                argv[kept++] = argv[next];
            } else {
                problem = std::string(name_) + " has no use for `" + argv[next] + "` (--help lists the options)";
            }
            if (!problem.empty()) {
                return problem;
            }
        }
        while (next < argc) {
            argv[kept++] = argv[next++];
        }
        argc = kept;
        argv[kept] = nullptr;
        return {};
    }

    // Reads the flag at `next`, and the argument after it where that is its value.
    std::string read_flag(char **argv, int &next, int argc)
    {
        const std::string_view argument = argv[next];
        const std::string_view name = argument.substr(0, argument.find('='));
        const auto which = std::find_if(options_.begin(), options_.end(), [name](const option_info &option) {
            return name.starts_with("--") && name.substr(2) == option.flag;
        });
        if (which == options_.end()) {
            return unknown(name);
        }
        const bool has_value = name.size() != argument.size();
        const std::string as(name);
        if (has_value) {
            return set_one(*which, argv[next] + name.size() + 1, as);
        }
        if (which->truth != nullptr) {
            return set_one(*which, "true", as);
        }
        if (next + 1 == argc) {
            return as + " needs a value: " + wanted(*which);
        }
        return set_one(*which, argv[++next], as);
    }

    std::string set_one(const option_info &option, const char *value, const std::string &as)
    {
        is_set_[static_cast<std::size_t>(&option - options_.data())] = true;
        return set(option, value, as);
    }

    std::string unknown(std::string_view name) const
    {
        std::string message = "there is no option " + std::string(name);
        std::string_view nearest;
        std::size_t least = slip_distance + 1;
        const std::string_view flag = name.substr(std::min(name.find_first_not_of('-'), name.size()));
        for (const option_info &option : options_) {
            const std::size_t distance = edit_distance(flag, option.flag);
            if (distance < least) {
                least = distance;
                nearest = option.flag;
            }
        }
        if (!nearest.empty()) {
            message += "; did you mean --" + std::string(nearest) + "?";
        }
        return message + " (--help lists them)";
    }

    std::string missing() const
    {
        for (std::size_t index = 0; index < options_.size(); ++index) {
            const option_info &option = options_[index];
            if (option.fallback == nullptr && !is_set_[index]) {
                return std::string("--") + option.flag + " must be given, or " + variable_name(name_, option) +
                       " in the environment: " + wanted(option);
            }
        }
        return {};
    }

    const std::span<const option_info> options_;
    const char *const name_;
    const bool takes_arguments_;
    // By option, whether a value was given.
    std::vector<bool> is_set_;
};

const char *kind_name(option_kind kind)
{
    switch (kind) {
    case option_kind::integer:
        return "INT";
    case option_kind::text:
        return "STRING";
    case option_kind::path:
        return "PATH";
    case option_kind::truth:
        return "BOOL";
    case option_kind::duration:
        return "DURATION";
    case option_kind::size:
        return "SIZE";
    }
    return "";
}

} // namespace

std::string read_program_options(std::span<const option_info> options, const char *name, int &argc, char **argv,
                                 char *(*variables)(const char *name), bool takes_arguments)
{
    if (options.empty()) {
        return {};
    }
    return program_arguments(options, name, takes_arguments).read(argc, argv, variables);
}

std::string program_help(std::span<const option_info> options, const char *name)
{
    std::string text = options.empty() ? "" : std::string("Options of ") + name + ":\n\n";
    for (const option_info &option : options) {
        std::string flag = std::string("  --") + option.flag;
        flag += option.truth != nullptr ? "[=BOOL]" : std::string(" ") + kind_name(option.kind);
        constexpr std::size_t column = 36;
        flag.resize(std::max(column, flag.size() + 2), ' ');
        const std::string fallback = option.fallback == nullptr ? "" : option.fallback;
        const std::string value = option.fallback == nullptr ? "must be given" : "(" + fallback + ")";
        text += flag + value + "  " + variable_name(name, option) + "\n";
    }
    return text.empty() ? text : text + "\nThe words at the end name them in the environment; flags win.\n\n";
}

} // namespace flux
