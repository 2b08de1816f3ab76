// The nodes. The sections named here are those of RFC 9110. What comes in is in http_request.cpp and http_listen.cpp,
// what goes out in http_answer.cpp, what is computed of texts alone in http_text.cpp.

#include "http.flux.h"

#include "http_answer.h"
#include "http_ranges.h"
#include "http_settings.h"
#include "http_text.h"

#include "flux/message_stream.hpp"
#include "flux/send_message.hpp"

#include <algorithm>
#include <cerrno>

namespace http {

using namespace http_text;
using std::string_view;

namespace {

// "13 Conditional Requests", "14 Range Requests".

/// "13.2.2 Precedence of Preconditions": 0 where the file is to be sent, else 304 or 412.
int come_of_conditions(const request &one, const files::file &file)
{
    const std::time_t changed = file.modified().tv_sec;
    if (const std::string wanted = one.list("if-match"); !wanted.empty()) {
        if (!has_tag(wanted, file.tag(), false)) {
            return 412;
        }
    } else if (const auto since = time_of(one.field("if-unmodified-since")); since && changed > *since) {
        return 412;
    }
    if (const std::string known = one.list("if-none-match"); !known.empty()) {
        return has_tag(known, file.tag(), true) ? 304 : 0;
    }
    const auto since = time_of(one.field("if-modified-since"));
    return since && changed <= *since ? 304 : 0;
}

/// "13.1.5 If-Range": whether a range is wanted of this file.
bool wants_range(const request &one, const files::file &file)
{
    const string_view field = one.field("if-range");
    if (field.empty() || field.starts_with('"') || field.starts_with("W/")) {
        return field.empty() || field == file.tag();
    }
    return time_of(field) == file.modified().tv_sec;
}

/// Sends what is made while it is sent.
int send_made(const request &to, const files::file &file)
{
    response head{200, {{"ETag", file.tag()}, {"Last-Modified", last_modified_of(file.modified().tv_sec)},
                        {"Content-Type", content_type_of(file.type())}, {"Content-Encoding", file.coding()}}, {}};
    if (file.varies()) {
        head.fields.push_back({"Vary", "Accept-Encoding"});
    }
    return send_stream(to, head, *file.made());
}

} // namespace

void Method(const request &of, std::string &method)
{
    method = of.method();
}

void Host(const request &of, std::string &host)
{
    const string_view all = of.authority();
    const std::size_t end = all.starts_with('[') ? all.find(']') + 1 : all.find(':');
    host = all.substr(0, end);
    std::transform(host.begin(), host.end(), host.begin(), lower);
    if (host.ends_with('.')) {
        host.pop_back();
    }
}

void Field(const char *name, const request &of, std::string &value)
{
    value = of.field(name);
}

void Trailer(const char *name, const request &of, std::string &value)
{
    value = of.trailer(name);
}

void Query(const request &of, std::string &query)
{
    query = of.query();
}

void Client(const request &of, std::string &client)
{
    client = client_of(of);
}

int Content(const request &of, std::string &content)
{
    const std::shared_ptr<flux::body> from = of.body();
    if (from == nullptr) {
        return 0;
    }
    return flux::take(flux::through_window(
        [&](std::span<std::byte> into) { return from->pull(into, flux::never); },
        [&](string_view piece) {
            content += piece;
            return flux::io_result<void>();
        }));
}

int Send(const request &to, const files::file &file)
{
    if (!is_get(to)) {
        return send_not_allowed(to, "GET, HEAD, OPTIONS");
    }
    range part{0, file.size(), range::kind::whole};
    int status = 0;
    if (to.facts().has_conditions) {
        status = come_of_conditions(to, file);
        const string_view field = to.field("range");
        if (status == 0 && !field.empty() && !to.is_head() && !file.is_made() && wants_range(to, file)) {
            const std::vector<range> parts = ranges_of(field, file.size());
            if (parts.size() > 1) {
                return send_ranges(to, file, parts);
            }
            part = parts.front();
            status = part.what == range::kind::unsatisfiable ? 416 : part.what == range::kind::part ? 206 : 0;
        }
    }
    if (status == 412) {
        return send_error(to, 412);
    }
    if (status == 416) {
        return send_error(to, 416, "Content-Range", "bytes */" + std::to_string(file.size()));
    }
    if (status == 0 && file.is_made()) {
        return send_made(to, file);
    }
    answer with(to, status == 0 ? 200 : status);
    if (const int error = with.begin(); error != 0) {
        return error;
    }
    if (status == 0) {
        with.head.add_lines(file.fields());
    } else {
        with.head.add("ETag", file.tag()).add("Last-Modified", last_modified_of(file.modified().tv_sec));
    }
    if (file.varies()) {
        with.head.add("Vary", "Accept-Encoding");
    }
    if (status == 304) {
        return with.send({});
    }
    if (status == 206) {
        with.head.add("Content-Type", content_type_of(file.type())).add("Accept-Ranges", "bytes").add_length(part.size);
        with.head.add("Content-Range", content_range_of(part, file.size()));
    }
    if (to.is_head() || part.size == 0) {
        return with.send({});
    }
    return with.send(file, part);
}

int Reply(const request &to, const response &with)
{
    answer made(to, std::clamp(with.status, 200, 599));
    const int wrong = made.add(with.fields);
    if (const int error = wrong != 0 ? wrong : made.begin(); error != 0) {
        return error;
    }
    if (has_content(with.status)) {
        made.head.add_length(with.content.size());
    }
    return made.send(with.content);
}

int SendText(int status, const char *type, const request &to, const std::string &content)
{
    return Reply(to, {status, {{"Content-Type", type}}, content});
}

int Refuse(int status, const request &to)
{
    return send_error(to, status);
}

int NotAllowed(const char *methods, const request &to)
{
    return send_not_allowed(to, methods);
}

int Redirect(int status, const request &to, const std::string &location)
{
    return is_field("Location", location) ? send_error(to, status, "Location", location) : EINVAL;
}

int NotFound(const request &to, int error)
{
    if (error == EISDIR) {
        const target_parts parts = parts_of(to.target());
        std::string location(parts.path.substr(parts.path.find_last_of('/') + 1));
        location = "./" + location + "/" + (parts.query.empty() ? "" : "?" + std::string(parts.query));
        return send_error(to, 301, "Location", location);
    }
    const bool is_missing = error == ENOENT || error == ENOTDIR || error == ENAMETOOLONG || error == ELOOP;
    return is_missing ? send_error(to, 404) : error == EACCES ? send_error(to, 403) : Failed(to, error);
}

int Failed(const request &to, int error)
{
    const auto rest = to.message().stream();
    const bool comes = rest != nullptr && !rest->has_ended();
    const bool is_status = error >= 400 && error <= 599;
    int status = is_status ? error : 500;
    switch (error) {
    case EBADMSG:
    case ECONNRESET:
        status = 400;
        break;
    case EMSGSIZE:
        status = 413;
        break;
    case ETIMEDOUT:
        status = comes ? 408 : 503;
        break;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case EBUSY:
    case EAGAIN:
    case flux::out_of_memory:
        status = 503;
        break;
    default:
        break;
    }
    const int failed = send_error(to, status);
    return failed == EBADF && to.connection() != nullptr ? flux::take(to.connection()->close()) : failed;
}

} // namespace http
