// The texts of HTTP: what is computed of them alone. The sections named here are those of RFC 9110, with "9112" before
// them those of RFC 9112.
#pragma once

#include "flux/message/byte_set.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace http_text {

/// Of a letter of ASCII the small one.
char lower(char byte) noexcept;

/// Whether these are the same but for the case of letters; the second is in small letters.
bool is_same(std::string_view some, std::string_view wanted) noexcept;

/// Without spaces and tabs around it.
std::string_view trim(std::string_view text) noexcept;

/// "9112: 5": calls `use` with each field line of a head, which begins with a request line and is known to be one,
/// until it gives true; whether it has. A line is without its end: `Host: a`.
template <class Use>
bool any_line(std::string_view head, Use use)
{
    if (head.empty()) {
        return false;
    }
    const char *const first = head.data();
    const char *const end = first + head.size();
    const char *at = flux::find_byte(first, first + (head.starts_with('\r') ? 2 : 0), end, '\n') + 1;
    while (at < end && *at != '\r') {
        const char *const line_end = flux::find_byte(first, at, end, '\n');
        if (use(std::string_view(at, static_cast<std::size_t>(line_end - 1 - at)))) {
            return true;
        }
        at = line_end + 1;
    }
    return false;
}

/// The value of a field line that has this name, which is in small letters.
inline std::optional<std::string_view> value_of(std::string_view line, std::string_view name) noexcept
{
    if (line.size() <= name.size() || line[name.size()] != ':' || !is_same(line.substr(0, name.size()), name)) {
        return std::nullopt;
    }
    return trim(line.substr(name.size() + 1));
}

/// What stands between spaces.
std::vector<std::string> words_of(std::string_view text);

/// "5.6.1": calls `use` with each element of a list until it gives true; whether it has.
template <class Use>
bool any_element(std::string_view list, Use use)
{
    while (!list.empty()) {
        const std::size_t end = std::min(list.find(','), list.size());
        const std::string_view element = trim(list.substr(0, end));
        if (!element.empty() && use(element)) {
            return true;
        }
        list.remove_prefix(std::min(end + 1, list.size()));
    }
    return false;
}

/// "5.6.7": a date as it is sent.
std::string date_of(std::time_t time);

/// "8.8.2.1": when something was modified, as it is sent: now, if it is to have been later.
std::string last_modified_of(std::time_t time);

/// "8.3.1": what a content of this media type is said to be: texts are of UTF-8.
std::string content_type_of(const std::string &type);

/// "5.6.7": the time of a date in any of its three forms; nothing where it is none.
std::optional<std::time_t> time_of(std::string_view date);

/// What changes once a second: the date of answers and that of logs, and how most answers begin.
struct clock_texts {
    std::time_t second = 0;
    std::string date;
    std::string log_date;
    std::string ok;

    /// Those of the calling thread, until its next call.
    static const clock_texts &now();
};

/// "9112: 3.2": the parts of a target, which are parts of its text.
struct target_parts {
    std::string_view authority;
    std::string_view path;
    std::string_view query;
    bool is_right = false;
};

target_parts parts_of(std::string_view target);

/// "7.2": whether it is a name or an address, perhaps with a port.
bool is_authority(std::string_view host);

/// The path without escapes, empty segments, `.` and `..`. False where it has an escape that is none, a zero, or leads
/// out of all folders.
bool decode_path(std::string_view raw, std::string &path);

/// "9112: 2.3": whether it is a request, wrong from this byte on, whose line ends with a version that is not 1.
bool is_of_other_version(std::string_view bytes, std::size_t wrong);

/// "15": what is said of a status.
std::string_view reason_of(int status);

/// "6.4.1": whether an answer of this status has a content.
constexpr bool has_content(int status) noexcept
{
    return status >= 200 && status != 204 && status != 304;
}

/// "5.1", "5.5": whether a node may add this field to an answer: it is one, and none that the server adds itself. So
/// nothing that a node takes from a request ends its line.
bool is_field(std::string_view name, std::string_view value);

