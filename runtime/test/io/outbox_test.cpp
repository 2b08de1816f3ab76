#include "flux/io/outbox.hpp"

#include <cerrno>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace {

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
    EXPECT_TRUE(full.put(std::string(flux::outbox_row::room - 1, 'a')));
    EXPECT_FALSE(full.put("bc"));
    EXPECT_TRUE(full.put("b"));
    EXPECT_FALSE(full.put("c"));
    row.send_all();
    EXPECT_EQ(text, std::string(flux::outbox_row::room - 1, 'a') + "b");
    EXPECT_TRUE(full.put("c"));
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

} // namespace
