// An answer that cannot be sent to its end.
#include "both.flux.h"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace {

class broken_content final : public flux::body
{
  public:
    flux::io_result<std::size_t> pull(std::span<std::byte> into, flux::moment) noexcept override
    {
        if (std::exchange(has_begun_, true)) {
            return flux::unexpected(EIO);
        }
        std::fill(into.begin(), into.end(), std::byte{'a'});
        return into.size();
    }
    void abandon() noexcept override {}

  private:
    bool has_begun_ = false;
};

} // namespace

int Break(const http::request &request)
{
    broken_content content;
    return http::send_stream(request, {200, {{"Content-Type", "text/plain"}}, {}}, content);
}

int Welcome(Welcome_in *in, Welcome_out *out)
{
    out->connection = in->connection;
    out->line = "welcome";
    return 0;
}
