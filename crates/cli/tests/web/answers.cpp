// Nodes in C++ that answer requests of HTTP.
#include "answers.flux.h"

#include "flux/message/bytes.hpp"
#include "flux/send_message.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>

namespace {

/// A million letters.
class letters final : public flux::body
{
  public:
    static constexpr std::size_t all = 1'000'000;

    flux::io_result<std::size_t> pull(std::span<std::byte> into, flux::moment) noexcept override
    {
        const std::size_t count = std::min(into.size(), left_);
        std::fill_n(into.begin(), count, std::byte{'a'});
        left_ -= count;
        return count;
    }
    void abandon() noexcept override {}

  private:
    std::size_t left_ = all;
};

/// So many allocations of the bytes of messages fail, the next ones.
std::atomic<int> failing = 0;

bool fails() noexcept
{
    return failing.load() > 0 && failing.fetch_sub(1) > 0;
}

const bool may_fail = [] {
    flux::message_bytes::let_fail(&fails);
    return true;
}();

} // namespace

int Stream(bool is_sized, const http::request &request)
{
    letters content;
    const http::response head{200, {{"Content-Type", "text/plain"}}, {}};
    return is_sized ? http::send_stream(request, head, content, letters::all)
                    : http::send_stream(request, head, content);
}

int Count(const http::request &request, std::string &content)
{
    std::size_t size = 0;
    const auto body = request.body();
    const auto counted = flux::through_window(
        [&](std::span<std::byte> into) { return body == nullptr ? std::size_t{0} : body->pull(into); },
        [&](std::string_view piece) {
            size += piece.size();
            return flux::io_result<void>();
        });
    content = std::to_string(size) + "\n";
    return flux::take(counted);
}

int Delete(std::string &content)
{
    static std::atomic<int> calls = 0;
    content = "deleted " + std::to_string(++calls) + "\n";
    return 0;
}

int Break()
{
    return ENFILE;
}

int Lose()
{
    return EIO;
}

int Lack()
{
    failing = 2;
    return 0;
}
