#include "http_text.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <utility>

namespace http_text {

using std::string_view;

char lower(char byte) noexcept
{
    return byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte + ('a' - 'A')) : byte;
}

bool is_same(string_view some, string_view wanted) noexcept
{
    return some.size() == wanted.size() &&
           std::equal(some.begin(), some.end(), wanted.begin(), [](char a, char b) { return lower(a) == b; });
}

string_view trim(string_view text) noexcept
{
    const auto is_space = [](char byte) { return byte == ' ' || byte == '\t'; };
    while (!text.empty() && is_space(text.front())) {
        text.remove_prefix(1);
    }
    while (!text.empty() && is_space(text.back())) {
        text.remove_suffix(1);
    }
    return text;
}

std::string content_type_of(const std::string &type)
{
    return type.starts_with("text/") ? type + "; charset=utf-8" : type;
}

// "5.6.7 Date/Time Formats".

namespace {

constexpr std::array days = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
constexpr std::array months = {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

} // namespace

std::string date_of(std::time_t time)
{
    std::tm at{};
    ::gmtime_r(&time, &at);
    char text[64];
    const int size = std::snprintf(text, sizeof text, "%s, %02d %s %04d %02d:%02d:%02d GMT",
                                   days[static_cast<std::size_t>(at.tm_wday)], at.tm_mday,
                                   months[static_cast<std::size_t>(at.tm_mon)], at.tm_year + 1900, at.tm_hour,
                                   at.tm_min, at.tm_sec);
    return std::string(text, static_cast<std::size_t>(size));
}

std::optional<std::time_t> time_of(string_view date)
{
    char text[40];
    if (date.size() >= sizeof text) {
        return std::nullopt;
    }
    text[date.copy(text, sizeof text - 1)] = '\0';
    std::tm at{};
    char month[4] = "";
    char end = '\0';
    const char *const comma = std::strchr(text, ',');
    const char *const rest = comma == nullptr ? text : comma + 1;
    const bool is_known =
        comma == nullptr
            ? std::sscanf(rest, "%*3s %3s %2d %2d:%2d:%2d %4d%c", month, &at.tm_mday, &at.tm_hour, &at.tm_min,
                          &at.tm_sec, &at.tm_year, &end) == 6
            : std::sscanf(rest, " %2d %3s %4d %2d:%2d:%2d GM%c", &at.tm_mday, month, &at.tm_year, &at.tm_hour,
                          &at.tm_min, &at.tm_sec, &end) == 7 ||
                  std::sscanf(rest, " %2d-%3s-%2d %2d:%2d:%2d GM%c", &at.tm_mday, month, &at.tm_year, &at.tm_hour,
                              &at.tm_min, &at.tm_sec, &end) == 7;
    const auto *const found = std::find_if(months.begin(), months.end(), [&](const char *each) {
        return std::strcmp(each, month) == 0;
    });
    const bool is_time = at.tm_mday >= 1 && at.tm_mday <= 31 && at.tm_hour >= 0 && at.tm_hour < 24 && at.tm_min >= 0 &&
                         at.tm_min < 60 && at.tm_sec >= 0 && at.tm_sec <= 60 && at.tm_year >= 0;
    if (!is_known || found == months.end() || !is_time) {
        return std::nullopt;
    }
    // Two digits are of this century, or of the last where that is more than fifty years from now.
    const bool is_short = at.tm_year < 100;
    at.tm_year += is_short ? (at.tm_year < 77 ? 100 : 0) : -1900;
    at.tm_mon = static_cast<int>(found - months.begin());
    return ::timegm(&at);
}

const clock_texts &clock_texts::now()
{
    static thread_local clock_texts texts;
    std::timespec time{};
    ::clock_gettime(CLOCK_REALTIME_COARSE, &time);
    if (time.tv_sec != texts.second || texts.date.empty()) {
        texts.second = time.tv_sec;
        texts.date = date_of(time.tv_sec);
        const string_view date = texts.date;
        texts.log_date = std::string(date.substr(5, 2)) + "/" + std::string(date.substr(8, 3)) + "/" +
                         std::string(date.substr(12, 4)) + ":" + std::string(date.substr(17, 8)) + " +0000";
        texts.ok = "HTTP/1.1 200 OK\r\nDate: " + texts.date + "\r\n";
    }
    return texts;
}

std::string last_modified_of(std::time_t time)
{
    return date_of(std::min(time, clock_texts::now().second));
}

target_parts parts_of(string_view target)
{
    target_parts parts;
    if (!target.starts_with('/') && target != "*") {
        const std::size_t scheme_end = target.find("://");
        const string_view scheme = target.substr(0, scheme_end);
        if (scheme_end == target.npos || (!is_same(scheme, "http") && !is_same(scheme, "https"))) {
            return parts;
        }
        target.remove_prefix(scheme_end + 3);
        parts.authority = target.substr(0, target.find_first_of("/?"));
        target.remove_prefix(parts.authority.size());
        if (parts.authority.empty() || parts.authority.find('@') != target.npos) {
            return parts; // "4.2.1", "4.2.4"
        }
    }
    const std::size_t query = target.find('?');
    parts.path = target.substr(0, query);
    parts.query = query == target.npos ? string_view() : target.substr(query + 1);
    parts.is_right = target.find('#') == target.npos;
    return parts;
}

bool is_authority(string_view host)
{
    static constexpr auto is_of_name = [] {
        std::array<bool, 256> known{};
        for (const char byte : string_view("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                           "-._~!$&'()*+,;=%")) {
            known[static_cast<unsigned char>(byte)] = true;
        }
        return known;
    }();
    std::size_t end = host.find(':');
    if (host.starts_with('[')) {
        end = host.find(']');
        const string_view address = host.substr(1, end == host.npos ? host.npos : end - 1);
        if (end == host.npos || address.empty() || address.find_first_not_of("0123456789abcdefABCDEF:.") != host.npos) {
            return false;
        }
        ++end;
    } else {
        for (const char byte : host.substr(0, end)) {
            if (!is_of_name[static_cast<unsigned char>(byte)]) {
                return false;
            }
        }
    }
    const string_view port = host.substr(std::min(end, host.size()));
    return port.empty() || (port.front() == ':' && port.size() <= 6 &&
                            port.find_first_not_of("0123456789", 1) == port.npos);
}

namespace {

int digit_of(char byte) noexcept
{
    const char small = lower(byte);
    return small >= '0' && small <= '9' ? small - '0' : small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
}

} // namespace

// RFC 3986, 2.1 and 5.2.4.
bool decode_path(string_view raw, std::string &path)
{
    std::size_t at = std::min(raw.find('%'), raw.size());
    path.assign(raw, 0, at);
    for (; at < raw.size(); ++at) {
        if (raw[at] != '%') {
            path.push_back(raw[at]);
            continue;
        }
        const int high = at + 2 < raw.size() ? digit_of(raw[at + 1]) : -1;
        const int low = high >= 0 ? digit_of(raw[at + 2]) : -1;
        if (low < 0 || (high == 0 && low == 0)) {
            return false;
        }
        path.push_back(static_cast<char>(high * 16 + low));
        at += 2;
    }
    if (path.empty()) {
        path = "/";
    }
    if (path.find("/.") == path.npos && path.find("//") == path.npos) {
        return true;
    }
    std::string whole;
    for (std::size_t at = 0; at < path.size();) {
        const std::size_t end = std::min(path.find('/', at + 1), path.size());
        const string_view segment = string_view(path).substr(at + 1, end - at - 1);
        const bool is_last = end == path.size();
        if (segment == "..") {
            if (whole.empty()) {
                return false;
            }
            whole.erase(whole.rfind('/'));
        } else if (segment != "." && !segment.empty()) {
            whole.append("/").append(segment);
        }
        if (is_last && (segment.empty() || segment == "." || segment == "..")) {
            whole += '/';
        }
        at = end;
    }
    path = std::move(whole);
    return true;
}

bool is_of_other_version(string_view bytes, std::size_t wrong)
{
    const std::size_t begin = bytes.starts_with("\r\n") ? 2 : 0;
    const std::size_t end = bytes.find('\r', begin);
    if (end == bytes.npos || wrong >= end || end - begin < 10) {
        return false;
    }
    const string_view version = bytes.substr(end - 9, 9);
    const auto is_digit = [&](std::size_t at) { return version[at] >= '0' && version[at] <= '9'; };
    const bool is_version = version.starts_with(" HTTP/") && is_digit(6) && version[7] == '.' && is_digit(8);
    return is_version && version[6] != '1';
}

// "15 Status Codes".

string_view reason_of(int status)
{
    constexpr std::pair<int, string_view> reasons[] = {
        {100, "Continue"}, {101, "Switching Protocols"}, {200, "OK"}, {201, "Created"}, {202, "Accepted"},
        {203, "Non-Authoritative Information"}, {204, "No Content"}, {205, "Reset Content"}, {206, "Partial Content"},
        {300, "Multiple Choices"}, {301, "Moved Permanently"}, {302, "Found"}, {303, "See Other"},
        {304, "Not Modified"}, {307, "Temporary Redirect"}, {308, "Permanent Redirect"}, {400, "Bad Request"},
        {401, "Unauthorized"}, {402, "Payment Required"}, {403, "Forbidden"}, {404, "Not Found"},
        {405, "Method Not Allowed"}, {406, "Not Acceptable"}, {407, "Proxy Authentication Required"},
        {408, "Request Timeout"}, {409, "Conflict"}, {410, "Gone"}, {411, "Length Required"},
        {412, "Precondition Failed"}, {413, "Content Too Large"}, {414, "URI Too Long"},
        {415, "Unsupported Media Type"}, {416, "Range Not Satisfiable"}, {417, "Expectation Failed"},
        {421, "Misdirected Request"}, {422, "Unprocessable Content"}, {426, "Upgrade Required"},
        {428, "Precondition Required"}, {429, "Too Many Requests"}, {431, "Request Header Fields Too Large"},
        {500, "Internal Server Error"}, {501, "Not Implemented"}, {502, "Bad Gateway"}, {503, "Service Unavailable"},
        {504, "Gateway Timeout"}, {505, "HTTP Version Not Supported"}};
    for (const auto &[known, reason] : reasons) {
        if (known == status) {
            return reason;
        }
    }
    return "Status";
}

bool is_field(string_view name, string_view value)
{
    constexpr string_view marks = "!#$%&'*+-.^_`|~";
    constexpr string_view own[] = {"connection", "content-length", "date", "transfer-encoding"};
    const bool is_name = !name.empty() && std::all_of(name.begin(), name.end(), [&](char byte) {
        const char small = lower(byte);
        return (small >= 'a' && small <= 'z') || (byte >= '0' && byte <= '9') || marks.find(byte) != marks.npos;
    });
    const bool is_value = std::all_of(value.begin(), value.end(), [](char byte) {
        return byte == '\t' || (static_cast<unsigned char>(byte) >= ' ' && byte != '\x7f');
    });
    return is_name && is_value &&
           std::none_of(std::begin(own), std::end(own), [&](string_view each) { return is_same(name, each); });
}

// "8.8.3.2".
bool has_tag(string_view tags, string_view own, bool is_weak)
{
    const auto strong = [&](string_view tag) { return is_weak && tag.starts_with("W/") ? tag.substr(2) : tag; };
    const bool is_comparable = is_weak || !own.starts_with("W/");
    return any_element(tags, [&](string_view each) {
        return each == "*" || (is_comparable && strong(each) == strong(own));
    });
}

namespace {

// "12.4.2": of `;q=0.5`, in thousandths. One that is none is taken for 1.
int weight_of(string_view parameters)
{
    string_view value = trim(parameters.substr(std::min<std::size_t>(1, parameters.size())));
    if (!is_same(value.substr(0, 2), "q=") || value.size() < 3 || value.size() > 7) {
        return 1000;
    }
    value.remove_prefix(2);
    int weight = value.front() == '0' ? 0 : 1000;
    int unit = 100;
    for (std::size_t at = 2; at < value.size() && value[at] >= '0' && value[at] <= '9'; ++at, unit /= 10) {
        weight += (value[at] - '0') * unit;
    }
    return std::min(weight, 1000);
}

} // namespace

std::optional<int> liking_of(string_view accepted, string_view coding)
{
    std::optional<int> any;
    std::optional<int> own;
    any_element(accepted, [&](string_view each) {
        const std::size_t end = std::min(each.find(';'), each.size());
        string_view name = trim(each.substr(0, end));
        if (name.size() > 2 && is_same(name.substr(0, 2), "x-")) {
            name.remove_prefix(2); // "8.4.1.3"
        }
        if (name == "*") {
            any = weight_of(each.substr(end));
        } else if (is_same(name, coding)) {
            own = weight_of(each.substr(end));
        }
        return false;
    });
    return own.has_value() ? own : any;
}

namespace {

bool number_of(string_view digits, std::uint64_t &number)
{
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error == std::errc::result_out_of_range && end == digits.data() + digits.size()) {
        number = static_cast<std::uint64_t>(-1);
        return true;
    }
    return !digits.empty() && error == std::errc() && end == digits.data() + digits.size();
}

} // namespace

range range_of(string_view spec, std::size_t size)
{
    const range whole{0, size, range::kind::whole};
    const std::size_t dash = spec.find('-');
    if (dash == spec.npos) {
        return whole;
    }
    const string_view first = trim(spec.substr(0, dash));
    const string_view last = trim(spec.substr(dash + 1));
    std::uint64_t begin = 0;
    std::uint64_t end = size;
    if (first.empty()) {
        if (!number_of(last, end)) {
            return whole;
        }
        begin = size - std::min<std::uint64_t>(end, size);
        return begin == size ? range{0, 0, range::kind::unsatisfiable} : range{begin, size - begin, range::kind::part};
    }
    if (!number_of(first, begin) || (!last.empty() && (!number_of(last, end) || end < begin))) {
        return whole;
    }
    if (begin >= size) {
        return {0, 0, range::kind::unsatisfiable};
    }
    end = std::min<std::uint64_t>(last.empty() ? size : end, size - 1);
    return {begin, end - begin + 1, range::kind::part};
}

std::vector<range> ranges_of(string_view field, std::size_t size)
{
    constexpr string_view unit = "bytes=";
    constexpr std::size_t most = 16;
    const range whole{0, size, range::kind::whole};
    if (!is_same(field.substr(0, unit.size()), unit)) {
        return {whole};
    }
    std::vector<range> found;
    std::size_t left = size;
    bool asks = false;
    const bool is_too_much = any_element(field.substr(unit.size()), [&](string_view spec) {
        asks = true;
        const range one = range_of(spec, size);
        if (one.what == range::kind::unsatisfiable) {
            return false;
        }
        found.push_back(one);
        left -= std::min(left, one.size);
        return one.what == range::kind::whole || found.size() > most || (found.size() > 1 && left == 0);
    });
    if (is_too_much || !asks) {
        return {whole};
    }
    return found.empty() ? std::vector{range{0, 0, range::kind::unsatisfiable}} : found;
}

std::string content_range_of(const range &part, std::size_t size)
{
    return "bytes " + std::to_string(part.begin) + "-" + std::to_string(part.begin + part.size - 1) + "/" +
           std::to_string(size);
}

std::vector<std::string> words_of(string_view text)
{
    std::vector<std::string> words;
    while (!(text = trim(text)).empty()) {
        words.emplace_back(text.substr(0, text.find_first_of(" \t")));
        text.remove_prefix(words.back().size());
    }
    return words;
}

std::string last_answer(int status, bool is_head)
{
    const std::string content = std::to_string(status) + " " + std::string(reason_of(status)) + "\n";
    head_writer head(status);
    if (status == 405 || status == 200) {
        head.add("Allow", "GET, HEAD, POST, PUT, DELETE, OPTIONS, PATCH");
    }
    const bool is_empty = status == 200;
    head.add("Content-Type", "text/plain; charset=utf-8").add_length(is_empty ? 0 : content.size());
    head.add("Connection", "close");
    return head.end() + (is_head || is_empty ? std::string() : content);
}

std::string answer_without_tls()
{
    const std::string content = "400 Bad Request: TLS is spoken here, begin with https://\n";
    head_writer head(400);
    head.add("Content-Type", "text/plain; charset=utf-8").add_length(content.size()).add("Connection", "close");
    return head.end() + content;
}

namespace {

// What a client has sent, between quotes.
std::string logged(string_view text)
{
    std::string safe;
    for (const char byte : text.substr(0, 512)) {
        const auto code = static_cast<unsigned char>(byte);
        if (code < 0x20 || code >= 0x7f || byte == '"' || byte == '\\') {
            char escape[8];
            std::snprintf(escape, sizeof escape, "\\u%04x", code);
            safe += escape;
        } else {
            safe += byte;
        }
    }
    return safe;
}

} // namespace

std::string common_line(const logged_answer &answer)
{
    const auto optional = [](string_view text) { return text.empty() ? std::string("-") : logged(text); };
    return std::string(answer.client) + " - - [" + std::string(answer.time) + "] \"" + logged(answer.method) + " " +
           logged(answer.target) + " HTTP/" + std::string(answer.version) + "\" " + std::to_string(answer.status) +
           " " + std::to_string(answer.bytes) + " \"" + optional(answer.referer) + "\" \"" + optional(answer.agent) +
           "\"\n";
}

std::string json_line(const logged_answer &answer)
{
    std::string line = "{";
    const auto add = [&](const char *name, string_view value) {
        line += std::string(line.size() == 1 ? "\"" : ",\"") + name + "\":\"" + logged(value) + "\"";
    };
    add("time", answer.time);
    add("client", answer.client);
    add("host", answer.host);
    add("method", answer.method);
    add("target", answer.target);
    add("version", answer.version);
    line += ",\"status\":" + std::to_string(answer.status) + ",\"bytes\":" + std::to_string(answer.bytes);
    add("referer", answer.referer);
    add("agent", answer.agent);
    if (answer.took.count() >= 0) {
        line += ",\"duration_us\":" + std::to_string(answer.took.count());
    }
    if (answer.error == nullptr || *answer.error != '\0') {
        add("error", answer.error == nullptr ? "unknown" : answer.error);
    }
    return line + "}\n";
}

std::string host_of(const std::string &address)
{
    const std::size_t colon = address.rfind(':');
    if (address.starts_with("unix:") || colon == address.npos) {
        return address;
    }
    std::string host = address.substr(0, colon);
    if (host.starts_with('[')) {
        host = host.substr(1, host.size() - 2);
    }
    return host.starts_with("::ffff:") ? host.substr(7) : host;
}

// The nodes.

void Date(std::int64_t time, std::string &date)
{
    date = date_of(static_cast<std::time_t>(time));
}

int Path(const std::string &target, std::string &path)
{
    const target_parts parts = parts_of(target);
    return parts.is_right && decode_path(parts.path, path) ? 0 : EINVAL;
}

void Link(const std::string &path, std::string &link)
{
    constexpr string_view digits = "0123456789ABCDEF";
    link.clear();
    for (const char each : path) {
        const bool is_letter = (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z');
        if (is_letter || (each >= '0' && each <= '9') || string_view("-._~/").find(each) != string_view::npos) {
            link += each;
        } else {
            const auto byte = static_cast<unsigned char>(each);
            link += {'%', digits[byte >> 4], digits[byte & 15]};
        }
    }
}

} // namespace http_text
