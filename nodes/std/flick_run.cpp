#include "flick_run.h"

#include "dns.h"
#include "flick_end.h"
#include "flick_process.h"
#include "flick_shared.h"
#include "flick_watch.h"

#include "flux/error.hpp"
#include "flux/flow/flow.hpp"
#include "flux/log.hpp"

#include <cerrno>
#include <functional>
#include <new>
#include <string>
#include <utility>

namespace flick {

namespace {

/// One who is to have a connection of a server has a request for it.
class coming_request
{
  public:
    explicit coming_request(std::size_t &open) noexcept : open_(open) { ++open_; }
    coming_request(const coming_request &) = delete;
    coming_request &operator=(const coming_request &) = delete;
    ~coming_request() { --open_; }

  private:
    std::size_t &open_;
};

/// The right to a connection, until it is made: others may wait for that, or for the place.
class place_taken
{
  public:
    place_taken(backends &of, std::size_t server, bool is_shared) noexcept
        : of_(of), server_(server), is_shared_(is_shared)
    {
    }
    place_taken(const place_taken &) = delete;
    place_taken &operator=(const place_taken &) = delete;
    ~place_taken()
    {
        if (!is_used_) {
            of_.free_place(server_);
            is_shared_ ? of_.shared(server_).failed(error_) : void();
        }
    }

    /// Whoever makes it has the place.
    void use() noexcept { is_used_ = true; }
    /// It cannot be made.
    void fail(int error) noexcept { error_ = error; }

  private:
    backends &of_;
    const std::size_t server_;
    const bool is_shared_;
    bool is_used_ = false;
    int error_ = ENOMEM;
};

} // namespace

run::run(process &of) : of_(of), places_(of.size()), coming_(of.size()) {}

end *run::at(std::size_t channel, std::size_t element) const noexcept
{
    const std::vector<place> &all = places_[channel];
    return element < all.size() ? all[element].there : nullptr;
}

bool run::has(const end &one) const noexcept
{
    const std::vector<place> &all = places_[one.channel()];
    return one.element() < all.size() && (all[one.element()].there == &one || all[one.element()].repeating == &one);
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
            return connect(channel, element, limit, servers, wanted::any);
        }
        if (const int error = wait_in(waiting_); error != 0) {
            return flux::unexpected(error);
        }
    }
}

flux::io_result<std::shared_ptr<end>> run::connect(std::size_t channel, std::size_t element, milliseconds limit,
                                                   const char *servers, wanted what)
{
    const std::shared_ptr<run> stays = shared_from_this();
    places_[channel][element].is_connecting = true;
    flux::io_result<std::shared_ptr<end>> made = obtain(channel, element, limit, servers, what);
    places_[channel][element].is_connecting = false;
    if (made.has_value() && *made != nullptr && is_over_) {
        (*made)->finish();
        made = flux::unexpected(ECONNRESET);
    } else if (made.has_value() && *made != nullptr) {
        add(**made);
        end_stuck_waits();
    }
    wake_all(waiting_);
    return made;
}

void run::end_stuck_waits() noexcept
{
    for (awaited_place *each = awaits_.first(); each != nullptr; each = awaits_.next(*each)) {
        each->is_stuck = each->is_stuck || (backends::is_stuck(*each) && each->wait.end(flux::park_end::completed));
    }
}

// As `made_by`, within so long; without an exception, as others wait for what becomes of it.
flux::io_result<std::shared_ptr<end>> run::obtain(std::size_t channel, std::size_t element, milliseconds limit,
                                                  const char *servers, wanted what) noexcept
{
    try {
        const flux::moment until = limit.count() == 0 ? flux::never : flux::running_io().now() + limit;
        return made_by(channel, element, until, servers, what);
    } catch (const std::bad_alloc &) {
        return flux::unexpected(ENOMEM);
    }
}

