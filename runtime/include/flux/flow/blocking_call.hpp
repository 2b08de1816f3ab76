/// \file
/// The call of a node that blocks, as the runtime sees it: something to run where that holds up nobody.
#pragma once

namespace flux {

/// A function and what it is called with, on the stack of whoever waits for it. It may throw.
struct blocking_call {
    void (*function)(void *argument);
    void *argument;

    void run() const { function(argument); }
};

} // namespace flux
