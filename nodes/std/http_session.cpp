#include "http_session.h"

#include "http_frames.h"
#include "http_settings.h"
#include "http_stream.h"

#include "flux/flow/flow.hpp"
#include "flux/thread_room.hpp"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

namespace http {

using std::string_view;

namespace {

/// Received in one step, and sent in one.
constexpr std::size_t received_at_once = std::size_t{32} << 10;
constexpr std::size_t sent_at_once = std::size_t{64} << 10;

} // namespace

bool allowance::spend() noexcept
{
    const flux::moment now = flux::running_io().last_look();
    const double seconds = std::chrono::duration<double>(now - since_).count();
    left_ = std::min(at_once_, left_ + seconds * per_second_);
    since_ = now;
    left_ -= 1;
    return left_ >= 0;
}

session::session(flux::connection &on, const settings &by, flux::stream &through, std::deque<request> &requests)
    : on_(on), peer_(on.peer()), by_(by), through_(through), requests_(requests), resets_(200, 20), others_(1000, 100)
{
    frames_ = frames::open(*this);
}

session::~session()
{
    nghttp2_session_del(frames_);
}

void session::begin(string_view bytes)
{
    const alone held(lock_);
    give(bytes);
    write_at_once();
}

// Where the source waits for none of its connections, what has come is here.
flux::multiplexer::state session::receive() noexcept
{
    const std::span<std::byte> landing = flux::thread_room<session, received_at_once>();
    if (landing.empty()) {
        return state::ended;
    }
    const flux::io_result<std::size_t> count = through_.receive(landing, flux::moment::min());
    if (count.has_value() ? *count == 0 : count.error() != ETIMEDOUT) {
        return state::ended;
    }
    const alone held(lock_);
    if (count.has_value()) {
        give({reinterpret_cast<const char *>(landing.data()), *count});
    }
    if (writer_ == nullptr) {
        write_at_once();
    }
    const bool goes_on = nghttp2_session_want_read(frames_) != 0 || has_output();
    return is_over_ || !goes_on ? state::ended : in_header_ || !is_greeted_ ? state::unfinished : state::open;
}

// With the lock.
void session::give(string_view bytes) noexcept
{
    if (is_over_) {
        return;
    }
    const auto *const data = reinterpret_cast<const std::uint8_t *>(bytes.data());
    const ssize_t come = nghttp2_session_mem_recv(frames_, data, bytes.size());
    if (come < 0) {
        const bool is_none = come == NGHTTP2_ERR_BAD_CLIENT_MAGIC;
        nghttp2_session_terminate_session(frames_, is_none ? NGHTTP2_PROTOCOL_ERROR : NGHTTP2_ENHANCE_YOUR_CALM);
        if (writer_ == nullptr) {
            write_at_once();
        }
        fail();
    }
}

bool session::is_in_use() const noexcept
{
    const alone held(lock_);
    return is_used();
}

// One that has failed has no streams any more.
bool session::is_used() const noexcept
{
    return streams_.size() > refused_ || writer_ != nullptr || is_reading_;
}

bool session::leave(bool stops) noexcept
{
    const alone held(lock_);
    is_left_ = true;
    if (!stops) {
        fail();
    } else if (!is_over_) {
        // What no flow has yet a client may send to another server.
        for (const auto &[id, one] : streams_) {
            if (one->unanswered_ == nullptr && !one->has_answered_) {
                one->reset(NGHTTP2_REFUSED_STREAM);
            }
        }
        nghttp2_submit_goaway(frames_, NGHTTP2_FLAG_NONE, nghttp2_session_get_last_proc_stream_id(frames_),
                              NGHTTP2_NO_ERROR, nullptr, 0);
        if (writer_ == nullptr) {
            write_at_once();
        }
        wake_all();
    }
    is_closed_ = !is_used();
    is_over_ = is_over_ || is_closed_;
    return is_closed_;
}

// Nothing comes and goes any more.
void session::fail() noexcept
{
    if (std::exchange(is_over_, true)) {
        return;
    }
    while (!streams_.empty()) {
        const auto first = streams_.begin();
        const std::shared_ptr<stream> one = first->second;
        close(first->first, *one);
    }
    if (writer_ != nullptr || is_reading_) {
        through_.cut();
    }
}

// It is in the table no more.
void session::close(std::int32_t id, stream &one) noexcept
{
    const std::shared_ptr<stream> last = one.shared_from_this();
    one.is_closed_ = true;
    one.unsent_ = {};
    // Whose flow sends for others has to finish that: it sees this itself.
    if (one.unanswered_ != nullptr && writer_ != &one) {
        one.unanswered_->cancel();
    }
    wake(one);
    refused_ -= one.is_refused_ ? 1 : 0;
    streams_.erase(id);
}

void session::wake(stream &one) noexcept
{
    for (flux::park *const each : one.waits_) {
        if (each != nullptr) {
            each->end(flux::park_end::completed);
        }
    }
}

// One of them receives next, where the source has left.
void session::wake_all() noexcept
{
    for (const auto &[id, one] : streams_) {
        wake(*one);
    }
}

// Once, for whatever may have changed.
int session::wait(stream &own, side which, alone &held, flux::moment deadline) noexcept
{
    const bool receives = which == side::in;
    flux::park waiting(*flux::running_flow, receives ? flux::park_reason::read : flux::park_reason::write);
    flux::park *&place = own.waits_[static_cast<std::size_t>(which)];
    place = &waiting;
    held.unlock();
    const flux::park_end end = waiting.wait(deadline);
    held.lock();
    place = nullptr;
    return flux::error_of(end);
}

// Its flow waits for something: it does what there is to do, or else waits for somebody who does.
int session::step(stream &own, side which, alone &held, flux::moment deadline) noexcept
{
    if (writer_ == nullptr && has_output()) {
        if (which == side::in) {
            write_at_once();
        }
        if (has_output()) {
            which == side::in && others_wait(own) ? void() : write(own, held, deadline);
            return 0;
        }
    }
    // Where nobody sends, what it has waits for a window, which only what it receives can open: so it misses nothing.
    if (is_left_ && !is_reading_ && writer_ == nullptr && !is_over_) {
        return receive_here(held, deadline);
    }
    return wait(own, which, held, deadline);
}

bool session::has_output() const noexcept
{
    return !is_over_ && (!out_.empty() || nghttp2_session_want_write(frames_) != 0);
}

// With the lock: whether there is anything to send now.
bool session::fill() noexcept
{
    if (!out_.empty()) {
        return true;
    }
    try {
        while (out_.size() < sent_at_once) {
            const std::uint8_t *next = nullptr;
            const ssize_t size = nghttp2_session_mem_send(frames_, &next);
            if (size <= 0) {
                return size < 0 ? fail(), false : !out_.empty();
            }
            out_.append(reinterpret_cast<const char *>(next), static_cast<std::size_t>(size));
        }
    } catch (const std::bad_alloc &) {
        fail(); // what nghttp2 has given is lost
    }
    return !out_.empty();
}

void session::write(stream &own, alone &held, flux::moment deadline) noexcept
{
    writer_ = &own;
    while (!is_over_ && fill()) {
        held.unlock();
        iovec part{out_.data(), out_.size()};
        const std::span<iovec> all(&part, 1);
        const int error = through_.send_later(all) ? 0 : flux::take(through_.send(all, deadline));
        held.lock();
        out_.clear();
        if (error != 0) {
            fail();
        }
        if (own.unsent_.empty() && others_wait(own)) {
            break; // one of those goes on
        }
    }
    writer_ = nullptr;
    if (is_left_) {
        wake_all();
    }
    if (own.is_closed_ && own.unanswered_ != nullptr) {
        own.unanswered_->cancel();
    }
}

// Wakes a flow that waits with its content: whether there is one.
bool session::others_wait(const stream &but) const noexcept
{
    for (const auto &[id, one] : streams_) {
        flux::park *const waits = one->waits_[static_cast<std::size_t>(side::out)];
        if (one.get() != &but && waits != nullptr && !one->unsent_.empty()) {
            waits->end(flux::park_end::completed);
            return true;
        }
    }
    return false;
}

// With the lock, where nobody sends.
void session::write_at_once() noexcept
{
    while (!is_over_ && fill()) {
        const std::size_t sent = through_.send_at_once(out_);
        out_.erase(0, sent);
        if (!out_.empty()) {
            return;
        }
    }
}

// The source has left. Gives an error of the flow, which those of the connection are not.
int session::receive_here(alone &held, flux::moment deadline) noexcept
{
    const std::span<std::byte> landing = flux::thread_room<session, received_at_once>();
    if (landing.empty()) {
        return ENOMEM;
    }
    is_reading_ = true;
    held.unlock();
    const flux::io_result<std::size_t> count = through_.receive(landing, deadline);
    held.lock();
    is_reading_ = false;
    if (count.has_value() && *count != 0) {
        give({reinterpret_cast<const char *>(landing.data()), *count});
        if (writer_ == nullptr) {
            write_at_once();
        }
        return 0;
    }
    wake_all();
    if (!count.has_value() && (count.error() == ETIMEDOUT || count.error() == ECANCELED)) {
        return count.error();
    }
    fail();
    return 0;
}

// A flow has done what it came for: where the source has left, and nobody uses it any more, the connection ends.
void session::finish(stream &own, alone &held) noexcept
{
    if (writer_ == nullptr && has_output()) {
        write_at_once();
        const bool is_last = is_left_ && !is_used();
        if (has_output() && !others_wait(own) && is_last) {
            write(own, held, by_.send_deadline_from_now());
        }
    }
    if (is_left_ && !is_reading_) {
        wake_all();
    }
    if (!is_left_ || is_closed_ || is_used()) {
        return;
    }
    is_closed_ = true;
    is_over_ = true;
    held.unlock();
    if (on_.attach().has_value()) {
        on_.close();
    }
}

} // namespace http
