/// \file
/// A server in a simulated world: the program as it is, on one event loop, whose clients and servers are scripts in the
/// same process. What may go wrong does, as the seed says, and what must hold whatever goes wrong is looked at.
///
/// The scripts are the program's own: one of its sources includes `simulated_peers.hpp` and defines what that declares.
/// A program without them runs by itself.
#pragma once

namespace flux {

struct options;
struct program;

/// Runs the program in the world of the seed of the options, until nothing can happen any more; where its sources never
/// wait, until nothing has happened for two minutes of simulated time. Gives the exit status: 0 if every peer and every
/// flow has come to its end, all connections are closed and all that the peers expect was so; 1 if not, or where a
/// source has a thread of its own, which cannot be simulated. Standard error has the reasons and the trace.
int simulate(const program &served, const options &chosen);

} // namespace flux
