#include "flux/flow/park_reason.hpp"

#include "flux/flow/flow_times.hpp"
#include "flux/sleep.hpp"
#include "../support/io_peers.hpp"
#include "../support/io_world.hpp"

#include <array>
#include <chrono>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <string>

namespace {

using namespace std::chrono_literals;
using flux::park_reason;

TEST(ParkReason, HasANameOfItsOwn)
{
    std::set<std::string> names;
    for (std::size_t reason = 0; reason < flux::park_reason_count; ++reason) {
        names.insert(flux::park_reason_name(static_cast<park_reason>(reason)));
    }
    EXPECT_EQ(names.size(), flux::park_reason_count);
    EXPECT_FALSE(names.contains(""));
}

template <class World>
class ParkReasons : public testing::Test
{
  protected:
    /// How long a node that does this is parked, by the reason.
    std::map<park_reason, std::chrono::nanoseconds> parked_for(const std::function<void()> &work)
    {
        constexpr flux::node_number node = 0;
        flux::flow_times times(1, 1);
        world.start([&](flux::flow &here) {
            here.begin_timing(times, 1);
            here.timing().runs();
            work();
            here.timing().ended(node, {});
        });
        world.run();
        std::map<park_reason, std::chrono::nanoseconds> all;
        const auto nodes = times.of_nodes();
        EXPECT_EQ(nodes.size(), 1u);
        std::uint64_t sum = 0;
        for (std::size_t reason = 0; reason < flux::park_reason_count; ++reason) {
            if (const flux::histogram_counts &counts = nodes.at(0).parked_for[reason]; counts.times() != 0) {
                EXPECT_EQ(counts.times(), 1u) << "of those alone that have some";
                all[static_cast<park_reason>(reason)] = std::chrono::nanoseconds(counts.sum());
                sum += counts.sum();
            }
        }
        EXPECT_EQ(sum, nodes.at(0).of[static_cast<std::size_t>(flux::time_kind::parked)].sum());
        EXPECT_EQ(times.of_sources().at(0).parked_for[static_cast<std::size_t>(park_reason::sleep)].sum(),
                  static_cast<std::uint64_t>(all[park_reason::sleep].count()));
        return all;
    }

    World world;
    flux::io &io = world.io();
};

struct name_of_world {
    template <class World>
    static std::string GetName(int)
    {
        return World().io().name();
    }
};

using worlds = testing::Types<blocking_world, reactor_world, proactor_world>;
TYPED_TEST_SUITE(ParkReasons, worlds, name_of_world);

TYPED_TEST(ParkReasons, AreWhatAFlowWaitsFor)
{
    const auto waits_for_all = [this] {
        connected both(this->io);
        std::array<std::byte, 8> into;
        EXPECT_EQ(both.near->receive(into, this->io.now() + 7ms).error(), ETIMEDOUT);
        EXPECT_EQ(flux::sleep_for(11ms), 0);
        // More than the kernel keeps for a peer that takes nothing.
        std::string much(64 << 20, 'm');
        iovec part{much.data(), much.size()};
        EXPECT_EQ(both.near->send({&part, 1}, this->io.now() + 150ms).error(), ETIMEDOUT);
    };
    auto parked = this->parked_for(waits_for_all);
    const auto has_not_waited = [&](park_reason reason) { return parked[reason] == 0ms; };
    // A process that was stopped may find that the time is over before it waits.
    while (has_not_waited(park_reason::read) || has_not_waited(park_reason::sleep) ||
           has_not_waited(park_reason::write)) {
        parked = this->parked_for(waits_for_all);
    }
    EXPECT_LE(parked[park_reason::sleep], 11ms) << "what comes after its time is queued";
    EXPECT_FALSE(parked.contains(park_reason::flow));
}

} // namespace
