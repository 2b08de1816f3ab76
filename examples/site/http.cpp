// Requests and replies of HTTP/1.0 (RFC 1945). It knows nothing of who uses the module: its structs are in http.flux.h.

#include "http.flux.h"

#include "flux/reading.hpp"

#include <cerrno>

namespace http {
namespace {

std::string reply(const char *status, const std::string &content)
{
    return std::string("HTTP/1.0 ") + status + "\r\nContent-Length: " + std::to_string(content.size()) + "\r\n\r\n" +
           content;
}

} // namespace

// The lines of the head, up to an empty one; the first says what is asked for.
int Receive(Receive_in *in, Receive_out *out)
{
    std::string request;
    std::string line = "-";
    for (std::size_t size = 0; !line.empty(); size += line.size()) {
        if (const int error = flux::take(flux::read_line(*in->connection, in->largest - size), line); error != 0) {
            return error;
        }
        request = request.empty() ? line : request;
    }
    const std::size_t end = request.find(' ', 4);
    if (!request.starts_with("GET /") || end == std::string::npos) {
        return EPROTO;
    }
    out->connection = in->connection;
    out->path = request.substr(4, end - 4);
    if (out->path.ends_with('/')) {
        out->path += "index.html";
    }
    return 0;
}

int Found(Found_in *in, Found_out *out)
{
    out->bytes = reply("200 OK", in->content);
    return 0;
}

int Missing(Missing_out *out)
{
    out->bytes = reply("404 Not Found", "There is no such page.\n");
    return 0;
}

} // namespace http
