/// \file
/// What servers of the `network` program do, and what their peers do and expect: for a peer of any kind, be it
/// simulated or on a thread with a socket.
///
/// Peers expect what must hold whatever goes wrong: what comes back is right, in order and comes once; it may end early
/// only where the connection has broken or a flow has failed.
#pragma once

#include "flux/sleep.hpp"
#include "network_program.hpp"
#include "sized_message.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace network {

using namespace std::chrono_literals;

/// Where the relay connects to.
inline flux::address upstream_at;

/// What a client has seen.
struct seen {
    /// All that came back, in its order.
    std::string replies;
    /// The answers in full, by request, and how often each was given.
    std::map<std::string, int> answers;
    /// The connection ended early, though in good order.
    bool cut_short = false;
    /// The connection broke.
    bool broken = false;
};

/// What a client does by chance.
struct habits {
    /// A number from 0 to less than its argument.
    std::function<std::uint64_t(std::uint64_t)> draw;
    /// Whether it breaks the connection itself at times.
    bool resets = true;
};

/// Receives some bytes into the text: 0 or an error; nothing is received at the end.
inline int receive_some(flux::connection &from, std::string &into, flux::moment deadline = flux::never)
{
    std::array<std::byte, 64> buffer;
    const auto size = from.receive(buffer, deadline);
    into = size.has_value() ? std::string(reinterpret_cast<const char *>(buffer.data()), *size) : std::string();
    return flux::take(size);
}

// An echo.

inline int echo(flux::flow &, flux::connection &client)
{
    std::string some;
    int error = receive_some(client, some);
    while (error == 0 && !some.empty()) {
        error = flux::take(client.send(some));
        error = error != 0 ? error : receive_some(client, some);
    }
    client.close();
    return error;
}

inline std::string unchanged(std::string text)
{
    return text;
}

inline std::string upper_case(std::string text)
{
    std::ranges::transform(text, text.begin(), [](unsigned char each) { return std::toupper(each); });
    return text;
}

