/// \file
/// A thread of a test that is known to wait in the kernel: for what waits without a place that a test can see.
#pragma once

#include "patience.hpp"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/types.h>
#include <thread>
#include <unistd.h>
#include <utility>

/// Whether this thread sleeps in the kernel: a test of any process may ask (proc_pid_stat(5)).
inline bool is_asleep(pid_t process, pid_t thread)
{
    std::ifstream file("/proc/" + std::to_string(process) + "/task/" + std::to_string(thread) + "/stat");
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    const std::size_t name_end = text.rfind(')');
    return name_end != std::string::npos && text.compare(name_end, 4, ") S ") == 0;
}

/// How often the thread of this process that has this name has gone to sleep: a count of what it has looked at, for one
/// that looks, and then sleeps. 0 where there is none.
inline long times_asleep(const std::string &name)
{
    for (const auto &thread : std::filesystem::directory_iterator("/proc/self/task")) {
        std::string own;
        std::ifstream(thread.path() / "comm") >> own;
        std::ifstream status(thread.path() / "status");
        for (std::string word; own == name && status >> word;) {
            if (long count = 0; word == "voluntary_ctxt_switches:" && status >> count) {
                return count;
            }
        }
    }
    return 0;
}

/// Runs the action.
class known_thread
{
  public:
    template <class Action>
    explicit known_thread(Action action)
        : thread_([this, action = std::move(action)] {
              number_ = gettid();
              action();
          })
    {
    }
    known_thread(const known_thread &) = delete;
    known_thread &operator=(const known_thread &) = delete;

    /// Returns when it sleeps. Where that is the action's only wait, this is it.
    void await_asleep() const
    {
        await([this] { return number_ != 0 && is_asleep(getpid(), number_); });
    }

    void join() { thread_.join(); }

  private:
    std::atomic<pid_t> number_{0};
    std::thread thread_;
};
