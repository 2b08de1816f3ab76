/// \file
/// The reactor: I/O by epoll. A call is tried at once; where it would block its flow parks until epoll says that it
/// will not, and then tries again. (Schmidt, "Reactor: an object behavioral pattern for concurrent event demultiplexing
/// and dispatching", Pattern Languages of Program Design, 1995.)
///
/// Sockets are watched for both directions from their first moment to their last, on edges: that is one system call for
/// each socket, and none for each message. What edges say is kept as a mark for each direction, so a flow parks
/// without asking the kernel again when its last call has found the socket empty.
#pragma once

#include "flux/io/loop_io.hpp"

#include <memory>

namespace flux {

/// For one loop. Throws `std::system_error` where there are no descriptors, and `std::bad_alloc`.
std::unique_ptr<loop_io> make_reactor();

} // namespace flux
