#include "flux/calls/caught_call.hpp"

#include <cstddef>
#include <cstring>
#include <dlfcn.h>
#include <sys/syscall.h>

namespace flux::calls {
namespace {

/// A call of the kernel with nothing in between: all functions for that may be caught.
FLUX_UNINSTRUMENTED void call_kernel(long number, long first, const void *second, std::size_t third) noexcept
{
#if defined(__x86_64__)
    long result = number;
    asm volatile("syscall" : "+a"(result) : "D"(first), "S"(second), "d"(third) : "rcx", "r11", "memory");
#elif defined(__aarch64__)
    register long in_x8 asm("x8") = number;
    register long in_x0 asm("x0") = first;
    register const void *in_x1 asm("x1") = second;
    register std::size_t in_x2 asm("x2") = third;
    asm volatile("svc 0" : "+r"(in_x0) : "r"(in_x8), "r"(in_x1), "r"(in_x2) : "memory");
#endif
}

FLUX_UNINSTRUMENTED void say(const char *text) noexcept
{
    std::size_t size = 0;
    while (text[size] != '\0') {
        ++size;
    }
    constexpr long standard_error = 2;
    call_kernel(SYS_write, standard_error, text, size);
}

} // namespace

#ifdef FLUX_THREAD_SANITIZER
FLUX_UNINSTRUMENTED bool is_of_sanitizer(const void *code) noexcept
{
    Dl_info where{};
    return dladdr(code, &where) != 0 && where.dli_fname != nullptr && std::strstr(where.dli_fname, "libtsan") != nullptr;
}
#endif

FLUX_UNINSTRUMENTED void end_without_next(const char *name) noexcept
{
    say("flux: this server is linked statically, so its call of ");
    say(name);
    say(" has no C library to go on to: link it without -static\n");
    call_kernel(SYS_exit_group, 1, nullptr, 0);
    __builtin_trap();
}

} // namespace flux::calls
