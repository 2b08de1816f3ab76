#include "flux/event/fiber.hpp"

#include <boost/context/detail/fcontext.hpp>
#include <cerrno>
#include <cxxabi.h>
#include <utility>

#ifdef FLUX_ADDRESS_SANITIZER
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef FLUX_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

namespace flux {

using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

fiber::fiber(stack on) noexcept : stack_(on)
{
    function_side_ = make_fcontext(stack_.top(), stack_.size, [](transfer_t from) {
        fiber &self = *static_cast<fiber *>(from.data);
        self.thread_side_ = from.fctx;
        self.run_functions();
    });
#ifdef FLUX_THREAD_SANITIZER
    watched_function_ = __tsan_create_fiber(0);
#endif
}

fiber::~fiber()
{
    keys_.end();
#ifdef FLUX_THREAD_SANITIZER
    __tsan_destroy_fiber(watched_function_);
#endif
}

void fiber::prepare(void (*function)(void *), void *argument) noexcept
{
    function_ = function;
    argument_ = argument;
    ended_ = false;
}

bool fiber::resume() noexcept
{
    auto &of_thread = *reinterpret_cast<exceptions *>(abi::__cxa_get_globals());
    std::swap(of_thread, exceptions_);
    std::swap(errno, errno_);
    keys_.swap();
    running_ = this;
    switch_to_function();
    running_ = nullptr;
    keys_.swap();
    std::swap(errno, errno_);
    std::swap(of_thread, exceptions_);
    return ended_;
}

void fiber::park() noexcept
{
    switch_to_thread();
}

// The stack is never left for good: the next function begins where the one before came back.
void fiber::run_functions() noexcept
{
#ifdef FLUX_ADDRESS_SANITIZER
    __sanitizer_finish_switch_fiber(nullptr, &thread_stack_, &thread_stack_size_);
#endif
    while (true) {
        function_(argument_);
        ended_ = true;
        switch_to_thread();
    }
}

// Inline, as the thread sanitizer follows calls and returns: those of a function that changes stacks would not match.
__attribute__((always_inline)) inline void fiber::switch_to_function() noexcept
{
#ifdef FLUX_ADDRESS_SANITIZER
    __sanitizer_start_switch_fiber(&thread_frames_, stack_.bottom, stack_.size);
#endif
#ifdef FLUX_THREAD_SANITIZER
    watched_thread_ = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(watched_function_, 0);
#endif
    function_side_ = jump_fcontext(function_side_, this).fctx;
#ifdef FLUX_ADDRESS_SANITIZER
    __sanitizer_finish_switch_fiber(thread_frames_, nullptr, nullptr);
#endif
}

__attribute__((always_inline)) inline void fiber::switch_to_thread() noexcept
{
#ifdef FLUX_ADDRESS_SANITIZER
    __sanitizer_start_switch_fiber(&function_frames_, thread_stack_, thread_stack_size_);
#endif
#ifdef FLUX_THREAD_SANITIZER
    __tsan_switch_to_fiber(watched_thread_, 0);
#endif
    thread_side_ = jump_fcontext(thread_side_, nullptr).fctx;
#ifdef FLUX_ADDRESS_SANITIZER
    __sanitizer_finish_switch_fiber(function_frames_, &thread_stack_, &thread_stack_size_);
#endif
}

} // namespace flux
