// Only this file sleeps. No expectation of these tests may depend on how long something takes.
#pragma once

#include <chrono>
#include <thread>

/// Goes on later.
inline void let_pass(std::chrono::milliseconds time)
{
    std::this_thread::sleep_for(time);
}
