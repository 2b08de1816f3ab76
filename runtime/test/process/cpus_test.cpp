#include "flux/process/cpus.hpp"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

namespace {

/// A hierarchy of control groups: /outer/inner.
class CpusOfQuota : public testing::Test
{
  protected:
    CpusOfQuota() { std::filesystem::create_directories(root + "/outer/inner"); }
    ~CpusOfQuota() override { std::filesystem::remove_all(root); }

    void set(const std::string &group, const char *quota) const { std::ofstream(root + group + "/cpu.max") << quota; }

    const std::string root = std::filesystem::temp_directory_path() / ("flux_cpus_test." + std::to_string(getpid()));
};

TEST_F(CpusOfQuota, AreThoseOfItsGroupRoundedUp)
{
    set("/outer/inner", "150000 100000\n");
    EXPECT_EQ(flux::cpus_of_quota("0::/outer/inner\n", root), 2u);
    set("/outer/inner", "20000 100000\n");
    EXPECT_EQ(flux::cpus_of_quota("0::/outer/inner\n", root), 1u);
}

TEST_F(CpusOfQuota, AreTheFewestOfTheGroupsAbove)
{
    set("", "800000 100000\n");
    set("/outer", "300000 100000\n");
    set("/outer/inner", "max 100000\n");
    EXPECT_EQ(flux::cpus_of_quota("0::/outer/inner\n", root), 3u);
    set("/outer/inner", "200000 100000\n");
    EXPECT_EQ(flux::cpus_of_quota("0::/outer/inner\n", root), 2u);
    EXPECT_EQ(flux::cpus_of_quota("0::/\n", root), 8u);
}

TEST_F(CpusOfQuota, AreNotBoundWhereNothingIsSaid)
{
    set("/outer", "max 100000\n");
    EXPECT_EQ(flux::cpus_of_quota("0::/outer/inner\n", root), 0u);
    EXPECT_EQ(flux::cpus_of_quota("4:cpu:/outer\n", root), 0u);
    EXPECT_EQ(flux::cpus_of_quota("", root), 0u);
    EXPECT_EQ(flux::cpus_of_quota("4:cpu:/x\n0::/outer", root), 0u);
}

TEST(AvailableCpus, AreNoMoreThanTheMaskAllows)
{
    cpu_set_t before;
    ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
    EXPECT_GE(flux::available_cpus(), 1u);
    int first = 0;
    while (!CPU_ISSET(first, &before)) {
        ++first;
    }
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_EQ(flux::available_cpus(), 1u);
    ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

} // namespace
