/// \file
/// A thread without memory, for tests of what is done then.
#pragma once

#include <flux/simulation/simulation.hpp>

/// As long as it exists no allocation of its thread succeeds, but of arrays under the address sanitizer.
class lack_of_memory
{
  public:
    lack_of_memory() : world_(1, all_fail())
    {
        world_.begin();
        world_.wait(flux::moment::min()); // from now on the thread is its loop's
    }

  private:
    static flux::simulated_faults all_fail() noexcept
    {
        flux::simulated_faults faults;
        faults.failed_allocations = 1000;
        return faults;
    }

    flux::simulation world_;
};
