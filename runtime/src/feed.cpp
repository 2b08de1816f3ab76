#include "flux/feed.hpp"

#include "flux/flow/flow.hpp"
#include "flux/io/park.hpp"
#include "flux/sleep.hpp"

#include <cerrno>
#include <map>
#include <new>
#include <utility>

namespace flux {
namespace {

/// A client that has taken nothing is tried again after so long.
constexpr std::chrono::milliseconds patience{10};

} // namespace

bool feed::put(std::string_view bytes) noexcept
{
    const std::lock_guard alone(lock_);
    if (through_ == nullptr || is_cut_) {
        return false;
    }
    is_cut_ = waiting_.size() - sent_ + bytes.size() > most_ || !keep(bytes);
    if (!std::exchange(is_listed_, true)) {
        by_.list(shared_from_this());
    }
    return !is_cut_;
}

bool feed::is_open() const noexcept
{
    const std::lock_guard alone(lock_);
    return through_ != nullptr && !is_cut_;
}

// False where there is no memory.
bool feed::keep(std::string_view bytes) noexcept
{
    try {
        waiting_.append(bytes);
        return true;
    } catch (const std::bad_alloc &) {
        return false;
    }
}

void feed::drain() noexcept
{
    if (through_ == nullptr) {
        return;
    }
    if (is_cut_) {
        through_->cut();
        std::string().swap(waiting_);
        sent_ = 0;
        return;
    }
    while (sent_ != waiting_.size()) {
        const std::size_t count = through_->send_at_once(std::string_view(waiting_).substr(sent_));
        if (count == 0) {
            break;
        }
        sent_ += count;
    }
    if (sent_ == waiting_.size()) {
        // A client that is up to date costs no memory.
        waiting_.capacity() > 4096 ? std::string().swap(waiting_) : waiting_.clear();
        sent_ = 0;
    } else if (sent_ > waiting_.size() / 2) {
        waiting_.erase(0, sent_);
        sent_ = 0;
    }
}

void feed::send_at_once() noexcept
{
    const std::lock_guard alone(lock_);
    drain();
}

// Sends what goes; whether anything waits then. If so, it stays listed.
bool feed::is_behind() noexcept
{
    const std::lock_guard alone(lock_);
    drain();
    is_listed_ = through_ != nullptr && !waiting_.empty();
    return is_listed_;
}

io_result<void> feed::send(std::span<const iovec> parts, moment deadline) noexcept
{
    while (true) {
        {
            const std::lock_guard alone(lock_);
            if (is_cut_) {
                return unexpected(ECONNRESET);
            }
            drain();
            if (waiting_.size() - sent_ <= most_) {
                for (const iovec &each : parts) {
                    if (!keep({static_cast<const char *>(each.iov_base), each.iov_len})) {
                        is_cut_ = true;
                        return unexpected(ENOMEM);
                    }
                }
                drain();
                if (!waiting_.empty() && !std::exchange(is_listed_, true)) {
                    by_.list(shared_from_this());
                }
                return {};
            }
        }
        const moment next = running_io().now() + patience;
        if (next > deadline) {
            return unexpected(ETIMEDOUT);
        }
        if (const int error = sleep_until(next); error != 0) {
            return unexpected(error);
        }
    }
}

void feed::end() noexcept
{
    const std::lock_guard alone(lock_);
    through_ = nullptr;
    std::string().swap(waiting_);
    sent_ = 0;
}

feeds &feeds::of_running_io()
{
    static std::mutex opening;
    static auto &all = *new std::map<const io *, feeds>;
    const std::lock_guard alone(opening);
    return all[&running_io()];
}

void feeds::list(std::shared_ptr<feed> one) noexcept
{
    const std::lock_guard alone(lock_);
    try {
        listed_.push_back(std::move(one));
    } catch (const std::bad_alloc &) {
        return; // it is sent with what its own flow sends next
    }
    if (waits_ != nullptr) {
        std::exchange(waits_, nullptr)->end(park_end::completed);
    }
}

// Until something is listed: 0, ETIMEDOUT or ECANCELED.
int feeds::wait(moment until) noexcept
{
    std::unique_lock alone(lock_);
    if (!listed_.empty()) {
        return 0;
    }
    park own(*running_flow);
    waits_ = &own;
    alone.unlock();
    const int error = error_of(own.wait(until));
    // Whoever ends the park has the lock, so it exists as long as it is touched.
    alone.lock();
    waits_ = nullptr;
    return error;
}

void feeds::deliver_to(std::vector<std::shared_ptr<feed>> &some, std::vector<std::shared_ptr<feed>> &behind) noexcept
{
    for (std::shared_ptr<feed> &each : some) {
        if (each->is_behind()) {
            behind.push_back(std::move(each));
        }
    }
    some.clear();
}

int feeds::deliver() noexcept
{
    std::vector<std::shared_ptr<feed>> fresh;
    std::vector<std::shared_ptr<feed>> behind;
    std::vector<std::shared_ptr<feed>> still_behind;
    moment try_again = never;
    while (true) {
        const int waited = wait(try_again);
        const int error = waited == ECANCELED ? waited : within_io_budget();
        if (error == ECANCELED) {
            return error;
        }
        spend_io_budget(0);
        {
            const std::lock_guard alone(lock_);
            fresh.swap(listed_);
        }
        deliver_to(fresh, behind);
        if (running_io().now() >= try_again) {
            try_again = never;
            deliver_to(behind, still_behind);
            behind.swap(still_behind);
        }
        if (!behind.empty() && try_again == never) {
            try_again = running_io().now() + patience;
        }
    }
}

} // namespace flux
