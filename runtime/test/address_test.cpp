// Addresses as people write them, and where programs say that a server is reached.
#include "flux/address.hpp"

#include <gtest/gtest.h>

namespace {

using flux::endpoint;

std::string text_of(const endpoint &reached)
{
    const auto at = reached.at();
    return at ? at->text() : "none";
}

TEST(Address, IsWrittenAsItIsRead)
{
    for (const char *const text : {"127.0.0.1:80", "[::1]:8080", "[::]:0", "unix:/run/x.sock"}) {
        const auto parsed = flux::parse_address(text);
        ASSERT_TRUE(parsed) << text;
        EXPECT_EQ(parsed->text(), text);
    }
}

TEST(Address, IsNoneWhereAnythingElseIsWritten)
{
    for (const char *const text :
         {"", "80", ":80", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:80x", "127.0.0.1:-1", "::1:80",
          "[::1]", "[::1:80", "example.org:80", "unix:"}) {
        EXPECT_FALSE(flux::parse_address(text)) << text;
    }
    EXPECT_FALSE(flux::parse_address("unix:/" + std::string(200, 'x')));
}

TEST(Endpoint, IsAPortOfAllAddressesOrAnAddress)
{
    EXPECT_EQ(text_of(endpoint()), "[::]:0");
    EXPECT_EQ(text_of(8080), "[::]:8080");
    EXPECT_EQ(text_of(std::int64_t{8080}), "[::]:8080");
    EXPECT_EQ(text_of(":8080"), "[::]:8080");
    EXPECT_EQ(text_of("8080"), "[::]:8080");
    EXPECT_EQ(text_of("127.0.0.1:7000"), "127.0.0.1:7000");
    EXPECT_EQ(text_of("[::1]:7000"), "[::1]:7000");
    EXPECT_EQ(text_of("unix:/run/x.sock"), "unix:/run/x.sock");
}

TEST(Endpoint, IsNoneWhereItCannotBe)
{
    EXPECT_EQ(text_of(-1), "none");
    EXPECT_EQ(text_of(65536), "none");
    EXPECT_EQ(text_of("65536"), "none");
    EXPECT_EQ(text_of(""), "none");
    EXPECT_EQ(text_of(":"), "none");
    EXPECT_EQ(text_of("localhost:80"), "none");
}

TEST(Endpoint, IsNamedAsTheProgramSaysIt)
{
    EXPECT_EQ(endpoint(70000).text(), "port 70000");
    EXPECT_EQ(endpoint("nowhere").text(), "nowhere");
    EXPECT_EQ(endpoint(80), endpoint(std::int64_t{80}));
    EXPECT_FALSE(endpoint(80) == endpoint(81));
}

} // namespace
