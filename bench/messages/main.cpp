/// \file
/// Reads the same messages with the readers that the compiler generates and with the fastest others that there are for
/// these protocols.
///
///     readers check              compares what they find, and counts what they allocate
///     readers time MILLISECONDS [CASE]
///                                a line for each case, or for those whose names begin so, and for each reader: the
///                                time of one message, in nanoseconds
///     readers CASE READER COUNT  reads so many, for who counts instructions
#include "cases.hpp"
#include "mixed.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

// Every allocation is counted, of libraries in C too.
extern "C" {
void *__libc_malloc(std::size_t size);
void *__libc_calloc(std::size_t count, std::size_t size);
void *__libc_realloc(void *old, std::size_t size);
}

namespace {

std::size_t allocations = 0;

} // namespace

extern "C" void *malloc(std::size_t size)
{
    ++allocations;
    return __libc_malloc(size);
}

extern "C" void *calloc(std::size_t count, std::size_t size)
{
    ++allocations;
    return __libc_calloc(count, size);
}

extern "C" void *realloc(void *old, std::size_t size)
{
    ++allocations;
    return __libc_realloc(old, size);
}

namespace {

/// One reader of one case: what it is called, how it reads all messages of the input once, what it has found.
struct reader {
    std::string name;
    // Gives how many messages it has read; 0 where they are none.
    std::function<std::size_t(std::size_t times)> read;
    std::function<std::string()> found;
};

struct bench_case {
    std::string name;
    std::vector<reader> readers;
};

std::string text(const http_result &result)
{
    return std::string(result.method) + ' ' + std::string(result.target) + ' ' + std::to_string(result.count) + ' ' +
           (result.is_chunked ? "chunked" : std::to_string(result.length)) + ' ' + std::to_string(result.size);
}

std::string with_fields(const http_result &result)
{
    std::string all = text(result);
    for (std::size_t index = 0; index < result.count; ++index) {
        const auto &[name, value] = result.fields[index];
        all += '\n' + std::string(name) + '=' + std::string(value);
    }
    return all;
}

std::string text(const resp_result &result) { return std::to_string(result.count); }

std::string with_words(const resp_result &result)
{
    std::string all = text(result);
    for (std::size_t index = 0; index < result.count; ++index) {
        all += ' ' + std::string(result.words[index]);
    }
    return all;
}

std::string text(const memcached_result &result)
{
    const auto number = [](std::uint64_t value) { return std::to_string(value) + ' '; };
    std::string all = number(result.opcode) + number(result.opaque) + number(result.cas);
    for (const std::string_view part : {result.extras, result.key, result.value}) {
        all += std::string(part) + ' ';
    }
    return all;
}

template <class Result>
reader reader_of(const std::string &name, const std::string &bytes, read_function<Result> function,
                 std::string (*shown)(const Result &))
{
    static Result result;
    const auto read = [&bytes, function](std::size_t times) {
        std::size_t messages = 0;
        for (; times > 0; --times) {
            std::string_view rest = bytes;
            while (!rest.empty()) {
                const std::size_t size = function(rest, result);
                // Nobody may guess what was found.
                asm volatile("" : : "r"(&result) : "memory");
                if (size == 0) {
                    return std::size_t{0};
                }
                rest.remove_prefix(size);
                ++messages;
            }
        }
        return messages;
    };
    const auto found = [&bytes, function, shown] {
        result = {};
        function(bytes, result);
        return shown(result);
    };
    return {name, read, found};
}

std::string http_request(std::string_view first, std::string_view fields, std::string_view body)
{
    return std::string(first) + " HTTP/1.1\r\n" + std::string(fields) + "\r\n" + std::string(body);
}

std::string command(std::initializer_list<std::string_view> words)
{
    std::string all = '*' + std::to_string(words.size()) + "\r\n";
    for (const std::string_view word : words) {
        all += '$' + std::to_string(word.size()) + "\r\n" + std::string(word) + "\r\n";
    }
    return all;
}

std::string repeated(const std::string &one, std::size_t times)
{
    std::string all;
    for (; times > 0; --times) {
        all += one;
    }
    return all;
}

std::string memcached_message(bool is_response, char opcode, std::string_view extras, std::string_view key,
                              std::string_view value)
{
    std::string header(24, '\0');
    const std::size_t total = extras.size() + key.size() + value.size();
    header[0] = is_response ? '\x81' : '\x80';
    header[1] = opcode;
    header[3] = static_cast<char>(key.size());
    header[4] = static_cast<char>(extras.size());
    for (unsigned byte = 0; byte < 4; ++byte) {
        header[8 + byte] = static_cast<char>(total >> (24 - 8 * byte));
    }
    header[15] = 7;
    header[23] = 9;
    return header + std::string(extras) + std::string(key) + std::string(value);
}

/// What curl asks with.
constexpr std::string_view few_fields = "Host: localhost:8080\r\nUser-Agent: curl/7.88.1\r\nAccept: */*\r\n";

/// The request of picohttpparser's own bench.
constexpr std::string_view browser_fields =
    "Host: www.kittyhell.com\r\n"
    "User-Agent: Mozilla/5.0 (Macintosh; U; Intel Mac OS X 10.6; ja-JP-mac; rv:1.9.2.3) Gecko/20100401 Firefox/3.6.3 "
    "Pathtraq/0.9\r\n"
    "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n"
    "Accept-Language: ja,en-us;q=0.7,en;q=0.3\r\n"
    "Accept-Encoding: gzip,deflate\r\n"
    "Accept-Charset: Shift_JIS,utf-8;q=0.7,*;q=0.7\r\n"
    "Keep-Alive: 115\r\n"
    "Connection: keep-alive\r\n"
    "Cookie: wp_ozh_wsa_visits=2; wp_ozh_wsa_visit_lasttime=xxxxxxxxxx; "
    "__utma=xxxxxxxxx.xxxxxxxxxx.xxxxxxxxxx.xxxxxxxxxx.xxxxxxxxxx.x; "
    "__utmz=xxxxxxxxx.xxxxxxxxxx.x.x.utmccn=(referral)|utmcsr=reader.livedoor.com|utmcct=/reader/|utmcmd=referral\r\n";

std::vector<bench_case> all_cases()
{
    static const std::string target = "GET /wp-content/uploads/2010/03/hello-kitty-darth-vader-pink.jpg";
    static const std::vector<std::pair<std::string, std::string>> http = {
        {"curl", http_request("GET /index.html", few_fields, "")},
        {"browser", http_request(target, browser_fields, "")},
        {"browser, body", http_request("POST /search", std::string(browser_fields) + "Content-Length: 11\r\n",
                                       "q=something")},
        {"curl, chunked", http_request("POST /search", std::string(few_fields) + "Transfer-Encoding: chunked\r\n",
                                       "5\r\nhello\r\n10\r\n, and all of you\r\n0\r\n\r\n")},
        {"1,000 different", mixed_requests(1000)},
    };
    static const std::string set = command({"SET", "key:000000000042", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"});
    static const std::string get = command({"GET", "key:000000000042"});
    static const std::vector<std::pair<std::string, std::string>> resp = {
        {"GET", get},
        {"SET", set},
        {"100 GET at once", repeated(get, 100)},
        {"100 SET at once", repeated(set, 100)},
    };
    static const std::string value(100, 'v');
    static const std::string extras(8, '\0');
    static const std::vector<std::pair<std::string, std::string>> memcached = {
        {"get", memcached_message(false, 0x00, "", "key:000000000042", "")},
        {"set", memcached_message(false, 0x01, extras, "key:000000000042", value)},
        {"response", memcached_message(true, 0x00, extras.substr(4), "", value)},
        {"100 gets at once", repeated(memcached_message(false, 0x00, "", "key:000000000042", ""), 100)},
    };
    std::vector<bench_case> cases;
    for (const auto &[name, bytes] : http) {
        cases.push_back({"HTTP " + name, {reader_of("flux", bytes, http_by_flux, text),
                                          reader_of("llhttp", bytes, http_by_llhttp, text),
                                          reader_of("picohttpparser", bytes, http_by_picohttpparser, text)}});
        cases.push_back({"HTTP " + name + ": fields",
                         {reader_of("flux", bytes, http_by_flux_with_fields, with_fields),
                          reader_of("llhttp", bytes, http_by_llhttp, with_fields),
                          reader_of("picohttpparser", bytes, http_by_picohttpparser, with_fields)}});
    }
    const auto nothing = +[](const resp_result &) { return std::string(); };
    for (const auto &[name, bytes] : resp) {
        const auto without_objects = resp_by_hiredis_without_objects;
        cases.push_back({"RESP " + name, {reader_of("flux", bytes, resp_by_flux, nothing),
                                          reader_of("hiredis, no objects", bytes, without_objects, nothing)}});
        cases.push_back({"RESP " + name + ": words", {reader_of("flux", bytes, resp_by_flux_with_words, with_words),
                                                      reader_of("hiredis", bytes, resp_by_hiredis, with_words)}});
    }
    for (const auto &[name, bytes] : memcached) {
        cases.push_back({"memcached " + name, {reader_of("flux", bytes, memcached_by_flux, text),
                                               reader_of("by hand", bytes, memcached_by_hand, text)}});
    }
    return cases;
}

double processor_nanoseconds()
{
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return 1e9 * static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec);
}

/// All must find the same, and what is allocated for a message is said.
int check(const std::vector<bench_case> &cases)
{
    int result = 0;
    for (const bench_case &one : cases) {
        const std::string wanted = one.readers.front().found();
        for (const reader &reader : one.readers) {
            if (reader.found() != wanted) {
                std::printf("%s: %s finds something else:\n%s\nand not\n%s\n", one.name.c_str(), reader.name.c_str(),
                            reader.found().c_str(), wanted.c_str());
                result = 1;
            }
            reader.read(1);
            const std::size_t before = allocations;
            const std::size_t messages = reader.read(1000);
            const double each = static_cast<double>(allocations - before) / static_cast<double>(messages);
            std::printf("%s|%s|%.2f\n", one.name.c_str(), reader.name.c_str(), each);
            if (reader.name == "flux" && each != 0) {
                result = 1;
            }
        }
    }
    return result;
}

/// In turns, each as long; of the cases whose names begin so.
void measure(const std::vector<bench_case> &cases, double milliseconds, const std::string &wanted)
{
    for (const bench_case &one : cases) {
        if (!one.name.starts_with(wanted)) {
            continue;
        }
        for (const reader &reader : one.readers) {
            // How many rounds these are is found by doubling.
            std::size_t rounds = 64;
            for (;;) {
                const double before = processor_nanoseconds();
                const std::size_t messages = reader.read(rounds);
                const double took = processor_nanoseconds() - before;
                if (took > 1e6 * milliseconds) {
                    const double each = took / static_cast<double>(messages);
                    std::printf("%s|%s|%.3f\n", one.name.c_str(), reader.name.c_str(), each);
                    break;
                }
                rounds *= 2;
            }
        }
    }
}

int read_so_many(const std::vector<bench_case> &cases, const std::string &wanted, const std::string &name,
                 std::size_t count)
{
    for (const bench_case &one : cases) {
        for (const reader &reader : one.readers) {
            if (one.name == wanted && reader.name == name) {
                std::printf("%zu\n", reader.read(count));
                return 0;
            }
        }
    }
    return 1;
}

} // namespace

int main(int count, char **arguments)
{
    const std::vector<bench_case> cases = all_cases();
    const std::string what = count > 1 ? arguments[1] : "";
    if (what == "check") {
        return check(cases);
    }
    if (what == "time" && count >= 3) {
        measure(cases, std::atof(arguments[2]), count > 3 ? arguments[3] : "");
        return 0;
    }
    if (count == 4) {
        return read_so_many(cases, what, arguments[2], static_cast<std::size_t>(std::atoll(arguments[3])));
    }
    std::fprintf(stderr, "readers check | time MILLISECONDS [CASE] | CASE READER COUNT\n");
    return 2;
}
