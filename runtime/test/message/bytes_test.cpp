#include "flux/message/bytes.hpp"

#include "flux/waiting/sanitizer.hpp"

#include <gtest/gtest.h>
#include <malloc.h>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

flux::message_bytes bytes_of(std::string_view text)
{
    return flux::message_bytes::copy_of(std::as_bytes(std::span(text)));
}

// What the allocator has given out.
std::size_t in_use() noexcept
{
    const struct mallinfo2 all = mallinfo2();
    return all.uordblks + all.hblkhd;
}

TEST(MessageBytes, AreThoseThatWereCopied)
{
    for (const std::size_t size : {0U, 1U, 47U, 48U, 49U, 112U, 4079U, 4080U, 4081U, 100'000U}) {
        std::string text(size, '\0');
        for (std::size_t at = 0; at < size; ++at) {
            text[at] = static_cast<char>(at % 251);
        }
        flux::message_bytes own = bytes_of(text);
        EXPECT_EQ(own.size(), size);
        EXPECT_EQ(own.view(), text);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(own.data()) % 16, 0U);
    }
}

TEST(MessageBytes, AreSharedByCopies)
{
    flux::message_bytes first = bytes_of("some text");
    const char *const place = first.view().data();
    flux::message_bytes second = first;
    flux::message_bytes third;
    EXPECT_EQ(third.view(), "");
    EXPECT_EQ(third.data(), nullptr);
    third = second;
    EXPECT_EQ(second.view().data(), place);
    first = flux::message_bytes();
    second = std::move(third);
    EXPECT_EQ(second.view(), "some text");
    EXPECT_EQ(second.view().data(), place);
    const flux::message_bytes &same = second;
    second = same;
    EXPECT_EQ(second.view(), "some text");
}

TEST(MessageBytes, KeepWhatTheyAreWhenTheyAreMoreOrFewer)
{
    for (const std::size_t size : {1U, 40U, 3'000U, 70'000U}) {
        const std::string text(size, 'x');
        flux::message_bytes own = bytes_of(text);
        for (const std::size_t other : {size, size + 1, 3 * size, 100'000 + size, size, size / 2}) {
            own.resize(other);
            ASSERT_EQ(own.size(), other);
            const std::size_t same = std::min(other, size);
            ASSERT_EQ(own.view().substr(0, same), text.substr(0, same));
        }
    }
    flux::message_bytes none;
    none.resize(3);
    EXPECT_EQ(none.size(), 3U);
}

TEST(MessageBytes, ThatNobodyHasAnyMoreAreUsedAgain)
{
    if (flux::address_sanitizer || flux::thread_sanitizer) {
        GTEST_SKIP() << "each use of memory is to be seen";
    }
    const char *before = nullptr;
    {
        before = bytes_of("one").view().data();
    }
    EXPECT_EQ(bytes_of("another").view().data(), before);
}

// A thread that only makes them, and one that only drops them.
TEST(MessageBytes, ThatGoFromThreadToThreadTakeNoMoreAndMoreMemory)
{
    const auto pass_on = [](int rounds) {
        for (int round = 0; round < rounds; ++round) {
            std::vector<flux::message_bytes> made;
            for (std::size_t size = 1; size < 6'000; size += 100) {
                made.push_back(flux::message_bytes::allocate(size));
            }
            std::thread([&made] { made.clear(); }).join();
        }
    };
    pass_on(10);
    const std::size_t before = in_use();
    pass_on(100);
    EXPECT_LT(in_use(), before + 64 * 1024);
}

TEST(MessageBytes, AThreadKeepsABoundOfThem)
{
    std::size_t kept = 0;
    std::thread([&kept] {
        const std::size_t before = in_use();
        {
            std::vector<flux::message_bytes> many;
            many.reserve(16'000);
            for (std::size_t at = 0; at < 16'000; ++at) {
                many.push_back(flux::message_bytes::allocate(at % 4'000));
            }
        }
        const std::size_t after = in_use();
        kept = after > before ? after - before : 0;
    }).join();
    EXPECT_LE(kept, std::size_t{64} * 20 * 1024);
}

TEST(MessageBytes, TheLastShareFreesThemOnWhateverThread)
{
    for (int round = 0; round < 200; ++round) {
        flux::message_bytes own = bytes_of("shared by three");
        const auto use = [](flux::message_bytes share) {
            const flux::message_bytes again = share;
            EXPECT_EQ(again.view(), "shared by three");
        };
        std::thread one(use, own);
        std::thread other(use, own);
        own = flux::message_bytes();
        one.join();
        other.join();
    }
}

} // namespace
