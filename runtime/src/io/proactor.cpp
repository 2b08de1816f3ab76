#include "flux/io/proactor.hpp"

#include "flux/io/descriptor_waits.hpp"
#include "flux/io/intake.hpp"
#include "flux/io/proactor_arrivals.hpp"
#include "flux/io/proactor_datagrams.hpp"
#include "flux/io/proactor_stream.hpp"
#include "flux/io/ring.hpp"
#include "flux/io/socket.hpp"
#include "flux/io/socket_listener.hpp"

#include <cerrno>
#include <new>
#include <poll.h>
#include <sys/eventfd.h>
#include <system_error>
#include <utility>

namespace flux {
namespace {

/// Ends the waits of its loop. Each stroke is an event, so the counter is never read.
class bell final : public submission
{
  public:
    bell() : counter_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
    {
        if (counter_.get() < 0) {
            throw std::system_error(errno, std::generic_category(), "eventfd");
        }
    }

    void listen(ring &on) noexcept
    {
        if (!in_flight()) {
            on.submit(*this, [this](io_uring_sqe &entry) {
                io_uring_prep_poll_multishot(&entry, counter_.get(), POLLIN);
            });
        }
    }

    void strike() noexcept { eventfd_write(counter_.get(), 1); }

    void came(int, std::uint32_t) noexcept override {}

  private:
    const descriptor counter_;
};

/// The epoll instance for what is not the runtime's own: polled as long as it exists, and again after each look there.
class proactor_descriptor_waits final : public descriptor_waits, private submission
{
  public:
    void listen(ring &on) noexcept
    {
        if (begun() && !in_flight()) {
            on.submit(*this, [this](io_uring_sqe &entry) { io_uring_prep_poll_add(&entry, epoll().get(), POLLIN); });
        }
    }

  private:
    // The loop listens before each of its waits.
    int join_loop() noexcept override { return 0; }

    void came(int, std::uint32_t) noexcept override { deliver(); }
};

class proactor final : public loop_io
{
  public:
    ~proactor() override { shared_.ring.close(); }

    const char *name() const noexcept override { return "proactor"; }
    moment now() const noexcept override { return clock::now(); }
    descriptor_waits *descriptors() noexcept override { return &descriptors_; }
    ring *operations() noexcept override { return &shared_.ring; }

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
        descriptor socket = *std::move(opened);
        operation connecting;
        const int connected = connecting.run(shared_.ring, park_reason::connect, deadline, [&](io_uring_sqe &entry) {
            io_uring_prep_connect(&entry, socket.get(), to.get(), to.size);
        });
        if (connected < 0) {
            return unexpected(connecting.error() != 0 ? connecting.error() : -connected);
        }
        std::unique_ptr<stream> made = proactor_stream::make(shared_, std::move(socket));
        if (made == nullptr) {
            return unexpected(ENOMEM);
        }
        return made;
    }

    io_result<std::unique_ptr<datagram_socket>> bind(const address &at) noexcept override
    {
        io_result<public_socket> opened = open_datagram_socket(at, sharing::of_loops);
        if (!opened.has_value()) {
            return unexpected(opened.error());
        }
        std::unique_ptr<datagram_socket> made(
            new (std::nothrow) proactor_datagram_socket(shared_.ring, std::move(*std::move(opened))));
        if (made == nullptr) {
            return unexpected(ENOMEM);
        }
        return made;
    }

    std::unique_ptr<arrivals> make_arrivals() override
    {
        return std::make_unique<proactor_arrivals>(shared_, arrivals_);
    }

    void wait(moment until) noexcept override
    {
        if (until != moment::min()) {
            arrivals_.go_idle();
        }
        shared_.outboxes.send_all();
        bell_.listen(shared_.ring);
        descriptors_.listen(shared_.ring);
        shared_.ring.wait(until);
    }

    void deliver() noexcept override
    {
        shared_.ring.deliver();
        arrivals_.collect_rings();
    }

    void finish() noexcept override
    {
        shared_.outboxes.send_all();
        shared_.ring.finish();
    }

    void interrupt() noexcept override { bell_.strike(); }
    std::uint64_t accepted() const noexcept override { return arrivals_.accepted(); }

  private:
    // What is in flight ends before what it uses.
    bell bell_;
    proactor_descriptor_waits descriptors_;
    proactor_shared shared_;
    arrivals_row arrivals_{*this};
};

} // namespace

std::unique_ptr<loop_io> make_proactor()
{
    return std::make_unique<proactor>();
}

} // namespace flux
