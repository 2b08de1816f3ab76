#include "http_frames.h"

#include "http_stream.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace http {

using std::string_view;

namespace {

constexpr unsigned most_streams = 100;
/// A client that resets its requests has more of them here than it knows of: "10.5".
constexpr unsigned most_alive = 200;
/// All streams of a session together.
constexpr std::int32_t window = std::int32_t{256} << 10;
/// "6.5.2": what is told a client; what is larger is answered with 431.
constexpr std::uint32_t most_header = std::uint32_t{64} << 10;

session &session_of(void *of) noexcept
{
    return *static_cast<session *>(of);
}

string_view text_of(const std::uint8_t *bytes, std::size_t size) noexcept
{
    return {reinterpret_cast<const char *>(bytes), size};
}

/// Nothing is thrown through nghttp2.
template <class Step>
int guarded(Step step) noexcept
{
    try {
        return step();
    } catch (const std::bad_alloc &) {
        return NGHTTP2_ERR_CALLBACK_FAILURE;
    }
}

} // namespace

nghttp2_session *frames::open(session &of)
{
    nghttp2_session_callbacks *calls = nullptr;
    nghttp2_option *options = nullptr;
    nghttp2_session *opened = nullptr;
    if (nghttp2_session_callbacks_new(&calls) == 0 && nghttp2_option_new(&options) == 0) {
        nghttp2_session_callbacks_set_on_begin_headers_callback(calls, began_header);
        nghttp2_session_callbacks_set_on_header_callback(calls, has_field);
        nghttp2_session_callbacks_set_on_invalid_header_callback(calls, has_wrong_field);
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(calls, has_content);
        nghttp2_session_callbacks_set_on_frame_recv_callback(calls, came);
        nghttp2_session_callbacks_set_on_frame_send_callback(calls, was_sent);
        nghttp2_session_callbacks_set_on_stream_close_callback(calls, closed);
        nghttp2_option_set_no_auto_window_update(options, 1);
        nghttp2_session_server_new2(&opened, calls, &of, options);
    }
    nghttp2_session_callbacks_del(calls);
    nghttp2_option_del(options);
    const nghttp2_settings_entry settings[] = {{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, most_streams},
                                               {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, most_header}};
    if (opened == nullptr ||
        nghttp2_submit_settings(opened, NGHTTP2_FLAG_NONE, settings, std::size(settings)) != 0 ||
        nghttp2_session_set_local_window_size(opened, NGHTTP2_FLAG_NONE, 0, window) != 0) {
        nghttp2_session_del(opened);
        throw std::bad_alloc();
    }
    return opened;
}

nghttp2_data_provider frames::content_of(stream &one) noexcept
{
    nghttp2_data_provider made{};
    made.source.ptr = &one;
    made.read_callback = read_content;
    return made;
}

// Null of one that was refused.
stream *frames::stream_of(nghttp2_session *frames, std::int32_t id) noexcept
{
    return static_cast<stream *>(nghttp2_session_get_stream_user_data(frames, id));
}

// "10.5": a client that keeps a server busy with nothing is sent away.
int frames::calm(session &of, bool is_enough) noexcept
{
    return is_enough ? nghttp2_session_terminate_session(of.frames_, NGHTTP2_ENHANCE_YOUR_CALM) : 0;
}

int frames::began_header(nghttp2_session *frames, const nghttp2_frame *frame, void *of)
{
    session &own = session_of(of);
    own.in_header_ = true;
    if (frame->hd.type != NGHTTP2_HEADERS || frame->headers.cat != NGHTTP2_HCAT_REQUEST) {
        return 0;
    }
    const std::int32_t id = frame->hd.stream_id;
    if (own.is_left_ || own.alive_.load(std::memory_order_relaxed) >= most_alive) {
        return nghttp2_submit_rst_stream(frames, NGHTTP2_FLAG_NONE, id, NGHTTP2_REFUSED_STREAM);
    }
    return guarded([&] {
        const auto made = std::make_shared<stream>(own.shared_from_this(), id);
        own.streams_.emplace(id, made);
        return nghttp2_session_set_stream_user_data(frames, id, made.get());
    });
}

