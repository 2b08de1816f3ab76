#include "flux/waiting/wait_table.hpp"

#include <flux/event/fiber.hpp>

#include <atomic>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace {

/// Runs a few actors in every order of their steps: each step is a choice of who is next, and one run follows another
/// until all choices were made (P. Godefroid, "Model Checking for Programming Languages using VeriSoft", POPL 1997).
/// The code that they run is the table's own, made of parts whose every use is a step.
class explorer
{
  public:
    using actor = std::function<void()>;

    /// Before what others can see: they may come first.
    static void step() { current_->pause([] { return true; }); }

    /// As `step`, and nobody goes on here before that is so.
    static void step_when(std::function<bool()> may_go_on) { current_->pause(std::move(may_go_on)); }

    /// Which of so many things happens that are not up to the actors.
    static std::size_t choose(std::size_t among) { return current_->next_choice(among); }

    /// All orders, or as many as a sanitizer has time for; `make` makes the actors anew, and `check` looks at the end
    /// of each run. Gives how many orders there were.
    static std::size_t explore(const std::function<std::vector<actor>()> &make, const std::function<void()> &check)
    {
        explorer here;
        current_ = &here;
        do {
            here.run(make());
            check();
            ++here.runs_;
        } while (!testing::Test::HasFailure() && here.runs_ < most_orders && here.go_back());
        current_ = nullptr;
        return here.runs_;
    }

  private:
    static constexpr std::size_t most_orders =
        flux::thread_sanitizer || flux::address_sanitizer ? 5000 : ~std::size_t{0};

    struct choice {
        std::size_t taken;
        std::size_t among;
    };

    struct running {
        running() : memory(std::make_unique<std::byte[]>(stack_size)), on({memory.get(), stack_size}) {}

        static constexpr std::size_t stack_size = 128 * 1024;
        std::unique_ptr<std::byte[]> memory;
        flux::fiber on;
        actor does = {};
        std::function<bool()> may_go_on = [] { return true; };
        bool ended = false;
    };

    void run(const std::vector<actor> &actors)
    {
        depth_ = 0;
        while (fibers_.size() < actors.size()) {
            fibers_.push_back(std::make_unique<running>());
        }
        for (std::size_t number = 0; number < actors.size(); ++number) {
            running &each = *fibers_[number];
            each.does = actors[number];
            each.may_go_on = [] { return true; };
            each.ended = false;
            each.on.prepare([](void *self) { static_cast<running *>(self)->does(); }, &each);
        }
        while (true) {
            std::vector<running *> able;
            bool all_ended = true;
            for (std::size_t number = 0; number < actors.size(); ++number) {
                all_ended = all_ended && fibers_[number]->ended;
                if (!fibers_[number]->ended && fibers_[number]->may_go_on()) {
                    able.push_back(fibers_[number].get());
                }
            }
            if (able.empty()) {
                ASSERT_TRUE(all_ended) << "nobody can go on, in run " << runs_;
                return;
            }
            now_ = able[next_choice(able.size())];
            now_->ended = now_->on.resume();
        }
    }

    void pause(std::function<bool()> may_go_on)
    {
        now_->may_go_on = std::move(may_go_on);
        now_->on.park();
        now_->may_go_on = [] { return true; };
    }

    std::size_t next_choice(std::size_t among)
    {
        if (depth_ == choices_.size()) {
            choices_.push_back({0, among});
        }
        return choices_[depth_++].taken;
    }

    // To the last choice that can be made in another way; false where there is none.
    bool go_back()
    {
        while (!choices_.empty() && choices_.back().taken + 1 == choices_.back().among) {
            choices_.pop_back();
        }
        if (choices_.empty()) {
            return false;
        }
        ++choices_.back().taken;
        return true;
    }

    static inline explorer *current_ = nullptr;
    std::vector<std::unique_ptr<running>> fibers_;
    running *now_ = nullptr;
    std::vector<choice> choices_;
    std::size_t depth_ = 0;
    std::size_t runs_ = 0;
};

/// The table's parts, each use of which is a step.
struct explored_parts {
    class place
    {
      public:
        bool wait_until(flux::moment deadline)
        {
            // A deadline may pass at any time from now on.
            const bool is_timed = deadline != flux::never;
            explorer::step_when([this, is_timed] { return woken_ || is_timed; });
            const bool was_woken = woken_ && (!is_timed || explorer::choose(2) == 0);
            woken_ = woken_ && !was_woken;
            return was_woken;
        }
        void wait() { wait_until(flux::never); }
        void wake()
        {
            if (somebody_waits_with_a_deadline) {
                explorer::step(); // else nobody does anything about it before
            }
            EXPECT_FALSE(woken_) << "woken twice";
            woken_ = true;
        }

