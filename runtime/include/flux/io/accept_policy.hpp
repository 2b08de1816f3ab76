/// \file
/// Which loop of a server accepts the next peer of a listener. All loops share the listener, so a restart loses no
/// peer; the kernel notifies any of the loops. A new peer should go to the loop with the fewest connections, and no
/// peer should wait at the listener while a loop that has room is idle.
///
/// This file is the policy alone: events go in, decisions come out. It knows no kernel, no thread and no clock, so
/// tests can run it with every order of events.
///
/// A loop accepts when its source asks for the next connection. The source asks when it may start a flow, so a loop at
/// its bound accepts nobody. If another loop that has room has fewer connections, that loop is rung instead and has a
/// moment to ask. A loop that does not ask in time is busy, for example with a node that computes; then the others go
/// on without it. What the kernel has told one loop is known to all. It holds until a loop has tried to accept and
/// found nobody.
///
/// A source may _gather_: it wants several peers, those who come one after the other, such as all who send to one
/// merge. What belongs together is on one loop, so from the first of them on it is this member's _turn_, until it has
/// them all or gives up: nobody else accepts meanwhile, and whoever is notified rings it. At the end of a turn all are
/// rung, and the next one begins with the loop that has the fewest connections, as ever.
///
/// During a drain each loop first stops watching the listener. When no loop watches any more, each accepts waiting
/// peers until it finds none. This order matters, because the kernel notifies any of those who watch, which includes
/// the loops of the next server. If a loop was notified of a peer, one of this server's loops must look for it: another
/// one, if that loop is at its bound. For peers that come later the kernel notifies the next server. A turn ends where
/// nobody waits any more, as it would never have all of its peers.
#pragma once

#include "flux/moment.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace flux {

/// Of one listener.
class accept_policy
{
  public:
    /// A loop that accepts from the listener, or one of several sources of a loop, by a number.
    using member = std::size_t;

    /// How long a member that was rung may take to ask.
    static constexpr std::chrono::milliseconds patience{1};
    /// How long nobody accepts after that has failed: without descriptors, say.
    static constexpr std::chrono::milliseconds backoff{100};

    enum class verdict : unsigned char {
        /// Try it, and say what has come of it: `accepted`, `found_none` or `failed`.
        accept,
        /// Ask again when you are rung, when you are notified, and when the time has come.
        wait,
        /// Nobody will be accepted any more. It is said once, later it is `wait`.
        stopped
    };

    struct decision {
        verdict what;
        moment until = never;
        /// Who is to be rung: woken, so that it asks.
        std::optional<member> rings = std::nullopt;
        /// Watch the listener no more, and say so (`unwatched`), before anything else.
        bool drains = false;
    };

    /// A further member. Throws `std::bad_alloc`.
    member join();

    /// It has gone; its connections may be there yet. Gives who is to be rung.
    std::optional<member> leave(member of, moment now) noexcept;

    /// There may be somebody at the listener.
    void notify() noexcept { pending_ = true; }

    /// The source of this member can take a connection: whether it is to accept one.
    decision ask(member by, moment now) noexcept;

    /// It has accepted somebody. There may be more.
    void accepted(member by) noexcept;

    /// It has found nobody at the listener. Whether all are to be rung, as that ends its turn.
    bool found_none(member by) noexcept;

    /// It could not accept, as something is used up.
    void failed(moment now) noexcept;

    /// One of its connections has ended.
    void closed(member of) noexcept { --members_[of].connections; }

    /// Its loop goes idle and its source has not asked: it is at its bound. Gives who is to be rung.
    std::optional<member> full(member of, moment now) noexcept;

    /// From now on its source gathers peers, or no longer. Whether all are to be rung, as that ends its turn.
    bool gather(member by, bool begins) noexcept;

    /// Those who wait now are accepted yet, and nobody later.
    void drain() noexcept;

    /// It watches the listener no more, as there is a drain, or as it has gone. Whether all are to be rung: then it was
    /// the last that did, and they look for the last time.
    bool unwatched(member of) noexcept;

    /// Whether a member whose source has asked, and that was not rung, need not ask again.
    bool quiet() const noexcept { return !pending_ && !draining_; }

    /// How many connections a member has.
    std::size_t connections(member of) const noexcept { return members_[of].connections; }

  private:
    struct state {
        std::size_t connections = 0;
        // Its source has asked, and its loop has not been idle at its bound since.
        bool has_room = false;
        // It was rung and has not asked since; not in time, where it is late.
        bool is_rung = false;
        bool is_late = false;
        moment rung_at = never;
        bool watches = true;
        // In a drain: it tries when nobody watches; it has found nobody so; it was said so.
        bool tries_last = false;
        bool is_drained = false;
        bool was_stopped = false;
        bool gathers = false;
    };

    decision await_turn(member by, moment now, bool stops_watching) noexcept;
    std::optional<member> ring_gatherer(member by, moment now) noexcept;
    void begin_turn(member by) noexcept;
    bool end_turn(member by) noexcept;
    std::optional<member> hand_on(member of, moment now) noexcept;
    member best_beside(member by) const noexcept;
    void mark_late(moment now) noexcept;
    bool any_watches() const noexcept;

    std::vector<state> members_;
    // There may be somebody at the listener, and nobody is just trying.
    bool pending_ = false;
    bool draining_ = false;
    // Whose turn it is to gather, and whether it has accepted somebody in it.
    std::optional<member> turn_;
    bool has_gathered_ = false;
    // Nobody accepts before.
    moment not_before_ = moment::min();
};

} // namespace flux