int frames::has_field(nghttp2_session *frames, const nghttp2_frame *frame, const std::uint8_t *name,
                      std::size_t name_size, const std::uint8_t *value, std::size_t value_size, std::uint8_t, void *)
{
    stream *const one = stream_of(frames, frame->hd.stream_id);
    if (one == nullptr) {
        return 0;
    }
    return guarded([&] {
        const bool is_of_head = frame->headers.cat == NGHTTP2_HCAT_REQUEST;
        const auto add = is_of_head ? &stream::add_field : &stream::add_trailer;
        (one->*add)(text_of(name, name_size), text_of(value, value_size));
        return 0;
    });
}

// "8.2.1": such a request is malformed, and not one without this field.
int frames::has_wrong_field(nghttp2_session *frames, const nghttp2_frame *frame, const std::uint8_t *, std::size_t,
                            const std::uint8_t *, std::size_t, std::uint8_t, void *)
{
    nghttp2_submit_rst_stream(frames, NGHTTP2_FLAG_NONE, frame->hd.stream_id, NGHTTP2_PROTOCOL_ERROR);
    return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
}

int frames::has_content(nghttp2_session *frames, std::uint8_t, std::int32_t id, const std::uint8_t *data,
                        std::size_t size, void *)
{
    stream *const one = stream_of(frames, id);
    if (one == nullptr || one->drops_input_) {
        return nghttp2_session_consume(frames, id, size);
    }
    return guarded([&] {
        one->input_.append(text_of(data, size));
        session::wake(*one);
        return 0;
    });
}

int frames::came(nghttp2_session *frames, const nghttp2_frame *frame, void *of)
{
    session &own = session_of(of);
    stream *const one = stream_of(frames, frame->hd.stream_id);
    const bool ends = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    switch (frame->hd.type) {
    case NGHTTP2_HEADERS:
        own.in_header_ = false;
        [[fallthrough]];
    case NGHTTP2_DATA:
        if (one != nullptr && ends && !one->is_wrong_) {
            one->input_ended_ = true;
            session::wake(*one);
        }
        if (one != nullptr && frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
            one->make_request();
            return 0;
        }
        return calm(own, frame->hd.type == NGHTTP2_DATA && frame->hd.length == 0 && !ends && !own.others_.spend());
    case NGHTTP2_RST_STREAM:
        return calm(own, !own.resets_.spend());
    case NGHTTP2_SETTINGS:
        own.is_greeted_ = true;
        [[fallthrough]];
    case NGHTTP2_PING:
    case NGHTTP2_PRIORITY:
        return calm(own, !own.others_.spend());
    default:
        return 0;
    }
}

// "8.1": where the whole answer has gone, a client need not send the rest of its request.
int frames::was_sent(nghttp2_session *frames, const nghttp2_frame *frame, void *)
{
    const bool may_end = frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS;
    stream *const one = may_end ? stream_of(frames, frame->hd.stream_id) : nullptr;
    if (one == nullptr || (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) {
        return 0;
    }
    one->has_sent_end_ = true;
    one->drop_input();
    session::wake(*one);
    return one->input_ended_ ? 0
                             : nghttp2_submit_rst_stream(frames, NGHTTP2_FLAG_NONE, frame->hd.stream_id,
                                                         NGHTTP2_NO_ERROR);
}

int frames::closed(nghttp2_session *frames, std::int32_t id, std::uint32_t, void *of)
{
    session &own = session_of(of);
    own.in_header_ = false;
    if (stream *const one = stream_of(frames, id)) {
        // What a flow has not pulled of it, it may still pull; others have the room.
        nghttp2_session_consume_connection(frames, one->input_.size() - one->read_of_input_);
        own.close(id, *one);
    }
    return 0;
}

ssize_t frames::read_content(nghttp2_session *, std::int32_t, std::uint8_t *into, std::size_t size,
                             std::uint32_t *flags, nghttp2_data_source *source, void *)
{
    stream &one = *static_cast<stream *>(source->ptr);
    const std::size_t count = std::min(size, one.unsent_.size());
    std::memcpy(into, one.unsent_.data(), count);
    one.unsent_.remove_prefix(count);
    if (!one.unsent_.empty()) {
        return static_cast<ssize_t>(count);
    }
    session::wake(one);
    if (one.ends_) {
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    } else if (count == 0) {
        return NGHTTP2_ERR_DEFERRED;
    }
    return static_cast<ssize_t>(count);
}

} // namespace http
