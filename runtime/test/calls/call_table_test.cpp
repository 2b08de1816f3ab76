#include "flux/calls/call_table.hpp"

#include <gtest/gtest.h>
#include <set>

namespace {

TEST(CallTable, SaysOfEachCallOnce)
{
    std::set<std::string> seen;
    for (const flux::calls::row &each : flux::calls::table()) {
        EXPECT_TRUE(seen.insert(each.name).second) << each.name;
    }
    EXPECT_TRUE(seen.contains("read"));
}

TEST(CallTable, IsCaughtInThisProcess)
{
    EXPECT_EQ(flux::calls::why_not_caught(), "");
}

} // namespace
