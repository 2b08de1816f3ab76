// Flows that wait for something of a run: a connection that another makes, rules, or their turn.
#pragma once

#include "flux/flow/flow.hpp"
#include "flux/io/park.hpp"
#include "flux/list/intrusive_list.hpp"
#include "flux/moment.hpp"

namespace flick {

/// One of them.
struct waiting_flow : flux::listed<waiting_flow> {
    flux::park wait{*flux::running_flow, flux::park_reason::flow};
};

/// Wakes all that wait there. One whose time is over leaves the list by itself.
void wake_all(flux::intrusive_list<waiting_flow> &waiting) noexcept;

/// Waits until it is woken, or until then. Gives 0, or the error of the wait.
int wait_in(flux::intrusive_list<waiting_flow> &waiting, flux::moment until = flux::never) noexcept;

} // namespace flick
