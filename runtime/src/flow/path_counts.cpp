#include "flux/flow/path_counts.hpp"

#include "flux/flow/flow.hpp"

#include <new>

namespace flux {

void path_table::add_slowly(path_number number, std::uint64_t times) noexcept
{
    try {
        if (number < total_ && total_ <= array_limit) {
            array_.resize(total_);
            array_[number] += times;
        } else {
            hashed_[number] += times;
        }
    } catch (const std::bad_alloc &) {
        lost_ += times;
    }
}

void path_table::add(const path_table &other) noexcept
{
    other.visit([this](path_number number, std::uint64_t times) { add(number, times); });
    lost_ += other.lost_;
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
    return *this;
}

path_counts::path_counts(const program &of) : program_(of), sources_(of.sources.size())
{
    for (source_number source = 0; source < sources_.size(); ++source) {
        const source_paths numbering = paths_of(of, of.sources[source]);
        for (std::size_t exit = 0; exit < outcome_count; ++exit) {
            sources_[source].paths[exit] = path_table(numbering.total[exit]);
        }
    }
}

void path_counts::made_nothing(source_number source, const flow &by) noexcept
{
    sources_[source].counts.nothing += 1;
    sources_[source].counts.counted += by.counted();
}

void path_counts::took(function_number function, outcome exit, path_number number) noexcept
{
    try {
        tables_of(function)[index_of(exit)].add(number);
    } catch (const std::bad_alloc &) {
        lost_ += 1;
    }
}

void path_counts::add(const path_counts &other)
{
    for (source_number source = 0; source < sources_.size(); ++source) {
        sources_[source].counts += other.sources_[source].counts;
        for (std::size_t exit = 0; exit < outcome_count; ++exit) {
            sources_[source].paths[exit].add(other.sources_[source].paths[exit]);
        }
    }
    for (const auto &[function, tables] : other.functions_) {
        path_tables &into = tables_of(function);
        for (std::size_t exit = 0; exit < outcome_count; ++exit) {
            into[exit].add(tables[exit]);
        }
    }
    lost_ += other.lost_;
}

std::uint64_t path_counts::lost() const noexcept
{
    std::uint64_t lost = lost_;
    const auto add_tables = [&lost](const path_tables &tables) {
        for (const path_table &table : tables) {
            lost += table.lost();
        }
    };
    for (const source_entry &entry : sources_) {
        add_tables(entry.paths);
    }
    for (const auto &[function, tables] : functions_) {
        add_tables(tables);
    }
    return lost;
}

path_tables &path_counts::tables_of(function_number function)
{
    const auto found = functions_.find(function);
    if (found != functions_.end()) {
        return found->second;
    }
    path_tables tables;
    for (std::size_t exit = 0; exit < outcome_count; ++exit) {
        tables[exit] = path_table(program_.path_functions[function].paths[exit]);
    }
    return functions_.emplace(function, std::move(tables)).first->second;
}

} // namespace flux
