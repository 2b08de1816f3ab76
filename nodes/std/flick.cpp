// The nodes of processes, on the connections of the runtime.

#include "flick_process.h"

#include "tcp.h"

#include "flux/error.hpp"
#include "flux/flow/flow.hpp"
#include "flux/io/connections.hpp"
#include "flux/io/park.hpp"
#include "flux/strategy/source.hpp"

#include <deque>
#include <map>
#include <mutex>
#include <new>
#include <utility>

namespace flick {

std::any &global_state(std::size_t place)
{
    // Loops ask for places at the same time; what is in one is guarded by its constraint, and stays where it is.
    static std::mutex growing;
    static std::deque<std::any> all;
    const std::lock_guard alone(growing);
    while (all.size() <= place) {
        all.emplace_back();
    }
    return all[place];
}

namespace {

// The end of a connection that has come; of a new one, in a new run.
end &own_end(flux::connection &on, process &of, std::size_t channel)
{
    membership &known = *on.state<membership>();
    if (known.own == nullptr) [[unlikely]] {
        const auto made = std::make_shared<end>(std::make_shared<run>(of), channel, std::size_t{0});
        made->begin(on);
        made->of().add(*made);
        known.own = made.get();
    }
    return *known.own;
}

// Clients have an end before their first message where there are rules for one that is wrong.
class early_end final : public flux::first_look
{
  public:
    early_end(process &of, std::size_t channel) noexcept : of_(of), channel_(channel) {}

    void look(flux::connection &fresh) noexcept override
    {
        try {
            own_end(fresh, of_, channel_);
        } catch (const std::bad_alloc &) {
            return; // it is sent away like those without rules
        }
    }

