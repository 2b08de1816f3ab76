#include "flux/admin/admin_request.hpp"

#include <cstdint>
#include <gtest/gtest.h>
#include <random>
#include <string>

namespace {

constexpr const char *ordinary = "GET /metrics?all HTTP/1.1\r\nHost: localhost:9100\r\nAccept:  */* \r\n\r\n";

int status_of(const std::string &bytes)
{
    return flux::read_admin_request(bytes).status;
}

// What comes of a request with this field beside the host.
int status_with(const std::string &field)
{
    return status_of("GET / HTTP/1.1\r\nHost: a\r\n" + field + "\r\n\r\n");
}

TEST(AdminRequest, HasItsParts)
{
    const flux::admin_reading read = flux::read_admin_request(ordinary);
    EXPECT_EQ(read.status, 0);
    EXPECT_EQ(read.request.method, "GET");
    EXPECT_EQ(read.request.path, "/metrics");
    EXPECT_EQ(read.request.query, "all");
    EXPECT_EQ(read.request.host, "localhost:9100");
    EXPECT_EQ(read.request.accept, "*/*");
    EXPECT_EQ(read.request.origin, "");
}

TEST(AdminRequest, IsToComeAsLongAsItsHeadHasNoEnd)
{
    const std::string whole = ordinary;
    for (std::size_t size = 0; size < whole.size(); ++size) {
        EXPECT_EQ(status_of(whole.substr(0, size)), 100) << size;
    }
    EXPECT_EQ(status_of(whole + "more"), 0);
}

TEST(AdminRequest, OfAnotherFormIsRefused)
{
    for (const char *const line : {"GET", "GET /", "GET  / HTTP/1.1", "GET x HTTP/1.1", "G(T / HTTP/1.1", " / HTTP/1.1",
                                   "GET http://a/ HTTP/1.1", "GET / HTTP/1.1 ", "GET / http/1.1", "GET / HTTP/11",
                                   "GET /\x01 HTTP/1.1", "GET /\x80 HTTP/1.1", "* * *"}) {
        EXPECT_EQ(status_of(std::string(line) + "\r\nHost: a\r\n\r\n"), 400) << line;
    }
    EXPECT_EQ(status_of("GET / HTTP/2.0\r\nHost: a\r\n\r\n"), 505);
    EXPECT_EQ(status_of("GET / HTTP/1.0\r\n\r\n"), 0);
    EXPECT_EQ(status_of("GET / HTTP/1.1\r\n\r\n"), 400) << "no host";
    EXPECT_EQ(status_with("Host: a"), 400) << "two";
    EXPECT_EQ(status_with("no colon"), 400);
    EXPECT_EQ(status_with("Name : blank before the colon"), 400);
    EXPECT_EQ(status_with("Name: a\r\n folded"), 400);
    EXPECT_EQ(status_with(std::string("Name: a\0b", 9)), 400);
    EXPECT_EQ(status_with("Content-Length: 3"), 400) << "a body";
    EXPECT_EQ(status_with("content-length: 0"), 0);
    EXPECT_EQ(status_with("Transfer-Encoding: chunked"), 400) << "a body";
    EXPECT_EQ(status_with("X: " + std::string(flux::longest_admin_head, 'x')), 431);
    EXPECT_EQ(status_of(std::string(flux::longest_admin_head + 1, 'x')), 431);
}

bool is_foreign(const std::string &fields, bool local)
{
    const std::string bytes = "GET / HTTP/1.1\r\n" + fields + "\r\n\r\n";
    const flux::admin_reading read = flux::read_admin_request(bytes);
    EXPECT_EQ(read.status, 0) << fields;
    return flux::is_foreign(read.request, local);
}

TEST(AdminRequest, ForAnotherNameIsForeignWhereTheAddressIsThisMachines)
{
    for (const char *const host : {"localhost", "LOCALHOST:80", "127.0.0.1:9100", "127.1.2.3", "[::1]", "[::1]:9100"}) {
        EXPECT_FALSE(is_foreign(std::string("Host: ") + host, true)) << host;
    }
    for (const char *const host : {"example.org", "localhost.example.org", "127.0.0.1.example.org", "127.1", "[::2]",
                                   "128.0.0.1", "[::1]x", "127.0.0.1x"}) {
        EXPECT_TRUE(is_foreign(std::string("Host: ") + host, true)) << host;
        EXPECT_FALSE(is_foreign(std::string("Host: ") + host, false)) << host;
    }
}

TEST(AdminRequest, MadeByAnotherSiteIsForeign)
{
    for (const bool local : {true, false}) {
        const std::string host = "Host: localhost:9100\r\n";
        EXPECT_FALSE(is_foreign(host + "Origin: http://localhost:9100", local));
        EXPECT_TRUE(is_foreign(host + "Origin: http://localhost:9101", local));
        EXPECT_TRUE(is_foreign(host + "Origin: http://example.org", local));
        EXPECT_TRUE(is_foreign(host + "Origin: null", local));
        EXPECT_FALSE(is_foreign(host + "Sec-Fetch-Site: same-origin", local));
        EXPECT_FALSE(is_foreign(host + "Sec-Fetch-Site: none", local));
        EXPECT_TRUE(is_foreign(host + "Sec-Fetch-Site: same-site", local));
        EXPECT_TRUE(is_foreign(host + "Sec-Fetch-Site: cross-site", local));
    }
}

TEST(AdminRequest, WhateverBytesComeHasOneOfItsStatuses)
{
    std::mt19937 random(2006);
    const std::string from = ordinary;
    for (int round = 0; round < 100'000; ++round) {
        std::string bytes = from;
        for (std::uint32_t changes = random() % 4; changes > 0; --changes) {
            const std::size_t at = random() % bytes.size();
            switch (random() % 3) {
            case 0:
                bytes[at] = static_cast<char>(random());
                break;
            case 1:
                bytes.erase(at, random() % 5 + 1);
                break;
            default:
                bytes.insert(at, bytes.substr(random() % bytes.size(), random() % 9));
            }
            bytes += "\r\n\r\n";
        }
        const int status = status_of(bytes);
        EXPECT_TRUE(status == 0 || status == 400 || status == 505 || status == 100) << status << "\n" << bytes;
    }
}

} // namespace
