// Connections that flows borrow.
//
// A pool has the connections to one server through one I/O. On an event loop that is the loop's own, so each loop has
// pools of its own: a stream belongs to the loop that it was made on. To have it go from loop to loop it would have to
// be taken out of one kernel queue and put into another, for each request.
//
// A pool is the home of its connections: whatever a flow does with one, or forgets to do, it comes back here or is
// closed, and its place is free. A place is the right to one connection; it goes from one flow to the next in the order
// in which they came to wait. The lock is never held across a wait: on a loop, the next flow would stop all of it.
//
// A connection that several flows use at once has one place, and its pipeline has the connection until its last flow
// has left; then it is given back or closed. A flow that may share joins the pipeline with the fewest flows, if one has
// room. Else it takes a place, makes a pipeline of its connection, and lets those join it that wait.

#include "upstream.flux.h"

#include "dns.h"
#include "flux/flow/flow.hpp"
#include "flux/io/park.hpp"
#include "flux/list/intrusive_list.hpp"
#include "flux/pipeline.hpp"

#include <algorithm>
#include <cerrno>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

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
        flux::park own(*flux::running_flow, flux::park_reason::sleep);
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

/// A connection that several flows use at once. The pool counts them.
struct shared_connection {
    explicit shared_connection(flux::connection &one) : over(one), line(one) {}

    flux::connection &over;
    flux::pipeline line;
    int users = 1;
};

/// The connections to one server through one I/O.
class pool final : public flux::connection_home, public std::enable_shared_from_this<pool>
{
  public:
    pool(std::string to, const limits &of, keeper &by) : to_(std::move(to)), limits_(of), keeper_(by) {}

    flux::io_result<flux::connection *> borrow(const char *servers)
    {
        place taken;
        const int error = take_place(taken, end_of(limits_.wait), false);
        return error == 0 ? use(taken.kept, servers) : flux::unexpected(error);
    }

    /// A connection that other flows may use at the same time, until `leave`. Throws `std::bad_alloc`.
    flux::io_result<std::shared_ptr<shared_connection>> join(const char *servers)
    {
        place taken;
        if (const int error = take_place(taken, end_of(limits_.wait), true); error != 0) {
            return flux::unexpected(error);
        }
        if (taken.joined != nullptr) {
            return taken.joined;
        }
        const flux::io_result<flux::connection *> own = use(taken.kept, servers);
        if (!own.has_value()) {
            return flux::unexpected(own.error());
        }
        return share_with_others(**own);
    }

