#include "flick_backends.h"

#include "flick_end.h"
#include "flick_run.h"
#include "flick_shared.h"

#include "flux/error.hpp"
#include "flux/flow/flow.hpp"
#include "flux/log.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <new>
#include <utility>

namespace flick {

namespace {

/// The time for which a server is left out doubles so often.
constexpr std::size_t most_doublings = 5;

/// Nobody has so many requests open: one that is left out comes behind all others.
constexpr std::size_t left_out = SIZE_MAX / 2;

} // namespace

backends::waiting_flow::waiting_flow() : wait(*flux::running_flow, flux::park_reason::connect) {}

backends::backends(std::string name, const binding &to)
    : name_(std::move(name)), to_(to), all_(to.addresses.size()), last_asked_(all_.size())
{
    for (server &each : all_) {
        each.shared = std::make_unique<shared_connections>();
    }
}

backends::~backends() = default;

bool backends::is_well(const server &one) const noexcept
{
    return !one.is_down &&
           (one.ejected_until == flux::moment::min() || one.ejected_until <= flux::running_io().last_look());
}

std::size_t backends::choose(std::size_t wanted) const noexcept
{
    for (std::size_t step = 0; step != all_.size(); ++step) {
        const std::size_t which = (wanted + step) % all_.size();
        if (is_well(all_[which])) [[likely]] {
            return which;
        }
    }
    return wanted % all_.size();
}

std::size_t backends::least_busy() noexcept
{
    counts_requests_ = true;
    std::size_t best = 0;
    std::size_t fewest = SIZE_MAX;
    std::size_t which = 0;
    for (const server &each : all_) {
        const std::size_t open = each.open + (is_well(each) ? 0 : left_out);
        const bool has_turn = best <= last_asked_ && last_asked_ < which;
        if (open < fewest || (open == fewest && has_turn)) {
            fewest = open;
            best = which;
        }
        ++which;
    }
    return best;
}

void backends::add(end &made, std::size_t which) noexcept
{
    all_[which].ends.push_back(made);
}

void backends::remove(end &gone, std::size_t which) noexcept
{
    all_[which].ends.remove(gone);
}

// One that its run does not need now, and has no longer. Null where there is none.
std::shared_ptr<end> backends::lent_at(const server &of) noexcept
{
    for (end *each = of.ends.first(); each != nullptr; each = flux::intrusive_list<end>::next(*each)) {
        if (each->may_be_lent()) {
            each->lend();
            return each->shared_from_this();
        }
    }
    return nullptr;
}

// What is looked at already is as stuck as all the others are.
bool backends::is_stuck(std::size_t which, const awaited_place &by, std::uint64_t search) noexcept
{
    server &of = all_[which];
    if (std::exchange(of.searched, search) == search) {
        return true;
    }
    std::size_t held = 0;
    for (const end *each = of.ends.first(); each != nullptr; each = flux::intrusive_list<end>::next(*each)) {
        if (!each->is_stuck(by, search)) {
            return false;
        }
        ++held;
    }
    return held == of.connections; // the others are being made, or shared
}

bool backends::is_stuck(const awaited_place &by) noexcept
{
    thread_local std::uint64_t searches = 0;
    return by.at.is_stuck(by.server, by, ++searches);
}

int backends::fail_stuck(std::size_t which) const noexcept
{
    flux::log_rarely("the channel `%s` has as many connections to %s as it may, and the runs that have them wait for "
                     "each other's: bind it with `keep`, so that they are lent, or with more than `at most %zu`",
                     name_.c_str(), address(which).c_str(), to_.most);
    return EDEADLK;
}

int backends::take(std::size_t which, flux::moment until, run &by, bool repeats,
                   std::shared_ptr<end> &kept) noexcept
{
    server &of = all_[which];
    while (!of.kept.empty()) {
        const std::shared_ptr<end> last = std::move(of.kept.back().kept);
        of.kept.pop_back();
        if (last->is_usable()) {
            kept = last;
            return 0;
        }
        last->cut();
    }
    if (to_.most == 0 || of.connections < to_.most) {
        ++of.connections;
        return 0;
    }
    if ((kept = lent_at(of)) != nullptr) {
        return 0;
    }
    if (of.waiting >= to_.queue) {
        return EBUSY;
    }
    waiting_flow own;
    awaited_place awaited(*this, which, repeats, own.wait);
    by.awaits().push_back(awaited);
    awaited.is_stuck = is_stuck(awaited);
    flux::park_end how = flux::park_end::completed;
    if (!awaited.is_stuck) {
        of.line.push_back(own);
        ++of.waiting;
        how = own.wait.wait(until);
        --of.waiting;
        own.in_line ? of.line.remove(own) : void();
    }
    by.awaits().remove(awaited);
    if (awaited.is_stuck) {
        return fail_stuck(which);
    }
    if (how == flux::park_end::completed) {
        kept = std::move(own.given);
        return 0;
    }
    return how == flux::park_end::timed_out && until < flux::running_flow->deadline() ? EBUSY : error_of(how);
}

// To the first that still waits: the connection, or the place where it is null.
bool backends::give(server &of, std::shared_ptr<end> unused) noexcept
{
    while (waiting_flow *const first = of.line.pop_front()) {
        first->in_line = false;
        first->given = unused;
        if (first->wait.end(flux::park_end::completed)) {
            return true;
        }
        first->given = nullptr;
    }
    return false;
}

void backends::free_place(std::size_t which) noexcept
{
    if (!give(all_[which], nullptr)) {
        --all_[which].connections;
    }
}

bool backends::keep(std::shared_ptr<end> unused) noexcept
{
    server &of = all_[unused->server()];
    if (to_.keep == 0 || !is_well(of)) {
        return false;
    }
    if (give(of, unused)) {
        return true;
    }
    try {
        of.kept.push_back({std::move(unused), flux::running_io().last_look()});
    } catch (const std::bad_alloc &) {
        return false;
    }
    if (of.kept.size() > to_.keep) {
        const std::shared_ptr<end> oldest = std::move(of.kept.front().kept);
        of.kept.pop_front();
        oldest->cut();
    }
    return true;
}

void backends::forget(const end &kept) noexcept
{
    std::erase_if(all_[kept.server()].kept, [&](const kept_end &each) { return each.kept.get() == &kept; });
}

void backends::close_old() noexcept
{
    const flux::moment last = flux::running_io().last_look() - to_.keep_for;
    for (server &each : all_) {
        while (!each.kept.empty() && each.kept.front().since <= last) {
            const std::shared_ptr<end> oldest = std::move(each.kept.front().kept);
            each.kept.pop_front();
            oldest->cut();
        }
    }
}

// Whether all others are left out already.
bool backends::is_last(std::size_t which) const noexcept
{
    for (std::size_t other = 0; other != all_.size(); ++other) {
        if (other != which && is_well(all_[other])) {
            return false;
        }
    }
    return true;
}

void backends::failed(std::size_t which) noexcept
{
    server &of = all_[which];
    ++of.failures;
    if (to_.eject_after == 0 || !is_well(of) || (is_last(which) && !to_.ejects_the_last)) {
        return;
    }
    if (of.failures < to_.eject_after && of.ejections == 0) {
        return;
    }
    const auto time = to_.eject_for * (std::size_t{1} << std::min(of.ejections, most_doublings));
    ++of.ejections;
    of.failures = 1;
    of.ejected_until = flux::running_io().last_look() + time;
    flux::log_line("the server %s of the channel `%s` has failed, and is left out for %lld ms", address(which).c_str(),
                   name_.c_str(), static_cast<long long>(time.count()));
}

void backends::recovered(std::size_t which) noexcept
{
    server &of = all_[which];
    of.failures = 0;
    if (of.ejections != 0 && is_well(of)) {
        of.ejections = 0;
        flux::log_line("the server %s of the channel `%s` is well again", address(which).c_str(), name_.c_str());
    }
}

void backends::checked(std::size_t which, bool is_well) noexcept
{
    server &of = all_[which];
    if (!is_well) {
        of.good_checks = 0;
        ++of.failures;
        const bool may = to_.ejects_the_last || !is_last(which);
        if (!of.is_down && may && of.failures >= std::max<std::size_t>(to_.eject_after, 1)) {
            of.is_down = true;
            of.shared->cut();
            flux::log_line("the server %s of the channel `%s` fails its checks, and is left out",
                           address(which).c_str(), name_.c_str());
        }
        return;
    }
    ++of.good_checks;
    if (of.is_down && of.good_checks >= to_.back_after) {
        of.is_down = false;
        of.failures = 0;
        flux::log_line("the server %s of the channel `%s` is well again", address(which).c_str(), name_.c_str());
    } else if (!of.is_down && of.ejected_until == flux::moment::min()) {
        of.failures = 0;
    }
}

} // namespace flick
