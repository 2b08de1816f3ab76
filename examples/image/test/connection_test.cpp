// Connections, over real sockets: who gets a request and when, what slow and rude clients get, how it closes.
#include "../connection.h"

#include "patience.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <future>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

using image::connection_table;

namespace {

const std::string request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

constexpr image::time_limits patient{3'600'000, 3'600'000, 3'600'000, 3'600'000, 10};

/// The other end of a connection.
class client {
public:
    explicit client(int port, int receive_buffer = 0) : socket_(::socket(AF_INET, SOCK_STREAM, 0))
    {
        if (receive_buffer != 0)
            setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
        const timeval limit{60, 0};
        setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(static_cast<std::uint16_t>(port));
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        EXPECT_EQ(connect(socket_, reinterpret_cast<sockaddr *>(&address), sizeof address), 0);
    }
    ~client()
    {
        close(socket_);
    }
    client(const client &) = delete;
    client &operator=(const client &) = delete;

    void send(const std::string &bytes)
    {
        EXPECT_EQ(::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
    }

    /// What arrives until the server closes its side.
    std::string read_to_end()
    {
        std::string all;
        char part[4096];
        ssize_t got = 0;
        while ((got = receive(part, sizeof part)) > 0)
            all.append(part, static_cast<std::size_t>(got));
        EXPECT_EQ(got, 0) << "the connection ended in an error, or not at all";
        return all;
    }

    std::string read(std::size_t bytes)
    {
        std::string all(bytes, '\0');
        std::size_t come = 0;
        ssize_t got = 1;
        while (come < bytes && (got = receive(all.data() + come, bytes - come)) > 0)
            come += static_cast<std::size_t>(got);
        EXPECT_EQ(come, bytes);
        return all;
    }

    void half_close()
    {
        shutdown(socket_, SHUT_WR);
    }

private:
    /// As recv(2). A process that was stopped and goes on is interrupted.
    ssize_t receive(char *into, std::size_t most)
    {
        ssize_t got = 0;
        do {
            got = recv(socket_, into, most, 0);
        } while (got < 0 && errno == EINTR);
        return got;
    }

    const int socket_;
};

/// A table that listens on a free port.
struct Server {
    explicit Server(const image::time_limits &limits = patient) : table(limits)
    {
        alarm(60); // a test that waits for ever fails
        table.listen("127.0.0.1", "0");
    }

    /// The next connection with a request.
    int next()
    {
        int socket = -1;
        int error = 0;
        do {
            error = table.next_request(socket);
        } while (error == EINTR); // as a source is called again
        EXPECT_EQ(error, 0);
        return socket;
    }

    connection_table table;
};

/// That nothing comes out of the table before the request of another client, which comes later.
void expect_no_request(Server &server)
{
    const std::string last = "GET /last HTTP/1.1\r\nHost: a\r\n\r\n";
    client other(server.table.port());
    other.send(last);
    const int socket = server.next();
    EXPECT_EQ(server.table.request(socket), last);
    server.table.take(socket, last.size());
    server.table.finish(socket, true);
}

/// That nothing comes out of the table before `come`, on a thread of its own, returns.
template <class Event>
void expect_no_request_before(Server &server, Event come)
{
    struct sigaction ignore{};
    ignore.sa_handler = [](int) {};
    sigaction(SIGUSR1, &ignore, nullptr);
    std::atomic<bool> has_come = false;
    std::atomic<bool> done = false;
    std::thread other([&come, &has_come, &done, target = pthread_self()] {
        come();
        has_come = true;
        while (!done) {
            pthread_kill(target, SIGUSR1);
            std::this_thread::yield();
        }
    });
    int socket = -1;
    int error = EINTR;
    // A process that was stopped is interrupted, too.
    while (error == EINTR && !has_come)
        error = server.table.next_request(socket);
    EXPECT_EQ(error, EINTR);
    done = true;
    other.join();
}

/// The state of the thread that made it.
class thread_state {
public:
    thread_state() : file_(open("/proc/thread-self/stat", O_RDONLY)) {}
    ~thread_state()
    {
        close(file_);
    }
    thread_state(const thread_state &) = delete;
    thread_state &operator=(const thread_state &) = delete;

