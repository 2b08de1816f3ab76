#include "flux/calls/polls.hpp"

#include "flux/calls/caught_call.hpp"
#include "flux/flow/flow.hpp"
#include "flux/io/descriptor_waits.hpp"
#include "flux/io/loop_io.hpp"
#include "flux/io/loop_owned.hpp"
#include "flux/sleep.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <new>
#include <sys/epoll.h>
#include <sys/select.h>
#include <vector>

namespace flux::calls {
namespace {

/// When a wait of so long is over; never where there is no limit.
moment until_of(const timespec *longest) noexcept
{
    if (longest == nullptr) {
        return never;
    }
    constexpr std::time_t most = std::chrono::seconds(std::chrono::hours(24 * 365 * 100)).count();
    return io_of_running_loop->now() + std::chrono::seconds(std::min(longest->tv_sec, most)) +
           std::chrono::nanoseconds(longest->tv_nsec);
}

/// The same of milliseconds; a negative number is no limit.
moment until_of(int longest_ms) noexcept
{
    return longest_ms < 0 ? never : io_of_running_loop->now() + std::chrono::milliseconds(longest_ms);
}

/// Calls `look()`, which asks the kernel without waiting, until it finds something or fails, or the time is over;
/// `await()` waits in between. Where the kernel cannot say when to look again, one looks each millisecond.
template <class Look, class Await>
int look_until(moment until, Look look, Await await)
{
    const int before = errno;
    while (true) {
        const int found = look();
        if (found != 0 || (until != never && io_of_running_loop->now() >= until)) {
            return found;
        }
        int error = await();
        if (error != 0 && error != EBADF && error != ETIMEDOUT && error != ECANCELED) {
            error = flux::sleep_until(std::min(until, io_of_running_loop->now() + std::chrono::milliseconds(1)));
        }
        const bool is_over = error == ETIMEDOUT && until <= running_flow->deadline();
        if (error == ECANCELED || (error == ETIMEDOUT && !is_over)) {
            errno = error;
            return -1;
        }
        errno = before;
    }
}

} // namespace

int await_events(std::span<const pollfd> on, moment until) noexcept
{
    descriptor_waits *const waits = io_of_running_loop->descriptors();
    if (waits == nullptr) {
        return ENOTSUP;
    }
    try {
        std::vector<awaited_descriptor> awaited;
        awaited.reserve(on.size());
        for (const pollfd &each : on) {
            if (each.fd >= 0) {
                awaited.push_back({each.fd, static_cast<std::uint32_t>(each.events)});
            }
        }
        return waits->wait(awaited, until);
    } catch (const std::bad_alloc &) {
        return ENOMEM;
    }
}

} // namespace flux::calls

FLUX_CATCH(int, poll, pollfd *on, nfds_t count, int longest_ms)
{
    using namespace flux::calls;
    if (!on_fiber() || longest_ms == 0) {
        return next_poll(on, count, longest_ms);
    }
    const flux::moment until = until_of(longest_ms);
    return look_until(
        until, [&] { return next_poll(on, count, 0); }, [&] { return await_events({on, count}, until); });
}

FLUX_CATCH(int, __poll_chk, pollfd *on, nfds_t count, int longest_ms, std::size_t room)
{
    return count <= room / sizeof *on ? flux_call_poll(on, count, longest_ms)
                                      : next___poll_chk(on, count, longest_ms, room);
}

FLUX_CATCH(int, ppoll, pollfd *on, nfds_t count, const timespec *longest, const sigset_t *mask)
{
    using namespace flux::calls;
    if (!on_fiber()) {
        return next_ppoll(on, count, longest, mask);
    }
    const flux::moment until = until_of(longest);
    const timespec none{};
    return look_until(
        until, [&] { return next_ppoll(on, count, &none, mask); }, [&] { return await_events({on, count}, until); });
}

FLUX_CATCH(int, __ppoll_chk, pollfd *on, nfds_t count, const timespec *longest, const sigset_t *mask, std::size_t room)
{
    return count <= room / sizeof *on ? flux_call_ppoll(on, count, longest, mask)
                                      : next___ppoll_chk(on, count, longest, mask, room);
}

namespace flux::calls {
namespace {

/// Sets of descriptors as select(2) has them: bits, as many as the program says, which may be more than FD_SETSIZE.
class descriptor_sets
{
  public:
    descriptor_sets(int count, fd_set *read, fd_set *write, fd_set *except)
        : count_(static_cast<std::size_t>(std::max(count, 0))), sets_{read, write, except}
    {
        constexpr short events[] = {POLLIN, POLLOUT, POLLPRI};
        for (std::size_t number = 0; number < count_; ++number) {
            pollfd one{static_cast<int>(number), 0, 0};
            for (std::size_t set = 0; set < 3; ++set) {
                one.events = static_cast<short>(one.events | (has(set, number) ? events[set] : 0));
            }
            if (one.events != 0) {
                asked_.push_back(one);
            }
        }
        for (std::size_t set = 0; set < 3; ++set) {
            if (sets_[set] != nullptr) {
                saved_[set].assign(words(set), words(set) + word_count());
            }
        }
    }

