#include "flux/event/loop.hpp"

#include "flux/waiting/cycle_clock.hpp"
#include "flux/flow/flow.hpp"
#include "flux/strategy/source.hpp"
#include "flux/event/watchdog.hpp"

#include <algorithm>
#include <new>
#include <pthread.h>
#include <utility>
#include <variant>

namespace flux {
namespace {

constexpr std::chrono::microseconds slice{100};
/// Where there is no memory for a fiber it is tried again after so long: those that have begun may wait for it.
constexpr std::chrono::milliseconds memory_rest{10};

constinit thread_local loop *running_loop = nullptr;

} // namespace

/// A fiber of a loop, with the flow or the branch that it runs. It is where that waits.
class loop::resident final : public waiter, public timer_wheel::entry
{
  public:
    using what = std::variant<flow *, branch_base *, source *>;

    resident(loop &of, stack on) noexcept : loop_(of), fiber_(on) {}

    bool wait_until(moment deadline) noexcept override
    {
        state expected = nobody;
        if (state_.compare_exchange_strong(expected, asleep, std::memory_order_acq_rel)) {
            if (deadline != never) {
                loop_.timers_.set(*this, deadline);
            }
            park();
            loop_.timers_.cancel(*this);
        }
        // One that was woken is not woken again before it waits again.
        const bool was_woken = state_.load(std::memory_order_acquire) == woken;
        if (was_woken) {
            state_.store(nobody, std::memory_order_relaxed);
        }
        return was_woken;
    }

    // The time until which it waits has come. If it has been woken meanwhile, it goes on for that.
    void come_due() noexcept
    {
        state expected = asleep;
        if (state_.compare_exchange_strong(expected, nobody, std::memory_order_acq_rel)) {
            loop_.woken_.push(*this);
        }
    }

    void wake() noexcept override
    {
        // Whoever sleeps goes on only when it is woken below, however long that takes.
        if (state_.exchange(woken, std::memory_order_acq_rel) == asleep) {
            loop_.wake_up(*this);
        }
    }

    void give_way() noexcept override
    {
        if (loop_.io_->cycles() - resumed_at_ < loop_.slice_) {
            return;
        }
        after_inbox_ = loop_.inbox_.pushed();
        after_made_ = loop_.made_.pushed();
        loop_.gave_way_.push(*this);
        park();
    }

    /// Whether some have not started of those that waited when it gave way.
    bool is_to_rest() const noexcept
    {
        return loop_.inbox_.taken() < after_inbox_ || loop_.made_.taken() < after_made_;
    }

    /// The source that it runs has made this flow: runs that when its turn has come. True where the source goes on here
    /// afterwards: the flow has not waited.
    bool run_made(flow &made) noexcept
    {
        const std::uint64_t now = loop_.io_->cycles();
        if (loop_.may_begin_at(now)) {
            resumed_at_ = now;
            loop_.begin_turn(*this);
        } else {
            loop_.made_.push(*this);
            park();
        }
        source_ = std::get<source *>(begun_);
        made.from().run(made, loop_.runner_);
        return std::exchange(source_, nullptr) != nullptr;
    }

    /// It is to run this flow, this branch, or this source.
    void begin(what begun) noexcept
    {
        begun_ = begun;
        fiber_.prepare([](void *self) { static_cast<resident *>(self)->run(); }, this);
    }

    bool resume() noexcept
    {
        resumed_at_ = loop_.io_->cycles();
        return fiber_.resume();
    }

    const stack &on() const noexcept { return fiber_.on(); }

    /// Its neighbour in a row, and in the list of those just woken.
    resident *next = nullptr;

  private:
    enum state { nobody, asleep, woken };

    void run() noexcept
    {
        if (flow *const *const started = std::get_if<flow *>(&begun_)) {
            (*started)->from().run(**started, loop_.runner_);
        } else if (branch_base *const *const offered = std::get_if<branch_base *>(&begun_)) {
            (*offered)->run(loop_.runner_);
        } else {
            std::get<source *>(begun_)->make_flows();
        }
    }

    void park() noexcept
    {
        if (source *const making = std::exchange(source_, nullptr)) {
            loop_.go_on_elsewhere(*making);
        }
        flow *const here = running_flow;
        fiber_.park();
        running_flow = here;
    }

