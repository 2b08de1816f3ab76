/// \file
/// The bytes of a message: contiguous, counted references, in memory of their own size.
///
/// Blocks of up to 4 KiB come from a store of the calling thread, one list for each size, so that the bytes of a small
/// message cost about a hundred instructions from their allocation to their end. A block may be freed on any thread and
/// goes to that thread's store. A store keeps at most 16 KiB of each size; what is above that, and what is larger, is
/// the allocator's. So is all of it under a sanitizer, which then finds each use after the end.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

namespace flux {

class message_stream;

/// A share of bytes that several messages may have. Copies share them, and the last one frees them. Different shares
/// may be used on different threads at once.
class message_bytes
{
  public:
    /// No bytes, and no memory.
    message_bytes() noexcept = default;

    message_bytes(const message_bytes &other) noexcept : block_(other.block_)
    {
        if (block_ != nullptr) {
            block_->shares.fetch_add(1, std::memory_order_relaxed);
        }
    }
    message_bytes(message_bytes &&other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
    message_bytes &operator=(message_bytes other) noexcept
    {
        std::swap(block_, other.block_);
        return *this;
    }
    ~message_bytes()
    {
        if (block_ != nullptr) {
            drop();
        }
    }

    /// So many bytes, which nobody has written yet. Throws `std::bad_alloc`.
    static message_bytes allocate(std::size_t size);

    /// A copy of these. Throws `std::bad_alloc`.
    static message_bytes copy_of(std::span<const std::byte> bytes);

    /// A copy of these, with the streams that come after them: the shares of the bytes are shares of these too. Throws
    /// `std::bad_alloc`.
    static message_bytes with_stream(std::span<const std::byte> bytes, std::shared_ptr<message_stream> stream);

    /// The streams that come after them; null where there are none.
    std::shared_ptr<message_stream> stream() const noexcept
    {
        return block_ == nullptr || block_->units != has_stream ? nullptr : *stream_of(block_);
    }

    /// For who has allocated them and not shared them yet: to write them. Null where there are none.
    std::byte *data() noexcept { return block_ == nullptr ? nullptr : first_of(block_); }

    /// For the same: from now on they are so many, of which the first remain as they are. They may move. Throws
    /// `std::bad_alloc`; then nothing has changed.
    void resize(std::size_t size);

    /// The same of what has become no more than it was, and stays where it is in memory of the store.
    void end_at(std::size_t size)
    {
        if (block_ != nullptr && block_->units != 0 && block_->units != has_stream && size <= block_->size) [[likely]] {
            block_->size = size;
        } else {
            *this = resized(std::move(*this), size);
        }
    }

    /// How many there are.
    std::size_t size() const noexcept { return block_ == nullptr ? 0 : block_->size; }

    /// All of them.
    std::string_view view() const noexcept
    {
        return block_ == nullptr ? std::string_view()
                                 : std::string_view(reinterpret_cast<const char *>(first_of(block_)), block_->size);
    }

    /// For tests of what is done then: the system has no memory for any where this says so. Null, as at first, asks
    /// nobody. Before there are any threads.
    static void let_fail(bool (*fails)() noexcept) noexcept;

  private:
    friend class message_bytes_store;

    /// What stands before the bytes.
    struct alignas(16) block {
        std::atomic<std::uint32_t> shares;
        // In units of the store; 0 where the allocator has it, and `has_stream` where a stream stands before it, too.
        std::uint32_t units;
        std::size_t size;
    };

    static constexpr std::uint32_t has_stream = std::numeric_limits<std::uint32_t>::max();
    static std::shared_ptr<message_stream> *stream_of(block *of) noexcept
    {
        return reinterpret_cast<std::shared_ptr<message_stream> *>(of) - 1;
    }

    static std::byte *first_of(block *of) noexcept { return reinterpret_cast<std::byte *>(of + 1); }

    // The last share needs no locked operation: nobody else can make another of it.
    void drop() noexcept
    {
        if (block_->shares.load(std::memory_order_acquire) == 1 ||
            block_->shares.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            free_block(block_);
        }
    }
    static void free_block(block *unused) noexcept;
    static message_bytes resized(message_bytes own, std::size_t size);

    block *block_ = nullptr;
};

} // namespace flux
