/// \file
/// What runs flows in the tests of I/O: threads that block, or fibers on the test's own thread, turned by hand.
#pragma once

#include "sample_program.hpp"

#include <flux/io/blocking_io.hpp>
#include <flux/event/fiber.hpp>
#include <flux/flow/flow.hpp>
#include <flux/io/loop_io.hpp>
#include <flux/io/proactor.hpp>
#include <flux/io/reactor.hpp>
#include <flux/strategy/runner.hpp>

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

/// A flow does this.
using action = std::function<void(flux::flow &)>;

/// Flows that block their threads.
class blocking_world
{
  public:
    static constexpr bool cancels = false;
    static constexpr int many = 30;

    flux::io &io() noexcept { return flux::blocking_io(); }

    void start(action function)
    {
        const std::lock_guard alone(lock_);
        threads_.emplace_back([function = std::move(function)] {
            flux::runner own(sample::program);
            flux::flow here;
            here.run_on(own);
            flux::running_flow = &here;
            function(here);
            flux::running_flow = nullptr;
        });
    }

    /// Until all have ended. A flow may have started others.
    void run()
    {
        while (std::thread *const next = first()) {
            next->join();
            const std::lock_guard alone(lock_);
            threads_.pop_front();
        }
    }

  private:
    std::thread *first()
    {
        const std::lock_guard alone(lock_);
        return threads_.empty() ? nullptr : &threads_.front();
    }

    std::mutex lock_;
    std::deque<std::thread> threads_;
};

/// Flows that are fibers of one loop.
class loop_world
{
  public:
    static constexpr bool cancels = true;
    static constexpr int many = flux::thread_sanitizer ? 100 : 400;

    explicit loop_world(std::unique_ptr<flux::loop_io> through) : io_(std::move(through)) {}

    flux::loop_io &io() noexcept { return *io_; }

    void start(action function)
    {
        fibers_.push_back(std::make_unique<resident>(*this, std::move(function)));
        ++alive_;
        ready_.push_back(fibers_.back().get());
    }

    void run()
    {
        while (alive_ > 0) {
            resume_ready();
            io_->wait(next_deadline());
            io_->deliver();
            const flux::moment now = io_->now();
            for (const auto &each : fibers_) {
                each->expire(now);
            }
        }
        fibers_.clear();
    }

  private:
    class resident final : public flux::waiter
    {
      public:
        resident(loop_world &of, action function)
            : of_(of), function_(std::move(function)), fiber_(*of.stacks_.take())
        {
            of_.runner_.wait_at(*this);
            flow_.run_on(of_.runner_);
            fiber_.prepare([](void *self) { static_cast<resident *>(self)->run(); }, this);
        }
        ~resident() { of_.stacks_.give_back(fiber_.on()); }

        bool wait_until(flux::moment deadline) noexcept override
        {
            if (!woken_) {
                deadline_ = deadline;
                asleep_ = true;
                flux::flow *const here = flux::running_flow;
                fiber_.park();
                flux::running_flow = here;
                asleep_ = false;
            }
            return std::exchange(woken_, false);
        }

        void wake() noexcept override
        {
            woken_ = true;
            expire(flux::never);
        }

        /// Has it go on if its deadline is not after `now`.
        void expire(flux::moment now) noexcept
        {
            if (asleep_ && !queued_ && deadline_ <= now) {
                queued_ = true;
                of_.ready_.push_back(this);
            }
        }

        bool resume() noexcept
        {
            queued_ = false;
            return fiber_.resume();
        }
        flux::moment deadline() const noexcept { return asleep_ ? deadline_ : flux::never; }

      private:
        void run()
        {
            flux::running_flow = &flow_;
            function_(flow_);
            flux::running_flow = nullptr;
            function_ = nullptr;
        }

        loop_world &of_;
        action function_;
        flux::fiber fiber_;
        flux::flow flow_;
        flux::moment deadline_ = flux::never;
        bool asleep_ = false;
        bool woken_ = false;
        bool queued_ = true;
    };

    void resume_ready()
    {
        while (!ready_.empty()) {
            resident &next = *ready_.front();
            ready_.pop_front();
            if (next.resume()) {
                --alive_;
            }
        }
    }

    flux::moment next_deadline() const
    {
        flux::moment first = alive_ == 0 ? flux::moment::min() : flux::never;
        for (const auto &each : fibers_) {
            first = std::min(first, each->deadline());
        }
        return first;
    }

    std::unique_ptr<flux::loop_io> io_;
    flux::stack_store stacks_;
    flux::runner runner_{sample::program};
    std::vector<std::unique_ptr<resident>> fibers_;
    std::deque<resident *> ready_;
    std::size_t alive_ = 0;
};

class reactor_world : public loop_world
{
  public:
    reactor_world() : loop_world(flux::make_reactor()) {}
};

class proactor_world : public loop_world
{
  public:
    proactor_world() : loop_world(flux::make_proactor()) {}
};
