// What the nodes of random programs have in common: they decide by a hash of what they are given, write down that they
// were called, and watch over the constraints that they were promised.
//
// The environment says how many flows there are to be (RANDOM_PROGRAM_FLOWS) and which file the record goes to
// (RANDOM_PROGRAM_RECORD). The record is written when the process ends, a line for each of these:
//
//     flow NUMBER LABELS               a flow that was produced, and the functions called in it
//     failures SOURCE NUMBER IDLE      how often it failed by its own decision, and how often after its last flow
//     writes CONSTRAINT NUMBER         how often a node wrote what the constraint guards
//     violations NUMBER                promises that were broken: 0, or the runtime is wrong
//     alive NUMBER                     objects that were not destroyed, or twice: 0, or the runtime is wrong
#pragma once

#include "values.hpp"

#include <flux/sleep.hpp>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <initializer_list>
#include <mutex>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <unistd.h>

namespace random_program {

using bits_t = std::uint64_t;

// The finaliser of SplitMix64 and the hash of two words made of it; src/random.rs has the same.
inline bits_t mix(bits_t bits)
{
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
    return bits ^ (bits >> 31);
}

inline bits_t combine(bits_t first, bits_t second)
{
    constexpr bits_t golden = 0x9e3779b97f4a7c15;
    return mix((first + golden) ^ mix(second + 2 * golden));
}

// What guards a flow's record. Its nodes run one after the other unless the program has parallel steps, so that needs
// no guard: what two threads do at once there is a fault of the runtime's.
#ifdef RANDOM_PROGRAM_IS_PARALLEL
using guard = std::mutex;
#else
struct guard {
    void lock() {}
    void unlock() {}
};
#endif

// A call that was written down.
struct called {
    const char *name;
    bool failed;
};

// What a flow has written down.
struct flow_record {
    guard own;
    bool produced = false;
    std::deque<called> calls;
    std::deque<record> records;
};

inline std::size_t wanted_flows()
{
    const char *flows = std::getenv("RANDOM_PROGRAM_FLOWS");
    return flows == nullptr ? 0 : std::stoul(flows);
}

struct source;
struct constraint;

inline std::vector<flow_record> flows(wanted_flows());
inline std::vector<source *> sources;
inline std::vector<constraint *> constraints;
inline std::atomic<long> violations{0};

inline void violated(const char *what)
{
    std::fprintf(stderr, "random program: %s\n", what);
    violations.fetch_add(1, std::memory_order_relaxed);
}

inline flow_record &flow_of(int flow)
{
    return flows.at(static_cast<std::size_t>(flow));
}

// The bits that a value carries.
inline bits_t bits(int value) { return static_cast<std::uint32_t>(value); }
inline bits_t bits(unsigned long value) { return value; }
inline bits_t bits(bool value) { return value ? 1 : 0; }
inline bits_t bits(const std::string &value) { return std::stoul(value); }
inline bits_t bits(const record *value) { return value->bits; }
inline bits_t bits(const tracked &value) { return value.bits(); }
inline bits_t bits(const fragile &value) { return value.bits; }

inline bits_t bits(const int (&value)[3])
{
    if (value[2] != (value[0] ^ value[1])) {
        violated("an array was not copied whole");
    }
    return bits(value[0]) | bits(value[1]) << 32;
}

inline bits_t bits(const std::vector<int> &value)
{
    return bits(value.at(0)) | bits(value.at(1)) << 32;
}

inline bits_t bits(const std::map<int, long> &value)
{
    return bits(static_cast<int>(value.at(0))) | bits(static_cast<int>(value.at(1))) << 32;
}

// A list carries a hash of what its elements carry; src/list.rs has the same.
template <class Element>
bits_t bits(const std::vector<Element> &list)
{
    bits_t all = list.size();
    for (const Element &element : list) {
        all = combine(all, bits(element));
    }
    return all;
}

// An error code: one of the nodes' own, or 0 for all those of the runtime.
inline bits_t code(int value)
{
    if (value == 0) {
        violated("a handler was given the error code 0");
    }
    return value >= 1 && value <= 200 ? static_cast<bits_t>(value) : 0;
}

inline int low(bits_t bits) { return static_cast<int>(static_cast<std::uint32_t>(bits)); }
inline int high(bits_t bits) { return low(bits >> 32); }

// Makes `to` carry `bits`, or those of them that its type has room for.
inline void put(int &to, bits_t bits, flow_record &) { to = low(bits); }
inline void put(unsigned long &to, bits_t bits, flow_record &) { to = bits; }
inline void put(bool &to, bits_t bits, flow_record &) { to = (bits & 1) != 0; }
inline void put(tracked &to, bits_t bits, flow_record &) { to = tracked(bits); }
inline void put(std::vector<int> &to, bits_t bits, flow_record &) { to = {low(bits), high(bits)}; }
inline void put(std::map<int, long> &to, bits_t bits, flow_record &) { to = {{0, low(bits)}, {1, high(bits)}}; }
inline void put(fragile &to, bits_t bits, flow_record &) { to.bits = bits; }

inline void put(record *&to, bits_t bits, flow_record &flow)
{
    const std::lock_guard alone(flow.own);
    to = &flow.records.emplace_back(record{bits});
}

inline void put(std::string &to, bits_t bits, flow_record &)
{
    const std::string digits = std::to_string(bits);
    to = std::string(32 - digits.size(), '0') + digits;
}

inline void put(int (&to)[3], bits_t bits, flow_record &)
{
    to[0] = low(bits);
    to[1] = high(bits);
    to[2] = to[0] ^ to[1];
}

template <class Element>
void put(std::vector<Element> &to, bits_t bits, flow_record &flow)
{
    to.clear();
    for (bits_t at = 0; at < bits % 4; at += 1) {
        Element element{};
        put(element, combine(bits, 256 + at), flow);
        to.push_back(std::move(element));
    }
}

// Outputs arrive as `T{}` makes them.
inline bool is_initial(int value) { return value == 0; }
inline bool is_initial(unsigned long value) { return value == 0; }
inline bool is_initial(bool value) { return !value; }
inline bool is_initial(const std::string &value) { return value.empty(); }
inline bool is_initial(const record *value) { return value == nullptr; }
inline bool is_initial(const tracked &value) { return value.bits() == 0; }
inline bool is_initial(const fragile &value) { return value.bits == 1; }
inline bool is_initial(const int (&value)[3]) { return value[0] == 0 && value[1] == 0 && value[2] == 0; }
template <class Element>
bool is_initial(const std::vector<Element> &value) { return value.empty(); }
inline bool is_initial(const std::map<int, long> &value) { return value.empty(); }

// In how many of a thousand cases a function fails, and how.
struct behaviour {
    bits_t salt;
    unsigned errors;
    unsigned throws;
};

// One of several kinds of exception.
[[noreturn]] inline void throw_something(bits_t digest)
{
    switch (combine(digest, 3) % 3) {
    case 0:
        throw std::runtime_error("decided to throw");
    case 1:
        throw std::system_error(std::make_error_code(std::errc::io_error));
    default:
        throw 17;
    }
}

// What a function decides to do about the call with this digest: 0, an error code, or an exception.
inline int decide(const behaviour &behaviour, bits_t digest)
{
    const unsigned roll = combine(digest, 1) % 1000;
    if (roll < behaviour.errors) {
        return 1 + static_cast<int>(combine(digest, 2) % 200);
    }
    if (roll < behaviour.errors + behaviour.throws) {
        throw_something(digest);
    }
    return 0;
}

inline bits_t digest(const behaviour &behaviour, std::initializer_list<bits_t> inputs)
{
    bits_t digest = behaviour.salt;
    for (const bits_t input : inputs) {
        digest = combine(digest, input);
    }
    return digest;
}

// Whether a predicate holds.
inline bool holds(const behaviour &behaviour, bits_t value)
{
    return decide(behaviour, digest(behaviour, {value})) == 0;
}

// One call of a node or a handler.
class call
{
  public:
    call(const char *name, const behaviour &behaviour, int flow, std::initializer_list<bits_t> inputs)
        : behaviour_(behaviour), digest_(digest(behaviour, inputs)), number_(flow), flow_(flow_of(flow)),
          called_(write_down(name, flow_))
    {
        if (combine(digest_, 4) % 32 == 0) {
            std::this_thread::yield();
        }
    }
    call(const call &) = delete;
    call &operator=(const call &) = delete;

