// Processes of FLICK on the connections of the runtime.

#include "flick.flux.h"

#include "dns.h"
#include "tcp.h"

#include "flux/error.hpp"
#include "flux/flow/flow.hpp"
#include "flux/io/connections.hpp"
#include "flux/message_stream.hpp"
#include "flux/send_message.hpp"
#include "flux/strategy/source.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <mutex>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace flick {

using std::chrono::milliseconds;

namespace {

// A server that cannot do its work must not look as if it did.
[[noreturn]] void give_up(const std::string &channel, const char *reason)
{
    std::fprintf(stderr, "flux: the channel `%s` cannot be bound: %s\n", channel.c_str(), reason);
    std::fflush(nullptr);
    ::_exit(EXIT_FAILURE);
}

std::vector<std::string> split(std::string_view text, std::string_view by)
{
    std::vector<std::string> parts;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(by), text.size());
        parts.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + by.size(), text.size()));
    }
    return parts;
}

} // namespace

/// What a channel is bound to.
struct binding {
    bool connects = false;
    // How many clients make an instance together.
    std::size_t joined = 1;
    std::vector<std::string> addresses;
};

/// What a connection has for its source: its end, which it owns by what it is sent through.
struct membership {
    end *own = nullptr;
};

/// A channel of a process.
struct channel {
    std::string name;
    bool is_array = false;
    // The channels that send to it.
    std::vector<std::size_t> fed_by;
    bool is_bound = false;
    binding to;
    // Those that instances make, and those of its messages; null before the first.
    std::shared_ptr<flux::connections> made;
};

/// What is the same for all instances of a process on one loop.
class process
{
  public:
    explicit process(std::string_view text)
    {
        const std::size_t open = text.find('(');
        const std::size_t close = text.find("): ");
        for (std::string &name : split(text.substr(open + 1, close - open - 1), ", ")) {
            channel &made = channels_.emplace_back();
            made.is_array = name.front() == '[';
            made.name = made.is_array ? name.substr(1, name.size() - 2) : std::move(name);
        }
        for (const std::string &pair : split(text.substr(close + 3), ", ")) {
            const std::size_t middle = pair.find(" > ");
            channels_[number_of(pair.substr(middle + 3))].fed_by.push_back(number_of(pair.substr(0, middle)));
        }
    }

    /// That of the running loop which is written so.
    static process &of(const char *text)
    {
        thread_local std::map<std::string, std::unique_ptr<process>, std::less<>> known;
        thread_local std::pair<const char *, process *> last{nullptr, nullptr};
        if (last.first != text) {
            std::unique_ptr<process> &found = known[text];
            if (found == nullptr) {
                found = std::make_unique<process>(text);
            }
            last = {text, found.get()};
        }
        return *last.second;
    }

    std::size_t size() const noexcept { return channels_.size(); }
    const channel &at(std::size_t number) const noexcept { return channels_[number]; }

    /// Binds a channel, which is bound once.
    const binding &bind(std::size_t number, const char *text)
    {
        channel &of = channels_[number];
        if (!of.is_bound) [[unlikely]] {
            of.is_bound = true;
            constexpr std::string_view mark = "connect:";
            std::string_view rest = text;
            const std::size_t star = std::min(rest.find('*'), rest.size());
            const std::string_view count = rest.substr(std::min(star + 1, rest.size()));
            of.to.connects = (of.is_array && star == rest.size()) || rest.starts_with(mark);
            if (star != rest.size()) {
                const auto [end, problem] = std::from_chars(count.data(), count.data() + count.size(), of.to.joined);
                if (problem != std::errc() || end != count.data() + count.size() || of.to.joined == 0) {
                    give_up(of.name, "write how many clients there are, `7000*8`");
                }
                rest = rest.substr(0, star);
            }
            rest.remove_prefix(rest.starts_with(mark) ? mark.size() : 0);
            of.to.addresses = split(rest, ",");
            const bool is_one = !of.is_array || star != std::string_view(text).size();
            const std::vector<std::string> &all = of.to.addresses;
            if (all.empty() || std::count(all.begin(), all.end(), "") != 0 || (is_one && all.size() != 1)) {
                give_up(of.name, of.is_array ? "give it addresses, `127.0.0.1:7001,127.0.0.1:7002`"
                                             : "give it one address, `127.0.0.1:7000`");
            }
        }
        return of.to;
    }

