#include "flux/event/resident_store.hpp"

#include "flux/event/loop.hpp"

#include <new>
#include <optional>
#include <utility>

namespace flux {

resident_store::~resident_store()
{
    for (const auto &each : all_) {
        stacks_.give_back(each->on());
    }
}

resident &resident_store::make_first()
{
    resident *const made = make();
    if (made == nullptr) {
        throw std::bad_alloc();
    }
    return *made;
}

resident *resident_store::take() noexcept
{
    resident *const unused = unused_.pop_front();
    if (unused == nullptr) {
        return make();
    }
    load_.more();
    return unused;
}

bool resident_store::has_one() noexcept
{
    if (unused_.empty()) {
        if (resident *const made = make()) {
            give_back(*made);
        }
    }
    return !unused_.empty();
}

void resident_store::give_back(resident &unused) noexcept
{
    unused_.push_front(unused);
    load_.less();
    exhausted_ = false;
}

resident *resident_store::make() noexcept
{
    const bool may_be_more = !exhausted_ && all_.size() < most_;
    const std::optional<stack> on = may_be_more ? stacks_.take() : std::nullopt;
    if (on) {
        try {
            resident *const made = all_.emplace_back(std::make_unique<resident>(loop_, *on)).get();
            load_.more();
            return made;
        } catch (const std::bad_alloc &) {
            stacks_.give_back(*on);
        }
    }
    if (!std::exchange(exhausted_, true)) {
        memory_again_ = may_be_more ? loop_.now() + memory_pause : never;
    }
    return nullptr;
}

} // namespace flux
