/// \file
/// Simulated peers: the clients of a simulated server, and the servers that it is a client of.
///
/// A peer is a function, its script, which reads as if it blocked: it runs on its own fiber, and simulated time passes
/// while it waits. So a script is written like a simple client, and hundreds of them need no thread.
///
/// A peer has one connection at a time, and one address for messages.
#pragma once

#include "flux/event/fiber.hpp"
#include "flux/simulation/simulated_network.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace flux {

/// One of them.
class simulated_peer final : simulated_waiting
{
  public:
    /// What it does.
    using script = std::function<void(simulated_peer &self)>;

    /// Runs its script on this stack after this time, or a little later. Throws nothing; nor does the script.
    simulated_peer(simulated_network &of, std::string name, script does, stack on,
                   std::chrono::nanoseconds begin = std::chrono::nanoseconds(0));
    simulated_peer(const simulated_peer &) = delete;
    simulated_peer &operator=(const simulated_peer &) = delete;

    // For its script.

    /// Waits for so long.
    void wait(std::chrono::nanoseconds time);

    /// Connects: 0, or ECONNREFUSED or another error. The connection that it had is closed.
    int connect(const address &to);

    /// Listens at this address from now on: 0 or EADDRINUSE.
    int listen(const address &at);
    /// Waits for somebody who connects there.
    void accept();

    /// Sends all of it: 0, or ECONNRESET or EPIPE.
    int send(std::string_view bytes);

    /// Waits for some bytes, at most so many: none at the end, and where the connection is broken.
    std::string receive(std::size_t most = 4096);
    /// Waits for so many bytes: fewer where the end comes before, or the connection breaks.
    std::string receive_exactly(std::size_t size);
    /// All there is until the end, or until the connection breaks.
    std::string receive_all();

    /// Whether its connection has broken.
    bool broken() const noexcept { return broken_; }

    /// There is no more to send.
    void end_output() { socket_.end(); }
    /// The connection ends in good order, or with a reset where not everything was received.
    void close() { socket_ = {}; }
    /// The connection ends at once.
    void reset();

    /// Sends messages from here, and gets those to here. 0 or EADDRINUSE.
    int bind(const address &at);
    void send_message(const address &to, std::string_view message);
    /// Waits for a message, but at most so long, and gives it with its sender: nothing then.
    std::optional<std::pair<std::string, address>> receive_message(std::chrono::nanoseconds longest);

    /// What is to hold: where it does not, the run has failed, and says so. Gives whether it does.
    bool expect(bool holds, std::string_view what);

    /// A number from 0 to less than `bound`, by the dice.
    std::uint64_t draw(std::uint64_t bound) noexcept { return network_.time.draw(bound); }
    /// What the clock shows.
    moment now() const noexcept { return network_.time.now(); }

    // For the simulation.

    const std::string &name() const noexcept { return name_; }
    /// Whether its script has come to its end.
    bool ended() const noexcept { return ended_; }
    /// Whether it waits for somebody to accept, as a server does for ever.
    bool serves() const noexcept { return waits_for_ == for_somebody; }
    /// What it has expected in vain, a line each.
    const std::string &failed_expectations() const noexcept { return failed_expectations_; }
    /// What it waits for; empty where it does not.
    std::string_view waits_for() const noexcept { return waits_for_; }
    /// What it runs on.
    const stack &on() const noexcept { return fiber_.on(); }

  private:
    static constexpr std::string_view for_somebody = "somebody to accept";

    void go_on() noexcept override;
    bool dawdle();
    void suspend(std::string_view for_what) noexcept;
    void rest_at(simulated_place &place, std::string_view for_what) noexcept;

    simulated_network &network_;
    const std::string name_;
    const script script_;
    fiber fiber_;
    simulated_socket socket_;
    std::unique_ptr<simulated_port> port_;
    std::unique_ptr<simulated_mailbox> mailbox_;
    bool broken_ = false;
    bool ended_ = false;
    std::string_view waits_for_;
    std::string failed_expectations_;
};

} // namespace flux
