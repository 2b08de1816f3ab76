/// \file
/// What the bodies of computed nodes and predicates need beyond C++ operators: integers that do not wrap, checked
/// access to parts and elements, conversions that lose nothing. A failure throws an exception that fails the node:
/// failures are rare, and a check then costs one branch that is not taken.
#pragma once

#include "flux/error.hpp"
#include "flux/expected.hpp"
#include "flux/message/decimal.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace flux::compute {

/// What fails a node: its error code.
struct failure {
    int code;
};

/// Fails the node that computes.
[[noreturn]] void fail(int code);

/// `left + right`; fails with `flux::overflow` where the type has no such number. Numbers with a fraction are never
/// checked: IEEE 754 has values for what is too large.
template <class Number>
Number add(Number left, std::type_identity_t<Number> right)
{
    if constexpr (std::is_floating_point_v<Number>) {
        return left + right;
    } else {
        Number sum;
        if (__builtin_add_overflow(left, right, &sum)) [[unlikely]] {
            fail(overflow);
        }
        return sum;
    }
}

/// `left - right`, as `add`.
template <class Number>
Number subtract(Number left, std::type_identity_t<Number> right)
{
    if constexpr (std::is_floating_point_v<Number>) {
        return left - right;
    } else {
        Number difference;
        if (__builtin_sub_overflow(left, right, &difference)) [[unlikely]] {
            fail(overflow);
        }
        return difference;
    }
}

/// `left * right`, as `add`.
template <class Number>
Number multiply(Number left, std::type_identity_t<Number> right)
{
    if constexpr (std::is_floating_point_v<Number>) {
        return left * right;
    } else {
        Number product;
        if (__builtin_mul_overflow(left, right, &product)) [[unlikely]] {
            fail(overflow);
        }
        return product;
    }
}

/// Fails where integers cannot be divided.
template <class Number>
void require_quotient(Number left, Number right)
{
    if (right == 0) [[unlikely]] {
        fail(division_by_zero);
    }
    if constexpr (std::is_signed_v<Number>) {
        if (right == -1 && left == std::numeric_limits<Number>::min()) [[unlikely]] {
            fail(overflow);
        }
    }
}

/// `left / right`, of integers towards zero; fails with `flux::division_by_zero`, or `flux::overflow`.
template <class Number>
Number divide(Number left, std::type_identity_t<Number> right)
{
    if constexpr (!std::is_floating_point_v<Number>) {
        require_quotient(left, right);
    }
    return static_cast<Number>(left / right);
}

/// What is left of a division, with the sign of `left`; fails as `divide`.
template <class Number>
Number remainder(Number left, std::type_identity_t<Number> right)
{
    require_quotient(left, right);
    return static_cast<Number>(left % right);
}

/// `-number`; fails with `flux::overflow`.
template <class Number>
Number negate(Number number)
{
    if constexpr (std::is_floating_point_v<Number>) {
        return -number;
    } else {
        return subtract<Number>(0, number);
    }
}

/// The number that a text is, all of it; fails with `flux::not_a_number`, or `flux::overflow`.
template <class To>
To read(std::string_view text)
{
    To number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc::result_out_of_range) [[unlikely]] {
        fail(overflow);
    }
    if (error != std::errc() || end != text.data() + text.size()) [[unlikely]] {
        fail(not_a_number);
    }
    return number;
}

/// The number as one of another type, without its fraction where that has none; fails with `flux::overflow` where the
/// type has no such number.
template <class To, class From>
To to(From number)
{
    if constexpr (std::is_floating_point_v<To>) {
        return static_cast<To>(number);
    } else if constexpr (std::is_floating_point_v<From>) {
        const From whole = std::trunc(number);
        const From above = std::ldexp(From(1), std::numeric_limits<To>::digits);
        const From lowest = std::is_signed_v<To> ? -above : From(0);
        if (!(whole >= lowest && whole < above)) [[unlikely]] {
            fail(overflow);
        }
        return static_cast<To>(whole);
    } else {
        if (!std::in_range<To>(number)) [[unlikely]] {
            fail(overflow);
        }
        return static_cast<To>(number);
    }
}

/// Whether a text is this one.
template <std::size_t Size>
[[gnu::always_inline]] inline bool is(std::string_view text, const char (&wanted)[Size]) noexcept
{
    return text.size() == Size - 1 && (Size == 1 || std::memcmp(text.data(), wanted, Size - 1) == 0);
}

/// The number as a text: an integer in decimal, a number with a fraction as the shortest text that reads back as it.
template <class Number>
std::string text(Number number)
{
    if constexpr (std::is_same_v<Number, bool>) {
        return number ? "true" : "false";
    } else {
        char digits[64];
        if constexpr (std::is_integral_v<Number>) {
            return std::string(digits, write_decimal(digits, number));
        } else {
            const auto [end, error] = std::to_chars(digits, digits + sizeof digits, number);
            return error == std::errc() ? std::string(digits, end) : std::string();
        }
    }
}

/// The element at an index from 0; fails with `flux::no_element`.
template <class Element>
decltype(auto) at(const std::vector<Element> &list, std::uint64_t index)
{
    if (index >= list.size()) [[unlikely]] {
        fail(no_element);
    }
    return list[index];
}

