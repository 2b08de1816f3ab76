#include "flux/strategy/runner.hpp"

#include <algorithm>
#include <functional>
#include <new>

namespace flux {

runners::runners(const program &of, std::shared_ptr<server_io> through, bool names_keys)
    : program_(of), io_(std::move(through)), times_(of.nodes.size(), of.sources.size()),
      constraint_times_(of.constraints.size())
{
    if (!names_keys) {
        std::ranges::for_each(constraint_times_, &constraint_times::leave_out_keys);
    }
}

runner *runners::borrow() noexcept
{
    thread_waiter place;
    {
        const locked alone(lock_, mode::write, place);
        if (runner *const taken = idle_.pop_front()) {
            return taken;
        }
    }
    try {
        auto made = std::make_unique<runner>(program_, io_, constraint_times_);
        const locked alone(lock_, mode::write, place);
        return all_.emplace_back(std::move(made)).get();
    } catch (const std::bad_alloc &) {
        return nullptr;
    }
}

void runners::give_back(runner &unused) noexcept
{
    thread_waiter place;
    const locked alone(lock_, mode::write, place);
    idle_.push_front(unused);
}

path_counts runners::total()
{
    path_counts sum(program_);
    thread_waiter place;
    const locked together(lock_, mode::read, place);
    for (const auto &each : all_) {
        sum.add(each->counts());
    }
    for (const auto &each : all_) {
        sum.add_started(each->counts());
    }
    return sum;
}

std::vector<constraint_totals> runners::total_of_constraints()
{
    std::vector<constraint_totals> sum(program_.constraints.size());
    thread_waiter place;
    const locked together(lock_, mode::read, place);
    for (const auto &each : all_) {
        for (std::size_t number = 0; number < sum.size(); ++number) {
            sum[number] += each->constraint_counts()[number].totals();
        }
    }
    return sum;
}

std::vector<constraint_time_counts> runners::times_of_constraints() const
{
    std::vector<constraint_time_counts> all;
    all.reserve(constraint_times_.size());
    for (const constraint_times &each : constraint_times_) {
        all.push_back(each.counts());
    }
    return all;
}

std::vector<failure_total> runners::total_of_failures()
{
    failure_counts sum;
    thread_waiter place;
    const locked together(lock_, mode::read, place);
    for (const auto &each : all_) {
        sum.add(each->failures());
    }
    return sum.totals();
}

std::vector<node_stack_mark> runners::marks_of_stacks()
{
    std::vector<node_stack_mark> marks;
    thread_waiter place;
    const locked together(lock_, mode::read, place);
    for (const auto &each : all_) {
        each->stacks().add_marks(marks);
    }
    std::ranges::sort(marks, std::ranges::greater(), &node_stack_mark::used);
    return marks;
}

std::uint64_t runners::flows_in_progress() noexcept
{
    thread_waiter place;
    const locked together(lock_, mode::read, place);
    const auto sum_of = [this](auto count) {
        std::uint64_t sum = 0;
        for (const auto &each : all_) {
            for (source_number source = 0; source < program_.sources.size(); ++source) {
                sum += count(each->counts().of_source(source));
            }
        }
        return sum;
    };
    // In this order: what has ended by the first look has begun by the second.
    const std::uint64_t ended = sum_of([](const source_counts &counts) { return counts.all_finished(); });
    return sum_of([](const source_counts &counts) { return counts.started; }) - ended;
}

} // namespace flux