    // What the call comes to: 0, an error code, or an exception.
    int decide()
    {
        called_.failed = true; // unless it decides to succeed
        const int error = random_program::decide(behaviour_, digest_);
        called_.failed = error != 0;
        return error;
    }

    // The first output: the flow's number.
    void give_flow(int &to)
    {
        check(to);
        to = number_;
    }

    // The output at `index`, from 1.
    template <class T> void give(unsigned index, T &to)
    {
        check(to);
        put(to, combine(digest_, 16 + index), flow_);
    }

    // Changes input `index`, as a node may do with its own copy: a function that handles its failure sees that.
    template <class T> void change(unsigned index, T &input)
    {
        if (combine(digest_, 5) % 2 == 0) {
            input = T{};
            put(input, combine(digest_, 64 + index), flow_);
        }
    }
    void change(unsigned index, int (&input)[3])
    {
        if (combine(digest_, 5) % 2 == 0) {
            put(input, combine(digest_, 64 + index), flow_);
        }
    }

  private:
    static called &write_down(const char *name, flow_record &flow)
    {
        const std::lock_guard alone(flow.own);
        return flow.calls.emplace_back(called{name, false});
    }

    template <class T> void check(const T &output)
    {
        if (!is_initial(output)) {
            violated("an output was not value-initialised");
        }
    }

