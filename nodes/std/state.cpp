#include "state.h"

#include <mutex>

namespace state {

namespace {

// By their numbers; null where there is none.
std::mutex growing;
std::vector<std::unique_ptr<any_table>> tables;

} // namespace

any_table *known_table(std::size_t table)
{
    const std::lock_guard alone(growing);
    return table < tables.size() ? tables[table].get() : nullptr;
}

any_table &known_or_made(std::size_t table, const std::function<std::unique_ptr<any_table>()> &make)
{
    const std::lock_guard alone(growing);
    if (tables.size() <= table) {
        tables.resize(table + 1);
    }
    if (tables[table] == nullptr) {
        tables[table] = make();
    }
    return *tables[table];
}

int Count(std::size_t table, std::uint64_t &count)
{
    const any_table *const of = known_table(table);
    count = of == nullptr ? 0 : of->count(flux::running_io().last_look());
    return 0;
}

int Clear(std::size_t table)
{
    if (any_table *const of = known_table(table)) {
        std::unique_ptr<flux::state_change> change = of->clear(flux::running_io().last_look());
        if (flux::state_changes *const changes = flux::running_flow->changes()) {
            changes->add(std::move(change));
        }
    }
    return 0;
}

} // namespace state
