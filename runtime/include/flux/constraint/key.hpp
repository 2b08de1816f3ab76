/// \file
/// The keys of constraints: numbers of 64 bits.
///
/// An integer or an enumerator is its own number. A string is hashed by its content, a class with a hash of its own
/// says it (`flux::value`), and a key of several values is hashed by all of them. So, very rarely, two different
/// strings have the same key; then their flows wait for each other, as flows with equal keys do. That costs time and
/// nothing else: the number is what is held, merged, ordered and released.
#pragma once

#include "flux/flow/key_text.hpp"

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace flux {

/// The number that stands for a key.
using key_number = std::uint64_t;

/// A class that has a number for each of its values.
template <class Part>
concept numbered = requires(const Part &part) {
    { part.hash() } noexcept -> std::same_as<key_number>;
};

/// Whether a value of this type can be a key, or a part of one: integers, enumerations, strings, what is `numbered`,
/// tuples of them.
template <class Part>
inline constexpr bool keyable = std::is_integral_v<Part> || std::is_enum_v<Part> ||
                                std::is_convertible_v<const Part &, std::string_view> || numbered<Part>;

template <class Part>
inline constexpr bool keyable<const Part> = keyable<Part>;

template <class... Parts>
inline constexpr bool keyable<std::tuple<Parts...>> = (keyable<Parts> && ...);

template <class First, class Second>
inline constexpr bool keyable<std::pair<First, Second>> = keyable<First> && keyable<Second>;

/// Whether values of two types that are keys of one constraint are the same key where they are equal: only one and the
/// same type is sure to give equal numbers, but strings do, whatever holds them.
template <class Left, class Right>
inline constexpr bool same_key =
    std::is_same_v<std::remove_cv_t<Left>, std::remove_cv_t<Right>> ||
    (std::is_convertible_v<const Left &, std::string_view> && std::is_convertible_v<const Right &, std::string_view>);

/// Makes numbers that differ a little differ in every bit: the finalizer of MurmurHash3 (Appleby, 2011), a bijection.
constexpr key_number scatter(key_number number) noexcept
{
    number = (number ^ number >> 33) * 0xff51afd7ed558ccd;
    number = (number ^ number >> 33) * 0xc4ceb9fe1a85ec53;
    return number ^ number >> 33;
}

/// The number of one value.
template <class Part>
key_number number_of(const Part &part) noexcept
{
    if constexpr (std::is_integral_v<Part> || std::is_enum_v<Part>) {
        return static_cast<key_number>(part);
    } else if constexpr (std::is_convertible_v<const Part &, std::string_view>) {
        if constexpr (std::is_pointer_v<Part>) {
            if (part == nullptr) {
                return 0;
            }
        }
        return std::hash<std::string_view>()(part);
    } else if constexpr (numbered<Part>) {
        return part.hash();
    } else if constexpr (requires { std::tuple_size<Part>::value; }) {
        const auto fold = [](const auto &...parts) {
            key_number all = 0;
            ((all = scatter(all ^ number_of(parts))), ...);
            return all;
        };
        return std::apply(fold, part);
    } else {
        // It is no key, and generated code asserts that in its author's words: nothing is to be added here.
        return 0;
    }
}

/// The number of a key of one value or several.
template <class First, class... Others>
key_number key_of(const First &first, const Others &...others) noexcept
{
    if constexpr (sizeof...(Others) == 0) {
        return number_of(first);
    } else {
        return number_of(std::tie(first, others...));
    }
}

/// The text of a value that is a number or a string.
template <class Part>
key_text text_of_key(const void *value) noexcept
{
    const Part &part = *static_cast<const Part *>(value);
    if constexpr (std::is_integral_v<Part>) {
        return key_text(+part);
    } else if constexpr (std::is_enum_v<Part>) {
        return key_text(+static_cast<std::underlying_type_t<Part>>(part));
    } else {
        if constexpr (std::is_pointer_v<Part>) {
            if (part == nullptr) {
                return {};
            }
        }
        return key_text(std::string_view(part));
    }
}

/// How a key of one value is shown, which is a number or a string; others are not. The value is to be there as long as
/// what this gives is used.
template <class First, class... Others>
shown_key shown_as(const First &first, const Others &...) noexcept
{
    if constexpr (sizeof...(Others) == 0 && (std::is_integral_v<First> || std::is_enum_v<First> ||
                                             std::is_convertible_v<const First &, std::string_view>)) {
        return {std::addressof(first), text_of_key<First>};
    } else {
        return {};
    }
}

} // namespace flux
