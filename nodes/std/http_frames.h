// What nghttp2 tells of the frames of a session, and asks.
#pragma once

#include <nghttp2/nghttp2.h>

#include <cstdint>
#include <string_view>

namespace http {

class session;
class stream;

/// Its callbacks, which are called with the lock of the session.
struct frames {
    /// What nghttp2 has of a session. Throws `std::bad_alloc`.
    static nghttp2_session *open(session &of);

    /// What sends the contents of a stream.
    static nghttp2_data_provider content_of(stream &one) noexcept;

  private:
    static stream *stream_of(nghttp2_session *frames, std::int32_t id) noexcept;
    static int calm(session &of, bool is_enough) noexcept;
    static int began_header(nghttp2_session *frames, const nghttp2_frame *frame, void *of);
    static int has_field(nghttp2_session *frames, const nghttp2_frame *frame, const std::uint8_t *name,
                         std::size_t name_size, const std::uint8_t *value, std::size_t value_size, std::uint8_t flags,
                         void *of);
    static int has_wrong_field(nghttp2_session *frames, const nghttp2_frame *frame, const std::uint8_t *name,
                               std::size_t name_size, const std::uint8_t *value, std::size_t value_size,
                               std::uint8_t flags, void *of);
    static int has_content(nghttp2_session *frames, std::uint8_t flags, std::int32_t id, const std::uint8_t *data,
                           std::size_t size, void *of);
    static int came(nghttp2_session *frames, const nghttp2_frame *frame, void *of);
    static int was_sent(nghttp2_session *frames, const nghttp2_frame *frame, void *of);
    static int closed(nghttp2_session *frames, std::int32_t id, std::uint32_t code, void *of);
    static ssize_t read_content(nghttp2_session *frames, std::int32_t id, std::uint8_t *into, std::size_t size,
                                std::uint32_t *flags, nghttp2_data_source *source, void *of);
};

} // namespace http
