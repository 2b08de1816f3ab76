// What a request is answered with. The sections named here are those of RFC 9110.
#pragma once

#include "http.flux.h"

#include "http_exchange.h"
#include "http_text.h"

#include <string>
#include <string_view>
#include <vector>

namespace http {

/// Of a body whose size is not known.
constexpr auto unknown_size = static_cast<std::uint64_t>(-1);

/// An answer that somebody has begun to give.
class answer
{
  public:
    /// Nobody else answers from now on.
    answer(const request &to, int status, bool closes = false);
    answer(const answer &) = delete;
    answer &operator=(const answer &) = delete;
    ~answer();

    /// Fails with EBADF where it is answered already.
    int begin();

    /// EINVAL where one of these is none.
    int add(const std::vector<field> &fields);

    /// Sends the head and a content, which is left out where the answer has none.
    int send(std::string_view content);

    /// Sends the head and a part of a file.
    int send(const files::file &file, const http_text::range &part);

    /// Sends the head and a body, as it is pulled: of this size where that is known.
    int send(flux::body &content, std::uint64_t size);

    http_text::head_writer head;

  private:
    std::string_view end_head();
    int send_pieces(flux::body &content, bool is_chunked);
    int log(int error) noexcept;
    int let_go();

    const request &to_;
    exchange *const on_;
    int status_;
    bool keeps_ = false;
    bool is_cut_short_ = false;
    // It has begun, and is not in the log yet.
    bool is_under_way_ = false;
};

/// Answers with a line that says the status, and a field besides.
int send_error(const request &to, int status, std::string_view name = {}, std::string_view value = {});

/// "15.5.6", "15.6.2": a method that is known is not allowed, any other is unknown.
int send_not_allowed(const request &to, std::string_view methods);

} // namespace http
