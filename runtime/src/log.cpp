#include "flux/log.hpp"

#include "flux/flow/flow.hpp"
#include "flux/io/server_io.hpp"
#include "flux/process/log_bell.hpp"
#include "flux/process/log_ring.hpp"
#include "flux/process/log_tail.hpp"
#include "flux/moment.hpp"
#include "flux/strategy/source.hpp"
#include "flux/waiting/waiter.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cinttypes>
#include <climits>
#include <csignal>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <new>
#include <optional>
#include <poll.h>
#include <pthread.h>
#include <thread>
#include <unistd.h>

namespace flux {
namespace {

constexpr std::size_t longest_line = 1024;
/// When nothing has been written for so long, nobody reads.
constexpr int log_patience_ms = 2000;
/// How long lines wait for others. To wake the thread that writes costs the one that logs as much as many lines. So
/// that thread wakes by itself as long as there is something to write now and then, and has to be woken only when there
/// was nothing for so many times.
constexpr std::chrono::milliseconds log_doze{10};
constexpr unsigned dozes_until_rest = 50;
/// What a note takes at most that says how many lines were left out.
constexpr std::size_t note_size = 128;

// What the calling thread logs into; null where it has logged nothing.
constinit thread_local log_ring *own_log_ring = nullptr;

void give_back_log_ring(void *ring) noexcept
{
    own_log_ring = nullptr;
    static_cast<log_ring *>(ring)->give_back();
}

// By it a thread that ends gives its ring back: after all its thread-local objects are gone, which may log too.
pthread_key_t log_ring_key() noexcept
{
    static const pthread_key_t made = [] {
        pthread_key_t key = ~pthread_key_t{0};
        pthread_key_create(&key, give_back_log_ring);
        return key;
    }();
    return made;
}

void write_directly(std::string_view text) noexcept
{
    while (!text.empty()) {
        const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
        if (written < 0 && errno != EINTR) {
            return;
        }
        text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
    }
}

/// All rings, and who empties them. It is never destroyed, as anything may log to the last.
class log_writer
{
  public:
    // For those who log.

    void push(std::string_view text) noexcept
    {
        if (by_.load(std::memory_order_relaxed) == emptied_by::directly) {
            return write_directly(text);
        }
        log_ring *const ring = own_ring();
        if (ring != nullptr) {
            ring->push(text, turns_);
        } else {
            homeless_.fetch_add(1);
        }
        pushed_to(ring);
    }

    void push_patiently(std::string_view text) noexcept
    {
        if (by_.load(std::memory_order_relaxed) == emptied_by::directly) {
            return write_directly(text);
        }
        const log_ring *const ring = own_ring();
        if (ring == nullptr || ring->has_room(text.size()) || await_written()) {
            push(text);
        }
    }

    // For the server, and for what runs in a signal.

    void start();
    // For a process that was forked off: it has no thread that writes, and what is in the rings the other one writes,
    // which may have been at it just then. So all of that is not touched.
    void go_on_directly() noexcept { by_.store(emptied_by::directly); }
    void finish() noexcept;

    // Returns when all that was logged before is written; false where nobody reads.
    bool await_written() noexcept;

    // For who asks what was logged.
    const log_tail &tail() const noexcept { return tail_; }

  private:
    // Directly: nothing is kept in rings, whoever says something writes it.
    enum class emptied_by { callers, writer, nobody, directly };

    log_ring *own_ring() noexcept;
    log_ring *borrow_ring() noexcept;
    void pushed_to(const log_ring *ring) noexcept;
    void wake() noexcept;
    void work() noexcept;
    void doze() noexcept;
    void sleep() noexcept;
    bool has_news() const noexcept;
    void empty(int patience_ms) noexcept;
    bool take_lines(int patience_ms) noexcept;
    bool tell_left_out_behind(int patience_ms) noexcept;
    log_ring *first_before(std::uint64_t end, log_ring::front &line, std::uint64_t &next) const noexcept;
    void tell_left_out(std::uint32_t lines) noexcept;
    bool make_room(std::size_t size, int patience_ms) noexcept;
    bool write_batch(int patience_ms) noexcept;
    template <class Condition>
    bool await(Condition condition) const noexcept;

