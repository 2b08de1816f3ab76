#include "flux/process/log_ring.hpp"

#include <algorithm>
#include <cstring>

namespace flux {

void log_ring::push(std::string_view text, std::atomic<std::uint64_t> &turns) noexcept
{
    const std::uint32_t left_out = left_out_.load(std::memory_order_relaxed);
    if (!has_room(text.size())) {
        left_out_.store(left_out + 1);
        return;
    }
    const front line{turns.fetch_add(1, std::memory_order_acq_rel), static_cast<std::uint32_t>(text.size()), left_out};
    const std::uint64_t end = end_.load(std::memory_order_relaxed);
    copy_in(end, &line, sizeof line);
    copy_in(end + sizeof line, text.data(), text.size());
    // Who logs says this first and then looks whether the other rests; that one says that it rests, and then looks.
    end_.store(end + sizeof line + text.size());
}

bool log_ring::has_news() const noexcept
{
    return end_.load() != taken_ || left_out_.load() != told_;
}

bool log_ring::peek(front &first) const noexcept
{
    if (end_.load(std::memory_order_acquire) == taken_) {
        return false;
    }
    copy_out(taken_, &first, sizeof first);
    return true;
}

void log_ring::take(const front &first, char *into) noexcept
{
    copy_out(taken_ + sizeof first, into, first.size);
    taken_ += sizeof first + first.size;
}

void log_ring::copy_in(std::uint64_t at, const void *from, std::size_t size) noexcept
{
    const std::size_t first = at % capacity;
    const std::size_t before_end = std::min(size, capacity - first);
    std::memcpy(bytes_.data() + first, from, before_end);
    std::memcpy(bytes_.data(), static_cast<const char *>(from) + before_end, size - before_end);
}

void log_ring::copy_out(std::uint64_t at, void *into, std::size_t size) const noexcept
{
    const std::size_t first = at % capacity;
    const std::size_t before_end = std::min(size, capacity - first);
    std::memcpy(into, bytes_.data() + first, before_end);
    std::memcpy(static_cast<char *>(into) + before_end, bytes_.data(), size - before_end);
}

} // namespace flux
