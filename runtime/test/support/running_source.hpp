/// \file
/// A source of the sample program that runs, for the tests of sources and strategies.
#pragma once

#include "flux/event/event.hpp"
#include "flux/server/options.hpp"
#include "flux/strategy/pool.hpp"
#include "flux/io/reactor.hpp"
#include "flux/strategy/source.hpp"
#include "flux/strategy/thread.hpp"
#include "patience.hpp"
#include "sample_program.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <unistd.h>

namespace sample {

/// Waits for the world until a signal comes, as a source does whose client never comes.
inline bool nothing_comes()
{
    pause();
    return false;
}

/// Makes `count` flows with these values, and then nothing any more.
inline std::function<bool(Listen_out &)> flows(int count, std::function<Listen_out(int)> values)
{
    auto made = std::make_shared<int>(0);
    return [=](Listen_out &out) {
        if (*made == count) {
            return nothing_comes();
        }
        out = values((*made)++);
        return true;
    };
}

/// Starts a source, and ends it in good order. A pool grows where `most` is more than its workers.
class running_source
{
  public:
    running_source(const flux::program &in, std::size_t number, flux::strategy_kind kind, std::size_t max_flows,
                   std::size_t workers = 2, std::size_t queue = 4, std::size_t most = 0,
                   std::chrono::milliseconds time = std::chrono::milliseconds(0))
        : all(in), strategy_(make(kind, in, all, workers, queue, most)),
          source(in, number, {max_flows, time}, *strategy_, *all.borrow(), all.times())
    {
        source.start();
    }

    ~running_source()
    {
        await([this] {
            source.stop();
            return source.ended() && all.flows_in_progress() == 0;
        });
        source.join();
        strategy_->finish();
        listen = nullptr;
        work = nullptr;
    }

    /// What became of its flows so far.
    flux::source_counts counts(std::size_t number = source_Listen) { return all.total().of_source(number); }

    /// Returns when the source has ended, which is told so again and again.
    void await_stopped()
    {
        await([this] {
            source.stop();
            return source.ended();
        });
    }

    /// Returns when so many flows have come to their end.
    void await_finished(std::uint64_t flows, std::size_t number = source_Listen)
    {
        await([&] {
            const flux::source_counts now = counts(number);
            return now.started - now.in_progress() >= flows;
        });
    }

    /// What the strategy knows of its loops.
    flux::loop_facts facts() { return strategy_->facts(); }

    flux::runners all;

  private:
    static std::unique_ptr<flux::strategy> make(flux::strategy_kind kind, const flux::program &in, flux::runners &all,
                                                std::size_t workers, std::size_t queue, std::size_t most)
    {
        switch (kind) {
        case flux::strategy_kind::thread:
            return flux::make_thread_strategy(all);
        case flux::strategy_kind::pool:
            return flux::make_pool_strategy(all, workers, queue, most);
        case flux::strategy_kind::event:
            return flux::make_event_strategy(all, in, workers, flux::make_reactor);
        }
        return nullptr;
    }

    std::unique_ptr<flux::strategy> strategy_;

  public:
    flux::source source;
};

} // namespace sample
