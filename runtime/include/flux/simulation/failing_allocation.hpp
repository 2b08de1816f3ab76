/// \file
/// Allocation functions that fail when the simulation says so: for a test, one source file of which includes this. They
/// replace those of the C++ library in the whole program (the C++ standard, [new.delete]).
///
/// On threads that are not a simulation's loop they allocate as usual. Arrays use these functions too, through the
/// library's own; only under the address sanitizer arrays have functions of their own, which do not fail.
#pragma once

#include "flux/simulation/simulation.hpp"

#include <cstddef>
#include <cstdlib>
#include <new>

void *operator new(std::size_t size, const std::nothrow_t &) noexcept
{
    return flux::simulation::allocation_fails() ? nullptr : std::malloc(size != 0 ? size : 1);
}

void *operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t &) noexcept
{
    // The C library wants a multiple of the alignment, which is a power of two.
    const auto to = static_cast<std::size_t>(alignment);
    return flux::simulation::allocation_fails() ? nullptr : std::aligned_alloc(to, (size + to - 1) & ~(to - 1));
}

void *operator new(std::size_t size)
{
    if (void *const made = operator new(size, std::nothrow)) {
        return made;
    }
    throw std::bad_alloc();
}

void *operator new(std::size_t size, std::align_val_t alignment)
{
    if (void *const made = operator new(size, alignment, std::nothrow)) {
        return made;
    }
    throw std::bad_alloc();
}

void operator delete(void *unused) noexcept
{
    std::free(unused);
}

void operator delete(void *unused, std::size_t) noexcept
{
    std::free(unused);
}

void operator delete(void *unused, std::align_val_t) noexcept
{
    std::free(unused);
}

void operator delete(void *unused, std::size_t, std::align_val_t) noexcept
{
    std::free(unused);
}

void operator delete(void *unused, const std::nothrow_t &) noexcept
{
    std::free(unused);
}

void operator delete(void *unused, std::align_val_t, const std::nothrow_t &) noexcept
{
    std::free(unused);
}
