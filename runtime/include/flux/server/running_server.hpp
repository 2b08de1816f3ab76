/// \file
/// A server from the start of its sources to the end of its flows. `server.hpp` makes a process of it, with options,
/// signals and a log; tests start one, drain it, and examine it.
#pragma once

#include "flux/flow/program.hpp"
#include "flux/insight/live_experiment.hpp"
#include "flux/insight/report.hpp"
#include "flux/insight/span_exporter.hpp"
#include "flux/io/server_io.hpp"
#include "flux/moment.hpp"
#include "flux/server/options.hpp"
#include "flux/strategy/runner.hpp"
#include "flux/strategy/sources.hpp"
#include "flux/strategy/stragglers.hpp"
#include "flux/strategy/strategy.hpp"

#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace flux {

/// Sources, what runs their flows, what their I/O shares, and what was counted.
class running_server
{
  public:
    /// With this I/O, or one of its own. Throws `std::bad_alloc`.
    running_server(const program &served, const options &chosen,
                   std::shared_ptr<server_io> through = std::make_shared<server_io>())
        : program_(served), options_(chosen), runners_(served, std::move(through), chosen.names_keys)
    {
    }

    /// What its I/O shares: where peers come in, and the sockets that they know it by. It is there before the start.
    server_io &io() noexcept { return *runners_.io(); }

    /// Flows begin. Throws `std::system_error`, `std::bad_alloc`, and `std::invalid_argument` where the options do not
    /// go together.
    void start();

    /// Nobody is accepted any more, sources stop, and flows go on to their end, for as long as the option `drain` says.
    /// Until `patience` is over, sources give their flows all who have been accepted. True when all flows have ended
    /// and no source that can be woken will start another.
    bool drain(clock::duration patience);

    /// After a drain that gave false: the flows that are in progress fail in what they wait for. True when they all
    /// have come to their end so. Says where those are that have not.
    bool cancel();

    /// The first source that has not stopped, as nothing wakes it; null where there is none.
    const source_info *first_source_not_ended() const noexcept { return sources_->first_not_ended(); }

    /// All sources and flows have ended: returns when all threads are gone.
    void finish();

    /// What is known so far. Any thread may ask. Throws `std::bad_alloc`.
    run_facts facts(facts_wanted wanted = facts_wanted::all);

    /// What a faster node would give.
    live_experiment &experiment() noexcept { return experiment_; }

    /// Has each flow that is in progress seen. Any thread may ask, after the start. Throws `std::bad_alloc`.
    void look_at_flows(stragglers &by) const;

  private:
    std::unique_ptr<strategy> make_strategy();
    std::unique_ptr<strategy> make_event_loops();
    void look();
    loop_facts facts_of_loops(facts_wanted wanted);
    void say_where_they_are() const;

    const program &program_;
    const options options_;
    const moment made_at_ = clock::now();
    // Flows give it their spans to the last.
    std::optional<span_exporter> spans_;
    runners runners_;
    std::unique_ptr<strategy> strategy_;
    std::optional<sources> sources_;
    live_experiment experiment_{runners_};
    stragglers stragglers_;
    std::mutex abandoning_;
    std::vector<straggler_group> abandoned_;
};

} // namespace flux
