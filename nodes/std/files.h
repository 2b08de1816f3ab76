// A file of the cache, for nodes of your own.
#pragma once

#include "flux/io.hpp"
#include "flux/io/socket.hpp"

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>

namespace files {

/// An option that is a size: of whatever unit, and at most so large that sums of some do not overflow.
class size
{
  public:
    static constexpr std::int64_t least = 0;
    static constexpr std::int64_t most = std::int64_t{1} << 50;

    size(std::int64_t value) noexcept : value_(static_cast<std::size_t>(std::clamp(value, least, most))) {}
    operator std::size_t() const noexcept { return value_; }

  private:
    std::size_t value_;
};

/// An option that is a number of descriptors.
class count
{
  public:
    static constexpr std::int64_t least = 1;
    static constexpr std::int64_t most = 1'000'000;

    count(std::int64_t value) noexcept : value_(static_cast<std::size_t>(std::clamp(value, least, most))) {}
    operator std::size_t() const noexcept { return value_; }

  private:
    std::size_t value_;
};

/// What is known of a file that is open, or in memory. It is the same for all who have it, and changes no more.
struct opened {
    /// None where it is in memory.
    flux::descriptor descriptor;
    std::string content;
    std::size_t size = 0;
    /// When it was changed last, and where it is: what tells this from another.
    std::timespec modified{};
    std::uint64_t device = 0;
    std::uint64_t number = 0;
    /// As the field `ETag` of HTTP is, quotes included (RFC 9110, 8.8.3).
    std::string tag;
    /// Its media type, by the end of its name: `text/html`.
    std::string type;
    /// What an answer of HTTP says of all of it, a line each: `ETag`, `Last-Modified`, `Content-Type`, `Accept-Ranges`
    /// and `Content-Length`.
    std::string fields;
};

/// A file. It stays as it is as long as somebody has it, whatever becomes of it in the file system, but that who writes
/// into a larger one in place, instead of replacing it, changes it here too.
class file
{
  public:
    /// None.
    file() noexcept = default;
    explicit file(std::shared_ptr<const opened> of) noexcept : opened_(std::move(of)) {}

    /// In bytes.
    std::size_t size() const noexcept { return opened_->size; }
    /// Seconds and nanoseconds since 1970.
    const std::timespec &modified() const noexcept { return opened_->modified; }
    /// Tells it from what the file was before: an `ETag` of HTTP, quotes included.
    const std::string &tag() const noexcept { return opened_->tag; }
    /// Its media type: `text/html`; `application/octet-stream` where its name says nothing.
    const std::string &type() const noexcept { return opened_->type; }
    /// The lines of these fields of HTTP: `ETag`, `Last-Modified`, `Content-Type`, `Accept-Ranges`, `Content-Length`.
    const std::string &fields() const noexcept { return opened_->fields; }

    /// Whether its content is in memory.
    bool is_in_memory() const noexcept { return opened_->descriptor.get() < 0; }
    /// Its bytes, if they are in memory.
    std::string_view content() const noexcept { return opened_->content; }
    /// A part of it, if it is not: of at most `most` bytes from `offset`, which it has.
    flux::file_part part(std::size_t offset, std::size_t most) const noexcept
    {
        return {opened_->descriptor.get(), static_cast<off_t>(offset), std::min(most, size() - offset)};
    }

  private:
    std::shared_ptr<const opened> opened_;
};

} // namespace files
