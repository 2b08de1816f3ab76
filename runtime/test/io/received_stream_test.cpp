#include "flux/io/received_stream.hpp"

#include "flux/message/typed_parse.hpp"
#include "../support/network_scripts.hpp"
#include "../support/simulated_run.hpp"
#include "../support/patience.hpp"

#include <cerrno>
#include <gtest/gtest.h>
#include <memory>
#include <new>
#include <string>

namespace {

using flux::simulated_peer;
using network::simulated_run;

/// A message as the compiler generates them: a list of pieces, `+`, the size of a text, the text and `;`, up to `.`.
class piece : public flux::message
{
  public:
    struct places : flux::message_places {
        flux::message_part text;
    };

    static constexpr flux::message_facts facts{"test.piece", 64, true};
    // A size for which there is none.
    static constexpr unsigned char no_memory = 255;

    piece() noexcept = default;
    piece(flux::message_bytes bytes, const places &) noexcept : flux::message(std::move(bytes)) {}

    template <class Cursor>
    static const char *parse(Cursor in, places &at)
    {
        if (!in.literal("+") || (!in.has(1) && !in.missing(1, "size"))) {
            return nullptr;
        }
        const auto size = static_cast<unsigned char>(*in.next());
        if (size == no_memory) {
            throw std::bad_alloc();
        }
        in.skip(1);
        return in.stream(at.text, size, "text") && in.literal(";") ? in.next() : nullptr;
    }
};

class pieces : public flux::message
{
  public:
    struct places : flux::message_places {
        flux::message_parts list;
    };

    static constexpr flux::message_facts facts{"test.pieces", 64, true};

    pieces() noexcept = default;
    pieces(flux::message_bytes bytes, const places &) noexcept : flux::message(std::move(bytes)) {}

    template <class Cursor>
    static const char *parse(Cursor in, places &at)
    {
        const bool is_read =
            in.literal("!") && in.list_until(at.list, flux::kind<piece>(), ".", 1000, "pieces");
        return is_read ? in.next() : nullptr;
    }
};

std::string piece_of(const std::string &text)
{
    return std::string("+") + static_cast<char>(text.size()) + text + ";";
}

/// All of it, in windows of this size; or an error.
flux::io_result<std::string> pulled(flux::body &from, std::size_t window)
{
    std::string all;
    std::string some(window, ' ');
    while (true) {
        const auto count = from.pull(std::as_writable_bytes(std::span(some)));
        if (!count.has_value()) {
            return flux::unexpected(count.error());
        }
        if (*count == 0) {
            return all;
        }
        all.append(some, 0, *count);
    }
}

/// Answers with what was pulled; every third message is not pulled at all.
int answer(flux::flow &flow, flux::connection &client, const flux::message &asked)
{
    // All has been sent by then.
    flow.set_deadline(flux::running_io().now() + await_limit);
    std::string all;
    int error = 0;
    if (const auto content = asked.stream(); content != nullptr && asked.wire().back() % 3 != 0) {
        const auto some = pulled(*content, 1 + flow.id() % 9);
        error = some.has_value() ? 0 : some.error();
        all = some.has_value() ? *some : "";
        EXPECT_TRUE(error != 0 || content->has_ended());
    }
    EXPECT_NE(error, ETIMEDOUT);
    error = error != 0 ? error : flux::take(client.send(all + "\n"));
    error == 0 ? client.give_back() : client.close();
    return error;
}

/// Sends some messages at once, in pieces of any size, and awaits what was pulled.
void send_pieces(simulated_peer &self)
{
    if (self.connect(network::served_at) != 0) {
        return;
    }
    std::string asked;
    std::string expected;
    for (std::uint64_t number = 1 + self.draw(4); number != 0; --number) {
        asked += "!";
        std::string all;
        // The number of the first text is the last byte of what stands before the streams.
        std::size_t first = 0;
        for (std::uint64_t count = self.draw(12); count != 0; --count) {
            const std::string text(self.draw(40), static_cast<char>('a' + self.draw(26)));
            first = all.empty() ? text.size() : first;
            asked += piece_of(text);
            all += text;
        }
        asked += ".";
        expected += (first % 3 == 0 ? "" : all) + "\n";
    }
    while (!asked.empty()) {
        const std::size_t size = std::min<std::size_t>(1 + self.draw(60), asked.size());
        if (self.send(asked.substr(0, size)) != 0) {
            return;
        }
        asked.erase(0, size);
        if (self.draw(4) == 0) {
            self.wait(std::chrono::microseconds(self.draw(20'000)));
        }
    }
    const std::string answers = self.receive_exactly(expected.size());
    EXPECT_TRUE(expected.starts_with(answers)) << answers << " instead of " << expected;
    self.end_output();
    EXPECT_EQ(self.receive_all(), "");
}

TEST(ReceivedStream, PiecesArePulledAndTheNextMessageBeginsBehindThem)
{
    network::for_seeds(200, [](std::uint64_t seed) {
        simulated_run run(seed, flux::faults_of(seed));
        network::first = flux::first_given::with_input;
        network::begin_message = [] { return std::make_unique<flux::typed_parse<pieces>>(); };
        network::serve_message = answer;
        for (const char *const name : {"one", "two", "three"}) {
            run.world.add(name, send_pieces);
        }
        run.run();
        return run.trace;
    });
}

TEST(ReceivedStream, ALackOfMemoryBetweenPiecesIsNothingWrong)
{
    std::vector<int> errors;
    simulated_run run(1, {});
    network::first = flux::first_given::with_input;
    network::begin_message = [] { return std::make_unique<flux::typed_parse<pieces>>(); };
    network::serve_message = [&](flux::flow &, flux::connection &client, const flux::message &asked) {
        for (int times = 0; times < 2; ++times) {
            const auto all = pulled(*asked.stream(), 8);
            errors.push_back(all.has_value() ? 0 : all.error());
        }
        return flux::take(client.close());
    };
    run.world.add("client", [](simulated_peer &self) {
        EXPECT_EQ(self.connect(network::served_at), 0);
        self.send("!" + piece_of("abc") + "+" + static_cast<char>(piece::no_memory) + "and more");
        self.receive_all();
    });
    run.run();
    EXPECT_EQ(errors, (std::vector{ENOMEM, ENOMEM}));
}

TEST(ReceivedStream, OnlyTheFlowThatHasTheConnectionPulls)
{
    std::vector<int> errors;
    simulated_run run(1, {});
    network::first = flux::first_given::with_input;
    network::begin_message = [] { return std::make_unique<flux::typed_parse<pieces>>(); };
    network::serve_message = [&](flux::flow &, flux::connection &client, const flux::message &asked) {
        std::array<std::byte, 4> some{};
        errors.push_back(flux::take(client.receive(some)));
        client.give_back();
        errors.push_back(flux::take(asked.stream()->pull(some)));
        return 0;
    };
    run.world.add("client", [](simulated_peer &self) {
        EXPECT_EQ(self.connect(network::served_at), 0);
        self.send("!" + piece_of("abc"));
        self.wait(std::chrono::milliseconds(10));
        self.reset();
    });
    run.run();
    EXPECT_EQ(errors, (std::vector{EBUSY, EBADF}));
}

} // namespace
