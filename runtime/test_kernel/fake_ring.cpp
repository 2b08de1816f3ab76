/// \file
/// The fake kernel's io_uring: operations that go on by themselves, and their results.
#include "fake_kernel.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>

namespace {

constexpr unsigned char code_of(int operation) noexcept
{
    return static_cast<unsigned char>(operation);
}

/// Results that are shown to the loop at once.
constexpr unsigned shown_results = 64;

} // namespace

int fake_kernel::make_ring(io_uring &ring, io_uring_params &)
{
    ring = {};
    entries_.assign(faults.submissions, {});
    shown_.assign(shown_results, {});
    ring.sq.khead = &submitted_head_;
    ring.sq.ktail = &submitted_tail_;
    ring.sq.kflags = &ring_flags_;
    ring.sq.kdropped = &dropped_;
    ring.sq.sqes = entries_.data();
    ring.sq.ring_mask = faults.submissions - 1;
    ring.sq.ring_entries = faults.submissions;
    ring.cq.khead = &result_head_;
    ring.cq.ktail = &result_tail_;
    ring.cq.koverflow = &dropped_;
    ring.cq.cqes = reinterpret_cast<io_uring_cqe *>(shown_.data());
    ring.cq.ring_mask = shown_results - 1;
    ring.cq.ring_entries = shown_results;
    return 0;
}

void fake_kernel::end_ring(io_uring &)
{
    operations_.clear();
    results_.clear();
}

int fake_kernel::add_buffers(const io_uring_buf_reg &registered)
{
    buffers_ = reinterpret_cast<io_uring_buf_ring *>(registered.ring_addr);
    buffer_count_ = static_cast<std::uint16_t>(registered.ring_entries);
    return 0;
}

std::size_t fake_kernel::buffers_in_use() const noexcept
{
    const auto free = static_cast<std::uint16_t>(buffers_ == nullptr ? 0 : buffers_->tail - buffers_taken_);
    return std::size_t{buffer_count_} - free;
}

int fake_kernel::submit(io_uring &ring)
{
    int count = 0;
    for (; submitted_head_ != ring.sq.sqe_tail; ++submitted_head_, ++count) {
        const io_uring_sqe &entry = entries_[submitted_head_ & ring.sq.ring_mask];
        entry.opcode == IORING_OP_ASYNC_CANCEL ? cancel(entry) : take(entry);
    }
    return count;
}

void fake_kernel::take(const io_uring_sqe &entry)
{
    operation made;
    made.user_data = entry.user_data;
    made.descriptor = entry.fd;
    made.code = entry.opcode;
    const auto found = files_.find(entry.fd);
    if (found == files_.end()) {
        return post(entry.user_data, -EBADF, 0);
    }
    made.of = found->second;
    switch (entry.opcode) {
    case IORING_OP_POLL_ADD:
        made.multishot = (entry.len & IORING_POLL_ADD_MULTI) != 0;
        made.events = entry.poll32_events & 0xffff;
        break;
    case IORING_OP_RECV:
        made.multishot = true;
        break;
    case IORING_OP_SENDMSG:
        made.message = reinterpret_cast<msghdr *>(entry.addr);
        break;
    case IORING_OP_SEND:
        made.whole = {reinterpret_cast<void *>(entry.addr), entry.len};
        break;
    case IORING_OP_CONNECT: {
        flux::address to;
        to.size = static_cast<socklen_t>(entry.off);
        std::memcpy(&to.storage, reinterpret_cast<const void *>(entry.addr), to.size);
        connect(entry.fd, to);
        break;
    }
    default:
        return post(entry.user_data, -EINVAL, 0);
    }
    operations_.push_back(std::move(made));
}

// It is a wish: what is done meanwhile is done.
void fake_kernel::cancel(const io_uring_sqe &entry)
{
    const bool any = (entry.cancel_flags & IORING_ASYNC_CANCEL_ANY) != 0;
    bool found = false;
    for (operation &each : operations_) {
        if (any || (!found && !each.cancelled && each.user_data == entry.addr)) {
            each.cancelled = true;
            found = true;
        }
    }
    if (!found) {
        post(entry.user_data, -ENOENT, 0);
    } else if ((entry.flags & IOSQE_CQE_SKIP_SUCCESS) == 0) {
        post(entry.user_data, 0, 0);
    }
}

