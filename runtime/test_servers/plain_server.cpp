/// \file
/// A server without an `init` of its own.

#include "../test/support/sample_program.hpp"

int main(int argc, char **argv)
{
    sample::listen = [](sample::Listen_out &) { return false; };
    return flux::serve(sample::program, argc, argv);
}
