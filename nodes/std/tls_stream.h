// A stream of TLS over another one. It gives OpenSSL the bytes that have come and takes those that are to go, so that
// nothing in OpenSSL ever waits.
#pragma once

#include "flux/io.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <openssl/ssl.h>
#include <string>
#include <string_view>

namespace tls_stream {

/// What OpenSSL frees by a function.
template <auto Free>
struct freed_by {
    template <class Held>
    void operator()(Held *held) const noexcept
    {
        Free(held);
    }
};
using session = std::unique_ptr<SSL, freed_by<SSL_free>>;

/// What a server's streams are made with.
struct identity {
    /// Referred to by OpenSSL as long as the stream lives.
    std::shared_ptr<const void> owner;
    SSL_CTX *first;
    /// Makes what a client is told that begins with a request of HTTP; null where that is nothing.
    std::string (*to_plain_http)();
};

/// The server's side of one. Elsewhere than on a loop one thread may send while another receives.
class secure_stream final : public flux::stream
{
  public:
    /// Throws `std::bad_alloc`.
    secure_stream(std::unique_ptr<flux::stream> wire, identity by);
    ~secure_stream() override;

    std::size_t send_at_once(std::string_view bytes) noexcept override;
    void cut() noexcept override;
    flux::io_result<void> flush(flux::moment deadline) noexcept override;
    flux::io_result<void> before_idle(flux::moment deadline) noexcept override;
    void end_output() noexcept override;
    bool has_input() noexcept override { return held() == held_input::bytes || wire_->has_input(); }
    held_input held() const noexcept override { return held_; }
    flux::stream &wire() noexcept override { return *wire_; }
    std::string_view protocol() const noexcept override;
    bool is_secure() const noexcept override { return true; }

    // For OpenSSL: what has come, and what is to go.
    std::size_t give(std::span<char> into) noexcept;
    bool take(std::string_view encrypted) noexcept;

  private:
    flux::io_result<std::size_t> do_receive(std::span<std::byte> into, flux::moment deadline) noexcept override;
    flux::io_result<void> do_send(std::span<iovec> parts, flux::moment deadline) noexcept override;
    bool do_send_later(std::span<const iovec> parts) noexcept override;

    std::unique_lock<std::mutex> alone() noexcept
    {
        return on_loop_ ? std::unique_lock(lock_, std::defer_lock) : std::unique_lock(lock_);
    }
    bool has_out() noexcept
    {
        const auto lock = alone();
        return !out_.empty() && !sends_;
    }
    bool is_open() const noexcept { return !failed_ && !output_ended_ && SSL_is_init_finished(ssl_.get()) == 1; }
    flux::io_result<std::size_t> decrypt(std::span<std::byte> into) noexcept;
    int pass_over(flux::moment deadline) noexcept;
    flux::io_result<void> shake_hands(flux::moment deadline) noexcept;
    int encrypt(std::string_view bytes) noexcept;
    int encrypt_first(std::span<iovec> &parts) noexcept;
    void send_control() noexcept;
    flux::io_result<void> send_out(flux::moment deadline) noexcept;
    void keep_rest() noexcept;
    void fail(unsigned long error) noexcept;
    void say_end() noexcept;

    const std::unique_ptr<flux::stream> wire_;
    const identity by_;
    const bool on_loop_;
    std::mutex lock_;
    session ssl_;
    // What has come and OpenSSL has not taken: on the landing, or in what is kept.
    std::string_view come_;
    std::string kept_;
    held_input held_ = held_input::nothing;
    // What is to go; while somebody sends, he sends this too.
    std::string out_;
    bool sends_ = false;
    bool lacks_memory_ = false;
    bool input_ended_ = false;
    bool output_ended_ = false;
    std::atomic<bool> failed_{false};
};

} // namespace tls_stream
