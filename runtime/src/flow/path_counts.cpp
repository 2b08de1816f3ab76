#include "flux/flow/path_counts.hpp"

#include "flux/flow/flow.hpp"

#include <new>

namespace flux {

void path_table::add_slowly(path_number number, std::uint64_t times) noexcept
{
    if (number < total_ && total_ <= array_limit) {
        if (tally *const made = new (std::nothrow) tally[total_]) {
            made[number].add(times);
            return array_.store(made, std::memory_order_release);
        }
    }
    others_.add(number, times);
}

void path_table::add(const path_table &other) noexcept
{
    if (const tally *const counts = other.array_.load(std::memory_order_acquire)) {
        for (path_number number = 0; number < other.total_; ++number) {
            if (const std::uint64_t times = counts[number].value(); times != 0) {
                add(number, times);
            }
        }
    }
    other.others_.visit([this](path_number number, std::uint64_t times) { add(number, times); });
    others_.add_lost(other.lost());
}

source_counts &source_counts::operator+=(const source_counts &other) noexcept
{
    started += other.started;
    nothing += other.nothing;
    for (std::size_t exit = 0; exit < outcome_count; ++exit) {
        finished[exit] += other.finished[exit];
    }
    cancelled += other.cancelled;
    counted += other.counted;
    first_forgot = first_forgot != no_node ? first_forgot : other.first_forgot;
    return *this;
}

path_counts::path_counts(const program &of)
    : program_(&of), sources_(of.sources.size()), functions_(of.path_functions.size()),
      lost_(std::make_unique<tally>())
{
    for (source_number source = 0; source < sources_.size(); ++source) {
        const source_paths numbering = paths_of(of, of.sources[source]);
        for (std::size_t exit = 0; exit < outcome_count; ++exit) {
            sources_[source].paths[exit].set_total(numbering.total[exit]);
        }
        sources_[source].input_ends.set_total(numbering.total[index_of(outcome::failed)]);
    }
}

path_counts::~path_counts()
{
    for (const auto &tables : functions_) {
        delete tables.load(std::memory_order_relaxed);
    }
}

void path_counts::had_nothing(source_number source, const flow &by) noexcept
{
    sources_[source].nothing.add(1);
    sources_[source].add_done(by);
}

void path_counts::source_tallies::add_forgotten(std::uint64_t times, node_number first_in) noexcept
{
    forgotten.add(times);
    if (first_forgot.load(std::memory_order_relaxed) == no_node) {
        first_forgot.store(first_in, std::memory_order_relaxed);
    }
}

void path_counts::took(function_number function, outcome exit, path_number number) noexcept
{
    try {
        tables_of(function)[index_of(exit)].add(number);
    } catch (const std::bad_alloc &) {
        lost_->add(1);
    }
}

void path_counts::add(const path_counts &other)
{
    for (source_number source = 0; source < sources_.size(); ++source) {
        source_tallies &into = sources_[source];
        const source_counts counts = other.of_source(source);
        into.nothing.add(counts.nothing);
        into.cancelled.add(counts.cancelled);
        into.add(counts.counted);
        into.add_forgotten(counts.counted.forgotten, counts.first_forgot);
        for (std::size_t exit = 0; exit < outcome_count; ++exit) {
            into.finished[exit].add(counts.finished[exit]);
            into.paths[exit].add(other.flow_paths(source)[exit]);
        }
        into.input_ends.add(other.input_ends(source));
    }
    for (function_number function = 0; function < functions_.size(); ++function) {
        if (const path_tables *const tables = other.function_paths(function)) {
            for (std::size_t exit = 0; exit < outcome_count; ++exit) {
                tables_of(function)[exit].add((*tables)[exit]);
            }
        }
    }
    lost_->add(other.lost_->value());
}

void path_counts::add_started(const path_counts &other) noexcept
{
    for (source_number source = 0; source < sources_.size(); ++source) {
        sources_[source].started.add(other.sources_[source].started.value());
    }
}

source_counts path_counts::of_source(source_number source) const noexcept
{
    const source_tallies &from = sources_[source];
    source_counts counts;
    for (std::size_t exit = 0; exit < outcome_count; ++exit) {
        counts.finished[exit] = from.finished[exit].value();
    }
    counts.cancelled = from.cancelled.value();
    counts.nothing = from.nothing.value();
    counts.counted = {from.calls.value(), from.dispatches.value(), from.acquisitions.value(), from.parks.value(),
                      from.failures.value(), from.forgotten.value()};
    counts.first_forgot = from.first_forgot.load(std::memory_order_relaxed);
    counts.started = from.started.value();
    return counts;
}

std::uint64_t path_counts::lost() const noexcept
{
    std::uint64_t lost = lost_->value();
    const auto add_tables = [&lost](const path_tables &tables) {
        for (const path_table &table : tables) {
            lost += table.lost();
        }
    };
    for (const source_tallies &entry : sources_) {
        add_tables(entry.paths);
        lost += entry.input_ends.lost();
    }
    for (const auto &tables : functions_) {
        if (const path_tables *const own = tables.load(std::memory_order_acquire)) {
            add_tables(*own);
        }
    }
    return lost;
}

path_tables &path_counts::tables_of(function_number function)
{
    path_tables *tables = functions_[function].load(std::memory_order_relaxed);
    if (tables == nullptr) {
        tables = new path_tables;
        for (std::size_t exit = 0; exit < outcome_count; ++exit) {
            (*tables)[exit].set_total(program_->path_functions[function].paths[exit]);
        }
        functions_[function].store(tables, std::memory_order_release);
    }
    return *tables;
}

} // namespace flux