    std::span<const pollfd> asked() const noexcept { return asked_; }

    /// As the program has given them.
    void restore() noexcept
    {
        for (std::size_t set = 0; set < 3; ++set) {
            std::copy(saved_[set].begin(), saved_[set].end(), words(set));
        }
    }

  private:
    static constexpr std::size_t word_bits = 8 * sizeof(fd_mask);

    std::size_t word_count() const noexcept { return (count_ + word_bits - 1) / word_bits; }
    fd_mask *words(std::size_t set) const noexcept { return reinterpret_cast<fd_mask *>(sets_[set]); }
    bool has(std::size_t set, std::size_t number) const noexcept
    {
        return sets_[set] != nullptr &&
               ((static_cast<unsigned long>(words(set)[number / word_bits]) >> number % word_bits) & 1) != 0;
    }

    const std::size_t count_;
    fd_set *const sets_[3];
    std::vector<fd_mask> saved_[3];
    std::vector<pollfd> asked_;
};

/// The sets of a call.
struct asked_sets {
    int count;
    fd_set *read;
    fd_set *write;
    fd_set *except;
};

/// `look()` is select(2) that does not wait; it changes the sets.
template <class Look>
int select_until(moment until, const asked_sets &asked, Look look)
{
    try {
        descriptor_sets sets(asked.count, asked.read, asked.write, asked.except);
        const auto look_again = [&] {
            sets.restore();
            return look();
        };
        return look_until(until, look_again, [&] { return await_events(sets.asked(), until); });
    } catch (const std::bad_alloc &) {
        errno = ENOMEM;
        return -1;
    }
}

bool is_time_limit(const timeval *longest) noexcept
{
    return longest == nullptr || (longest->tv_sec >= 0 && longest->tv_usec >= 0);
}

} // namespace
} // namespace flux::calls

FLUX_CATCH(int, select, int count, fd_set *read, fd_set *write, fd_set *except, timeval *longest)
{
    using namespace flux::calls;
    if (!on_fiber() || !is_time_limit(longest)) {
        return next_select(count, read, write, except, longest);
    }
    const timespec time = longest != nullptr ? timespec{longest->tv_sec, longest->tv_usec * 1'000} : timespec{};
    const flux::moment until = until_of(longest != nullptr ? &time : nullptr);
    const int found = select_until(until, {count, read, write, except}, [&] {
        timeval none{};
        return next_select(count, read, write, except, &none);
    });
    if (longest != nullptr) { // Linux says what is left of it
        const timespec left =
            flux::timespec_of(std::max(until - flux::io_of_running_loop->now(), flux::clock::duration::zero()));
        *longest = {left.tv_sec, left.tv_nsec / 1'000};
    }
    return found;
}

FLUX_CATCH(int, pselect, int count, fd_set *read, fd_set *write, fd_set *except, const timespec *longest,
           const sigset_t *mask)
{
    using namespace flux::calls;
    if (!on_fiber()) {
        return next_pselect(count, read, write, except, longest, mask);
    }
    const flux::moment until = until_of(longest);
    const timespec none{};
    return select_until(until, {count, read, write, except},
                        [&] { return next_pselect(count, read, write, except, &none, mask); });
}

namespace flux::calls {
namespace {

/// `look()` is epoll_wait(2) that does not wait. An instance of epoll is a descriptor like others.
template <class Look>
int look_at_epoll(int epoll, moment until, Look look)
{
    const pollfd one{epoll, POLLIN, 0};
    return look_until(until, look, [&] { return await_events({&one, 1}, until); });
}

} // namespace
} // namespace flux::calls

FLUX_CATCH(int, epoll_wait, int epoll, epoll_event *events, int most, int longest_ms)
{
    using namespace flux::calls;
    return on_fiber() && longest_ms != 0
               ? look_at_epoll(epoll, until_of(longest_ms), [&] { return next_epoll_wait(epoll, events, most, 0); })
               : next_epoll_wait(epoll, events, most, longest_ms);
}

FLUX_CATCH(int, epoll_pwait, int epoll, epoll_event *events, int most, int longest_ms, const sigset_t *mask)
{
    using namespace flux::calls;
    return on_fiber() && longest_ms != 0
               ? look_at_epoll(epoll, until_of(longest_ms),
                               [&] { return next_epoll_pwait(epoll, events, most, 0, mask); })
               : next_epoll_pwait(epoll, events, most, longest_ms, mask);
}

FLUX_CATCH(int, epoll_pwait2, int epoll, epoll_event *events, int most, const timespec *longest, const sigset_t *mask)
{
    using namespace flux::calls;
    const timespec none{};
    return on_fiber()
               ? look_at_epoll(epoll, until_of(longest),
                               [&] { return next_epoll_pwait2(epoll, events, most, &none, mask); })
               : next_epoll_pwait2(epoll, events, most, longest, mask);
}
