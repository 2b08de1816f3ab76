#include "flux/io/public_sockets.hpp"

#include "../support/io_peers.hpp"

#include <flux/io/server_io.hpp>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <memory>
#include <netinet/in.h>
#include <optional>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace {

using flux::socket_kind;
using flux::socket_origin;

/// Those of a server that the test is.
class PublicSockets : public testing::Test
{
  protected:
    // What nobody has taken is nobody's.
    void TearDown() override { EXPECT_TRUE(all.all_adopted_are_taken()); }

    void adopt(flux::descriptor given, socket_origin from, const std::string &name)
    {
        all.adopt(std::move(given), from, name);
    }

    std::optional<flux::descriptor> take_adopted(const flux::address &at, socket_kind kind)
    {
        return all.take_adopted(at, kind);
    }

    /// What is said when this is adopted.
    std::string refusal(flux::descriptor given)
    {
        try {
            adopt(std::move(given), socket_origin::service_manager, "it");
        } catch (const std::invalid_argument &problem) {
            return problem.what();
        }
        return "adopted";
    }

    const std::shared_ptr<flux::server_io> own = std::make_shared<flux::server_io>();
    const flux::on_server_io here{own};
    flux::public_sockets &all = own->sockets;
};

std::uint16_t port_of(const flux::descriptor &of)
{
    return flux::local_address(of).port();
}

TEST_F(PublicSockets, AListenerIsTheAdoptedSocketWithThosePeersThatHaveComeBefore)
{
    flux::descriptor before = opened(SOCK_STREAM);
    const flux::address at = flux::local_address(before);
    const plain_peer peer(at);
    adopt(std::move(before), socket_origin::service_manager, "it");
    EXPECT_FALSE(all.all_adopted_are_taken());
    const auto listener = flux::open_listener(at);
    ASSERT_TRUE(listener.has_value());
    const auto waiting = all.waiting_peers();
    ASSERT_EQ(waiting.size(), 1u);
    EXPECT_EQ(waiting.front(), std::pair(at.text(), std::size_t{1}));
    flux::address from;
    EXPECT_TRUE(flux::try_accept(*listener, from).has_value());
    EXPECT_EQ(flux::try_accept(*listener, from).error(), EAGAIN) << "it does not block";
    EXPECT_NE(fcntl((*listener).get(), F_GETFD) & FD_CLOEXEC, 0);
    EXPECT_FALSE(take_adopted(at, socket_kind::listener).has_value()) << "it is taken once";
}

TEST_F(PublicSockets, OnlyWhoAsksForTheKindAndThePortGetsIt)
{
    flux::descriptor before = opened(SOCK_STREAM);
    const std::uint16_t port = port_of(before);
    adopt(std::move(before), socket_origin::service_manager, "it");
    EXPECT_FALSE(take_adopted(flux::loopback_address(port), socket_kind::datagrams).has_value());
    EXPECT_FALSE(take_adopted(flux::loopback_address(static_cast<std::uint16_t>(port ^ 1)), socket_kind::listener)
                     .has_value());
    EXPECT_FALSE(take_adopted(flux::any_address(0), socket_kind::listener).has_value());
    EXPECT_FALSE(take_adopted(*flux::parse_address("127.0.0.2:" + std::to_string(port)), socket_kind::listener)
                     .has_value());
    EXPECT_TRUE(take_adopted(flux::any_address(port), socket_kind::listener).has_value()) << "it is for fewer hosts";
}

TEST_F(PublicSockets, WhoAsksForAllHostsGetsTheWidestFirst)
{
    flux::descriptor narrow = opened(SOCK_DGRAM);
    const std::uint16_t port = port_of(narrow);
    adopt(std::move(narrow), socket_origin::service_manager, "narrow");
    adopt(opened(SOCK_DGRAM, port, true), socket_origin::service_manager, "wide");
    const std::string number = std::to_string(port);
    const auto first = take_adopted(flux::any_address(port), socket_kind::datagrams);
    const auto second = take_adopted(flux::any_address(port), socket_kind::datagrams);
    ASSERT_TRUE(first && second);
    EXPECT_EQ(flux::local_address(*first).text(), "0.0.0.0:" + number);
    EXPECT_EQ(flux::local_address(*second).text(), "127.0.0.1:" + number);
}

TEST_F(PublicSockets, LoopsShareASocketForMessages)
{
    flux::descriptor before = opened(SOCK_DGRAM);
    const flux::address at = flux::local_address(before);
    adopt(std::move(before), socket_origin::service_manager, "it");
    const auto first = flux::open_datagram_socket(at, flux::sharing::of_loops);
    const auto second = flux::open_datagram_socket(at, flux::sharing::of_loops);
    ASSERT_TRUE(first.has_value() && second.has_value());
    EXPECT_TRUE(flux::try_send_to(*first, std::as_bytes(std::span("to itself", 9)), at).has_value());
    std::array<std::byte, 32> into;
    EXPECT_EQ((*flux::try_receive_from(*second, into)).size, 9u) << "what comes comes to both";
}