    void wait_until_asleep() const
    {
        std::string stat(200, '\0');
        while (pread(file_, stat.data(), stat.size(), 0) <= 0 || stat.find(") S ") == std::string::npos)
            std::this_thread::yield();
    }

private:
    const int file_;
};

} // namespace

TEST(Connection, BringsARequestAndTakesAnAnswer)
{
    Server server;
    client one(server.table.port());
    one.send(request);
    const int socket = server.next();
    EXPECT_EQ(server.table.request(socket), request);
    server.table.take(socket, request.size());
    EXPECT_EQ(server.table.send(socket, "head ", "body"), 0);
    server.table.finish(socket, true);
    EXPECT_EQ(one.read_to_end(), "head body");
}

TEST(Connection, IsKeptForTheNextRequest)
{
    Server server;
    client one(server.table.port());
    int first = -1;
    for (int round = 0; round < 3; ++round) {
        one.send(request);
        const int socket = server.next();
        first = round == 0 ? socket : first;
        EXPECT_EQ(socket, first);
        server.table.take(socket, request.size());
        EXPECT_EQ(server.table.send(socket, "abc", ""), 0);
        server.table.finish(socket, false);
        EXPECT_EQ(one.read(3), "abc");
    }
}

TEST(Connection, BringsPipelinedRequestsOneByOne)
{
    Server server;
    client one(server.table.port());
    const std::string other = "GET /b HTTP/1.1\r\nHost: a\r\n\r\n";
    one.send("\r\n" + request + "\r\n\r\n" + other + request);
    for (const std::string &expected : {request, other, request}) {
        const int socket = server.next();
        ASSERT_TRUE(server.table.request(socket).starts_with(expected)) << server.table.request(socket);
        server.table.take(socket, expected.size());
        server.table.finish(socket, false);
    }
    expect_no_request(server);
}

TEST(Connection, OfManyPipelinedRequestsIsBroughtToTheEnd)
{
    Server server;
    client one(server.table.port());
    constexpr int count = 2000;
    const auto sender = std::async(std::launch::async, [&] {
        std::string all;
        for (int at = 0; at < count; ++at)
            all += request;
        one.send(all);
    });
    for (int at = 0; at < count; ++at) {
        const int socket = server.next();
        ASSERT_TRUE(server.table.request(socket).starts_with(request)) << at;
        server.table.take(socket, request.size());
        server.table.finish(socket, false);
    }
}

TEST(Connection, WithHalfARequestWaitsForTheOther)
{
    Server server;
    client one(server.table.port());
    one.send(request.substr(0, 10));
    expect_no_request(server);
    one.send(request.substr(10));
    EXPECT_EQ(server.table.request(server.next()), request);
}

TEST(Connection, KeepsHalfOfThePipelinedRequest)
{
    Server server;
    client one(server.table.port());
    one.send(request + request.substr(0, 7));
    int socket = server.next();
    server.table.take(socket, request.size());
    server.table.finish(socket, false);
    expect_no_request(server);
    one.send(request.substr(7));
    EXPECT_EQ(server.table.request(server.next()), request);
}

TEST(Connection, BringsWhatIsTooLong)
{
    Server server;
    client one(server.table.port());
    one.send(std::string(3 * image::max_head_bytes, 'a'));
    EXPECT_EQ(server.table.request(server.next()).size(), image::max_head_bytes);
}

TEST(Connection, BringsARequestThatIsCutShort)
{
    Server server;
    client one(server.table.port());
    one.send("GET / HT");
    one.half_close();
    EXPECT_EQ(server.table.request(server.next()), "GET / HT");
}

TEST(Connection, ServesAClientThatHasHalfClosed)
{
    Server server;
    client one(server.table.port());
    one.send(request + request);
    one.half_close();
    for (int round = 0; round < 2; ++round) {
        const int socket = server.next();
        server.table.take(socket, request.size());
        EXPECT_EQ(server.table.send(socket, "abc", ""), 0);
        server.table.finish(socket, false);
    }
    expect_no_request_before(server, [&] { EXPECT_EQ(one.read_to_end(), "abcabc"); });
}

TEST(Connection, ThatIsSlowWithARequestIsBroughtAtTheDeadline)
{
    Server server({3'600'000, 50, 3'600'000, 3'600'000, 10});
    client one(server.table.port());
    one.send("GET");
    EXPECT_EQ(server.table.request(server.next()), "GET");
}

TEST(Connection, ThatDribblesARequestIsNotWaitedForLonger)
{
    Server server({3'600'000, 200, 3'600'000, 3'600'000, 10});
    client one(server.table.port());
    std::atomic<bool> brought = false;
    const auto dribble = std::async(std::launch::async, [&] {
        while (!brought) {
            one.send("a");
            let_pass(std::chrono::milliseconds(20));
        }
    });
    EXPECT_LT(server.table.request(server.next()).size(), image::max_head_bytes);
    brought = true;
}

TEST(Connection, ThatIsIdleIsClosedAtTheDeadline)
{
    Server server({50, 50, 3'600'000, 3'600'000, 10});
    client silent(server.table.port());
    client served(server.table.port());
    served.send(request);
    const int socket = server.next();
    server.table.take(socket, request.size());
    EXPECT_EQ(server.table.send(socket, "abc", ""), 0);
    server.table.finish(socket, false);
    expect_no_request_before(server, [&] {
        EXPECT_EQ(silent.read_to_end(), "");
        EXPECT_EQ(served.read_to_end(), "abc");
    });
}

TEST(Connection, DoesNotCloseOneThatAFlowHas)
{
    Server server({50, 50, 3'600'000, 3'600'000, 10});
    client one(server.table.port());
    one.send(request);
    const int socket = server.next();
    client later(server.table.port());
    expect_no_request_before(server, [&] { EXPECT_EQ(later.read_to_end(), ""); });
    EXPECT_EQ(server.table.send(socket, "still ", "here"), 0);
    EXPECT_EQ(one.read(10), "still here");
}

TEST(Connection, DropsWhatComesAfterTheClose)
{
    // Were the socket closed with input unread, the client would get a reset instead of the end of the answer.
    Server server;
    client one(server.table.port());
    one.send(request + std::string(5'000, 'x'));
    const int socket = server.next();
    const std::string body(300'000, 'b');
    auto reader = std::async(std::launch::async, [&] {
        one.send(std::string(200'000, 'y'));
        return one.read_to_end().size();
    });
    EXPECT_EQ(server.table.send(socket, "", body), 0);
    server.table.finish(socket, true);
    expect_no_request_before(server, [&] { EXPECT_EQ(reader.get(), body.size()); });
}

TEST(Connection, LingersNoLongerThanItsLimit)
{
    Server server({3'600'000, 3'600'000, 3'600'000, 50, 10});
    client one(server.table.port());
    one.send(request);
    const int socket = server.next();
    server.table.finish(socket, true);
    EXPECT_EQ(one.read_to_end(), "");
    expect_no_request_before(server, [&] {
        while (fcntl(socket, F_GETFD) != -1)
            std::this_thread::yield();
    });
}

TEST(Connection, SendsLargeAnswers)
{
    Server server;
    client one(server.table.port(), 4096);
    one.send(request);
    const int socket = server.next();
    const std::string body(10'000'000, 'b');
    auto reader = std::async(std::launch::async, [&] { return one.read(4 + body.size()); });
    EXPECT_EQ(server.table.send(socket, "head", body), 0);
    EXPECT_EQ(reader.get(), "head" + body);
}

TEST(Connection, GivesUpOnAClientThatDoesNotRead)
{
    Server server({3'600'000, 3'600'000, 50, 3'600'000, 10});
    client one(server.table.port(), 4096);
    one.send(request);
    const int socket = server.next();
    EXPECT_EQ(server.table.send(socket, "head", std::string(50'000'000, 'b')), ETIMEDOUT);
}

TEST(Connection, SeesThatAClientHasGone)
{
    Server server;
    int socket = -1;
    {
        client one(server.table.port());
        one.send(request + std::string(100'000, 'x'));
        socket = server.next();
    }
    int error = 0;
    for (int round = 0; round < 100 && error == 0; ++round)
        error = server.table.send(socket, "head", std::string(1'000'000, 'b'));
    EXPECT_TRUE(error == EPIPE || error == ECONNRESET) << error;
    server.table.finish(socket, true);
    expect_no_request(server);
}

TEST(Connection, RestsWhenDescriptorsRunOut)
{
    rlimit before{};
    getrlimit(RLIMIT_NOFILE, &before);
    Server server;
    const thread_state main;
    client first(server.table.port());
    client waiting(server.table.port());
    // The next descriptor would be the first that is beyond the limit.
    const int next = dup(0);
    close(next);
    const rlimit none{static_cast<rlim_t>(next), before.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
    expect_no_request_before(server, [&] { main.wait_until_asleep(); });
    setrlimit(RLIMIT_NOFILE, &before);
    waiting.send(request);
    EXPECT_EQ(server.table.request(server.next()), request);
}

TEST(Connection, CannotListenWhereAnotherDoes)
{
    Server server;
    connection_table other;
    EXPECT_THROW(other.listen("127.0.0.1", std::to_string(server.table.port())), std::system_error);
    connection_table bad;
    EXPECT_THROW(bad.listen("localhost", "0"), std::system_error);
    EXPECT_THROW(bad.listen("127.0.0.1", "http"), std::system_error);
}

/// Flows on several threads against clients that pipeline: every request is served once, on one thread at a time.
TEST(Connection, ChangesHandsBetweenThreads)
{
    Server server;
    constexpr int clients = 8;
    constexpr int requests = 300;
    std::atomic<int> served = 0;
    std::vector<std::thread> client_threads;
    for (int number = 0; number < clients; ++number) {
        client_threads.emplace_back([&server, number] {
            client one(server.table.port());
            for (int sent = 0; sent < requests; sent += 10) {
                std::string batch;
                for (int at = 0; at < 10; ++at)
                    batch += "GET /" + std::to_string(number) + "-" + std::to_string(sent + at) + " HTTP/1.1\r\n\r\n";
                one.send(batch);
                for (int at = 0; at < 10; ++at) {
                    const std::string expected = "/" + std::to_string(number) + "-" + std::to_string(sent + at) + ";";
                    EXPECT_EQ(one.read(expected.size()), expected);
                }
            }
        });
    }
    std::vector<std::thread> flows;
    while (served < clients * requests) {
        const int socket = server.next();
        ++served;
        flows.emplace_back([&server, socket] {
            const std::string_view input = server.table.request(socket);
            const std::size_t end = input.find(" HTTP");
            const std::string answer(input.substr(4, end - 4));
            server.table.take(socket, input.find("\r\n\r\n") + 4);
            EXPECT_EQ(server.table.send(socket, answer, ";"), 0);
            server.table.finish(socket, false);
        });
    }
    for (std::thread &thread : flows)
        thread.join();
    for (std::thread &thread : client_threads)
        thread.join();
}
