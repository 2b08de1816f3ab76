/// \file
/// A call of the C library that the server's executable defines itself, and so catches: from nodes, from shared
/// libraries, those loaded later too, and from the C++ library. Where the calling thread runs no fiber of an event loop
/// it goes straight on to the next definition, as if it had not been caught.
///
/// `FLUX_CATCH(ssize_t, read, int fd, void *into, std::size_t size) { ... }` defines `read`. The body is ours,
/// and may call `next_read`, the definition that would have been called otherwise: the sanitizer's where there is one
/// (`__interceptor_read`), else that of the C library. The function has a name of its own, `flux_call_read`, of which
/// `read` is an alias by its name in the object file. So the headers of the C library may be included, whatever
/// `_FORTIFY_SOURCE` and `_FILE_OFFSET_BITS` make of `read` there; and the table of all calls can refer to the function
/// and not to somebody else's `read`, which has the linker take it out of the runtime's archive.
///
/// The functions are not instrumented by sanitizers: they are called before these have begun, too. What they do on a
/// fiber is in functions that are.
#pragma once

#include "flux/event/fiber.hpp"
#include "flux/event/resident.hpp"
#include "flux/flow/flow.hpp"
#include "flux/io/loop_owned.hpp"

#include "flux/waiting/sanitizer.hpp"

#include <dlfcn.h>

namespace flux::calls {

#ifdef FLUX_THREAD_SANITIZER
/// Whether this is code of the sanitizer's own library. It reads files for its reports, with locks held that every
/// thread takes: were it to park, all would wait for it.
FLUX_UNINSTRUMENTED bool is_of_sanitizer(const void *code) noexcept;
#else
constexpr bool is_of_sanitizer(const void *) noexcept
{
    return false;
}
#endif

/// Whether the calling thread runs a fiber that has a flow, on a loop that catches calls, so that a call which would
/// block is to park. For the functions themselves that catch: it asks who calls them.
[[gnu::always_inline]] FLUX_UNINSTRUMENTED inline bool on_fiber() noexcept
{
    return fiber::running() != nullptr && running_flow != nullptr && running_loop_catches_calls &&
           !is_of_sanitizer(__builtin_return_address(0));
}

/// There is no next definition of this name, as the program is linked statically: says so and ends the process. No call
/// of the C library works then.
[[noreturn]] void end_without_next(const char *name) noexcept;

/// Whether that fiber is one of an event loop's, so that other threads can make its calls and it can wait for locks.
[[gnu::always_inline]] FLUX_UNINSTRUMENTED inline bool on_loop() noexcept
{
    return on_fiber() && resident::running() != nullptr;
}

template <class Signature>
class next_call;

/// The definition behind ours, looked up when it is first needed, as that may be before `main`. The search allocates
/// nothing where it finds something, so that a call made by an allocator can be caught.
template <class Result, class... Arguments>
class next_call<Result(Arguments...)>
{
  public:
    using function = Result(Arguments...);

    /// Of this name. `interceptor` is null where no sanitizer has one.
    constexpr next_call(const char *name, function *interceptor) noexcept : name_(name), interceptor_(interceptor) {}

    FLUX_UNINSTRUMENTED Result operator()(Arguments... arguments) const { return get()(arguments...); }

    FLUX_UNINSTRUMENTED function *get() const noexcept
    {
        function *const known = __atomic_load_n(&found_, __ATOMIC_RELAXED);
        return known != nullptr ? known : find();
    }

    /// Looks it up now, and notes it where there is one.
    FLUX_UNINSTRUMENTED function *look_up() const noexcept
    {
        function *const found =
            interceptor_ != nullptr ? interceptor_ : reinterpret_cast<function *>(dlsym(RTLD_NEXT, name_));
        __atomic_store_n(&found_, found, __ATOMIC_RELAXED);
        return found;
    }

  private:
    FLUX_UNINSTRUMENTED function *find() const noexcept
    {
        function *const found = look_up();
        if (found == nullptr) {
            end_without_next(name_);
        }
        return found;
    }

    const char *const name_;
    function *const interceptor_;
    mutable function *found_ = nullptr;
};

} // namespace flux::calls

// The thread sanitizer makes calls while it reports, when a look-up would free memory that it does not know: all that
// can be found is found before `main`.
#ifdef FLUX_THREAD_SANITIZER
#define FLUX_LOOK_UP_EARLY(name)                                                                                       \
    __attribute__((constructor)) FLUX_UNINSTRUMENTED static void flux_look_up_##name() { next_##name.look_up(); }
#else
#define FLUX_LOOK_UP_EARLY(name)
#endif

#if defined(__clang__)
#define FLUX_KEPT __attribute__((used))
#else
#define FLUX_KEPT __attribute__((used, externally_visible))
#endif

/// Defines `name`; see above. At namespace scope, outside of any namespace.
#define FLUX_CATCH(result, name, ...)                                                                                  \
    extern "C" FLUX_KEPT result flux_call_##name(__VA_ARGS__);                                                         \
    extern "C" FLUX_KEPT __attribute__((alias("flux_call_" #name), visibility("default"))) result flux_symbol_##name(  \
        __VA_ARGS__) __asm__(#name);                                                                                   \
    extern "C" __attribute__((weak)) result flux_interceptor_##name(__VA_ARGS__) __asm__("__interceptor_" #name);      \
    static constinit const flux::calls::next_call<result(__VA_ARGS__)> next_##name{#name, flux_interceptor_##name};    \
    FLUX_LOOK_UP_EARLY(name)                                                                                           \
    extern "C" FLUX_UNINSTRUMENTED result flux_call_##name(__VA_ARGS__)
