// What the server keeps: items by their keys, and what it knows of its clients. The types are of the program, whose
// header brings this one.
#pragma once

#include "flux/connection.hpp"

#include <cstdint>
#include <optional>
#include <vector>

// In which shard the item of a key is.
void Shard(const resp::word &key, std::uint32_t &shard);
// All shards there are.
void Shards(std::vector<std::uint32_t> &shards);

// The item of a key, where there is one that has not expired.
void Find(const resp::word &key, std::uint32_t shard, std::optional<item> &found);
// Keeps an item under its key, in the place of another.
void Put(const resp::word &key, std::uint32_t shard, item made);
void Forget(const resp::word &key, std::uint32_t shard);
// The same word, in bytes that can be kept and sent to anybody.
int Kept(const resp::word &given, resp::word &content);
// Forgets the items that have expired.
void Drop(std::uint32_t shard);

// The time in milliseconds since 1970.
void Now(std::int64_t &now);

// What is known of the client of this connection.
int Client(flux::connection *connection, flux::connection *&same, client &from);
int SetClient(client from, flux::connection *connection, flux::connection *&same);
