/// \file
/// The text of the exception that failed a node. An error handler takes it as `text error_text`.
///
/// Only programs with such a handler keep texts (`flow::caught_with_text`); others pay nothing. The exception object
/// ends with its `catch` block, so the text is a copy. It lasts until the next failure of the flow.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace flux {

/// At most one text, of at most a kilobyte.
class error_text
{
  public:
    /// A longer text is cut, between two characters of UTF-8.
    static constexpr std::size_t longest = 1024;

    /// Called in a `catch` block: the next failure has this text. If memory is short, it has none.
    void keep(const char *text) noexcept;

    /// A node has failed: a text that was kept since the last failure belongs to this one; an older text is dropped.
    void fail() noexcept
    {
        if (text_ != nullptr) [[unlikely]] {
            settle();
        }
    }

    /// A new flow begins: it has no text.
    void begin() noexcept
    {
        if (text_ != nullptr) [[unlikely]] {
            text_.reset();
            is_next_ = false;
        }
    }

    /// The text; empty if the failure came without one. Throws `std::bad_alloc`.
    std::string copy() const;

  private:
    void settle() noexcept;

    std::unique_ptr<char[]> text_;
    bool is_next_ = false;
};

} // namespace flux