// One that runs share or that was kept, or a new one; where it cannot be made, to the next server, as often as may be.
flux::io_result<std::shared_ptr<end>> run::made_by(std::size_t channel, std::size_t element, flux::moment until,
                                                   const char *servers, wanted what)
{
    const std::shared_ptr<backends> all = of_.at(channel).servers;
    const binding &to = all->bound_to();
    const bool is_shared = to.shared != 0 && what != wanted::own && of_.made(channel) != nullptr;
    for (std::size_t attempt = 0;; ++attempt) {
        const std::size_t server = all->choose(element + attempt);
        const coming_request own(all->open_at(server));
        all->asked(server);
        std::shared_ptr<shared_connection> known;
        int error = is_shared ? all->shared(server).take(to.shared, until, known) : 0;
        if (known != nullptr) {
            return share(std::move(known), channel, element);
        }
        if (error == 0) {
            std::shared_ptr<end> kept;
            const int refused = all->take(server, until, *this, what == wanted::fresh, kept);
            if (refused != 0) {
                is_shared ? all->shared(server).failed(refused) : void();
                return flux::unexpected(refused);
            }
            if (kept != nullptr && (what == wanted::fresh || !kept->is_usable())) {
                kept->cut(); // its place is free when that is over
                --attempt;
                continue;
            }
            if (kept != nullptr) {
                kept->begin_again(shared_from_this(), element);
                return kept;
            }
            place_taken place(*all, server, is_shared);
            const flux::io_result<flux::connection *> connected = dns::connect(all->address(server), servers, until);
            if (connected.has_value()) {
                place.use();
                return is_shared ? made_shared(**connected, channel, element, server)
                                 : made_of(**connected, channel, element, server);
            }
            error = connected.error();
            place.fail(error);
            error != ECANCELED ? all->failed(server) : void();
        }
        if (error == ECANCELED || attempt >= to.retries) {
            return unreachable(channel, element, what == wanted::fresh, all->address(server), error);
        }
    }
}

// Null where there is a rule for that. Where it was to be asked again what was asked is lost.
flux::io_result<std::shared_ptr<end>> run::unreachable(std::size_t channel, std::size_t element, bool is_lost,
                                                       const std::string &to, int error)
{
    const std::uint64_t what = std::hash<std::string>{}(to) ^ static_cast<std::uint64_t>(error);
    const std::string why = to + ": " + flux::describe_error(error).c_str();
    const char *const name = of_.at(channel).name.c_str();
    flux::log_rarely_each(what, "the channel `%s` cannot be connected to %s", name, why.c_str());
    const reply_order::place lost{channel, element};
    if (raise(event::unreachable, channel, "cannot be connected to " + why, nullptr, is_lost ? &lost : nullptr)) {
        return std::shared_ptr<end>();
    }
    return flux::unexpected(error);
}

flux::io_result<std::shared_ptr<end>> run::made_of(flux::connection &on, std::size_t channel, std::size_t element,
                                                   std::size_t server)
{
    std::shared_ptr<end> made;
    try {
        made = std::make_shared<end>(shared_from_this(), channel, element);
    } catch (const std::bad_alloc &) {
        of_.at(channel).servers->free_place(server);
        throw;
    }
    made->use(of_.at(channel).servers, server);
    flux::connections *const home = of_.made(channel);
    if (home == nullptr) {
        made->begin_alone(on);
        return made;
    }
    made->begin(on);
    on.state<membership>()->own = made.get();
    home->adopt(on);
    const flux::io_result<void> given = on.give_back();
    return given.has_value() ? flux::io_result<std::shared_ptr<end>>(made) : flux::unexpected(given.error());
}

// Others may share it from now on.
flux::io_result<std::shared_ptr<end>> run::made_shared(flux::connection &on, std::size_t channel, std::size_t element,
                                                       std::size_t server)
{
    const std::shared_ptr<backends> &servers = of_.at(channel).servers;
    shared_connections &all = servers->shared(server);
    std::shared_ptr<shared_connection> made;
    try {
        made = std::make_shared<shared_connection>(of_, servers, server);
        made->begin(on);
        on.state<membership>()->shared = made.get();
        of_.made(channel)->adopt(on);
        on.give_back();
        if (made->is_over()) {
            all.failed(ECONNRESET); // the server ends
            return flux::unexpected(ECONNRESET);
        }
        all.made(made);
    } catch (const std::bad_alloc &) {
        made == nullptr ? servers->free_place(server) : void();
        all.failed(ENOMEM);
        throw;
    }
    return share(std::move(made), channel, element);
}

