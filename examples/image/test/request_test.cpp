// Requests: what is understood, what is refused and with which status, and that no input is more than refused.
#include "../request.h"

#include "../connection.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

using namespace std::literals;
using image::parsed_request;

namespace {

struct result {
    parsed_request parsed;
    image_tag request;
};

result parse(const std::string &input)
{
    // A buffer of the very length, so that a sanitizer sees a read beyond it.
    const std::vector<char> exact(input.begin(), input.end());
    result result;
    result.parsed = image::parse_request({exact.data(), exact.size()}, result.request);
    return result;
}

int refusal(const std::string &input)
{
    return parse(input).parsed.refusal;
}

/// A request for `target` as browsers make it.
std::string get(const std::string &target)
{
    return "GET " + target + " HTTP/1.1\r\nHost: pictures\r\n\r\n";
}

} // namespace

TEST(HeadLength, IsTheLengthToTheEmptyLine)
{
    EXPECT_EQ(image::head_length(""), 0U);
    EXPECT_EQ(image::head_length("GET / HTTP/1.1\r\n"), 0U);
    EXPECT_EQ(image::head_length("GET / HTTP/1.1\r\nHost: a\r\n\r"), 0U);
    EXPECT_EQ(image::head_length("a\r\n\r\n"), 5U);
    EXPECT_EQ(image::head_length("a\r\n\r\nb\r\n\r\n"), 5U);
    EXPECT_EQ(image::head_length("a\n\n"), 3U);
    EXPECT_EQ(image::head_length("a\nb\n\r\nc"), 6U);
}

TEST(Request, NamesAPictureAndAScale)
{
    const result full = parse(get("/sea_2-b.jpg"));
    EXPECT_EQ(full.parsed.refusal, 0);
    EXPECT_EQ(full.request.name, "sea_2-b");
    EXPECT_EQ(full.request.scale, 8);
    EXPECT_EQ(full.request.key, "sea_2-b/8");
    EXPECT_FALSE(full.request.listing);
    EXPECT_FALSE(full.request.head_only);

    const result small = parse(get("/sea.jpg?scale=3"));
    EXPECT_EQ(small.request.name, "sea");
    EXPECT_EQ(small.request.scale, 3);
    EXPECT_EQ(small.request.key, "sea/3");
    EXPECT_EQ(parse(get("/sea.jpg?a=1&scale=2&b")).request.scale, 2);
    EXPECT_EQ(parse(get("/sea.jpg?scale=2&scale=5")).request.scale, 5);
    EXPECT_EQ(parse(get("/sea.jpg?")).request.scale, 8);
    EXPECT_EQ(parse(get("/sea.jpg?upscale=2")).request.scale, 8);
}

TEST(Request, ForTheListIsTheRoot)
{
    EXPECT_TRUE(parse(get("/")).request.listing);
    EXPECT_TRUE(parse(get("/?a")).request.listing);
    EXPECT_TRUE(parse(get("http://pictures")).request.listing);
    EXPECT_FALSE(parse(get("/index.html")).request.listing);
}

TEST(Request, MayNameAWholeUrl)
{
    EXPECT_EQ(parse(get("http://pictures:80/sea.jpg?scale=4")).request.key, "sea/4");
    EXPECT_EQ(parse(get("HTTP://pictures/sea.jpg")).request.name, "sea");
    EXPECT_TRUE(parse(get("http://pictures?scale=4")).request.listing);
}

TEST(Request, ForWhatCannotBeAPictureHasNoName)
{
    for (const char *target : {"/sea.png", "/sea", "/.jpg", "/a/b.jpg", "/../../etc/passwd", "/../sea.jpg", "*",
                               "/..%2fsea.jpg", "/%2e%2e/sea.jpg", "/se%61.jpg", "/sea.ppm", "//sea.jpg",
                               "/sea.jpg/", "/a.b.jpg"}) {
        const result got = parse(get(target));
        EXPECT_EQ(got.parsed.refusal, 0) << target;
        EXPECT_EQ(got.request.name, "") << target;
        EXPECT_FALSE(got.request.listing) << target;
    }
}

TEST(Request, WithABadScaleIsRefused)
{
    for (const char *scale : {"0", "9", "-1", "+1", "", "1x", "1.0", "99999999999", "%31", "eight"})
        EXPECT_EQ(refusal(get("/sea.jpg?scale="s + scale)), 400) << scale;
}

TEST(Request, OfHeadAsksForTheHeadOnly)
{
    EXPECT_TRUE(parse("HEAD /sea.jpg HTTP/1.1\r\nHost: a\r\n\r\n").request.head_only);
}

TEST(Request, SaysWhetherTheConnectionStays)
{
    EXPECT_FALSE(parse(get("/")).parsed.close);
    EXPECT_TRUE(parse("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").parsed.close);
    EXPECT_TRUE(parse("GET / HTTP/1.1\r\nHost: a\r\nConnection: foo, CLOSE\r\n\r\n").parsed.close);
    EXPECT_TRUE(parse("GET / HTTP/1.0\r\n\r\n").parsed.close);
    EXPECT_FALSE(parse("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").parsed.close);
}

TEST(Request, TakesItsHeadAndNoMore)
{
    const std::string first = get("/a.jpg");
    const result got = parse(first + get("/b.jpg"));
    EXPECT_EQ(got.request.name, "a");
    EXPECT_EQ(got.parsed.length, first.size());
}