    const behaviour &behaviour_;
    bits_t digest_;
    int number_;
    flow_record &flow_;
    called &called_;
};

// What a constraint guards. Relaxed atomics order nothing, and the count of writes is guarded by the promise alone:
// where that is broken, an update is lost and the thread sanitizer sees a race.
struct guarded {
    std::atomic<int> readers{0};
    std::atomic<int> writers{0};
    long writes = 0;
};

// A constraint of the program as its nodes see it: it guards one thing, or one for each session or key.
struct constraint {
    const char *name;
    std::deque<guarded> things;

    explicit constraint(const char *name, std::size_t things = flows.size() + 1) : name(name), things(things)
    {
        constraints.push_back(this);
    }

    guarded &of(int number) { return things.at(static_cast<std::size_t>(number)); }
};

// Held by a node that writes what a constraint guards.
class writing
{
  public:
    explicit writing(guarded &held) : held_(held)
    {
        if (held_.writers.fetch_add(1, std::memory_order_relaxed) != 0
            || held_.readers.load(std::memory_order_relaxed) != 0) {
            violated("a writer is not alone");
        }
        const long writes = held_.writes;
        if (writes % 16 == 0) {
            std::this_thread::yield();
        }
        held_.writes = writes + 1;
    }
    ~writing() { held_.writers.fetch_sub(1, std::memory_order_relaxed); }
    writing(const writing &) = delete;
    writing &operator=(const writing &) = delete;

  private:
    guarded &held_;
};

// Held by a node that only reads it.
class reading
{
  public:
    explicit reading(guarded &held) : held_(held)
    {
        held_.readers.fetch_add(1, std::memory_order_relaxed);
        if (held_.writers.load(std::memory_order_relaxed) != 0 || held_.writes < 0) {
            violated("a reader meets a writer");
        }
    }
    ~reading() { held_.readers.fetch_sub(1, std::memory_order_relaxed); }
    reading(const reading &) = delete;
    reading &operator=(const reading &) = delete;

  private:
    guarded &held_;
};

// The state of a source, shared by its instances.
struct source {
    const char *name;
    std::mutex own;
    std::size_t next;
    bool failed_before_next = false;
    bool exhausted = false;
    long failures = 0;
    long idle = 0;

    source(const char *name, std::size_t index) : name(name), next(index)
    {
        sources.push_back(this);
    }

    // The number of the next flow, or -1 where there is none this time. Throws where the source does. Ends the server
    // once all sources are exhausted: by then each has made its last flow, which starts even so.
    int produce(const behaviour &behaviour)
    {
        const int flow = take(behaviour);
        if (flow == none_left) {
            flux::sleep_for(std::chrono::milliseconds(1));
        }
        return flow;
    }

  private:
    static constexpr int none_left = -2;

    int take(const behaviour &behaviour)
    {
        static std::atomic<std::size_t> exhausted_sources{0};
        const std::lock_guard alone(own);
        if (next >= flows.size()) {
            idle += 1;
            if (!exhausted && exhausted_sources.fetch_add(1) + 1 == sources.size()) {
                kill(getpid(), SIGTERM);
            }
            exhausted = true;
            return none_left;
        }
        const int flow = static_cast<int>(next);
        if (!failed_before_next) {
            failed_before_next = true;
            failures += 1; // unless it decides to succeed
            if (decide(behaviour, digest(behaviour, {bits(flow)})) != 0) {
                return -1;
            }
            failures -= 1;
        }
        failed_before_next = false;
        next += sources.size();
        flow_of(flow).produced = true;
        return flow;
    }
};

// Writes the record when it is destroyed, at the end of the process.
struct recorder {
    ~recorder()
    {
        const char *path = std::getenv("RANDOM_PROGRAM_RECORD");
        std::FILE *file = path == nullptr ? nullptr : std::fopen(path, "w");
        if (file == nullptr) {
            return;
        }
        for (std::size_t flow = 0; flow < flows.size(); flow += 1) {
            if (flows[flow].produced) {
                std::fprintf(file, "flow %zu", flow);
                for (const called &call : flows[flow].calls) {
                    std::fprintf(file, " %s%s", call.name, call.failed ? " ERROR" : "");
                }
                std::fprintf(file, "\n");
            }
        }
        for (const source *source : sources) {
            std::fprintf(file, "failures %s %ld %ld\n", source->name, source->failures, source->idle);
        }
        for (const constraint *constraint : constraints) {
            long writes = 0;
            for (const guarded &thing : constraint->things) {
                writes += thing.writes;
            }
            std::fprintf(file, "writes %s %ld\n", constraint->name, writes);
        }
        std::fprintf(file, "violations %ld\nalive %ld\n", violations.load(), tracked::alive.load());
        std::fclose(file);
    }
};

} // namespace random_program
