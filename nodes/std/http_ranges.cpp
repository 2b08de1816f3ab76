#include "http_ranges.h"

#include "http_answer.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <unistd.h>
#include <utility>

namespace http {

using namespace http_text;
using std::string_view;

namespace {

/// What is between the parts: nobody knows it who writes a file.
std::string new_boundary()
{
    std::random_device chance;
    char text[32];
    std::snprintf(text, sizeof text, "%08x%08x%08x", chance(), chance(), chance());
    return text;
}

/// Each part behind its head, and the end.
class byteranges final : public flux::body
{
  public:
    byteranges(const files::file &file, const std::vector<range> &ranges, const std::string &boundary) : file_(file)
    {
        for (const range &each : ranges) {
            pieces_.push_back({"\r\n--" + boundary + "\r\nContent-Type: " + content_type_of(file.type()) +
                                   "\r\nContent-Range: " + content_range_of(each, file.size()) + "\r\n\r\n",
                               each});
        }
        pieces_.push_back({"\r\n--" + boundary + "--\r\n", {}});
        for (const piece &each : pieces_) {
            size_ += each.head.size() + each.content.size;
        }
    }

    /// In bytes.
    std::uint64_t size() const noexcept { return size_; }

    flux::io_result<std::size_t> pull(std::span<std::byte> into, flux::moment) noexcept override
    {
        while (at_ != pieces_.size()) {
            const piece &one = pieces_[at_];
            if (done_ < one.head.size()) {
                return copy(string_view(one.head).substr(done_), into);
            }
            const std::size_t of_content = done_ - one.head.size();
            if (of_content < one.content.size) {
                return read(one.content.begin + of_content, one.content.size - of_content, into);
            }
            ++at_;
            done_ = 0;
        }
        return std::size_t{0};
    }

    void abandon() noexcept override {}

  private:
    struct piece {
        std::string head;
        range content;
    };

    flux::io_result<std::size_t> copy(string_view from, std::span<std::byte> into) noexcept
    {
        const std::size_t count = std::min(from.size(), into.size());
        std::memcpy(into.data(), from.data(), count);
        done_ += count;
        return count;
    }

    flux::io_result<std::size_t> read(std::size_t begin, std::size_t size, std::span<std::byte> into) noexcept
    {
        if (file_.is_in_memory()) {
            return copy(string_view(file_.content()).substr(begin, size), into);
        }
        const flux::file_part part = file_.part(begin, std::min(size, into.size()));
        const ssize_t count = ::pread(part.descriptor, into.data(), part.size, part.offset);
        if (count <= 0) {
            return flux::unexpected(count == 0 ? ENODATA : errno);
        }
        done_ += static_cast<std::size_t>(count);
        return static_cast<std::size_t>(count);
    }

    const files::file file_;
    std::vector<piece> pieces_;
    std::uint64_t size_ = 0;
    // The piece that comes next, and how much of it has come.
    std::size_t at_ = 0;
    std::size_t done_ = 0;
};

} // namespace

int send_ranges(const request &to, const files::file &file, const std::vector<range> &ranges)
{
    const std::string boundary = new_boundary();
    byteranges content(file, ranges, boundary);
    response head{206,
                  {{"ETag", file.tag()},
                   {"Last-Modified", last_modified_of(file.modified().tv_sec)},
                   {"Content-Type", "multipart/byteranges; boundary=" + boundary},
                   {"Accept-Ranges", "bytes"}},
                  {}};
    if (file.varies()) {
        head.fields.push_back({"Vary", "Accept-Encoding"});
    }
    return send_stream(to, head, content, content.size());
}

} // namespace http
