#include "flux/calls/call_table.hpp"

#include <dlfcn.h>

// The functions that catch, declared once more without their types, by the names that are ours alone: so the linker
// takes them out of the archive.
#define FLUX_CAUGHT_BY(name) extern "C" void flux_row_##name() __asm__("flux_call_" #name);
#define FLUX_CAUGHT_parks(name) FLUX_CAUGHT_BY(name)
#define FLUX_CAUGHT_handed_over(name) FLUX_CAUGHT_BY(name)
#define FLUX_CAUGHT_fiber_owned(name) FLUX_CAUGHT_BY(name)
#define FLUX_CAUGHT_watched(name) FLUX_CAUGHT_BY(name)
#define FLUX_CAUGHT_straight(name)
#define FLUX_CAUGHT_uncaught(name)

#define FLUX_DECLARE(name, fate, note) FLUX_CAUGHT_##fate(name)
FLUX_CALLS(FLUX_DECLARE)

#define FLUX_FUNCTION_parks(name) flux_row_##name
#define FLUX_FUNCTION_handed_over(name) flux_row_##name
#define FLUX_FUNCTION_fiber_owned(name) flux_row_##name
#define FLUX_FUNCTION_watched(name) flux_row_##name
#define FLUX_FUNCTION_straight(name) nullptr
#define FLUX_FUNCTION_uncaught(name) nullptr

namespace flux::calls {
namespace {

#define FLUX_ROW(name, becomes, note) {#name, fate::becomes, note, FLUX_FUNCTION_##becomes(name)},
const row rows[] = {FLUX_CALLS(FLUX_ROW)};

/// What a call by this name leads to, from a shared library.
void *called_as(const char *name) noexcept
{
    return dlsym(RTLD_DEFAULT, name);
}

} // namespace

std::span<const row> table() noexcept
{
    return rows;
}

std::string why_not_caught()
{
    for (const row &each : rows) {
        void *const called = each.caught_by == nullptr ? nullptr : called_as(each.name);
        if (called != nullptr && called != reinterpret_cast<void *>(each.caught_by)) {
            Dl_info where{};
            dladdr(called, &where);
            return std::string("calls of ") + each.name + " lead to " +
                   (where.dli_fname != nullptr ? where.dli_fname : "an unknown file") +
                   " and are not caught, so a node that blocks would hold up its event loop: link it without options "
                   "that hide its symbols (--exclude-libs, a version script) and without another definition of " +
                   each.name + ", or run it with --flux-runtime=pool";
        }
    }
    return {};
}

} // namespace flux::calls
