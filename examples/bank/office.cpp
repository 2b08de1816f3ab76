// The bank's office; office.h explains it.
#include "office.h"

#include <cassert>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <unistd.h>

#include <getopt.h>

namespace bank {

namespace {

constexpr const char *usage = "A bank: transfers between random accounts, with audits in between.\n"
                              "\n"
                              "  --transfers N   how many, then it closes (1000000)\n"
                              "  --accounts N    how many accounts there are (10000)\n"
                              "  --rounds N      how much work an entry is, in rounds of a hash (0)\n"
                              "  --help          this; the options of Flux: --flux-help\n";

/// Never destroyed: a flow may use it until the program has ended.
office *the_office = nullptr;

template <class Number>
void read_number(const char *text, Number least, Number &number)
{
    const char *const end = text + std::strlen(text);
    const auto [rest, error] = std::from_chars(text, end, number);
    if (error != std::errc{} || rest != end || number < least) {
        std::fprintf(stderr, "bank: %s is not a number that can be\n\n%s", text, usage);
        std::exit(2);
    }
}

settings read_settings(int argc, char **argv)
{
    static constexpr option options[] = {
        {"transfers", required_argument, nullptr, 't'}, {"accounts", required_argument, nullptr, 'a'},
        {"rounds", required_argument, nullptr, 'r'},    {"help", no_argument, nullptr, 'h'},
        {nullptr, 0, nullptr, 0},
    };
    settings result;
    for (int option = 0; (option = getopt_long(argc, argv, "", options, nullptr)) != -1;) {
        switch (option) {
        case 't':
            read_number<std::uint64_t>(optarg, 1, result.transfers);
            break;
        case 'a':
            read_number<std::size_t>(optarg, 1, result.accounts);
            break;
        case 'r':
            read_number(optarg, 0, result.rounds);
            break;
        case 'h':
            std::fputs(usage, stdout);
            std::exit(0);
        default:
            std::fputs(usage, stderr);
            std::exit(2);
        }
    }
    return result;
}

// All flows have ended: the constraints are nobody's.
void close_office()
{
    if (!the_office->close())
        _exit(1);
}

} // namespace

bool office::next(order &given)
{
    if (left_ == 0)
        return false;
    --left_;
    given = {account_(chance_), account_(chance_), amount_(chance_)};
    return true;
}

bool office::close() const
{
    const std::chrono::duration<double> open = std::chrono::steady_clock::now() - opened_;
    const double processor_time = static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
    const long total = accounts.total();
    std::printf("bank: %ju transfers, %ju refused, %ju audits in %.3f s, %.3f s of processor time; total %ld of %ld\n",
                static_cast<std::uintmax_t>(transferred), static_cast<std::uintmax_t>(refused),
                static_cast<std::uintmax_t>(audits), open.count(), processor_time, total, opening_total());
    std::fflush(stdout);
    return total == opening_total();
}

office &shared()
{
    assert(the_office != nullptr);
    return *the_office;
}

} // namespace bank

void init(int argc, char **argv)
{
    bank::the_office = new bank::office(bank::read_settings(argc, argv));
    std::atexit(bank::close_office);
}
