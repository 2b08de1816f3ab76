// Only here do these tests sleep: nothing that they expect depends on how long something takes.
#pragma once

#include <chrono>
#include <thread>

/// Goes on later.
inline void let_pass(std::chrono::milliseconds time)
{
    std::this_thread::sleep_for(time);
}