TEST(Request, OfAnotherMethodIsRefused)
{
    for (const char *method : {"POST", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PATCH"})
        EXPECT_EQ(refusal(method + " /sea.jpg HTTP/1.1\r\nHost: a\r\n\r\n"s), 405) << method;
    EXPECT_EQ(refusal("BREW /pot HTTP/1.1\r\nHost: a\r\n\r\n"), 501);
    EXPECT_EQ(refusal("get / HTTP/1.1\r\nHost: a\r\n\r\n"), 501);
}

TEST(Request, OfAnotherVersionIsRefused)
{
    EXPECT_EQ(refusal("GET / HTTP/2.0\r\nHost: a\r\n\r\n"), 505);
    EXPECT_EQ(refusal("GET / HTTP/0.9\r\n\r\n"), 505);
    EXPECT_EQ(refusal("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 505);
}

TEST(Request, WithABodyIsRefused)
{
    const std::string start = "GET / HTTP/1.1\r\nHost: a\r\n";
    EXPECT_EQ(refusal(start + "Content-Length: 5\r\n\r\nhello"), 413);
    EXPECT_EQ(refusal(start + "Content-Length: 99999999999\r\n\r\n"), 413);
    EXPECT_EQ(refusal(start + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), 413);
    EXPECT_EQ(refusal(start + "Content-Length: 0\r\n\r\n"), 0);
    EXPECT_EQ(refusal(start + "Expect: 100-continue\r\n\r\n"), 0);
}

TEST(Request, ThatCouldBeReadInTwoWaysIsRefused)
{
    const std::string start = "GET / HTTP/1.1\r\nHost: a\r\n";
    EXPECT_NE(refusal(start + "Content-Length: 0\r\nContent-Length: 5\r\n\r\n"), 0);
    EXPECT_NE(refusal(start + "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n"), 0);
    EXPECT_NE(refusal(start + "Transfer-Encoding: gzip\r\n\r\n"), 0);
    EXPECT_NE(refusal(start + "Transfer-Encoding: chunked, identity\r\n\r\n"), 0);
    EXPECT_NE(refusal(start + "Content-Length : 5\r\n\r\n"), 0);
    EXPECT_NE(refusal(start + "Content-Length: +5\r\n\r\n"), 0);
    EXPECT_NE(refusal(start + "Content-Length: -5\r\n\r\n"), 0);
    EXPECT_NE(refusal(start + "Content-Length: 0x5\r\n\r\n"), 0);
    EXPECT_NE(refusal(start + "Content-Length: \r\n\r\n"), 0);
}

TEST(Request, NeedsExactlyOneHost)
{
    EXPECT_EQ(refusal("GET / HTTP/1.1\r\n\r\n"), 400);
    EXPECT_EQ(refusal("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"), 400);
    EXPECT_EQ(refusal("GET / HTTP/1.0\r\n\r\n"), 0);
}

TEST(Request, ThatIsMalformedIsRefused)
{
    const std::string bad[] = {
        "\n\n",
        "GET\r\n\r\n",
        "GET /\r\n\r\n",
        "GET  / HTTP/1.1\r\nHost: a\r\n\r\n",
        " GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\nHost: a\n\n",
        "GET / HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\n: no name\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nbad name: x\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nx: \0\r\n\r\n"s,
        "GET /\x01 HTTP/1.1\r\nHost: a\r\n\r\n",
        "\x16\x03\x01\x02\x00\x01\r\n\r\n"s,
        "{}\r\n\r\n",
        "GET / HTTP/2\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1 \r\nHost: a\r\n\r\n",
        "GET / FTP/1.1\r\nHost: a\r\n\r\n",
    };
    for (const std::string &input : bad)
        EXPECT_EQ(refusal(input), 400) << input;
}

TEST(Request, ThatIsCutShortOrTooLongIsRefused)
{
    EXPECT_EQ(refusal("GET / HTTP/1.1\r\nHost:"), 408);
    EXPECT_EQ(refusal("GET /" + std::string(image::max_head_bytes - 5, 'a')), 414);
    const std::string line = "GET / HTTP/1.1\r\n";
    EXPECT_EQ(refusal(line + std::string(image::max_head_bytes - line.size(), 'a')), 431);
    std::string most = "GET / HTTP/1.1\r\nHost: a\r\nx: ";
    most += std::string(image::max_head_bytes - most.size() - 4, 'a') + "\r\n\r\n";
    EXPECT_EQ(most.size(), image::max_head_bytes);
    EXPECT_EQ(refusal(most), 0);
}

TEST(Request, AnyChangeOfAGoodOneIsHarmless)
{
    const std::string good = "GET /sea.jpg?scale=3 HTTP/1.1\r\nHost: pictures\r\nConnection: keep-alive\r\n"
                             "Content-Length: 0\r\nAccept: */*\r\n\r\n";
    std::mt19937 random(11);
    for (int round = 0; round < 100'000; ++round) {
        std::string bad = good.substr(0, random() % 20 == 0 ? random() % good.size() : good.size());
        for (unsigned change = 0; change <= random() % 4 && !bad.empty(); ++change) {
            const std::size_t at = random() % bad.size();
            const auto byte = static_cast<char>(random());
            switch (random() % 3) {
            case 0:
                bad[at] = byte;
                break;
            case 1:
                bad.insert(at, 1 + random() % 4, byte);
                break;
            default:
                bad.erase(at, 1 + random() % 4);
            }
        }
        const result got = parse(bad);
        EXPECT_LE(got.parsed.length, bad.size());
        if (got.parsed.refusal == 0) {
            EXPECT_GE(got.request.scale, 1);
            EXPECT_LE(got.request.scale, 8);
            EXPECT_GT(got.parsed.length, 0U);
            EXPECT_EQ(got.request.name.find_first_of("./%\\"), std::string::npos) << got.request.name;
        } else {
            EXPECT_GE(got.parsed.refusal, 400);
            EXPECT_LE(got.parsed.refusal, 505);
        }
    }
}
