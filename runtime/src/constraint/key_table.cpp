#include "flux/constraint/key_table.hpp"

#include <chrono>
#include <new>
#include <thread>

namespace flux {

class key_table::entry
{
  public:
    lock held;
    key_number scattered = 0;
    std::uint64_t users = 0;
    // In a chain: the next key, which is looked for anyway. Idle: the next that is.
    entry *next = nullptr;
};

key_table::~key_table()
{
    for (shard &each : shards_) {
        while (entry *const unused = each.idle) {
            each.idle = unused->next;
            delete unused;
        }
    }
}

key_table::entry &key_table::find(key_number scattered, waiter &place) noexcept
{
    shard &in = shard_of(scattered);
    while (true) {
        {
            const locked alone(in.alone, mode::write, place);
            if (entry *const found = use_existing(in, scattered)) {
                return *found;
            }
        }
        // Outside of the lock, as the allocator may take its time. Another may bring the key meanwhile.
        if (entry *const made = new (std::nothrow) entry) {
            const locked alone(in.alone, mode::write, place);
            made->next = in.idle;
            in.idle = made;
        } else {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }
}

// Null where the key is not in use and there is no idle entry to give it.
key_table::entry *key_table::use_existing(shard &in, key_number scattered) noexcept
{
    entry *&chain = chain_of(in, scattered);
    for (entry *each = chain; each != nullptr; each = each->next) {
        if (each->scattered == scattered) {
            each->users += 1;
            return each;
        }
    }
    entry *const taken = in.idle;
    if (taken != nullptr) {
        in.idle = taken->next;
        taken->scattered = scattered;
        taken->users = 1;
        taken->next = chain;
        chain = taken;
    }
    return taken;
}

lock &key_table::lock_of(entry &of) noexcept
{
    return of.held;
}

void key_table::forget(entry &used, waiter &place) noexcept
{
    shard &in = shard_of(used.scattered);
    const locked alone(in.alone, mode::write, place);
    if (--used.users != 0) {
        return;
    }
    entry **link = &chain_of(in, used.scattered);
    while (*link != &used) {
        link = &(*link)->next;
    }
    *link = used.next;
    used.next = in.idle;
    in.idle = &used;
}

std::size_t key_table::size() const noexcept
{
    std::size_t count = 0;
    for (const shard &each : shards_) {
        for (const entry *one = each.idle; one != nullptr; one = one->next) {
            ++count;
        }
        for (const entry *chain : each.chains) {
            for (; chain != nullptr; chain = chain->next) {
                ++count;
            }
        }
    }
    return count;
}

} // namespace flux
