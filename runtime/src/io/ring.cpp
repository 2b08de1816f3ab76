#include "flux/io/ring.hpp"

#include "flux/flow/flow.hpp"
#include "flux/io/park.hpp"
#include "flux/waiting/waiter.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace flux {
namespace {

/// More than flows ask for in one turn: when it is full, it is submitted at once.
constexpr unsigned submissions = 512;
/// What is in flight may complete all at once; what is more waits in the kernel, at a price.
constexpr unsigned completions = 4096;

} // namespace

ring::ring()
{
    io_uring_params parameters{};
    // Disabled, as it belongs to the thread that enables it.
    parameters.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_TASKRUN_FLAG |
                       IORING_SETUP_R_DISABLED | IORING_SETUP_CQSIZE;
    parameters.cq_entries = completions;
    if (const int made = io_uring_queue_init_params(submissions, &ring_, &parameters); made < 0) {
        throw std::system_error(-made, std::generic_category(), "io_uring_setup");
    }
}

ring::~ring()
{
    io_uring_queue_exit(&ring_);
}

void ring::begin() noexcept
{
    if (owner_ == std::thread::id{}) {
        owner_ = std::this_thread::get_id();
        io_uring_enable_rings(&ring_);
        // It saves a look at the table of files in each call, and all works without.
        io_uring_register_ring_fd(&ring_);
    }
}

io_uring_sqe &ring::next_entry() noexcept
{
    while (true) {
        if (io_uring_sqe *const entry = io_uring_get_sqe(&ring_)) {
            return *entry;
        }
        // It is full. The kernel takes all, unless it has no memory left for any: then nothing else can be done either.
        flush();
    }
}

void ring::cancel(submission &of) noexcept
{
    io_uring_sqe &entry = next_entry();
    io_uring_prep_cancel(&entry, &of, 0);
    // It has a result of its own only where it came too late, which is nobody's.
    io_uring_sqe_set_flags(&entry, IOSQE_CQE_SKIP_SUCCESS);
    io_uring_sqe_set_data(&entry, nullptr);
}

void ring::abandon(std::unique_ptr<submission> orphan) noexcept
{
    if (!orphan->in_flight()) {
        return;
    }
    cancel(*orphan);
    adopt(std::move(orphan));
}

void ring::release(std::unique_ptr<submission> orphan) noexcept
{
    if (orphan->in_flight()) {
        orphan->released_ = true;
        ++released_;
        adopt(std::move(orphan));
    }
}

void ring::adopt(std::unique_ptr<submission> orphan) noexcept
{
    submission &kept = *orphan.release();
    kept.orphan_ = true;
    kept.next_ = orphans_;
    if (orphans_ != nullptr) {
        orphans_->previous_ = &kept;
    }
    orphans_ = &kept;
}

void ring::free_orphan(submission &orphan) noexcept
{
    (orphan.previous_ == nullptr ? orphans_ : orphan.previous_->next_) = orphan.next_;
    if (orphan.next_ != nullptr) {
        orphan.next_->previous_ = orphan.previous_;
    }
    released_ -= orphan.released_ ? 1 : 0;
    delete &orphan;
}

void ring::finish() noexcept
{
    const moment until = clock::now() + std::chrono::seconds(1);
    do {
        wait(released_ == 0 ? moment::min() : until);
        deliver();
    } while (released_ != 0 && clock::now() < until);
}

void ring::wait(moment until) noexcept
{
    begin();
    if (until == never) {
        io_uring_submit_and_wait(&ring_, 1);
        return;
    }
    const auto time = until == moment::min() ? clock::duration::zero() : until - clock::now();
    if (time > clock::duration::zero()) {
        const std::timespec remaining = timespec_of(time);
        __kernel_timespec longest{remaining.tv_sec, remaining.tv_nsec};
        io_uring_cqe *first = nullptr;
        io_uring_submit_and_wait_timeout(&ring_, &first, 1, &longest, nullptr);
        return;
    }
    // The kernel says in shared memory whether it is worth a call.
    constexpr unsigned waits_for_us = IORING_SQ_TASKRUN | IORING_SQ_CQ_OVERFLOW;
    if (io_uring_sq_ready(&ring_) != 0 || (IO_URING_READ_ONCE(*ring_.sq.kflags) & waits_for_us) != 0) {
        io_uring_submit_and_get_events(&ring_);
    }
}

void ring::flush() noexcept
{
    begin();
    io_uring_submit(&ring_);
}

void ring::deliver() noexcept
{
    unsigned head = 0;
    unsigned count = 0;
    io_uring_cqe *each = nullptr;
    io_uring_for_each_cqe(&ring_, head, each)
    {
        ++count;
        auto *const of = static_cast<submission *>(io_uring_cqe_get_data(each));
        if (of == nullptr) {
            continue;
        }
        of->in_flight_ = (each->flags & IORING_CQE_F_MORE) != 0;
        const bool is_last = !of->in_flight_;
        in_flight_ -= is_last ? 1 : 0;
        // It may submit itself again, or, where nobody owns it any more, be gone.
        const bool orphan = of->orphan_;
        of->came(each->res, each->flags);
        if (orphan && is_last) {
            free_orphan(*of);
        }
    }
    io_uring_cq_advance(&ring_, count);
}

void ring::close() noexcept
{
    begin();
    if (owner_ != std::this_thread::get_id()) {
        // With its thread the kernel has ended all operations, and the registration of the ring.
        ring_.int_flags = 0;
        in_flight_ = 0;
    }
    if (in_flight_ != 0) {
        io_uring_sqe &entry = next_entry();
        io_uring_prep_cancel(&entry, nullptr, IORING_ASYNC_CANCEL_ANY);
        io_uring_sqe_set_data(&entry, nullptr);
    }
    while (in_flight_ != 0) {
        wait(never);
        deliver();
    }
    while (orphans_ != nullptr) {
        free_orphan(*orphans_);
    }
}

int operation::wait(ring &through, moment deadline) noexcept
{
    park waiting(*running_flow);
    park_ = &waiting;
    error_ = error_of(waiting.wait(deadline));
    park_ = nullptr;
    if (in_flight()) {
        through.cancel(*this);
        last_ = &running_flow->place();
        last_->wait();
    }
    return result_;
}

void operation::came(int result, std::uint32_t) noexcept
{
    result_ = result;
    if (park_ != nullptr) {
        park_->end(park_end::completed);
    } else if (last_ != nullptr) {
        last_->wake();
    }
}

} // namespace flux
