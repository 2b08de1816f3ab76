#include "state.h"

#include <deque>

namespace state {

std::unique_ptr<any_table> &place_of(std::size_t table)
{
    static std::mutex growing;
    static std::deque<std::unique_ptr<any_table>> all;
    const std::lock_guard alone(growing);
    while (all.size() <= table) {
        all.emplace_back();
    }
    return all[table];
}

int Count(std::size_t table, std::uint64_t &count)
{
    const std::unique_ptr<any_table> &of = place_of(table);
    count = of == nullptr ? 0 : of->count(flux::running_io().last_look());
    return 0;
}

int Clear(std::size_t table)
{
    if (const std::unique_ptr<any_table> &of = place_of(table); of != nullptr) {
        std::unique_ptr<flux::state_change> change = of->clear(flux::running_io().last_look());
        if (flux::state_changes *const changes = flux::running_flow->changes()) {
            changes->add(std::move(change));
        }
    }
    return 0;
}

} // namespace state
