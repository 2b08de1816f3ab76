#include "flux/io/server_io.hpp"
#include "../support/patience.hpp"

#include <gtest/gtest.h>
#include <memory>
#include <thread>

namespace {

TEST(ServerIo, AThreadBelongsToOneServer)
{
    const std::shared_ptr<flux::server_io> &of_process = flux::server_io::current();
    const auto own = std::make_shared<flux::server_io>();
    const auto other = std::make_shared<flux::server_io>();
    const flux::on_server_io here(own);
    EXPECT_EQ(flux::server_io::current(), own);
    std::thread([&] {
        EXPECT_EQ(flux::server_io::current(), of_process) << "until it is another's";
        const flux::on_server_io there(other);
        EXPECT_EQ(flux::server_io::current(), other);
    }).join();
    {
        const flux::on_server_io for_a_while(other);
        EXPECT_EQ(flux::server_io::current(), other);
    }
    EXPECT_EQ(flux::server_io::current(), own);
}

TEST(ServerIo, WhoHasAPartKeepsTheWhole)
{
    auto own = std::make_shared<flux::server_io>();
    const std::weak_ptr<flux::server_io> seen = own;
    std::shared_ptr<flux::accepting> entrances;
    {
        const flux::on_server_io here(own);
        entrances = flux::current_part(&flux::server_io::entrances);
    }
    EXPECT_EQ(entrances.get(), &own->entrances);
    own = nullptr;
    EXPECT_FALSE(seen.expired());
    entrances = nullptr;
    EXPECT_TRUE(seen.expired());
}

TEST(ServerIo, WaitsAreCancelledForOneServer)
{
    const auto ends = std::make_shared<flux::server_io>();
    const auto goes_on = std::make_shared<flux::server_io>();
    ends->waits.cancel();
    const auto receive_error = [](const std::shared_ptr<flux::server_io> &of) {
        const flux::on_server_io here(of);
        const auto messages = flux::blocking_io().bind(flux::loopback_address(0));
        std::byte into;
        return (*messages)->receive({&into, 1}, in(std::chrono::milliseconds(1))).error();
    };
    EXPECT_EQ(receive_error(ends), ECANCELED);
    EXPECT_EQ(receive_error(goes_on), ETIMEDOUT);
}

} // namespace
