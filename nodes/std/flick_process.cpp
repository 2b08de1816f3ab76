#include "flick_process.h"

#include "flick_watch.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace flick {

namespace {

std::vector<std::string> split(std::string_view text, std::string_view by)
{
    std::vector<std::string> parts;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(by), text.size());
        parts.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + by.size(), text.size()));
    }
    return parts;
}

} // namespace

process::process(std::string_view text)
{
    const std::size_t open = text.find('(');
    const std::size_t close = text.find("): ");
    for (std::string &name : split(text.substr(open + 1, close - open - 1), ", ")) {
        channel &made = channels_.emplace_back();
        made.is_array = name.front() == '[';
        const std::size_t end = name.find(']');
        if (made.is_array && end + 1 != name.size()) {
            made.most = std::stoull(name.substr(end + 2)); // `[servers]{16}`
        }
        made.name = made.is_array ? name.substr(1, end - 1) : std::move(name);
        const auto is_marked = [&](char mark) {
            const bool is_so = made.name.back() == mark;
            made.name.resize(made.name.size() - (is_so ? 1 : 0));
            return is_so;
        };
        made.is_unshareable = is_marked('~');
        made.has_marks = is_marked('|');
        made.is_ordered = is_marked('!');
        made.is_counted = is_marked('?');
    }
    const std::string_view rest = text.substr(close + 3);
    const std::size_t feeds = std::min(rest.find("; "), rest.size());
    for (const std::string &pair : split(rest.substr(0, feeds), ", ")) {
        const std::size_t middle = pair.find(" > ");
        channels_[number_of(pair.substr(middle + 3))].fed_by.push_back(number_of(pair.substr(0, middle)));
    }
    for (const std::string_view rule : split(rest.substr(std::min(feeds + 2, rest.size())), ", ")) {
        const std::size_t middle = rule.find(' ');
        const event what = event_of(rule.substr(0, middle));
        channel &of = channels_[number_of(rule.substr(middle + 1))];
        of.rules[static_cast<std::size_t>(what)] = std::make_unique<faults>();
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

void process::bind_now(channel &of, const char *text)
{
    of.to = read_binding(of.name, of.is_array, text, file_);
    limit(of.to, of.name, of.most);
    if (of.to.keep != 0 && !of.is_counted) {
        refuse_binding(of.name,
                       "its messages do not say how many replies they have, so nobody knows when another can use a "
                       "connection: declare a variable `replies` in the message, or leave out `keep`");
    }
    if (of.to.shared != 0 && !of.is_counted) {
        refuse_binding(of.name,
                       "its messages do not say how many replies they have, so nobody knows which reply is whose on a "
                       "connection that is shared: declare a variable `replies` in the message, or leave out `shared`");
    }
    if (of.to.shared != 0 && of.is_unshareable) {
        refuse_binding(of.name,
                       "its replies have streams, or no rule reads them, so one client that is slow would hold up all "
                       "others on a connection that is shared: leave out `shared`");
    }
    if (of.to.connects) {
        of.servers = std::make_shared<backends>(of.name, of.to);
        watch::of_loop().add(of.servers);
    }
    of.is_bound = true;
}

flux::connections &process::made(std::size_t number, const limits &of)
{
    std::shared_ptr<flux::connections> &known = channels_[number].made;
    if (known == nullptr) {
        const flux::silence_limits silence{of.idle, of.idle, of.message};
        known = std::make_shared<flux::connections>(flux::running_io(), silence);
    }
    return *known;
}

std::size_t process::most_in_a_row() const noexcept
{
    const auto add = [](std::size_t sum, const channel &each) {
        return sum + std::max<std::size_t>(each.to.addresses.size(), 1);
    };
    return std::accumulate(channels_.begin(), channels_.end(), std::size_t{0}, add);
}

std::size_t process::number_of(std::string_view name) const noexcept
{
    const auto is_it = [&](const channel &each) { return each.name == name; };
    return static_cast<std::size_t>(std::find_if(channels_.begin(), channels_.end(), is_it) - channels_.begin());
}

} // namespace flick
