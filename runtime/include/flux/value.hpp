/// \file
/// Values whose type is known only at run time: what the language calls `value`. A `flux::value` is undefined, or a
/// `bool`, an integer, a floating-point number, a text, a list of values, or a map of texts to values, as JSON has
/// them.
///
/// It is a regular type. Texts, lists and maps never change and are shared, so a copy costs no more than counting it,
/// and copies may be used by several threads at once.
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace flux {

class value
{
  public:
    using list = std::vector<value>;
    using map = std::map<std::string, value>;

    /// What a value is, in the order in which values of different kinds compare; only the two kinds of numbers are
    /// ordered as one.
    enum class kind : unsigned char { undefined, truth, integer, real, text, list, map };

    /// How deep lists and maps may be in each other. What goes through a value is recursive, and so bounded.
    static constexpr std::uint32_t max_depth = 64;
    /// How large a value may be: the bytes of its texts and keys, and one for each value and entry in it. What is
    /// shared counts as often as it is there.
    static constexpr std::uint64_t max_size = std::uint64_t{1} << 24;

    /// Undefined.
    value() noexcept = default;
    value(const value &) = default;
    /// The other may be a part of this one, which ends with it: so it is copied first.
    value &operator=(const value &other) noexcept { return *this = value(other); }
    /// What is moved from is undefined.
    value(value &&other) noexcept : content_(std::exchange(other.content_, std::monostate())) {}
    value &operator=(value &&other) noexcept
    {
        content_ = std::exchange(other.content_, std::monostate());
        return *this;
    }
    ~value() = default;

    value(std::same_as<bool> auto truth) noexcept : content_(truth) {}

    template <std::integral Number>
        requires(!std::same_as<Number, bool> && std::numeric_limits<Number>::digits <= 63)
    value(Number number) noexcept : content_(std::int64_t{number})
    {}

    value(std::floating_point auto number) noexcept : content_(static_cast<double>(number)) {}

    /// A text, a list or a map. Fails the node (`flux::compute::failure` with `flux::too_large`) where it is larger
    /// than `max_size` or deeper than `max_depth`.
    value(std::string text);
    value(std::string_view text) : value(std::string(text)) {}
    value(const char *text) : value(std::string(text)) {}
    value(list elements);
    value(map entries);
    /// Any other pointer would be a `bool` to C++.
    value(const void *) = delete;

    /// What it is.
    kind what() const noexcept { return static_cast<kind>(content_.index()); }

    /// Whether it is a `bool`, a `std::int64_t`, a `double`, a `std::string`, a `flux::value::list` or a
    /// `flux::value::map`.
    template <class Type>
    bool is() const noexcept
    {
        return get_if<Type>() != nullptr;
    }

    /// It as one of these types; null where it is something else. It is there as long as a copy of this value is.
    template <class Type>
    const Type *get_if() const noexcept
    {
        if constexpr (std::same_as<Type, std::string> || std::same_as<Type, list> || std::same_as<Type, map>) {
            const shared<Type> *const found = std::get_if<shared<Type>>(&content_);
            return found == nullptr ? nullptr : &(*found)->whole;
        } else {
            return std::get_if<Type>(&content_);
        }
    }

    /// The value of a key of a map; undefined where there is none, or this is no map.
    const value &operator[](const std::string &key) const noexcept;
    const value &operator[](const char *key) const { return (*this)[std::string(key)]; }
    /// The element of a list at an index from 0; undefined where there is none, or this is no list.
    template <std::integral Index>
    const value &operator[](Index index) const noexcept
    {
        return std::in_range<std::uint64_t>(index) ? at(static_cast<std::uint64_t>(index)) : nothing();
    }

    /// A total order: undefined, then `false`, `true`, numbers, texts, lists, maps. Numbers are ordered by their exact
    /// value; an integer comes before a floating-point number of the same value, and `-0.0` before `0.0`; NaN comes
    /// last of them, and all NaN are one. Texts are ordered by their bytes, lists by their first element that differs,
    /// maps as lists of their entries.
    std::strong_ordering operator<=>(const value &other) const noexcept;
    bool operator==(const value &other) const noexcept { return *this <=> other == 0; }

    /// Equal for equal values. Constraints with such a key use it, too.
    std::uint64_t hash() const noexcept;

  private:
    /// A part that is shared, and what is known of it.
    template <class Whole>
    struct part {
        Whole whole;
        std::uint64_t size;
        std::uint32_t depth;
    };
    template <class Whole>
    using shared = std::shared_ptr<const part<Whole>>;

    const value &at(std::uint64_t index) const noexcept;
    static const value &nothing() noexcept;
    /// Its size, and its depth.
    std::pair<std::uint64_t, std::uint32_t> extent() const noexcept;

    /// In the order of `kind`.
    std::variant<std::monostate, bool, std::int64_t, double, shared<std::string>, shared<list>, shared<map>> content_;
};

} // namespace flux

template <>
struct std::hash<flux::value> {
    std::size_t operator()(const flux::value &of) const noexcept { return of.hash(); }
};
