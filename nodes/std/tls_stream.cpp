#include "tls_stream.h"

#include "flux/log.hpp"
#include "flux/thread_room.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <openssl/err.h>
#include <utility>
#include <vector>

namespace tls_stream {
namespace {

using std::string_view;

/// What a record may contain, and how much it is longer than that.
constexpr std::size_t most_of_record = SSL3_RT_MAX_PLAIN_LENGTH;
constexpr std::size_t most_around_record = 256;
/// So many records are given to the kernel at once.
constexpr std::size_t most_records = 4;

/// What a thread receives and encrypts in. Nothing is in there when a flow waits.
constexpr std::size_t landing_size = std::size_t{32} << 10;

/// What comes next, in the room of this thread; nothing at the end.
flux::io_result<string_view> received_next(flux::stream &wire, flux::moment deadline) noexcept
{
    struct landing;
    const std::span<std::byte> room = flux::thread_room<landing, landing_size>();
    if (room.empty()) {
        return flux::unexpected(ENOMEM);
    }
    const flux::io_result<std::size_t> count = wire.receive(room, deadline);
    if (!count.has_value()) {
        return flux::unexpected(count.error());
    }
    return string_view(reinterpret_cast<const char *>(room.data()), *count);
}

/// Where parts become one record; null where there is no memory.
char *room_to_gather() noexcept
{
    struct gathered;
    return reinterpret_cast<char *>(flux::thread_room<gathered, most_of_record>().data());
}

/// Nodes may have left some on this thread, and the result of a call is judged by whether there are any.
void forget_errors() noexcept
{
    if (ERR_peek_error() != 0) {
        ERR_clear_error();
    }
}

/// Where records are while they are sent, which may take a while: those of a thread that nobody uses.
class spare_buffers
{
  public:
    std::string take() noexcept
    {
        if (unused_.empty()) {
            return {};
        }
        std::string last = std::move(unused_.back());
        unused_.pop_back();
        return last;
    }

    void give_back(std::string &&unused) noexcept
    {
        unused.clear();
        try {
            if (unused_.size() < most && unused.capacity() <= most_records * (most_of_record + most_around_record)) {
                unused_.push_back(std::move(unused));
            }
        } catch (const std::bad_alloc &) {
            return; // it is freed
        }
    }

  private:
    static constexpr std::size_t most = 16;

    std::vector<std::string> unused_;
};

thread_local spare_buffers spares;

secure_stream &stream_of(BIO *one) noexcept
{
    return *static_cast<secure_stream *>(BIO_get_data(one));
}

/// The bytes of a stream as OpenSSL wants to have them.
const BIO_METHOD *wire_method()
{
    static const BIO_METHOD *const made = [] {
        BIO_METHOD *const method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "flux::stream");
        BIO_meth_set_write(method, [](BIO *one, const char *bytes, int size) {
            BIO_clear_retry_flags(one);
            return stream_of(one).take({bytes, static_cast<std::size_t>(size)}) ? size : -1;
        });
        BIO_meth_set_read(method, [](BIO *one, char *into, int size) {
            BIO_clear_retry_flags(one);
            const std::size_t count = stream_of(one).give({into, static_cast<std::size_t>(size)});
            if (count == 0) {
                BIO_set_retry_read(one);
            }
            return count == 0 ? -1 : static_cast<int>(count);
        });
        BIO_meth_set_ctrl(method, [](BIO *, int what, long, void *) -> long { return what == BIO_CTRL_FLUSH ? 1 : 0; });
        BIO_meth_set_create(method, [](BIO *one) {
            BIO_set_init(one, 1);
            return 1;
        });
        return method;
    }();
    return made;
}

} // namespace

secure_stream::secure_stream(std::unique_ptr<flux::stream> wire, identity by)
    : wire_(std::move(wire)), by_(std::move(by)), on_loop_(flux::running_io().is_of_one_thread()),
      ssl_(SSL_new(by_.first))
{
    BIO *const one = ssl_ == nullptr ? nullptr : BIO_new(wire_method());
    if (one == nullptr) {
        throw std::bad_alloc();
    }
    BIO_set_data(one, this);
    SSL_set_bio(ssl_.get(), one, one);
    SSL_set_accept_state(ssl_.get());
}

