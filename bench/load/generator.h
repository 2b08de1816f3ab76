// The generator: makes requests at their times, and sees to their answers.
//
// In an open loop request k is due at start + k / rate, or at random times of that rate, whatever became of the others,
// and its latency counts from there. Where no connection is free it waits for one, and that waiting is part of its
// latency: a server that stalls is charged for every request that was due meanwhile, not only for the one it stalled
// on. (Measuring from the moment of sending, or not sending while an answer is out, hides exactly the times that
// matter: "coordinated omission".)
//
// In a closed loop each connection makes its next request when the answer has come. It finds the most that a server
// can do; its latencies are those of a load that waits for the server, and say nothing about one that does not.
//
// One thread does it all, with epoll; that is enough to keep servers on several cores busy.
#pragma once

#include "options.h"
#include "statistics.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <netdb.h>

namespace load {

/// When a request was due, in seconds from the start, and how long it took, in seconds; negative where it was not
/// answered.
struct outcome {
    double due_s = 0;
    double latency_s = -1;
};

/// What came of the requests that were measured.
struct result {
    /// How many were due, or made in a closed loop.
    std::uint64_t requests = 0;
    /// How many were answered with status 200, and with another.
    std::uint64_t answered = 0;
    std::uint64_t other_status = 0;
    /// How many lost their connection, or got what is not HTTP.
    std::uint64_t failed = 0;
    /// How many were given up; they count in `latency` with the time they were waited for.
    std::uint64_t unanswered = 0;
    /// Received in all, in bytes.
    std::uint64_t received_bytes = 0;
    /// From when the measured time began to when it ended, in seconds.
    double measured_s = 0;
    /// Answers that came in that time, to whatever request.
    std::uint64_t answers_in_time = 0;
    /// The server's processor time in it, in seconds; negative where that is not known.
    double processor_s = -1;
    /// The latest that this program looked at a request after it was due, in nanoseconds: above a millisecond or so it
    /// is this program that is overloaded.
    std::int64_t worst_lag_ns = 0;
    latencies latency;
    /// Each request, in the order in which they were due; only where that is asked for.
    std::vector<outcome> each;
};

/// A request that is due or under way.
struct request {
    /// When it was due, on the generator's clock.
    std::int64_t due_ns = 0;
    /// Its target's place in the options.
    std::size_t target = 0;
    /// Its place among all requests.
    std::size_t number = 0;
    /// Whether it is measured; it is not in the warm-up.
    bool is_measured = false;
};

/// A connection to the server.
struct client {
    /// Open, or -1.
    int socket = -1;
    /// What epoll watches it for.
    std::uint32_t watched = 0;
    /// Whether `current` is under way.
    bool is_busy = false;
    request current;
    /// What is still to be sent of it.
    std::string_view unsent;
    /// The head of its answer, as far as it has come.
    std::string head;
    /// Whether all of the head has come. What follows is known only then.
    bool is_in_body = false;
    unsigned status = 0;
    bool keep_alive = false;
    /// How much of the body has not come yet.
    std::uint64_t missing_bytes = 0;
};

/// Makes the load that the options ask for.
class generator {
public:
    /// Throws std::system_error where the address is none, or there are no resources.
    explicit generator(const options &options);
    ~generator();
    generator(const generator &) = delete;
    generator &operator=(const generator &) = delete;

    /// Runs to the end; call it once. Throws std::system_error where there are no resources.
    result run();

private:
    enum class phase { before, during, after };

    void mark_progress(std::int64_t now);
    void set_next_due();
    request make_request(std::int64_t due_ns);
    void take_due(std::int64_t now);
    std::int64_t next_due_ns() const;
    bool has_more_due() const;
    void keep_closed_loop_full(std::int64_t now);
    void start_waiting();
    void start(client &client);
    void connect(client &client);
    void send(client &client);
    void receive(client &client);
    bool take_answer(client &client, std::string_view bytes);
    bool parse_head(client &client);
    void end_request(client &client, bool has_answer);
    void close(client &client);
    void release(client &client);
    void give_up(std::int64_t now);
    void wait(std::int64_t now);

    const options options_;
    const std::unique_ptr<addrinfo, void (*)(addrinfo *)> address_;
    /// A request's bytes, by its target's place in the options.
    std::vector<std::string> heads_;
    std::mt19937_64 random_;
    int epoll_ = -1;
    std::vector<std::unique_ptr<client>> clients_;
    /// Clients without a request; the one at the end was the last to have one, so few connections do the work.
    std::vector<client *> idle_;
    /// Requests that are due, and wait for a client.
    std::deque<request> waiting_;
    /// How many clients have a request.
    std::size_t busy_ = 0;
    /// How many requests there were so far.
    std::size_t made_ = 0;
    /// Open loop: the number of the next request.
    std::uint64_t next_number_ = 0;
    // When that is due, in seconds after the start.
    double next_due_s_ = 0;
    /// The measured time, and where in it we are.
    phase phase_ = phase::before;
    std::int64_t start_ns_ = 0;
    std::int64_t measure_from_ns_ = 0;
    std::int64_t measure_to_ns_ = 0;
    std::int64_t measure_started_ns_ = 0;
    double processor_before_s_ = -1;
    std::int64_t next_give_up_ns_ = 0;
    /// Closed loop: after a failure the next request waits a moment, lest a server that is gone makes us spin.
    std::int64_t rest_until_ns_ = 0;
    std::array<char, 1 << 16> buffer_;
    result result_;
};

} // namespace load
