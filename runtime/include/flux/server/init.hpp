/// \file
/// The program's own start: `void init(int argc, char **argv)`, if one of its sources defines that function.
///
/// It is found by the linker, through a weak reference in a file of its own, so that no header of Flux declares `init`
/// and clashes with what the program declares.
#pragma once

namespace flux {

/// Whether the program defines it.
bool has_init() noexcept;

/// Calls it, if the program defines it.
void call_init(int argc, char **argv);

} // namespace flux
