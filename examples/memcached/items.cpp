// The items that a cache keeps. Whoever calls this holds the constraint `items`.

#include "cache.flux.h"

#include <unordered_map>
#include <utility>

namespace {

std::unordered_map<std::string, item> items;

template <class Number>
std::string big_endian(Number number)
{
    std::string bytes;
    for (int shift = 8 * sizeof number - 8; shift >= 0; shift -= 8) {
        bytes.push_back(static_cast<char>(number >> shift));
    }
    return bytes;
}

} // namespace

void Find(const std::string &key, std::optional<item> &found)
{
    if (const auto at = items.find(key); at != items.end()) {
        found = at->second;
    }
}

void Put(std::string key, item made)
{
    items.insert_or_assign(std::move(key), std::move(made));
}

void Forget(const std::string &key)
{
    items.erase(key);
}

void Flags(uint32_t flags, std::string &extras)
{
    extras = big_endian(flags);
}

void Number(uint64_t number, std::string &value)
{
    value = big_endian(number);
}
