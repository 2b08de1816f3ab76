// The items of the cache. The type `item` is of the program, whose header brings this one.
#pragma once

#include <optional>
#include <string>

// The item of a key, if there is one.
void Find(const std::string &key, std::optional<item> &found);
// Keeps an item under its key, in the place of another.
void Put(std::string key, item made);
void Forget(const std::string &key);

// Four bytes, and eight, the highest first.
void Flags(uint32_t flags, std::string &extras);
void Number(uint64_t number, std::string &value);
