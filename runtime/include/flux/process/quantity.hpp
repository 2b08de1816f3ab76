/// \file
/// Durations and sizes, as they are written on a command line: `500ms`, `2s`, `5m`; `512`, `64k`, `2M`, `1G`. The units
/// are those of the language. A duration without a unit is in seconds, and may have a fraction: `30`, `0.5`.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace flux {

/// What a duration looks like, for a message.
inline constexpr const char *duration_examples = "500ms, 2s, 5m or 30, which is seconds";
/// What a size looks like, for a message.
inline constexpr const char *size_examples = "512, 64k, 2M or 1G";

/// A duration in milliseconds; nothing where it is none, is negative, or does not fit.
std::optional<std::int64_t> read_duration(std::string_view text) noexcept;

/// A size in bytes; nothing where it is none, is negative, or does not fit.
std::optional<std::int64_t> read_size(std::string_view text) noexcept;

} // namespace flux
