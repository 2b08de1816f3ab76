// Cases in which threads wait for each other: here they are flows, beside threads of the node's own.
#include "cases.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <thread>

namespace {

using namespace std::chrono_literals;

/// Those who are somewhere.
class crowd
{
  public:
    /// Is there for so long: the most that are there with it, itself included.
    int stay(std::chrono::milliseconds time)
    {
        const int before = ++inside_;
        std::this_thread::sleep_for(time);
        return std::max(before, inside_--);
    }

  private:
    std::atomic<int> inside_{0};
};

std::string alone_in(int most)
{
    return most == 1 ? "alone" : "not alone";
}

std::string in_lock()
{
    static std::mutex lock;
    static crowd inside;
    const std::lock_guard alone(lock);
    return alone_in(inside.stay(75ms));
}

std::string in_recursive_lock()
{
    static std::recursive_mutex lock;
    static crowd inside;
    const std::lock_guard alone(lock);
    const int most = inside.stay(40ms);
    const std::lock_guard again(lock);
    return alone_in(std::max(most, inside.stay(35ms)));
}

std::string in_shared_lock()
{
    static std::shared_mutex lock;
    static std::atomic<int> readers{0};
    static crowd writers;
    {
        const std::shared_lock together(lock);
        ++readers;
        std::this_thread::sleep_for(100ms);
        --readers;
    }
    const std::unique_lock alone(lock);
    const bool some_read = readers != 0;
    return some_read ? "not alone" : alone_in(writers.stay(50ms));
}

/// Another thread, which does this late.
template <class Action>
std::jthread late(Action action)
{
    return std::jthread([=] {
        std::this_thread::sleep_for(300ms);
        action();
    });
}

std::string condition()
{
    std::mutex lock;
    std::condition_variable signalled;
    bool is_so = false;
    std::atomic<bool> has_looked = false;
    const std::jthread other = late([&] {
        has_looked.wait(false);
        const std::lock_guard alone(lock);
        is_so = true;
        signalled.notify_one();
    });
    std::unique_lock guard(lock);
    const bool in_no_time = signalled.wait_for(guard, 20ms, [&] { return is_so; });
    has_looked = true;
    has_looked.notify_one();
    signalled.wait(guard, [&] { return is_so; });
    return in_no_time ? "too soon" : "signalled";
}

std::string semaphore()
{
    static std::counting_semaphore<2> places(2);
    static crowd inside;
    places.acquire();
    const int most = inside.stay(150ms);
    places.release();
    return most <= 2 ? "at most 2" : "too many";
}

std::string atomic_wait()
{
    std::atomic<int> number{0};
    const std::jthread other = late([&] {
        number = 7;
        number.notify_all();
    });
    number.wait(0);
    return std::to_string(number);
}

std::string future()
{
    std::future<int> later = std::async(std::launch::async, [] {
        std::this_thread::sleep_for(300ms);
        return 7;
    });
    return std::to_string(later.get());
}

std::string once()
{
    static std::once_flag is_done;
    static std::atomic<int> times{0};
    std::call_once(is_done, [] {
        std::this_thread::sleep_for(300ms);
        ++times;
    });
    return times == 1 ? "once" : "not once";
}

std::string static_variable()
{
    static std::atomic<int> times{0};
    static const int value = [] {
        std::this_thread::sleep_for(300ms);
        return ++times;
    }();
    return value == 1 && times == 1 ? "once" : "not once";
}

} // namespace

case_map lock_cases()
{
    return {
        {"mutex", in_lock},
        {"recursive", in_recursive_lock},
        {"shared", in_shared_lock},
        {"condition", condition},
        {"semaphore", semaphore},
        {"atomic", atomic_wait},
        {"future", future},
        {"once", once},
        {"static", static_variable},
    };
}