        static inline bool somebody_waits_with_a_deadline = false;

      private:
        bool woken_ = false;
    };

    class count
    {
      public:
        explicit count(std::size_t first) : value_(first) {}
        std::size_t load() const
        {
            explorer::step();
            return value_;
        }
        // No steps: it is as if the bucket's lock were taken, or let go of, at that time.
        void fetch_add(std::size_t more) { value_ += more; }
        void fetch_sub(std::size_t less) { value_ -= less; }

      private:
        std::size_t value_;
    };

    class step_lock
    {
      public:
        void lock()
        {
            explorer::step_when([this] { return !taken_; });
            taken_ = true;
        }
        void unlock() { taken_ = false; }

      private:
        bool taken_ = false;
    };

    using lock = step_lock;
};

using explored_table = flux::basic_wait_table<explored_parts>;

/// A lock of the C library, as fibers and threads see it.
struct world {
    explored_table table;
    bool held = false;
    int inside = 0;
    int entered = 0;
    int timeouts = 0;
    int items = 0;
    int eaten = 0;
    explored_parts::place places[3];

    bool try_lock()
    {
        explorer::step();
        return !std::exchange(held, true);
    }

    void fiber_lock(int number, flux::moment deadline = flux::never)
    {
        if (!table.acquire(&held, places[number], deadline, [this] { return try_lock(); })) {
            ++timeouts;
            return;
        }
        enter();
    }

    void thread_lock()
    {
        explorer::step_when([this] { return !held; });
        held = true;
        enter();
    }

    void unlock()
    {
        --inside;
        explorer::step();
        held = false;
        table.wake(&held, 1);
    }

    void enter()
    {
        EXPECT_EQ(++inside, 1) << "two are in the lock";
        ++entered;
    }
};

TEST(WaitTable, InEveryOrderTwoFibersAndAThreadGetTheLockOneAfterTheOther)
{
    std::unique_ptr<world> in;
    const auto fiber = [&](int number) {
        return [&in, number] {
            in->fiber_lock(number);
            in->unlock();
        };
    };
    const auto thread = [&] {
        in->thread_lock();
        in->unlock();
    };
    const auto make = [&] {
        in = std::make_unique<world>();
        return std::vector<explorer::actor>{fiber(0), fiber(1), thread};
    };
    const std::size_t orders = explorer::explore(make, [&] {
        EXPECT_EQ(in->entered, 3);
        EXPECT_FALSE(in->held);
    });
    EXPECT_GT(orders, 1000u);
    RecordProperty("orders", static_cast<int>(orders));
}

TEST(WaitTable, InEveryOrderALockIsHadOrTheTimeHasPassed)
{
    std::unique_ptr<world> in;
    explored_parts::place::somebody_waits_with_a_deadline = true;
    const auto make = [&] {
        in = std::make_unique<world>();
        const auto timed = [&] {
            const int before = in->timeouts;
            in->fiber_lock(0, flux::moment::min());
            if (in->timeouts == before) {
                in->unlock();
            }
        };
        const auto patient = [&] {
            in->fiber_lock(1);
            in->unlock();
        };
        return std::vector<explorer::actor>{timed, patient};
    };
    int all_timeouts = 0;
    explorer::explore(make, [&] {
        EXPECT_EQ(in->entered + in->timeouts, 2);
        EXPECT_FALSE(in->held);
        all_timeouts += in->timeouts;
    });
    EXPECT_GT(all_timeouts, 0);
    explored_parts::place::somebody_waits_with_a_deadline = false;
}

// As `pthread_cond_wait` does it: in the table before the lock is free.
TEST(WaitTable, InEveryOrderWhatASignalSaysIsHeard)
{
    std::unique_ptr<world> in;
    const auto eat = [&](int number) {
        return [&in, number] {
            in->fiber_lock(number);
            while (in->items == 0) {
                explored_table::entry own(&in->items, in->places[number]);
                in->table.begin(own, [] { return true; });
                in->unlock();
                in->table.sleep(own);
                in->fiber_lock(number);
            }
            --in->items;
            ++in->eaten;
            in->unlock();
        };
    };
    const auto bring = [&] {
        in->fiber_lock(1);
        ++in->items;
        in->unlock();
        in->table.wake(&in->items, 1);
    };
    const auto make = [&] {
        in = std::make_unique<world>();
        return std::vector<explorer::actor>{eat(0), bring};
    };
    explorer::explore(make, [&] {
        EXPECT_EQ(in->eaten, 1);
        EXPECT_FALSE(in->held);
    });
}

} // namespace
