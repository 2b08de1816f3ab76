/// \file
/// A list in a message. Its elements are decoded while somebody goes through them: until then the list is the place of
/// its bytes and their number.
#pragma once

#include "flux/message.hpp"
#include "flux/message/cursor.hpp"
#include "flux/message/quick_reading.hpp"

#include <cstddef>
#include <iterator>
#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

namespace flux {

/// What an element is that is no message; where it is one, this is nothing.
template <class Element>
auto decoded_by()
{
    if constexpr (requires(const char *bytes, const typename Element::places &at) { Element::decoded(bytes, at); }) {
        return Element::decoded(nullptr, {});
    }
}

/// A list of elements, which shares the bytes of its message. `Element` is the class of a message, or one of those
/// below.
template <class Element>
class message_list
{
  public:
    using places = typename Element::places;

    /// The element of which these are the places.
    static auto element(const message_bytes &bytes, const places &at)
    {
        if constexpr (std::is_base_of_v<message, Element>) {
            return Element(bytes, at);
        } else {
            return Element::decoded(bytes.view().data(), at);
        }
    }

    /// What an element is.
    using value_type =
        std::conditional_t<std::is_base_of_v<message, Element>, Element, decltype(decoded_by<Element>())>;

    /// Goes through the elements. The list must stay.
    class const_iterator
    {
      public:
        using iterator_category = std::input_iterator_tag;
        using difference_type = std::ptrdiff_t;
        using value_type = message_list::value_type;
        using reference = value_type;
        using pointer = void;

        const_iterator() = default;

        value_type operator*() const { return element(list_->bytes_, at_); }

        const_iterator &operator++()
        {
            ++index_;
            find();
            return *this;
        }
        void operator++(int) { ++*this; }

        bool operator==(const const_iterator &other) const noexcept { return index_ == other.index_; }

      private:
        friend class message_list;

        const_iterator(const message_list *list, std::size_t index) : list_(list), index_(index) { find(); }

        void find()
        {
            if (index_ == list_->size()) {
                return;
            }
            const std::size_t begin = index_ == 0 ? list_->parts_.begin : next_;
            at_ = list_->first_;
            next_ = find_again<Element>(list_->bytes_.view().substr(0, list_->parts_.end), begin, at_);
        }

        const message_list *list_ = nullptr;
        std::size_t index_ = 0;
        std::size_t next_ = 0;
        places at_;
    };

    message_list(message_bytes bytes, const message_parts &parts, const places &first = {})
        : bytes_(std::move(bytes)), parts_(parts), first_(first)
    {
    }

    /// How many elements it has.
    std::size_t size() const noexcept { return parts_.count; }
    bool empty() const noexcept { return parts_.count == 0; }

    const_iterator begin() const { return {this, 0}; }
    const_iterator end() const { return {this, size()}; }

    /// The element at an index, which must be one of the list. O(index).
    value_type operator[](std::size_t index) const
    {
        const_iterator at = begin();
        std::advance(at, index);
        return *at;
    }

