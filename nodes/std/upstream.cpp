// Connections that flows borrow.
//
// A pool has the connections to one server through one I/O. On an event loop that is the loop's own, so each loop has
// pools of its own: a stream belongs to the loop that it was made on. To have it go from loop to loop it would have to
// be taken out of one kernel queue and put into another, for each request.
//
// A pool is the home of its connections: whatever a flow does with one, or forgets to do, it comes back here or is
// closed, and its place is free. A place is the right to one connection; it goes from one flow to the next in the order
// in which they came to wait. The lock is never held across a wait: on a loop, the next flow would stop all of it.

#include "upstream.flux.h"

#include "dns.h"
#include "flux/flow/flow.hpp"
#include "flux/io/park.hpp"
#include "flux/list/intrusive_list.hpp"

#include <algorithm>
#include <cerrno>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace upstream {
namespace {

using std::chrono::milliseconds;

flux::moment end_of(milliseconds limit)
{
    return limit.count() == 0 ? flux::never : flux::running_io().now() + limit;
}

/// Who waits for the next idle connection whose time will be over. It is woken where that changes.
class keeper
{
  public:
    /// Waits until then, or until `changed` has been called since the last time: 0, ETIMEDOUT or ECANCELED.
    int wait(flux::moment next) noexcept
    {
        flux::park own(*flux::running_flow);
        {
            const std::lock_guard alone(lock_);
            waiting_ = &own;
            wake_if_changed();
        }
        const int error = error_of(own.wait(next));
        // Whoever wakes it has the lock, so the park exists as long as it is touched.
        const std::lock_guard alone(lock_);
        waiting_ = nullptr;
        return error;
    }

    void changed() noexcept
    {
        const std::lock_guard alone(lock_);
        changed_ = true;
        wake_if_changed();
    }

  private:
    void wake_if_changed() noexcept
    {
        if (waiting_ != nullptr && changed_) {
            changed_ = false;
            waiting_->end(flux::park_end::completed);
            waiting_ = nullptr;
        }
    }

    std::mutex lock_;
    flux::park *waiting_ = nullptr;
    bool changed_ = false;
};

/// The connections to one server through one I/O.
class pool final : public flux::connection_home, public std::enable_shared_from_this<pool>
{
  public:
    pool(std::string to, const limits &of, keeper &by) : to_(std::move(to)), limits_(of), keeper_(by) {}

    flux::io_result<flux::connection *> borrow(const char *servers)
    {
        flux::connection *kept = nullptr;
        if (const int error = take_place(kept, end_of(limits_.wait)); error != 0) {
            return flux::unexpected(error);
        }
        if (kept == nullptr) {
            return make(servers);
        }
        if (has_input(*kept)) {
            // Where the server has ended this one, it has most likely ended those that are older.
            close(*kept);
            return make(servers);
        }
        lend(*kept);
        return kept;
    }

    /// Closes what has been idle for its time, and gives when the next will have been.
    flux::moment close_old() noexcept
    {
        if (limits_.idle.count() == 0) {
            return flux::never;
        }
        const flux::moment last = flux::running_io().now() - limits_.idle;
        std::unique_lock alone(lock_);
        close_kept(alone, [last](const idle_connection &each) { return each.since <= last; });
        return idle_.empty() ? flux::never : idle_.front().since + limits_.idle;
    }

    /// Nobody uses them again any more: what is kept is closed, and what comes back is too.
    void end() noexcept
    {
        std::unique_lock alone(lock_);
        ended_ = true;
        close_kept(alone, [](const idle_connection &) { return true; });
    }

  private:
    struct idle_connection {
        flux::connection *kept;
        flux::moment since;
    };

    /// A flow that waits for a place.
    struct waiting_flow : flux::listed<waiting_flow> {
        flux::park wait{*flux::running_flow};
        flux::connection *given = nullptr;
        bool in_line = true;
    };

    // A place, and a connection that was kept or null.
    int take_place(flux::connection *&kept, flux::moment wait_until)
    {
        std::unique_lock alone(lock_);
        if (!idle_.empty()) {
            kept = idle_.back().kept;
            idle_.pop_back();
            return 0;
        }
        if (places_taken_ < limits_.most) {
            ++places_taken_;
            return 0;
        }
        waiting_flow own;
        waiting_.push_back(own);
        alone.unlock();
        const flux::park_end end = own.wait.wait(wait_until);
        alone.lock();
        if (own.in_line) {
            waiting_.remove(own);
        }
        kept = own.given;
        const bool has_own_time = wait_until < flux::running_flow->deadline();
        return end == flux::park_end::timed_out && has_own_time ? EBUSY : error_of(end);
    }

