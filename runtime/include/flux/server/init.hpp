/// \file
/// What a program may do before its sources start and after its flows have ended, if one of its sources defines these
/// functions:
///
///     void init(int argc, char **argv);                                   with the other arguments
///     int init(std::string &why);                                         not 0 where the server is not to start
///     int init(const server_options &options, std::string &why);          as that, of a program that has options
///     void fini();
///
/// They are found by the linker, through weak references in a file of its own, so that no header of Flux declares
/// `init` and clashes with what the program declares. That with options the generated code finds, which knows their
/// struct.
#pragma once

#include <string>

namespace flux {

/// Calls the program's `init` that takes its options, if it defines one: 0, or why the server is not to start.
using start_function = int (*)(std::string &why);

/// All of a `start_function` but the options.
template <class Options>
int start(int (*init)(const Options &, std::string &), const Options &options, std::string &why)
{
    return init == nullptr ? 0 : init(options, why);
}

/// Whether the program defines the one that takes arguments.
bool takes_arguments() noexcept;

/// Calls those that the program defines, with `with_options` last. Gives 0, or what the first gave that refused.
int call_init(int argc, char **argv, start_function with_options, std::string &why);

/// Calls `fini`, if the program defines it.
void call_fini();

} // namespace flux
