// The nodes of image.flux, in its order, then its predicates and error handlers. Each does one thing by calling the
// file of its concept: connection, request, cache, picture, reply.
//
// A node returns 0, or an error. ReadRequest's errors are HTTP statuses, those of all others are errno's.
#include "image.flux.h"

#include "cache.h"
#include "connection.h"
#include "picture.h"
#include "reply.h"
#include "request.h"
#include "service.h"

#include <cerrno>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using image::shared;

constexpr const char *html = "text/html; charset=utf-8";

/// The answer's body, wherever it is.
std::string_view body_of(const image_tag &request)
{
    const std::vector<unsigned char> &body = request.cached != nullptr ? request.cached->jpeg : request.body;
    return {reinterpret_cast<const char *>(body.data()), body.size()};
}

/// Sends the page of an error, as far as the client takes it, and gives the connection back.
void answer_error(int socket, int status, bool head_only, bool close)
{
    image::page_buffer page;
    const std::string_view body = image::write_error_page(status, page);
    image::head_buffer buffer;
    const image::reply reply{status, html, body.size(), close};
    const std::string_view head = image::write_head(reply, buffer);
    const int error = shared().connections.send(socket, head, head_only ? std::string_view{} : body);
    shared().connections.finish(socket, close || error != 0);
}

/// The page at `/`.
std::string list_page(const std::vector<std::string> &names)
{
    std::string page = "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>Pictures</title>\n"
                       "<style>body { font: 16px sans-serif; margin: 2em } img { display: block }"
                       " figure { display: inline-block; margin: 1em } a { margin-right: .5em }</style>\n"
                       "<h1>Pictures</h1>\n";
    for (const std::string &name : names) {
        const std::string link = "/" + name + ".jpg?scale=";
        page += "<figure><img src=\"" + link + "1\" alt=\"\" loading=\"lazy\">\n<figcaption>" + name + "<br>\n";
        for (int scale = 1; scale <= 8; ++scale) {
            const std::string eighths = std::to_string(scale);
            page += "<a href=\"" + link + eighths + "\">" + eighths + "/8</a>\n";
        }
        page += "</figcaption></figure>\n";
    }
    return page + "</html>\n";
}

} // namespace

int Listen(Listen_out *out)
{
    return shared().connections.next_request(out->socket);
}

int ReadRequest(ReadRequest_in *in, ReadRequest_out *out)
{
    auto request = std::make_unique<image_tag>();
    const auto parsed = image::parse_request(shared().connections.request(in->socket), *request);
    if (parsed.refusal != 0)
        return parsed.refusal;
    shared().connections.take(in->socket, parsed.length);
    *out = {in->socket, parsed.close, request.release()};
    return 0;
}

int CheckCache(CheckCache_in *in, CheckCache_out *out)
{
    *out = {in->socket, in->close, in->request};
    in->request->cached = shared().cache.find(in->request->key);
    return 0;
}

int ListPictures(ListPictures_in *in, ListPictures_out *out)
{
    *out = {in->socket, in->close, in->request};
    std::vector<std::string> names;
    if (const int error = image::list_pictures(shared().folder, names); error != 0)
        return error;
    const std::string page = list_page(names);
    in->request->content_type = html;
    in->request->body.assign(page.begin(), page.end());
    return 0;
}

int ReadInFromDisk(ReadInFromDisk_in *in, ReadInFromDisk_out *out)
{
    image_tag &request = *in->request;
    image::pixels picture;
    if (const int error = image::read_ppm(shared().folder, request.name, picture); error != 0)
        return error;
    request.width = picture.width;
    request.height = picture.height;
    *out = {in->socket, in->close, in->request, picture.rgb.release()};
    return 0;
}

int Compress(Compress_in *in, Compress_out *out)
{
    image_tag &request = *in->request;
    image::pixels picture{request.width, request.height, std::unique_ptr<__u8[]>(in->rgb_data)};
    if (request.scale < 8)
        picture = image::scaled(picture, request.scale);
    request.body = image::compressed(picture);
    *out = {in->socket, in->close, in->request};
    return request.body.empty() ? ENOMEM : 0;
}

int StoreInCache(StoreInCache_in *in, StoreInCache_out *out)
{
    *out = {in->socket, in->close, in->request};
    in->request->cached = shared().cache.store(in->request->key, in->request->body);
    return 0;
}

int Write(Write_in *in, Write_out *out)
{
    *out = {in->socket, in->close, in->request};
    const image_tag &request = *in->request;
    image::page_buffer page;
    const bool is_good = request.status == 200;
    const std::string_view body = is_good ? body_of(request) : image::write_error_page(request.status, page);
    image::head_buffer buffer;
    const image::reply reply{request.status, request.content_type, body.size(), in->close};
    const std::string_view head = image::write_head(reply, buffer);
    return shared().connections.send(in->socket, head, request.head_only ? std::string_view{} : body);
}

int Complete(Complete_in *in)
{
    const std::unique_ptr<image_tag> request(in->request);
    if (request->cached != nullptr)
        shared().cache.release(request->cached);
    shared().connections.finish(in->socket, in->close);
    return 0;
}

bool TestInCache(image_tag *request)
{
    return request->cached != nullptr;
}

bool TestListing(image_tag *request)
{
    return request->listing;
}

void BadRequest(ReadRequest_in *in, int error)
{
    // The request was not taken off the connection's input, so its method can still be seen.
    const bool head_only = shared().connections.request(in->socket).starts_with("HEAD ");
    // An error that is no status is an exception's: memory has run out.
    answer_error(in->socket, error >= 400 && error < 600 ? error : 500, head_only, true);
}

void FourOhFour(ReadInFromDisk_in *in, int error)
{
    const std::unique_ptr<image_tag> request(in->request);
    // A picture that is there but cannot be read is our fault, not the client's.
    const bool is_missing = error == ENOENT || error == ENAMETOOLONG;
    answer_error(in->socket, is_missing ? 404 : 500, request->head_only, in->close);
}

int ServerError(ServerError_in *in, ServerError_out *out)
{
    *out = {in->socket, true, in->request};
    in->request->status = 500;
    in->request->content_type = html;
    return 0;
}

int Abandon(Abandon_in *in, Abandon_out *out)
{
    *out = {in->socket, true, in->request};
    return 0;
}
