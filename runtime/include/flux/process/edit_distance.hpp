/// \file
/// How far apart two names are: what "did you mean" goes by.
#pragma once

#include <cstddef>
#include <string_view>

namespace flux {

/// Names this near are taken for slips of one another.
inline constexpr std::size_t slip_distance = 2;

/// The least number of letters to insert, remove or replace to make one of the other (Levenshtein, 1966). O(product of
/// the lengths). Throws `std::bad_alloc`.
std::size_t edit_distance(std::string_view left, std::string_view right);

} // namespace flux
