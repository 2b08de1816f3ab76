/// \file
/// What a server is tested with in a simulated world (`--flux-io=simulation:SEED`): for the one source of the program
/// that defines its peers. Allocations of the server's flows may fail there.
#pragma once

#include "flux/simulation/failing_allocation.hpp"
#include "flux/simulation/simulation.hpp"

/// Adds the peers to the world, before the server starts. Their scripts begin when its sources have begun.
void simulated_peers(flux::simulation &world);
