/// \file
/// The ways out of a generated function: what the compiler's model calls an exit.
///
/// A function is done and gave its outputs; or it failed and nobody has taken care of that yet; or an error handler took
/// care of a failure, and with that the whole flow ends. The caller looks at the outcome after each call of a function,
/// so that failure needs no exceptions and costs one comparison.
#pragma once

#include <cstddef>

namespace flux {

/// How a generated function ended.
enum class outcome : unsigned char { done, failed, ended };

/// How many outcomes there are; tables by outcome have that many rows.
inline constexpr std::size_t outcome_count = 3;

/// All of them, in order.
inline constexpr outcome all_outcomes[outcome_count] = {outcome::done, outcome::failed, outcome::ended};

/// The row of an outcome in such tables.
constexpr std::size_t index_of(outcome which) noexcept
{
    return static_cast<std::size_t>(which);
}

/// The outcome's name, as reports spell it.
constexpr const char *outcome_name(outcome which) noexcept
{
    constexpr const char *names[outcome_count] = {"done", "failed", "ended"};
    return names[index_of(which)];
}

} // namespace flux
