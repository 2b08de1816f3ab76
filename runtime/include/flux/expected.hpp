/// \file
/// A value or an error code, for functions that give their result as one: `flux::expected<std::string, int> Read(…)`.
///
/// It is `std::expected` of C++23, as far as a node's function needs it, in C++20: the names are the same, and a
/// function may as well return that of the standard library where there is one.
#pragma once

#include "flux/error.hpp"

#include <concepts>
#include <type_traits>
#include <utility>
#include <variant>

namespace flux {

/// An error, on its way into an `expected`: `return flux::unexpected(ENOENT);`
template <class Error>
class unexpected
{
  public:
    /// That error.
    explicit unexpected(Error error) : error_(std::move(error)) {}

    /// That error.
    const Error &error() const noexcept { return error_; }

  private:
    Error error_;
};

/// A value, or why there is none.
template <class Value, class Error>
class expected
{
  public:
    /// The value that its type starts with.
    expected()
        requires std::default_initializable<Value>
    = default;

    /// A value, or what makes one.
    template <class From = Value>
        requires std::convertible_to<From, Value>
    expected(From &&value) : state_(std::in_place_index<0>, std::forward<From>(value))
    {
    }

    /// No value.
    expected(unexpected<Error> failure) : state_(std::in_place_index<1>, failure.error()) {}

    /// Whether there is a value.
    bool has_value() const noexcept { return state_.index() == 0; }

    /// The value; there must be one.
    const Value &operator*() const & noexcept { return *std::get_if<0>(&state_); }
    /// As above, to move from.
    Value &&operator*() && noexcept { return std::move(*std::get_if<0>(&state_)); }

    /// The error; there must be no value.
    const Error &error() const noexcept { return *std::get_if<1>(&state_); }

  private:
    std::variant<Value, Error> state_;
};

/// Success, or why there is none.
template <class Error>
class expected<void, Error>
{
  public:
    /// Success.
    expected() = default;

    /// No success.
    expected(unexpected<Error> failure) : failed_(true), error_(failure.error()) {}

    /// Whether it is a success.
    bool has_value() const noexcept { return !failed_; }

    /// The error; it must be no success.
    const Error &error() const noexcept { return error_; }

  private:
    bool failed_ = false;
    Error error_{};
};

/// What a node returns for such a result: 0, or the error, which is one even where its code is 0.
template <class Expected>
int take(const Expected &result)
{
    if (result.has_value()) {
        return 0;
    }
    return result.error() != 0 ? result.error() : failed_without_code;
}

/// As above; gives the value.
template <class Expected, class Value>
int take(Expected &&result, Value &value)
{
    if (result.has_value()) {
        value = *std::forward<Expected>(result);
        return 0;
    }
    return take(result);
}

} // namespace flux
