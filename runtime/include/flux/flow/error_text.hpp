/// \file
/// The text of the exception by which a flow's error in hand came: what error handlers take as `text error_text`.
///
/// It is kept only in programs with such a handler (`flow::caught_with_text`), so others pay nothing. It is a copy of
/// what the exception says, as the exception ends with its `catch` block. It is there until the next failure.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace flux {

/// At most one text, of at most a kilobyte.
class error_text
{
  public:
    /// What is longer is cut, between two characters if it is UTF-8.
    static constexpr std::size_t longest = 1024;

    /// In a `catch` block: the next failure has this text. Without memory it has none.
    void keep(const char *text) noexcept;

    /// Something has failed: the text is of this failure if it was kept since the last one, else it is gone.
    void fail() noexcept
    {
        if (text_ != nullptr) [[unlikely]] {
            settle();
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
