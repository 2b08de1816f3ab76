#include "flux/event/loop.hpp"

#include "flux/event/watchdog.hpp"
#include "flux/flow/flow.hpp"
#include "flux/processor_use.hpp"
#include "flux/waiting/cycle_clock.hpp"

#include <algorithm>
#include <pthread.h>
#include <utility>

namespace flux {
namespace {

/// How long a flow runs before it gives way to others.
constexpr std::chrono::microseconds slice{100};
/// How long what has come is worked through before the kernel is asked for more: a look costs as much as some requests.
constexpr std::chrono::microseconds longest_batch{500};

/// One sleep in so many is measured, as the thread's clock takes a system call.
constexpr std::uint64_t one_measured_in = 61;

constinit thread_local loop *running_loop = nullptr;

} // namespace

loop::loop(const loop_list &of, runner &own, std::unique_ptr<loop_io> through, std::size_t fibers, std::size_t sources)
    : loops_(of), runner_(own), io_(std::move(through)), slice_(cycle_clock::counts_in(slice)),
      batch_(cycle_clock::counts_in(longest_batch)), residents_(*this, fibers + sources)
{
    for (std::size_t number = 0; number < sources; ++number) {
        for_sources_.push_back(residents_.make_first());
        residents_.load().less(); // until its source begins
    }
    // With one in hand, all that a lack of memory can do later is to make flows wait for each other.
    residents_.give_back(residents_.make_first());
}

loop::~loop() = default;

void loop::start(watchdog &watched_by)
{
    thread_ = std::thread([this, &watched_by] { work_until_closed(watched_by); });
}

void loop::begin(source &replicable) noexcept
{
    resident &own = *for_sources_.pop_front();
    own.begin(&replicable);
    wake_up(own);
}

loop *loop::running() noexcept
{
    return running_loop;
}

void loop::push(flow &started) noexcept
{
    inbox_.push(started);
    runner_.set_crowded();
}

bool loop::wake() noexcept
{
    if (idle_.take()) {
        io_->interrupt();
        return true;
    }
    return false;
}

loop_turn loop::turn() const noexcept
{
    return {turns_.value(), running_.load(std::memory_order_acquire)};
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

void loop::work_until_closed(watchdog &watched_by) noexcept
{
    pthread_setname_np(pthread_self(), "flux-loop");
    watched_ = watched_thread::calling();
    const on_runner here(runner_);
    run_on_io(io_.get());
    running_loop = this;
    io_->looked(io_->now());
    while (true) {
        // Flows that go on by themselves must not keep the others from the world.
        if (io_->cycles() - looked_at_ >= batch_) {
            look_at_world();
        }
        resident *ready = next();
        if (ready == nullptr) {
            ready = steal();
        }
        if (ready != nullptr) {
            watched_by.watch();
            run(*ready);
        } else if (!wait_for_work()) {
            io_->finish();
            return;
        }
    }
}

void loop::run(resident &ready) noexcept
{
    update_crowded();
    runner_.wait_at(ready);
    running_resident_ = &ready;
    begin_turn(ready);
    const bool ended = ready.resume();
    running_.store(nullptr, std::memory_order_relaxed);
    running_flow = nullptr;
    if (ended) {
        residents_.give_back(ready);
    }
}

void loop::begin_turn(const resident &of) noexcept
{
    turns_.add(1);
    // Who sees it sees it as it was made.
    running_.store(&of, std::memory_order_release);
}

// Whether what a source has made may begin just where it was made: nobody waits, the world has not waited for long, and
// there is a fiber for the source to go on with if the flow waits.
bool loop::may_begin_at(std::uint64_t now) noexcept
{
    return !runner_.crowded().load(std::memory_order_relaxed) && now - looked_at_ < batch_ && residents_.has_one();
}

// The flow that it has made waits, on the source's fiber.
void loop::go_on_elsewhere(source &making) noexcept
{
    resident &next = *residents_.take(); // it was looked for before the flow began, and nobody has run since
    next.begin(&making);
    residents_.load().less(); // until its source goes on
    woken_.push_back(next);
}

// Others say to the flow that runs next what they bring from now on.
void loop::update_crowded() noexcept
{
    runner_.update_crowded([this] {
        return !inbox_.empty() || !made_.empty() || !branches_.empty() || !just_woken_.empty() || !woken_.empty() ||
               !gave_way_.empty();
    });
}

// Null where there is nothing to run.
resident *loop::next() noexcept
{
    collect_woken();
    while (true) {
        const work which = order_.next(can_run());
        if (which == work::nothing) {
            return nullptr;
        }
        if (resident *const ready = take(which)) {
            return ready;
        }
    }
}

work_set loop::can_run() noexcept
{
    work_set found;
    found.add(work::woken, !woken_.empty());
    const bool some_begin = !branches_.empty() || !made_.empty() || !inbox_.empty();
    if (some_begin && residents_.has_one()) {
        found.add(work::branch, !branches_.empty());
        found.add(work::made, !made_.empty());
        found.add(work::started, !inbox_.empty());
    }
    if (!gave_way_.empty()) {
        found.add(work::gave_way, found.empty() || gave_way_.first()->is_due(inbox_.counts(), made_counts_));
    }
    return found;
}

// Null where another loop has been faster.
resident *loop::take(work which) noexcept
{
    switch (which) {
    case work::woken:
        return woken_.pop_front();
    case work::branch:
        return begin_first_of(branches_);
    case work::made:
        return take_made();
    case work::started:
        return begin_first_of(inbox_);
    case work::gave_way:
        return gave_way_.pop_front();
    case work::nothing:
        break;
    }
    return nullptr;
}

// It begins on its source's fiber, which may need another then.
resident *loop::take_made() noexcept
{
    ++made_counts_.taken;
    return made_.pop_front();
}

// The first of some flows or branches that wait. Null where there is none, or no fiber for it.
template <class Waiting>
resident *loop::begin_first_of(Waiting &waiting) noexcept
{
    resident *const unused = waiting.empty() ? nullptr : residents_.take();
    if (unused == nullptr) {
        return nullptr;
    }
    auto *const first = waiting.pop();
    if (first == nullptr) {
        residents_.give_back(*unused);
        return nullptr;
    }
    unused->begin(first);
    return unused;
}

// Null where none waits at another that has more to do.
resident *loop::steal() noexcept
{
    for (const auto &each : loops_) {
        resident *const begun = may_steal_from(*each) ? begin_first_of(each->inbox_) : nullptr;
        if (begun != nullptr) {
            return begun;
        }
    }
    return nullptr;
}

void loop::collect_woken() noexcept
{
    if (just_woken_.empty()) {
        return;
    }
    for (resident *each = just_woken_.take_in_order(); each != nullptr;) {
        woken_.push_back(*std::exchange(each, each->next));
    }
}

// Those whose time has come go on as if they were woken. The loop has been idle since then, or was not (`never`).
void loop::collect_due(moment idle_since) noexcept
{
    looked_at_ = io_->cycles();
    const moment now = io_->now();
    io_->looked(now);
    residents_.look(now);
    while (timer_wheel::entry *const entry = timers_.take_due(now)) {
        resident &due = *static_cast<resident *>(entry);
        if (due.come_due(now, idle_since)) {
            woken_.push_back(due);
        }
    }
}

// Any thread calls this.
void loop::wake_up(resident &asleep) noexcept
{
    just_woken_.push(asleep);
    runner_.set_crowded();
    wake();
}

bool loop::has_work() const noexcept
{
    const auto some_wait = [this](const auto &each) { return may_steal_from(*each); };
    const auto some_may_begin = [&] {
        return !made_.empty() || !branches_.empty() || !inbox_.empty() ||
               std::any_of(loops_.begin(), loops_.end(), some_wait);
    };
    return !just_woken_.empty() || (!residents_.exhausted() && some_may_begin());
}

// Returns when there may be something to do; false where the thread is to end.
bool loop::wait_for_work() noexcept
{
    bool goes_on = false;
    const bool waits = idle_.begin([&] {
        goes_on = has_work();
        return goes_on || closed_.load();
    });
    if (!waits) {
        return goes_on;
    }
    sleeps_.add(1);
    if (sleeps_.value() % one_measured_in != 0) {
        sleep();
    } else {
        const std::chrono::nanoseconds before = processor_use::time_of_thread();
        sleep();
        worked_ns_.add(static_cast<std::uint64_t>((processor_use::time_of_thread() - before).count()));
        measured_sleeps_.add(1);
    }
    return true;
}

void loop::sleep() noexcept
{
    const moment idle_since = io_->now();
    io_->wait(std::min(timers_.next(), residents_.memory_again()));
    idle_.end();
    io_->deliver();
    collect_due(idle_since);
}

loop_sleeps loop::sleeps() const noexcept
{
    return {sleeps_.value(), measured_sleeps_.value(), std::chrono::nanoseconds(worked_ns_.value())};
}

// A look costs a system call and two readings of clocks, which serve all that has come by then.
void loop::look_at_world() noexcept
{
    io_->wait(moment::min());
    io_->deliver();
    collect_due(never);
}

} // namespace flux
