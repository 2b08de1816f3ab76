/// \file
/// What it costs to wait for the world: a message that is sent, waited for and received, by two flows that send each
/// other one byte over TCP, through each kind of I/O; beside the same with the plain calls, in a loop of epoll that
/// knows both ends, and in two threads that block. And what it costs to start a flow on a loop and to end it.
///
/// Times are of the clock: all but the threads run on one processor, one end after the other.

#include "flux/event/event.hpp"
#include "flux/generated_support.hpp"
#include "flux/io/proactor.hpp"
#include "flux/io/reactor.hpp"
#include "flux/io/socket.hpp"
#include "flux/strategy/sources.hpp"
#include "flux/strategy/thread.hpp"

#include <benchmark/benchmark.h>
#include <array>
#include <atomic>
#include <cstdlib>
#include <fcntl.h>
#include <functional>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <thread>

namespace {

constexpr benchmark::IterationCount batch = 20'000;

// A program whose source makes so many flows, each of which does the same.

struct Source_out {};

std::uint64_t to_make = 0;
std::atomic<std::uint64_t> made{0};
std::function<void(std::uint64_t number)> work;

flux::outcome make_values(flux::flow &flow, Source_out &)
{
    if (made == to_make) {
        flow.from().stop();
        return flow.failed();
    }
    ++made;
    return flow.done();
}

flux::outcome run(flux::flow &flow, Source_out &)
{
    if (work) {
        work(flow.id());
    }
    return flow.done();
}

constexpr flux::path_edge edges[] = {{0, 0}};
constexpr flux::path_vertex vertices[] = {{flux::path_kind::start, nullptr, 0, 0, 0},
                                          {flux::path_kind::join, nullptr, 0, 0, 1}};
constexpr flux::path_function functions[] = {{"make", {1, 1, 0}, {1, 1, 1}}, {"run", {1, 0, 0}, {1, 1, 1}}};
constexpr flux::source_info sources[] = {
    flux::make_replicable_source<make_values, run>({"Source", "bench.flux", 1}, 0, 1)};
constexpr flux::program program{"bench", {}, {}, sources, functions, vertices, edges};

/// Runs so many flows on one loop, or on threads.
void run_flows(std::uint64_t flows, const flux::make_loop_io *on_loop)
{
    made = 0;
    to_make = flows;
    flux::runners all(program);
    const auto by = on_loop == nullptr ? flux::make_thread_strategy(all)
                                       : flux::make_event_strategy(all, program, 1, *on_loop);
    flux::sources running(program, {.most = 100}, *by, all);
    running.start();
    while (!running.ended() || all.flows_in_progress() != 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    running.join();
    by->finish();
}

const flux::make_loop_io reactor = [] { return flux::make_reactor(); };
const flux::make_loop_io proactor = [] { return flux::make_proactor(); };

// What goes wrong here is the machine's fault.
template <class Result>
auto checked(Result result)
{
    if (!result.has_value()) {
        std::abort();
    }
    return *std::move(result);
}

void send_a_byte(flux::stream &to)
{
    char byte = 'x';
    iovec part{&byte, 1};
    if (!to.send({&part, 1}).has_value()) {
        std::abort();
    }
}

void receive_a_byte(flux::stream &from)
{
    std::array<std::byte, 1> byte;
    if (checked(from.receive(byte)) != 1) {
        std::abort();
    }
}

/// Two flows, each with one end of a connection; of the first the time is taken.
class talk
{
  public:
    void answer()
    {
        const auto from = checked(flux::running_io().listen(flux::loopback_address(0)));
        const auto come = flux::running_io().make_arrivals();
        if (!come->watch(*from).has_value()) {
            std::abort();
        }
        port_ = from->local().port();
        const auto peer = std::move(checked(come->next()).somebody->accepted);
        for (benchmark::IterationCount each = 0; each < batch; ++each) {
            receive_a_byte(*peer);
            send_a_byte(*peer);
        }
    }

    std::chrono::duration<double> ask()
    {
        while (port_ == 0) {
            std::this_thread::yield(); // in threads; on a loop the other flow has begun before
        }
        const auto peer = checked(flux::running_io().connect(flux::loopback_address(port_)));
        const auto began = flux::clock::now();
        for (benchmark::IterationCount each = 0; each < batch; ++each) {
            send_a_byte(*peer);
            receive_a_byte(*peer);
        }
        return flux::clock::now() - began;
    }

  private:
    std::atomic<std::uint16_t> port_{0};
};

void message(benchmark::State &state, const flux::make_loop_io *on_loop)
{
    while (state.KeepRunningBatch(2 * batch)) {
        talk between;
        std::chrono::duration<double> took{0};
        work = [&](std::uint64_t number) { number == 1 ? between.answer() : void(took = between.ask()); };
        run_flows(2, on_loop);
        state.SetIterationTime(took.count());
    }
}

BENCHMARK_CAPTURE(message, by_the_reactor, &reactor)->UseManualTime();
BENCHMARK_CAPTURE(message, by_the_proactor, &proactor)->UseManualTime();
BENCHMARK_CAPTURE(message, by_threads_that_block, nullptr)->UseManualTime();

/// The two ends of a connection, by the plain calls.
std::array<flux::descriptor, 2> connected()
{
    const flux::descriptor from = checked(flux::open_listener(flux::loopback_address(0)));
    const flux::address at = flux::local_address(from);
    flux::descriptor one = checked(flux::open_stream_socket(at));
    static_cast<void>(flux::begin_connect(one, at));
    flux::address peer;
    while (true) {
        if (auto other = flux::try_accept(from, peer); other.has_value()) {
            return {std::move(one), *std::move(other)};
        }
    }
}

void message_by_a_plain_loop(benchmark::State &state)
{
    const auto ends = connected();
    const flux::descriptor epoll(epoll_create1(0));
    for (const flux::descriptor &each : ends) {
        epoll_event event{};
        event.events = EPOLLIN | EPOLLET;
        event.data.fd = each.get();
        epoll_ctl(epoll.get(), EPOLL_CTL_ADD, each.get(), &event);
    }
    char byte = 'x';
    send(ends[0].get(), &byte, 1, MSG_NOSIGNAL);
    for (auto unused : state) {
        static_cast<void>(unused);
        epoll_event event{};
        epoll_wait(epoll.get(), &event, 1, -1);
        recv(event.data.fd, &byte, 1, 0);
        send(event.data.fd, &byte, 1, MSG_NOSIGNAL);
    }
}

BENCHMARK(message_by_a_plain_loop)->UseRealTime();

void message_by_plain_threads(benchmark::State &state)
{
    const auto ends = connected();
    for (const flux::descriptor &each : ends) {
        fcntl(each.get(), F_SETFL, 0);
    }
    std::thread other([&] {
        char byte;
        while (recv(ends[1].get(), &byte, 1, 0) == 1) {
            send(ends[1].get(), &byte, 1, MSG_NOSIGNAL);
        }
    });
    char byte = 'x';
    while (state.KeepRunningBatch(2)) {
        send(ends[0].get(), &byte, 1, MSG_NOSIGNAL);
        recv(ends[0].get(), &byte, 1, 0);
    }
    shutdown(ends[0].get(), SHUT_WR);
    other.join();
}

BENCHMARK(message_by_plain_threads)->UseRealTime();

// From the source that makes it to its end, with all that is counted of it; nothing is done and nothing waited for.
void flow_on_a_loop(benchmark::State &state)
{
    constexpr benchmark::IterationCount flows = 1'000'000;
    while (state.KeepRunningBatch(flows)) {
        flux::moment began;
        flux::moment ended;
        work = [&](std::uint64_t number) {
            if (number == 1) {
                began = flux::clock::now();
            } else if (number == flows) {
                ended = flux::clock::now();
            }
        };
        run_flows(flows, &reactor);
        state.SetIterationTime(std::chrono::duration<double>(ended - began).count());
    }
    work = nullptr;
}

BENCHMARK(flow_on_a_loop)->UseManualTime();

} // namespace

BENCHMARK_MAIN();
