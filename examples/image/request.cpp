// Requests; request.h explains them.
#include "request.h"

#include "connection.h"
#include "picture.h"

#include <algorithm>
#include <charconv>
#include <string>

#include <strings.h>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>

namespace image {

namespace {

namespace http = boost::beast::http;

using parser = http::request_parser<http::empty_body>;

/// Whether the third word of `head` is an HTTP version, be it one we do not speak.
bool names_version(std::string_view head)
{
    const auto is_digit = [](char one) { return one >= '0' && one <= '9'; };
    const std::string_view line = head.substr(0, head.find("\r\n"));
    const std::string_view version = line.substr(line.find(' ', line.find(' ') + 1) + 1);
    return version.size() == 8 && version.starts_with("HTTP/") && is_digit(version[5]) && version[6] == '.' &&
           is_digit(version[7]);
}

/// The status for a head that the parser refused.
int status_of(const boost::beast::error_code &error, std::string_view head)
{
    if (error == http::error::bad_version && names_version(head))
        return 505;
    if (error == http::error::header_limit)
        return 431;
    if (error == http::error::body_limit)
        return 413;
    return 400;
}

/// The status for input that is not a whole head: the client took too long, or filled the buffer with one line or more.
int status_of_incomplete(std::string_view input)
{
    if (input.size() < max_head_bytes)
        return 408;
    return input.find('\n') == std::string_view::npos ? 414 : 431;
}

/// 0, or the status that refuses a request of this kind, whatever it asks for.
int refusal_of(const parser &parsed)
{
    const auto &head = parsed.get();
    if (head.method() == http::verb::unknown)
        return 501;
    if (head.method() != http::verb::get && head.method() != http::verb::head)
        return 405;
    const auto hosts = head.count(http::field::host);
    if (hosts > 1 || (hosts == 0 && head.version() >= 11))
        return 400;
    // A GET has no use for a body, and not to read one that is there would take it for the next request.
    if (head.count(http::field::transfer_encoding) > 0 || parsed.content_length().value_or(0) > 0)
        return 413;
    return 0;
}

/// The path and the query of a request's target, which may be a whole URL (RFC 9112, section 3.2.2).
std::string_view origin_form(std::string_view target)
{
    constexpr std::string_view scheme = "http://";
    if (target.size() < scheme.size() || strncasecmp(target.data(), scheme.data(), scheme.size()) != 0)
        return target;
    const std::size_t path = target.find_first_of("/?", scheme.size());
    return path == std::string_view::npos ? "/" : target.substr(path);
}

/// The picture that `/NAME.jpg` names; empty where the path cannot name one.
std::string_view picture_name(std::string_view path)
{
    constexpr std::string_view extension = ".jpg";
    if (path.size() <= 1 + extension.size() || !path.starts_with('/') || !path.ends_with(extension))
        return {};
    const std::string_view name = path.substr(1, path.size() - 1 - extension.size());
    return is_picture_name(name) ? name : std::string_view{};
}

/// Reads `scale=N` out of a query, where it is; the last one counts. False where a scale is not one of 1 to 8.
bool read_scale(std::string_view query, int &scale)
{
    constexpr std::string_view key = "scale=";
    while (!query.empty()) {
        const std::string_view parameter = query.substr(0, query.find('&'));
        query.remove_prefix(std::min(parameter.size() + 1, query.size()));
        if (!parameter.starts_with(key))
            continue;
        const std::string_view value = parameter.substr(key.size());
        const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), scale);
        if (error != std::errc{} || end != value.data() + value.size() || scale < 1 || scale > 8)
            return false;
    }
    return true;
}

} // namespace

std::size_t head_length(std::string_view input)
{
    for (std::size_t line = input.find('\n'); line != std::string_view::npos; line = input.find('\n', line + 1)) {
        const std::string_view rest = input.substr(line + 1);
        if (rest.starts_with("\r\n"))
            return line + 3;
        if (rest.starts_with('\n'))
            return line + 2;
    }
    return 0;
}

parsed_request parse_request(std::string_view input, image_tag &request)
{
    parsed_request result;
    result.length = head_length(input);
    if (result.length == 0) {
        result.refusal = status_of_incomplete(input);
        return result;
    }
    parser parsed;
    parsed.header_limit(max_head_bytes);
    boost::beast::error_code error;
    parsed.put(boost::asio::buffer(input.data(), result.length), error);
    if (error || !parsed.is_header_done()) {
        result.refusal = error ? status_of(error, input) : 400;
        return result;
    }
    result.refusal = refusal_of(parsed);
    if (result.refusal != 0)
        return result;

    const auto &head = parsed.get();
    const std::string_view target = origin_form({head.target().data(), head.target().size()});
    const std::string_view path = target.substr(0, target.find('?'));
    const std::string_view query = path.size() < target.size() ? target.substr(path.size() + 1) : std::string_view{};
    request.listing = path.empty() || path == "/";
    request.name = picture_name(path);
    request.head_only = head.method() == http::verb::head;
    result.close = !head.keep_alive();
    if (!read_scale(query, request.scale))
        result.refusal = 400;
    request.key = request.name + '/' + std::to_string(request.scale);
    return result;
}

} // namespace image
