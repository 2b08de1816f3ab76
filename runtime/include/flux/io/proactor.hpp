/// \file
/// The proactor: I/O by io_uring. A flow hands the operation itself to the kernel and parks until it is done; what many
/// flows ask for in one turn of their loop goes there with one system call, and what has been done comes back with it.
/// (I. Pyarali, T. Harrison, D. Schmidt, T. Jordan, "Proactor: an architectural pattern for demultiplexing and
/// dispatching handlers for asynchronous events", Pattern Languages of Program Design, 1997; J. Hu, I. Pyarali,
/// D. Schmidt, "Applying the Proactor pattern to high-performance web servers", 1998.)
///
/// Receiving is an operation that goes on by itself: once somebody has wanted input of a stream, the kernel receives
/// ahead of who reads, into buffers of the loop. Ahead has an end, though: a stream with some unread buffers is not
/// received for until they are read. Where the buffers of the loop are all unread, a stream is waited for, and then
/// read as the reactor does it, so that flows which do not read never keep others from it.
///
/// Nobody is accepted ahead, as a peer that is accepted belongs to the loop: others could not serve it any more,
/// should this one be held up. An operation waits for the listener, and a call accepts.
///
/// What is sent goes into a buffer of its stream (`outbox.hpp`), which the kernel is given with the next operations,
/// and the flow goes on: so an answer needs no system call of its own.
///
/// The kernel holds on to what is in flight. A call whose time is up cancels its operation, and still waits for the
/// kernel to be done with it, which is soon; where the operation has succeeded all the same, so has the call. A stream
/// that is closed keeps its descriptor until the kernel has given it up, in the next turn.
#pragma once

#include "flux/io/loop_io.hpp"

#include <memory>

namespace flux {

/// For one loop. What it makes ends before it does. Throws `std::system_error` where the kernel refuses io_uring or is
/// older than Linux 6.1, and where there are no descriptors; and `std::bad_alloc`.
std::unique_ptr<loop_io> make_proactor();

} // namespace flux
