#include "flux/strategy/sources.hpp"

#include "flux/event/loop.hpp"

#include <algorithm>
#include <new>

namespace flux {

sources::sources(const program &of, std::size_t max_flows, std::chrono::milliseconds time, strategy &by, runners &all)
{
    const auto homes = by.homes();
    for (source_number number = 0; number < of.sources.size(); ++number) {
        if (of.sources[number].period_ms != 0 && !homes.empty()) {
            loop &one = *homes[number % homes.size()];
            all_.push_back(std::make_unique<source>(of, number, max_flows, by, one.own(), time, instance{&one}));
        } else if (of.sources[number].replicable && !homes.empty()) {
            const std::size_t instances = std::min(homes.size(), max_flows);
            for (std::size_t which = 0; which < instances; ++which) {
                const std::size_t part = max_flows / instances + (which < max_flows % instances ? 1 : 0);
                all_.push_back(std::make_unique<source>(of, number, part, by, homes[which]->own(), time,
                                                        instance{homes[which].get(), which, instances}));
            }
        } else {
            runner *const own = all.borrow();
            if (own == nullptr) {
                throw std::bad_alloc();
            }
            all_.push_back(std::make_unique<source>(of, number, max_flows, by, *own, time));
        }
    }
}

void sources::start()
{
    for (const auto &each : all_) {
        each->start();
    }
}

void sources::stop() noexcept
{
    for (const auto &each : all_) {
        each->stop();
    }
}

void sources::cancel_flows() noexcept
{
    for (const auto &each : all_) {
        each->cancel_flows();
    }
}

bool sources::ended() const noexcept
{
    return std::all_of(all_.begin(), all_.end(), [](const auto &each) { return each->ended(); });
}

void sources::join()
{
    for (const auto &each : all_) {
        each->join();
    }
}

} // namespace flux
