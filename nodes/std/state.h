// The tables behind `state`, and the operations on them. The constraints that the compiler has put around an operation
// say which of them run at once; what an operation changes is noted where it may have to be undone.
#pragma once

#include "flux/cache/soft_table.hpp"
#include "flux/flow/flow.hpp"
#include "flux/flow/state_changes.hpp"
#include "flux/io.hpp"

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace state {

/// A table, whatever it has.
class any_table
{
  public:
    any_table() = default;
    any_table(const any_table &) = delete;
    any_table &operator=(const any_table &) = delete;
    virtual ~any_table() = default;

    virtual std::uint64_t count(flux::moment now) const = 0;
    /// Takes all away; what undoes that.
    virtual std::unique_ptr<flux::state_change> clear(flux::moment now) = 0;
};

/// The table of this number, which stays; null before an operation by key has made it.
any_table *known_table(std::size_t table);

/// The same, made by the first who asks. Throws what `make` throws.
any_table &known_or_made(std::size_t table, const std::function<std::unique_ptr<any_table>()> &make);

/// What there was before all of it was taken away.
template <class Key, class Value>
class cleared final : public flux::state_change
{
  public:
    cleared(flux::soft_table<Key, Value> &in, flux::moment now) : in_(in), before_(in.take_all(now)) {}

    void undo() noexcept override
    {
        const flux::moment now = flux::running_io().last_look();
        for (auto &[key, value] : before_) {
            in_.put(key, std::move(value), now);
        }
    }

  private:
    flux::soft_table<Key, Value> &in_;
    std::map<Key, Value> before_;
};

/// One with these types.
template <class Key, class Value>
class table_of_types final : public any_table
{
  public:
    table_of_types(std::size_t most, long kept_ms) : values(most, std::chrono::milliseconds(kept_ms)) {}

    std::uint64_t count(flux::moment now) const override { return values.size(now); }
    std::unique_ptr<flux::state_change> clear(flux::moment now) override
    {
        return std::make_unique<cleared<Key, Value>>(values, now);
    }

    flux::soft_table<Key, Value> values;
};

/// The table of this number; made where it is not there. Throws `std::bad_cast` where it has other types.
template <class Key, class Value>
flux::soft_table<Key, Value> &table_of(std::size_t table, std::size_t most, long kept_ms)
{
    using soft_table = flux::soft_table<Key, Value>;
    // Tables stay where they are, so a thread asks for each once.
    thread_local std::vector<soft_table *> known;
    if (table >= known.size()) [[unlikely]] {
        known.resize(table + 1);
    }
    if (known[table] == nullptr) [[unlikely]] {
        using made_of_types = table_of_types<Key, Value>;
        any_table &made = known_or_made(table, [=] { return std::make_unique<made_of_types>(most, kept_ms); });
        known[table] = &dynamic_cast<made_of_types &>(made).values;
    }
    return *known[table];
}

/// A value was put in the place of another, or of none, or was taken away.
template <class Key, class Value>
class changed_value final : public flux::state_change
{
  public:
    changed_value(flux::soft_table<Key, Value> &in, const Key &key) : in_(in), key_(key) {}

    void undo() noexcept override
    {
        const flux::moment now = flux::running_io().last_look();
        if (before.has_value()) {
            in_.put(key_, std::move(*before), now);
        } else {
            in_.take(key_, now);
        }
    }

    std::optional<Value> before;

  private:
    flux::soft_table<Key, Value> &in_;
    const Key key_;
};

/// Makes a change of what has this key: `make(before)` says whether there was one, and what was there. If the change
/// may have to be undone it is noted.
template <class Key, class Value, class Make>
bool change(flux::soft_table<Key, Value> &in, const Key &key, Make make)
{
    flux::state_changes *const changes = flux::running_flow->changes();
    std::optional<Value> before;
    if (changes == nullptr) {
        return make(before);
    }
    auto noted = std::make_unique<changed_value<Key, Value>>(in, key);
    const bool was_made = make(noted->before);
    if (was_made) {
        changes->add(std::move(noted));
    }
    return was_made;
}

/// The nodes of these names.
template <class Key, class Value>
int Get(std::size_t table, std::size_t most, long kept_ms, const Key &key, Value &value)
{
    std::optional<Value> found = table_of<Key, Value>(table, most, kept_ms).get(key, flux::running_io().last_look());
    if (!found.has_value()) {
        return ENOENT;
    }
    value = std::move(*found);
    return 0;
}

template <class Key, class Value>
int put(bool may_be_new, bool may_be_there, flux::soft_table<Key, Value> &in, const Key &key, const Value &value)
{
    const flux::moment now = flux::running_io().last_look();
    const bool was_put = change(in, key, [&](std::optional<Value> &before) {
        return in.put_where(may_be_new, may_be_there, key, value, now, before);
    });
    return was_put ? 0 : may_be_new ? EEXIST : ENOENT;
}

template <class Key, class Value>
int Insert(std::size_t table, std::size_t most, long kept_ms, const Key &key, const Value &value)
{
    return put(true, false, table_of<Key, Value>(table, most, kept_ms), key, value);
}

template <class Key, class Value>
int Update(std::size_t table, std::size_t most, long kept_ms, const Key &key, const Value &value)
{
    return put(false, true, table_of<Key, Value>(table, most, kept_ms), key, value);
}

template <class Key, class Value>
int Upsert(std::size_t table, std::size_t most, long kept_ms, const Key &key, const Value &value)
{
    return put(true, true, table_of<Key, Value>(table, most, kept_ms), key, value);
}

template <class Key, class Value>
int Delete(std::size_t table, std::size_t most, long kept_ms, const Key &key, Value &value)
{
    auto &in = table_of<Key, Value>(table, most, kept_ms);
    const flux::moment now = flux::running_io().last_look();
    const bool was_there = change(in, key, [&](std::optional<Value> &before) {
        before = in.take(key, now);
        if (before.has_value()) {
            value = *before;
        }
        return before.has_value();
    });
    return was_there ? 0 : ENOENT;
}

template <class Key, class Value>
int All(std::size_t table, std::size_t most, long kept_ms, std::map<Key, Value> &all)
{
    all = table_of<Key, Value>(table, most, kept_ms).all(flux::running_io().last_look());
    return 0;
}

int Count(std::size_t table, std::uint64_t &count);
int Clear(std::size_t table);

} // namespace state
