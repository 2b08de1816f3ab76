// A stream of HTTP/2 (RFC 9113): a request that is read as one of HTTP/1.1, and its answer. What it has belongs to the
// lock of its session.
#pragma once

#include "http_exchange.h"
#include "http_session.h"

#include "flux/io/park.hpp"
#include "flux/message_stream.hpp"

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace http {

/// Of one request.
class stream final : public exchange, public flux::message_stream, public std::enable_shared_from_this<stream>
{
  public:
    stream(std::shared_ptr<session> of, std::int32_t id) noexcept : of_(std::move(of)), id_(id)
    {
        of_->alive_.fetch_add(1, std::memory_order_relaxed);
    }
    ~stream() override { of_->alive_.fetch_sub(1, std::memory_order_relaxed); }

    bool is_stream() const noexcept override { return true; }
    const flux::address &peer() const noexcept override { return of_->peer(); }
    bool has_left() const noexcept override { return is_gone(); }
    void refuse(int status) override;
    int send(std::string_view head, std::string_view content, flux::moment deadline) override;
    int send(std::string_view head, const files::file &file, const http_text::range &part) override;
    int send_head(std::string_view head) override;
    int send_piece(std::string_view piece, bool is_chunked) override;
    int send_end(bool is_chunked) override;
    void break_off() noexcept override;
    int let_go(after) noexcept override { return 0; }

    flux::io_result<std::size_t> pull(std::span<std::byte> into, flux::moment deadline) noexcept override;
    flux::io_result<std::size_t> pull_wire(std::span<std::byte> into, flux::moment deadline) noexcept override;
    void abandon() noexcept override;
    bool has_ended() const noexcept override;
    std::string bytes_behind() const override;

    /// Whether it has ended before any flow has it.
    bool is_gone() const noexcept;

  private:
    friend class session;
    friend struct frames;
    using alone = session::alone;

    void given(const request &one) noexcept override;
    void answered() noexcept override;
    int send_continue(flux::moment deadline) override;
    void fail() noexcept override;

    // What comes.
    void add_field(std::string_view name, std::string_view value);
    void add_trailer(std::string_view name, std::string_view value);
    void make_request() noexcept;
    void read_request();
    std::string head_as_of_http1() const;
    // What is sent.
    void submit(std::string_view head, bool has_content);
    int send_rest(std::string_view content, bool ends, alone &held, flux::moment deadline) noexcept;
    void refuse_unread(int status);
    void log_refused(int status) noexcept;
    void refuse_here(int status);
    void refuse_or_reset(int status) noexcept;
    void reset(std::uint32_t code) noexcept;
    void drop_input() noexcept;

    const std::shared_ptr<session> of_;
    const std::int32_t id_;

    // The head, while it comes.
    std::string method_;
    std::string path_;
    std::string authority_;
    std::string fields_;
    std::string cookie_;
    std::size_t head_size_ = 0;
    bool has_length_ = false;
    bool is_wrong_ = false;
    bool asks_head_ = false;

    // The content of the request, from `read_of_input_` on.
    std::string input_;
    std::size_t read_of_input_ = 0;
    bool input_ended_ = false;
    bool drops_input_ = false;
    // The fields behind it, as HTTP/1.1 has them; their size and number.
    std::string trailers_;
    std::size_t trailers_size_ = 0;
    std::size_t trailers_count_ = 0;
    // For `pull_wire`: what is left of a chunk.
    std::string chunk_;
    bool chunks_begun_ = false;
    bool chunks_ended_ = false;

    // What its flow has to send, which waits until it is empty; and whether the answer ends behind it.
    std::string_view unsent_;
    bool ends_ = false;
    // Of an answer that no flow gives.
    std::string own_answer_;
    bool is_refused_ = false;
    bool has_answered_ = false;
    bool has_sent_end_ = false;

    // Both sides have ended it, or one has broken it off.
    bool is_closed_ = false;
    // Of a request that nobody has answered: whose it is, which keeps it.
    flux::flow *unanswered_ = nullptr;
    std::shared_ptr<stream> kept_;
    std::array<flux::park *, 2> waits_{};
};

} // namespace http
