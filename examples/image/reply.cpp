// Replies; reply.h explains them.
#include "reply.h"

#include <cassert>
#include <cstdio>
#include <ctime>

namespace image {

namespace {

/// What snprintf wrote into `buffer`, which is made to have room for it.
template <std::size_t size> std::string_view written(const std::array<char, size> &buffer, int length)
{
    assert(length > 0 && static_cast<std::size_t>(length) < size);
    return {buffer.data(), static_cast<std::size_t>(length)};
}

} // namespace

std::string_view write_head(const reply &reply, head_buffer &buffer)
{
    // RFC 9110, section 5.6.7: `Sun, 06 Nov 1994 08:49:37 GMT`, in English whatever the locale.
    static constexpr const char *days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static constexpr const char *months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                             "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const std::time_t seconds = std::time(nullptr);
    std::tm now{};
    gmtime_r(&seconds, &now);
    const int length = std::snprintf(
        buffer.data(), buffer.size(),
        "HTTP/1.1 %d %s\r\n"
        "Date: %s, %02d %s %04d %02d:%02d:%02d GMT\r\n"
        "Content-Type: %s\r\n"
        "Content-Length: %zu\r\n"
        "%s"
        "Connection: %s\r\n"
        "\r\n",
        reply.status, reason_of(reply.status), days[now.tm_wday], now.tm_mday, months[now.tm_mon], now.tm_year + 1900,
        now.tm_hour, now.tm_min, now.tm_sec, reply.content_type, reply.content_length,
        reply.status == 405 ? "Allow: GET, HEAD\r\n" : "", reply.close ? "close" : "keep-alive");
    return written(buffer, length);
}

const char *reason_of(int status)
{
    switch (status) {
    case 200:
        return "OK";
    case 400:
        return "Bad Request";
    case 404:
        return "Not Found";
    case 405:
        return "Method Not Allowed";
    case 408:
        return "Request Timeout";
    case 413:
        return "Content Too Large";
    case 414:
        return "URI Too Long";
    case 431:
        return "Request Header Fields Too Large";
    case 501:
        return "Not Implemented";
    case 505:
        return "HTTP Version Not Supported";
    default:
        return "Internal Server Error";
    }
}

std::string_view write_error_page(int status, page_buffer &buffer)
{
    const char *reason = reason_of(status);
    const int length = std::snprintf(buffer.data(), buffer.size(),
                                     "<!DOCTYPE html>\n<html lang=\"en\"><title>%d %s</title>\n<h1>%d %s</h1></html>\n",
                                     status, reason, status, reason);
    return written(buffer, length);
}

} // namespace image
