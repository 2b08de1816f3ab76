// Lines of words, which somebody has typed, as the arrays that clients send; and the replies to protocol errors.

#include "resp.flux.h"

#include "resp.h"

#include "flux/message/typed_parse.hpp"

#include <cctype>
#include <cerrno>
#include <charconv>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace resp {
namespace {

bool is_space(char byte)
{
    return std::isspace(static_cast<unsigned char>(byte)) != 0;
}

// What stands behind a backslash, which is taken away: `x41` or one byte.
char escaped(std::string_view &rest)
{
    unsigned byte = 0;
    if (rest.size() >= 3 && rest[0] == 'x' &&
        std::from_chars(rest.data() + 1, rest.data() + 3, byte, 16).ptr == rest.data() + 3) {
        rest.remove_prefix(3);
        return static_cast<char>(byte);
    }
    constexpr std::string_view names = "nrtba";
    constexpr std::string_view bytes = "\n\r\t\b\a";
    const char named = rest.front();
    rest.remove_prefix(1);
    const std::size_t at = names.find(named);
    return at == names.npos ? named : bytes[at];
}

// The rest of a word in quotes, whose first one is taken away; false where it does not end, or goes on behind its end.
bool take_quoted(std::string_view &rest, char quote, std::string &word)
{
    while (!rest.empty()) {
        const char byte = rest.front();
        rest.remove_prefix(1);
        if (byte == quote) {
            return rest.empty() || is_space(rest.front());
        }
        const bool escapes = byte == '\\' && !rest.empty() && (quote == '"' || rest.front() == quote);
        word.push_back(escapes ? escaped(rest) : byte);
    }
    return false;
}

int words_of_line(std::string_view rest, std::vector<std::string> &words)
{
    while (true) {
        while (!rest.empty() && is_space(rest.front())) {
            rest.remove_prefix(1);
        }
        if (rest.empty()) {
            return 0;
        }
        std::string &word = words.emplace_back();
        while (!rest.empty() && !is_space(rest.front())) {
            const char byte = rest.front();
            rest.remove_prefix(1);
            if (byte != '"' && byte != '\'') {
                word.push_back(byte);
            } else if (!take_quoted(rest, byte, word)) {
                return EBADMSG;
            }
        }
    }
}

} // namespace

int Split(const command &line, command &array)
{
    std::vector<std::string> words;
    if (const int error = words_of_line(line.line().value_or(""), words); error != 0) {
        return error;
    }
    std::string wire = "*" + std::to_string(words.size()) + "\r\n";
    for (const std::string &each : words) {
        wire += "$" + std::to_string(each.size()) + "\r\n" + each + "\r\n";
    }
    flux::typed_parse<command> parse;
    const flux::message_parse::state come = parse.read(wire, true);
    if (come != flux::message_parse::state::whole) {
        return come == flux::message_parse::state::no_memory ? ENOMEM : EMSGSIZE;
    }
    parse.bytes = flux::message_bytes::copy_of(std::as_bytes(std::span(wire)));
    array = parse.message();
    return 0;
}

// A line can only be too long. The count of an array ends with the first CR. After that each word begins with `$`.
std::string_view protocol_error(const flux::message_parse &wrong) noexcept
{
    const std::string_view bytes = wrong.bytes.view();
    const flux::message_fault &fault = *wrong.what_is_wrong();
    if (!bytes.starts_with('*')) {
        return "-ERR Protocol error: too big inline request\r\n";
    }
    if (fault.offset <= bytes.find('\r')) {
        return "-ERR Protocol error: invalid multibulk length\r\n";
    }
    const bool begins_word = bytes.substr(0, fault.offset).ends_with('\n') && !fault.is_of_size();
    if (!begins_word || fault.offset >= bytes.size()) {
        return "-ERR Protocol error: invalid bulk length\r\n";
    }
    static thread_local char text[] = "-ERR Protocol error: expected '$', got ' '\r\n";
    const char byte = bytes[fault.offset];
    text[sizeof text - sizeof " '\r\n"] = byte == '\r' || byte == '\n' ? ' ' : byte; // the reply is one line
    return {text, sizeof text - 1};
}

} // namespace resp
