#include "flux/event/idle_flag.hpp"

#include "flux/list/push_stack.hpp"

#include <gtest/gtest.h>

namespace {

struct work {
    work *next = nullptr;
};

/// Where the one who brings work can come in while the thread finds nothing and comes to wait: before it says that it
/// is idle, before it looks again, after it has looked, and when it waits.
constexpr int places = 4;

/// A thread that comes to wait, and one who brings work meanwhile: puts it there at one place, and looks whether the
/// thread is to be interrupted at this one or a later one.
class encounter
{
  public:
    encounter(int puts_at, int looks_at) : puts_at_(puts_at), looks_at_(looks_at)
    {
        other_at(0);
        waits = idle_.begin([this] {
            other_at(1);
            found = !inbox_.empty();
            other_at(2);
            return found;
        });
        other_at(3);
    }

    bool waits = false;
    bool found = false;
    bool interrupted = false;

  private:
    void other_at(int place)
    {
        if (place == puts_at_) {
            inbox_.push(brought_);
        }
        if (place == looks_at_) {
            interrupted = idle_.take();
        }
    }

    const int puts_at_;
    const int looks_at_;
    work brought_;
    flux::push_stack<work> inbox_;
    flux::idle_flag idle_;
};

TEST(IdleFlag, NobodyWaitsForWorkThatIsThereWhoeverIsFirst)
{
    for (int puts_at = 0; puts_at < places; ++puts_at) {
        for (int looks_at = puts_at; looks_at < places; ++looks_at) {
            const encounter both(puts_at, looks_at);
            EXPECT_TRUE(!both.waits || both.interrupted) << "put at " << puts_at << ", looked at " << looks_at;
            EXPECT_TRUE(both.waits || !both.interrupted) << "an interrupt that nobody waits for";
            EXPECT_EQ(both.found, puts_at < 2);
        }
    }
}

TEST(IdleFlag, OneOfThoseWhoBringWorkInterrupts)
{
    flux::idle_flag idle;
    EXPECT_FALSE(idle.take());
    EXPECT_TRUE(idle.begin([] { return false; }));
    EXPECT_TRUE(idle.is_set());
    EXPECT_TRUE(idle.take());
    EXPECT_FALSE(idle.is_set());
    EXPECT_FALSE(idle.take());
    EXPECT_TRUE(idle.begin([] { return false; }));
    idle.end();
    EXPECT_FALSE(idle.take());
    EXPECT_FALSE(idle.begin([] { return true; }));
    EXPECT_FALSE(idle.is_set());
}

} // namespace