    /// The connections that instances make for a channel. Throws `std::bad_alloc`.
    flux::connections &made(std::size_t number, const limits &of)
    {
        std::shared_ptr<flux::connections> &known = channels_[number].made;
        if (known == nullptr) {
            const flux::silence_limits silence{of.idle, milliseconds(0), of.message};
            known = std::make_shared<flux::connections>(flux::running_io(), silence);
        }
        return *known;
    }
    /// The same, where they are known already; else null.
    flux::connections *made(std::size_t number) noexcept { return channels_[number].made.get(); }

  private:
    std::size_t number_of(std::string_view name) const noexcept
    {
        const auto is_it = [&](const channel &each) { return each.name == name; };
        return static_cast<std::size_t>(std::find_if(channels_.begin(), channels_.end(), is_it) - channels_.begin());
    }

    std::vector<channel> channels_;
};

/// A flow that waits for a connection that another makes.
struct waiting_flow : flux::listed<waiting_flow> {
    flux::park wait{*flux::running_flow};
};

run::run(process &of) : of_(of), places_(of.size()) {}

end *run::at(std::size_t channel, std::size_t element) const noexcept
{
    const std::vector<place> &all = places_[channel];
    return element < all.size() ? all[element].there : nullptr;
}

void run::add(end &made)
{
    std::vector<place> &all = places_[made.channel()];
    all.resize(std::max(all.size(), made.element() + 1));
    all[made.element()] = {.there = &made};
}

flux::io_result<std::shared_ptr<end>> run::reach(std::size_t channel, std::size_t element, milliseconds limit,
                                                 const char *servers)
{
    while (true) {
        if (end *const known = at(channel, element)) [[likely]] {
            return known->shared_from_this();
        }
        const binding &to = of_.at(channel).to;
        if (!to.connects) {
            return std::shared_ptr<end>();
        }
        if (is_over_ || element >= to.addresses.size()) {
            return flux::unexpected(is_over_ ? ECONNRESET : flux::no_element);
        }
        std::vector<place> &all = places_[channel];
        all.resize(std::max(all.size(), to.addresses.size()));
        if (!all[element].is_connecting) {
            return connect(channel, element, limit, servers);
        }
        waiting_flow own;
        waiting_.push_back(own);
        if (const flux::park_end how = own.wait.wait(); how != flux::park_end::completed) {
            waiting_.remove(own);
            return flux::unexpected(error_of(how));
        }
    }
}

// One whose time is over leaves the list by itself.
void run::wake_all() noexcept
{
    for (waiting_flow *each = waiting_.first(); each != nullptr;) {
        waiting_flow *const after = flux::intrusive_list<waiting_flow>::next(*each);
        if (each->wait.end(flux::park_end::completed)) {
            waiting_.remove(*each);
        }
        each = after;
    }
}

flux::io_result<std::shared_ptr<end>> run::connect(std::size_t channel, std::size_t element, milliseconds limit,
                                                   const char *servers)
{
    const std::shared_ptr<run> stays = shared_from_this();
    const std::string &to = of_.at(channel).to.addresses[element];
    const flux::moment until = limit.count() == 0 ? flux::never : flux::running_io().now() + limit;
    places_[channel][element].is_connecting = true;
    const flux::io_result<flux::connection *> connected = dns::connect(to, servers, until);
    places_[channel][element].is_connecting = false;
    wake_all();
    if (!connected.has_value()) {
        return flux::unexpected(connected.error());
    }
    flux::connection &on = **connected;
    if (is_over_) {
        on.close();
        return flux::unexpected(ECONNRESET);
    }
    const auto made = std::make_shared<end>(stays, channel, element);
    flux::connections *const home = of_.made(channel);
    if (home == nullptr) {
        made->begin_alone(on);
        add(*made);
        return made;
    }
    made->begin(on);
    add(*made);
    on.state<membership>()->own = made.get();
    home->adopt(on);
    const flux::io_result<void> given = on.give_back();
    return given.has_value() ? flux::io_result<std::shared_ptr<end>>(made) : flux::unexpected(given.error());
}

// Whether nothing more comes of a channel. The recursion is as deep as there are channels.
bool run::has_ended(std::size_t channel, std::size_t depth) const noexcept
{
    const flick::channel &of = of_.at(channel);
    const auto is_open = [](const place &one) { return one.is_connecting || (one.there != nullptr && !one.has_ended); };
    if (std::any_of(places_[channel].begin(), places_[channel].end(), is_open)) {
        return false;
    }
    const auto feeder_has_ended = [&](std::size_t feeder) { return has_ended(feeder, depth + 1); };
    const bool may_connect = of.to.connects && depth < of_.size();
    return !may_connect || std::all_of(of.fed_by.begin(), of.fed_by.end(), feeder_has_ended);
}