std::shared_ptr<end> run::share(std::shared_ptr<shared_connection> on, std::size_t channel, std::size_t element)
{
    const auto made = std::make_shared<end>(shared_from_this(), channel, element);
    made->share(std::move(on));
    return made;
}

// While what was asked there is answered it is the one that others wait for. Where its connection ends meanwhile, what
// is made in its place may be shared again.
flux::io_result<std::shared_ptr<end>> run::take_own(end &of, milliseconds limit, const char *servers)
{
    const std::shared_ptr<run> stays = shared_from_this();
    const std::shared_ptr<end> before = of.shared_from_this();
    const std::size_t channel = of.channel();
    const std::size_t element = of.element();
    if (at(channel, element) != &of) {
        return reach(channel, element, limit, servers); // another has been faster
    }
    places_[channel][element] = {.is_connecting = true, .repeating = &of};
    const int error = before->await_answers();
    if (places_[channel][element].repeating != &of) {
        return error != 0 ? flux::unexpected(error) : reach(channel, element, limit, servers);
    }
    if (error != 0) {
        places_[channel][element] = {.there = before->is_over() ? nullptr : before.get()};
        is_over_ ? before->finish() : void();
        wake_all(waiting_);
        return flux::unexpected(error);
    }
    places_[channel][element].repeating = nullptr;
    before->leave_shared();
    return connect(channel, element, limit, servers, wanted::own);
}

const std::shared_ptr<replies> &run::coming(std::size_t channel, std::size_t element)
{
    std::vector<std::shared_ptr<replies>> &all = coming_[channel];
    all.resize(std::max(all.size(), element + 1));
    if (all[element] == nullptr) {
        all[element] = std::make_shared<replies>(reply_order::place{channel, element}, of_.at(channel).is_ordered);
    }
    return all[element];
}

void run::passed_on() noexcept
{
    if (has_ended_input_) [[unlikely]] {
        finish_fed();
    }
}

template <class Do>
void run::for_all_coming(Do what) noexcept
{
    for (const auto &channel : coming_) {
        for (const std::shared_ptr<replies> &each : channel) {
            each == nullptr ? void() : what(*each);
        }
    }
}

void run::pass_on(replies &of, std::size_t to, const flux::message &what, bool is_last) noexcept
{
    if (!of.pass_on_now(*this, to, what, is_last) &&
        !of.hold({what, to, is_last, flux::running_flow->deadline()})) {
        finish_all();
    }
    pass_held(of);
}

// Whoever passes one on already goes on with what that changes.
void run::pass_held(replies &of) noexcept
{
    if (!is_passing_) {
        is_passing_ = true;
        of.pass_held(*this);
        is_passing_ = false;
        pass_next_held();
    }
}

void run::pass_next_held() noexcept
{
    if (std::exchange(is_passing_, true)) {
        return;
    }
    for (const reply_order::place *next = order_.next(); next != nullptr; next = order_.next()) {
        if (next->channel >= coming_.size()) {
            break; // a rule answers
        }
        const auto &all = coming_[next->channel];
        if (next->element >= all.size() || all[next->element] == nullptr || !all[next->element]->pass_held(*this)) {
            break;
        }
    }
    is_passing_ = false;
    if (std::exchange(is_passing_all_, false)) [[unlikely]] {
        pass_all_held();
    }
}

// Something else than a reply has changed the order.
void run::pass_all_held() noexcept
{
    if (is_passing_) {
        is_passing_all_ = true;
        return;
    }
    for_all_coming([&](replies &each) { pass_held(each); });
}

void run::give_up_order() noexcept
{
    const std::shared_ptr<run> stays = shared_from_this();
    order_.give_up();
    pass_all_held();
}

int run::await_passed_on(const end &own) noexcept
{
    const std::vector<std::shared_ptr<replies>> &all = coming_[own.channel()];
    if (own.element() >= all.size() || all[own.element()] == nullptr) [[likely]] {
        return 0;
    }
    const std::shared_ptr<replies> before = all[own.element()];
    int error = 0;
    while (error == 0 && !before->empty()) {
        error = before->await_change();
    }
    return error;
}

