// The nodes of processes. They use the connections of the runtime.

#include "flick_process.h"

#include "tcp.h"

#include "flux/error.hpp"
#include "flux/flow/flow.hpp"
#include "flux/io/connections.hpp"
#include "flux/io/park.hpp"
#include "flux/strategy/source.hpp"

#include <algorithm>
#include <deque>
#include <mutex>
#include <new>
#include <numeric>
#include <utility>

namespace flick {

shared_state &global_state(std::size_t place)
{
    // Event loops call this at the same time. A place never moves in memory.
    static std::mutex growing;
    static std::deque<shared_state> all;
    const std::lock_guard alone(growing);
    while (all.size() <= place) {
        all.emplace_back();
    }
    return all[place];
}

namespace {

// The end of the client on this connection. A new client gets an end in a new run. If the channel already has its
// maximum of clients, the function closes the connection of a new client and returns null.
end *own_end(flux::connection &on, process &of, std::size_t number)
{
    membership &known = *on.state<membership>();
    if (known.own == nullptr) [[unlikely]] {
        channel &at = of.at(number);
        if (at.to.most != 0 && at.clients >= at.to.most) {
            on.close_softly();
            return nullptr;
        }
        const auto made = std::make_shared<end>(std::make_shared<run>(of), number, std::size_t{0});
        made->of().add(*made);
        made->begin(on);
        made->count_in(at.clients);
        known.own = made.get();
    }
    return known.own;
}

// The end of the server on this connection. If no run has the end, no request is pending on the connection. If the end
// is over, its requests may have gone to another connection. In both cases the function closes the connection and
// returns null.
end *asked_end(flux::connection &on)
{
    end *const own = on.state<membership>()->own;
    if (own->is_kept() || own->is_over()) {
        on.close();
        return nullptr;
    }
    own->begin_work();
    return own;
}

// Gives each client an end before its first message, for channels with rules for broken or malformed messages.
class early_end final : public flux::first_look
{
  public:
    early_end(process &of, std::size_t channel) noexcept : of_(of), channel_(channel) {}

    void look(flux::connection &fresh) noexcept override
    {
        const channel &at = of_.at(channel_);
        if (at.to.most != 0 && at.clients >= at.to.most) {
            return; // the source rejects the client with its first message
        }
        try {
            own_end(fresh, of_, channel_);
        } catch (const std::bad_alloc &) {
            return; // the source rejects a wrong message as if there were no rules
        }
    }

