#include "flux/event/switched_keys.hpp"

#include <flux/event/fiber.hpp>
#include <flux/event/stack.hpp>

#include <gtest/gtest.h>
#include <string>

namespace {

std::string ended;

/// A key that is switched, as long as this exists.
struct switched_key {
    pthread_key_t number = 0;

    switched_key()
    {
        const auto at_end = [](void *value) { ended += static_cast<const char *>(value); };
        EXPECT_EQ(pthread_key_create(&number, at_end), 0);
        flux::switched_keys::add(number, at_end);
    }
    ~switched_key()
    {
        flux::switched_keys::remove(number);
        pthread_key_delete(number);
    }
    switched_key(const switched_key &) = delete;

    void set(const char *value) const { pthread_setspecific(number, value); }
    std::string get() const
    {
        const void *const value = pthread_getspecific(number);
        return value == nullptr ? "none" : static_cast<const char *>(value);
    }
};

TEST(SwitchedKeys, AreThoseOfEachFiber)
{
    ended.clear();
    const switched_key key;
    key.set("thread");
    flux::stack_store stacks;
    {
        struct written {
            const switched_key &key;
            const char *own;
            flux::fiber fiber;
            std::string seen = {};
        };
        written both[] = {{key, "a", flux::fiber(*stacks.take())}, {key, "b", flux::fiber(*stacks.take())}};
        for (written &each : both) {
            each.fiber.prepare(
                [](void *argument) {
                    written &self = *static_cast<written *>(argument);
                    self.seen = self.key.get();
                    self.key.set(self.own);
                    self.fiber.park();
                    self.seen += self.key.get();
                },
                &each);
        }
        for (int time = 0; time < 2; ++time) {
            for (written &each : both) {
                EXPECT_EQ(each.fiber.resume(), time == 1);
                EXPECT_EQ(key.get(), "thread");
            }
        }
        EXPECT_EQ(both[0].seen, "nonea");
        EXPECT_EQ(both[1].seen, "noneb");
        for (written &each : both) {
            stacks.give_back(each.fiber.on());
        }
        EXPECT_EQ(ended, "");
    }
    EXPECT_EQ(ended, "ba") << "the destructors were called with the fibers' values";
    EXPECT_EQ(key.get(), "thread");
}

TEST(SwitchedKeys, AnotherKeyOfTheSameNumberIsEmpty)
{
    flux::switched_keys own;
    {
        const switched_key before;
        before.set("old");
        own.swap();
        EXPECT_EQ(before.get(), "none");
    }
    const switched_key after;
    own.swap();
    EXPECT_EQ(after.get(), "none");
}

} // namespace
