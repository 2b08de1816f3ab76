/// \file
/// A set of bytes, and how many bytes from a place on are in it: what tokens and texts of a message end by.
///
/// 16 bytes are compared at once (SSE2, which every x86-64 has). The set is an argument of a template, so that its
/// ranges are constants in the code. What is compared are the ranges of the set, or those of all other bytes if they
/// are fewer. Where both are many, those ranges of the set are compared in which most bytes of names are, and the bytes
/// that are in none of them are looked up in a table. The last bytes are compared together with those before them, so
/// there is no loop over single bytes unless there are fewer than 16 in all.
#pragma once

#include "flux/message/fixed_text.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace flux {

namespace byte_set_detail {

/// The bytes from one to another, both among them.
struct range {
    unsigned char first = 0;
    unsigned char last = 0;

    /// About how many bytes of names are in it, of each hundred.
    constexpr unsigned weight() const
    {
        unsigned sum = 0;
        for (unsigned byte = first; byte <= last; ++byte) {
            const bool is_letter = (byte | 0x20U) >= 'a' && (byte | 0x20U) <= 'z';
            const bool is_digit = byte >= '0' && byte <= '9';
            sum += is_letter ? 4U : is_digit ? 2U : byte == '-' ? 10U : byte >= 0x80 && byte % 4 == 0 ? 1U : 0U;
        }
        return sum;
    }
};

/// Some ranges.
struct ranges {
    std::array<range, 128> all;
    std::size_t count = 0;

    constexpr void add(range one) { all[count++] = one; }

    /// The `most` heaviest, the heaviest first.
    constexpr ranges heaviest(std::size_t most) const
    {
        ranges sorted = *this;
        for (std::size_t one = 0; one < sorted.count; ++one) {
            for (std::size_t other = one + 1; other < sorted.count; ++other) {
                if (sorted.all[other].weight() > sorted.all[one].weight()) {
                    std::swap(sorted.all[one], sorted.all[other]);
                }
            }
        }
        sorted.count = sorted.count < most ? sorted.count : most;
        return sorted;
    }
};

#ifdef __SSE2__
/// A bit for each of 16 bytes that is in a range.
template <range Range>
__m128i within(__m128i bytes) noexcept
{
    const __m128i first = _mm_set1_epi8(static_cast<char>(Range.first));
    if constexpr (Range.first == Range.last) {
        return _mm_cmpeq_epi8(bytes, first);
    } else if constexpr (Range.first == 0) {
        return _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(static_cast<char>(Range.last))), bytes);
    } else if constexpr (Range.last == 0xff) {
        return _mm_cmpeq_epi8(_mm_max_epu8(bytes, first), bytes);
    } else {
        // Bytes below the range wrap to high numbers.
        const __m128i above = _mm_sub_epi8(bytes, first);
        return _mm_cmpeq_epi8(_mm_min_epu8(above, _mm_set1_epi8(static_cast<char>(Range.last - Range.first))), above);
    }
}
#endif

} // namespace byte_set_detail

/// The bytes that a text names: `a-z` is a range, and a `-` that is alone comes last.
template <fixed_text Named>
class byte_set
{
  public:
    /// Whether it has this byte.
    static constexpr bool contains(char byte) noexcept { return has[static_cast<unsigned char>(byte)]; }

    /// The first byte from `from` to before `to` that is not in it; `to` where there is none. Bytes from `first` on may
    /// be looked at, too. Most texts end among the first 16 bytes: those are looked at without a call.
    [[gnu::always_inline]] static const char *skip(const char *first, const char *from, const char *to) noexcept
    {
#ifdef __SSE2__
        if (to - from >= 16) [[likely]] {
            if (const char *const found = other_of(from, outside(from)); found != nullptr) [[likely]] {
                return found;
            }
            from += 16;
        }
#endif
        return skip_more(first, from, to);
    }

  private:
    using range = byte_set_detail::range;
    using ranges = byte_set_detail::ranges;

    static constexpr std::array<bool, 256> has = [] {
        std::array<bool, 256> found{};
        for (std::size_t at = 0; at < Named.size(); ++at) {
            const auto first = static_cast<unsigned char>(Named.bytes[at]);
            unsigned last = first;
            if (at + 2 < Named.size() && Named.bytes[at + 1] == '-') {
                at += 2;
                last = static_cast<unsigned char>(Named.bytes[at]);
            }
            for (unsigned byte = first; byte <= last; ++byte) {
                found[byte] = true;
            }
        }
        return found;
    }();

    static constexpr bool is_letter(unsigned byte) { return (byte | 0x20U) >= 'a' && (byte | 0x20U) <= 'z'; }

    // Those in it or the others, without the letters where they are compared together.
    static constexpr ranges those(bool are_in, bool has_letters)
    {
        ranges found;
        for (unsigned byte = 0; byte < 256; ++byte) {
            const unsigned first = byte;
            while (byte < 256 && has[byte] == are_in && (has_letters || !is_letter(byte))) {
                ++byte;
            }
            if (byte > first) {
                found.add({static_cast<unsigned char>(first), static_cast<unsigned char>(byte - 1)});
            }
        }
        return found;
    }

