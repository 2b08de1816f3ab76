/// \file
/// The beginning of a message on a connection whose end has not come yet. While the connection waits for it, it has no
/// flow: this is all that it costs.
///
/// What comes next is received into this memory directly where much is missing. A size that the peer claims is believed
/// in steps: there is never room for more than four times what has come, or than a few KiB. So who claims much and
/// sends nothing costs little.
#pragma once

#include "flux/message/parse.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

namespace flux {

/// Of one connection.
class unfinished_input
{
  public:
    /// Its first bytes, which `by` has read. Throws `std::bad_alloc`.
    unfinished_input(message_parse &by, std::span<const std::byte> first);

    /// Where more of it is to be received directly; nothing where little is missing. Throws `std::bad_alloc`.
    std::span<std::byte> room();

    /// So many bytes were received there.
    void received(std::size_t count) noexcept { filled_ += count; }
    /// These were received elsewhere. Throws `std::bad_alloc`.
    void append(std::span<const std::byte> more);

    /// Reads on. `is_end` where no more bytes come.
    message_parse::state read(bool is_end) noexcept;

    /// Whether it is of this class.
    bool is_of(const message_facts &facts) const noexcept { return &parse_->facts() == &facts; }

    /// How far it has come.
    const message_parse &parse() const noexcept { return *parse_; }

    /// All that has come.
    std::span<const std::byte> so_far() noexcept { return {bytes_.data(), filled_}; }

    /// Where it is whole, what has come behind it.
    std::span<const std::byte> behind() noexcept { return so_far().subspan(parse_->size()); }

    /// Where it is whole, `into` is it from now on. Throws `std::bad_alloc`.
    void give_to(message_parse &into);

    /// Where it is wrong, `into` says what is.
    void explain_to(message_parse &into) noexcept { into.take_over(*parse_); }

  private:
    // From so many missing bytes on they are received directly.
    static constexpr std::size_t much = std::size_t{4} << 10;

    std::size_t believed() const noexcept;

    std::unique_ptr<message_parse> parse_;
    // Its size is what there is room for.
    message_bytes bytes_;
    std::size_t filled_ = 0;
};

} // namespace flux
