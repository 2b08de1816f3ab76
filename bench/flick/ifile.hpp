/// \file
/// Hadoop's IFile as the hand-written programs of this bench have it: records of a Text and an IntWritable, sizes up to
/// 127 alone, and the CRC-32 at the end.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace ifile {

/// The CRC-32 of zlib, eight bytes at a time.
class checksum
{
  public:
    void add(std::string_view bytes)
    {
        const char *next = bytes.data();
        std::size_t left = bytes.size();
        std::uint32_t sum = sum_;
        for (; left >= 8; left -= 8, next += 8) {
            std::uint64_t eight = 0;
            std::memcpy(&eight, next, sizeof eight);
            eight ^= sum;
            sum = 0;
#pragma GCC unroll 8
            for (std::size_t byte = 0; byte != 8; ++byte) {
                sum ^= tables()[7 - byte][(eight >> (8 * byte)) & 0xff];
            }
        }
        for (; left != 0; --left, ++next) {
            sum = tables()[0][(sum ^ static_cast<unsigned char>(*next)) & 0xff] ^ (sum >> 8);
        }
        sum_ = sum;
    }

    std::uint32_t value() const { return ~sum_; }

  private:
    using all_tables = std::array<std::array<std::uint32_t, 256>, 8>;
    static constexpr all_tables make()
    {
        all_tables made{};
        for (std::uint32_t byte = 0; byte != 256; ++byte) {
            std::uint32_t sum = byte;
            for (int bit = 0; bit != 8; ++bit) {
                sum = (sum >> 1) ^ ((sum & 1) != 0 ? 0xedb88320U : 0U);
            }
            made[0][byte] = sum;
        }
        for (std::size_t one = 1; one != made.size(); ++one) {
            for (std::size_t byte = 0; byte != 256; ++byte) {
                made[one][byte] = (made[one - 1][byte] >> 8) ^ made[0][made[one - 1][byte] & 0xff];
            }
        }
        return made;
    }
    static const all_tables &tables()
    {
        static constexpr all_tables made = make();
        return made;
    }

    std::uint32_t sum_ = 0xffffffff;
};

inline std::uint32_t number_at(const char *bytes)
{
    std::uint32_t number = 0;
    std::memcpy(&number, bytes, sizeof number);
    return __builtin_bswap32(number);
}

inline void put_number(std::string &out, std::uint32_t number)
{
    number = __builtin_bswap32(number);
    out.append(reinterpret_cast<const char *>(&number), sizeof number);
}

inline void put_record(std::string &out, std::string_view word, std::uint32_t times)
{
    const auto size = static_cast<char>(word.size());
    out += static_cast<char>(size + 1);
    out += '\4';
    out += size;
    out += word;
    put_number(out, times);
}

/// The end of a file, of whose records this is the checksum.
inline void put_end(std::string &out, checksum sum)
{
    constexpr std::string_view mark = "\xff\xff";
    sum.add(mark);
    out += mark;
    put_number(out, sum.value());
}

} // namespace ifile
