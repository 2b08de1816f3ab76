#include "flux/log.hpp"

#include <algorithm>
#include <chrono>
#include <gtest/gtest.h>
#include <string>
#include <thread>

namespace {

TEST(Log, MarksItsLines)
{
    testing::internal::CaptureStderr();
    flux::log_line("%d %s", 3, "flows");
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "flux: 3 flows\n");
}

TEST(Log, CutsWhatIsTooLong)
{
    testing::internal::CaptureStderr();
    flux::log_line("%s", std::string(5000, 'x').c_str());
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(said.size(), 1024u);
    EXPECT_EQ(said.back(), '\n');
}

TEST(Log, SaysRarelyWhatCouldBeSaidAgainAndAgain)
{
    std::this_thread::sleep_for(std::chrono::milliseconds(1100)); // whatever other tests said rarely
    testing::internal::CaptureStderr();
    for (int i = 0; i < 100; ++i) {
        flux::log_rarely("number %d", i);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1100));
    flux::log_rarely("the last");
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 2);
    EXPECT_EQ(said.substr(0, 14), "flux: number 0");
    EXPECT_NE(said.find("flux: the last (and 99 such lines before it)\n"), std::string::npos) << said;
}

} // namespace
