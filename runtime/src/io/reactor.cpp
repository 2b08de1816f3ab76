#include "flux/io/reactor.hpp"

#include "flux/io/interest.hpp"
#include "flux/io/reactor_arrivals.hpp"
#include "flux/io/reactor_datagrams.hpp"
#include "flux/io/reactor_stream.hpp"
#include "flux/io/socket.hpp"
#include "flux/io/socket_listener.hpp"

#include <cerrno>
#include <new>
#include <sys/eventfd.h>
#include <system_error>
#include <utility>

namespace flux {
namespace {

class reactor final : public loop_io, public watched
{
  public:
    reactor() : bell_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
    {
        if (bell_.get() < 0 || !interest_.add(bell_, EPOLLIN | EPOLLET, *this).has_value()) {
            throw std::system_error(errno, std::generic_category(), "eventfd");
        }
    }

    ~reactor() override { interest_.remove(bell_, *this); }

    const char *name() const noexcept override { return "reactor"; }
    moment now() const noexcept override { return clock::now(); }

    io_result<std::unique_ptr<listener>> listen(const address &at) noexcept override
    {
        return open_socket_listener(at);
    }

    io_result<std::unique_ptr<stream>> connect(const address &to, moment deadline) noexcept override
    {
        io_result<descriptor> opened = open_stream_socket(to);
        if (!opened.has_value()) {
            return unexpected(opened.error());
        }
        std::unique_ptr<reactor_stream> made(
            new (std::nothrow) reactor_stream(outboxes_, std::move(*std::move(opened)), to));
        if (made == nullptr) {
            return unexpected(ENOMEM);
        }
        int error = begin_connect(made->socket(), to);
        if (error == 0 || error == EINPROGRESS) {
            const io_result<void> joined = made->join(interest_);
            error = joined.has_value() ? made->finish_connect(deadline) : joined.error();
        }
        if (error != 0) {
            return unexpected(error);
        }
        return std::unique_ptr<stream>(std::move(made));
    }

    io_result<std::unique_ptr<datagram_socket>> bind(const address &at) noexcept override
    {
        io_result<public_socket> opened = open_datagram_socket(at, sharing::of_loops);
        if (!opened.has_value()) {
            return unexpected(opened.error());
        }
        std::unique_ptr<reactor_datagram_socket> made(
            new (std::nothrow) reactor_datagram_socket(std::move(*std::move(opened))));
        if (made == nullptr) {
            return unexpected(ENOMEM);
        }
        if (const io_result<void> joined = made->join(interest_); !joined.has_value()) {
            return unexpected(joined.error());
        }
        return std::unique_ptr<datagram_socket>(std::move(made));
    }

    std::unique_ptr<arrivals> make_arrivals() override
    {
        return std::make_unique<reactor_arrivals>(interest_, outboxes_, arrivals_);
    }

    void wait(moment until) noexcept override
    {
        if (until != moment::min()) {
            arrivals_.go_idle();
        }
        outboxes_.send_all();
        interest_.fetch(until);
    }

    void deliver() noexcept override
    {
        interest_.deliver();
        arrivals_.collect_rings();
    }

    void finish() noexcept override { outboxes_.send_all(); }
    void interrupt() noexcept override { eventfd_write(bell_.get(), 1); }
    std::uint64_t accepted() const noexcept override { return arrivals_.accepted(); }

    // The bell: each stroke is an edge, so it need not be read.
    void came(std::uint32_t) noexcept override {}

  private:
    interest interest_;
    outbox_row outboxes_;
    arrivals_row arrivals_{*this};
    const descriptor bell_;
};

} // namespace

std::unique_ptr<loop_io> make_reactor()
{
    return std::make_unique<reactor>();
}

} // namespace flux
