#include "flux/read_message.hpp"

#include "support/network_sockets.hpp"
#include "support/note_message.hpp"

#include <cerrno>
#include <gtest/gtest.h>
#include <string>

namespace {

TEST(ReadMessage, GivesMessagesUntilOneIsWrong)
{
    network::first = flux::first_given::with_input;
    network::served_at = flux::loopback_address(0);
    network::serve = [](flux::flow &, flux::connection &client) {
        while (true) {
            flux::io_result<note> asked = flux::read_message<note>(client);
            if (!asked.has_value()) {
                client.send("error " + std::to_string(asked.error()));
                client.close();
                return asked.error();
            }
            client.send(std::string((*asked).text()) + " ");
        }
    };
    for (const network::way &each : network::all_ways()) {
        network::running_server server(each.make);
        network::await_listening();
        network::socket_peer self;
        ASSERT_EQ(self.connect(network::served_at), 0);
        const std::string sent = note::wire_of("one") + note::wire_of("two") + note::wire_of("three") + "?";
        for (std::size_t at = 0; at < sent.size(); at += 4) {
            EXPECT_EQ(self.send(sent.substr(at, 4)), 0);
        }
        EXPECT_EQ(self.receive_all(), "one two three error " + std::to_string(EBADMSG)) << each.name;
        EXPECT_EQ(server.end().finished[flux::index_of(flux::outcome::failed)], 1u);
    }
}

TEST(ReadMessage, OneThatIsBrokenOffIsNoWrongOne)
{
    network::first = flux::first_given::with_input;
    network::served_at = flux::loopback_address(0);
    int error = 0;
    network::serve = [&error](flux::flow &, flux::connection &client) {
        error = flux::take(flux::read_message<note>(client));
        client.close();
        return 0;
    };
    network::running_server server(network::all_ways().front().make);
    network::await_listening();
    network::socket_peer self;
    ASSERT_EQ(self.connect(network::served_at), 0);
    EXPECT_EQ(self.send("!\x05" "cut"), 0);
    self.end_output();
    EXPECT_EQ(self.receive_all(), "");
    server.end();
    EXPECT_EQ(error, ECONNRESET);
}

// Those that have come together with the first are there at once; the beginning of one is kept for the next call that
// waits.
TEST(ReadMessage, UnreadMessagesAreReadWithoutWaiting)
{
    network::first = flux::first_given::with_input;
    network::served_at = flux::loopback_address(0);
    network::serve = [](flux::flow &, flux::connection &client) {
        const flux::io_result<note> first = flux::read_message<note>(client);
        std::string said((*first).text());
        flux::io_result<bool> more = true;
        while (more.has_value() && *more) {
            flux::typed_parse<note> parse;
            more = client.receive_unread(parse);
            said += !more.has_value() ? " error" : *more ? " " + std::string(parse.message().text()) : " none";
        }
        client.send(said + ", ");
        const flux::io_result<note> last = flux::read_message<note>(client);
        client.send(std::string((*last).text()) + ", ");
        flux::typed_parse<note> parse;
        const flux::io_result<bool> wrong = client.receive_unread(parse);
        client.send(wrong.has_value() ? "right" : "error " + std::to_string(wrong.error()));
        client.close();
        return 0;
    };
    for (const network::way &each : network::all_ways()) {
        network::running_server server(each.make);
        network::await_listening();
        network::socket_peer self;
        ASSERT_EQ(self.connect(network::served_at), 0);
        const std::string four = note::wire_of("four");
        const std::string three = note::wire_of("one") + note::wire_of("two") + note::wire_of("three");
        EXPECT_EQ(self.send(three + four.substr(0, 3)), 0);
        EXPECT_EQ(self.receive_exactly(20), "one two three none, ") << each.name;
        EXPECT_EQ(self.send(four.substr(3) + "?"), 0);
        EXPECT_EQ(self.receive_all(), "four, error " + std::to_string(EBADMSG)) << each.name;
        server.end();
    }
}

} // namespace
