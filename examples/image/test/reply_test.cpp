// Replies: the bytes of a head and of an error page.
#include "../reply.h"

#include <gtest/gtest.h>

#include <ctime>
#include <string>

namespace {

/// The head with its date replaced, after checking that the date is that of now.
std::string head_without_date(const image::reply &reply)
{
    image::head_buffer buffer;
    std::string head(image::write_head(reply, buffer));
    const std::size_t from = head.find("Date: ") + 6;
    const std::size_t to = head.find("\r\n", from);
    std::tm date{};
    EXPECT_NE(strptime(head.substr(from, to - from).c_str(), "%a, %d %b %Y %H:%M:%S GMT", &date), nullptr) << head;
    EXPECT_NEAR(static_cast<double>(timegm(&date)), static_cast<double>(std::time(nullptr)), 2.0);
    return head.replace(from, to - from, "now");
}

} // namespace

TEST(Reply, HasTheHeadOfAResponse)
{
    EXPECT_EQ(head_without_date({200, "image/jpeg", 12345, false}),
              "HTTP/1.1 200 OK\r\nDate: now\r\nContent-Type: image/jpeg\r\nContent-Length: 12345\r\n"
              "Connection: keep-alive\r\n\r\n");
    EXPECT_EQ(head_without_date({404, "text/html; charset=utf-8", 0, true}),
              "HTTP/1.1 404 Not Found\r\nDate: now\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: 0\r\n"
              "Connection: close\r\n\r\n");
}

TEST(Reply, To405SaysWhatIsAllowed)
{
    EXPECT_NE(head_without_date({405, "a/b", 1, true}).find("\r\nAllow: GET, HEAD\r\n"), std::string::npos);
    EXPECT_EQ(head_without_date({400, "a/b", 1, true}).find("Allow"), std::string::npos);
}

TEST(Reply, OfTheLongestKindFits)
{
    for (int status = 100; status < 600; ++status) {
        image::head_buffer head;
        image::page_buffer page;
        const image::reply longest{status, "text/html; charset=utf-8", SIZE_MAX, true};
        EXPECT_TRUE(image::write_head(longest, head).ends_with("\r\n\r\n"));
        const std::string_view body = image::write_error_page(status, page);
        EXPECT_TRUE(body.ends_with("</html>\n"));
        EXPECT_NE(body.find(std::to_string(status)), std::string_view::npos);
    }
}
