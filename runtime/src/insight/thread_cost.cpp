#include "flux/insight/thread_cost.hpp"

#include "flux/processor_use.hpp"
#include "flux/strategy/thread_stacks.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <map>
#include <memory>
#include <sched.h>
#include <thread>
#include <time.h>

namespace flux {
namespace {

using namespace std::chrono_literals;

constexpr int threads_at_once = 4;
constexpr int thread_batches = 6;
constexpr auto each_thread_works = 50us; // so that several are there at once
constexpr auto until_threads_end = 1ms;  // the kernel goes on with them after they have left

std::chrono::nanoseconds time_of_clock(clockid_t clock) noexcept
{
    timespec time = {};
    clock_gettime(clock, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

/// What each thread of the process has had of processors, by its number.
std::map<pid_t, std::chrono::nanoseconds> had_by_threads()
{
    std::map<pid_t, std::chrono::nanoseconds> had;
    const std::unique_ptr<DIR, int (*)(DIR *)> all(opendir("/proc/self/task"), closedir);
    while (const dirent *const entry = all ? readdir(all.get()) : nullptr) {
        pid_t thread = 0;
        const char *const name = entry->d_name;
        if (std::from_chars(name, name + std::strlen(name), thread).ec == std::errc{}) {
            // The clock of a thread, as pthread_getcpuclockid() makes it of its number.
            had[thread] = time_of_clock(static_cast<clockid_t>(~static_cast<unsigned>(thread) << 3 | 6));
        }
    }
    return had;
}

/// Makes threads that do no more than use some stack, allocate something, and compute.
class thread_maker
{
  public:
    explicit thread_maker(thread_stacks &stacks) : stacks_(stacks) {}

    /// So many at once.
    void make_some() noexcept
    {
        for (int number = 0; number < threads_at_once; ++number) {
            running_.fetch_add(1, std::memory_order_relaxed);
            if (stacks_.start(work, this) == 0) {
                ++made_;
            } else {
                running_.fetch_sub(1, std::memory_order_relaxed);
            }
        }
        while (const int some = running_.load(std::memory_order_acquire)) {
            running_.wait(some, std::memory_order_acquire);
        }
    }

    std::int64_t made() const noexcept { return made_; }
    std::chrono::nanoseconds worked() const noexcept { return std::chrono::nanoseconds(worked_ns_.load()); }

  private:
    static void *work(void *of) noexcept
    {
        thread_maker &by = *static_cast<thread_maker *>(of);
        volatile char page_and_more[8192];
        page_and_more[0] = 1;
        page_and_more[sizeof page_and_more - 1] = 1;
        void *volatile some = std::malloc(64);
        std::free(some);
        const std::chrono::nanoseconds before = processor_use::time_of_thread();
        const auto until = std::chrono::steady_clock::now() + each_thread_works;
        while (std::chrono::steady_clock::now() < until) {
        }
        by.worked_ns_ += std::chrono::nanoseconds(processor_use::time_of_thread() - before).count();
        by.stacks_.leave();
        if (by.running_.fetch_sub(1, std::memory_order_release) == 1) {
            by.running_.notify_one();
        }
        return nullptr;
    }

    thread_stacks &stacks_;
    std::atomic<int> running_{0};
    std::atomic<std::int64_t> worked_ns_{0};
    std::int64_t made_ = 0;
};

void keep_on_one_processor() noexcept
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(sched_getcpu()), &one);
    sched_setaffinity(0, sizeof one, &one);
}

void make_by(std::array<thread_maker, 2> &makers, std::size_t count, int batches)
{
    std::array<std::jthread, 2> running;
    for (std::size_t number = 0; number < count; ++number) {
        running[number] = std::jthread([&made_by = makers[number], count, batches] {
            if (count == 1) {
                keep_on_one_processor();
            }
            for (int batch = 0; batch < batches; ++batch) {
                made_by.make_some();
            }
        });
    }
}

/// What a thread takes where so many make some at the same time; those of a single maker are on one processor.
std::chrono::nanoseconds measured_with(std::size_t count)
{
    thread_stacks stacks;
    std::array<thread_maker, 2> warm{thread_maker(stacks), thread_maker(stacks)};
    make_by(warm, count, 1);
    std::array<thread_maker, 2> makers{thread_maker(stacks), thread_maker(stacks)};
    const auto before = had_by_threads();
    std::chrono::nanoseconds used = -time_of_clock(CLOCK_PROCESS_CPUTIME_ID);
    make_by(makers, count, thread_batches);
    const timespec rest{0, std::chrono::nanoseconds(until_threads_end).count()};
    nanosleep(&rest, nullptr);
    used += time_of_clock(CLOCK_PROCESS_CPUTIME_ID);
    const auto after = had_by_threads();
    stacks.join(); // no thread names its maker from now on
    for (const auto &[thread, time] : before) {
        const auto found = after.find(thread);
        if (found == after.end()) {
            return 0ns;
        }
        used -= found->second - time;
    }
    std::int64_t made = 0;
    for (const thread_maker &one : makers) {
        used -= one.worked();
        made += one.made();
    }
    return made == 0 ? 0ns : std::max<std::chrono::nanoseconds>(0ns, used / made);
}

} // namespace

thread_cost thread_cost::measured() noexcept
try {
    cpu_set_t processors;
    CPU_ZERO(&processors);
    sched_getaffinity(0, sizeof processors, &processors);
    return {measured_with(1), CPU_COUNT(&processors) > 1 ? measured_with(2) : 0ns};
} catch (const std::exception &) { // no memory, or no thread
    return {};
}

} // namespace flux
