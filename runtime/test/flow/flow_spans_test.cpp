#include "flux/flow/flow_spans.hpp"

#include "flux/insight/span_exporter.hpp"

#include <gtest/gtest.h>

#include <string>

namespace {

constexpr const char *right = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

TEST(trace_parent, is_read_as_the_standard_has_it)
{
    const auto found = flux::parse_trace_parent(right);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->trace.front(), 0x0a);
    EXPECT_EQ(found->trace.back(), 0x9c);
    EXPECT_EQ(found->span.front(), 0xb7);
    EXPECT_EQ(found->span.back(), 0x31);
    EXPECT_TRUE(found->is_sampled);
    // Of flags only the lowest says this; a later version may have more behind it.
    EXPECT_FALSE(flux::parse_trace_parent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-fe")->is_sampled);
    EXPECT_TRUE(flux::parse_trace_parent("cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more"));
}

TEST(trace_parent, is_not_what_is_not_one)
{
    for (const char *wrong : {"", "00", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
                              "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0",
                              "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331_01",
                              "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
                              "00-00000000000000000000000000000000-b7ad6b7169203331-01",
                              "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
                              "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
                              "cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01more"}) {
        EXPECT_FALSE(flux::parse_trace_parent(wrong)) << wrong;
    }
    // Any byte changed to one that is no digit.
    const std::string text = right;
    for (std::size_t at = 0; at < text.size(); ++at) {
        std::string wrong = text;
        wrong[at] = 'x';
        EXPECT_FALSE(flux::parse_trace_parent(wrong)) << wrong;
        EXPECT_FALSE(flux::parse_trace_parent(text.substr(0, at))) << at;
    }
}

TEST(span_collector, has_what_its_address_leaves_out)
{
    const auto plain = flux::parse_span_collector("http://collector");
    ASSERT_TRUE(plain);
    EXPECT_EQ(plain->host, "collector");
    EXPECT_EQ(plain->port, "4318");
    EXPECT_EQ(plain->path, "/v1/traces");
    const auto whole = flux::parse_span_collector("http://[::1]:80/here?token=a");
    ASSERT_TRUE(whole);
    EXPECT_EQ(whole->host, "::1");
    EXPECT_EQ(whole->port, "80");
    EXPECT_EQ(whole->path, "/here?token=a");
    for (const char *wrong : {"", "http://", "http:///v1", "https://a", "http://a:", "http://a:x", "http://[::1",
                              "http://a/ b", "http://a\r\nX: y"}) {
        EXPECT_FALSE(flux::parse_span_collector(wrong)) << wrong;
    }
}

} // namespace
