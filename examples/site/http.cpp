// Requests and replies of HTTP/1.0 (RFC 1945). It knows nothing of who uses the module: its structs are in http.flux.h.

#include "http.flux.h"

#include <cerrno>
#include <array>

namespace http {
namespace {

std::string reply(const char *status, const std::string &content)
{
    return std::string("HTTP/1.0 ") + status + "\r\nContent-Length: " + std::to_string(content.size()) + "\r\n\r\n" +
           content;
}

} // namespace

int Receive(Receive_in *in, Receive_out *out)
{
    std::string request;
    while (request.find("\r\n\r\n") == std::string::npos) {
        std::array<std::byte, 1024> buffer;
        const flux::io_result<std::size_t> count = in->connection->receive(buffer);
        if (!count.has_value() || *count == 0) {
            return count.has_value() ? ECONNRESET : count.error();
        }
        request.append(reinterpret_cast<const char *>(buffer.data()), *count);
        if (request.size() > in->largest) {
            return EMSGSIZE;
        }
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
    out->connection = in->connection;
    out->bytes = reply("200 OK", in->content);
    return 0;
}

int Missing(Missing_in *in, Missing_out *out)
{
    out->connection = in->connection;
    out->bytes = reply("404 Not Found", "There is no such page.\n");
    return 0;
}

} // namespace http
