#include "flux/strategy/sources.hpp"

#include "flux/event/loop.hpp"

#include <algorithm>
#include <new>

namespace flux {

sources::sources(const program &of, const flow_settings &flows, strategy &by, runners &all)
{
    const auto homes = by.homes();
    for (source_number number = 0; number < of.sources.size(); ++number) {
        if (of.sources[number].period_ms != 0 && !homes.empty()) {
            loop &one = *homes[number % homes.size()];
            all_.push_back(std::make_unique<source>(of, number, flows, by, one.own(), all.times(), instance{&one}));
        } else if (of.sources[number].replicable && !homes.empty()) {
            const std::size_t instances = std::min(homes.size(), flows.most);
            for (std::size_t which = 0; which < instances; ++which) {
                flow_settings part = flows;
                part.most = flows.most / instances + (which < flows.most % instances ? 1 : 0);
                all_.push_back(std::make_unique<source>(of, number, part, by, homes[which]->own(), all.times(),
                                                        instance{homes[which].get(), which, instances}));
            }
        } else {
            runner *const own = all.borrow();
            if (own == nullptr) {
                throw std::bad_alloc();
            }
            all_.push_back(std::make_unique<source>(of, number, flows, by, *own, all.times()));
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

const source_info *sources::first_not_ended() const noexcept
{
    const auto found = std::find_if(all_.begin(), all_.end(), [](const auto &each) { return !each->ended(); });
    return found == all_.end() ? nullptr : &(*found)->info();
}

void sources::look_at_flows(stragglers &by) const
{
    for (const auto &each : all_) {
        each->look_at_flows(by);
    }
}

std::pair<std::size_t, std::size_t> sources::flows_made() const noexcept
{
    std::pair<std::size_t, std::size_t> all{0, 0};
    for (const auto &each : all_) {
        const auto [flows, bytes] = each->flows_made();
        all.first += flows;
        all.second += flows * bytes;
    }
    return all;
}

void sources::join()
{
    for (const auto &each : all_) {
        each->join();
    }
}

} // namespace flux
