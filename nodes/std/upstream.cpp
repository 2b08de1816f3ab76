// Connections that flows borrow.
//
// A pool has the connections to one server, through one I/O: that of a loop, whose connections stay there, or the one
// that blocks. A connection that is borrowed has a lease, which belongs to the flow as the connection does; so whatever
// becomes of the flow, its place in the pool is free afterwards. Places are handed from one flow to the next in the
// order in which they came to wait.

#include "upstream.flux.h"

#include "flux/flow/belongings.hpp"
#include "flux/flow/flow.hpp"
#include "flux/io/park.hpp"

#include <cerrno>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace upstream {
namespace {

class pool;

// Whether the other side has neither ended nor sent anything, by a call that does not wait.
bool is_silent(flux::connection &idle)
{
    std::byte first;
    const flux::io_result<std::size_t> count = idle.receive({&first, 1}, flux::moment::min());
    return !count.has_value() && count.error() == ETIMEDOUT;
}

/// A connection that a flow has borrowed.
class lease final : public flux::belonging
{
  public:
    lease(pool &from, flux::connection &borrowed)
        : from_(from), borrowed_(borrowed), by_(flux::running_flow->root())
    {
    }

    /// Whether it is the running flow's, for this connection.
    bool is_of(const flux::connection &borrowed) const noexcept
    {
        return &borrowed_ == &borrowed && &by_ == &flux::running_flow->root();
    }

  private:
    bool flow_has_ended() noexcept override;

    pool &from_;
    flux::connection &borrowed_;
    const flux::flow &by_;
};

/// The connections to one server, through one I/O.
class pool
{
  public:
    explicit pool(const flux::address &to) : to_(to) {}

    flux::io_result<flux::connection *> borrow(const limits &within, flux::moment deadline)
    {
        while (true) {
            place own;
            if (const int error = take_place(own, within, deadline); error != 0) {
                return flux::unexpected(error);
            }
            if (own.kept != nullptr) {
                if (own.kept->attach().has_value() && is_of_use(own, within)) {
                    return lend(*own.kept);
                }
                (void)own.kept->close();
                free_place({});
                continue;
            }
            const flux::io_result<flux::connection *> made = flux::connect(to_, deadline);
            if (!made.has_value()) {
                free_place({});
                return made;
            }
            return lend(**made);
        }
    }

    /// What a flow has borrowed is not its own any more: 0 or EBADF.
    int give_back(flux::connection &used)
    {
        const std::unique_ptr<lease> ended = used.usable() == 0 ? end_lease(used) : nullptr;
        if (ended == nullptr) {
            return EBADF;
        }
        flux::running_flow->owned().remove(*ended, *flux::running_flow);
        // What has come unasked would be taken for the next answer.
        if (is_silent(used) && used.detach().has_value()) {
            free_place({&used, flux::running_io().now()});
        } else {
            (void)used.close();
            free_place({});
        }
        return 0;
    }

    /// The flow of a lease has ended, and the connection with it.
    void forget(const lease &ended) noexcept
    {
        (void)end_first([&ended](const lease &each) { return &each == &ended; }).release();
        free_place({});
    }

  private:
    /// The right to one connection: to one that was kept, or to a new one.
    struct place {
        flux::connection *kept = nullptr;
        flux::moment since = {};
    };

    /// A flow that waits for a place.
    struct waiter {
        flux::park waits;
        place given = {};
    };

    bool is_of_use(const place &own, const limits &within) const
    {
        const bool old = within.idle.count() != 0 && flux::running_io().now() - own.since > within.idle;
        return !old && is_silent(*own.kept);
    }

    int take_place(place &into, const limits &within, flux::moment deadline)
    {
        std::unique_lock alone(lock_);
        if (!kept_.empty()) {
            into = kept_.back();
            kept_.pop_back();
            return 0;
        }
        if (taken_ < within.most) {
            ++taken_;
            return 0;
        }
        waiter own{flux::park(*flux::running_flow)};
        waiters_.push_back(&own);
        alone.unlock();
        const flux::park_end end = own.waits.wait(deadline);
        // Whoever ends the park has the lock, so it exists as long as it is touched.
        alone.lock();
        std::erase(waiters_, &own);
        into = own.given;
        return flux::error_of(end);
    }

