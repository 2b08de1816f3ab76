// A file of the cache, for nodes of your own.
#pragma once

#include "flux/body.hpp"
#include "flux/io.hpp"
#include "flux/io/socket.hpp"

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <functional>
#include <memory>
#include <mutex>
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
    /// The field `Content-Encoding` of HTTP; empty where its bytes are the content itself.
    std::string coding;
    /// What an answer of HTTP says of all of it, a line each: `ETag`, `Last-Modified`, `Content-Type`, `Accept-Ranges`
    /// or `Content-Encoding`, and `Content-Length`.
    std::string fields;
    /// Where it is neither open nor in memory: its bytes as they are made, of a number that is not known before.
    std::function<std::unique_ptr<flux::body>()> made;
    /// Where the cache has found it: a folder, and a path below it.
    std::shared_ptr<const void> below;
    std::string path;
    /// What `file::kept` gives.
    mutable std::mutex kept_lock;
    mutable std::shared_ptr<void> kept;
};

/// The fields of HTTP of a file, by what is known of it otherwise.
std::string fields_of(const opened &of);

/// A file. It stays as it is as long as somebody has it, whatever becomes of it in the file system, but that who writes
/// into a larger one in place, instead of replacing it, changes it here too.
class file
{
  public:
    /// None.
    file() noexcept = default;
    explicit file(std::shared_ptr<const opened> of, bool varies = false) noexcept
        : opened_(std::move(of)), varies_(varies)
    {
    }

    /// In bytes.
    std::size_t size() const noexcept { return opened_->size; }
    /// Seconds and nanoseconds since 1970.
    const std::timespec &modified() const noexcept { return opened_->modified; }
    /// Tells it from what the file was before: an `ETag` of HTTP, quotes included.
    const std::string &tag() const noexcept { return opened_->tag; }
    /// Its media type: `text/html`; `application/octet-stream` where its name says nothing.
    const std::string &type() const noexcept { return opened_->type; }
    /// Its coding, as the field `Content-Encoding` of HTTP is: `gzip`; empty where its bytes are the content itself.
    const std::string &coding() const noexcept { return opened_->coding; }
    /// Whether another client may get it in another coding: what `Vary` of HTTP says.
    bool varies() const noexcept { return varies_; }
    /// The lines of these fields of HTTP: `ETag`, `Last-Modified`, `Content-Type`, `Accept-Ranges` or
    /// `Content-Encoding`, `Content-Length`.
    const std::string &fields() const noexcept { return opened_->fields; }
    /// Where its size is not known before all of it is sent: its bytes, as they are made; else null.
    std::unique_ptr<flux::body> made() const { return opened_->made ? opened_->made() : nullptr; }
    bool is_made() const noexcept { return static_cast<bool>(opened_->made); }
    /// What is known of it.
    const std::shared_ptr<const opened> &facts() const noexcept { return opened_; }
    /// What a module keeps of this file as long as somebody has it, the cache included; made by the first who asks. It
    /// is of one type for all who ask.
    template <class Kept>
    Kept &kept() const
    {
        const std::lock_guard<std::mutex> alone(opened_->kept_lock);
        if (opened_->kept == nullptr) {
            opened_->kept = std::make_shared<Kept>();
        }
        return *static_cast<Kept *>(opened_->kept.get());
    }

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
    bool varies_ = false;
};

/// The file whose path is that of one of the cache with this end: `page.html.gz`. 0 or the error, as `Find` has it.
int find_beside(const file &one, std::string_view end, file &found);

} // namespace files
