// The CRC-32 of what comes in pieces: that of zlib, of Hadoop's IFile, of ISO 3309.
//
// Eight bytes at a time by eight tables (M. E. Kounavis and F. L. Berry, A Systematic Approach to Building High
// Performance Software-Based CRC Generators, ISCC 2005).
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace flick {

/// A CRC-32 so far.
class checksum
{
  public:
    void add(std::string_view bytes) noexcept
    {
        const char *next = bytes.data();
        std::size_t left = bytes.size();
        std::uint32_t sum = sum_;
        if constexpr (std::endian::native == std::endian::little) {
            for (; left >= 8; left -= 8, next += 8) {
                std::uint64_t eight = 0;
                std::memcpy(&eight, next, sizeof eight);
                eight ^= sum;
                sum = 0;
#pragma GCC unroll 8
                for (std::size_t byte = 0; byte != 8; ++byte) {
                    sum ^= tables[7 - byte][(eight >> (8 * byte)) & 0xff];
                }
            }
        }
        for (; left != 0; --left, ++next) {
            sum = tables[0][(sum ^ static_cast<unsigned char>(*next)) & 0xff] ^ (sum >> 8);
        }
        sum_ = sum;
    }

    std::uint32_t value() const noexcept { return ~sum_; }

  private:
    using table = std::array<std::uint32_t, 256>;

    static constexpr std::array<table, 8> make() noexcept
    {
        constexpr std::uint32_t polynomial = 0xedb88320;
        std::array<table, 8> made{};
        for (std::uint32_t byte = 0; byte != 256; ++byte) {
            std::uint32_t sum = byte;
            for (int bit = 0; bit != 8; ++bit) {
                sum = (sum >> 1) ^ ((sum & 1) != 0 ? polynomial : 0);
            }
            made[0][byte] = sum;
        }
        for (std::size_t one = 1; one != made.size(); ++one) {
            for (std::size_t byte = 0; byte != 256; ++byte) {
                const std::uint32_t before = made[one - 1][byte];
                made[one][byte] = (before >> 8) ^ made[0][before & 0xff];
            }
        }
        return made;
    }
    static const std::array<table, 8> tables;

    std::uint32_t sum_ = 0xffffffff;
};

inline constexpr std::array<checksum::table, 8> checksum::tables = checksum::make();

} // namespace flick
