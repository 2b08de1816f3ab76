// Nodes in C++ that answer requests of HTTP.
#include "answers.flux.h"

#include "flux/message/bytes.hpp"
#include "flux/send_message.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <stdexcept>
#include <string>

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

void Throw(std::string &)
{
    throw std::runtime_error("text of Throw");
}

void Recovered(std::string &)
{
    throw std::runtime_error("nobody is told");
}

int Code(std::string &)
{
    return http::gone;
}

void Item(const std::string &word, std::string &said)
{
    if (word != "a") {
        throw std::runtime_error("item " + word);
    }
    said = word;
}

void Clumsy(std::string &)
{
    throw std::runtime_error("text of Clumsy");
}

void Clumsier(std::string &)
{
    throw std::runtime_error("text of Clumsier");
}

// The letter in the middle has two bytes, of which there is room for one.
void Long(std::string &)
{
    throw std::runtime_error(std::string(1023, 'x') + "\xc3\xa9" + std::string(5000, 'x'));
}

void Number(std::string &)
{
    throw 7;
}

void Block(std::string &)
{
    throw std::runtime_error("text of Block");
}

void Remembered(std::string &)
{
    throw std::runtime_error("text of Remembered");
}

void Tell(const std::string &error_node, const std::string &error_text, std::string &content)
{
    content = error_node + ": " + error_text + "\n";
}

bool IsThrowing(const std::string &)
{
    throw std::runtime_error("text of IsThrowing");
}

int Lack()
{
    failing = 2;
    return 0;
}
