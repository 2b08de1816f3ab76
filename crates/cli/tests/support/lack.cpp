// Beside the nodes of a server: after SIGUSR1 there is no memory for the next bytes of a message, after SIGUSR2 for
// those behind the next.
#include "flux/message/bytes.hpp"

#include <atomic>
#include <csignal>

namespace {

/// How many are asked for until one fails; 0 where none does.
std::atomic<int> left = 0;

bool fails() noexcept
{
    return left.load() > 0 && left.fetch_sub(1) == 1;
}

const bool may_fail = [] {
    flux::message_bytes::let_fail(&fails);
    std::signal(SIGUSR1, [](int) { left = 1; });
    std::signal(SIGUSR2, [](int) { left = 2; });
    return true;
}();

} // namespace
