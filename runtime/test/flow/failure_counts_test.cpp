#include "flux/flow/failure_counts.hpp"

#include <gtest/gtest.h>
#include <tuple>
#include <vector>

namespace {

using row = std::tuple<flux::node_number, int, std::uint64_t, std::uint64_t>;

std::vector<row> rows(const flux::failure_counts &of)
{
    std::vector<row> all;
    for (const flux::failure_total &each : of.totals()) {
        all.emplace_back(each.node, each.error, each.times, each.unhandled);
    }
    return all;
}

TEST(FailureCounts, AreByNodeAndErrorMostFrequentFirst)
{
    flux::failure_counts counts;
    counts.failed(3, 110);
    counts.failed(2, -7);
    counts.failed(2, -7);
    counts.unhandled(2, -7);
    counts.failed(2, 5);
    counts.failed(flux::no_node, 5);
    counts.unhandled(flux::no_node, 5);
    EXPECT_EQ(rows(counts),
              (std::vector<row>{{2, -7, 2, 1}, {2, 5, 1, 0}, {3, 110, 1, 0}, {flux::no_node, 5, 1, 1}}));
}

TEST(FailureCounts, AddUp)
{
    flux::failure_counts sum;
    flux::failure_counts other;
    sum.failed(1, 5);
    other.failed(1, 5);
    other.unhandled(1, 5);
    other.failed(4, 5);
    sum.add(other);
    EXPECT_EQ(rows(sum), (std::vector<row>{{1, 5, 2, 1}, {4, 5, 1, 0}}));
}

} // namespace