    loop &loop_;
    fiber fiber_;
    what begun_;
    std::uint64_t resumed_at_ = 0;
    // It gave way until so many have been taken out of the inbox, and so many that were made here have begun.
    std::uint64_t after_inbox_ = 0;
    std::uint64_t after_made_ = 0;
    // While it runs a flow that its source has made: that source, until it goes on elsewhere.
    source *source_ = nullptr;
    std::atomic<state> state_{nobody};
};

void loop::row::push(resident &last) noexcept
{
    last.next = nullptr;
    (first_ == nullptr ? first_ : last_->next) = &last;
    last_ = &last;
    ++pushed_;
}

loop::resident *loop::row::pop() noexcept
{
    resident *const taken = first_;
    if (taken != nullptr) {
        first_ = taken->next;
        ++taken_;
    }
    return taken;
}

loop::loop(const loop_list &of, runner &own, std::unique_ptr<loop_io> through, std::size_t fibers, std::size_t sources)
    : loops_(of), runner_(own), io_(std::move(through)), most_residents_(fibers + sources),
      slice_(cycle_clock::counts_in(slice))
{
    for (std::size_t number = 0; number < sources; ++number) {
        for_sources_.push(first_resident());
    }
    // With one in hand, all that a lack of memory can do later is to make flows wait for each other.
    set_free(first_resident());
}

loop::~loop()
{
    for (const auto &each : residents_) {
        stacks_.give_back(each->on());
    }
}

void loop::start(watchdog &watched_by)
{
    thread_ = std::thread([this, &watched_by] { work(watched_by); });
}

void loop::begin(source &replicable) noexcept
{
    resident &own = *for_sources_.pop();
    own.begin(&replicable);
    wake_up(own);
}

loop *loop::running() noexcept
{
    return running_loop;
}

bool loop::run_pinned(flow &made) noexcept
{
    return running_resident_->run_made(made);
}

void loop::push(flow &started) noexcept
{
    inbox_.push(started);
    runner_.set_crowded(true);
}

bool loop::wake() noexcept
{
    if (rests_.load() && rests_.exchange(false)) {
        io_->interrupt();
        return true;
    }
    return false;
}

loop_turn loop::turn() const noexcept
{
    return {turns_.load(std::memory_order_relaxed), running_.load(std::memory_order_acquire)};
}

void loop::close() noexcept
{
    closed_.store(true);
    wake();
}

void loop::join()
{
    thread_.join();
}

void loop::work(watchdog &watched_by) noexcept
{
    pthread_setname_np(pthread_self(), "flux-loop");
    watched_ = watched_thread::calling();
    const on_signal_stack here(runner_.stack());
    run_on_io(io_.get());
    running_loop = this;
    while (true) {
        // Flows that go on by themselves must not keep the others from the world.
        if (io_->cycles() - looked_at_ >= slice_) {
            look_at_world();
        }
        resident *ready = next();
        if (ready == nullptr) {
            ready = steal();
        }
        if (ready != nullptr) {
            watched_by.watch();
            run(*ready);
        } else if (!rest()) {
            return;
        }
    }
}

void loop::run(resident &ready) noexcept
{
    say_whether_crowded();
    runner_.wait_at(ready);
    running_resident_ = &ready;
    begin_turn(ready);
    const bool ended = ready.resume();
    running_.store(nullptr, std::memory_order_relaxed);
    running_flow = nullptr;
    if (ended) {
        set_free(ready);
    }
}

void loop::begin_turn(const resident &of) noexcept
{
    // Nobody else writes it.
    turns_.store(turns_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    // Who sees it sees it as it was made.
    running_.store(&of, std::memory_order_release);
}

// Whether what a source has made may begin just where it was made: nobody waits, the world has not waited for long, and
// there is a fiber for the source to go on with if the flow waits.
bool loop::may_begin_at(std::uint64_t now) noexcept
{
    return !runner_.crowded().load(std::memory_order_relaxed) && now - looked_at_ < slice_ && has_free_resident();
}

// The flow that it has made waits, on the source's fiber.
void loop::go_on_elsewhere(source &making) noexcept
{
    resident &next = *free_resident(); // it was looked for before the flow began, and nobody has run since
    next.begin(&making);
    woken_.push(next);
}

// The flow that runs next is told by others of what they bring from now on. So what need not be changed is not: under
// load that is everything, and alone it is a write that all processors agree on.
void loop::say_whether_crowded() noexcept
{
    const auto crowded = [this] {
        return !inbox_.empty() || !made_.empty() || just_woken_.load() != nullptr || !woken_.empty() ||
               !gave_way_.empty();
    };
    const bool was_crowded = runner_.crowded().load(std::memory_order_relaxed);
    if (crowded()) {
        if (!was_crowded) {
            runner_.set_crowded(true);
        }
    } else if (was_crowded) {
        // In this order: what comes after the second look says so itself.
        runner_.set_crowded(false);
        if (crowded()) {
            runner_.set_crowded(true);
        }
    }
}

// Null where there is nothing to run. Somebody waits for what was woken and for branches.
loop::resident *loop::next() noexcept
{
    collect_woken();
    turn_of_woken_ = !turn_of_woken_;
    resident *ready = turn_of_woken_ ? nullptr : next_in_order();
    if (ready == nullptr) {
        ready = woken_.pop();
    }
    if (ready == nullptr) {
        ready = begin_first_of(branches_);
    }
    return ready != nullptr ? ready : next_in_order();
}

// The first of those that wait to start and those that gave way.
loop::resident *loop::next_in_order() noexcept
{
    const bool some_wait_longer = gave_way_.empty() || gave_way_.first()->is_to_rest();
    resident *const begun = some_wait_longer ? begin_first() : nullptr;
    return begun != nullptr ? begun : gave_way_.pop();
}

// Flows of this loop's own sources and those of others begin in turns.
loop::resident *loop::begin_first() noexcept
{
    resident *const begun = turn_of_made_ ? begin_first_made() : begin_first_of(inbox_);
    if (begun == nullptr) {
        return turn_of_made_ ? begin_first_of(inbox_) : begin_first_made();
    }
    turn_of_made_ = !turn_of_made_;
    return begun;
}

// The first source here that has made a flow: it begins on the source's fiber, which may need another then.
loop::resident *loop::begin_first_made() noexcept
{
    return made_.empty() || !has_free_resident() ? nullptr : made_.pop();
}

// The first of some flows or branches that wait. Null where there is none, or no fiber for it.
template <class Waiting>
loop::resident *loop::begin_first_of(Waiting &waiting) noexcept
{
    resident *const unused = waiting.empty() ? nullptr : free_resident();
    if (unused == nullptr) {
        return nullptr;
    }
    auto *const first = waiting.pop();
    if (first == nullptr) {
        set_free(*unused);
        return nullptr;
    }
    unused->begin(first);
    return unused;
}

loop::resident *loop::steal() noexcept
{
    for (const auto &each : loops_) {
        if (resident *const begun = begin_first_of(each->inbox_)) {
            return begun;
        }
    }
    return nullptr;
}

// Throws `std::bad_alloc`.
loop::resident &loop::first_resident()
{
    resident *const made = make_resident();
    if (made == nullptr) {
        throw std::bad_alloc();
    }
    return *made;
}

// Null where there are as many as there may be, or no memory for another.
loop::resident *loop::free_resident() noexcept
{
    resident *const unused = free_;
    if (unused == nullptr) {
        return make_resident();
    }
    free_ = unused->next;
    return unused;
}

bool loop::has_free_resident() noexcept
{
    if (free_ == nullptr) {
        if (resident *const made = make_resident()) {
            set_free(*made);
        }
    }
    return free_ != nullptr;
}

loop::resident *loop::make_resident() noexcept
{
    const bool may_be_more = !out_of_fibers_ && residents_.size() < most_residents_;
    const std::optional<stack> on = may_be_more ? stacks_.take() : std::nullopt;
    if (on) {
        try {
            return residents_.emplace_back(std::make_unique<resident>(*this, *on)).get();
        } catch (const std::bad_alloc &) {
            stacks_.give_back(*on);
        }
    }
    if (!std::exchange(out_of_fibers_, true)) {
        memory_again_ = may_be_more ? io_->now() + memory_rest : never;
    }
    return nullptr;
}

void loop::set_free(resident &unused) noexcept
{
    unused.next = free_;
    free_ = &unused;
    out_of_fibers_ = false;
}

void loop::collect_woken() noexcept
{
    if (just_woken_.load() == nullptr) {
        return;
    }
    resident *newest = just_woken_.exchange(nullptr);
    resident *oldest = nullptr;
    while (newest != nullptr) {
        resident *const before = newest->next;
        newest->next = oldest;
        oldest = newest;
        newest = before;
    }
    while (oldest != nullptr) {
        resident *const later = oldest->next;
        woken_.push(*oldest);
        oldest = later;
    }
}

// Those whose time has come go on as if they were woken.
void loop::collect_due() noexcept
{
    looked_at_ = io_->cycles();
    if (timers_.empty() && !out_of_fibers_) {
        return;
    }
    const moment now = io_->now();
    out_of_fibers_ = out_of_fibers_ && now < memory_again_;
    while (timer_wheel::entry *const due = timers_.take_due(now)) {
        static_cast<resident *>(due)->come_due();
    }
}

// Any thread calls this.
void loop::wake_up(resident &asleep) noexcept
{
    resident *newest = just_woken_.load(std::memory_order_relaxed);
    do {
        asleep.next = newest;
    } while (!just_woken_.compare_exchange_weak(newest, &asleep));
    runner_.set_crowded(true);
    wake();
}

bool loop::has_work() const noexcept
{
    const auto some_wait = [](const auto &each) { return !each->inbox_.empty(); };
    const auto some_may_begin = [&] {
        return !made_.empty() || !branches_.empty() || std::any_of(loops_.begin(), loops_.end(), some_wait);
    };
    return just_woken_.load() != nullptr || (!out_of_fibers_ && some_may_begin());
}

// Returns when there may be something to do; false where the thread is to end. Who gives it something does that first
// and then looks whether it rests; it says that it rests first and then looks.
bool loop::rest() noexcept
{
    rests_.store(true);
    const bool goes_on = has_work();
    const bool ends = !goes_on && closed_.load();
    if ((goes_on || ends) && rests_.exchange(false)) {
        return goes_on;
    }
    io_->wait(out_of_fibers_ ? std::min(timers_.next(), memory_again_) : timers_.next());
    rests_.store(false);
    io_->deliver();
    collect_due();
    return true;
}

// A look costs a system call and two readings of clocks.
void loop::look_at_world() noexcept
{
    io_->wait(moment::min());
    io_->deliver();
    collect_due();
}

} // namespace flux
