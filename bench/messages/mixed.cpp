#include "mixed.hpp"

#include <array>
#include <random>
#include <string_view>

namespace {

using generator = std::minstd_rand;

/// A number below `end`.
std::size_t below(generator &random, std::size_t end) { return random() % end; }

std::string word(generator &random, std::size_t least, std::size_t most)
{
    std::string word(least + below(random, most - least + 1), '\0');
    for (char &letter : word) {
        letter = "abcdefghijklmnopqrstuvwxyz0123456789-_"[below(random, 38)];
    }
    return word;
}

std::string target(generator &random)
{
    std::string target;
    for (std::size_t parts = 1 + below(random, 4); parts > 0; --parts) {
        target += '/' + word(random, 2, 14);
    }
    if (below(random, 3) == 0) {
        target += '?' + word(random, 2, 8) + '=' + word(random, 1, 20);
    }
    return target;
}

constexpr std::array<std::string_view, 6> agents = {
    "curl/7.88.1",
    "python-requests/2.28.1",
    "Go-http-client/1.1",
    "okhttp/4.10.0",
    "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36",
};

constexpr std::array<std::string_view, 16> fields = {
    "Accept: */*",
    "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "Accept: application/json",
    "Accept-Encoding: gzip, deflate, br",
    "Accept-Language: en-US,en;q=0.5",
    "Cache-Control: no-cache",
    "Connection: keep-alive",
    "DNT: 1",
    "If-Modified-Since: Tue, 03 Nov 2026 09:12:44 GMT",
    "Origin: https://www.example.org",
    "Pragma: no-cache",
    "Sec-Fetch-Dest: document",
    "Sec-Fetch-Mode: navigate",
    "Sec-Fetch-Site: same-origin",
    "Upgrade-Insecure-Requests: 1",
    "X-Forwarded-Proto: https",
};

/// A field whose value is of its own.
std::string own_field(generator &random)
{
    switch (below(random, 6)) {
    case 0: return "Cookie: session=" + word(random, 16, 120);
    case 1: return "Referer: https://" + word(random, 5, 20) + ".example" + target(random);
    case 2: return "Authorization: Bearer " + word(random, 20, 90);
    case 3: return "X-Request-Id: " + word(random, 16, 36);
    case 4: return "If-None-Match: \"" + word(random, 8, 32) + '"';
    default: return "X-Forwarded-For: 10.1." + std::to_string(below(random, 256)) + ".7";
    }
}

} // namespace

std::string mixed_requests(std::size_t count)
{
    generator random(1);
    std::string all;
    for (; count > 0; --count) {
        all += (below(random, 5) == 0 ? "DELETE " : "GET ") + target(random) + " HTTP/1.1\r\n";
        all += "Host: " + word(random, 4, 20) + ".example\r\n";
        all += "User-Agent: ";
        all += agents[below(random, agents.size())];
        all += "\r\n";
        for (std::size_t more = below(random, 9); more > 0; --more) {
            all += below(random, 3) == 0 ? own_field(random) : std::string(fields[below(random, fields.size())]);
            all += "\r\n";
        }
        all += "\r\n";
    }
    return all;
}
