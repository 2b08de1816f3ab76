/// \file
/// What the formulas of messages compute with: integers of 64 bits that do not wrap, and parts of texts. A value that
/// does not fit says so by `fits`, and the bytes are then no such message. The compiler writes plain arithmetic where
/// it knows that the result fits.
#pragma once

#include <charconv>
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
    Integer result;
    fits = !__builtin_sub_overflow(left, right, &result) && fits;
    return result;
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
    constexpr std::string_view space = " \t\n\v\f\r";
    const std::size_t first = text.find_first_not_of(space);
    return first == std::string_view::npos ? std::string_view()
                                           : text.substr(first, text.find_last_not_of(space) - first + 1);
}

/// Whether a text is `wanted` but for the capitals of ASCII, which is written without any.
inline bool is_in_lower(std::string_view text, std::string_view wanted) noexcept
{
    if (text.size() != wanted.size()) {
        return false;
    }
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char letter = text[at];
        if ((letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter | 0x20) : letter) != wanted[at]) {
            return false;
        }
    }
    return true;
}

/// One text after the other. Throws `std::bad_alloc`.
inline std::string join(std::string_view left, std::string_view right)
{
    std::string whole(left);
    whole += right;
    return whole;
}

} // namespace flux::formula