void run::input_ended(end &of) noexcept
{
    places_[of.channel()][of.element()].has_ended = true;
    if (!of.accepted()) {
        return finish_all();
    }
    for (std::size_t channel = 0; channel != of_.size(); ++channel) {
        const std::vector<std::size_t> &fed_by = of_.at(channel).fed_by;
        const auto feeder_has_ended = [&](std::size_t feeder) { return has_ended(feeder, 0); };
        if (!fed_by.empty() && std::all_of(fed_by.begin(), fed_by.end(), feeder_has_ended)) {
            for (const place &each : places_[channel]) {
                if (each.there != nullptr) {
                    each.there->finish();
                }
            }
        }
    }
}

void run::lost(end &of) noexcept
{
    forget(of);
    finish_all();
}

void run::forget(end &gone) noexcept
{
    std::vector<place> &all = places_[gone.channel()];
    if (gone.element() < all.size() && all[gone.element()].there == &gone) {
        all[gone.element()] = {.has_ended = true};
    }
}

void run::finish_all() noexcept
{
    is_over_ = true;
    for (const std::vector<place> &channel : places_) {
        for (const place &each : channel) {
            if (each.there != nullptr) {
                each.there->finish();
            }
        }
    }
}

/// A flow that waits for its turn to send.
struct end::turn : flux::listed<turn> {
    flux::park wait{*flux::running_flow};
};

void end::begin(flux::connection &on) noexcept
{
    on_ = &on;
    through_ = on.send_through(shared_from_this());
    accepted_ = on.accepted();
    peer_ = on.peer().text();
}

void end::begin_alone(flux::connection &on) noexcept
{
    begin(on);
    is_left_ = true;
    on.detach();
}

// What sends, as soon as nobody else does.
template <class Send>
flux::io_result<void> end::in_turn(Send send) noexcept
{
    if (is_broken_ || is_finished_) {
        return flux::unexpected(is_broken_ ? ECONNRESET : EPIPE);
    }
    const std::shared_ptr<end> stays = shared_from_this();
    ++senders_;
    was_used_ = true;
    flux::io_result<void> sent = await_turn();
    if (sent.has_value()) {
        sent = is_broken_ ? flux::io_result<void>(flux::unexpected(ECONNRESET)) : send();
        if (!sent.has_value() && !std::exchange(is_broken_, true)) {
            // A part may have gone: nothing can follow that.
            through_->cut();
            of_->lost(*this);
        }
        pass_turn();
    }
    if (--senders_ == 0) {
        if (is_left_ && is_broken_) {
            on_->attach();
            on_->close();
        } else if (is_finished_) {
            end_output();
        }
    }
    return sent;
}

flux::io_result<void> end::send(const flux::message &what) noexcept
{
    return in_turn([&] { return send_alone(what); });
}

flux::io_result<void> end::send(std::string_view bytes) noexcept
{
    return in_turn([&] {
        iovec whole{const_cast<char *>(bytes.data()), bytes.size()};
        return through_->send({&whole, 1});
    });
}

flux::io_result<bool> end::relay(flux::connection &from) noexcept
{
    flux::io_result<bool> relayed = false;
    const flux::io_result<void> sent = in_turn([&]() -> flux::io_result<void> {
        relayed = relay_alone(from);
        return {};
    });
    return sent.has_value() ? relayed : flux::io_result<bool>(flux::unexpected(sent.error()));
}

// As much goes out of where it was received as goes without waiting; the rest stays with its connection meanwhile.
flux::io_result<bool> end::relay_alone(flux::connection &from) noexcept
{
    while (true) {
        bool has_ended = false;
        bool is_all = false;
        const flux::io_result<void> received = from.receive_by([&](std::span<const std::byte> there) {
            has_ended = there.empty();
            const std::string_view bytes(reinterpret_cast<const char *>(there.data()), there.size());
            const std::size_t taken = has_ended ? 0 : through_->send_at_once(bytes);
            is_all = taken == there.size();
            return taken;
        });
        if (!received.has_value()) {
            return flux::unexpected(received.error());
        }
        if (is_all) {
            return has_ended;
        }
        if (const flux::io_result<void> flushed = through_->flush(); !flushed.has_value()) {
            return flux::unexpected(flushed.error());
        }
    }
}

