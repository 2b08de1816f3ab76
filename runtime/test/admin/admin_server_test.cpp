#include "flux/admin/admin_server.hpp"

#include "../support/socket_peer.hpp"
#include "../support/patience.hpp"

#include <cstdio>
#include <filesystem>
#include <gtest/gtest.h>
#include <optional>
#include <stdexcept>
#include <string>
#include <sys/stat.h>
#include <system_error>
#include <vector>

namespace {

using namespace std::chrono_literals;

flux::admin_answer page(const flux::admin_request &of)
{
    if (of.path == "/large") {
        return {200, "text/plain", std::string(4'000'000, 'x')};
    }
    if (of.path == "/wrong") {
        throw std::runtime_error("it is wrong");
    }
    return {of.path == "/here" ? 200 : 404, "text/plain", "page " + std::string(of.path)};
}

// All that comes back for these bytes.
std::string answer(const flux::admin_server &from, const std::string &bytes)
{
    network::socket_peer peer;
    EXPECT_EQ(peer.connect(from.at()), 0);
    peer.send(bytes);
    std::string all;
    for (std::string some = peer.receive(); !some.empty(); some = peer.receive()) {
        all += some;
    }
    return all;
}

std::string get(const flux::admin_server &from, const std::string &path)
{
    return answer(from, "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
}

class AdminServer : public testing::Test
{
  protected:
    flux::admin_server server{flux::loopback_address(0), page, await_limit};
};

TEST_F(AdminServer, GivesItsPages)
{
    const std::string found = get(server, "/here");
    EXPECT_TRUE(found.starts_with("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 10\r\n")) << found;
    EXPECT_TRUE(found.ends_with("\r\n\r\npage /here")) << found;
    EXPECT_TRUE(get(server, "/there").starts_with("HTTP/1.1 404 Not Found\r\n"));
    EXPECT_TRUE(get(server, "/large").ends_with(std::string(4'000'000, 'x')));
}

TEST_F(AdminServer, AnswersHeadWithoutTheBody)
{
    const std::string head = answer(server, "HEAD /here HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_NE(head.find("Content-Length: 10\r\n"), std::string::npos);
    EXPECT_TRUE(head.ends_with("\r\n\r\n")) << head;
}

TEST_F(AdminServer, RefusesWhatItIsNotFor)
{
    EXPECT_TRUE(answer(server, "PUT /here HTTP/1.1\r\nHost: localhost\r\n\r\n").starts_with("HTTP/1.1 405 "));
    const std::string foreign = "POST /here HTTP/1.1\r\nHost: localhost\r\nOrigin: http://example.org\r\n\r\n";
    EXPECT_TRUE(answer(server, foreign).starts_with("HTTP/1.1 403 "));
    EXPECT_TRUE(answer(server, "GET /here HTTP/1.1\r\nHost: example.org\r\n\r\n").starts_with("HTTP/1.1 403 "));
    EXPECT_TRUE(answer(server, "no request\r\n\r\n").starts_with("HTTP/1.1 400 "));
    EXPECT_TRUE(answer(server, std::string(9'000, 'x')).starts_with("HTTP/1.1 431 "));
    EXPECT_NE(get(server, "/wrong").find("HTTP/1.1 500 Internal Server Error\r\n"), std::string::npos);
    EXPECT_TRUE(get(server, "/wrong").ends_with("\r\n\r\nit is wrong\n"));
}

TEST(AdminServerOfHaste, IsNotHeldUpByThoseWhoSayNothing)
{
    const flux::admin_server server{flux::loopback_address(0), page, 100ms};
    // One that a busy machine holds up may have had its time, too.
    const auto is_served = [&] { return get(server, "/here").starts_with("HTTP/1.1 200 "); };
    std::vector<network::socket_peer> silent(flux::admin_server::most_connections - 1);
    for (network::socket_peer &each : silent) {
        ASSERT_EQ(each.connect(server.at()), 0);
        each.send("GET ");
    }
    await(is_served);
    // Where all places are taken, the next comes when these have had their time.
    network::socket_peer last;
    ASSERT_EQ(last.connect(server.at()), 0);
    await(is_served);
}

TEST_F(AdminServer, EndsWhileItServes)
{
    network::socket_peer silent;
    ASSERT_EQ(silent.connect(server.at()), 0);
    silent.send("GET ");
    EXPECT_TRUE(get(server, "/here").starts_with("HTTP/1.1 200 "));
}

TEST(AdminServerAt, AUnixSocketIsItsOwnersAlone)
{
    const std::string path = testing::TempDir() + "flux_admin_test.sock";
    std::filesystem::remove(path);
    const flux::admin_server server(*flux::parse_address("unix:" + path), page);
    struct stat found = {};
    ASSERT_EQ(stat(path.c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777, 0600u);
    EXPECT_TRUE(get(server, "/here").starts_with("HTTP/1.1 200 "));
}

TEST(AdminServerAt, AnAddressThatIsTakenSaysSo)
{
    const flux::admin_server first(flux::loopback_address(0), page);
    try {
        const flux::admin_server second(first.at(), page);
        FAIL() << "it listens twice";
    } catch (const std::system_error &problem) {
        const std::string said = problem.what();
        EXPECT_EQ(said, "the admin interface cannot listen at " + first.at().text() + ": Address already in use");
    }
}

} // namespace
