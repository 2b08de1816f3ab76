// The cache of compressed pictures; cache.h explains it.
#include "cache.h"

#include <cassert>
#include <tuple>
#include <utility>

namespace image {

namespace {

std::size_t size_of(const std::string &key, const std::vector<unsigned char> &jpeg)
{
    return sizeof(cached_picture) + key.size() + jpeg.size();
}

} // namespace

bool less_used::operator()(const cached_picture *left, const cached_picture *right) const
{
    return std::tie(left->uses, left->last_use) < std::tie(right->uses, right->last_use);
}

picture_cache::picture_cache(std::size_t capacity_bytes) : capacity_bytes_(capacity_bytes) {}

const cached_picture *picture_cache::find(const std::string &key)
{
    const auto found = pictures_.find(key);
    if (found == pictures_.end())
        return nullptr;
    use(found->second);
    return &found->second;
}

const cached_picture *picture_cache::store(const std::string &key, std::vector<unsigned char> &jpeg)
{
    if (const cached_picture *present = find(key))
        return present;
    const std::size_t size = size_of(key, jpeg);
    if (size > capacity_bytes_ - size_in_use_bytes_)
        return nullptr;

    // Everything that may throw comes before anything is evicted.
    const auto [slot, inserted] = pictures_.try_emplace(key);
    assert(inserted);
    cached_picture &picture = slot->second;
    try {
        picture.place = idle_.extract(idle_.insert(&picture).first);
    } catch (...) {
        pictures_.erase(slot);
        throw;
    }
    while (size_bytes_ + size > capacity_bytes_)
        evict_least_used();

    picture.jpeg = std::move(jpeg);
    picture.key = &slot->first;
    picture.uses = 1;
    picture.last_use = ++clock_;
    picture.references = 1;
    size_bytes_ += size;
    size_in_use_bytes_ += size;
    return &picture;
}

void picture_cache::release(const cached_picture *picture)
{
    cached_picture &released = pictures_.find(*picture->key)->second;
    assert(&released == picture && released.references > 0);
    if (--released.references > 0)
        return;
    size_in_use_bytes_ -= size_of(*released.key, released.jpeg);
    idle_.insert(std::move(released.place));
}

void picture_cache::use(cached_picture &picture)
{
    if (picture.references == 0) {
        picture.place = idle_.extract(&picture);
        size_in_use_bytes_ += size_of(*picture.key, picture.jpeg);
    }
    ++picture.references;
    ++picture.uses;
    picture.last_use = ++clock_;
}

void picture_cache::evict_least_used()
{
    assert(!idle_.empty());
    cached_picture *victim = *idle_.begin();
    idle_.erase(idle_.begin());
    size_bytes_ -= size_of(*victim->key, victim->jpeg);
    pictures_.erase(pictures_.find(*victim->key));
}

} // namespace image
