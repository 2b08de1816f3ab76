// Requests and replies of HTTP/1.0 (RFC 1945). It knows nothing of who uses the module: its structs are in http.flux.h.

#include "http.flux.h"

#include <cerrno>
#include <sys/socket.h>

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
        char buffer[1024];
        const ssize_t count = ::recv(in->socket, buffer, sizeof buffer, 0);
        if (count <= 0) {
            return count == 0 ? ECONNRESET : errno;
        }
        request.append(buffer, static_cast<std::size_t>(count));
        if (request.size() > in->largest) {
            return EMSGSIZE;
        }
    }
    const std::size_t end = request.find(' ', 4);
    if (!request.starts_with("GET /") || end == std::string::npos) {
        return EPROTO;
    }
    out->socket = in->socket;
    out->path = request.substr(4, end - 4);
    if (out->path.ends_with('/')) {
        out->path += "index.html";
    }
    return 0;
}

int Found(Found_in *in, Found_out *out)
{
    out->socket = in->socket;
    out->bytes = reply("200 OK", in->content);
    return 0;
}

int Missing(Missing_in *in, Missing_out *out)
{
    out->socket = in->socket;
    out->bytes = reply("404 Not Found", "There is no such page.\n");
    return 0;
}

} // namespace http
