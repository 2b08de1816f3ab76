/// \file
/// The simulation: I/O without a kernel and without time, for tests. The peers of a server are scripts in the same
/// process, the network and the clock are simulated, and a seed decides what happens when and what goes wrong. The same
/// seed gives the same order of events, so a failure can be repeated and examined as often as needed.
///
/// A simulation has one loop, on whose thread the peers run too. A flow that waits is notified when an event has come
/// for it. When all wait, time advances to the next event at once, so an hour of timeouts takes no time. When nothing
/// can happen any more, because nothing waits for a time, the simulation is idle; whatever has not ended by then hangs.
///
/// Calls fail, come late, or return less than there is, as the `simulated_faults` say. Two things happen only here: a
/// call that could be answered at once may be answered later, as io_uring does, and a flow may be notified that
/// something has come for it although nothing has. The seed also decides when a slice of work is over.
#pragma once

#include "flux/io/loop_arrivals.hpp"
#include "flux/io/loop_io.hpp"
#include "flux/simulation/simulated_network.hpp"
#include "flux/simulation/simulated_peer.hpp"
#include "flux/simulation/simulated_time.hpp"
#include "flux/event/stack.hpp"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace flux {

/// The I/O of the one loop.
class simulation final : public loop_io
{
  public:
    /// As this seed has it.
    explicit simulation(std::uint64_t seed) : simulation(seed, faults_of(seed)) {}
    /// With these faults. The scripts of peers begin so long after they were added.
    simulation(std::uint64_t seed, const simulated_faults &faults,
               std::chrono::nanoseconds begin_peers = std::chrono::nanoseconds(0));
    ~simulation() override;

    // Before it begins, and while it is idle.

    /// There is a peer of this name, which does this.
    void add(std::string name, simulated_peer::script does);

    /// How many there are.
    std::size_t peer_count() const noexcept { return peers_.size(); }

    /// What goes wrong in this world, and how often.
    const simulated_faults &faults() const noexcept { return network_.faults; }

    /// Those whose scripts have not come to their end, with what they wait for, a line each; but not servers, which
    /// wait for somebody to accept.
    std::string unfinished_peers() const;

    /// What peers have expected in vain, a line each.
    std::string failed_expectations() const;

    /// Whether this allocation of the calling thread fails: for the allocation functions of a test, as
    /// `failing_allocation.hpp` has them. What the simulation and its peers ask for never does.
    static bool allocation_fails() noexcept;

    /// How many have failed.
    std::uint64_t failed_allocations() const noexcept { return network_.failed_allocations(); }

    /// How many streams flows have made and not closed.
    std::size_t open_streams() const noexcept { return open_streams_; }

    /// What has happened.
    const std::string &trace() const noexcept { return time_.trace(); }

    /// What its peers are connected by: for another I/O over the same world.
    simulated_network &network() noexcept { return network_; }

    // For any thread.

    /// The loop begins: its first look at the world waits for this. So what is started before is all there. It goes on
    /// until nothing can happen any more. For flows and sources that wait for the time again and again that is when
    /// nothing has happened on the network for so long; for an hour where a peer has not come to its end. That is said
    /// here, as simulated time goes on from now, however long the caller takes to its next call.
    void begin(std::chrono::nanoseconds silence = std::chrono::nanoseconds::max());

    /// Waits until the simulation is idle, as nothing can happen any more. What is done then has its place too.
    void await_idle();

    /// It is idle, or soon will be: lets happen what comes of what the caller has done, and waits until it is idle
    /// again.
    void go_on();

    // For the loop and its flows.

    const char *name() const noexcept override { return "simulation"; }
    moment now() const noexcept override { return time_.now(); }
    /// Who runs has a processor all the time.
    processor_use used() const noexcept override { return {now().time_since_epoch(), 0}; }
    io_result<std::unique_ptr<listener>> listen(const address &at) noexcept override;
    io_result<std::unique_ptr<stream>> connect(const address &to, moment deadline) noexcept override;
    io_result<std::unique_ptr<datagram_socket>> bind(const address &at) noexcept override;
    std::unique_ptr<arrivals> make_arrivals() override;

    void wait(moment until) noexcept override;
    void deliver() noexcept override;
    void interrupt() noexcept override;
    std::uint64_t cycles() noexcept override;

  private:
    static constexpr std::uint64_t longer_than_any_slice = std::uint64_t{1} << 48;

    bool is_over();

    simulated_time time_;
    simulated_network network_;
    const std::chrono::nanoseconds begin_peers_;
    stack_store stacks_;
    std::vector<std::unique_ptr<simulated_peer>> peers_;
    arrivals_row arrivals_{*this};
    std::size_t open_streams_ = 0;
    // From the start the loop has had its slice, so it looks at the world first.
    std::uint64_t cycles_ = longer_than_any_slice;
    std::mutex lock_;
    std::condition_variable changed_;
    bool begun_ = false;
    bool interrupted_ = false;
    bool idle_ = false;
    std::chrono::nanoseconds silence_ = std::chrono::nanoseconds::max();
    // Since when nothing is on its way.
    std::optional<moment> silent_since_;
};

} // namespace flux
