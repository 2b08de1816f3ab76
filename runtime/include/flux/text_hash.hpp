/// \file
/// The hash of a text, quick where that is short: eight bytes at once are multiplied, as in wyhash (Wang Yi, "wyhash",
/// 2019, in the public domain).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace flux {

namespace text_hash {

template <std::size_t Size>
std::uint64_t part(const char *from) noexcept
{
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, from, Size);
    return bytes;
}

/// Of up to 8 bytes.
inline std::uint64_t last_part(std::string_view text) noexcept
{
    const std::size_t size = text.size();
    if (size >= 4) {
        return part<4>(text.data()) << 32 | part<4>(text.data() + size - 4);
    }
    if (size == 0) {
        return 0;
    }
    return part<1>(text.data()) << 16 | part<1>(text.data() + size / 2) << 8 | part<1>(text.data() + size - 1);
}

inline std::uint64_t mixed(std::uint64_t bytes, std::uint64_t seed) noexcept
{
    const unsigned __int128 product = static_cast<unsigned __int128>(bytes ^ seed) * 0x9e3779b97f4a7c15U;
    return static_cast<std::uint64_t>(product >> 64) ^ static_cast<std::uint64_t>(product);
}

/// A number of this process that nobody else knows.
std::uint64_t secret() noexcept;

} // namespace text_hash

/// The hash of a text. It is the same wherever it is computed with the same seed; a seed with bits all over is best.
inline std::uint64_t hash_of_text(std::string_view text, std::uint64_t seed = 0xa0761d6478bd642f) noexcept
{
    // Another number of the seed, as the same would cancel out below.
    std::uint64_t hash = seed * 0xe7037ed1a0b428db ^ text.size();
    for (; text.size() > 8; text.remove_prefix(8)) {
        hash = text_hash::mixed(hash ^ text_hash::part<8>(text.data()), seed);
    }
    return text_hash::mixed(hash ^ text_hash::last_part(text), seed);
}

/// For tables in memory whose keys strangers choose: its seed is another in each process, so nobody can choose many keys
/// with one hash. Texts are looked for where they are, without a copy.
struct secret_text_hash {
    using is_transparent = void;

    std::size_t operator()(std::string_view text) const noexcept { return hash_of_text(text, text_hash::secret()); }
};

} // namespace flux
