/// \file
/// A set of bytes, and how many bytes from a place on are in it: what tokens and texts of a message end by.
///
/// Where few ranges of bytes are not in the set, 16 bytes are compared at once (SSE2, which every x86-64 has); else a
/// table says it of each byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace flux {

/// A set of bytes that is known when the program is compiled.
class byte_set
{
  public:
    /// The bytes from one to another, both among them.
    struct range {
        unsigned char first;
        unsigned char last;
    };

    /// The bytes of these ranges.
    constexpr byte_set(std::initializer_list<range> ranges)
    {
        for (const range &one : ranges) {
            for (unsigned byte = one.first; byte <= one.last; ++byte) {
                has_[byte] = true;
            }
        }
        for (unsigned byte = 0; byte < 256; ++byte) {
            if (has_[byte] || (byte > 0 && !has_[byte - 1])) {
                continue;
            }
            unsigned last = byte;
            while (last < 255 && !has_[last + 1]) {
                ++last;
            }
            if (gaps_ < most_gaps) {
                gap_[gaps_] = {static_cast<unsigned char>(byte), static_cast<unsigned char>(last)};
            }
            ++gaps_;
        }
    }

    /// Whether it has this byte.
    constexpr bool contains(char byte) const noexcept { return has_[static_cast<unsigned char>(byte)]; }

    /// The first byte from `from` to before `to` that is not in it; `to` where there is none.
    const char *skip(const char *from, const char *to) const noexcept
    {
#ifdef __SSE2__
        if (gaps_ <= most_gaps) {
            while (to - from >= 16) {
                const unsigned found = outside(_mm_loadu_si128(reinterpret_cast<const __m128i *>(from)));
                if (found != 0) {
                    return from + __builtin_ctz(found);
                }
                from += 16;
            }
        }
#endif
        while (from != to && contains(*from)) {
            ++from;
        }
        return from;
    }

  private:
    static constexpr std::size_t most_gaps = 4;

#ifdef __SSE2__
    /// A bit for each of the bytes that is not in the set.
    unsigned outside(__m128i bytes) const noexcept
    {
        __m128i found = _mm_setzero_si128();
        for (std::size_t index = 0; index < gaps_; ++index) {
            const auto [first, last] = gap_[index];
            // Bytes below the range wrap to high numbers.
            const __m128i above = _mm_sub_epi8(bytes, _mm_set1_epi8(static_cast<char>(first)));
            const __m128i width = _mm_set1_epi8(static_cast<char>(last - first));
            found = _mm_or_si128(found, _mm_cmpeq_epi8(_mm_min_epu8(above, width), above));
        }
        return static_cast<unsigned>(_mm_movemask_epi8(found));
    }
#endif

    bool has_[256]{};
    range gap_[most_gaps]{};
    std::size_t gaps_ = 0;
};

/// The first `byte` from `from` to before `to`; `to` where there is none. For texts of some tens of bytes: it calls no
/// function of a library.
inline const char *find_byte(const char *from, const char *to, char byte) noexcept
{
#ifdef __SSE2__
    const __m128i wanted = _mm_set1_epi8(byte);
    while (to - from >= 16) {
        const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i *>(from));
        const auto found = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, wanted)));
        if (found != 0) {
            return from + __builtin_ctz(found);
        }
        from += 16;
    }
#endif
    while (from != to && *from != byte) {
        ++from;
    }
    return from;
}

} // namespace flux
