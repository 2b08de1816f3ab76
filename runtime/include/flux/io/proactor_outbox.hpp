/// \file
/// The outbox of a stream of the proactor: the ring sends its content while the flow goes on.
#pragma once

#include "flux/io/direction.hpp"
#include "flux/io/outbox.hpp"
#include "flux/io/ring.hpp"
#include "flux/io/socket.hpp"

namespace flux {

/// While the kernel sends, what is put into it stands behind; it outlives its stream until that is over.
class proactor_outbox final : public submission, public outbox
{
  public:
    proactor_outbox(outbox_row &of, ring &through, const descriptor &to) noexcept
        : outbox(of), ring_(through), socket_(to)
    {
    }

    /// Whether nothing is to be sent, and neither is an end.
    bool is_quiet() const noexcept { return idle() && !in_flight() && !ends_output_; }

    /// Waits until all of it is sent: 0 or the error.
    int flush(moment deadline) noexcept;

    /// The output ends behind what is in it.
    void end_output() noexcept;

    /// What can be given to the kernel at once is; whether something is in its hands then.
    bool let_go() noexcept;

    void came(int result, std::uint32_t flags) noexcept override;

  private:
    void send_soon() noexcept override;
    void send_at_once() noexcept;
    void end_where_empty() noexcept;

    ring &ring_;
    // Its stream's; it is not used without that.
    const descriptor &socket_;
    bool ends_output_ = false;
    // Open where nothing is in flight.
    direction landed_{true};
};

} // namespace flux
