// Pools of connections to servers, which flows borrow.
//
// A pool has the connections to one server through one I/O. Each event loop has its own I/O and therefore its own
// pools, because a stream belongs to the loop that made it. A stream that changes loops would have to leave one kernel
// queue and enter another for each request.
//
// A pool is the home of its connections. Each borrowed connection comes back to the pool or is closed, even if its flow
// forgets both. Its place is then free. A place is the right to one connection. Flows that wait get free places in the
// order of their arrival. No flow holds the lock while it waits: on an event loop, the next flow would block the loop.
//
// A connection that several flows share has one place. Its pipeline has the connection until the last flow has left.
// That flow then gives the connection back or closes it. A flow that may share joins the pipeline with the fewest
// flows, if one has room. Otherwise the flow takes a place, makes a pipeline of its connection, and lets waiting flows
// join.

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

/// The wait of the source `Keep` until the next idle connection expires. `changed` wakes the source earlier.
class keeper
{
  public:
    /// Waits until `next`, or until a call of `changed` since the last wait. Returns 0, ETIMEDOUT or ECANCELED.
    int wait(flux::moment next) noexcept
    {
        flux::park own(*flux::running_flow, flux::park_reason::sleep);
        {
            const std::lock_guard alone(lock_);
            waiting_ = &own;
            wake_if_changed();
        }
        const int error = error_of(own.wait(next));
        // The thread that ends the park holds the lock, so the park exists while that thread uses it.
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

/// A connection that several flows use at once. The pool counts these flows in `users`.
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

    /// Gives the calling flow a connection, until `leave`. Other flows may use it at the same time. Throws
    /// `std::bad_alloc`.
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

    /// Ends the calling flow's use of the connection.
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

    /// Closes the idle connections that have expired. Returns the time at which the next one expires.
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

    /// Closes the idle connections now, and from now on each connection that comes back.
    void end() noexcept
    {
        std::unique_lock alone(lock_);
        ended_ = true;
        close_kept(alone, [](const idle_connection &) { return true; });
    }

    /// Whether input, or its end, has arrived on the connection.
    static bool has_come(flux::connection &from) noexcept { return has_input(from); }

  private:
    struct idle_connection {
        flux::connection *kept;
        flux::moment since;
    };

    /// A flow's part of the pool: a place, with an idle connection or null; or a share of another flow's connection.
    struct place {
        flux::connection *kept = nullptr;
        std::shared_ptr<shared_connection> joined;
    };

    /// A flow that waits for a place.
    struct waiting_flow : flux::listed<waiting_flow> {
        flux::park wait{*flux::running_flow, flux::park_reason::flow};
        place given;
        bool may_share = false;
        bool in_line = true;
    };

    // A flow that may share waits only if no shared connection has room. Flows that make room let waiting flows join.
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

    // Gives the place and this connection to the first flow that still waits. If no flow waits, the pool keeps the
    // connection, or frees the place if `unused` is null.
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

    // Joins the connection with the fewest flows, if one has room. The caller holds the lock.
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

    // Lets waiting flows that may share join, in their order, while there is room. The caller holds the lock.
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

    // Shares a connection of the calling flow with other flows from now on.
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

    // Closes the oldest idle connections, as long as `test` is true for the first.
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

    // Returns a connection for a place that the flow has, with the idle connection `kept` or with null.
    flux::io_result<flux::connection *> use(flux::connection *kept, const char *servers)
    {
        if (kept == nullptr) {
            return make(servers);
        }
        if (has_input(*kept)) {
            // If the server has ended this connection, it has most likely ended the older ones too.
            close(*kept);
            return make(servers);
        }
        lend(*kept);
        kept->expect(0);
        return kept;
    }

    // Makes a connection, which has the place from now on. If this fails, the place is free.
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
    // The number of connections that are borrowed, idle, or being made.
    int places_taken_ = 0;
    // Idle connections, in the order in which flows gave them back.
    std::deque<idle_connection> idle_;
    flux::intrusive_list<waiting_flow> waiting_;
    // Shared connections that have flows and that other flows may join.
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

    /// Closes idle connections that expire, until the server ends. Only the source calls this. Returns ECANCELED.
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
    // Closes the idle connections that have expired. Returns the time at which the next one expires.
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

// The pools of the I/O that runs the caller. They are never destroyed, because flows may come back to them.
pools &own_pools()
{
    static std::mutex opening;
    static std::map<const flux::io *, pools> &all = *new std::map<const flux::io *, pools>;
    const std::lock_guard alone(opening);
    return all[&flux::running_io()];
}

/// The calling flow's share of a connection that several flows use. The destructor calls `leave`.
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
