// Whose turn it is to send on a connection: one flow at a time sends, first come, first served.
#pragma once

#include "flick_waiting.h"

#include "flux/io.hpp"

namespace flick {

/// Of one connection.
class turns
{
  public:
    /// Waits until nobody else sends. The caller passes its turn on, unless this fails as the wait does.
    flux::io_result<void> await() noexcept;
    /// Whether nobody sends.
    bool are_free() const noexcept { return !is_taken_; }
    /// Whoever is first sends from now on.
    void pass() noexcept;

  private:
    // Whether a flow sends; and those that wait behind it.
    bool is_taken_ = false;
    flux::intrusive_list<waiting_flow> line_;
};

} // namespace flick
