// What is to be done on a loop beside the messages of its runs: servers are checked, and what was asked on a connection
// that has ended is asked again. Each of it is a flow, so nobody waits for it.
#pragma once

#include "flick_backends.h"
#include "flick_run.h"

#include "flux/io/park.hpp"
#include "flux/moment.hpp"

#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

namespace flick {

/// What a run has asked, and is to ask again.
struct repetition {
    std::shared_ptr<run> of;
    std::size_t channel;
    std::size_t element;
    std::vector<request> asked;
    std::size_t repeats;
};

/// A reply that could not be sent on without waiting.
struct late_reply {
    std::shared_ptr<reply> one;
    std::size_t to;
    flux::message what;
    flux::moment until;
};

/// One thing to do: a repetition, a reply to be sent on, or else a check of a server.
struct duty {
    std::shared_ptr<repetition> repeats;
    std::shared_ptr<late_reply> passes;
    std::shared_ptr<backends> of;
    std::size_t server = 0;
};

/// Of one loop.
class watch
{
  public:
    static watch &of_loop();

    /// These servers are checked from now on, and what they keep is closed in time, as their binding says.
    void add(std::shared_ptr<backends> servers);
    /// Throws `std::bad_alloc`.
    void repeat(repetition what);
    /// Throws `std::bad_alloc`.
    void pass_on(late_reply what);

    /// Waits for the next duty: 0, or ECANCELED.
    int next(duty &what);

  private:
    struct watched {
        std::shared_ptr<backends> servers;
        flux::moment check_at = flux::never;
        flux::moment close_at = flux::never;
    };

    flux::moment look_at_all(flux::moment now);
    void wake() noexcept;

    std::vector<watched> all_;
    std::deque<duty> duties_;
    // The source, while it waits; and whether something has changed since it looked.
    flux::park *waits_ = nullptr;
};

} // namespace flick