bool run::ask_again(end &of, std::vector<request> asked, std::size_t repeats) noexcept
{
    place &at = places_[of.channel()][of.element()];
    if (is_over_ || (at.there != &of && at.repeating != &of)) {
        return false;
    }
    try {
        watch::of_loop().repeat({shared_from_this(), of.channel(), of.element(), std::move(asked), repeats});
    } catch (const std::bad_alloc &) {
        return false;
    }
    at = {.is_connecting = true};
    ++repeating_;
    return true;
}

int run::await_asked_again() noexcept
{
    const std::shared_ptr<run> stays = shared_from_this();
    int error = 0;
    while (error == 0 && is_asking_again() && !is_over_) {
        error = wait_in(waiting_);
    }
    return error == 0 && is_over_ ? ECONNRESET : error;
}

void run::parted(end &of) noexcept
{
    place &at = places_[of.channel()][of.element()];
    if (at.there == &of) {
        at = {};
    } else if (at.repeating == &of) {
        at.repeating = nullptr;
        at.is_connecting = false;
        wake_all(waiting_);
    }
}

void run::repeat(std::size_t channel, std::size_t element, std::vector<request> asked, std::size_t repeats,
                 milliseconds limit, const char *servers) noexcept
{
    const std::shared_ptr<run> stays = shared_from_this();
    repeat_now(channel, element, std::move(asked), repeats, limit, servers);
    --repeating_;
    wake_all(waiting_);
}

void run::repeat_now(std::size_t channel, std::size_t element, std::vector<request> asked, std::size_t repeats,
                     milliseconds limit, const char *servers) noexcept
{
    const auto made = obtain(channel, element, limit, servers, wanted::fresh);
    place &at = places_[channel][element];
    if (!made.has_value()) {
        at.is_connecting = false;
        return finish_all();
    }
    if (*made == nullptr) {
        return leave_unanswered(channel, element);
    }
    at.repeating = (*made).get();
    (*made)->ask_all(std::move(asked), repeats - 1);
    if (at.repeating == (*made).get()) {
        add(**made);
    }
    // Who sends there may have ended meanwhile.
    is_over_ ? finish_all() : finish_fed();
}

// Whether nothing more comes of a channel. The recursion is as deep as there are channels.
bool run::has_ended(std::size_t channel, std::size_t depth) const noexcept
{
    const flick::channel &of = of_.at(channel);
    const auto is_open = [](const place &one) { return one.is_connecting || (one.there != nullptr && !one.has_ended); };
    const auto comes = [](const std::shared_ptr<replies> &one) { return one != nullptr && !one->empty(); };
    if (std::any_of(places_[channel].begin(), places_[channel].end(), is_open) ||
        std::any_of(coming_[channel].begin(), coming_[channel].end(), comes)) {
        return false;
    }
    const auto feeder_has_ended = [&](std::size_t feeder) { return has_ended(feeder, depth + 1); };
    const bool may_connect = of.to.connects && depth < of_.size();
    return !may_connect || std::all_of(of.fed_by.begin(), of.fed_by.end(), feeder_has_ended);
}

void run::input_ended(end &of) noexcept
{
    places_[of.channel()][of.element()].has_ended = true;
    has_ended_input_ = true;
    // A server that was told that nothing more comes ends, too; others may still have to answer.
    of.accepted() || of.is_finished() ? finish_fed() : finish_all();
}

void run::answered(end &of) noexcept
{
    if (has(of) && !std::exchange(places_[of.channel()][of.element()].has_ended, true)) {
        finish_fed();
    }
}

void run::released(end &of) noexcept
{
    forget(of);
    finish_fed();
}

