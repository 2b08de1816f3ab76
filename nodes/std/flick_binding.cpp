#include "flick_binding.h"

#include "flux/cannot_serve.hpp"
#include "flux/process/quantity.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <fstream>
#include <iterator>
#include <utility>

namespace flick {

namespace {

/// Words of a text, one after the other, and what is said where one is wrong.
class reader
{
  public:
    /// Where it stands, for messages: `--servers` or `balancer.bindings:3`, and how many columns are before it.
    reader(std::string_view text, std::string place, std::size_t first_line = 0)
        : text_(text), place_(std::move(place)), line_(first_line)
    {
        skip();
    }

    bool at_end() const noexcept { return at_ == text_.size(); }

    /// Whether this word, or sign, is next; then it is behind it.
    bool takes(std::string_view word)
    {
        const std::string_view next = peek();
        if (next != word) {
            return false;
        }
        at_ += word.size();
        skip();
        return true;
    }

    void needs(std::string_view word, const char *help)
    {
        if (!takes(word)) {
            fail(help);
        }
    }

    /// The next word, whatever it is.
    std::string_view word()
    {
        const std::string_view next = peek();
        at_ += next.size();
        skip();
        return next;
    }

    /// An address: up to a space, a comma, a semicolon or a star.
    std::string address(const char *help)
    {
        const std::size_t end = std::min(text_.find_first_of(" \t\n,;*#", at_), text_.size());
        if (end == at_) {
            fail(help);
        }
        std::string found(text_.substr(at_, end - at_));
        at_ = end;
        skip();
        return found;
    }

    /// Whether a number is next.
    bool at_number() const noexcept { return !at_end() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0; }

    std::size_t number(const char *help, std::size_t least)
    {
        const std::string_view next = peek();
        std::size_t found = 0;
        const auto [end, problem] = std::from_chars(next.data(), next.data() + next.size(), found);
        if (problem != std::errc() || end != next.data() + next.size() || found < least || found > 1'000'000) {
            fail(help);
        }
        word();
        return found;
    }

    milliseconds duration(const char *help)
    {
        const auto found = flux::read_duration(peek());
        if (!found.has_value() || *found == 0) {
            fail(help);
        }
        word();
        return milliseconds(*found);
    }

    /// In quotes.
    std::string text(const char *help)
    {
        if (at_end() || text_[at_] != '"') {
            fail(help);
        }
        std::string found;
        for (++at_; !at_end() && text_[at_] != '"'; ++at_) {
            found += text_[at_] == '\\' ? escaped() : text_[at_];
        }
        if (at_end()) {
            fail("end the text with a quote, `\"`");
        }
        ++at_;
        skip();
        return found;
    }

    // A server that cannot do its work must not look as if it did.
    [[noreturn]] void fail(const std::string &help) const
    {
        const std::string found(peek());
        refuse((at_end() ? "something is missing here: " : "this cannot be `" + found + "` here: ") + help);
    }

    /// What is wrong is not the next word.
    [[noreturn]] void refuse(const std::string &why) const
    {
        const std::string_view before = text_.substr(0, at_);
        const std::size_t line = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
        const std::size_t begin = before.rfind('\n') + 1; // of npos: 0
        const std::string where = line_ == 0 ? place_ : place_ + ":" + std::to_string(line_ + line);
        flux::cannot_serve(where + ":" + std::to_string(at_ - begin + 1) + ": " + why);
    }

  private:
    // A sign, or all up to a space or a sign.
    std::string_view peek() const noexcept
    {
        constexpr std::string_view signs = ",;*=\"";
        if (at_end()) {
            return {};
        }
        const std::size_t end = std::min(text_.find_first_of(" \t\n,;*=\"#", at_), text_.size());
        return text_.substr(at_, signs.find(text_[at_]) != signs.npos ? 1 : end - at_);
    }