  private:
    message_bytes bytes_;
    message_parts parts_;
    places first_;
};

/// Whether a message has the same bytes as another, and means the same by them. Other values have to be equal.
bool is_same(const auto &one, const auto &wanted)
{
    if constexpr (requires { one.means_same_as(wanted); }) {
        return one.means_same_as(wanted);
    } else {
        return one == wanted;
    }
}

/// The same of one that may not be there.
template <class One, class Wanted>
bool is_same(const std::optional<One> &one, const std::optional<Wanted> &wanted)
{
    return one.has_value() == wanted.has_value() && (!one || is_same(*one, *wanted));
}

/// Whether a list has these elements.
bool are_same(const auto &list, const auto &wanted)
{
    if (list.size() != wanted.size()) {
        return false;
    }
    auto one = wanted.begin();
    for (const auto &element : list) {
        if (!is_same(element, *one)) {
            return false;
        }
        ++one;
    }
    return true;
}

/// The same of one that may not be there.
template <class List, class Wanted>
bool are_same(const std::optional<List> &list, const std::optional<Wanted> &wanted)
{
    return list.has_value() == wanted.has_value() && (!list || are_same(*list, *wanted));
}

/// What is there, where nothing is.
template <class Value>
inline const Value empty_value{};

/// What was given, or nothing: where it is.
template <class Value>
const Value &or_empty(const std::optional<Value> &given) noexcept
{
    return given.has_value() ? *given : empty_value<Value>;
}

/// How many bytes a message or a text has; one that is not given has none.
std::size_t size_of(const auto &part) noexcept
{
    if constexpr (requires { part.has_value(); }) {
        return part.has_value() ? size_of(*part) : 0;
    } else if constexpr (requires { part.wire(); }) {
        return part.wire().size();
    } else {
        return part.size();
    }
}

/// How many bytes messages or texts have.
std::size_t size_of_all(const auto &list)
{
    std::size_t size = 0;
    for (const auto &one : list) {
        size += size_of(one);
    }
    return size;
}

/// How many bytes a message has that is made of these parts, with so many beside them.
std::size_t room_for(std::size_t beside, const auto &...parts) noexcept
{
    return (beside + ... + size_of(parts));
}

/// An element that is an integer of `Size` bytes.
template <class Integer, Integer (*Decode)(const char *), std::size_t Size>
struct integer_element {
    struct places : message_places {
    };

    template <class Cursor>
    static const char *parse(Cursor in, places &) noexcept
    {
        if (!in.has(Size)) {
            return in.missing(Size, "");
        }
        in.skip(Size);
        return in.next();
    }

    static Integer decoded(const char *bytes, const places &at) noexcept { return Decode(bytes + at.whole.begin); }
};

/// An element that is an integer in digits.
template <class Integer, unsigned Base>
struct digits_element {
    struct places : message_places {
        Integer number = 0;
    };

    template <class Cursor>
    static const char *parse(Cursor in, places &at) noexcept
    {
        return in.digits(at.number, Base, "") ? in.next() : nullptr;
    }

    static Integer decoded(const char *, const places &at) noexcept { return at.number; }
};

/// An element that may be in itself at most `Most` times: its list has this number among the fields with such a bound.
template <class Element, std::size_t Number, unsigned Most>
struct bounded_element {
    using places = typename Element::places;

    static constexpr const message_facts &facts = Element::facts;

    template <class Cursor>
    static const char *parse(Cursor in, places &at) noexcept
    {
        const char *after = nullptr;
        return in.within_depth(Number, Most, "", [&] { return (after = Element::parse(in, at)) != nullptr; }) ? after
                                                                                                             : nullptr;
    }
};

/// A text that is an element: where it is.
struct text_element {
    struct places : message_places {
        message_part text;
    };

    static std::string_view decoded(const char *bytes, const places &at) noexcept
    {
        return {bytes + at.text.begin, at.text.end - at.text.begin};
    }
};

/// An element that is a token.
template <class Automaton>
struct token_element : text_element {
    template <class Cursor>
    static const char *parse(Cursor in, places &at) noexcept
    {
        return in.token(at.text, Automaton(), std::numeric_limits<std::uint64_t>::max(), "") ? in.next() : nullptr;
    }
};

/// An element that is one byte of a set.
template <class Set>
struct one_element : text_element {
    template <class Cursor>
    static const char *parse(Cursor in, places &at) noexcept
    {
        return in.one(at.text, Set(), "") ? in.next() : nullptr;
    }
};

/// An element that is a token of at least `Least` bytes of a set.
template <class Set, std::size_t Least>
struct run_element : text_element {
    template <class Cursor>
    static const char *parse(Cursor in, places &at) noexcept
    {
        return in.run(at.text, Set(), Least, std::numeric_limits<std::uint64_t>::max(), "") ? in.next() : nullptr;
    }
};

} // namespace flux
