#include "flux/io/outbox.hpp"

#include "../support/io_peers.hpp"
#include "../support/io_world.hpp"

#include <flux/sleep.hpp>

#include <cerrno>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace std::chrono_literals;

/// Sends into a text, as much at a time as there is room for.
class written final : public flux::outbox
{
  public:
    written(flux::outbox_row &of, std::string &into) : outbox(of), into_(into) {}

    bool put(std::string_view text)
    {
        const iovec part{const_cast<char *>(text.data()), text.size()};
        return outbox::put({&part, 1});
    }

    void go_on() { list(); }

    std::size_t room = 100'000;
    int error = 0;
    int calls = 0;

  private:
    void send_soon() noexcept override
    {
        ++calls;
        if (error != 0) {
            return failed(error);
        }
        const std::span<std::byte> whole = unsent();
        const std::size_t count = std::min(room, whole.size());
        into_.append(reinterpret_cast<const char *>(whole.data()), count);
        sent(count);
    }

    std::string &into_;
};

TEST(Outbox, WhatIsPutGoesOutInOrderWithOneCall)
{
    flux::outbox_row row;
    std::string first_text;
    std::string second_text;
    written first(row, first_text);
    written second(row, second_text);
    EXPECT_TRUE(first.put("one "));
    EXPECT_TRUE(second.put("other"));
    EXPECT_TRUE(first.put("two"));
    EXPECT_EQ(first_text, "");
    row.send_all();
    EXPECT_EQ(first_text, "one two");
    EXPECT_EQ(second_text, "other");
    EXPECT_EQ(first.calls, 1);
    EXPECT_TRUE(first.empty());
    row.send_all();
    EXPECT_EQ(first.calls, 1);
}

TEST(Outbox, WhatIsNotTakenGoesOutWhenThereIsRoom)
{
    flux::outbox_row row;
    std::string text;
    written slow(row, text);
    slow.room = 3;
    EXPECT_TRUE(slow.put("abcde"));
    row.send_all();
    EXPECT_EQ(text, "abc");
    row.send_all(); // nobody has said that there is room
    EXPECT_EQ(text, "abc");
    EXPECT_TRUE(slow.put("f"));
    slow.go_on();
    row.send_all();
    EXPECT_EQ(text, "abcdef");
    EXPECT_TRUE(slow.empty());
}

TEST(Outbox, TakesNoMoreThanItHasRoomFor)
{
    flux::outbox_row row;
    std::string text;
    written full(row, text);
    std::string whole;
    while (whole.size() + flux::outbox_row::largest < flux::outbox_row::room) {
        EXPECT_TRUE(full.put(std::string(flux::outbox_row::largest, 'a')));
        whole.append(flux::outbox_row::largest, 'a');
    }
    const std::string rest(flux::outbox_row::room - whole.size() - 1, 'b');
    EXPECT_TRUE(full.put(rest));
    EXPECT_FALSE(full.put("cd"));
    EXPECT_TRUE(full.put("c"));
    EXPECT_FALSE(full.put("d"));
    row.send_all();
    EXPECT_EQ(text, whole + rest + "c");
    EXPECT_TRUE(full.put("d"));
}

TEST(Outbox, WhatIsLargeIsNotCopiedThere)
{
    flux::outbox_row row;
    std::string text;
    written soon(row, text);
    EXPECT_FALSE(soon.put(std::string(flux::outbox_row::largest + 1, 'a')));
    EXPECT_TRUE(soon.empty());
    EXPECT_TRUE(soon.put(std::string(flux::outbox_row::largest, 'a')));
}

TEST(Outbox, AnErrorIsSaidOnceAndWhatWasThereIsGone)
{
    flux::outbox_row row;
    std::string text;
    written broken(row, text);
    EXPECT_TRUE(broken.put("lost"));
    broken.error = EPIPE;
    row.send_all();
    EXPECT_TRUE(broken.empty());
    EXPECT_EQ(broken.take_error(), EPIPE);
    EXPECT_EQ(broken.take_error(), 0);
}

TEST(Outbox, MemoryIsSharedAndBounded)
{
    flux::outbox_row row;
    std::string text;
    std::vector<std::unique_ptr<written>> all;
    for (std::size_t each = 0; each <= flux::outbox_row::most; ++each) {
        all.push_back(std::make_unique<written>(row, text));
        EXPECT_EQ(all.back()->put("x"), each < flux::outbox_row::most);
    }
    all.front().reset(); // unsent, it gives back what it has
    EXPECT_TRUE(all.back()->put("y"));
    row.send_all();
    EXPECT_EQ(text, std::string(flux::outbox_row::most - 1, 'x') + "y");
}

/// The outboxes of the streams of a loop.
template <class World>
class OutboxOfAStream : public testing::Test
{
};

struct name_of_world {
    template <class World>
    static std::string GetName(int)
    {
        return World().io().name();
    }
};

using loop_worlds = testing::Types<reactor_world, proactor_world>;
TYPED_TEST_SUITE(OutboxOfAStream, loop_worlds, name_of_world);

/// 0 or the error.
int send_later(flux::stream &through, std::string text)
{
    const iovec part{text.data(), text.size()};
    return through.send_later({&part, 1}) ? 0 : send(through, text);
}

TYPED_TEST(OutboxOfAStream, WaitsForRoomAndTheEndForWhatIsInIt)
{
    TypeParam world;
    world.start([&](flux::flow &) {
        connected both(world.io());
        EXPECT_EQ(send(*both.near, std::string(30'000'000, 'a'), in(10ms)), ETIMEDOUT);
        EXPECT_EQ(send_later(*both.near, std::string(5'000, 'b')), 0);
        EXPECT_EQ(flux::sleep_for(1ms), 0); // each time it is tried, and there is no room
        EXPECT_EQ(send_later(*both.near, std::string(5'000, 'c')), 0);
        EXPECT_EQ(flux::sleep_for(1ms), 0);
        both.near->end_output();
        const std::string got = receive_all(*both.far);
        EXPECT_TRUE(got.ends_with(std::string(5'000, 'b') + std::string(5'000, 'c')));
        EXPECT_EQ(got.find('b'), got.size() - 10'000) << "all of it once";
    });
    world.run();
}

TYPED_TEST(OutboxOfAStream, AnErrorOfWhatIsSentLaterIsTheNextCalls)
{
    TypeParam world;
    world.start([&](flux::flow &) {
        place server(world.io());
        plain_peer peer(server.listener->local());
        const auto accepted = server.accept();
        peer.reset();
        EXPECT_EQ(receive(*accepted), "error ECONNRESET");
        EXPECT_EQ(send_later(*accepted, "nobody listens"), 0);
        EXPECT_EQ(flux::sleep_for(1ms), 0); // it goes out meanwhile
        EXPECT_EQ(accepted->flush().error(), EPIPE);
        EXPECT_TRUE(accepted->flush().has_value()) << "it is said once";
    });
    world.run();
}

} // namespace
