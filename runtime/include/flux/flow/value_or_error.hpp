/// \file
/// What an `expected` keeps: a value or an error. Plain ones stand side by side: so a count or a pointer and its error
/// travel in registers, where a `std::variant` goes through memory, written in parts and read as a whole, which a
/// processor waits for. Every message does that some ten times.
#pragma once

#include <type_traits>
#include <utility>
#include <variant>

namespace flux {

/// Of any values.
template <class Value, class Error>
class value_or_error
{
  public:
    value_or_error() = default;
    template <class From>
    value_or_error(std::in_place_index_t<0> which, From &&value) : state_(which, std::forward<From>(value))
    {
    }
    value_or_error(std::in_place_index_t<1> which, const Error &error) : state_(which, error) {}

    bool has_value() const noexcept { return state_.index() == 0; }
    const Value &value() const noexcept { return *std::get_if<0>(&state_); }
    Value &value() noexcept { return *std::get_if<0>(&state_); }
    const Error &error() const noexcept { return *std::get_if<1>(&state_); }

  private:
    std::variant<Value, Error> state_;
};

/// Whether values are plain: numbers, pointers, spans.
template <class Type>
concept plain_value = std::is_trivially_copyable_v<Type> && std::is_nothrow_default_constructible_v<Type>;

/// Of plain ones.
template <plain_value Value, plain_value Error>
class value_or_error<Value, Error>
{
  public:
    value_or_error() = default;
    template <class From>
    value_or_error(std::in_place_index_t<0>, From &&value) : value_(std::forward<From>(value))
    {
    }
    value_or_error(std::in_place_index_t<1>, const Error &error) noexcept : error_(error), has_value_(false) {}

    bool has_value() const noexcept { return has_value_; }
    const Value &value() const noexcept { return value_; }
    Value &value() noexcept { return value_; }
    const Error &error() const noexcept { return error_; }

  private:
    Value value_{};
    Error error_{};
    bool has_value_ = true;
};

} // namespace flux
