// What a channel is bound to, as it is said outside of the program: by its option, or in a file of bindings.
//
// ```text
// bindings  = { [ channel "=" binding ] [ "#" … ] NEWLINE }              a binding may go on in lines further right
// binding   = addresses { ";" clause }
// addresses = [ "connect:" ] address { "," address } [ "*" NUMBER ]
// clause    = "keep" NUMBER [ "for" DURATION ]
//           | "check" [ TEXT "expects" TEXT ] "every" DURATION [ "back" "after" NUMBER ]
//           | "eject" "after" NUMBER [ "for" DURATION ] [ "even" "the" "last" ]
//           | "retry" NUMBER
//           | "shared" [ NUMBER ]
//           | "at" "most" NUMBER [ "queue" NUMBER ]
// ```
//
// A TEXT is in quotes, with the escapes `\r`, `\n`, `\t`, `\0`, `\x1f`, `\\` and `\"`.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace flick {

using std::chrono::milliseconds;

/// What a channel is bound to.
struct binding {
    bool connects = false;
    /// How many clients make a run together.
    std::size_t joined = 1;
    std::vector<std::string> addresses;

    /// How many connections to a server are kept that no run has, and for how long.
    std::size_t keep = 0;
    milliseconds keep_for{60'000};
    /// How often a server is asked whether it is well, 0 for never; what is sent to it, and how the reply begins.
    milliseconds check_every{0};
    std::string probe;
    std::string expected;
    /// After so many good answers one that was not well is used again.
    std::size_t back_after = 1;
    /// After so many failures in a row it is not used, 0 for never; how long at first; and whether that is so of the
    /// last that is left.
    std::size_t eject_after = 0;
    milliseconds eject_for{10'000};
    bool ejects_the_last = false;
    /// How often a request that may be is sent again.
    std::size_t retries = 0;
    /// How many connections to a server all runs share; 0 where each run has its own.
    std::size_t shared = 0;
    /// How many connections to one server there may be, or clients: 0 is no limit. And how many flows may wait for one.
    std::size_t most = 0;
    std::size_t queue = 1024;
};

/// What this channel is bound to, by the text of its option, or, where that is empty, by the file. Where that cannot
/// be, the server says why and ends.
binding read_binding(const std::string &channel, bool is_array, std::string_view option, const std::string &file);

/// The server says why this channel cannot be bound so, and ends.
[[noreturn]] void refuse_binding(const std::string &channel, const char *why);

/// Ends the server where a channel is bound to more connections than its process may have.
void limit(const binding &of, const std::string &channel, std::size_t most);

} // namespace flick