  private:
    process &of_;
    const std::size_t channel_;
};

// The connections that instances make for a channel; their source stops them.
flux::connections &made_for(const limits &of, process &by, std::size_t channel)
{
    if (flux::connections *const known = by.made(channel)) {
        return *known;
    }
    flux::connections &all = by.made(channel, of);
    const std::shared_ptr<flux::connections> stays = all.shared_from_this();
    flux::running_flow->from().when_stopped([stays] { stays->end(); });
    return all;
}

// What has come on one of them is to be done with by then.
void limit_flow(const limits &of)
{
    if (of.request.count() != 0) {
        flux::running_flow->set_deadline(flux::running_io().last_look() + of.request);
    }
}

} // namespace

int next_message(const limits &of, const char *process_text, std::size_t channel, const char *text,
                 flux::connection *&connection, instance &self, flux::message_parse &into)
{
    process &by = process::of(process_text);
    const binding &to = by.bind(channel, text);
    int error = 0;
    if (to.connects) {
        error = flux::take(made_for(of, by, channel).next(into), connection);
        limit_flow(of);
    } else {
        const tcp::message_limits limits{of.idle, of.first_byte, of.message, of.request};
        early_end early(by, channel);
        flux::first_look *const first = by.judges(channel) ? &early : nullptr;
        error = tcp::next_message(to.addresses.front().c_str(), limits, of.unix_mode, connection, into, nullptr,
                                  nullptr, first);
    }
    if (error == 0) {
        self.from = &own_end(*connection, by, channel);
        self.from->has_input();
    }
    return error;
}

int NextFault(NextFault_in *in, NextFault_out *out)
{
    process &by = process::of(in->process);
    faults &all = *by.rules_for(in->channel, static_cast<event>(in->what));
    flux::source &source = flux::running_flow->from();
    if (!std::exchange(source.state<bool>(), true)) {
        source.when_stopped([&all] { all.stop(); });
    }
    if (const int error = all.next(out->wrong); error != 0) {
        return error;
    }
    out->self.all = out->wrong->of();
    out->message = out->wrong->what();
    if (in->request_ms != 0) {
        flux::running_flow->set_deadline(flux::running_io().last_look() + milliseconds(in->request_ms));
    }
    return 0;
}

int NextBytes(NextBytes_in *in, NextBytes_out *out)
{
    process &by = process::of(in->process);
    const binding &to = by.bind(in->channel, in->binding);
    const limits of{milliseconds(in->idle_ms), milliseconds(in->first_byte_ms), milliseconds(0),
                    milliseconds(in->request_ms), in->unix_mode};
    int error = 0;
    if (to.connects) {
        error = flux::take(made_for(of, by, in->channel).next(), out->connection);
        limit_flow(of);
    } else {
        const tcp::message_limits limits{of.idle, of.first_byte, of.message, of.request};
        error = tcp::next_request(to.addresses.front().c_str(), limits, of.unix_mode, out->connection);
    }
    if (error == 0) {
        out->self.from = &own_end(*out->connection, by, in->channel);
    }
    return error;
}

int Join(Join_in *in, Join_out *out)
{
    // All who join are of one loop, the first that asks; others have nothing to do.
    static std::mutex claiming;
    static auto &claimed = *new std::map<std::string, const flux::io *>;
    const auto is_ours = [&] {
        const std::lock_guard alone(claiming);
        return claimed.emplace(in->process, &flux::running_io()).first->second == &flux::running_io();
    };
    const auto is_first_run = [&] {
        const std::lock_guard alone(claiming);
        return claimed.emplace(std::string(in->process) + " has run", nullptr).second;
    };
    process &of = process::of(in->process);
    const binding &to = of.bind(in->channel, in->binding);
    // Where nobody joins there is one run.
    if (!is_ours() || (to.connects && !is_first_run())) {
        flux::park own(*flux::running_flow, flux::park_reason::flow);
        return error_of(own.wait());
    }
    out->self.all = std::make_shared<run>(of);
    if (to.connects) {
        return 0;
    }
    while (out->self.all->joined().size() != to.joined) {
        flux::connection *one = nullptr;
        const flux::endpoint at(to.addresses.front().c_str());
        if (const int error = tcp::next_peer(at, milliseconds(in->idle_ms), in->unix_mode, one); error != 0) {
            return error;
        }
        out->self.all->join(*one);
    }
    return 0;
}

int Ready(Ready_in *in)
{
    for (flux::connection *const each : in->self.of().joined()) {
        const auto nothing = [](std::span<const std::byte>) { return std::size_t{0}; };
        if (const int error = flux::take(each->receive_by(nothing)); error != 0) {
            return error;
        }
    }
    return 0;
}

namespace {

// How many connections a channel is.
std::size_t count_of(const binding &to)
{
    return to.connects ? to.addresses.size() : to.joined;
}

} // namespace

int Count(Count_in *in, Count_out *out)
{
    out->count = static_cast<std::int64_t>(count_of(in->self.of().of().bind(in->channel, in->binding)));
    return 0;
}

int All(All_in *in, All_out *out)
{
    const std::size_t count = count_of(in->self.of().of().bind(in->channel, in->binding));
    for (std::size_t element = 0; element != count; ++element) {
        out->all.push_back(element);
    }
    return 0;
}

int Peer(Peer_in *in, Peer_out *out)
{
    run &of = in->self.of();
    const binding &to = of.of().bind(in->channel, in->binding);
    const end *const there = of.at(in->channel, 0);
    out->peer = to.connects ? to.addresses.front() : there == nullptr ? std::string() : there->peer();
    return 0;
}

int Peers(Peers_in *in, Peers_out *out)
{
    out->peers = in->self.of().of().bind(in->channel, in->binding).addresses;
    return 0;
}

int Bind(Bind_in *in)
{
    in->self.of().of().bind(in->channel, in->binding);
    return 0;
}

namespace {

// What is for a client that has left is nobody's, nor is what goes wrong and has a rule for that.
int send_all(run &of, const std::vector<sending> &sends, long connect_ms, const char *servers)
{
    for (const sending &each : sends) {
        const auto to = of.reach(each.channel, each.element, milliseconds(connect_ms), servers);
        if (!to.has_value()) {
            return to.error();
        }
        const flux::io_result<void> sent = *to == nullptr ? flux::io_result<void>() : (*to)->send(each.what);
        const bool is_ours = !sent.has_value() && !(*to)->accepted();
        if (is_ours && of.of().rules_for(each.channel, event::broken) == nullptr) {
            return sent.error();
        }
    }
    return 0;
}

} // namespace

int Send(Send_in *in)
{
    run &of = in->self.of();
    const std::size_t raised = of.raised();
    int error = send_all(of, in->sends, in->connect_ms, in->servers);
    if (error == 0 && of.raised() != raised) {
        // What a rule for that answers comes before the answers to what follows.
        error = of.await_settled();
    }
    return error != 0 ? error : flux::take(in->connection->give_back_behind_streams());
}

int Reply(Reply_in *in)
{
    const int error = send_all(in->self.of(), in->sends, in->connect_ms, in->servers);
    if (error == 0) {
        in->wrong->settle(true);
    }
    return error;
}

int Enter(Enter_in *in)
{
    run &of = in->self.of();
    std::size_t element = 0;
    for (flux::connection *const each : of.joined()) {
        const auto made = std::make_shared<end>(of.shared_from_this(), in->channel, element++);
        made->begin_alone(*each);
        of.add(*made);
    }
    return 0;
}

int Close(Close_in *in)
{
    run &of = in->self.of();
    const int error = send_all(of, in->sends, in->connect_ms, in->servers);
    of.finish_all();
    return error;
}

int Abandon(Abandon_in *in)
{
    in->self.of().finish_all();
    return 0;
}

int GiveUp(GiveUp_in *in)
{
    in->wrong->settle(false);
    return 0;
}

int Fail(Fail_in *in)
{
    run &of = in->self.of();
    if (!of.raise(event::failed, in->channel, flux::describe_error(in->error).c_str())) {
        return in->error;
    }
    const int error = of.await_settled();
    return error != 0 ? error : flux::take(in->connection->give_back_behind_streams());
}

int Pass(Pass_in *in)
{
    const auto to = in->self.of().reach(in->to, 0, milliseconds(in->connect_ms), in->servers);
    if (!to.has_value()) {
        return to.error();
    }
    if (*to == nullptr) {
        return flux::take(in->connection->close());
    }
    const flux::io_result<bool> ended = (*to)->relay(*in->connection);
    if (!ended.has_value()) {
        // What is for a client that has left is nobody's.
        return (*to)->accepted() && (*to)->is_over() ? flux::take(in->connection->close()) : ended.error();
    }
    if (*ended) {
        in->self.from->end_input(*in->connection);
        return 0;
    }
    return flux::take(in->connection->give_back());
}

} // namespace flick