secure_stream::~secure_stream()
{
    say_end();
    send_control();
}

std::size_t secure_stream::give(std::span<char> into) noexcept
{
    const std::size_t count = std::min(into.size(), come_.size());
    std::memcpy(into.data(), come_.data(), count);
    come_.remove_prefix(count);
    return count;
}

bool secure_stream::take(string_view encrypted) noexcept
{
    try {
        out_ += encrypted;
        return true;
    } catch (const std::bad_alloc &) {
        lacks_memory_ = true;
        return false;
    }
}

// It receives and sends no more, but for what tells the peer why.
void secure_stream::fail(unsigned long error) noexcept
{
    failed_ = true;
    held_ = held_input::nothing;
    come_ = {};
    const int reason = ERR_GET_REASON(error);
    const bool is_http = reason == SSL_R_HTTP_REQUEST || reason == SSL_R_HTTPS_PROXY_REQUEST;
    if (ERR_GET_LIB(error) == ERR_LIB_SSL && is_http && by_.to_plain_http != nullptr) {
        try {
            take(by_.to_plain_http());
        } catch (const std::bad_alloc &) {
            out_.clear(); // then it is told nothing
        }
    }
    const char *const text = ERR_reason_error_string(error);
    flux::log_rarely("TLS of a client has failed: %s", text == nullptr ? "no reason" : text);
    ERR_clear_error();
}

// As much as there is of what has come: 0 where its rest has not, or at the end.
flux::io_result<std::size_t> secure_stream::decrypt(std::span<std::byte> into) noexcept
{
    std::size_t count = 0;
    int result = 1;
    forget_errors();
    while (count != into.size()) {
        std::size_t more = 0;
        result = SSL_read_ex(ssl_.get(), into.data() + count, into.size() - count, &more);
        count += more;
        if (result != 1 || (come_.empty() && SSL_pending(ssl_.get()) == 0)) {
            break;
        }
    }
    const int why = result == 1 ? SSL_ERROR_NONE : SSL_get_error(ssl_.get(), result);
    if (why == SSL_ERROR_ZERO_RETURN) {
        input_ended_ = true;
        come_ = {};
    } else if (why != SSL_ERROR_NONE && why != SSL_ERROR_WANT_READ) {
        fail(ERR_peek_last_error());
        return flux::unexpected(lacks_memory_ ? ENOMEM : EPROTO);
    }
    const bool reads_body = *(SSL_rstate_string(ssl_.get()) + 1) == 'B';
    if (SSL_pending(ssl_.get()) != 0 || !come_.empty()) {
        held_ = held_input::bytes;
    } else if (!input_ended_ && (SSL_is_init_finished(ssl_.get()) != 1 || SSL_has_pending(ssl_.get()) || reads_body)) {
        held_ = held_input::part;
    } else {
        held_ = held_input::nothing;
    }
    return count;
}

// Others use the landing next.
void secure_stream::keep_rest() noexcept
{
    try {
        std::string rest(come_);
        kept_.swap(rest);
        come_ = kept_;
    } catch (const std::bad_alloc &) {
        come_ = {};
        failed_ = true;
    }
}

// What answers to what has come: a part of a handshake, new keys, an alert.
void secure_stream::send_control() noexcept
{
    if (!out_.empty() && !sends_) {
        out_.erase(0, wire_->send_at_once(out_));
    }
}

// What comes behind an error is of no use. Not much at a time, as the source does this for clients that it has refused.
int secure_stream::pass_over(flux::moment deadline) noexcept
{
    for (int pieces = 0; pieces < 16; ++pieces) {
        const flux::io_result<string_view> come = received_next(*wire_, deadline);
        if (!come.has_value() || (*come).empty()) {
            return come.has_value() ? EPROTO : come.error();
        }
    }
    return ETIMEDOUT;
}

