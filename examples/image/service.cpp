// What the nodes share; service.h explains it.
#include "service.h"

#include "image.h"
#include "picture.h"

#include <cassert>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <getopt.h>
#include <malloc.h>

namespace image {

namespace {

constexpr const char *usage = "An image server: pictures in PPM files, served as JPEG at one of eight scales.\n"
                              "\n"
                              "  --root FOLDER       where the PPM files are (pictures)\n"
                              "  --address ADDRESS   the numeric address to listen on (127.0.0.1)\n"
                              "  --port PORT         the port to listen on, 0 for a free one (8080)\n"
                              "  --cache-size BYTES  the most that the cache may take: 64M, 512k, 0 (64M)\n"
                              "  --help              this; the options of Flux: --flux-help\n";

/// Never destroyed: where a drain was cut short, flows may still use it while the program ends.
service *the_service = nullptr;

[[noreturn]] void refuse(const std::string &why)
{
    std::fprintf(stderr, "%s\n\n%s", why.c_str(), usage);
    std::exit(2);
}

/// Each picture takes megabytes, and gives them back when it is answered. The C library would return them to the system
/// as soon as nothing lies behind them, for the next picture to fault in again, page by page: a quarter of its time.
void keep_memory_of_pictures()
{
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 64 << 20);
}

int open_folder(const std::string &path)
{
    const int folder = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        throw std::system_error(errno, std::generic_category(), path);
    return folder;
}

settings read_settings(int argc, char **argv)
{
    static constexpr option options[] = {
        {"root", required_argument, nullptr, 'r'}, {"address", required_argument, nullptr, 'a'},
        {"port", required_argument, nullptr, 'p'}, {"cache-size", required_argument, nullptr, 'c'},
        {"help", no_argument, nullptr, 'h'},       {nullptr, 0, nullptr, 0},
    };
    settings result;
    for (int option = 0; (option = getopt_long(argc, argv, "", options, nullptr)) != -1;) {
        switch (option) {
        case 'r':
            result.root = optarg;
            break;
        case 'a':
            result.address = optarg;
            break;
        case 'p':
            result.port = optarg;
            break;
        case 'c':
            if (!read_size(optarg, result.cache_bytes))
                refuse(std::string("--cache-size takes a number of bytes such as 64M, not ") + optarg);
            break;
        case 'h':
            std::fputs(usage, stdout);
            std::exit(0);
        default:
            refuse("the command line is not understood");
        }
    }
    if (optind < argc)
        refuse(std::string("what is ") + argv[optind] + "?");
    return result;
}

} // namespace

bool read_size(const std::string &text, std::size_t &bytes)
{
    std::size_t number = 0;
    const char *end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc{} || end - rest > 1)
        return false;
    int shift = 0;
    if (rest != end) {
        switch (*rest) {
        case 'k':
            shift = 10;
            break;
        case 'M':
            shift = 20;
            break;
        case 'G':
            shift = 30;
            break;
        default:
            return false;
        }
    }
    if (number > std::numeric_limits<std::size_t>::max() >> shift)
        return false;
    bytes = number << shift;
    return true;
}

service::service(const settings &settings) : cache(settings.cache_bytes), folder(open_folder(settings.root))
{
    connections.listen(settings.address, settings.port);
}

service &shared()
{
    assert(the_service != nullptr);
    return *the_service;
}

} // namespace image

void init(int argc, char **argv)
{
    const image::settings settings = image::read_settings(argc, argv);
    image::keep_memory_of_pictures();
    try {
        image::the_service = new image::service(settings);
    } catch (const std::system_error &error) {
        std::fprintf(stderr, "image: %s\n", error.what());
        std::exit(1);
    }
    std::vector<std::string> names;
    if (image::list_pictures(image::the_service->folder, names) != 0 || names.empty())
        std::fprintf(stderr, "image: there are no pictures in %s\n", settings.root.c_str());
    const bool is_ipv6 = settings.address.find(':') != std::string::npos;
    const std::string host = is_ipv6 ? "[" + settings.address + "]" : settings.address;
    const int port = image::the_service->connections.port();
    std::printf("image: %zu pictures at http://%s:%d/\n", names.size(), host.c_str(), port);
    std::fflush(stdout);
}
