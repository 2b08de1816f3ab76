// What goes wrong with a channel of a run, and has a rule: `| error broken backends => apologise(client)`.
//
// Whoever finds it raises a fault, which a source of its own gives to the rule, as a flow. That flow settles the fault
// at its end: then what can no longer be used is closed, and those go on that wait for it.
#pragma once

#include "flick_order.h"

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

namespace flux {
class message_parse;
class park;
} // namespace flux

namespace flick {

class end;
class run;

/// What can go wrong; the numbers are those of the front's `Event`.
enum class event : unsigned char {
    /// It ended within a message, by an error, or while its answer was awaited.
    broken,
    /// Something came that is no message of its type.
    malformed,
    /// It cannot be connected.
    unreachable,
    /// A rule that reads from it failed.
    failed,
};

constexpr std::size_t event_count = 4;

/// The event of this name, which is one of them.
event event_of(std::string_view name) noexcept;

/// What has gone wrong where reading a message failed so, and in words; empty where there is no memory for that.
event event_of(int error) noexcept;
std::string told_of(int error, const flux::message_parse &wanted) noexcept;

/// Something that went wrong, until its rule has run.
class fault
{
  public:
    /// `of` waits for its rule from now on, whose answer has a place in the order of replies; `last` is closed behind
    /// that, where there is one.
    fault(std::shared_ptr<run> of, bool ends_run, reply_order::place answer, std::shared_ptr<end> last,
          std::string what) noexcept;
    fault(const fault &) = delete;
    /// Settles it, where that has not been done.
    ~fault() { settle(false); }

    const std::shared_ptr<run> &of() const noexcept { return of_; }
    /// In words.
    const std::string &what() const noexcept { return what_; }

    /// Waits until all is passed on that comes before what the rule answers. Gives 0, or the error of the wait.
    int await_turn() noexcept;
    /// That has no place in the order any more.
    void leave_order() noexcept;
    /// It was not raised.
    void forget() noexcept;
    /// Its rule has run; or else the run ends. For a flow.
    void settle(bool is_answered) noexcept;

  private:
    const std::shared_ptr<run> of_;
    const bool ends_run_;
    const reply_order::place answer_;
    const std::shared_ptr<end> last_;
    const std::string what_;
    bool is_settled_ = false;
};

/// One as nodes have it.
using trouble = std::shared_ptr<fault>;

/// The faults of one channel that are the same event, on one loop.
class faults
{
  public:
    /// Its source, which has not stopped, gives it next. Throws `std::bad_alloc`.
    void add(trouble one);

    /// Waits for the next one, for the source. Gives 0, or the error of the wait.
    int next(trouble &given) noexcept;

    /// None is given any more. For the flow in which the source ends.
    void stop() noexcept;

    /// Whether it is so, as the server ends.
    bool is_stopped() const noexcept { return is_stopped_; }

  private:
    std::deque<trouble> all_;
    flux::park *source_ = nullptr;
    bool is_stopped_ = false;
};

} // namespace flick