// Nothing is sent any more to those that only get what comes of channels that have ended, and what rules say.
void run::finish_fed() noexcept
{
    if (pending_ != 0) {
        return;
    }
    const std::shared_ptr<run> stays = shared_from_this(); // whose ends may leave it
    for (std::size_t channel = 0; channel != of_.size(); ++channel) {
        const std::vector<std::size_t> &fed_by = of_.at(channel).fed_by;
        const auto feeder_has_ended = [&](std::size_t feeder) { return has_ended(feeder, 0); };
        if (std::all_of(fed_by.begin(), fed_by.end(), feeder_has_ended)) {
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
    of.drop_unfinished();
    leave(of);
    finish_all();
}

// Where the run ends, what came behind what is lost is nobody's.
void run::lost(end &of, event what, std::string why) noexcept
{
    of.drop_unfinished();
    const reply_order::place at{of.channel(), of.element()};
    const bool is_raised = raise(what, of.channel(), std::move(why), nullptr, has(of) ? &at : nullptr);
    leave(of);
    is_raised ? pass_all_held() : finish_all();
}

// Were there no end to faults without a message in between, a rule that fails by its own would run for ever.
bool run::raise(event what, std::size_t channel, std::string why, std::shared_ptr<end> last,
                const reply_order::place *lost) noexcept
{
    faults *const by = of_.rules_for(channel, what);
    if (is_over_ || by == nullptr || by->is_stopped() || raised_in_a_row_ == of_.most_in_a_row()) {
        return false;
    }
    const bool ends_run = last == nullptr && what != event::failed && !of_.at(channel).to.connects;
    const reply_order::place answer = reply_order::of_rule(raised_);
    trouble made;
    try {
        made = std::make_shared<fault>(shared_from_this(), ends_run, answer, std::move(last), std::move(why));
        if (is_answered_in_turn(what, channel)) {
            expect_rule(answer, lost);
        }
        by->add(made);
    } catch (const std::bad_alloc &) {
        made != nullptr ? made->forget() : void();
        return false;
    }
    ++raised_in_a_row_;
    ++raised_;
    ++pending_;
    return true;
}

// A client that is gone gets no answer; and who is at work on a reply waits for the rule for what fails of that.
bool run::is_answered_in_turn(event what, std::size_t channel) const noexcept
{
    return what != (of_.at(channel).to.connects ? event::failed : event::broken);
}

// What it answers comes in the place of what is lost, or else behind all that is to come.
void run::expect_rule(reply_order::place answer, const reply_order::place *lost)
{
    const bool is_there = lost != nullptr && order_.replace(*lost, answered_at(*lost), answer);
    if (!is_there && order_.next() != nullptr) {
        order_.expect(answer, 1, false);
    }
}

void run::settled() noexcept
{
    if (--pending_ == 0) {
        wake_all(unsettled_);
        finish_fed(); // which may have been the last that was to come
    }
}

int run::await_settled() noexcept
{
    const std::shared_ptr<run> stays = shared_from_this();
    while (pending_ != 0) {
        if (const int error = wait_in(unsettled_); error != 0) {
            return error;
        }
    }
    return 0;
}

void run::forget(end &gone) noexcept
{
    leave(gone);
    pass_all_held();
}

// A rule has learned that it cannot be asked again: what comes behind its replies waits for them no longer.
void run::leave_unanswered(std::size_t channel, std::size_t element) noexcept
{
    const reply_order::place lost{channel, element};
    places_[channel][element] = {.has_ended = true};
    order_.forget(lost, answered_at(lost));
    wake_all(waiting_);
    pass_all_held();
    finish_fed();
}

// Of how many that are not passed on yet the reply has come from there.
std::size_t run::answered_at(reply_order::place at) const noexcept
{
    const std::vector<std::shared_ptr<replies>> &all = coming_[at.channel];
    return at.element < all.size() && all[at.element] != nullptr ? all[at.element]->answered() : 0;
}

// It is in its place no longer, and nothing of it is to come.
void run::leave(end &gone) noexcept
{
    if (has(gone)) {
        places_[gone.channel()][gone.element()] = {.has_ended = true};
        const reply_order::place lost{gone.channel(), gone.element()};
        order_.forget(lost, answered_at(lost));
        wake_all(waiting_);
    }
}

void run::finish_all() noexcept
{
    const std::shared_ptr<run> stays = shared_from_this(); // whose ends may leave it
    is_over_ = true;
    wake_all(waiting_);
    for (const std::vector<place> &channel : places_) {
        for (const place &each : channel) {
            if (each.there != nullptr) {
                each.there->finish();
            }
        }
    }
    order_.give_up(); // nobody gets anything any more
    for_all_coming([](replies &each) { each.drop_held(); });
}

} // namespace flick
