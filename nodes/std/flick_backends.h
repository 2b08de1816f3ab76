// The servers that a channel is bound to, on one loop: which of them are well, how many connections each has, and those
// that no run has and that are kept for the next.
//
// A place is the right to one connection to a server; where there are no more of them, flows wait, first come, first
// served. An end has the place of its connection as long as it lasts, also while it is kept.
//
// While flows wait, a run lends the connections that may be kept as soon as it has asked nothing there that is not
// answered: it makes another when it asks again. So who waits has only to wait for answers, and no circle of runs waits
// for each other's places. Connections that are not kept stay with their run to its end: there a circle can be, and the
// run that would close it fails at once.
//
// A server that has failed so often in a row as its binding says is not used for a time, which doubles each time up to
// 32 times the first; then one failure more is enough. One that is checked is not used until it has answered well.
// Whose turn a server's would be goes to the next that is well, in the order of the binding: so a choice by hash stays
// what it was for all others. Where none is well, all are used.
//
// How busy a server is are the requests that are open there: asked, and not answered. Each end counts its own into the
// number of its server; one of which that is not known counts as one, as long as it lasts, and so does one that is
// being made.
#pragma once

#include "flick_binding.h"

#include "flux/io/park.hpp"
#include "flux/list/intrusive_list.hpp"
#include "flux/moment.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace flick {

struct awaited_place;
class end;
class run;
class shared_connections;

/// Of one channel.
class backends
{
  public:
    /// `name` is the channel's.
    backends(std::string name, const binding &to);
    ~backends();
    backends(const backends &) = delete;
    backends &operator=(const backends &) = delete;

    const binding &bound_to() const noexcept { return to_; }
    std::size_t size() const noexcept { return all_.size(); }
    const std::string &address(std::size_t which) const noexcept { return to_.addresses[which]; }

    /// The server that is used where this one is wanted.
    std::size_t choose(std::size_t wanted) const noexcept;

    /// The server with the fewest requests open, of those that are well; of several the next behind the one that was
    /// asked last. From now on its ends count.
    std::size_t least_busy() noexcept;
    /// Whether somebody wants to know how busy servers are.
    bool counts_requests() const noexcept { return counts_requests_; }
    /// How many requests are open at a server.
    std::size_t &open_at(std::size_t which) noexcept { return all_[which].open; }
    /// A server is asked.
    void asked(std::size_t which) noexcept { last_asked_ = which; }

    /// For who is to use this server: a connection that was kept, or null with a place for a new one. Waits until then
    /// for a place; fails with EBUSY where there is none in time, or as many wait as may, and with EDEADLK where the
    /// runs that have them wait for what others have, this one among these.
    /// It `repeats` what was asked there.
    int take(std::size_t which, flux::moment until, run &by, bool repeats, std::shared_ptr<end> &kept) noexcept;
    /// Whether flows wait for a place there.
    bool is_awaited(std::size_t which) const noexcept { return all_[which].waiting != 0; }
    /// Whether no place there comes free before `by` has its own. `search` is the number of who asks.
    bool is_stuck(std::size_t which, const awaited_place &by, std::uint64_t search) noexcept;
    /// The same of its own place.
    static bool is_stuck(const awaited_place &by) noexcept;
    /// A place has an end now; it has it no longer.
    void add(end &made, std::size_t which) noexcept;
    void remove(end &gone, std::size_t which) noexcept;
    /// The place of a connection that is over, or was not made.
    void free_place(std::size_t which) noexcept;

    /// The connections to a server that runs share.
    shared_connections &shared(std::size_t which) noexcept { return *all_[which].shared; }

    /// Nobody has it any more, and its connection could be used again. Whether it is kept; else it is to be closed.
    bool keep(std::shared_ptr<end> unused) noexcept;
    /// It is kept no longer.
    void forget(const end &kept) noexcept;
    /// Closes what was kept for so long as it may be.
    void close_old() noexcept;

    /// A server could not be connected, or has ended a connection on which it was asked; or it has answered.
    void failed(std::size_t which) noexcept;
    void answered(std::size_t which) noexcept
    {
        if (all_[which].failures != 0) [[unlikely]] {
            recovered(which);
        }
    }
    /// The server ends: nothing is asked again.
    void stop() noexcept { has_stopped_ = true; }
    bool has_stopped() const noexcept { return has_stopped_; }
    /// What a check has found.
    void checked(std::size_t which, bool is_well) noexcept;

  private:
    struct waiting_flow : flux::listed<waiting_flow> {
        waiting_flow();

        flux::park wait;
        std::shared_ptr<end> given;
        bool in_line = true;
    };
    struct kept_end {
        std::shared_ptr<end> kept;
        flux::moment since;
    };
    struct server {
        // In a row.
        std::size_t failures = 0;
        std::size_t ejections = 0;
        flux::moment ejected_until = flux::moment::min();
        // By checks, and how many of them were good since.
        bool is_down = false;
        std::size_t good_checks = 0;

        std::size_t open = 0;
        std::size_t connections = 0;
        std::size_t waiting = 0;
        flux::intrusive_list<waiting_flow> line;
        // Those that have a place.
        flux::intrusive_list<end> ends;
        // The last that looked whether it is stuck.
        std::uint64_t searched = 0;
        // In the order in which they were given back.
        std::deque<kept_end> kept;
        std::unique_ptr<shared_connections> shared;
    };

    bool is_well(const server &one) const noexcept;
    bool is_last(std::size_t which) const noexcept;
    void recovered(std::size_t which) noexcept;
    static std::shared_ptr<end> lent_at(const server &of) noexcept;
    int fail_stuck(std::size_t which) const noexcept;
    static bool give(server &of, std::shared_ptr<end> unused) noexcept;

    const std::string name_;
    const binding to_;
    std::deque<server> all_;
    std::size_t last_asked_;
    bool counts_requests_ = false;
    bool has_stopped_ = false;
};

} // namespace flick
