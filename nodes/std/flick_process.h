// What is the same for all runs of a process on one loop: its channels, and what they are bound to.
#pragma once

#include "flick.flux.h"

#include "flick_backends.h"
#include "flick_binding.h"

#include "flick_fault.h"

#include "flux/io/connections.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace flick {

/// What a connection has for its source: its end, which it owns by what it is sent through.
struct membership {
    end *own = nullptr;
    // Of one that runs share.
    shared_connection *shared = nullptr;
};

/// A channel of a process.
struct channel {
    std::string name;
    bool is_array = false;
    // How many connections it is at most.
    std::size_t most = SIZE_MAX;
    // What it takes says how many replies it has, and that they come in its order.
    bool is_counted = false;
    bool is_ordered = false;
    // What it gives says which reply is a mark.
    bool has_marks = false;
    // What it gives comes in streams, or is not read.
    bool is_unshareable = false;
    // The channels that send to it.
    std::vector<std::size_t> fed_by;
    bool is_bound = false;
    binding to;
    // Of one that connects.
    std::shared_ptr<backends> servers;
    // Of one that does not: how many have connected.
    std::size_t clients = 0;
    // Those that runs make, and those of its messages; null before the first.
    std::shared_ptr<flux::connections> made;
    // What went wrong, for the rules for that; null where there is no such rule.
    std::array<std::unique_ptr<faults>, event_count> rules;
};

/// A process on one loop.
class process
{
  public:
    /// Of a text as in `flick.flux`.
    explicit process(std::string_view text);

    /// That of the running loop which is written so.
    static process &of(const char *text);

    std::size_t size() const noexcept { return channels_.size(); }
    const channel &at(std::size_t number) const noexcept { return channels_[number]; }
    channel &at(std::size_t number) noexcept { return channels_[number]; }

    /// Binds a channel, which is bound once.
    const binding &bind(std::size_t number, const char *text)
    {
        channel &of = channels_[number];
        if (!of.is_bound) [[unlikely]] {
            bind_now(of, text);
        }
        return of.to;
    }
    /// The file that says what channels are bound to whose options do not.
    void bindings_in(const char *file) { file_ = file; }

    /// The connections that runs make for a channel. Throws `std::bad_alloc`.
    flux::connections &made(std::size_t number, const limits &of);
    /// The same, where they are known already; else null.
    flux::connections *made(std::size_t number) noexcept { return channels_[number].made.get(); }

    /// What is given to the rule for this; null where there is none.
    faults *rules_for(std::size_t number, event what) const noexcept
    {
        return channels_[number].rules[static_cast<std::size_t>(what)].get();
    }

    /// Whether there are rules for what is wrong with what comes of a channel.
    bool judges(std::size_t number) const noexcept
    {
        return rules_for(number, event::broken) != nullptr || rules_for(number, event::malformed) != nullptr;
    }

    /// So often something may go wrong in a run without a message in between: as often as there are channels.
    std::size_t most_in_a_row() const noexcept;

  private:
    std::size_t number_of(std::string_view name) const noexcept;
    void bind_now(channel &of, const char *text);

    std::vector<channel> channels_;
    const char *file_ = "";
};

} // namespace flick