/// "8.8.3.2": whether one of these tags is this one, or `*`. Where it is compared weakly a `W/` says nothing; else a
/// tag with it is the same as no other.
bool has_tag(std::string_view tags, std::string_view own, bool is_weak);

/// "12.5.3": how much a client likes a coding that this field names, from 0, which is not at all, to 1000; what it says
/// of `*` where it does not name it. Nothing where it says neither.
std::optional<int> liking_of(std::string_view accepted, std::string_view coding);

/// A range of something.
struct range {
    std::size_t begin = 0;
    std::size_t size = 0;
    enum class kind : unsigned char { whole, part, unsatisfiable } what = kind::whole;
};

/// "14.1.2": one range, as `2-4`, of something of this size; all of it where it is none.
range range_of(std::string_view spec, std::size_t size);

/// "14.2": the ranges of bytes that a field asks for, of something of this size, in their order: at least one. All of
/// it, or an unsatisfiable one, stands alone. All of it is also what comes where many ranges are asked for, or as many
/// bytes as there are: that is allowed there, and an answer is never much larger than its file.
std::vector<range> ranges_of(std::string_view field, std::size_t size);

/// "14.4": what an answer says of a range of something of this size: `bytes 2-4/10`.
std::string content_range_of(const range &part, std::size_t size);

/// The head of an answer while it is written.
class head_writer
{
  public:
    explicit head_writer(int status)
    {
        text_.reserve(384);
        if (status == 200) {
            text_ += clock_texts::now().ok;
            return;
        }
        text_ += "HTTP/1.1 ";
        text_ += static_cast<char>('0' + status / 100 % 10);
        text_ += static_cast<char>('0' + status / 10 % 10);
        text_ += static_cast<char>('0' + status % 10);
        text_ += ' ';
        text_ += reason_of(status);
        text_ += "\r\nDate: ";
        text_ += clock_texts::now().date;
        text_ += "\r\n";
    }
    head_writer &add(std::string_view name, std::string_view value)
    {
        text_.append(name).append(": ").append(value).append("\r\n");
        return *this;
    }
    head_writer &add_length(std::uint64_t length)
    {
        char digits[24];
        const auto end = std::to_chars(digits, digits + sizeof digits, length).ptr;
        return add("Content-Length", std::string_view(digits, static_cast<std::size_t>(end - digits)));
    }
    /// Fields that are written already, each a line.
    void add_lines(std::string_view fields) { text_ += fields; }
    std::string &end()
    {
        text_ += "\r\n";
        return text_;
    }

  private:
    std::string text_;
};

/// The whole answer of a source or of the end of a flow, which closes the connection.
std::string last_answer(int status, bool is_head);

/// What a client is told that does not speak TLS where it is spoken.
std::string answer_without_tls();

/// What a log says of an answer.
struct logged_answer {
    std::string_view client;
    std::string_view time;
    std::string_view method;
    std::string_view target;
    /// What stands behind `HTTP/`.
    std::string_view version;
    std::string_view host;
    std::string_view referer;
    std::string_view agent;
    int status = 0;
    std::uint64_t bytes = 0;
    /// From where a flow was given the request; below 0 where none was.
    std::chrono::microseconds took{-1};
    /// Why it broke off: the name of an errno value, which may be null; empty where it did not.
    const char *error = "";
};

/// A line of the "Common Log Format" of NCSA's httpd, with referer and user agent at its end.
std::string common_line(const logged_answer &answer);

/// A line that is an object of JSON.
std::string json_line(const logged_answer &answer);

/// The host of an address with a port, without brackets; one of IPv4 that came as one of IPv6 is that of IPv4.
std::string host_of(const std::string &address);

// The nodes.

void Date(std::int64_t time, std::string &date);
int Path(const std::string &target, std::string &path);
void Link(const std::string &path, std::string &link);

} // namespace http_text