    // What is compared: all of one kind, or else the heaviest ranges of the set. Letters and capitals are one of them.
    static constexpr std::size_t most_compared = 5;
    static constexpr std::size_t most_heaviest = 3;
    static constexpr ranges inside = those(true, true);
    static constexpr ranges gaps = those(false, true);
    static constexpr bool compares_gaps = gaps.count <= inside.count;
    static constexpr bool is_exact = (compares_gaps ? gaps.count : inside.count) <= most_compared;
    static constexpr bool folds = !is_exact && [] {
        bool has_all = true;
        for (unsigned byte = 0; byte < 256; ++byte) {
            has_all = has_all && (has[byte] || !is_letter(byte));
        }
        return has_all;
    }();
    static constexpr ranges compared = is_exact ? (compares_gaps ? gaps : inside)
                                                : those(true, !folds).heaviest(most_heaviest - (folds ? 1 : 0));

    // As `skip`, for any number of bytes.
    [[gnu::noinline]] static const char *skip_more(const char *first, const char *from, const char *to) noexcept
    {
#ifdef __SSE2__
        while (to - from >= 16) {
            if (const char *const found = other_of(from, outside(from)); found != nullptr) {
                return found;
            }
            from += 16;
        }
        if (to - first >= 16) {
            // The last 16, of which those before `from` do not count.
            const char *const found = other_of(from, outside(to - 16) >> (16 - (to - from)));
            return found != nullptr ? found : to;
        }
#else
        static_cast<void>(first);
#endif
        while (from != to && contains(*from)) {
            ++from;
        }
        return from;
    }

#ifdef __SSE2__
    // A bit for each of 16 bytes that is outside of the set, or may be.
    [[gnu::always_inline]] static unsigned outside(const char *from) noexcept
    {
        const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i *>(from));
        const __m128i found = [&]<std::size_t... Index>(std::index_sequence<Index...>) {
            __m128i any = _mm_setzero_si128();
            if constexpr (folds) {
                const __m128i small = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
                any = byte_set_detail::within<range{'a', 'z'}>(small);
            }
            ((any = _mm_or_si128(any, byte_set_detail::within<compared.all[Index]>(bytes))), ...);
            return any;
        }(std::make_index_sequence<compared.count>());
        const auto bits = static_cast<unsigned>(_mm_movemask_epi8(found));
        return is_exact && compares_gaps ? bits : bits ^ 0xffff;
    }

    // The first of these bytes that is outside of the set; null where none is.
    [[gnu::always_inline]] static const char *other_of(const char *from, unsigned outside) noexcept
    {
        for (; outside != 0; outside &= outside - 1) {
            const char *const found = from + __builtin_ctz(outside);
            if (is_exact || !contains(*found)) {
                return found;
            }
        }
        return nullptr;
    }
#endif
};

namespace byte_set_detail {

#ifdef __SSE2__
/// A bit for each of 16 bytes that is this one.
[[gnu::always_inline]] inline unsigned equal(const char *at, char byte) noexcept
{
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i *>(at));
    return static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte))));
}
#endif

/// As `find_byte`, for any number of bytes.
[[gnu::noinline]] inline const char *find_more(const char *first, const char *from, const char *to, char byte) noexcept
{
#ifdef __SSE2__
    while (to - from >= 16) {
        if (const unsigned found = equal(from, byte); found != 0) {
            return from + __builtin_ctz(found);
        }
        from += 16;
    }
    if (to - first >= 16) {
        const unsigned found = equal(to - 16, byte) >> (16 - (to - from));
        return found != 0 ? from + __builtin_ctz(found) : to;
    }
#else
    static_cast<void>(first);
#endif
    while (from != to && *from != byte) {
        ++from;
    }
    return from;
}

} // namespace byte_set_detail

/// The first `byte` from `from` to before `to`; `to` where there is none. Bytes from `first` on may be looked at, too.
/// For texts of some tens of bytes: it calls no function of a library, and none at all where it is among the first 16.
[[gnu::always_inline]] inline const char *find_byte(const char *first, const char *from, const char *to,
                                                    char byte) noexcept
{
#ifdef __SSE2__
    if (to - from >= 16) [[likely]] {
        if (const unsigned found = byte_set_detail::equal(from, byte); found != 0) [[likely]] {
            return from + __builtin_ctz(found);
        }
        from += 16;
    } else if (to - first >= 16) {
        // The last 16, of which those before `from` do not count.
        const unsigned found = byte_set_detail::equal(to - 16, byte) >> (16 - (to - from));
        return found != 0 ? from + __builtin_ctz(found) : to;
    }
#endif
    return byte_set_detail::find_more(first, from, to, byte);
}

} // namespace flux
