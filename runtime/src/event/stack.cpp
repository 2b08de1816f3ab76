#include "flux/event/stack.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <sys/mman.h>
#include <unistd.h>

namespace flux {
namespace {

// From <linux/mman.h> since 6.13; the C library does not know it yet.
constexpr int madv_guard_install = 102;

bool make_guard(std::byte *at) noexcept
{
    return madvise(at, stack_store::guard, madv_guard_install) == 0 ||
           mprotect(at, stack_store::guard, PROT_NONE) == 0;
}

} // namespace

bool stack::overflows_at(const void *address) const noexcept
{
    const auto *const at = static_cast<const std::byte *>(address);
    return at < bottom && at >= bottom - stack_store::guard;
}

stack_store::~stack_store()
{
    for (std::byte *const slab : slabs_) {
        munmap(slab, stacks_in_slab * space);
    }
}

std::optional<stack> stack_store::take() noexcept
{
    constexpr std::size_t size = space - guard;
    if (!unused_.empty()) {
        std::byte *const bottom = unused_.back();
        unused_.pop_back();
        return stack{bottom, size};
    }
    if (cut_ == stacks_in_slab && !add_slab()) {
        return std::nullopt;
    }
    std::byte *const next = slabs_.back() + cut_ * space;
    if (!make_guard(next)) {
        return std::nullopt;
    }
    ++cut_;
    return stack{next + guard, size};
}

void stack_store::give_back(stack unused) noexcept
{
    unused_.push_back(unused.bottom);
}

bool stack_store::add_slab() noexcept
{
    try {
        unused_.reserve((slabs_.size() + 1) * stacks_in_slab);
        const std::lock_guard alone(growing_);
        slabs_.reserve(slabs_.size() + 1);
        void *const slab = mmap(nullptr, stacks_in_slab * space, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
        if (slab == MAP_FAILED) {
            return false;
        }
        madvise(slab, stacks_in_slab * space, MADV_NOHUGEPAGE); // a kernel that has no huge pages may refuse
        slabs_.push_back(static_cast<std::byte *>(slab));
        cut_ = 0;
        return true;
    } catch (const std::bad_alloc &) {
        return false;
    }
}

std::size_t stack_store::high_water_mark() const noexcept
{
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    constexpr std::size_t smallest_page = 4096;
    std::array<unsigned char, (space - guard) / smallest_page> in_memory;
    const std::size_t pages = (space - guard) / page;
    std::size_t most = 0;
    const std::lock_guard alone(growing_);
    for (std::byte *const slab : slabs_) {
        for (std::size_t number = 0; number < stacks_in_slab; ++number) {
            if (mincore(slab + number * space + guard, pages * page, in_memory.data()) == 0) {
                const auto touched = [](unsigned char state) { return (state & 1) != 0; };
                const auto deepest = std::find_if(in_memory.begin(), in_memory.begin() + pages, touched);
                most = std::max(most, static_cast<std::size_t>(in_memory.begin() + pages - deepest) * page);
            }
        }
    }
    return most;
}

} // namespace flux