/// The value of a key; fails with `flux::no_element`.
template <class Key, class Value>
const Value &at(const std::map<Key, Value> &map, const std::type_identity_t<Key> &key)
{
    const auto found = map.find(key);
    if (found == map.end()) [[unlikely]] {
        fail(no_element);
    }
    return found->second;
}

/// The element at an index, or the value of a key; where there is none, `other`.
template <class Element>
Element get(const std::vector<Element> &list, std::uint64_t index, std::type_identity_t<Element> other)
{
    return index < list.size() ? list[index] : other;
}

template <class Key, class Value>
Value get(const std::map<Key, Value> &map, const std::type_identity_t<Key> &key, std::type_identity_t<Value> other)
{
    const auto found = map.find(key);
    return found == map.end() ? std::move(other) : found->second;
}

/// The value of an optional; fails with `flux::no_element`.
template <class Value>
const Value &value(const std::optional<Value> &of)
{
    if (!of) [[unlikely]] {
        fail(no_element);
    }
    return *of;
}

/// A list or a text that is part of a message, or an optional of one, as a value of its own.
template <class To, class From>
To own(From &&part)
{
    if constexpr (requires { part.has_value(); }) {
        return part.has_value() ? To(own<typename To::value_type>(*part)) : To();
    } else {
        return To(part.begin(), part.end());
    }
}

/// The message that was made; fails with `flux::no_message` where its fields make none.
template <class Message>
Message made(expected<Message, int> message)
{
    if (!message.has_value()) [[unlikely]] {
        fail(no_message);
    }
    return *std::move(message);
}

/// What stands from one index to before another; fails with `flux::no_element` where it does not reach so far.
template <class Sequence>
Sequence slice(const Sequence &of, std::uint64_t from, std::uint64_t to)
{
    if (from > to || to > of.size()) [[unlikely]] {
        fail(no_element);
    }
    return Sequence(of.begin() + static_cast<std::ptrdiff_t>(from), of.begin() + static_cast<std::ptrdiff_t>(to));
}

/// As above, to its end.
template <class Sequence>
Sequence slice(const Sequence &of, std::uint64_t from)
{
    return slice(of, from, of.size());
}

/// Whether there is such a part in a text, such an element in a list, or such a key in a map.
inline bool contains(std::string_view text, std::string_view part)
{
    return text.find(part) != std::string_view::npos;
}

template <class Element>
bool contains(const std::vector<Element> &list, const std::type_identity_t<Element> &element)
{
    return std::find(list.begin(), list.end(), element) != list.end();
}

template <class Key, class Value>
bool contains(const std::map<Key, Value> &map, const std::type_identity_t<Key> &key)
{
    return map.contains(key);
}

/// How many bytes, elements or entries a text, a list or a map can come to have in a loop. A loop that doubles a text
/// at each turn would else take all memory.
inline constexpr std::size_t most = std::size_t{1} << 24;

/// Fails with `flux::too_large` where so many are too many.
inline void require_room(std::size_t count)
{
    if (count > most) [[unlikely]] {
        fail(too_large);
    }
}

/// A text that a loop has made; fails with `flux::too_large` where it is too long.
inline std::string bounded(std::string text)
{
    require_room(text.size());
    return text;
}