flux::io_result<std::size_t> secure_stream::do_receive(std::span<std::byte> into, flux::moment deadline) noexcept
{
    for (bool looks_first = held_ == held_input::bytes;; looks_first = false) {
        if (failed_) {
            return flux::unexpected(pass_over(deadline));
        }
        if (input_ended_ || into.empty()) {
            return std::size_t{0};
        }
        if (!looks_first) {
            const flux::io_result<string_view> received = received_next(*wire_, deadline);
            if (!received.has_value()) {
                return flux::unexpected(received.error());
            }
            if ((*received).empty()) {
                input_ended_ = true;
                // Of one that has sent nothing at all nothing is missing.
                return SSL_in_before(ssl_.get()) == 1 ? flux::io_result<std::size_t>(std::size_t{0})
                                                      : flux::unexpected(ECONNRESET);
            }
            come_ = *received;
        }
        const auto lock = alone();
        const flux::io_result<std::size_t> count = decrypt(into);
        if (!come_.empty() || !kept_.empty()) {
            keep_rest();
        }
        send_control();
        if (!count.has_value() || *count != 0) {
            return count;
        }
    }
}

// For a flow that sends before it has received anything.
flux::io_result<void> secure_stream::shake_hands(flux::moment deadline) noexcept
{
    while (SSL_is_init_finished(ssl_.get()) != 1) {
        const flux::io_result<string_view> received = received_next(*wire_, deadline);
        if (!received.has_value() || (*received).empty()) {
            return flux::unexpected(received.has_value() ? ECONNRESET : received.error());
        }
        const auto lock = alone();
        come_ = *received;
        forget_errors();
        const int result = SSL_do_handshake(ssl_.get());
        if (result != 1 && SSL_get_error(ssl_.get(), result) != SSL_ERROR_WANT_READ) {
            fail(ERR_peek_last_error());
            send_control();
            return flux::unexpected(EPROTO);
        }
        held_ = come_.empty() ? held_input::part : held_input::bytes;
        keep_rest();
        send_control();
    }
    return {};
}

// 0 or an error: one record of what it is, or several.
int secure_stream::encrypt(string_view bytes) noexcept
{
    std::size_t written = 0;
    if (SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &written) == 1) {
        return 0;
    }
    ERR_clear_error();
    failed_ = true;
    return lacks_memory_ ? ENOMEM : EPIPE;
}

// As much of the parts as is given to the kernel at once; small ones in one record.
int secure_stream::encrypt_first(std::span<iovec> &parts) noexcept
{
    char *const gathered = room_to_gather();
    if (gathered == nullptr) {
        return ENOMEM;
    }
    for (std::size_t records = 0; records < most_records && !parts.empty(); ++records) {
        std::size_t size = 0;
        string_view record;
        while (!parts.empty() && size < most_of_record) {
            iovec &first = parts.front();
            const std::size_t count = std::min(first.iov_len, most_of_record - size);
            if (count == most_of_record) {
                record = {static_cast<const char *>(first.iov_base), count};
            } else if (count != 0) {
                std::memcpy(gathered + size, first.iov_base, count);
                record = {gathered, size + count};
            }
            size += count;
            first.iov_base = static_cast<char *>(first.iov_base) + count;
            first.iov_len -= count;
            parts = first.iov_len == 0 ? parts.subspan(1) : parts;
        }
        if (const int error = record.empty() ? 0 : encrypt(record); error != 0) {
            return error;
        }
    }
    return 0;
}

// The caller is the one who sends.
flux::io_result<void> secure_stream::send_out(flux::moment deadline) noexcept
{
    auto lock = alone();
    sends_ = true;
    while (!out_.empty()) {
        std::string going = std::exchange(out_, {});
        if (!on_loop_) {
            lock.unlock();
        }
        iovec part{going.data(), going.size()};
        const flux::io_result<void> sent = wire_->send({&part, 1}, deadline);
        spares.give_back(std::move(going));
        if (!on_loop_) {
            lock.lock();
        }
        if (!sent.has_value()) {
            failed_ = true; // what goes behind it would be of no use
            out_.clear();
            sends_ = false;
            return sent;
        }
    }
    sends_ = false;
    return {};
}

