#include "flux/io/receive_buffers.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <system_error>

namespace flux {
namespace {

constexpr std::size_t bytes_of_all = receive_buffers::count * receive_buffers::size;
constexpr std::size_t bytes_of_ring = receive_buffers::count * sizeof(io_uring_buf);

} // namespace

receive_buffers::receive_buffers(ring &of)
{
    // The ring of them has to begin on a page, so it stands first.
    void *const mapped = mmap(nullptr, bytes_of_ring + bytes_of_all, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) {
        throw std::system_error(errno, std::generic_category(), "mmap");
    }
    free_ = static_cast<io_uring_buf_ring *>(mapped);
    memory_ = static_cast<std::byte *>(mapped) + bytes_of_ring;
    io_uring_buf_reg registration{};
    registration.ring_addr = reinterpret_cast<std::uintptr_t>(mapped);
    registration.ring_entries = count;
    registration.bgid = group;
    if (const int error = io_uring_register_buf_ring(&of.system(), &registration, 0); error < 0) {
        munmap(mapped, bytes_of_ring + bytes_of_all);
        throw std::system_error(-error, std::generic_category(), "io_uring_register_buf_ring");
    }
    io_uring_buf_ring_init(free_);
    for (std::uint16_t number = 0; number < count; ++number) {
        io_uring_buf_ring_add(free_, at(number), size, number, count - 1, number);
    }
    io_uring_buf_ring_advance(free_, count);
}

receive_buffers::~receive_buffers()
{
    munmap(free_, bytes_of_ring + bytes_of_all);
}

void receive_buffers::give_back(std::uint16_t number) noexcept
{
    io_uring_buf_ring_add(free_, at(number), size, number, count - 1, 0);
    io_uring_buf_ring_advance(free_, 1);
    --taken_;
}

void unread_input::append(receive_buffers &of, std::uint16_t number, std::size_t bytes) noexcept
{
    of.taken_buffers_[number].bytes = static_cast<std::uint16_t>(bytes);
    (empty() ? first_ : of.taken_buffers_[last_].next) = number;
    last_ = number;
    ++count_;
}

std::size_t unread_input::read(receive_buffers &of, std::span<std::byte> into) noexcept
{
    std::size_t read = 0;
    while (!empty() && read < into.size()) {
        const std::size_t left = of.taken_buffers_[first_].bytes - std::size_t{read_of_first_};
        const std::size_t now = std::min(left, into.size() - read);
        std::memcpy(into.data() + read, of.at(first_) + read_of_first_, now);
        read += now;
        if (now == left) {
            drop_first(of);
        } else {
            read_of_first_ = static_cast<std::uint16_t>(read_of_first_ + now);
        }
    }
    return read;
}

void unread_input::drop(receive_buffers &of) noexcept
{
    while (!empty()) {
        drop_first(of);
    }
}

void unread_input::drop_first(receive_buffers &of) noexcept
{
    const std::uint16_t number = first_;
    first_ = of.taken_buffers_[number].next;
    read_of_first_ = 0;
    --count_;
    of.give_back(number);
}

} // namespace flux
