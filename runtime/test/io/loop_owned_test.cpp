#include "flux/io/loop_owned.hpp"

#include "../support/io_peers.hpp"
#include "../support/io_world.hpp"

#include <array>
#include <flux/address.hpp>
#include <gtest/gtest.h>

namespace {

template <class World>
class LoopOwned : public testing::Test
{
  protected:
    World world;
};

using worlds = testing::Types<reactor_world, proactor_world>;
TYPED_TEST_SUITE(LoopOwned, worlds);

TYPED_TEST(LoopOwned, AStreamOfAnotherLoopEndsTheServer)
{
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
    constexpr const char *said = "a node uses a connection or a socket of an event loop that its flow does not run on";
    flux::loop_io &io = this->world.io();
    this->world.start([&](flux::flow &) {
        connected both(io); // off all loops, as this test's thread is
        std::array<std::byte, 1> buffer;
        EXPECT_EQ(send(*both.near, "x"), 0);
        flux::run_on_io(&io);
        EXPECT_DEATH(send(*both.near, "x"), said);
        EXPECT_DEATH((void)both.far->receive(buffer), said);
        EXPECT_DEATH(both.near->end_output(), said);
        EXPECT_DEATH((void)both.far->has_input(), said);
        const auto socket = io.bind(flux::loopback_address(0));
        ASSERT_TRUE(socket.has_value());
        EXPECT_EQ((*socket)->receive(buffer, flux::moment::min()).error(), ETIMEDOUT);
        flux::run_on_io(nullptr);
        EXPECT_DEATH((void)(*socket)->receive(buffer), said);
        EXPECT_DEATH((void)(*socket)->send(buffer, flux::loopback_address(9)), said);
        EXPECT_EQ(receive_all(*both.far, 1), "x");
    });
    this->world.run();
}

} // namespace