    // The first who still waits has it; else it is kept, or nobody's.
    void free_place(place freed) noexcept
    {
        const std::lock_guard alone(lock_);
        while (!waiters_.empty()) {
            waiter &first = *waiters_.front();
            waiters_.pop_front();
            first.given = freed;
            if (first.waits.end(flux::park_end::completed)) {
                return;
            }
        }
        if (freed.kept != nullptr) {
            kept_.push_back(freed);
        } else {
            --taken_;
        }
    }

    flux::io_result<flux::connection *> lend(flux::connection &borrowed)
    {
        auto made = std::make_unique<lease>(*this, borrowed);
        flux::running_flow->owned().add(*made, *flux::running_flow);
        const std::lock_guard alone(lock_);
        leases_.push_back(std::move(made));
        return &borrowed;
    }

    // The lease of the running flow for this connection; null where there is none.
    std::unique_ptr<lease> end_lease(const flux::connection &of) noexcept
    {
        return end_first([&of](const lease &each) { return each.is_of(of); });
    }

    template <class Test>
    std::unique_ptr<lease> end_first(Test test) noexcept
    {
        const std::lock_guard alone(lock_);
        for (std::unique_ptr<lease> &each : leases_) {
            if (test(*each)) {
                std::swap(each, leases_.back());
                std::unique_ptr<lease> found = std::move(leases_.back());
                leases_.pop_back();
                return found;
            }
        }
        return nullptr;
    }

    const flux::address to_;
    std::mutex lock_;
    // Of connections that are borrowed, made or kept.
    int taken_ = 0;
    std::vector<place> kept_;
    std::deque<waiter *> waiters_;
    std::vector<std::unique_ptr<lease>> leases_;
};

bool lease::flow_has_ended() noexcept
{
    from_.forget(*this);
    delete this;
    return false; // the connection is counted
}

/// The pools of all servers. They stay, as flows may come back to them.
class pools
{
  public:
    pool &at(const flux::address &to)
    {
        const std::lock_guard alone(lock_);
        std::unique_ptr<pool> &known = all_[{&flux::running_io(), to.text()}];
        if (known == nullptr) {
            known = std::make_unique<pool>(to);
        }
        return *known;
    }

    /// Calls it with each pool of the running I/O, until it gives 0.
    template <class Visit>
    int any(Visit visit)
    {
        const std::lock_guard alone(lock_);
        for (const auto &[key, each] : all_) {
            if (key.first == &flux::running_io() && visit(*each) == 0) {
                return 0;
            }
        }
        return EBADF;
    }

  private:
    std::mutex lock_;
    std::map<std::pair<const flux::io *, std::string>, std::unique_ptr<pool>> all_;
};

pools &all_pools()
{
    static pools &all = *new pools;
    return all;
}

} // namespace

flux::io_result<flux::connection *> borrow(const flux::address &to, const limits &within, flux::moment deadline)
{
    return all_pools().at(to).borrow(within, deadline);
}

flux::io_result<void> give_back(flux::connection *used)
{
    const int error =
        used == nullptr ? EBADF : all_pools().any([used](pool &each) { return each.give_back(*used); });
    return error == 0 ? flux::io_result<void>() : flux::unexpected(error);
}

int Take(Take_in *in, Take_out *out)
{
    const std::optional<flux::address> to = flux::parse_address(in->to);
    if (!to) {
        return EADDRNOTAVAIL;
    }
    const auto wait = std::chrono::milliseconds(in->wait_ms);
    const flux::moment deadline = wait.count() == 0 ? flux::never : flux::running_io().now() + wait;
    out->bytes = std::move(in->bytes);
    return flux::take(borrow(*to, {in->most, std::chrono::milliseconds(in->idle_ms)}, deadline), out->connection);
}

int Return(Return_in *in, Return_out *out)
{
    out->bytes = std::move(in->bytes);
    return flux::take(give_back(in->connection));
}

} // namespace upstream