void fake_kernel::post(std::uint64_t user_data, int value, std::uint32_t flags)
{
    results_.push_back({user_data, value, flags});
}

// Whether it is done.
bool fake_kernel::progress_poll(operation &on)
{
    const bool news = !on.looked || on.edges != on.of->edges;
    const std::uint32_t state = state_of(*on.of) & (on.events | EPOLLERR | EPOLLHUP);
    const bool spurious = on.of->is != kind::counter && happens(faults.spurious / 8);
    on.looked = true;
    on.edges = on.of->edges;
    if ((state == 0 || (on.multishot && !news)) && !spurious) {
        return false;
    }
    const bool goes_on = on.multishot && !happens(faults.last_results);
    post(on.user_data, static_cast<int>(state != 0 ? state : on.events), goes_on ? IORING_CQE_F_MORE : 0);
    return !goes_on;
}

bool fake_kernel::progress_receive(operation &on)
{
    if (!on.of->socket.open() || !on.of->socket.readable()) {
        return false;
    }
    const auto has_buffer = [this] { return buffers_taken_ != buffers_->tail; };
    if (!has_buffer() || happens(faults.no_buffers)) {
        post(on.user_data, -ENOBUFS, 0);
        return true;
    }
    const io_uring_buf &buffer = buffers_->bufs[buffers_taken_ % buffer_count_];
    const flux::simulated_work receiving(network_);
    auto *const memory = reinterpret_cast<std::byte *>(buffer.addr);
    const std::size_t count = on.of->socket.take({memory, buffer.len});
    const std::uint32_t with_buffer = std::uint32_t{buffer.bid} << IORING_CQE_BUFFER_SHIFT | IORING_CQE_F_BUFFER;
    if (count == 0) {
        const int error = on.of->socket.error();
        const bool takes_one = happens(faults.empty_buffers);
        buffers_taken_ = static_cast<std::uint16_t>(buffers_taken_ + (takes_one ? 1 : 0));
        post(on.user_data, error == ECONNRESET ? -ECONNRESET : 0, takes_one ? with_buffer : 0);
        return true;
    }
    ++buffers_taken_;
    const bool goes_on = !happens(faults.last_results);
    post(on.user_data, static_cast<int>(count), with_buffer | (goes_on ? IORING_CQE_F_MORE : 0));
    return !goes_on;
}

bool fake_kernel::is_send(const operation &each) noexcept
{
    return each.code == code_of(IORING_OP_SENDMSG) || each.code == code_of(IORING_OP_SEND);
}

bool fake_kernel::progress_send(operation &on)
{
    // All of it, if nothing comes between; a signal ends it in the middle, or before anything is sent.
    if (happens(faults.interrupts)) {
        post(on.user_data, on.done != 0 ? static_cast<int>(on.done) : -EINTR, 0);
        return true;
    }
    std::size_t before = on.done;
    const std::span<const iovec> parts = on.message != nullptr
                                             ? std::span<const iovec>(on.message->msg_iov, on.message->msg_iovlen)
                                             : std::span<const iovec>(&on.whole, 1);
    for (const iovec &part : parts) {
        if (before >= part.iov_len) {
            before -= part.iov_len;
            continue;
        }
        const iovec rest{static_cast<std::byte *>(part.iov_base) + before, part.iov_len - before};
        const ssize_t sent = on.of->socket.open() ? send(on.descriptor, {&rest, 1}) : -EPIPE;
        if (sent == -EAGAIN || sent == -EINTR) {
            return false;
        }
        if (sent < 0) {
            post(on.user_data, on.done != 0 ? static_cast<int>(on.done) : static_cast<int>(sent), 0);
            return true;
        }
        on.done += static_cast<std::size_t>(sent);
        if (static_cast<std::size_t>(sent) < rest.iov_len) {
            return false;
        }
        before = 0;
    }
    post(on.user_data, static_cast<int>(on.done), 0);
    return true;
}

