/// \file
/// What a source waits for under the proactor: the ring waits for the listener, again and again.
///
/// Nobody is accepted by an operation: that would go on while the source cannot take anybody, and then a peer would
/// wait for this loop although another has room.
#pragma once

#include "flux/io/intake.hpp"
#include "flux/io/loop_arrivals.hpp"
#include "flux/io/ring.hpp"
#include "flux/io/socket_listener.hpp"

#include <memory>

namespace flux {

/// Waits for a listener, for as long as it is there.
class listener_poll final : public submission
{
  public:
    explicit listener_poll(loop_arrivals &notifies) noexcept : notified_(&notifies) {}

    /// Unless it does already.
    void begin(ring &through, const descriptor &listener) noexcept;

    /// Nobody is notified any more.
    void stop() noexcept { notified_ = nullptr; }

    void came(int result, std::uint32_t flags) noexcept override;

  private:
    loop_arrivals *notified_;
};

/// Of one source, on one loop.
class proactor_arrivals final : public loop_arrivals
{
  public:
    /// Throws `std::bad_alloc`.
    proactor_arrivals(proactor_shared &through, arrivals_row &row) : loop_arrivals(row), shared_(through) {}
    ~proactor_arrivals() override;

    io_result<void> watch(listener &from) noexcept override;
    io_result<void> watch(stream &idle, void *owner, bool soon) noexcept override;
    bool forget(stream &watched) noexcept override;

  private:
    int accept(newcomer &into) noexcept override;
    void begin_waiting() noexcept override;
    void stop_watching() noexcept override;

    proactor_shared &shared_;
    socket_listener *listener_ = nullptr;
    // While the listener is watched.
    std::unique_ptr<listener_poll> poll_;
};

} // namespace flux