    // The first flow that still waits has the place, with this connection; else it is kept, or nobody's.
    void free_place(flux::connection *unused) noexcept
    {
        std::unique_lock alone(lock_);
        while (waiting_flow *const first = waiting_.pop_front()) {
            first->in_line = false;
            first->given = unused;
            if (first->wait.end(flux::park_end::completed)) {
                return;
            }
            first->given = nullptr;
        }
        if (unused == nullptr) {
            --places_taken_;
        } else {
            keep(*unused, alone);
        }
    }

    void keep(flux::connection &unused, std::unique_lock<std::mutex> &alone) noexcept
    {
        try {
            idle_.push_back({&unused, flux::running_io().now()});
        } catch (const std::bad_alloc &) {
            --places_taken_;
            alone.unlock();
            return close(unused);
        }
        const auto most_idle = static_cast<std::size_t>(limits_.most_idle);
        close_kept(alone, [&](const idle_connection &) { return ended_ || idle_.size() > most_idle; });
        const bool is_first = idle_.size() == 1;
        alone.unlock();
        if (is_first) {
            keeper_.changed();
        }
    }

    // Closes those that have been kept for longest, while this holds of the first.
    template <class Test>
    void close_kept(std::unique_lock<std::mutex> &alone, Test test) noexcept
    {
        while (!idle_.empty() && test(idle_.front())) {
            flux::connection &oldest = *idle_.front().kept;
            idle_.pop_front();
            --places_taken_;
            alone.unlock();
            close(oldest);
            alone.lock();
        }
    }

    // The place is there. Its connection has it from now on, or nobody.
    flux::io_result<flux::connection *> make(const char *servers)
    {
        const auto give_up = [](pool *of) { of->free_place(nullptr); };
        std::unique_ptr<pool, decltype(give_up)> place(this, give_up);
        const flux::io_result<flux::connection *> made = dns::connect(to_, servers, end_of(limits_.connect));
        if (made.has_value()) {
            (*made)->set_home(shared_from_this());
            place.release();
        }
        return made;
    }

    void take_back(flux::connection &unused) noexcept override
    {
        const std::shared_ptr<pool> stays = shared_from_this();
        free_place(&unused);
    }
    void forget(flux::connection &) noexcept override { free_place(nullptr); }

    const std::string to_;
    const limits limits_;
    keeper &keeper_;
    std::mutex lock_;
    // Those of connections that are borrowed, kept, or being made.
    int places_taken_ = 0;
    // In the order in which they were given back.
    std::deque<idle_connection> idle_;
    flux::intrusive_list<waiting_flow> waiting_;
    bool ended_ = false;
};

/// The pools of one I/O.
class pools
{
  public:
    pool &at(const std::string &to, const limits &of)
    {
        const std::lock_guard alone(lock_);
        const auto known = known_.find(to);
        if (known != known_.end()) {
            return *known->second;
        }
        const auto made = std::make_shared<pool>(to, of, keeper_);
        known_.emplace(to, made);
        if (ended_) {
            made->end();
        }
        return *made;
    }

    /// Closes what has been idle for its time, until the server ends: for the source alone. Gives ECANCELED.
    int keep() noexcept
    {
        int error = 0;
        while (error != ECANCELED) {
            error = keeper_.wait(close_old());
        }
        end();
        return error;
    }

  private:
    // What has been idle for its time. Gives when the next will have been.
    flux::moment close_old() noexcept
    {
        flux::moment next = flux::never;
        const std::lock_guard alone(lock_);
        for (const auto &[to, each] : known_) {
            next = std::min(next, each->close_old());
        }
        return next;
    }

    void end() noexcept
    {
        const std::lock_guard alone(lock_);
        ended_ = true;
        for (const auto &[to, each] : known_) {
            each->end();
        }
    }

    std::mutex lock_;
    std::map<std::string, std::shared_ptr<pool>> known_;
    keeper keeper_;
    bool ended_ = false;
};

// Those of the I/O of whatever runs the caller. They stay, as flows may come back to them.
pools &own_pools()
{
    static std::mutex opening;
    static std::map<const flux::io *, pools> &all = *new std::map<const flux::io *, pools>;
    const std::lock_guard alone(opening);
    return all[&flux::running_io()];
}

} // namespace

flux::io_result<flux::connection *> borrow(const std::string &to, const limits &of, const char *servers)
{
    return own_pools().at(to, of).borrow(servers);
}

int Keep()
{
    return own_pools().keep();
}

int Take(Take_in *in, Take_out *out)
{
    const limits of{in->most, in->most_idle, milliseconds(in->idle_ms), milliseconds(in->connect_ms),
                    milliseconds(in->wait_ms)};
    out->bytes = std::move(in->bytes);
    return flux::take(borrow(in->to, of, in->servers), out->connection);
}

int Return(Return_in *in, Return_out *out)
{
    out->bytes = std::move(in->bytes);
    return in->connection == nullptr ? EBADF : flux::take(in->connection->give_back());
}

} // namespace upstream
