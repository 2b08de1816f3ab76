/// \file
/// What a descriptor is, as far as calls on it differ: it is asked of the kernel, and guessed where that saves a call.
#pragma once

#include "flux/waiting/sanitizer.hpp"

#include <cstdint>
#include <sys/stat.h>

namespace flux::calls {

/// What a file is.
enum class file_kind : std::uint8_t {
    socket,
    /// Its bytes are on a disk: they are there, or come by themselves. Nothing says when.
    disk,
    /// A pipe, a terminal, and whatever else has bytes at some time, or room.
    stream,
};

/// The kernel's answer.
inline file_kind kind_of(int number) noexcept
{
    struct stat about{};
    if (fstat(number, &about) != 0 || S_ISSOCK(about.st_mode)) {
        return file_kind::socket;
    }
    const bool on_disk = S_ISREG(about.st_mode) || S_ISBLK(about.st_mode) || S_ISDIR(about.st_mode);
    return on_disk ? file_kind::disk : file_kind::stream;
}

/// Which numbers were streams when they were used last. A number that is closed is forgotten, so this says what to try
/// first, and that a short read is whole.
class stream_guess
{
  public:
    /// Of the numbers above nothing is known.
    static constexpr unsigned int last_number = 4095;

    FLUX_UNINSTRUMENTED static bool is_stream(int number) noexcept
    {
        return is_small(number) && (__atomic_load_n(word(number), __ATOMIC_RELAXED) & bit(number)) != 0;
    }
    static void set(int number) noexcept
    {
        if (is_small(number)) {
            __atomic_fetch_or(word(number), bit(number), __ATOMIC_RELAXED);
        }
    }
    static void forget(int number) noexcept
    {
        if (is_stream(number)) {
            __atomic_fetch_and(word(number), ~bit(number), __ATOMIC_RELAXED);
        }
    }

  private:
    static constexpr unsigned int word_bits = 64;

    FLUX_UNINSTRUMENTED static bool is_small(int number) noexcept
    {
        return static_cast<unsigned int>(number) <= last_number;
    }
    FLUX_UNINSTRUMENTED static std::uint64_t bit(int number) noexcept
    {
        return std::uint64_t{1} << (static_cast<unsigned int>(number) % word_bits);
    }
    FLUX_UNINSTRUMENTED static std::uint64_t *word(int number) noexcept
    {
        return &words_[static_cast<unsigned int>(number) / word_bits];
    }

    static inline constinit std::uint64_t words_[(last_number + 1) / word_bits] = {};
};

} // namespace flux::calls
