// The nodes of cases.flux: each case calls a library, or the system, as any program does that has a thread to itself.
#include "cases.flux.h"

#include "cases.hpp"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <curl/curl.h>
#include <exception>
#include <fstream>
#include <hiredis/hiredis.h>
#include <mariadb/mysql.h>
#include <memory>
#include <netdb.h>
#include <poll.h>
#include <postgresql/libpq-fe.h>
#include <stdexcept>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace {

using namespace std::chrono_literals;

/// Where servers are that the cases use: `slow 127.0.0.1 4000`, a line each.
std::map<std::string, std::pair<std::string, std::string>> peers;

[[noreturn]] void fail(const std::string &why)
{
    throw std::runtime_error(why);
}

/// A socket that is connected to this peer, and blocks.
class connection_to
{
  public:
    explicit connection_to(const std::string &peer)
    {
        addrinfo hints{};
        hints.ai_socktype = SOCK_STREAM;
        hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
        addrinfo *found = nullptr;
        const auto &[host, port] = peers.at(peer);
        if (getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0) {
            fail("no address");
        }
        socket_ = socket(found->ai_family, SOCK_STREAM, 0);
        const bool connected = connect(socket_, found->ai_addr, found->ai_addrlen) == 0;
        freeaddrinfo(found);
        if (!connected) {
            fail(std::strerror(errno));
        }
    }
    ~connection_to() { close(socket_); }
    connection_to(const connection_to &) = delete;

    int number() const { return socket_; }

    void ask(const char *line) { dprintf(socket_, "%s\n", line); }

    std::string answer()
    {
        char bytes[100];
        const ssize_t got = read(socket_, bytes, sizeof bytes);
        return got < 0 ? std::strerror(errno) : std::string(bytes, static_cast<std::size_t>(got));
    }

  private:
    int socket_ = -1;
};