/// Two lists one after the other; fails with `flux::too_large`.
template <class Element>
std::vector<Element> joined(std::vector<Element> first, const std::type_identity_t<std::vector<Element>> &second)
{
    require_room(first.size() + second.size());
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

/// Adds a list to the end of another; fails with `flux::too_large`.
template <class Element>
void append(std::vector<Element> &to, const std::type_identity_t<std::vector<Element>> &more)
{
    if (&to == &more) {
        to = joined(to, more);
    } else {
        require_room(to.size() + more.size());
        to.insert(to.end(), more.begin(), more.end());
    }
}

/// Adds one element to the end of a list; fails with `flux::too_large`.
template <class Element>
void append_one(std::vector<Element> &to, std::type_identity_t<Element> element)
{
    require_room(to.size() + 1);
    to.push_back(std::move(element));
}

/// Adds a text to the end of another in a loop; fails with `flux::too_large`.
inline void append(std::string &to, std::string_view more)
{
    require_room(to.size() + more.size());
    to += more;
}

/// Gives the element at an index another value; fails with `flux::no_element`.
template <class Element>
void put(std::vector<Element> &list, std::uint64_t index, std::type_identity_t<Element> value)
{
    if (index >= list.size()) [[unlikely]] {
        fail(no_element);
    }
    list[index] = std::move(value);
}

/// Gives a key a value, whether it had one or none; fails with `flux::too_large`.
template <class Key, class Value>
void put(std::map<Key, Value> &map, std::type_identity_t<Key> key, std::type_identity_t<Value> value)
{
    map.insert_or_assign(std::move(key), std::move(value));
    require_room(map.size());
}

/// A map of these entries; of two equal keys the later one counts.
template <class Key, class Value>
std::map<Key, Value> map(std::initializer_list<std::pair<Key, Value>> entries)
{
    std::map<Key, Value> made;
    for (const auto &[key, value] : entries) {
        made.insert_or_assign(key, value);
    }
    return made;
}

/// What `function` says of an element of a list, or of an entry of a map.
template <class Function, class Element>
decltype(auto) ask(Function &function, const Element &element)
{
    if constexpr (requires { function(element.first, element.second); }) {
        return function(element.first, element.second);
    } else {
        return function(element);
    }
}

/// The condition of a comprehension that has none.
struct always {
    constexpr bool operator()(const auto &...) const { return true; }
};

/// The list of what `value` makes of each element that `condition` is true of.
template <class To, class Elements, class Value, class Condition = always>
std::vector<To> collect(Elements &&elements, Value value, Condition condition = {})
{
    std::vector<To> made;
    for (const auto &element : elements) {
        if (ask(condition, element)) {
            made.push_back(ask(value, element));
        }
    }
    return made;
}

/// As `collect`, how many elements such a list has.
template <class Elements, class Value, class Condition = always>
std::uint64_t length(Elements &&elements, Value value, Condition condition = {})
{
    std::uint64_t count = 0;
    for (const auto &element : elements) {
        if (ask(condition, element)) {
            // It may fail.
            static_cast<void>(ask(value, element));
            ++count;
        }
    }
    return count;
}

/// As `collect`, the sum of such a list; fails with `flux::overflow`.
template <class Number, class Elements, class Value, class Condition = always>
Number sum(Elements &&elements, Value value, Condition condition = {})
{
    Number total = 0;
    for (const auto &element : elements) {
        if (ask(condition, element)) {
            total = add<Number>(total, ask(value, element));
        }
    }
    return total;
}

/// The first that `is_better` than all others of such a list; fails with `flux::no_element` where that is empty.
template <class Ordered, class Elements, class Value, class Condition, class Better>
Ordered best(Elements &&elements, Value value, Condition condition, Better is_better)
{
    std::optional<Ordered> found;
    for (const auto &element : elements) {
        if (ask(condition, element)) {
            decltype(auto) one = ask(value, element);
            if (!found || is_better(one, *found)) {
                found = one;
            }
        }
    }
    return flux::compute::value(found);
}

/// As `collect`, the smallest, or the largest, of such a list; fails with `flux::no_element`.
template <class Ordered, class Elements, class Value, class Condition = always>
Ordered min(Elements &&elements, Value value, Condition condition = {})
{
    return best<Ordered>(elements, value, condition, std::less<>());
}

template <class Ordered, class Elements, class Value, class Condition = always>
Ordered max(Elements &&elements, Value value, Condition condition = {})
{
    return best<Ordered>(elements, value, condition, std::greater<>());
}

/// As `collect`, whether one of such a list is true; what comes after it is not looked at.
template <class Elements, class Value, class Condition = always>
bool any(Elements &&elements, Value value, Condition condition = {})
{
    for (const auto &element : elements) {
        if (ask(condition, element) && ask(value, element)) {
            return true;
        }
    }
    return false;
}

/// As `collect`, whether all of such a list are true; what comes after one that is not is not looked at.
template <class Elements, class Value, class Condition = always>
bool all(Elements &&elements, Value value, Condition condition = {})
{
    for (const auto &element : elements) {
        if (ask(condition, element) && !ask(value, element)) {
            return false;
        }
    }
    return true;
}

/// Where a text has a part; fails with `flux::no_element` where it has not.
std::uint64_t position(std::string_view text, std::string_view part);

/// A number of a text, from 0 to 2^63 - 1, the same on every machine: FNV-1a of 64 bits (`draft-eastlake-fnv`), whose
/// bits are then mixed as MurmurHash3 ends, so that each depends on all; without the last one. It is not meant to
/// withstand those who choose texts of one number.
inline std::int64_t hash(std::string_view text) noexcept
{
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char each : text) {
        hash = (hash ^ static_cast<unsigned char>(each)) * 0x100000001b3;
    }
    for (const std::uint64_t factor : {0xff51afd7ed558ccd, 0xc4ceb9fe1a85ec53}) {
        hash = (hash ^ (hash >> 33)) * factor;
    }
    return static_cast<std::int64_t>((hash ^ (hash >> 33)) >> 1);
}

/// That of an integer: of its eight bytes, the lowest first, in two's complement.
template <class Number>
    requires std::is_integral_v<Number>
std::int64_t hash(Number number) noexcept
{
    char bytes[8];
    for (int at = 0; at != 8; ++at) {
        bytes[at] = static_cast<char>(static_cast<std::uint64_t>(number) >> (8 * at));
    }
    return hash(std::string_view(bytes, sizeof bytes));
}

/// The text with small letters for the capitals of ASCII, and the other way round.
std::string lower(std::string_view text);
std::string upper(std::string_view text);

/// The text without the white space of ASCII around it.
std::string trim(std::string_view text);

/// What stands between the places where a text has a separator; all of it where that is empty.
std::vector<std::string> split(std::string_view text, std::string_view separator);

/// The texts with a separator between every two.
std::string join(const std::vector<std::string> &texts, std::string_view separator);

} // namespace flux::compute
