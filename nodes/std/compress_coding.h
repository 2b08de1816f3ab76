// The codings themselves: gzip (RFC 1952) by zlib, brotli (RFC 7932) and zstd (RFC 8878) by their libraries.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>

namespace compress {

enum class coding : unsigned char { gzip, brotli, zstd };

inline constexpr std::array all_codings = {coding::gzip, coding::brotli, coding::zstd};

/// As the fields of HTTP call it, and how the name of a precompressed file ends.
struct coding_names {
    std::string_view token;
    std::string_view end;
};

constexpr coding_names names_of(coding of) noexcept
{
    constexpr coding_names names[] = {{"gzip", ".gz"}, {"br", ".br"}, {"zstd", ".zst"}};
    return names[static_cast<std::size_t>(of)];
}

/// One content, which comes in pieces.
class encoder
{
  public:
    encoder() noexcept = default;
    encoder(const encoder &) = delete;
    encoder &operator=(const encoder &) = delete;
    virtual ~encoder() = default;

    /// Appends what has become of it so far: 0, or ENOMEM. After the last piece it is whole.
    virtual int add(std::string_view piece, bool is_last, std::string &coded) = 0;

    /// Of this coding, so well; a level that the coding does not have is the nearest one. Null where there is no
    /// memory.
    static std::unique_ptr<encoder> of(coding which, int level);
};

/// All of a content: 0, or ENOMEM.
int encode(coding which, int level, std::string_view content, std::string &coded);

} // namespace compress
