#include "flux/process/adoption.hpp"

#include "../support/io_peers.hpp"

#include <cstdlib>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace {

using flux::socket_kind;

/// Sets what a service manager sets.
void pass(const std::string &process, const char *count, const char *names)
{
    setenv("LISTEN_PID", process.c_str(), 1);
    setenv("LISTEN_FDS", count, 1);
    setenv("LISTEN_FDNAMES", names, 1);
}

TEST(Adoption, TheServiceManagerSaysHowManyThereAre)
{
    flux::public_sockets all;
    constexpr int first = 700;
    std::vector<flux::address> addresses;
    for (int number = first; number < first + 2; ++number) {
        const flux::descriptor socket = opened(SOCK_STREAM);
        addresses.push_back(flux::local_address(socket));
        ASSERT_EQ(dup2(socket.get(), number), number);
    }
    pass(std::to_string(getpid()), "2", "web:admin");
    testing::internal::CaptureStderr();
    flux::adopt_from_service_manager(all, first);
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "flux: adopted " + addresses[0].text() + ", descriptor 700 `web` of LISTEN_FDS\n" + //
                  "flux: adopted " + addresses[1].text() + ", descriptor 701 `admin` of LISTEN_FDS\n");
    EXPECT_EQ(std::getenv("LISTEN_FDS"), nullptr);
    EXPECT_EQ(std::getenv("LISTEN_PID"), nullptr);
    EXPECT_EQ(std::getenv("LISTEN_FDNAMES"), nullptr);
    for (const flux::address &each : addresses) {
        EXPECT_TRUE(all.take_adopted(each, socket_kind::listener).has_value());
    }
}

TEST(Adoption, WhatIsForAnotherProcessIsNotTouched)
{
    flux::public_sockets all;
    for (const std::string &process : {std::to_string(getpid() + 1), std::to_string(getppid())}) {
        pass(process, "1", "");
        flux::adopt_from_service_manager(all);
        EXPECT_TRUE(all.all_adopted_are_taken());
        EXPECT_EQ(std::getenv("LISTEN_FDS"), nullptr);
    }
    setenv("LISTEN_FDS", "1", 1);
    flux::adopt_from_service_manager(all);
    EXPECT_TRUE(all.all_adopted_are_taken()) << "for nobody";
}

TEST(Adoption, NumbersThatAreNoneAreRefused)
{
    flux::public_sockets all;
    for (const char *const count : {"one", "-1", "3x", ""}) {
        pass(std::to_string(getpid()), count, "");
        EXPECT_THROW(flux::adopt_from_service_manager(all), std::invalid_argument) << count;
        EXPECT_EQ(std::getenv("LISTEN_PID"), nullptr);
    }
}

} // namespace
