/// \file
/// What the formulas of messages compute with: integers of 64 bits that do not wrap, and parts of texts. A value that
/// does not fit says so by `fits`, and the bytes are then no such message. The compiler writes plain arithmetic where
/// it knows that the result fits.
#pragma once

#include "flux/message/fixed_text.hpp"
#include "flux/message/wire.hpp"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace flux::formula {

/// The integers that formulas reckon with, with the sign of `Integer`.
template <class Integer>
using wide = std::conditional_t<std::is_signed_v<Integer>, std::int64_t, std::uint64_t>;

/// `left + right`
template <class Integer>
Integer add(std::type_identity_t<Integer> left, std::type_identity_t<Integer> right, bool &fits) noexcept
{
    Integer result;
    fits = !__builtin_add_overflow(left, right, &result) && fits;
    return result;
}

/// `left - right`
template <class Integer>
Integer subtract(std::type_identity_t<Integer> left, std::type_identity_t<Integer> right, bool &fits) noexcept
{
    if constexpr (std::is_unsigned_v<Integer>) {
        // One comparison and one jump.
        fits = left >= right && fits;
        return left - right;
    } else {
        Integer result;
        fits = !__builtin_sub_overflow(left, right, &result) && fits;
        return result;
    }
}

/// `left * right`
template <class Integer>
Integer multiply(std::type_identity_t<Integer> left, std::type_identity_t<Integer> right, bool &fits) noexcept
{
    Integer result;
    fits = !__builtin_mul_overflow(left, right, &result) && fits;
    return result;
}

/// Whether `left` can be divided by `right`.
template <class Integer>
bool divides(Integer left, Integer right) noexcept
{
    return right != 0 && !(std::is_signed_v<Integer> && right == static_cast<Integer>(-1) &&
                           left == std::numeric_limits<Integer>::min());
}

/// `left / right`, towards zero.
template <class Integer>
Integer divide(std::type_identity_t<Integer> left, std::type_identity_t<Integer> right, bool &fits) noexcept
{
    fits = divides<Integer>(left, right) && fits;
    return fits ? left / right : 0;
}

/// What is left of a division, with the sign of `left`.
template <class Integer>
Integer remainder(std::type_identity_t<Integer> left, std::type_identity_t<Integer> right, bool &fits) noexcept
{
    fits = right != 0 && fits;
    return !fits || right == static_cast<Integer>(-1) ? 0 : left % right;
}

/// The same value, if `To` has it.
template <class To, class From>
wide<To> to(From value, bool &fits) noexcept
{
    fits = std::in_range<To>(value) && fits;
    return static_cast<wide<To>>(value);
}

/// The number that a text is, all of it.
template <class To>
wide<To> number(std::string_view text, bool &fits) noexcept
{
    To value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    fits = error == std::errc() && end == text.data() + text.size() && fits;
    return value;
}

/// What stands from one index to before another.
inline std::string_view slice(std::string_view text, std::uint64_t from, std::uint64_t to, bool &fits) noexcept
{
    fits = from <= to && to <= text.size() && fits;
    return fits ? text.substr(from, to - from) : std::string_view();
}

/// The text without the white space of ASCII around it.
inline std::string_view trim(std::string_view text) noexcept
{
    const auto is_space = [](char of) {
        const auto byte = static_cast<unsigned char>(of);
        return byte <= ' ' && (byte == ' ' || (byte >= '\t' && byte <= '\r'));
    };
    const char *first = text.data();
    const char *last = first + text.size();
    while (first != last && is_space(*first)) {
        ++first;
    }
    while (first != last && is_space(last[-1])) {
        --last;
    }
    return {first, static_cast<std::size_t>(last - first)};
}

/// Eight bytes of a text that is written without capitals, or fewer: they, and the bit that tells a capital for each
/// letter among them.
struct lower_word {
    std::uint64_t bytes = 0;
    std::uint64_t capitals = 0;

    constexpr lower_word(const char *text, std::size_t count)
    {
        for (std::size_t at = 0; at < count; ++at) {
            const auto byte = static_cast<unsigned char>(text[at]);
            bytes |= std::uint64_t{byte} << 8 * at;
            capitals |= std::uint64_t{byte >= 'a' && byte <= 'z' ? 0x20U : 0U} << 8 * at;
        }
    }
};

/// Zero where `Count` bytes at `text` are those of `Wanted` from `At` on, but for capitals.
template <fixed_text Wanted, std::size_t At, std::size_t Count>
std::uint64_t differ_in_lower(const char *text) noexcept
{
    constexpr lower_word word(Wanted.bytes + At, Count);
    return (wire::little<std::uint64_t, Count>(text + At) | word.capitals) ^ word.bytes;
}

/// Whether a text is `Wanted` but for the capitals of ASCII, which is written without any. 8 bytes are compared at
/// once.
template <fixed_text Wanted>
[[gnu::always_inline]] inline bool is_in_lower(std::string_view text) noexcept
{
    constexpr std::size_t size = Wanted.size();
    if (text.size() != size) {
        return false;
    }
    std::uint64_t differ = 0;
    [&]<std::size_t... Word>(std::index_sequence<Word...>) {
        ((differ |= differ_in_lower<Wanted, 8 * Word, 8>(text.data())), ...);
    }(std::make_index_sequence<size / 8>());
    // The last ones together with those before them, where there are any.
    if constexpr (size % 8 != 0 && size > 8) {
        differ |= differ_in_lower<Wanted, size - 8, 8>(text.data());
    } else if constexpr (size % 8 != 0) {
        differ |= differ_in_lower<Wanted, 0, size>(text.data());
    }
    return differ == 0;
}

/// One text after the other. Throws `std::bad_alloc`.
inline std::string join(std::string_view left, std::string_view right)
{
    std::string whole(left);
    whole += right;
    return whole;
}

} // namespace flux::formula