bool fake_kernel::progress(operation &on)
{
    if (on.cancelled && !happens(300)) {
        post(on.user_data, on.done != 0 ? static_cast<int>(on.done) : -ECANCELED, 0);
        return true;
    }
    if (on.code == code_of(IORING_OP_POLL_ADD)) {
        return progress_poll(on);
    }
    if (on.code == code_of(IORING_OP_RECV)) {
        return progress_receive(on);
    }
    if (is_send(on)) {
        return progress_send(on);
    }
    if (on.of->connecting) {
        return false;
    }
    post(on.user_data, -std::exchange(on.of->error, 0), 0);
    return true;
}

// Whether anything goes on later.
bool fake_kernel::work(io_uring &)
{
    std::erase_if(operations_, [this](operation &each) {
        return (!happens(faults.late) || each.cancelled) && progress(each);
    });
    return !results_.empty();
}

// Whether there are results to be had.
bool fake_kernel::show(io_uring &)
{
    std::size_t given = 0;
    while (!results_.empty() && result_tail_ - result_head_ < shown_results && given < faults.most_at_once) {
        shown_[result_tail_ % shown_results] = results_.front();
        results_.pop_front();
        ++result_tail_;
        ++given;
    }
    ring_flags_ = results_.empty() ? 0 : IORING_SQ_CQ_OVERFLOW;
    return result_tail_ != result_head_;
}

int fake_kernel::wait_for_results(io_uring &ring, flux::moment until)
{
    const int count = submit(ring);
    if (happens(faults.interrupts / 2)) {
        step(true, until);
        return -EINTR;
    }
    // What comes late comes though nothing else does.
    const auto ready = [this](const operation &each) {
        if (each.cancelled) {
            return true;
        }
        const bool looks = each.code == code_of(IORING_OP_POLL_ADD)
                               ? (state_of(*each.of) & each.events) != 0 &&
                                     (!each.multishot || !each.looked || each.edges != each.of->edges)
                               : each.code == code_of(IORING_OP_RECV) && each.of->socket.open() &&
                                     each.of->socket.readable();
        const bool sends = is_send(each) && each.of->socket.open() && each.of->socket.writable();
        return looks || sends || (each.code == code_of(IORING_OP_CONNECT) && !each.of->connecting);
    };
    do {
        const bool has_results = work(ring) || result_tail_ != result_head_;
        step(has_results || std::ranges::any_of(operations_, ready), until);
        work(ring);
    } while (!show(ring) && now() < until);
    return count;
}

extern "C" {

int io_uring_queue_init_params(unsigned, io_uring *ring, io_uring_params *with)
{
    fake_kernel *const own = fake_kernel::of_thread();
    return own != nullptr ? own->make_ring(*ring, *with) : -ENOSYS;
}

void io_uring_queue_exit(io_uring *ring)
{
    fake_kernel::of_process()->end_ring(*ring);
}

int io_uring_enable_rings(io_uring *)
{
    return 0;
}

int io_uring_register_ring_fd(io_uring *)
{
    return 1;
}

int io_uring_register_buf_ring(io_uring *, io_uring_buf_reg *registered, unsigned)
{
    return fake_kernel::of_process()->add_buffers(*registered);
}

int io_uring_submit(io_uring *ring)
{
    return fake_kernel::of_process()->submit(*ring);
}

int io_uring_submit_and_wait(io_uring *ring, unsigned)
{
    return fake_kernel::of_process()->wait_for_results(*ring, flux::never);
}

int io_uring_submit_and_get_events(io_uring *ring)
{
    return fake_kernel::of_process()->wait_for_results(*ring, flux::moment::min());
}

int io_uring_submit_and_wait_timeout(io_uring *ring, io_uring_cqe **, unsigned, __kernel_timespec *longest, sigset_t *)
{
    const auto time = std::chrono::seconds(longest->tv_sec) + std::chrono::nanoseconds(longest->tv_nsec);
    fake_kernel &own = *fake_kernel::of_process();
    return own.wait_for_results(*ring, own.now() + time);
}

} // extern "C"