    /// The calling flow does not use it any more.
    void leave(std::shared_ptr<shared_connection> used) noexcept
    {
        {
            const std::lock_guard alone(lock_);
            if (--used->users != 0 && used->line.takes_more()) {
                return let_join(used);
            }
            std::erase(shared_, used);
            if (used->users != 0) {
                return;
            }
        }
        used->over.attach();
        used->line.is_clean() ? used->over.give_back() : used->over.close();
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

    /// Whether there is input of it, or its end.
    static bool has_come(flux::connection &from) noexcept { return has_input(from); }

  private:
    struct idle_connection {
        flux::connection *kept;
        flux::moment since;
    };

    /// What a flow has of the pool: a place, with a connection that was kept or null; or a share of another's.
    struct place {
        flux::connection *kept = nullptr;
        std::shared_ptr<shared_connection> joined;
    };

    /// A flow that waits for one.
    struct waiting_flow : flux::listed<waiting_flow> {
        flux::park wait{*flux::running_flow, flux::park_reason::flow};
        place given;
        bool may_share = false;
        bool in_line = true;
    };

    // Who may share waits only where no shared connection has room: whoever makes room lets those join that wait.
    int take_place(place &taken, flux::moment wait_until, bool may_share)
    {
        std::unique_lock alone(lock_);
        if (may_share && (taken.joined = join_known()) != nullptr) {
            return 0;
        }
        if (!idle_.empty()) {
            taken.kept = idle_.back().kept;
            idle_.pop_back();
            return 0;
        }
        if (places_taken_ < limits_.most) {
            ++places_taken_;
            return 0;
        }
        waiting_flow own;
        own.may_share = may_share;
        waiting_.push_back(own);
        alone.unlock();
        const flux::park_end end = own.wait.wait(wait_until);
        alone.lock();
        if (own.in_line) {
            waiting_.remove(own);
        }
        taken = own.given;
        const bool has_own_time = wait_until < flux::running_flow->deadline();
        return end == flux::park_end::timed_out && has_own_time ? EBUSY : error_of(end);
    }

    // The first flow that still waits has the place, with this connection; else it is kept, or nobody's.
    void free_place(flux::connection *unused) noexcept
    {
        std::unique_lock alone(lock_);
        while (waiting_flow *const first = waiting_.pop_front()) {
            first->in_line = false;
            first->given.kept = unused;
            if (first->wait.end(flux::park_end::completed)) {
                return;
            }
            first->given.kept = nullptr;
        }
        if (unused == nullptr) {
            --places_taken_;
        } else {
            keep(*unused, alone);
        }
    }

    bool has_room(const shared_connection &one) const noexcept
    {
        return one.users < limits_.pipeline && one.line.takes_more();
    }

    // That with the fewest flows, if one has room. With the lock.
    std::shared_ptr<shared_connection> join_known() const noexcept
    {
        std::shared_ptr<shared_connection> best;
        for (const std::shared_ptr<shared_connection> &each : shared_) {
            if (has_room(*each) && (best == nullptr || each->users < best->users)) {
                best = each;
            }
        }
        if (best != nullptr) {
            ++best->users;
        }
        return best;
    }

    // Those that wait and may, the first first, as long as there is room. With the lock.
    void let_join(const std::shared_ptr<shared_connection> &one) noexcept
    {
        for (waiting_flow *each = waiting_.first(); each != nullptr && has_room(*one);) {
            waiting_flow &waits = *std::exchange(each, waiting_.next(*each));
            if (!waits.may_share) {
                continue;
            }
            waiting_.remove(waits);
            waits.in_line = false;
            waits.given.joined = one;
            ++one->users;
            if (!waits.wait.end(flux::park_end::completed)) {
                waits.given.joined = nullptr;
                --one->users;
            }
        }
    }

    // The flow has it, and shares it from now on.
    std::shared_ptr<shared_connection> share_with_others(flux::connection &own)
    {
        const auto made = std::make_shared<shared_connection>(own);
        const std::lock_guard alone(lock_);
        shared_.push_back(made);
        own.detach();
        let_join(made);
        return made;
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

    // The place is there, with this connection or without one.
    flux::io_result<flux::connection *> use(flux::connection *kept, const char *servers)
    {
        if (kept == nullptr) {
            return make(servers);
        }
        if (has_input(*kept)) {
            // Where the server has ended this one, it has most likely ended those that are older.
            close(*kept);
            return make(servers);
        }
        lend(*kept);
        kept->expect(0);
        return kept;
    }

    // Its connection has the place from now on, or nobody.
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
    // Those that have flows, and that others may join.
    std::vector<std::shared_ptr<shared_connection>> shared_;
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

/// The calling flow's share of a connection that several use; it leaves at the end.
class share
{
  public:
    share(pool &of, std::shared_ptr<shared_connection> used) noexcept : of_(of), used_(std::move(used)) {}
    share(const share &) = delete;
    ~share() { of_.leave(std::move(used_)); }

    shared_connection *operator->() const noexcept { return used_.get(); }

  private:
    pool &of_;
    std::shared_ptr<shared_connection> used_;
};

} // namespace

flux::io_result<flux::connection *> borrow(const std::string &to, const limits &of, const char *servers)
{
    return own_pools().at(to, of).borrow(servers);
}

bool has_ended(int error) noexcept
{
    return error == ECONNRESET || error == EPIPE || error == ENODATA;
}

bool has_said_something(flux::connection &server) noexcept
{
    return pool::has_come(server);
}

flux::io_result<std::unique_ptr<flux::message_parse>> call_in_line(const std::string &to, const limits &of,
                                                                   const char *servers, const flux::message &request,
                                                                   bool is_idempotent, begin_reply begin)
{
    pool &by = own_pools().at(to, of);
    for (bool is_second = false;; is_second = true) {
        std::unique_ptr<flux::message_parse> reply = begin();
        flux::io_result<std::shared_ptr<shared_connection>> joined = by.join(servers);
        if (!joined.has_value()) {
            return flux::unexpected(joined.error());
        }
        const share used(by, std::move(*joined));
        const flux::pipeline::result came = used->line.exchange(request, reply);
        if (came.error == 0) {
            return reply;
        }
        const bool may_repeat = has_ended(came.error) && (is_idempotent || !came.was_sent);
        if (is_second || !may_repeat) {
            return flux::unexpected(came.error);
        }
    }
}

int Keep()
{
    if (flux::running_flow->in_progress()) {
        return EPERM;
    }
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
