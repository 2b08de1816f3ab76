#include "flick_process.h"

#include <algorithm>
#include <map>
#include <utility>

namespace flick {

process::process(std::string_view text)
{
    const std::size_t open = text.find('(');
    const std::size_t close = text.find("): ");
    for (std::string &name : split(text.substr(open + 1, close - open - 1), ", ")) {
        channel &made = channels_.emplace_back();
        made.is_array = name.front() == '[';
        made.name = made.is_array ? name.substr(1, name.size() - 2) : std::move(name);
    }
    for (const std::string &pair : split(text.substr(close + 3), ", ")) {
        const std::size_t middle = pair.find(" > ");
        channels_[number_of(pair.substr(middle + 3))].fed_by.push_back(number_of(pair.substr(0, middle)));
    }
}

process &process::of(const char *text)
{
    thread_local std::map<std::string, std::unique_ptr<process>, std::less<>> known;
    thread_local std::pair<const char *, process *> last{nullptr, nullptr};
    if (last.first != text) {
        std::unique_ptr<process> &found = known[text];
        if (found == nullptr) {
            found = std::make_unique<process>(text);
        }
        last = {text, found.get()};
    }
    return *last.second;
}

flux::connections &process::made(std::size_t number, const limits &of)
{
    std::shared_ptr<flux::connections> &known = channels_[number].made;
    if (known == nullptr) {
        const flux::silence_limits silence{of.idle, milliseconds(0), of.message};
        known = std::make_shared<flux::connections>(flux::running_io(), silence);
    }
    return *known;
}

std::size_t process::number_of(std::string_view name) const noexcept
{
    const auto is_it = [&](const channel &each) { return each.name == name; };
    return static_cast<std::size_t>(std::find_if(channels_.begin(), channels_.end(), is_it) - channels_.begin());
}

} // namespace flick
