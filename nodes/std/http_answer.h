// What a request is answered with. The sections named here are those of RFC 9110.
#pragma once

#include "http.flux.h"

#include "http_text.h"

#include "flux/flow/belongings.hpp"
#include "flux/flow/flow.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace http {

/// What a request is while nobody has answered it: where its flow ends then, it answers.
class exchange final : private flux::belonging
{
  public:
    exchange() noexcept = default;
    ~exchange() { end(); }

    void begin(const request &one)
    {
        on_ = one.connection();
        is_head_ = one.is_head();
        is_open_ = true;
        was_continued_ = false;
        flux::running_flow->own(*this);
    }
    /// Somebody answers: false where somebody has.
    bool end() noexcept
    {
        if (!is_open_) {
            return false;
        }
        is_open_ = false;
        flux::running_flow->disown(*this);
        return true;
    }

    bool was_continued() const noexcept { return was_continued_; }
    void set_continued() noexcept { was_continued_ = true; }

  private:
    bool flow_has_ended() noexcept override;

    flux::connection *on_ = nullptr;
    bool is_head_ = false;
    bool is_open_ = false;
    bool was_continued_ = false;
};

/// Of this request; null where its flow has its connection no more.
exchange *exchange_of(const request &one);

/// An answer that somebody has begun to give.
class answer
{
  public:
    /// Nobody else answers from now on.
    answer(const request &to, int status, bool closes = false);

    /// Fails with EBADF where it is answered already.
    int begin() const;

    /// EINVAL where one of these is none.
    int add(const std::vector<field> &fields);

    /// The head, whole.
    std::string &end_head();

    /// Sends the head and a content, which is left out where the answer has none.
    int send(std::string_view content);

    /// Sends the head and a part of a file; in pieces, of which each has its time.
    int send(const files::file &file, const http_text::range &part);

    /// It has been sent: the connection is used again, or closed.
    int let_go(std::uint64_t bytes);

    http_text::head_writer head;

  private:
    const request &to_;
    flux::connection &on_;
    int status_;
    bool keeps_ = false;
    bool is_cut_short_ = false;
};

/// Answers with a line that says the status, and a field besides.
int send_error(const request &to, int status, std::string_view name = {}, std::string_view value = {});

/// "15.5.6", "15.6.2": a method that is known is not allowed, any other is unknown.
int send_not_allowed(const request &to, std::string_view methods);

} // namespace http