  private:
    process &of_;
    const std::size_t channel_;
};

// The connections that instances make for a channel. Their source ends them when it stops.
flux::connections &made_for(const limits &of, process &by, std::size_t channel)
{
    if (flux::connections *const known = by.made(channel)) {
        return *known;
    }
    flux::connections &all = by.made(channel, of);
    const std::shared_ptr<flux::connections> stays = all.shared_from_this();
    // Flows of replies wait for earlier replies, and a bound could block the flow of an earlier reply. A run's own
    // connection has one such flow at a time. A shared connection has as many as there is room for.
    flux::running_flow->from().lift_bound();
    flux::running_flow->from().when_stopped([stays, servers = by.at(channel).servers] {
        servers->stop();
        stays->end();
    });
    return all;
}

// Finds the end that the input belongs to, or the connection that runs share. On a shared connection, the order of the
// requests tells the end.
void find_asked(flux::connection &on, instance &self)
{
    self.through = on.state<membership>()->shared;
    self.from = self.through == nullptr ? asked_end(on) : nullptr;
}

// Applies the time limit of requests to the flow for input on a connection that instances make.
void limit_flow(const limits &of)
{
    if (of.request.count() != 0) {
        flux::running_flow->set_deadline(flux::running_io().last_look() + of.request);
    }
}

// The connections of a source of messages at an address. The first call starts to listen there.
const tcp::served &served_at(const limits &of, const flux::endpoint &at)
{
    const tcp::served *const known = tcp::served_at(at);
    return known != nullptr ? *known
                            : *tcp::serve_at(at, flux::first_given::with_input,
                                             {of.idle, of.first_byte, of.message, of.request, of.unix_mode});
}

// Waits for the next input of a channel. If instances make the connections of the channel, `next` waits for it,
// otherwise `accepted`.
template <class Next, class Accepted>
int next_of(const limits &of, const bound_channel &channel, flux::connection *&connection, instance &self, Next next,
            Accepted accepted)
{
    if (flux::running_flow->in_progress()) {
        return EPERM;
    }
    process &by = process::of(channel.process);
    by.bindings_in(channel.bindings);
    const binding &to = by.bind(channel.number, channel.binding);
    self = {};
    while (self.from == nullptr && self.through == nullptr) {
        int error = 0;
        flux::running_flow->set_deadline(flux::never); // the old deadline was for input that no run wanted
        if (to.connects) {
            error = next(made_for(of, by, channel.number));
            limit_flow(of);
        } else {
            error = accepted(served_at(of, to.addresses.front().c_str()));
        }
        if (error != 0) {
            return error;
        }
        connection->limit_waits(of.idle);
        if (to.connects) {
            find_asked(*connection, self);
        } else {
            self.from = own_end(*connection, by, channel.number);
        }
    }
    return 0;
}

} // namespace

int next_message(const limits &of, const bound_channel &channel, flux::connection *&connection, instance &self,
                 flux::message_parse &into)
{
    const auto next = [&](flux::connections &made) { return flux::take(made.next(into), connection); };
    const auto accepted = [&](const tcp::served &from) {
        process &by = process::of(channel.process);
        early_end early(by, channel.number);
        flux::first_look *const first = by.judges(channel.number) ? &early : nullptr;
        return tcp::next_message(from, connection, into, nullptr, nullptr, first);
    };
    return next_of(of, channel, connection, self, next, accepted);
}

bool came(instance &self, flux::connection &connection, message_role as, std::size_t size)
{
    if (self.through == nullptr) {
        self.from->has_input();
        if (self.from->has_asked_last()) {
            self.from->end_input(connection);
            return false;
        }
        self.from->came(as);
        return true;
    }
    // The source can read the next reply on the connection while the run handles this reply.
    self.at_work = self.through->came(as, size);
    connection.give_back();
    if (self.at_work == nullptr) {
        return false;
    }
    self.from = &self.at_work->from();
    self.at_work->by().has_input();
    return true;
}

int NextFault(NextFault_in *in, NextFault_out *out)
{
    if (flux::running_flow->in_progress()) {
        return EPERM;
    }
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
    const limits of{milliseconds(in->idle_ms), milliseconds(in->first_byte_ms), milliseconds(in->message_ms),
                    milliseconds(in->request_ms), in->unix_mode};
    const bound_channel channel{in->process, in->channel, in->binding, in->bindings};
    const auto next = [&](flux::connections &made) { return flux::take(made.next(), out->connection); };
    const auto accepted = [&](const tcp::served &from) { return tcp::next_request(from, out->connection); };
    return next_of(of, channel, out->connection, out->self, next, accepted);
}

int Join(Join_in *in, Join_out *out)
{
    if (flux::running_flow->in_progress()) {
        return EPERM;
    }
    process &of = process::of(in->process);
    of.bindings_in(in->bindings);
    const binding &to = of.bind(in->channel, in->binding);
    flux::source &source = flux::running_flow->from();
    if (!to.connects) {
        const flux::endpoint at(to.addresses.front().c_str());
        std::vector<flux::connection *> clients;
        out->self.all = std::make_shared<run>(of);
        const tcp::served *from = tcp::served_at(at);
        if (from == nullptr) {
            from = tcp::serve_at(at, flux::first_given::at_once,
                                 {milliseconds(in->idle_ms), {}, {}, {}, in->unix_mode});
        }
        const int error = tcp::next_peers(*from, to.joined, clients);
        out->self.all->join(std::move(clients));
        return error;
    }
    // If no clients join, there is one run, on the first event loop.
    if (!source.is_first() || std::exchange(source.state<bool>(), true)) {
        flux::park own(*flux::running_flow, flux::park_reason::flow);
        return error_of(own.wait());
    }
    out->self.all = std::make_shared<run>(of);
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

// The number of connections of a channel.
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

int LeastBusy(LeastBusy_in *in, LeastBusy_out *out)
{
    process &of = in->self.of().of();
    if (!of.bind(in->channel, in->binding).connects) {
        refuse_binding(of.at(in->channel).name, "clients connect there, and the program asks which of its servers is "
                                                "the least busy: give it addresses, `127.0.0.1:7001, 127.0.0.1:7002`");
    }
    out->index = static_cast<std::int64_t>(of.at(in->channel).servers->least_busy());
    return 0;
}

int All(All_in *in, All_out *out)
{
    const std::size_t count = count_of(in->self.of().of().bind(in->channel, in->binding));
    out->all.resize(count);
    std::iota(out->all.begin(), out->all.end(), std::uint64_t{0});
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
    // Input on a connection that runs share belongs to no run before the flow reads it.
    const bool is_of_no_run = in->self.through != nullptr && in->self.at_work == nullptr;
    process &of = is_of_no_run ? in->self.through->of() : in->self.of().of();
    of.bind(in->channel, in->binding);
    return 0;
}

namespace {

// Sends a message. The function drops messages for a client that has left, and returns 0 for an error that a rule
// handles. Replies must stay in order: a request with an unknown number of replies waits until the run has passed on
// all earlier replies. A flow that passes replies on does not wait.
int send_one(run &of, const sending &what, const request &asked, milliseconds limit, const char *servers)
{
    if (asked.replies < 0 && asked.in_order && asked.awaits_room) [[unlikely]] {
        if (const int error = of.order().await_all(); error != 0) {
            return error;
        }
    }
    const bool awaits_others = asked.in_order && asked.awaits_room;
    while (true) {
        if (const int error = awaits_others && of.is_asking_again() ? of.await_asked_again() : 0; error != 0) {
            return error;
        }
        auto to = of.reach(what.channel, what.element, limit, servers);
        // On a shared connection, such replies could not be assigned to runs, or other runs would wait for the stream.
        const bool is_own = asked.replies < 0 || asked.what.stream() != nullptr ||
                            flux::request_of(asked.what).may_end_messages;
        while (is_own && to.has_value() && *to != nullptr && (*to)->is_shared()) [[unlikely]] {
            to = of.take_own(**to, limit, servers);
        }
        if (!to.has_value()) {
            return to.error();
        }
        if (*to == nullptr) {
            return 0;
        }
        if (awaits_others && of.is_asking_again()) [[unlikely]] {
            // Replies to this request would hold the connection until the repeated requests have their replies. The
            // repeated requests may need the place of this connection.
            (*to)->settle();
            continue;
        }
        const flux::io_result<void> sent = (*to)->send(asked);
        if (sent.has_value() || (*to)->accepted()) {
            return 0;
        }
        if (sent.error() != EAGAIN) {
            return of.of().rules_for(what.channel, event::broken) == nullptr ? sent.error() : 0;
        }
    }
}

// Whether the first message may have no reply and the second message is its mark.
bool has_mark(run &of, std::span<const sending> from)
{
    const auto is_for = [&](const sending &mark) {
        return mark.channel == from[0].channel && mark.element == from[0].element && mark.replies == 1;
    };
    return from[0].replies < 0 && from[0].in_order && from.size() > 1 && is_for(from[1]) &&
           of.of().at(from[0].channel).has_marks;
}

// Sends all messages of the list, and moves them out of it.
int send_all(run &of, std::vector<sending> &sends, bool awaits_room, long connect_ms, const char *servers)
{
    const auto has_reply = [](const sending &each) { return each.in_order && each.replies > 0; };
    const auto last = std::find_if(sends.rbegin(), sends.rend(), has_reply);
    for (std::size_t at = 0; at != sends.size(); ++at) {
        sending &each = sends[at];
        const bool is_part = has_reply(each) && &each != &*last;
        request asked{std::move(each.what), each.replies, each.may_repeat, each.in_order, is_part, awaits_room};
        if (each.replies < 0 && has_mark(of, std::span(sends).subspan(at))) [[unlikely]] {
            // If the run has given up the order, the reply to a mark would count as an ordinary reply. The loop leaves
            // the mark out then.
            ++at;
            if (!of.order().is_given_up()) {
                asked = {std::move(asked.what), 1, false, true, true, awaits_room, &sends[at].what};
            }
        }
        if (const int error = send_one(of, each, asked, milliseconds(connect_ms), servers); error != 0) {
            return error;
        }
    }
    return 0;
}

// Sends the messages of a flow. A reply of a server waits for its turn. The function drops a reply that only ends a
// part of a client's request.
int send_in_turn(Send_in &in)
{
    end &from = *in.self.from;
    if (reply *const one = in.self.at_work.get()) {
        if (const int error = one->await_turn(); error != 0) {
            return error;
        }
        if (one->is_nobodys()) {
            return 0;
        }
    } else if (from.is_of_server()) {
        if (const int error = from.of().await_passed_on(from); error != 0) {
            return error;
        }
        if (const int error = from.await_order(); error != 0) {
            return error;
        }
        if (from.is_of_part()) {
            return 0;
        }
    }
    // A flow that passes replies on makes room, so it does not wait for room.
    return send_all(in.self.of(), in.sends, !from.is_of_server(), in.connect_ms, in.servers);
}

// Whether the reply to a client's request to this server ends the messages, and has gone to the client unchanged. The
// flow reads no bytes behind the client's request until it knows this.
flux::io_result<bool> is_behind_switch(const instance &self, std::size_t channel, std::size_t element) noexcept
{
    run &of = self.of();
    while (self.from->tunnel() == nullptr) {
        if (const int error = of.is_asking_again() ? of.await_asked_again() : 0; error != 0) {
            return flux::unexpected(error);
        }
        end *const there = of.at(channel, element);
        if (there == nullptr || there->is_shared()) {
            return false;
        }
        const std::shared_ptr<end> to = there->shared_from_this();
        if (const int error = to->await_answers_of(of); error != 0) {
            return flux::unexpected(error);
        }
        if (!of.is_asking_again()) {
            break;
        }
    }
    return self.from->tunnel() != nullptr;
}

// Ends a flow that has handled its message.
int end_flow(const instance &self, flux::connection &connection)
{
    if (self.at_work != nullptr) {
        self.at_work->settle(true);
        return 0;
    }
    return end_pass(connection, *self.from);
}

} // namespace

int Send(Send_in *in)
{
    run &of = in->self.of();
    const std::size_t raised = of.raised();
    end &from = *in->self.from;
    const bool may_switch = in->self.through == nullptr && from.may_switch() && in->sends.size() == 1;
    const std::size_t channel = may_switch ? in->sends[0].channel : 0;
    const std::size_t element = may_switch ? in->sends[0].element : 0;
    int error = send_in_turn(*in);
    if (error == 0 && may_switch) [[unlikely]] {
        const flux::io_result<bool> switched = is_behind_switch(in->self, channel, element);
        if (!switched.has_value() || *switched) {
            return switched.has_value() ? relay_all(*in->connection, from, *from.tunnel()) : switched.error();
        }
    }
    if (error == 0 && of.raised() != raised && !in->self.from->is_ordered()) {
        // The answer of the rule must come before the answers to later messages. Ordered replies need no wait, because
        // the order contains the answer of the rule.
        error = of.await_settled();
    }
    return error != 0 ? error : end_flow(in->self, *in->connection);
}

int Reply(Reply_in *in)
{
    run &of = in->self.of();
    const auto is_for_client = [&](const sending &each) { return !of.of().at(each.channel).to.connects; };
    const bool are_all = std::all_of(in->sends.begin(), in->sends.end(), is_for_client);
    int error = 0;
    if (std::any_of(in->sends.begin(), in->sends.end(), is_for_client)) {
        error = in->wrong->await_turn();
    }
    // The rule may have to send a request on a connection that a later reply holds. The later reply waits for the rule,
    // so the rule leaves the order first.
    are_all ? void() : in->wrong->leave_order();
    error = error != 0 ? error : send_all(of, in->sends, false, in->connect_ms, in->servers);
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
    const int error = send_all(of, in->sends, false, in->connect_ms, in->servers);
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
    return error != 0 ? error : end_flow(in->self, *in->connection);
}

int relay_all(flux::connection &connection, end &from, end &to)
{
    const std::shared_ptr<end> stays = to.shared_from_this();
    flux::running_flow->set_deadline(flux::never);
    from.passed_on();
    while (true) {
        // The flow waits for input here, outside its turn to send. Other flows can send to `to` meanwhile.
        const auto nothing = [](std::span<const std::byte>) { return std::size_t{0}; };
        const flux::io_result<void> come = connection.receive_by(nothing);
        if (!come.has_value() && come.error() == ETIMEDOUT && from.is_in_use()) {
            continue; // the peer is silent, but receives bytes from the other side
        }
        const flux::io_result<bool> ended =
            come.has_value() ? to.relay(connection) : flux::io_result<bool>(flux::unexpected(come.error()));
        if (!ended.has_value()) {
            connection.close();
            return to.is_over() ? 0 : ended.error();
        }
        if (*ended) {
            from.end_input(connection);
            return 0;
        }
    }
}

int end_pass(flux::connection &connection, end &from)
{
    if (from.has_left()) {
        from.end_input(connection);
        return 0;
    }
    if (!from.is_of_server()) {
        return flux::take(connection.give_back_behind_streams());
    }
    const std::shared_ptr<end> stays = from.shared_from_this();
    from.passed_on();
    const int error = flux::take(connection.give_back_behind_streams());
    from.end_work();
    return error;
}

int pass_bytes(std::size_t to, milliseconds limit, const char *servers, flux::connection &connection, end &from)
{
    if (const int error = from.of().await_passed_on(from); error != 0) {
        return error;
    }
    const auto there = from.of().reach(to, 0, limit, servers);
    if (!there.has_value()) {
        return there.error();
    }
    if (*there == nullptr) {
        return flux::take(connection.close());
    }
    const flux::io_result<bool> ended = (*there)->relay(connection);
    if (!ended.has_value()) {
        // The function drops bytes for a client that has left.
        return (*there)->accepted() && (*there)->is_over() ? flux::take(connection.close()) : ended.error();
    }
    if (*ended) {
        from.end_input(connection);
        return 0;
    }
    return end_pass(connection, from);
}

} // namespace flick
