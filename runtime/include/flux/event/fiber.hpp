/// \file
/// Fibers: functions that run on their own stacks, so that they can wait in the middle while their thread goes on with
/// something else.
///
/// A thread resumes a fiber, and gets control back when the fiber parks or ends. A fiber belongs to the thread that
/// resumes it first and never moves to another, so data that the compiler and the C library keep for each thread stays
/// correct. Some of it belongs to the fiber instead, and is switched with it: `errno`, the exceptions in flight, and
/// what some libraries keep (`switched_keys.hpp`). If the exceptions were not, a `throw;` after a park would rethrow
/// one that another fiber has caught.
///
/// The switch itself is Boost.Context's `jump_fcontext`: it saves the callee-saved registers on the stack that it
/// leaves. `boost::context::fiber` is a layer above it that allocates a record, moves it at every switch, and unwinds
/// abandoned stacks with an exception. None of that is needed here.
#pragma once

#include "flux/waiting/sanitizer.hpp"
#include "flux/event/stack.hpp"
#include "flux/event/switched_keys.hpp"

namespace flux {

/// A function on a stack of its own.
class fiber
{
  public:
    /// For functions to run on this stack, one after the other.
    explicit fiber(stack on) noexcept;
    /// Its function has ended, or will never go on: nothing that is on the stack is destroyed.
    ~fiber();
    fiber(const fiber &) = delete;
    fiber &operator=(const fiber &) = delete;

    /// At the next `resume`, begins `function(argument)`, which throws nothing. No function of this fiber is under way.
    void prepare(void (*function)(void *), void *argument) noexcept;

    /// Goes on with the function until it parks, which gives false, or has ended, which gives true. Called by the
    /// fiber's thread, not by a fiber.
    bool resume() noexcept;

    /// Rests until it is resumed. Called by this fiber.
    void park() noexcept;

    /// What it runs on.
    const stack &on() const noexcept { return stack_; }

    /// The fiber that the calling thread runs; null outside.
    FLUX_UNINSTRUMENTED static fiber *running() noexcept { return running_; }

    /// In the child of a fork(2): its one thread goes on with what the fiber did, and has no loop.
    static void leave_in_child() noexcept { running_ = nullptr; }

  private:
    // What the C++ library keeps of a thread's exceptions: the beginning of __cxa_eh_globals, as the C++ ABI for
    // Itanium has it (Exception Handling, 2.2.2).
    struct exceptions {
        void *caught = nullptr;
        unsigned int uncaught = 0;
    };


    [[noreturn]] void run_functions() noexcept;
    void switch_to_thread() noexcept;
    void switch_to_function() noexcept;

    static inline thread_local constinit fiber *running_ = nullptr;

    const stack stack_;
    // Where the function goes on, and where the thread does.
    void *function_side_ = nullptr;
    void *thread_side_ = nullptr;
    void (*function_)(void *) = nullptr;
    void *argument_ = nullptr;
    bool ended_ = true;
    int errno_ = 0;
    exceptions exceptions_;
    switched_keys keys_;

#ifdef FLUX_ADDRESS_SANITIZER
    void *function_frames_ = nullptr;
    void *thread_frames_ = nullptr;
    const void *thread_stack_ = nullptr;
    std::size_t thread_stack_size_ = 0;
#endif
#ifdef FLUX_THREAD_SANITIZER
    void *watched_function_ = nullptr;
    void *watched_thread_ = nullptr;
#endif
};

} // namespace flux
