/// \file
/// Waits as another waiter does, and counts that. What waits for a lock is in its queue by then.
#pragma once

#include <flux/waiting/waiter.hpp>

#include <atomic>

class counted_waiter final : public flux::waiter
{
  public:
    counted_waiter(flux::waiter &inner, std::atomic<int> &waits) : inner_(inner), waits_(waits) {}

    bool wait_until(flux::moment deadline) noexcept override
    {
        ++waits_;
        return inner_.wait_until(deadline);
    }

    void wake() noexcept override { inner_.wake(); }

  private:
    flux::waiter &inner_;
    std::atomic<int> &waits_;
};
