/// \file
/// The I/O of threads that run one flow at a time, and of sources with a thread of their own: a call that would block
/// does, in `ppoll`, until its deadline passes or all waits are cancelled.
#pragma once

#include "flux/io.hpp"

namespace flux {

/// The one of the process, for all threads that have no other.
io &blocking_io() noexcept;

/// From now on whoever waits there, or would, fails with ECANCELED: the server ends. It cannot be taken back.
void cancel_blocking_waits() noexcept;

} // namespace flux
