#include "flux/io/descriptor_waits.hpp"

#include "flux/flow/flow.hpp"
#include "flux/io/interest.hpp"
#include "flux/io/park.hpp"
#include "flux/waiting/spin_lock.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <memory>
#include <mutex>
#include <new>
#include <unistd.h>
#include <utility>

namespace flux {
namespace {

/// Whose fibers wait.
std::atomic<pid_t> own_process{0};

} // namespace

/// One wait for one descriptor.
class descriptor_waits::waiting_one : public listed<waiting_one>
{
  public:
    descriptor_waits *of = nullptr;
    park *waiting = nullptr;
    awaited_descriptor on{-1, 0};
    // It has its event, or its descriptor is closed. From then on it is armed for nothing.
    bool ended = false;
    bool failed = false;

    void end() noexcept
    {
        ended = true;
        waiting->end(park_end::completed); // or it has ended already, by another descriptor or the time
    }
};

/// Waits whose descriptors have the same remainder. Only the loop of an entry puts it in and takes it out; any thread
/// may end it.
struct descriptor_waits::bucket {
    spin_lock lock;
    intrusive_list<waiting_one> entries;
};

descriptor_waits::bucket &descriptor_waits::bucket_of(int number) noexcept
{
    static constinit std::array<bucket, 64> buckets;
    return buckets[static_cast<unsigned>(number) % buckets.size()];
}

/// The entries of one call, from where they can be found until they cannot.
class descriptor_waits::entered
{
  public:
    explicit entered(std::span<waiting_one> all) noexcept : all_(all)
    {
        __atomic_fetch_add(&waiting_, static_cast<std::uint32_t>(all.size()), __ATOMIC_SEQ_CST);
        for (waiting_one &each : all) {
            bucket &home = bucket_of(each.on.number);
            const std::lock_guard alone(home.lock);
            home.entries.push_back(each);
        }
    }
    ~entered()
    {
        for (waiting_one &each : all_) {
            bucket &home = bucket_of(each.on.number);
            const std::lock_guard alone(home.lock);
            home.entries.remove(each);
        }
        __atomic_fetch_sub(&waiting_, static_cast<std::uint32_t>(all_.size()), __ATOMIC_SEQ_CST);
    }
    entered(const entered &) = delete;
    entered &operator=(const entered &) = delete;

  private:
    const std::span<waiting_one> all_;
};

int descriptor_waits::wait(std::span<const awaited_descriptor> on, moment deadline) noexcept
{
    if (const int error = begin(); error != 0) {
        return error;
    }
    std::array<waiting_one, 8> few;
    std::unique_ptr<waiting_one[]> more;
    std::span<waiting_one> entries = std::span(few).first(std::min(on.size(), few.size()));
    if (on.size() > few.size()) {
        more.reset(new (std::nothrow) waiting_one[on.size()]);
        if (more == nullptr) {
            return ENOMEM;
        }
        entries = {more.get(), on.size()};
    }
    park waiting(*running_flow);
    for (std::size_t each = 0; each < on.size(); ++each) {
        entries[each].of = this;
        entries[each].waiting = &waiting;
        entries[each].on = on[each];
    }
    int refused = 0;
    park_end end = park_end::completed;
    bool failed = false;
    {
        const entered found(entries);
        for (const waiting_one &each : entries) {
            refused = refused != 0 ? refused : arm(each.on.number);
        }
        if (refused != 0) {
            waiting.end(park_end::completed);
        }
        end = waiting.wait(deadline);
    }
    for (const waiting_one &each : entries) {
        failed = failed || each.failed;
    }
    return failed ? EBADF : refused != 0 ? refused : error_of(end);
}

bool descriptor_waits::is_own_process() noexcept
{
    return own_process.load() == getpid();
}

int descriptor_waits::begin() noexcept
{
    if (begun()) {
        return 0;
    }
    descriptor made(epoll_create1(EPOLL_CLOEXEC));
    if (made.get() < 0) {
        return errno;
    }
    std::swap(epoll_, made);
    own_process.store(getpid());
    const int error = join_loop();
    if (error != 0) {
        std::swap(epoll_, made);
    }
    return error;
}

// Has the kernel say when something happens that anybody waits for on this loop.
int descriptor_waits::arm(int number) noexcept
{
    epoll_event event{};
    event.data.fd = number;
    {
        bucket &home = bucket_of(number);
        const std::lock_guard alone(home.lock);
        for (const waiting_one *each = home.entries.first(); each != nullptr; each = home.entries.next(*each)) {
            const bool is_armed = each->of == this && each->on.number == number && !each->ended;
            event.events |= is_armed ? each->on.events | EPOLLRDHUP | EPOLLONESHOT : 0;
        }
    }
    if (event.events == 0) {
        return 0;
    }
    // It is there already if it was waited for before, and has not been closed since.
    if (epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, number, &event) == 0 ||
        (errno == ENOENT && epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, number, &event) == 0)) {
        return 0;
    }
    return errno == EPERM || errno == ELOOP || errno == EINVAL ? ENOTSUP : errno;
}

void descriptor_waits::deliver() noexcept
{
    std::array<epoll_event, 64> events;
    std::size_t count = events.size();
    while (count == events.size()) {
        const int found = wait_for_events(epoll_, events, moment::min());
        count = static_cast<std::size_t>(std::max(found, 0));
        for (std::size_t each = 0; each < count; ++each) {
            came(events[each].data.fd, events[each].events);
        }
    }
}

void descriptor_waits::came(int number, std::uint32_t events) noexcept
{
    bool some_wait_on = false;
    {
        bucket &home = bucket_of(number);
        const std::lock_guard alone(home.lock);
        for (waiting_one *each = home.entries.first(); each != nullptr; each = home.entries.next(*each)) {
            if (each->of != this || each->on.number != number || each->ended) {
                continue;
            }
            if ((events & (each->on.events | end_events)) != 0) {
                each->end();
            } else {
                some_wait_on = true;
            }
        }
    }
    if (some_wait_on) {
        arm(number); // where it fails it has been closed, and those that wait are woken for that
    }
}

void descriptor_waits::end_all(int number, bool failed) noexcept
{
    bucket &home = bucket_of(number);
    const std::lock_guard alone(home.lock);
    for (waiting_one *each = home.entries.first(); each != nullptr; each = home.entries.next(*each)) {
        if (each->on.number == number && !each->ended) {
            each->failed = failed;
            each->end();
        }
    }
}

void descriptor_waits::fail(int number) noexcept
{
    end_all(number, true);
}

void descriptor_waits::retry(int number) noexcept
{
    end_all(number, false);
}

} // namespace flux
