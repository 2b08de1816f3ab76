// What `state` stands on: tables of the runtime, by their numbers, and what is done with them. A program with a `state`
// uses it by itself; nothing here is meant for others.
//
// A table has at most `most` values, each until it was not used for `kept_ms`, or for ever where that is 0.

include "flux/error.hpp";
include "state.h";

// The value of a key, which is used by that. Fails with ENOENT where there is none.
Get (size_t table, size_t most, long kept_ms, type K, type V, K key) => (V value);

// Puts in a value. Fails with EEXIST where there is one.
Insert (size_t table, size_t most, long kept_ms, type K, type V, K key, V value) => ();

// Puts a value in the place of that which is there. Fails with ENOENT where there is none.
Update (size_t table, size_t most, long kept_ms, type K, type V, K key, V value) => ();

// Puts in a value, whatever is there.
Upsert (size_t table, size_t most, long kept_ms, type K, type V, K key, V value) => ();

// Takes a value away, and gives it. Fails with ENOENT where there is none.
Delete (size_t table, size_t most, long kept_ms, type K, type V, K key) => (V value);

// All that is there.
All (size_t table, size_t most, long kept_ms, type K, type V) => (map<K, V> all);

// How much is there.
Count (size_t table) => (uint64 count);

// Takes all away.
Clear (size_t table) => ();