void end::end_input(flux::connection &own) noexcept
{
    if (input_ended()) {
        own.close();
    } else {
        own.detach();
    }
}

flux::io_result<void> end::await_turn() noexcept
{
    if (is_sending_) {
        turn own;
        line_.push_back(own);
        if (const flux::park_end how = own.wait.wait(); how != flux::park_end::completed) {
            line_.remove(own);
            return flux::unexpected(error_of(how));
        }
    }
    is_sending_ = true;
    return {};
}

// Whoever is first in the line sends from now on. One whose time is over leaves the line by itself.
void end::pass_turn() noexcept
{
    is_sending_ = false;
    for (turn *each = line_.first(); each != nullptr; each = flux::intrusive_list<turn>::next(*each)) {
        if (each->wait.end(flux::park_end::completed)) {
            is_sending_ = true;
            line_.remove(*each);
            return;
        }
    }
}

flux::io_result<void> end::send_alone(const flux::message &what) noexcept
{
    const auto send = [&](std::string_view bytes) {
        iovec whole{const_cast<char *>(bytes.data()), bytes.size()};
        const std::span<iovec> parts(&whole, 1);
        return through_->send_later(parts) ? flux::io_result<void>() : through_->send(parts);
    };
    const flux::io_result<void> head = send(what.wire());
    const std::shared_ptr<flux::message_stream> rest = what.stream();
    if (!head.has_value() || rest == nullptr) [[likely]] {
        return head;
    }
    return flux::through_window([&](std::span<std::byte> into) { return rest->pull_wire(into); }, send);
}

void end::finish() noexcept
{
    if (!std::exchange(is_finished_, true) && senders_ == 0) {
        end_output();
    }
}

// The peer's answer to that is the end of its own; one that has sent that already is closed now.
void end::end_output() noexcept
{
    if (through_ == nullptr) {
        return;
    }
    if (is_left_ && on_->attach().has_value()) {
        const std::shared_ptr<end> stays = shared_from_this();
        is_broken_ = true;
        through_ = nullptr;
        of_->forget(*this);
        on_->close_softly();
    } else {
        through_->end_output();
    }
}

bool end::leave(bool) noexcept
{
    const std::shared_ptr<end> stays = shared_from_this();
    if (!std::exchange(is_broken_, true)) {
        of_->lost(*this);
    }
    if (senders_ != 0) {
        is_left_ = true;
        through_->cut();
        return false;
    }
    through_ = nullptr;
    return true;
}

bool end::input_ended() noexcept
{
    if (is_broken_) {
        return leave(false);
    }
    const std::shared_ptr<end> stays = shared_from_this();
    of_->input_ended(*this);
    if (is_finished_ && senders_ == 0) {
        is_broken_ = true;
        through_ = nullptr;
        of_->forget(*this);
        return true;
    }
    is_left_ = true;
    return false;
}

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
        error = tcp::next_message(to.addresses.front().c_str(), limits, of.unix_mode, connection, into);
    }
    if (error == 0) {
        self.from = &own_end(*connection, by, channel);
    }
    return error;
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
    if (!is_ours()) {
        flux::park own(*flux::running_flow);
        return error_of(own.wait());
    }
    process &of = process::of(in->process);
    const binding &to = of.bind(in->channel, in->binding);
    out->self.all = std::make_shared<run>(of);
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

int Count(Count_in *in, Count_out *out)
{
    const binding &to = in->self.of().of().bind(in->channel, in->binding);
    out->count = static_cast<std::int64_t>(to.addresses.size());
    return 0;
}

int All(All_in *in, All_out *out)
{
    const binding &to = in->self.of().of().bind(in->channel, in->binding);
    for (std::size_t element = 0; element != to.addresses.size(); ++element) {
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

int Send(Send_in *in)
{
    run &of = in->self.of();
    for (const sending &each : in->sends) {
        const auto to = of.reach(each.channel, each.element, milliseconds(in->connect_ms), in->servers);
        if (!to.has_value()) {
            return to.error();
        }
        const flux::io_result<void> sent = *to == nullptr ? flux::io_result<void>() : (*to)->send(each.what);
        // What is for a client that has left is nobody's.
        if (!sent.has_value() && !(*to)->accepted()) {
            return sent.error();
        }
    }
    return flux::take(in->connection->give_back_behind_streams());
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