flux::io_result<void> secure_stream::do_send(std::span<iovec> parts, flux::moment deadline) noexcept
{
    if (!failed_ && SSL_is_init_finished(ssl_.get()) != 1) [[unlikely]] {
        if (const flux::io_result<void> shaken = shake_hands(deadline); !shaken.has_value()) {
            return shaken;
        }
    }
    while (!parts.empty()) {
        {
            const auto lock = alone();
            if (!is_open()) {
                return flux::unexpected(EPIPE);
            }
            if (out_.capacity() < most_around_record) {
                std::string waiting = std::exchange(out_, spares.take());
                take(waiting);
            }
            if (const int error = encrypt_first(parts); error != 0) {
                return flux::unexpected(error);
            }
        }
        const flux::io_result<void> sent = send_out(deadline);
        const int error = !sent.has_value() ? sent.error() : parts.empty() ? 0 : flux::refill_io_budget(deadline);
        if (error != 0) {
            return flux::unexpected(error);
        }
    }
    return {};
}

bool secure_stream::do_send_later(std::span<const iovec> parts) noexcept
{
    const auto lock = alone();
    std::size_t size = 0;
    for (const iovec &each : parts) {
        size += each.iov_len;
    }
    char *const gathered = room_to_gather();
    if (!is_open() || sends_ || !out_.empty() || size == 0 || size > most_of_record || gathered == nullptr) {
        return false;
    }
    std::size_t begin = 0;
    for (const iovec &each : parts) {
        std::memcpy(gathered + begin, each.iov_base, each.iov_len);
        begin += each.iov_len;
    }
    out_ = spares.take();
    if (encrypt({gathered, size}) != 0) {
        return true; // the next call fails
    }
    const iovec whole{out_.data(), out_.size()};
    if (wire_->send_later({&whole, 1})) {
        out_.clear();
    } else {
        send_control();
    }
    if (out_.empty()) {
        spares.give_back(std::exchange(out_, {}));
    }
    return true;
}

std::size_t secure_stream::send_at_once(string_view bytes) noexcept
{
    const auto lock = alone();
    if (failed_ || output_ended_) {
        return bytes.size(); // nobody gets them
    }
    std::size_t sent = 0;
    send_control();
    while (is_open() && out_.empty() && sent != bytes.size()) {
        const string_view piece = bytes.substr(sent, most_of_record);
        if (encrypt(piece) != 0) {
            return bytes.size();
        }
        send_control();
        sent += piece.size();
    }
    return sent;
}

flux::io_result<void> secure_stream::flush(flux::moment deadline) noexcept
{
    const flux::io_result<void> sent = has_out() ? send_out(deadline) : flux::io_result<void>();
    return sent.has_value() ? wire_->flush(deadline) : sent;
}

flux::io_result<void> secure_stream::before_idle(flux::moment deadline) noexcept
{
    const flux::io_result<void> sent = has_out() ? send_out(deadline) : flux::io_result<void>();
    return sent.has_value() ? wire_->before_idle(deadline) : sent;
}

// "6.1 Closure Alerts": so that the peer knows that nothing is missing.
void secure_stream::say_end() noexcept
{
    if (is_open()) {
        output_ended_ = true;
        ERR_clear_error();
        SSL_shutdown(ssl_.get());
        ERR_clear_error();
    }
}

void secure_stream::end_output() noexcept
{
    const auto lock = alone();
    say_end();
    output_ended_ = true;
    send_control();
    wire_->end_output();
}

void secure_stream::cut() noexcept
{
    const auto lock = alone();
    output_ended_ = true;
    out_.clear();
    wire_->cut();
}

string_view secure_stream::protocol() const noexcept
{
    const unsigned char *name = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(ssl_.get(), &name, &size);
    return {reinterpret_cast<const char *>(name), size};
}

} // namespace tls_stream
