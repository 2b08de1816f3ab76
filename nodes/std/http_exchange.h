// What a request is answered on: its connection, in HTTP/1, or its stream, in HTTP/2.
#pragma once

#include "files.h"
#include "http_text.h"

#include "flux/address.hpp"
#include "flux/connection.hpp"
#include "flux/flow/belongings.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace http {

class request;
struct settings;

/// From where a flow has its request to where its answer is sent. Where the flow ends before anybody has answered, this
/// does. What sends gives 0 or an error; after one the client has got less than was promised, and is told by that its
/// connection or stream ends.
class exchange : private flux::belonging
{
  public:
    virtual ~exchange() { end(); }

    /// The running flow has the request from now on.
    void begin(const request &one);
    /// Somebody answers: false where somebody has.
    bool end() noexcept;

    /// When the flow got the request, and how many bytes of the answer's content have been sent.
    flux::moment begun() const noexcept { return begun_; }
    std::uint64_t sent() const noexcept { return sent_; }

    bool was_continued() const noexcept { return was_continued_; }
    /// Sends `100 Continue`.
    int go_on(flux::moment deadline)
    {
        was_continued_ = true;
        return send_continue(deadline);
    }

    /// Whether its answers are of HTTP/2: without the fields, and the chunks, of connections.
    virtual bool is_stream() const noexcept = 0;
    virtual const flux::address &peer() const noexcept = 0;
    /// Whether the client has given the request up.
    virtual bool has_left() const noexcept { return false; }

    /// An answer that waits for nothing, of the source or at the end of a flow.
    virtual void refuse(int status) = 0;

    /// All of an answer.
    virtual int send(std::string_view head, std::string_view content, flux::moment deadline) = 0;
    /// The same, with a part of a file; in pieces, of which each has its time.
    virtual int send(std::string_view head, const files::file &file, const http_text::range &part) = 0;
    /// The parts of an answer, one after the other.
    virtual int send_head(std::string_view head) = 0;
    virtual int send_piece(std::string_view piece, bool is_chunked) = 0;
    virtual int send_end(bool is_chunked) = 0;
    /// There is no more to send, although more was promised.
    virtual void break_off() noexcept = 0;

    /// The answer was sent. What its connection is for then: further requests, none, or what may still come.
    enum class after : unsigned char { kept, closed, closed_softly };
    virtual int let_go(after what) noexcept = 0;

  protected:
    exchange() noexcept = default;

    bool is_head() const noexcept { return is_head_; }
    /// Counts these bytes of the content as sent if there was no error. Returns the error.
    int counted(int error, std::size_t bytes) noexcept
    {
        sent_ += error == 0 ? bytes : 0;
        return error;
    }

  private:
    virtual void given(const request &one) noexcept = 0;
    virtual void answered() noexcept {}
    virtual int send_continue(flux::moment deadline) = 0;
    // The flow has ended without an answer, perhaps because the client has left.
    virtual void fail() noexcept = 0;
    bool flow_has_ended() noexcept override;

    bool is_head_ = false;
    bool is_open_ = false;
    bool was_continued_ = false;
    flux::moment begun_ = flux::never;
    std::uint64_t sent_ = 0;
    // The request, for the access log; null if there is no log, or if somebody has answered.
    std::shared_ptr<const request> asked_;
};

/// Of a connection of HTTP/1, for one request after the other.
class connection_exchange final : public exchange
{
  public:
    // Between two requests another server may go on with the connection.
    static constexpr bool is_of_one_exchange = true;

    bool is_stream() const noexcept override { return false; }
    const flux::address &peer() const noexcept override { return on_->peer(); }
    void refuse(int status) override;
    int send(std::string_view head, std::string_view content, flux::moment deadline) override;
    int send(std::string_view head, const files::file &file, const http_text::range &part) override;
    int send_head(std::string_view head) override;
    int send_piece(std::string_view piece, bool is_chunked) override;
    int send_end(bool is_chunked) override;
    void break_off() noexcept override;
    int let_go(after what) noexcept override;

  private:
    void given(const request &one) noexcept override;
    int send_continue(flux::moment deadline) override;
    void fail() noexcept override;

    flux::connection *on_ = nullptr;
    const settings *by_ = nullptr;
};

/// Of this request; null where its flow has its connection no more.
exchange *exchange_of(const request &one);

} // namespace http
