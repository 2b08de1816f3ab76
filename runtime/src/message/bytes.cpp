#include "flux/message/bytes.hpp"

#include "flux/waiting/sanitizer.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <new>

namespace flux {
namespace {

using asking = bool (*)() noexcept;

constinit asking asked_before = nullptr;

bool has_memory() noexcept
{
    return asked_before == nullptr || !asked_before();
}

} // namespace

/// The blocks that one thread keeps for later.
class message_bytes_store
{
  public:
    using block = message_bytes::block;

    /// One for so many bytes. Throws `std::bad_alloc`.
    block *take(std::size_t size)
    {
        // Who decides which of them fail is asked for each, whatever was freed before.
        if (!pools || asked_before != nullptr || size > most_units * unit - sizeof(block)) {
            return make(size, 0);
        }
        const std::size_t units = (sizeof(block) + size + unit - 1) / unit;
        kept &of = by_units_[units - 1];
        if (of.first == nullptr) {
            return make(size, units);
        }
        void *const place = std::exchange(of.first, of.first->next);
        --of.count;
        return new (place) block{1, static_cast<std::uint32_t>(units), size};
    }

    void give_back(block *unused) noexcept
    {
        const std::size_t units = unused->units;
        if (units - 1 < most_units && (is_open_ || open())) {
            kept &of = by_units_[units - 1];
            if (of.count * units < most_kept) {
                of.first = new (static_cast<void *>(unused)) link{of.first};
                ++of.count;
                return;
            }
        }
        if (units == message_bytes::has_stream) {
            std::shared_ptr<message_stream> *const stream = message_bytes::stream_of(unused);
            std::destroy_at(stream);
            return std::free(stream);
        }
        std::free(unused);
    }

    /// The thread ends: what is freed on it from now on is the allocator's at once.
    void end() noexcept
    {
        is_open_ = false;
        has_ended_ = true;
        for (kept &each : by_units_) {
            while (each.first != nullptr) {
                std::free(std::exchange(each.first, each.first->next));
            }
        }
    }

    /// The same with another size, where the allocator has it. Throws `std::bad_alloc`.
    static block *resize(block *own, std::size_t size)
    {
        void *const place = has_memory() ? std::realloc(own, whole(size)) : nullptr;
        if (place == nullptr) {
            throw std::bad_alloc();
        }
        own = static_cast<block *>(place);
        own->size = size;
        return own;
    }

    /// How many bytes there is room for in it without a change of its memory.
    static std::size_t room(const block &in) noexcept
    {
        return in.units == 0 ? in.size : in.units * unit - sizeof(block);
    }

  private:
    struct link {
        link *next;
    };
    struct kept {
        link *first = nullptr;
        std::size_t count = 0;
    };

    static constexpr bool pools = !address_sanitizer && !thread_sanitizer;
    static constexpr std::size_t unit = 64;
    static constexpr std::size_t most_units = 64;
    // Of each size, in units.
    static constexpr std::size_t most_kept = (std::size_t{16} << 10) / unit;

    static std::size_t whole(std::size_t size)
    {
        if (size > std::numeric_limits<std::size_t>::max() - sizeof(block)) {
            throw std::bad_alloc();
        }
        return sizeof(block) + size;
    }

    static block *make(std::size_t size, std::size_t units)
    {
        void *const place = has_memory() ? std::malloc(units == 0 ? whole(size) : units * unit) : nullptr;
        if (place == nullptr) {
            throw std::bad_alloc();
        }
        return new (place) block{1, static_cast<std::uint32_t>(units), size};
    }

    bool open() noexcept;

    std::array<kept, most_units> by_units_{};
    // It keeps something for the first time: then the end of the thread is awaited.
    bool is_open_ = false;
    bool has_ended_ = false;
};

namespace {

constinit thread_local message_bytes_store own_store;

/// Ends the store with the thread. The store itself stays, as objects that are destroyed later may have messages.
struct end_of_store {
    ~end_of_store() { own_store.end(); }
};

} // namespace

// Whether it may keep something.
[[gnu::noinline]] bool message_bytes_store::open() noexcept
{
    if (!has_ended_) {
        static thread_local const end_of_store with_thread;
        (void)&with_thread;
        is_open_ = true;
    }
    return is_open_;
}

message_bytes message_bytes::allocate(std::size_t size)
{
    message_bytes made;
    made.block_ = own_store.take(size);
    return made;
}

message_bytes message_bytes::copy_of(std::span<const std::byte> bytes)
{
    message_bytes made = allocate(bytes.size());
    if (!bytes.empty()) {
        std::memcpy(made.data(), bytes.data(), bytes.size());
    }
    return made;
}

message_bytes message_bytes::with_stream(std::span<const std::byte> bytes, std::shared_ptr<message_stream> stream)
{
    static_assert(sizeof stream == alignof(block));
    const std::size_t size = sizeof stream + sizeof(block) + bytes.size();
    auto *const place = static_cast<std::byte *>(has_memory() ? std::malloc(size) : nullptr);
    if (place == nullptr) {
        throw std::bad_alloc();
    }
    new (place) std::shared_ptr<message_stream>(std::move(stream));
    message_bytes made;
    made.block_ = new (place + sizeof stream) block{1, has_stream, bytes.size()};
    std::memcpy(made.data(), bytes.data(), bytes.size());
    return made;
}

void message_bytes::resize(std::size_t size)
{
    if (block_ == nullptr) {
        *this = allocate(size);
    } else if (size != this->size()) {
        const std::size_t room = message_bytes_store::room(*block_);
        if (block_->units != 0 && size <= room) {
            block_->size = size;
        } else if (block_->units == 0) {
            block_ = message_bytes_store::resize(block_, size);
        } else {
            message_bytes larger = allocate(size);
            std::memcpy(larger.data(), data(), this->size());
            std::swap(block_, larger.block_);
        }
    }
}

void message_bytes::let_fail(bool (*fails)() noexcept) noexcept
{
    asked_before = fails;
}

void message_bytes::free_block(block *unused) noexcept
{
    own_store.give_back(unused);
}

} // namespace flux
