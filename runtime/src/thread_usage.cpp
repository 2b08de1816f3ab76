#include "flux/thread_usage.hpp"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

namespace flux {
namespace {

/// The beginning of a small file, with a zero behind it; empty where it cannot be read.
using file_start = std::array<char, 256>;

file_start read_file_of_thread(pid_t thread, const char *name) noexcept
{
    file_start content{};
    char path[64];
    std::snprintf(path, sizeof path, "/proc/self/task/%d/%s", thread, name);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        [[maybe_unused]] const ssize_t size = read(file, content.data(), content.size() - 1);
        close(file);
    }
    return content;
}

// S is a sleep that signals end, D one that they do not.
bool is_asleep(pid_t thread) noexcept
{
    const file_start stat = read_file_of_thread(thread, "stat");
    // The thread's name stands before, in parentheses, and may have any characters.
    const char *const name_end = std::strrchr(stat.data(), ')');
    return name_end != nullptr && (name_end[2] == 'S' || name_end[2] == 'D');
}

std::chrono::nanoseconds time_in_queue(pid_t thread) noexcept
{
    const file_start schedstat = read_file_of_thread(thread, "schedstat");
    std::int64_t waited_ns = 0;
    std::sscanf(schedstat.data(), "%*d %" SCNd64, &waited_ns);
    return std::chrono::nanoseconds(waited_ns);
}

} // namespace

watched_thread watched_thread::calling() noexcept
{
    watched_thread made;
    made.number_ = gettid();
    pthread_getcpuclockid(pthread_self(), &made.clock_);
    return made;
}

thread_usage watched_thread::usage() const noexcept
{
    thread_usage seen;
    // In this order: whatever comes between makes it seem to sleep for less.
    seen.asleep = is_asleep(number_);
    std::timespec computed{};
    clock_gettime(clock_, &computed);
    seen.computed = std::chrono::seconds(computed.tv_sec) + std::chrono::nanoseconds(computed.tv_nsec);
    seen.queued = time_in_queue(number_);
    return seen;
}

void own_time::add(const thread_usage &seen, moment at) noexcept
{
    const std::chrono::nanoseconds computed = seen.computed - last_.computed;
    const std::chrono::nanoseconds queued = seen.queued - last_.queued;
    computed_ += computed;
    if (seen.asleep) {
        slept_ += std::max(at - last_at_ - computed - queued, clock::duration::zero());
    }
    last_ = seen;
    last_at_ = at;
}

} // namespace flux