    void skip() noexcept
    {
        while (!at_end() && (std::isspace(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '#')) {
            at_ = text_[at_] == '#' ? std::min(text_.find('\n', at_), text_.size()) : at_ + 1;
        }
    }

    char escaped()
    {
        constexpr std::string_view names = "rnt0\\\"";
        constexpr std::string_view meant("\r\n\t\0\\\"", names.size());
        const char name = ++at_ < text_.size() ? text_[at_] : '\0';
        const std::size_t known = names.find(name);
        unsigned value = 0;
        if (name == 'x' && at_ + 2 < text_.size() &&
            std::from_chars(text_.data() + at_ + 1, text_.data() + at_ + 3, value, 16).ptr == text_.data() + at_ + 3) {
            at_ += 2;
            return static_cast<char>(value);
        }
        if (known == names.npos) {
            fail("write one of `\\r`, `\\n`, `\\t`, `\\0`, `\\x1f`, `\\\\` and `\\\"`");
        }
        return meant[known];
    }

    const std::string_view text_;
    const std::string place_;
    // Of a file: which of its lines this begins in.
    const std::size_t line_;
    std::size_t at_ = 0;
};

void read_addresses(reader &from, binding &into, bool is_array)
{
    const char *const help = is_array ? "give it addresses, `127.0.0.1:7001, 127.0.0.1:7002`"
                                      : "give it one address, `127.0.0.1:7000`";
    constexpr std::string_view mark = "connect:";
    do {
        std::string found = from.address(help);
        const bool is_marked = found.starts_with(mark);
        into.connects = into.connects || is_marked;
        if (is_marked && found.size() == mark.size()) {
            from.fail(help);
        }
        into.addresses.push_back(is_marked ? found.substr(mark.size()) : std::move(found));
    } while (from.takes(","));
    const bool is_joined = from.takes("*");
    if (is_joined) {
        into.joined = from.number("write how many clients there are, `7000*8`", 1);
    }
    into.connects = into.connects || (is_array && !is_joined);
    if ((!is_array || is_joined) && into.addresses.size() != 1) {
        from.refuse("a channel that is in no array has one address, `127.0.0.1:7000`");
    }
}

void read_clause(reader &from, binding &into)
{
    if (from.takes("keep")) {
        into.keep = from.number("write how many connections are kept, `keep 32 for 60s`", 1);
        into.keep_for = from.takes("for") ? from.duration("write how long, `keep 32 for 60s`") : into.keep_for;
    } else if (from.takes("check")) {
        const char *const help = "write how often, `check every 2s`, or what is sent before and how the reply begins, "
                                 "`check \"version\\r\\n\" expects \"VERSION\" every 2s`";
        if (!from.takes("every")) {
            into.probe = from.text(help);
            from.needs("expects", help);
            into.expected = from.text(help);
            from.needs("every", help);
        }
        into.check_every = from.duration(help);
        if (from.takes("back")) {
            from.needs("after", "write after how many good answers, `back after 2`");
            into.back_after = from.number("write after how many good answers, `back after 2`", 1);
        }
    } else if (from.takes("eject")) {
        const char *const help = "write after how many failures in a row, `eject after 3 for 10s`";
        from.needs("after", help);
        into.eject_after = from.number(help, 1);
        into.eject_for = from.takes("for") ? from.duration("write how long, `eject after 3 for 10s`") : into.eject_for;
        if (from.takes("even")) {
            from.needs("the", "write `even the last`");
            from.needs("last", "write `even the last`");
            into.ejects_the_last = true;
        }
    } else if (from.takes("retry")) {
        into.retries = from.number("write how often at most, `retry 1`", 0);
    } else if (from.takes("shared")) {
        const char *const help = "write how many connections to each server there are at most, `shared 2`";
        into.shared = from.at_number() ? from.number(help, 1) : 1;
    } else if (from.takes("at")) {
        from.needs("most", "write `at most 1000`");
        into.most = from.number("write how many at most, `at most 1000`", 1);
        into.queue = from.takes("queue") ? from.number("write how many may wait, `queue 100`", 0) : into.queue;
    } else {
        from.fail("write `keep 32 for 60s`, `check every 2s`, `eject after 3 for 10s`, `retry 1`, `shared` or "
                  "`at most 1000 queue 100`");
    }
}

binding read_all(reader from, bool is_array)
{
    binding made;
    read_addresses(from, made, is_array);
    while (!from.at_end()) {
        from.needs(";", "separate what is said of a channel by semicolons, `a:8001, b:8002; keep 32`");
        if (!from.at_end()) {
            read_clause(from, made);
        }
    }
    const bool says_of_servers = made.keep != 0 || made.check_every.count() != 0 || made.eject_after != 0 ||
                                 made.retries != 0 || made.shared != 0;
    if (!made.connects && says_of_servers) {
        from.refuse("clients connect to this channel, so say no more of it than `at most 1000`; one that connects is "
                  "`connect:127.0.0.1:7000`");
    }
    if (made.shared != 0 && made.keep != 0) {
        from.refuse("connections that are `shared` stay open as long as they are used: leave out `keep`");
    }
    if (made.shared != 0 && made.most != 0 && made.most < made.shared) {
        from.refuse("there are fewer connections `at most` than are `shared`: write as many, or leave one of both out");
    }
    return made;
}

/// What the file says of this channel: its text from the line on at which it begins, counted from 1; 0 where it does
/// not.
std::size_t find_in(std::string_view file, const std::string &channel, const std::string &path, std::string_view &found)
{
    std::size_t at = 0;
    for (std::size_t line = 1; at < file.size(); ++line) {
        const std::size_t begin = at;
        const std::size_t end = std::min(file.find('\n', at), file.size());
        at = end + 1;
        const char first = file[begin];
        if (end == begin || first == ' ' || first == '\t' || first == '#' || first == '\r') {
            continue;
        }
        const std::size_t sign = file.substr(begin, end - begin).find('=');
        std::string_view name = file.substr(begin, sign == file.npos ? end - begin : sign);
        name = name.substr(0, std::min(name.find_first_of(" \t"), name.size()));
        if (sign == file.npos) {
            const reader wrong(file.substr(begin, end - begin), path, line);
            wrong.fail("write `channel = addresses; …`; a line that goes on with the last one begins with a space");
        }
        if (name != channel) {
            continue;
        }
        std::size_t last = end;
        while (last + 1 < file.size() && (file[last + 1] == ' ' || file[last + 1] == '\t')) {
            last = std::min(file.find('\n', last + 1), file.size());
        }
        found = file.substr(begin, last - begin);
        return line;
    }
    return 0;
}

} // namespace

binding read_binding(const std::string &channel, bool is_array, std::string_view option, const std::string &path)
{
    const std::string example = is_array ? "127.0.0.1:7001, 127.0.0.1:7002" : "127.0.0.1:7000";
    if (option.empty() && path.empty()) {
        flux::cannot_serve("say what the channel `" + channel + "` is bound to, `--" + channel + "='" + example +
                           "'`");
    }
    if (!option.empty()) {
        return read_all(reader(option, "--" + channel), is_array);
    }
    std::ifstream stream(path);
    if (!stream) {
        flux::cannot_serve(path + ": this file of bindings cannot be read: name one by --flick-bindings");
    }
    const std::string file{std::istreambuf_iterator<char>(stream), {}};
    std::string_view text;
    const std::size_t line = find_in(file, channel, path, text);
    if (line == 0) {
        flux::cannot_serve(path + ": say what the channel `" + channel + "` is bound to, `" + channel + " = " +
                           example + "`");
    }
    reader from(text, path, line);
    from.word();
    from.needs("=", "write `channel = addresses; …`");
    return read_all(from, is_array);
}

void refuse_binding(const std::string &channel, const char *why)
{
    flux::cannot_serve("the channel `" + channel + "` cannot be bound so: " + why);
}

void limit(const binding &of, const std::string &channel, std::size_t most)
{
    const std::size_t count = std::max(of.addresses.size(), of.joined);
    if (count > most) {
        const std::string all = std::to_string(count);
        flux::cannot_serve("the channel `" + channel + "` cannot be bound: the program has at most " +
                           std::to_string(most) + " of it, and there are " + all + ": bind fewer, or write `{" + all +
                           "}` there");
    }
}

} // namespace flick
