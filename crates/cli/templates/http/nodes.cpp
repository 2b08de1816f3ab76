// The nodes of NAME.flux: plain functions that know nothing of threads or locks. Flux writes NAME.flux.h.
#include "NAME.flux.h"

#include "flux/reading.hpp"

static int visits;

// GET /PATH HTTP/1.1, and lines up to an empty one.
int ReadRequest(ReadRequest_in *in, ReadRequest_out *out)
{
    std::string request;
    std::string line = "-";
    for (int lines = 0; !line.empty(); ++lines) {
        const int error = flux::take(flux::read_line(*in->connection, 8192), line);
        if (error != 0 || lines == 100) {
            return error != 0 ? error : 400;
        }
        request = lines == 0 ? line : request;
    }
    const size_t end = request.find(' ', 4);
    if (request.compare(0, 5, "GET /") != 0 || end == std::string::npos) {
        return 400;
    }
    out->connection = in->connection;
    out->path = request.substr(4, end - 4);
    return 0;
}

bool IsHome(std::string path)
{
    return path == "/";
}

int Home(Home_out *out)
{
    out->status = "200 OK";
    out->text = "Visit " + std::to_string(++visits) + ".\n";
    return 0;
}

int NotFound(NotFound_in *in, NotFound_out *out)
{
    out->status = "404 Not Found";
    out->text = "There is no " + in->path + " here.\n";
    return 0;
}

static int reply(flux::connection &to, const std::string &status, const std::string &text)
{
    const int error = flux::take(to.send("HTTP/1.1 " + status + "\r\nContent-Type: text/plain\r\nContent-Length: " +
                                         std::to_string(text.size()) + "\r\nConnection: close\r\n\r\n" + text));
    to.close();
    return error;
}

int Send(Send_in *in)
{
    return reply(*in->connection, in->status, in->text);
}

// The inputs are those of the node that failed.
void BadRequest(ReadRequest_in *in, int)
{
    reply(*in->connection, "400 Bad Request", "That is no request.\n");
}
