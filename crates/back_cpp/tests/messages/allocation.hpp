// Lets each allocation of reading and of making messages fail in turn: for the one source file of a test, whose
// allocation functions these are. What comes of a message then is what comes of it otherwise, or that there is no
// memory for it, and nothing else; and the next one is as it would have been. What is not freed the sanitizer finds.
#pragma once

#include "given.hpp"
#include "harness.hpp"

#include <cstdlib>
#include <new>
#include <string>
#include <string_view>
#include <vector>

namespace harness {
namespace {

std::size_t allocations = 0;
// Which one fails; 0 where none does.
std::size_t failing = 0;
bool has_failed = false;

bool fails() noexcept
{
    const bool here = ++allocations == failing;
    has_failed = has_failed || here;
    return here;
}

} // namespace
} // namespace harness

void *operator new(std::size_t size, const std::nothrow_t &) noexcept
{
    return harness::fails() ? nullptr : std::malloc(size != 0 ? size : 1);
}

void *operator new(std::size_t size)
{
    if (void *const made = operator new(size, std::nothrow)) {
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

void operator delete(void *unused, const std::nothrow_t &) noexcept
{
    std::free(unused);
}

namespace harness {

/// What comes of `test` where the allocation of this number fails; 0 is none.
template <class Test>
std::string with_failing(std::size_t number, const Test &test)
{
    allocations = 0;
    has_failed = false;
    failing = number;
    try {
        std::string come = test();
        failing = 0;
        return come;
    } catch (const std::bad_alloc &) {
        failing = 0;
        return "no memory";
    }
}

/// Lets each allocation of `test` fail in turn, and says how many there are.
template <class Test>
std::string fail_each(const Test &test)
{
    const std::string wanted = with_failing(0, test);
    const std::size_t count = allocations;
    for (std::size_t number = 1; number <= count; ++number) {
        const std::string come = with_failing(number, test);
        if (come != wanted && (come != "no memory" || !has_failed)) {
            broken(("allocation " + std::to_string(number)).c_str(), come, wanted);
        }
        const std::string after = with_failing(0, test);
        if (after != wanted) {
            broken(("after allocation " + std::to_string(number)).c_str(), after, wanted);
        }
    }
    return std::to_string(count);
}

/// Reads a message that comes in some pieces, and then the same at once.
template <class Message>
std::string fail_reading(std::string_view bytes)
{
    constexpr std::size_t pieces = 5;
    std::vector<std::size_t> arrivals;
    for (std::size_t size = 0; size < bytes.size(); size += 1 + bytes.size() / pieces) {
        arrivals.push_back(size);
    }
    arrivals.push_back(bytes.size());
    return fail_each([&] {
        std::string all = read_in<Message>(bytes, arrivals, true);
        if constexpr (flux::has_streams<Message>()) {
            all += read_streamed<Message>(bytes, 1 + bytes.size() / pieces, true);
        }
        return all + read_in<Message>(bytes, {bytes.size()}, true);
    });
}

/// Makes a message of the values in a line, behind two words.
template <class Message>
std::string fail_making(const std::string &line)
{
    return fail_each([&] {
        given_values words(line);
        words.next();
        words.next();
        Message made;
        if (!take_given(words, made)) {
            return std::string("refused");
        }
        std::string all(made.wire());
        show(made, all);
        return all;
    });
}

} // namespace harness