TEST_F(PublicSockets, WhatNobodyCanReachAServerAtIsRefused)
{
    EXPECT_EQ(refusal(flux::descriptor(open("/dev/null", O_RDONLY))), "it is not a socket: pass sockets alone");
    EXPECT_EQ(refusal(flux::descriptor(socket(AF_INET, SOCK_STREAM, 0))),
              "it does not listen: a socket unit is to say Accept=no");
    EXPECT_EQ(refusal(flux::descriptor(1'000'000)), "it is not open: fewer are passed than are said to be");
    EXPECT_EQ(refusal(flux::descriptor(socket(AF_UNIX, SOCK_SEQPACKET, 0))),
              "it is a socket neither for streams nor for datagrams: pass such alone");
}

TEST_F(PublicSockets, WhatNobodyAsksForIsNamedAndClosedIfItIsOfTheServerBefore)
{
    flux::descriptor of_manager = opened(SOCK_STREAM);
    flux::descriptor of_before = opened(SOCK_STREAM);
    const flux::address kept = flux::local_address(of_manager);
    const flux::address closed = flux::local_address(of_before);
    adopt(std::move(of_manager), socket_origin::service_manager, "the one");
    adopt(std::move(of_before), socket_origin::server_before, "the other");
    testing::internal::CaptureStderr();
    all.settle_adopted();
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "flux: nobody here listens at " + kept.text() +
                  ", the one: take it out of the socket unit, or have the program listen there\n" +
                  "flux: nobody here listens at " + closed.text() + ", the other: it is closed\n");
    const flux::descriptor peer(socket(AF_INET, SOCK_STREAM, 0));
    EXPECT_NE(connect(peer.get(), closed.get(), closed.size), 0);
    EXPECT_TRUE(take_adopted(kept, socket_kind::listener).has_value()) << "somebody may yet";
}

TEST_F(PublicSockets, SocketsCanBeHandedOnAsLongAsTheyAreOpen)
{
    auto listener = flux::open_listener(flux::loopback_address(0));
    const auto messages = flux::open_datagram_socket(flux::loopback_address(0), flux::sharing::none);
    ASSERT_TRUE(listener.has_value() && messages.has_value());
    const flux::address at = flux::local_address(*listener);
    std::vector<flux::descriptor> copies = all.copy_open();
    ASSERT_EQ(copies.size(), 2u);
    EXPECT_EQ(flux::local_address(copies[0]).text(), at.text());
    EXPECT_EQ(flux::local_address(copies[1]).text(), flux::local_address(*messages).text());
    {
        const flux::public_socket ended = *std::move(listener);
    }
    EXPECT_EQ(all.copy_open().size(), 1u);
    const plain_peer peer(at);
    flux::address from;
    fcntl(copies[0].get(), F_SETFL, O_NONBLOCK);
    EXPECT_TRUE(flux::try_accept(copies[0], from).has_value()) << "who has a copy accepts";
}

TEST_F(PublicSockets, AreThoseOfOneServer)
{
    auto listener = flux::open_listener(flux::loopback_address(0));
    ASSERT_TRUE(listener.has_value());
    adopt(opened(SOCK_DGRAM), socket_origin::server_before, "it");
    const auto other = std::make_shared<flux::server_io>();
    EXPECT_FALSE(other->sockets.any_open());
    EXPECT_TRUE(other->sockets.all_adopted_are_taken());
    all.settle_adopted();
    EXPECT_TRUE(all.all_adopted_are_taken());
    {
        // A socket knows whose it is wherever it is closed, and when: here the last that is known of its server.
        std::optional<flux::public_socket> kept;
        {
            const auto ending = std::make_shared<flux::server_io>();
            const flux::on_server_io there(ending);
            kept.emplace(*flux::open_listener(flux::loopback_address(0)));
            EXPECT_TRUE(ending->sockets.any_open());
        }
        EXPECT_EQ(all.copy_open().size(), 1u);
    }
}

TEST_F(PublicSockets, OnlyWhatIsBoundToJustThisAddressIsBoundThere)
{
    const auto bound = flux::open_datagram_socket(flux::loopback_address(0), flux::sharing::none);
    ASSERT_TRUE(bound.has_value());
    const flux::address at = flux::local_address(*bound);
    EXPECT_TRUE(all.is_bound(at));
    EXPECT_FALSE(all.is_bound(flux::loopback_address(static_cast<std::uint16_t>(at.port() ^ 1))));
}

} // namespace
