/// \file
/// The loops that accept from one listener. They share its policy (`accept_policy.hpp`) across their threads.
#pragma once

#include "flux/io/accept_policy.hpp"
#include "flux/io/accepting.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace flux {

/// One of those who accept.
class accept_member
{
  public:
    /// It is to ask. Any thread calls this, and none after it has left.
    virtual void ring() noexcept = 0;

  protected:
    ~accept_member() = default;
};

/// Of one listener. Any thread calls it. It lives as long as the listener, its members, and the connections that they
/// have accepted.
class accept_group final : public accept_place
{
  public:
    /// Is drained with these; null for a group of its own. `at` is the listener's address. Throws `std::bad_alloc`.
    explicit accept_group(std::shared_ptr<accepting> with, const address &at = {});
    accept_group(const accept_group &) = delete;
    accept_group &operator=(const accept_group &) = delete;
    ~accept_group();

    /// A further member. Throws `std::bad_alloc`.
    accept_policy::member join(accept_member &joins);

    // As the policy has it; who is to be rung is.

    void leave(accept_policy::member of, moment now) noexcept;
    void notify() noexcept;
    accept_policy::decision ask(accept_policy::member by, moment now) noexcept;
    void accepted(accept_policy::member by) noexcept;
    void found_none(accept_policy::member by) noexcept;
    void failed(moment now) noexcept;
    void full(accept_policy::member of, moment now) noexcept;
    void closed(accept_policy::member of) noexcept;
    void unwatched(accept_policy::member of) noexcept;

    /// A place for one more connection; false where the server has as many as it may. One that is `closed` leaves it,
    /// and so does who takes it and accepts nobody.
    bool take_place() noexcept { return with_ == nullptr || with_->take_place(); }
    void leave_place() noexcept
    {
        if (with_ != nullptr) {
            with_->leave_place();
        }
    }

    /// As the policy's, at the cost of a load.
    bool quiet() const noexcept { return quiet_.load(std::memory_order_acquire); }

    /// Whether nobody is accepted any more but those who wait now.
    bool drains() const noexcept { return with_ != nullptr && with_->drains(); }

    void look() noexcept override;
    bool take(const address &at, descriptor &socket) noexcept override;

    /// The socket of the next peer, which another server has passed on, or which waits at the listener. Gives the error
    /// of `accept`.
    io_result<descriptor> next_peer(const descriptor &from, address &peer) noexcept;

  private:
    // Does this with the policy, and says afterwards whether it is quiet.
    template <class Change>
    auto change(Change what) noexcept
    {
        const std::lock_guard alone(lock_);
        const after_change says{*this};
        return what();
    }

    struct after_change {
        accept_group &of;
        ~after_change() { of.quiet_.store(of.policy_.quiet(), std::memory_order_release); }
    };

    void ring(std::optional<accept_policy::member> chosen) noexcept;
    void ring_all() noexcept;

    const std::shared_ptr<accepting> with_;
    const address at_;
    // Those that were passed on.
    std::vector<descriptor> passed_;
    std::mutex lock_;
    accept_policy policy_;
    // By number; null where it has left.
    std::vector<accept_member *> members_;
    std::atomic<bool> quiet_{true};
};

} // namespace flux