std::string read_write()
{
    connection_to slow("slow");
    slow.ask("one");
    std::string all = slow.answer();
    usleep(100'000);
    slow.ask("two");
    return all + slow.answer();
}

std::string by_poll()
{
    connection_to slow("slow");
    slow.ask("one");
    pollfd on{slow.number(), POLLIN, 0};
    const int found = poll(&on, 1, 60'000);
    return std::to_string(found) + slow.answer();
}

std::string by_select()
{
    connection_to slow("slow");
    slow.ask("one");
    fd_set read;
    FD_ZERO(&read);
    FD_SET(slow.number(), &read);
    const int found = select(slow.number() + 1, &read, nullptr, nullptr, nullptr);
    return std::to_string(found) + slow.answer();
}

std::string by_epoll()
{
    connection_to slow("slow");
    slow.ask("one");
    const int epoll = epoll_create1(0);
    epoll_event event{};
    event.events = EPOLLIN;
    epoll_ctl(epoll, EPOLL_CTL_ADD, slow.number(), &event);
    int found = -1;
    do {
        found = epoll_wait(epoll, &event, 1, -1);
    } while (found < 0 && errno == EINTR); // the process was stopped meanwhile, and went on (signal(7))
    close(epoll);
    return std::to_string(found) + slow.answer();
}

std::string sleeps()
{
    std::this_thread::sleep_for(200ms);
    sleep(0);
    const timespec time{0, 100'000'000};
    nanosleep(&time, nullptr);
    return "slept";
}

size_t append(char *bytes, size_t, size_t size, void *to)
{
    static_cast<std::string *>(to)->append(bytes, size);
    return size;
}

/// `certificate` is whom to trust, if anybody.
std::string fetch(const char *scheme, const char *peer, const char *certificate)
{
    const auto &[host, port] = peers.at(peer);
    std::string body;
    const std::unique_ptr<CURL, void (*)(CURL *)> easy(curl_easy_init(), curl_easy_cleanup);
    curl_easy_setopt(easy.get(), CURLOPT_URL, (std::string(scheme) + "://" + host + ":" + port + "/").c_str());
    curl_easy_setopt(easy.get(), CURLOPT_WRITEFUNCTION, append);
    curl_easy_setopt(easy.get(), CURLOPT_WRITEDATA, &body);
    curl_easy_setopt(easy.get(), CURLOPT_NOSIGNAL, 1L);
    if (certificate != nullptr) {
        curl_easy_setopt(easy.get(), CURLOPT_CAINFO, peers.at(certificate).first.c_str());
    }
    const CURLcode result = curl_easy_perform(easy.get());
    return result == CURLE_OK ? body : std::string("failed: ") + std::to_string(result);
}

/// Each second one does not trust the server.
std::string fetch_by_tls()
{
    static std::atomic<int> turn{0};
    const bool trusts = turn++ % 2 == 0;
    const std::string got = fetch("https", "tls", trusts ? "certificate" : "stranger");
    const std::string expected = trusts ? "slow page" : "failed: 60";
    return got == expected ? "as it trusts" : got;
}

std::string postgres()
{
    const auto &[host, port] = peers.at("postgres");
    const std::string where = "host=" + host + " port=" + port + " user=cases dbname=postgres sslmode=disable";
    const std::unique_ptr<PGconn, void (*)(PGconn *)> to(PQconnectdb(where.c_str()), PQfinish);
    if (PQstatus(to.get()) != CONNECTION_OK) {
        fail(PQerrorMessage(to.get()));
    }
    const std::unique_ptr<PGresult, void (*)(PGresult *)> rows(PQexec(to.get(), "select 'row' from pg_sleep(0.3)"),
                                                                PQclear);
    return PQntuples(rows.get()) == 1 ? PQgetvalue(rows.get(), 0, 0) : PQerrorMessage(to.get());
}

std::string redis()
{
    const auto &[host, port] = peers.at("redis");
    const std::unique_ptr<redisContext, void (*)(redisContext *)> to(redisConnect(host.c_str(), std::stoi(port)),
                                                                      redisFree);
    if (to == nullptr || to->err != 0) {
        fail(to == nullptr ? "no memory" : to->errstr);
    }
    auto *const reply = static_cast<redisReply *>(redisCommand(to.get(), "BLPOP nothing 0.3"));
    if (reply == nullptr) {
        fail(to->errstr);
    }
    const std::string got = reply->type == REDIS_REPLY_NIL ? "nothing" : "something";
    freeReplyObject(reply);
    return got;
}

std::string mariadb()
{
    const auto &[host, port] = peers.at("mariadb");
    const std::unique_ptr<MYSQL, void (*)(MYSQL *)> to(mysql_init(nullptr), mysql_close);
    const auto number = static_cast<unsigned>(std::stoi(port));
    if (mysql_real_connect(to.get(), host.c_str(), "cases", "", nullptr, number, nullptr, 0) == nullptr ||
        mysql_query(to.get(), "select sleep(0.3)") != 0) {
        fail(mysql_error(to.get()));
    }
    const std::unique_ptr<MYSQL_RES, void (*)(MYSQL_RES *)> rows(mysql_store_result(to.get()), mysql_free_result);
    return mysql_fetch_row(rows.get())[0];
}

const case_map library_cases = {
    {"read-write", read_write},
    {"poll", by_poll},
    {"select", by_select},
    {"epoll", by_epoll},
    {"sleep", sleeps},
    {"curl", [] { return fetch("http", "http", nullptr); }},
    {"curl-tls", fetch_by_tls},
    {"postgres", postgres},
    {"redis", redis},
    {"mariadb", mariadb},
};

/// All of them.
case_map cases = library_cases;

} // namespace

int init(const server_options &options, std::string &why)
{
    cases.merge(lock_cases());
    cases.merge(system_cases());
    curl_global_init(CURL_GLOBAL_ALL);
    mysql_library_init(0, nullptr, nullptr);
    std::ifstream file(options.peers);
    std::string name;
    std::string host;
    std::string port;
    while (file >> name >> host >> port) {
        peers[name] = {host, port};
    }
    why = "there is nobody in the file of peers";
    return peers.empty() ? 1 : 0;
}

int Answer(Answer_in *in, Answer_out *out)
{
    const auto known = cases.find(in->line);
    try {
        out->bytes = (known == cases.end() ? in->line : known->second()) + "\n";
    } catch (const std::exception &error) {
        out->bytes = std::string("failed: ") + error.what() + "\n";
    }
    return 0;
}
