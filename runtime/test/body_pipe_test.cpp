#include "flux/body_pipe.hpp"

#include "flux/io.hpp"
#include "flux/sleep.hpp"
#include "support/running_source.hpp"
#include "support/patience.hpp"

#include <array>
#include <cerrno>
#include <gtest/gtest.h>
#include <string>

namespace {

using namespace std::chrono_literals;
using flux::strategy_kind;

/// Runs two flows to their end: one with the first function, one with the second. A loop has both.
void run_two(strategy_kind kind, const std::function<void()> &first, const std::function<void()> &second)
{
    sample::work = [&](const sample::Listen_out &) {
        if (flux::running_flow->position() == sample::node_Begin) {
            flux::running_flow->id() == 1 ? first() : second();
        }
    };
    sample::listen = sample::flows(2, [](int) { return sample::Listen_out{2, 2, -1}; });
    const std::size_t workers = kind == strategy_kind::event ? 1 : 2;
    sample::running_source running(sample::program, sample::source_Listen, kind, 2, workers);
    running.await_finished(2);
}

/// All that there is, pulled in pieces of this size; or the error.
flux::io_result<std::string> pull_all(flux::body &from, std::size_t piece)
{
    std::string all;
    std::string buffer(piece, ' ');
    while (true) {
        const auto count = from.pull(std::as_writable_bytes(std::span(buffer)));
        if (!count.has_value()) {
            return flux::unexpected(count.error());
        }
        if (*count == 0) {
            return all;
        }
        all.append(buffer, 0, *count);
    }
}

class BodyPipeByStrategy : public testing::TestWithParam<strategy_kind>
{
};

TEST_P(BodyPipeByStrategy, BytesComeInOrderThroughASmallWindow)
{
    std::string sent;
    for (int number = 0; sent.size() < 200'000; ++number) {
        sent += std::to_string(number) + ' ';
    }
    for (const std::size_t window : {1u, 7u, 4096u}) {
        const std::string_view some = std::string_view(sent).substr(0, 2000 * window);
        flux::body_pipe through(window);
        std::string came;
        run_two(
            GetParam(),
            [&] {
                EXPECT_TRUE(through.push(some).has_value());
                through.end();
            },
            [&] { came = *pull_all(through, 10); });
        EXPECT_EQ(came, some) << window;
    }
}

TEST_P(BodyPipeByStrategy, AnErrorComesToTheOtherSide)
{
    flux::body_pipe through(10);
    run_two(
        GetParam(),
        [&] {
            EXPECT_TRUE(through.push("some").has_value());
            through.end(EPROTO);
        },
        [&] {
            const auto all = pull_all(through, 3);
            ASSERT_FALSE(all.has_value());
            EXPECT_EQ(all.error(), EPROTO);
        });
}

TEST_P(BodyPipeByStrategy, WhoPushesIsToldThatNobodyPulls)
{
    flux::body_pipe through(10);
    run_two(
        GetParam(),
        [&] {
            const auto pushed = through.push(std::string(1000, 'x'));
            ASSERT_FALSE(pushed.has_value());
            EXPECT_EQ(pushed.error(), EPIPE);
        },
        [&] {
            std::array<std::byte, 15> some;
            EXPECT_TRUE(through.pull(some).has_value());
            through.abandon();
        });
}

TEST_P(BodyPipeByStrategy, WhoWaitsForRoomLearnsThatTheOtherSideHasGone)
{
    flux::body_pipe through(10);
    run_two(
        GetParam(),
        [&] {
            const auto pushed = through.push("more than ten");
            ASSERT_FALSE(pushed.has_value());
            EXPECT_EQ(pushed.error(), EPIPE);
        },
        [&] {
            flux::sleep_for(20ms); // the other probably waits by now
            through.abandon();
        });
}

TEST_P(BodyPipeByStrategy, WhoWaitsForBytesLearnsOfTheEnd)
{
    flux::body_pipe through(10);
    run_two(
        GetParam(),
        [&] {
            flux::sleep_for(20ms); // the other probably waits by now
            through.end();
        },
        [&] {
            std::array<std::byte, 15> some;
            EXPECT_EQ(*through.pull(some, in(await_limit)), 0u);
        });
}

TEST_P(BodyPipeByStrategy, NeitherSideWaitsLongerThanItsDeadline)
{
    flux::body_pipe empty(10);
    flux::body_pipe full(10);
    run_two(
        GetParam(),
        [&] {
            std::array<std::byte, 1> one;
            const auto pulled = empty.pull(one, in(20ms));
            ASSERT_FALSE(pulled.has_value());
            EXPECT_EQ(pulled.error(), ETIMEDOUT);
        },
        [&] {
            const auto pushed = full.push("more than ten", in(20ms));
            ASSERT_FALSE(pushed.has_value());
            EXPECT_EQ(pushed.error(), ETIMEDOUT);
        });
}

INSTANTIATE_TEST_SUITE_P(Body, BodyPipeByStrategy,
                         testing::Values(strategy_kind::thread, strategy_kind::pool, strategy_kind::event),
                         [](const auto &kind) { return std::string(flux::strategy_name(kind.param)); });

} // namespace
