/// \file
/// What a source waits for under the reactor: epoll watches the listener on edges.
#pragma once

#include "flux/io/interest.hpp"
#include "flux/io/loop_arrivals.hpp"
#include "flux/io/outbox.hpp"
#include "flux/io/socket_listener.hpp"

namespace flux {

/// Of one source, on one loop.
class reactor_arrivals final : public loop_arrivals, private watched
{
  public:
    /// Throws `std::bad_alloc`.
    reactor_arrivals(interest &of, outbox_row &outboxes, arrivals_row &row)
        : loop_arrivals(row), interest_(of), outboxes_(outboxes)
    {
    }
    ~reactor_arrivals() override;

    io_result<void> watch(listener &from) noexcept override;
    io_result<void> watch(stream &idle, void *owner, bool soon) noexcept override;
    bool forget(stream &idle) noexcept override;

  private:
    int accept(arrival &into) noexcept override;
    void stop_watching() noexcept override;
    void came(std::uint32_t events) noexcept override;

    interest &interest_;
    outbox_row &outboxes_;
    socket_listener *listener_ = nullptr;
    bool watches_ = false;
};

} // namespace flux