/// Sends texts and awaits them back, changed so.
template <class Peer>
void talk(Peer &self, const habits &by, std::string (*changed)(std::string), seen &own)
{
    if (self.connect(served_at) != 0) {
        return;
    }
    for (std::uint64_t round = by.draw(5); round != 0; --round) {
        std::string sent(1 + by.draw(60), ' ');
        std::ranges::generate(sent, [&by] { return static_cast<char>('a' + by.draw(26)); });
        std::string back;
        // No more at once than the smallest window has room for.
        for (const char each : sent) {
            back += self.send({&each, 1}) == 0 ? self.receive(1) : std::string();
        }
        own.replies += back;
        EXPECT_TRUE(changed(sent).starts_with(back)) << back;
        if (back.size() != sent.size()) {
            own.cut_short = !self.broken();
            return;
        }
        if (by.draw(3) == 0) {
            self.wait(std::chrono::microseconds(by.draw(5'000)));
        }
    }
    if (by.resets && by.draw(10) == 0) {
        return self.reset();
    }
    self.end_output();
    EXPECT_EQ(self.receive_all(), "");
}

// Answers to requests that stay connected. A request is a line.

/// Answers one request of a connection. No two flows are in the constraint at once, though they wait in there.
class answering
{
  public:
    /// It works on each request for so long, and waits for the next for so long.
    answering(flux::clock::duration work, flux::clock::duration patience) : work_(work), patience_(patience) {}

    int operator()(flux::flow &flow, flux::connection &client)
    {
        const flux::moment deadline = flux::running_io().now() + patience_;
        std::string line;
        std::string some;
        int error = 0;
        while (line.find('\n') == std::string::npos) {
            error = receive_some(client, some, deadline);
            if (some.empty()) {
                client.close();
                return error;
            }
            line += some;
        }
        const std::string rest = line.substr(line.find('\n') + 1);
        line.resize(line.find('\n'));
        error = answer(flow, client, line);
        if (error != 0) {
            client.close();
            return error;
        }
        client.put_back(std::as_bytes(std::span(rest)));
        client.give_back();
        return 0;
    }

    /// How often each request was answered.
    std::map<std::string, int> answered;

  private:
    int answer(flux::flow &flow, flux::connection &client, const std::string &line)
    {
        {
            const flux::hold alone(flow, lock_shared, flux::mode::write);
            EXPECT_EQ(inside_++, 0);
            const int error = flux::sleep_for(work_);
            EXPECT_EQ(--inside_, 0);
            if (error != 0) {
                return error;
            }
            answered[line] += 1;
        }
        return flux::take(client.send(upper_case(line) + "\n"));
    }

    const flux::clock::duration work_;
    const flux::clock::duration patience_;
    int inside_ = 0;
};

/// Sends some requests, a few at a time, and awaits the answers.
template <class Peer>
void ask(Peer &self, const habits &by, const std::string &name, std::size_t at_once, seen &own)
{
    if (self.connect(served_at) != 0) {
        return;
    }
    int number = 0;
    for (std::uint64_t round = 1 + by.draw(4); round != 0; --round) {
        std::vector<std::string> requests(1 + by.draw(at_once));
        for (std::string &each : requests) {
            each = name + "-" + std::to_string(++number);
            if (self.send(each + "\n") != 0) {
                return;
            }
        }
        for (const std::string &each : requests) {
            const std::string answer = self.receive_exactly(each.size() + 1);
            own.replies += answer;
            EXPECT_TRUE((upper_case(each) + "\n").starts_with(answer)) << answer;
            if (answer.size() != each.size() + 1) {
                own.cut_short = !self.broken();
                return;
            }
            own.answers[each] += 1;
        }
        if (by.draw(3) == 0) {
            self.wait(std::chrono::microseconds(by.draw(60'000)));
        }
    }
    if (by.resets && by.draw(10) == 0) {
        return self.reset();
    }
    self.end_output();
    EXPECT_EQ(self.receive_all(), "");
}

// Answers to messages.

/// A flow begins with a message, which it answers in upper case.
inline void serve_messages()
{
    first = flux::first_given::with_input;
    begin_message = [] { return std::make_unique<sized::parse>(); };
    serve_message = [](flux::flow &, flux::connection &client, const flux::message &asked) {
        const std::string answer = sized::wire(upper_case(std::string(sized::text_of(asked.wire()))));
        const int error = flux::take(client.send(answer));
        error == 0 ? client.give_back() : client.close();
        return error;
    };
}

/// Sends some messages, a few at a time, in pieces of any size, and awaits the answers.
template <class Peer>
void send_messages(Peer &self, const habits &by, std::size_t at_once, seen &own)
{
    if (self.connect(served_at) != 0) {
        return;
    }
    for (std::uint64_t round = 1 + by.draw(4); round != 0; --round) {
        std::string asked;
        std::string expected;
        for (std::uint64_t number = 1 + by.draw(at_once); number != 0; --number) {
            std::string text(by.draw(40), ' ');
            std::ranges::generate(text, [&by] { return static_cast<char>('a' + by.draw(26)); });
            asked += sized::wire(text);
            expected += sized::wire(upper_case(text));
        }
        while (!asked.empty()) {
            const std::size_t piece = std::min<std::size_t>(1 + by.draw(20), asked.size());
            if (self.send(asked.substr(0, piece)) != 0) {
                return;
            }
            asked.erase(0, piece);
            if (by.draw(4) == 0) {
                self.wait(std::chrono::microseconds(by.draw(20'000)));
            }
        }
        const std::string answers = self.receive_exactly(expected.size());
        own.replies += answers;
        EXPECT_TRUE(expected.starts_with(answers));
        if (answers.size() != expected.size()) {
            own.cut_short = !self.broken();
            return;
        }
    }
    if (by.resets && by.draw(10) == 0) {
        return self.reset();
    }
    if (by.draw(4) == 0) {
        self.send("#");
    }
    self.end_output();
    EXPECT_EQ(self.receive_all(), "");
}

// A relay: a parallel step sends both ways at once.

inline int pump(flux::flow &branch, flux::connection &from, flux::connection &to)
{
    std::string some;
    int error = receive_some(from, some);
    while (error == 0 && !some.empty()) {
        error = flux::take(to.send(some));
        error = error != 0 ? error : receive_some(from, some);
    }
    to.end_output();
    if (error != 0) {
        branch.parent()->cancel(); // the other way would wait for what never comes
    }
    return error;
}

/// How long it waits for what is behind it to be there.
inline constexpr std::chrono::milliseconds connect_limit{50};

inline int relay(flux::flow &flow, flux::connection &client)
{
    const auto connected_to = flux::connect(upstream_at, flux::running_io().now() + connect_limit);
    if (!connected_to.has_value()) {
        client.close();
        return connected_to.error();
    }
    const std::unique_ptr<flux::connection, void (*)(flux::connection *)> upstream(
        *connected_to, [](flux::connection *used) { used->close(); });
    const int error = in_parallel(
        flow, [&](flux::flow &branch) { return pump(branch, client, *upstream); },
        [&](flux::flow &branch) { return pump(branch, *upstream, client); });
    client.close();
    return error;
}

/// What is behind the relay, and listens there: sends back what comes, in upper case, to one after the other.
template <class Peer>
void serve_upstream(Peer &self)
{
    for (self.accept(); !self.broken(); self.accept()) {
        for (std::string some = self.receive(64); !some.empty(); some = self.receive(64)) {
            if (self.send(upper_case(some)) != 0) {
                break;
            }
        }
        self.close();
    }
}

// Questions over messages, which may be lost or come twice.

/// Where the questions go.
inline flux::address answers_at;

/// Asks until an answer has come, but not for ever: 0 or its error.
inline int ask_by_messages(flux::datagram_socket &through, const std::string &question, std::string &answer)
{
    std::array<std::byte, 64> buffer;
    int error = ETIMEDOUT;
    for (int attempt = 0; attempt < 10 && error == ETIMEDOUT; ++attempt) {
        error = flux::take(through.send(std::as_bytes(std::span(question)), answers_at));
        if (error != 0) {
            return error;
        }
        const auto came = through.receive(buffer, flux::running_io().now() + 10ms);
        error = flux::take(came);
        if (error == 0) {
            EXPECT_EQ((*came).from.port(), answers_at.port());
            answer.assign(reinterpret_cast<const char *>(buffer.data()), (*came).size);
        }
    }
    return error;
}

/// Has each text of a client answered by messages.
inline int look_up(flux::flow &, flux::connection &client)
{
    std::string some;
    int error = receive_some(client, some);
    while (error == 0 && !some.empty()) {
        // An answer that comes twice is for this question alone.
        auto through = flux::running_io().bind(flux::loopback_address(0));
        error = flux::take(through);
        std::string answer;
        error = error != 0 ? error : ask_by_messages(**through, some, answer);
        error = error != 0 ? error : flux::take(client.send(answer));
        error = error != 0 ? error : receive_some(client, some);
    }
    client.close();
    return error;
}

} // namespace network
