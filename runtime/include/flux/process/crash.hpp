/// \file
/// The last words of a server that crashes: which node, which flow, which path.
///
/// A fault in a node (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT) would end the process without a word of what it was
/// doing. So the server catches it, on a stack set apart, as the flow's own may be what has overflowed; writes one
/// line, after what has been logged before; and then lets happen what would have happened without it: a core dump, or
/// the report of a sanitizer.
#pragma once

#include <cstddef>
#include <memory>

namespace flux {

/// Says the last words from now on: for all of the process, as such a signal is, whatever servers it has. What somebody
/// else does on these signals already happens next.
void install_crash_message() noexcept;

/// Memory to serve signals in, for one thread at a time.
class signal_stack
{
  public:
    /// Throws `std::bad_alloc`.
    signal_stack();

    std::byte *begin() noexcept { return memory_.get(); }
    std::size_t size() const noexcept { return size_; }

  private:
    std::size_t size_;
    std::unique_ptr<std::byte[]> memory_;
};

/// The calling thread serves fatal signals on this stack from here to the end of the block; unless it has one for that
/// already, as under the address sanitizer.
class on_signal_stack
{
  public:
    explicit on_signal_stack(signal_stack &stack) noexcept;
    ~on_signal_stack();
    on_signal_stack(const on_signal_stack &) = delete;
    on_signal_stack &operator=(const on_signal_stack &) = delete;

  private:
    bool installed_ = false;
};

} // namespace flux
