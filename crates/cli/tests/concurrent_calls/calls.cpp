// Calls each function that the headers of standard modules have for nodes, without any constraint.
#include "calls.h"
#include "calls.flux.h"
#include "compress.h"
#include "dns.h"
#include "state.h"
#include "tcp.h"
#include "tls.h"
#include "udp.h"
#include "upstream.h"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <string>

namespace {

using std::chrono::milliseconds;

constexpr int rounds = 20;

line line_of(const std::string &text)
{
    return *line::make({.text = text});
}

/// How many calls gave something else than they should.
class wrong
{
  public:
    void unless(bool is_right) { count_ += is_right ? 0 : 1; }
    int count() const { return count_; }

  private:
    int count_ = 0;
};

void call_channels(flux::connection *own, wrong &calls)
{
    std::int64_t count = 0;
    channels::Publish("news", line_of("news"), count);
    calls.unless(count >= 0);
    channels::Listeners("news", count);
    calls.unless(count >= 0);
    flux::connection *same = nullptr;
    std::vector<std::string> all;
    calls.unless(channels::Join(1 << 20, "own", flux::message(), own, same) == 0 && same == own);
    calls.unless(channels::Subscriptions(own, same, all) == 0 && all.size() == 1);
    calls.unless(channels::Unsubscribe("own", own, same) == 0);
    channels::Tidy();
}

void call_files(const http::request &request, const files::file &file, wrong &calls)
{
    files::file other;
    calls.unless(files::find_beside(file, ".none", other) == ENOENT);
    calls.unless(!files::fields_of(*file.facts()).empty());
    calls.unless(compress::Choose("gzip br zstd", 100, "text/*", 6, 5, 3, 1000, request, file, other) == 0);
    std::string coded;
    const std::string content(1000, 'x');
    calls.unless(compress::Gzip(6, content, coded) == 0 && coded.size() < content.size());
    calls.unless(compress::Brotli(5, content, coded) == 0 && coded.size() < content.size());
    calls.unless(compress::Zstd(3, content, coded) == 0 && coded.size() < content.size());
}

void call_http(const http::request &request, wrong &calls)
{
    std::string text;
    http::Method(request, text);
    calls.unless(text == "GET" && http::is_get(request) && !http::is_post(request));
    http::Host(request, text);
    http::Field("x-none", request, text);
    calls.unless(text.empty());
    http::Trailer("x-none", request, text);
    http::Query(request, text);
    http::Client(request, text);
    calls.unless(text == "127.0.0.1");
}

void call_state(const std::string &key, wrong &calls)
{
    constexpr std::size_t table = 100;
    std::string value;
    std::uint64_t count = 0;
    std::map<std::string, std::string> all;
    calls.unless(state::Upsert(table, 50, 0, key, std::string("one")) == 0);
    state::Get(table, 50, 0, key, value);
    state::Insert(table, 50, 0, key, value);
    state::Update(table, 50, 0, key, value);
    calls.unless(state::All(table, 50, 0, all) == 0 && state::Count(table, count) == 0);
    state::Delete(table, 50, 0, key, value);
    calls.unless(state::Clear(table) == 0);
}

/// What belongs to sources refuses a node.
void call_sources(wrong &calls)
{
    const flux::endpoint at("127.0.0.1:0");
    flux::connection *connection = nullptr;
    flux::typed_parse<line> parse;
    line one;
    http::request request;
    udp::peer peer{};
    std::string path;
    calls.unless(channels::Deliver() == EPERM);
    calls.unless(tcp::served_at(at) == nullptr);
    calls.unless(tcp::serve_at(at, flux::first_given::at_once, {}) == nullptr);
    calls.unless(tcp::Messages(at, 0, 0, 0, 0, "", connection, one) == EPERM);
    calls.unless(udp::next_message(milliseconds(0), at, peer, parse) == EPERM);
    calls.unless(tls::Listen(at, 0, 0, 0, 0, "", "", "", "", "", "", connection) == EPERM);
    calls.unless(tls::Accept(at, 0, "", "", "", "", "", "", connection) == EPERM);
    calls.unless(tls::layer_at(at, {}) == nullptr);
    calls.unless(http::Listen(at, 0, 0, 0, 0, 0, 0, "", "", "", "", "", "", "", "", "", request, path) == EPERM);
}

void call_servers(wrong &calls)
{
    const char *const to = std::getenv("LINES");
    const flux::moment limit = flux::running_io().now() + std::chrono::minutes(1);
    upstream::limits of;
    of.most = 3;
    of.wait = std::chrono::minutes(1);
    const flux::io_result<flux::connection *> borrowed = upstream::borrow(to, of);
    calls.unless(borrowed.has_value());
    if (borrowed.has_value()) {
        (*borrowed)->give_back();
    }
    of.pipeline = 4;
    const auto reply = upstream::call<line>(to, of, "", line_of("asked"), true);
    calls.unless(reply.has_value() && (*reply).text() == "asked");
    const flux::io_result<flux::connection *> own = dns::connect(to, "", limit);
    calls.unless(own.has_value());
    if (own.has_value()) {
        (*own)->close();
    }
    calls.unless(dns::resolve("localhost", 80, "", limit).has_value());
}

int call_all(const http::request &request, const files::file &file, const std::string &key, std::string &content)
{
    wrong calls;
    for (int round = 0; round != rounds; ++round) {
        call_channels(request.connection(), calls);
        call_files(request, file, calls);
        call_http(request, calls);
        call_state(key, calls);
        call_sources(calls);
    }
    call_servers(calls);
    content = std::to_string(calls.count()) + " calls were wrong";
    return 0;
}

} // namespace

int Take(const http::request &request, flux::message &reply, flux::connection *&connection)
{
    reply = line_of("joined");
    connection = request.take_connection();
    return connection != nullptr ? 0 : EPROTO;
}

int Drop(flux::connection *)
{
    return 0;
}

int Call(const http::request &request, const files::file &file, const std::string &, std::string &content)
{
    return call_all(request, file, "one", content);
}

int CallToo(const http::request &request, const files::file &file, const std::string &, std::string &content)
{
    return call_all(request, file, "two", content);
}
