#include "flick_watch.h"

#include "flick.flux.h"

#include "dns.h"

#include "flux/error.hpp"
#include "flux/flow/flow.hpp"
#include "flux/strategy/source.hpp"

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

namespace flick {

watch &watch::of_loop()
{
    thread_local watch own;
    return own;
}

void watch::add(std::shared_ptr<backends> servers)
{
    const binding &to = servers->bound_to();
    const flux::moment now = flux::running_io().now();
    const flux::moment check_at = to.check_every.count() == 0 ? flux::never : now;
    const flux::moment close_at = to.keep == 0 ? flux::never : now + to.keep_for;
    all_.push_back({std::move(servers), check_at, close_at});
    wake();
}

void watch::repeat(repetition what)
{
    duties_.push_back({.repeats = std::make_shared<repetition>(std::move(what))});
    wake();
}

void watch::pass_on(late_reply what)
{
    duties_.push_back({.passes = std::make_shared<late_reply>(std::move(what))});
    wake();
}

void watch::wake() noexcept
{
    if (flux::park *const source = std::exchange(waits_, nullptr)) {
        source->end(flux::park_end::completed);
    }
}

// Does what is due. Gives when the next thing is.
flux::moment watch::look_at_all(flux::moment now)
{
    flux::moment next = flux::never;
    for (watched &each : all_) {
        const binding &to = each.servers->bound_to();
        if (each.check_at <= now) {
            for (std::size_t server = 0; server != each.servers->size(); ++server) {
                duties_.push_back({.of = each.servers, .server = server});
            }
            each.check_at = now + to.check_every;
        }
        if (each.close_at <= now) {
            each.servers->close_old();
            each.close_at = now + std::max(to.keep_for / 4, milliseconds(1));
        }
        next = std::min({next, each.check_at, each.close_at});
    }
    return next;
}

int watch::next(duty &what)
{
    while (true) {
        const flux::moment next = look_at_all(flux::running_io().now());
        if (!duties_.empty()) {
            what = std::move(duties_.front());
            duties_.pop_front();
            return 0;
        }
        flux::park own(*flux::running_flow, flux::park_reason::sleep);
        waits_ = &own;
        const flux::park_end how = own.wait(next);
        waits_ = nullptr;
        if (how == flux::park_end::cancelled) {
            return ECANCELED;
        }
    }
}

namespace {

/// Whether a server can be connected, and answers as it should.
bool is_well(const backends &of, std::size_t server, const char *servers)
{
    const binding &to = of.bound_to();
    const flux::moment until = flux::running_io().now() + to.check_every;
    const auto connected = dns::connect(of.address(server), servers, until);
    if (!connected.has_value()) {
        return false;
    }
    flux::connection &on = **connected;
    bool is_so = to.probe.empty() || on.send(to.probe, until).has_value();
    std::string_view expected = to.expected;
    while (is_so && !expected.empty()) {
        const auto received = on.receive_by(
            [&](std::span<const std::byte> there) {
                const std::size_t count = std::min(there.size(), expected.size());
                const std::string_view begin(reinterpret_cast<const char *>(there.data()), count);
                is_so = count != 0 && begin == expected.substr(0, count);
                expected.remove_prefix(count);
                return there.size();
            },
            until);
        is_so = is_so && received.has_value();
    }
    on.close();
    return is_so;
}

// What is for a client that has left is nobody's.
int send_on(const late_reply &late, milliseconds limit, const char *servers)
{
    reply &one = *late.one;
    flux::running_flow->set_deadline(late.until);
    if (const int error = one.await_turn(); error != 0) {
        return error;
    }
    if (!one.is_nobodys()) {
        const auto to = one.by().reach(late.to, 0, limit, servers);
        if (!to.has_value()) {
            return to.error();
        }
        const flux::io_result<void> sent = *to == nullptr ? flux::io_result<void>() : (*to)->send(request{late.what});
        if (!sent.has_value() && !(*to)->accepted()) {
            return sent.error();
        }
    }
    one.settle(true);
    return 0;
}

} // namespace

int Watch(Watch_out *out)
{
    if (flux::running_flow->in_progress()) {
        return EPERM;
    }
    flux::running_flow->from().lift_bound(); // one waits for a place that another has
    return watch::of_loop().next(out->what);
}

int Do(Do_in *in)
{
    if (const auto &again = in->what.repeats) {
        again->of->repeat(again->channel, again->element, std::move(again->asked), again->repeats,
                          milliseconds(in->connect_ms), in->servers);
    } else if (in->what.passes != nullptr) {
        return send_on(*in->what.passes, milliseconds(in->connect_ms), in->servers);
    } else {
        in->what.of->checked(in->what.server, is_well(*in->what.of, in->what.server, in->servers));
    }
    return 0;
}

} // namespace flick