    std::atomic<log_ring *> last_made_{nullptr};
    std::atomic<std::uint64_t> turns_{0};
    // Lines for which there was no memory.
    std::atomic<std::uint32_t> homeless_{0};
    std::atomic<emptied_by> by_{emptied_by::callers};
    std::atomic<std::uint64_t> writes_{0};

    // The thread that writes.
    log_bell bell_;
    std::atomic<bool> stopping_{false};
    std::atomic<bool> ended_{false};
    thread_waiter place_;

    log_tail tail_;

    // Who empties has this lock, and what follows: lines that were taken out, of which so much is in the tail, and so
    // much written.
    std::mutex emptying_;
    std::uint32_t homeless_told_ = 0;
    std::size_t filled_ = 0;
    std::size_t in_tail_ = 0;
    std::size_t written_ = 0;
    // A write of this size into a pipe that has room for something does not wait, and nobody else's comes between.
    std::array<char, PIPE_BUF> batch_{};
    static_assert(log_ring::longest + note_size <= PIPE_BUF);
};

constinit log_writer the_log;

log_ring *log_writer::own_ring() noexcept
{
    if (own_log_ring == nullptr) {
        log_ring *const borrowed = borrow_ring();
        if (borrowed != nullptr && pthread_setspecific(log_ring_key(), borrowed) != 0) {
            borrowed->give_back();
            return nullptr;
        }
        own_log_ring = borrowed;
    }
    return own_log_ring;
}

log_ring *log_writer::borrow_ring() noexcept
{
    log_ring *last = last_made_.load(std::memory_order_acquire);
    for (log_ring *each = last; each != nullptr; each = each->made_before) {
        if (each->borrow()) {
            return each;
        }
    }
    // Not by `operator new`: when a line is said is not up to a simulation, which counts what its flows allocate.
    void *const room = std::aligned_alloc(alignof(log_ring), sizeof(log_ring));
    log_ring *const made = room != nullptr ? new (room) log_ring : nullptr;
    if (made != nullptr) {
        made->borrow();
        made->made_before = last;
        while (!last_made_.compare_exchange_weak(made->made_before, made, std::memory_order_acq_rel)) {
        }
    }
    return made;
}

// Something has been put into this ring, or left out.
void log_writer::pushed_to(const log_ring *ring) noexcept
{
    const emptied_by now = by_.load();
    if (now == emptied_by::callers) {
        empty(log_patience_ms);
    } else if (bell_.rings([ring] { return ring != nullptr && ring->is_half_full(); })) {
        wake();
    }
}

// Any thread calls this, in a signal too.
void log_writer::wake() noexcept
{
    if (bell_.take()) {
        place_.wake();
    }
}

void log_writer::start()
{
    if (by_.load() == emptied_by::callers) {
        stopping_.store(false);
        ended_.store(false);
        static const int in_forked = pthread_atfork(nullptr, nullptr, [] { the_log.go_on_directly(); });
        static_cast<void>(in_forked);
        // Nobody waits for its very end: it may be stuck in a system call by then.
        std::thread([this] { work(); }).detach();
        by_.store(emptied_by::writer);
    }
}

void log_writer::finish() noexcept
{
    if (by_.load() != emptied_by::writer) {
        return;
    }
    stopping_.store(true);
    wake();
    if (!await([this] { return ended_.load(); })) {
        by_.store(emptied_by::nobody);
        return;
    }
    // In this order: who has not seen this has put its line in before.
    by_.store(emptied_by::callers);
    empty(log_patience_ms);
}

bool log_writer::await_written() noexcept
{
    if (by_.load() != emptied_by::writer) {
        return by_.load() != emptied_by::nobody;
    }
    wake();
    for (const log_ring *each = last_made_.load(std::memory_order_acquire); each != nullptr; each = each->made_before) {
        const std::uint64_t end = each->end();
        if (!await([&] { return each->begin() >= end; })) {
            return false;
        }
    }
    return true;
}

// Returns when this is so; false where it is not, and nothing has been written for a while. Good in a signal.
template <class Condition>
bool log_writer::await(Condition condition) const noexcept
{
    constexpr std::timespec millisecond{0, 1'000'000};
    std::uint64_t written = writes_.load();
    for (int waited_ms = 0; !condition(); ++waited_ms) {
        if (const std::uint64_t now = writes_.load(); now != written) {
            written = now;
            waited_ms = 0;
        } else if (waited_ms >= log_patience_ms) {
            return false;
        }
        nanosleep(&millisecond, nullptr);
    }
    return true;
}

void log_writer::work() noexcept
{
    pthread_setname_np(pthread_self(), "flux-log");
    // What runs in a signal may wait for what this thread writes.
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    unsigned quiet_dozes = 0;
    while (true) {
        const bool stops = stopping_.load();
        const std::uint64_t writes = writes_.load();
        empty(-1);
        if (stops) {
            break;
        }
        quiet_dozes = writes == writes_.load() ? quiet_dozes + 1 : 0;
        if (quiet_dozes < dozes_until_rest) {
            doze();
        } else {
            sleep();
            quiet_dozes = 0;
        }
    }
    ended_.store(true);
}

// More may come soon, and is written together.
void log_writer::doze() noexcept
{
    bell_.set_for_many();
    const bool rung = place_.wait_until(clock::now() + log_doze);
    if (!rung && !bell_.take()) {
        place_.wait(); // somebody is just at it
    }
}

// Returns when there may be something to write.
void log_writer::sleep() noexcept
{
    const bool waits = bell_.set_for_any([this] {
        const std::lock_guard alone(emptying_);
        return has_news() || stopping_.load();
    });
    if (waits) {
        place_.wait();
    }
}

bool log_writer::has_news() const noexcept
{
    bool some = homeless_.load() != homeless_told_;
    for (const log_ring *each = last_made_.load(std::memory_order_acquire); each != nullptr; each = each->made_before) {
        some = some || each->has_news();
    }
    return some;
}

// Writes all that there is; gives up where nothing can be written for so long. What was taken out stays in the batch.
void log_writer::empty(int patience_ms) noexcept
{
    const std::lock_guard alone(emptying_);
    while (has_news()) {
        if (!take_lines(patience_ms) || !tell_left_out_behind(patience_ms)) {
            return;
        }
    }
    write_batch(patience_ms);
}

// Takes out, in the order of their turns, the lines that were there when it began.
bool log_writer::take_lines(int patience_ms) noexcept
{
    // Whoever could know of a line has a later turn: if that comes before this end, the line is seen, as it was there.
    const std::uint64_t end = turns_.load(std::memory_order_acquire);
    log_ring::front line;
    std::uint64_t next;
    while (log_ring *const from = first_before(end, line, next)) {
        do {
            if (!make_room(note_size + line.size, patience_ms)) {
                return false;
            }
            tell_left_out(from->left_out_before(line));
            from->take(line, batch_.data() + filled_);
            filled_ += line.size;
        } while (from->peek(line) && line.turn < next);
    }
    return true;
}

// The ring whose first line has the lowest turn of all, that line, and the lowest turn of the others; null where none
// is before the end. There are few rings, as many as threads have logged at a time.
log_ring *log_writer::first_before(std::uint64_t end, log_ring::front &line, std::uint64_t &next) const noexcept
{
    log_ring *first = nullptr;
    line.turn = end;
    next = end;
    for (log_ring *each = last_made_.load(std::memory_order_acquire); each != nullptr; each = each->made_before) {
        if (log_ring::front own; each->peek(own)) {
            if (own.turn < line.turn) {
                next = line.turn;
                line = own;
                first = each;
            } else {
                next = std::min(next, own.turn);
            }
        }
    }
    return first;
}

bool log_writer::tell_left_out_behind(int patience_ms) noexcept
{
    for (log_ring *each = last_made_.load(std::memory_order_acquire); each != nullptr; each = each->made_before) {
        if (!make_room(note_size, patience_ms)) {
            return false;
        }
        tell_left_out(each->left_out_behind());
    }
    if (!make_room(note_size, patience_ms)) {
        return false;
    }
    const std::uint32_t homeless = homeless_.load();
    tell_left_out(homeless - homeless_told_);
    homeless_told_ = homeless;
    return true;
}

// There is room for the note.
void log_writer::tell_left_out(std::uint32_t lines) noexcept
{
    if (lines != 0) {
        const int length = std::snprintf(batch_.data() + filled_, note_size,
                                         "flux: lines left out here, as they came too fast: %" PRIu32 "\n", lines);
        filled_ += static_cast<std::size_t>(std::max(length, 0));
    }
}

bool log_writer::make_room(std::size_t size, int patience_ms) noexcept
{
    return filled_ + size <= batch_.size() || write_batch(patience_ms);
}

bool log_writer::write_batch(int patience_ms) noexcept
{
    if (in_tail_ < filled_) {
        tail_.add({batch_.data() + in_tail_, filled_ - in_tail_});
        in_tail_ = filled_;
    }
    while (written_ < filled_) {
        pollfd writable{STDERR_FILENO, POLLOUT, 0};
        const int ready = poll(&writable, 1, patience_ms);
        if (ready == 0) {
            return false;
        }
        if (ready < 0 && errno == EINTR) {
            continue;
        }
        const ssize_t written = write(STDERR_FILENO, batch_.data() + written_, filled_ - written_);
        // If standard error is closed there is nobody to say it to.
        const bool nobody = written < 0 && errno != EINTR && errno != EAGAIN;
        written_ = nobody ? filled_ : written_ + static_cast<std::size_t>(std::max<ssize_t>(written, 0));
        writes_.fetch_add(1);
    }
    filled_ = 0;
    in_tail_ = 0;
    written_ = 0;
    for (log_ring *each = last_made_.load(std::memory_order_acquire); each != nullptr; each = each->made_before) {
        each->release();
    }
    return true;
}

// Gives the length of the text, without its end, for which `line` has room; what is too long is cut. Where the process
// has several servers, the name of this one is behind the mark.
std::size_t format_line(char *line, const char *mark, const char *format, std::va_list values) noexcept
{
    const server_io *const server = server_io::of_this_thread();
    const char *const name = server == nullptr ? "" : server->name.c_str();
    const auto cut = [](int length, std::size_t room) {
        return std::min(static_cast<std::size_t>(std::max(length, 0)), room - 1);
    };
    const std::size_t marked = cut(
        std::snprintf(line, longest_line, "%s%s%s", mark, name, *name == '\0' ? "" : ": "), longest_line);
    return marked + cut(std::vsnprintf(line + marked, longest_line - marked, format, values), longest_line - marked);
}

void push_line(char *line, std::size_t length) noexcept
{
    const int error = errno;
    line[length] = '\n';
    the_log.push({line, length + 1});
    errno = error;
}

/// When a line is said next that is said rarely: from which millisecond of the clock, and below that how many were left
/// out since the last.
using rare_turn = std::atomic<std::uint64_t>;

// The turn of a line that is said rarely: how many were left out before it, or nothing when it is left out too.
std::optional<unsigned> take_turn(rare_turn &turn) noexcept
{
    constexpr unsigned time_shift = 24;
    constexpr std::uint64_t most_left_out = (1 << time_shift) - 1;
    constexpr std::uint64_t pause_ms = 1000;
    const auto since_start = std::chrono::duration_cast<std::chrono::milliseconds>(clock::now().time_since_epoch());
    const auto now_ms = static_cast<std::uint64_t>(since_start.count());
    std::uint64_t seen = turn.load(std::memory_order_relaxed);
    while (true) {
        const bool too_early = now_ms < seen >> time_shift;
        const std::uint64_t left_out = seen & most_left_out;
        const std::uint64_t after =
            too_early ? seen + (left_out != most_left_out ? 1 : 0) : (now_ms + pause_ms) << time_shift;
        if (turn.compare_exchange_weak(seen, after, std::memory_order_relaxed)) {
            return too_early ? std::nullopt : std::optional(static_cast<unsigned>(left_out));
        }
    }
}

// The turn of lines about this: its own, but where many share the table it may be another's too.
rare_turn &turn_of(std::uint64_t what) noexcept
{
    struct entry {
        // One more than what it is for; 0 where that is nothing yet.
        std::atomic<std::uint64_t> for_what{0};
        rare_turn turn{0};
    };
    static constinit std::array<entry, 1024> entries{};
    constexpr std::size_t longest_probe = 16;
    std::size_t at = (what * 0x9e3779b97f4a7c15) >> 54; // Knuth, TAOCP 6.4: multiplicative hashing, to 10 bits
    for (std::size_t probe = 0; probe < longest_probe; ++probe, at = (at + 1) % entries.size()) {
        std::uint64_t owner = 0;
        if (entries[at].for_what.compare_exchange_strong(owner, what + 1, std::memory_order_relaxed) ||
            owner == what + 1) {
            break;
        }
    }
    return entries[at].turn;
}

void say_rarely(rare_turn &turn, const char *format, std::va_list values) noexcept
{
    const std::optional<unsigned> left_out = take_turn(turn);
    if (!left_out) {
        return;
    }
    char line[longest_line + 1];
    std::size_t length = format_line(line, "flux: ", format, values);
    if (*left_out != 0) {
        const int more =
            std::snprintf(line + length, longest_line - length, " (and %u such lines before it)", *left_out);
        length = std::min(length + static_cast<std::size_t>(std::max(more, 0)), longest_line - 1);
    }
    push_line(line, length);
}

} // namespace

void log(const char *format, ...) noexcept
{
    char mark[longest_line] = "";
    if (const flow *const running = running_flow) {
        std::snprintf(mark, sizeof mark, "%s: ", running->from().node_name(running->position()));
    }
    char line[longest_line + 1];
    std::va_list values;
    va_start(values, format);
    push_line(line, format_line(line, mark, format, values));
    va_end(values);
}

void log_lines(std::string_view text) noexcept
{
    const int error = errno;
    if (text.size() <= log_ring::longest) {
        the_log.push(text);
    }
    errno = error;
}

void log_line(const char *format, ...) noexcept
{
    char line[longest_line + 1];
    std::va_list values;
    va_start(values, format);
    push_line(line, format_line(line, "flux: ", format, values));
    va_end(values);
}

void log_rarely(const char *format, ...) noexcept
{
    static constinit rare_turn turn{0};
    std::va_list values;
    va_start(values, format);
    say_rarely(turn, format, values);
    va_end(values);
}

void log_rarely_each(std::uint64_t what, const char *format, ...) noexcept
{
    std::va_list values;
    va_start(values, format);
    say_rarely(turn_of(what), format, values);
    va_end(values);
}

void log_text(std::string_view text) noexcept
{
    while (!text.empty()) {
        // Whole lines, as long as they are not longer than that.
        const std::string_view some = text.substr(0, log_ring::longest);
        const std::size_t line_end = some.rfind('\n');
        const std::size_t size = line_end != some.npos ? line_end + 1 : some.size();
        the_log.push_patiently(text.substr(0, size));
        text.remove_prefix(size);
    }
}

void log_last_words(std::string_view text) noexcept
{
    // Where nobody reads, one look shows whether somebody does again.
    pollfd writable{STDERR_FILENO, POLLOUT, 0};
    if (poll(&writable, 1, the_log.await_written() ? log_patience_ms : 0) > 0) {
        [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
    }
}

const log_tail &tail_of_log() noexcept
{
    return the_log.tail();
}

void start_log()
{
    static const int at_exit = std::atexit(finish_log);
    static_cast<void>(at_exit);
    the_log.start();
}

void finish_log() noexcept
{
    the_log.finish();
}

} // namespace flux
