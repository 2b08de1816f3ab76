#include "flux/process/crash.hpp"

#include "flux/event/fiber.hpp"
#include "flux/flow/flow.hpp"
#include "flux/flow/node_stacks.hpp"
#include "flux/log.hpp"
#include "flux/flow/program.hpp"
#include "flux/io/loop_owned.hpp"
#include "flux/strategy/source.hpp"

#include <algorithm>
#include <cstdint>
#include <csignal>
#include <span>
#include <string_view>
#include <unistd.h>

namespace flux {
namespace {

struct fatal_signal {
    int number;
    const char *name;
    struct sigaction before;
};

fatal_signal fatal_signals[] = {
    {SIGSEGV, "SIGSEGV", {}}, {SIGBUS, "SIGBUS", {}},   {SIGFPE, "SIGFPE", {}},
    {SIGILL, "SIGILL", {}},   {SIGABRT, "SIGABRT", {}},
};

/// A line of text put together without memory and without locks, as it must be while a signal is served.
class plain_line
{
  public:
    plain_line &operator<<(const char *text) noexcept
    {
        while (*text != '\0' && length_ < sizeof text_) {
            text_[length_++] = *text++;
        }
        return *this;
    }

    plain_line &operator<<(std::uint64_t number) noexcept
    {
        char digits[21];
        char *first = digits + sizeof digits - 1;
        *first = '\0';
        do {
            *--first = static_cast<char>('0' + number % 10);
            number /= 10;
        } while (number != 0);
        return *this << first;
    }

    std::string_view text() const noexcept { return {text_, length_}; }

  private:
    char text_[1024];
    std::size_t length_ = 0;
};

plain_line &operator<<(plain_line &line, const node_info &node) noexcept
{
    return line << node.name << " (" << node.file << ":" << std::uint64_t{node.line} << ")";
}

// `fault` is the address that could not be touched; null for what is no such fault.
void say_last_words(const char *signal_name, const void *fault) noexcept
{
    plain_line line;
    line << "flux: " << signal_name;
    if (const flow *const running = running_flow) {
        const node_number position = running->position();
        const std::span<const node_info> nodes = running->from().of().nodes;
        if (position < nodes.size()) {
            line << " in " << nodes[position];
        } else {
            line << " before the first node";
        }
        line << ", flow " << running->id() << " of " << running->from().info().node << ", path register "
             << running->path() << (running->parent() == nullptr ? "" : " in a branch");
    } else {
        line << " outside of any flow";
    }
    if (const node_stack *const own = running_flow != nullptr ? running_flow->stack() : nullptr;
        own != nullptr && own->overflows_at(fault)) {
        line << ": its stack of " << std::uint64_t{own->size() >> 10} << " KiB has overflowed; give it more: `stack "
             << std::uint64_t{std::max<std::size_t>(own->size() >> 19, 1)} << "M`";
    }
    if (const fiber *const running = fiber::running(); running != nullptr && running->on().overflows_at(fault)) {
        line << ": the stack of its fiber, " << std::uint64_t{running->on().size >> 10} << " KiB, has overflowed; give the node one for itself: `stack 8M`";
    }
    line << "\n";
    log_last_words(line.text());
}

void on_fatal_signal(int number, siginfo_t *info, void *) noexcept
{
    // Nothing parks any more: neither what is said here nor, under a sanitizer, its report.
    running_loop_catches_calls = false;
    for (fatal_signal &each : fatal_signals) {
        if (each.number == number) {
            say_last_words(each.name, number == SIGSEGV ? info->si_addr : nullptr);
            sigaction(number, &each.before, nullptr);
        }
    }
    // A fault happens again when this returns. What was sent must be sent again, and comes when this returns.
    if (info->si_code <= 0) {
        raise(number);
    }
}

} // namespace

void install_crash_message() noexcept
{
    struct sigaction action = {};
    action.sa_sigaction = on_fatal_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    for (fatal_signal &each : fatal_signals) {
        sigaction(each.number, &action, &each.before);
    }
}

signal_stack::signal_stack()
    : size_(std::max<std::size_t>(16 * 1024, static_cast<std::size_t>(std::max(sysconf(_SC_SIGSTKSZ), 0L)))),
      memory_(std::make_unique<std::byte[]>(size_))
{
}

on_signal_stack::on_signal_stack(signal_stack &stack) noexcept
{
    stack_t before = {};
    if (sigaltstack(nullptr, &before) == 0 && (before.ss_flags & SS_DISABLE) != 0) {
        stack_t ours = {};
        ours.ss_sp = stack.begin();
        ours.ss_size = stack.size();
        installed_ = sigaltstack(&ours, nullptr) == 0;
    }
}

on_signal_stack::~on_signal_stack()
{
    if (installed_) {
        stack_t none = {};
        none.ss_flags = SS_DISABLE;
        sigaltstack(&none, nullptr);
    }
}

} // namespace flux
