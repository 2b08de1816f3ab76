// The cache of compressed pictures: bounded in bytes, and what was used least often goes first (the paper's section 2).
//
// Entries are counted references to: find() and store() add one for the flow that asks, release() gives it back, and
// only entries without references can be evicted. A flow may therefore send an entry's bytes while others change the
// cache. Of entries used equally often the one not used for longest goes first.
//
// The entries without references stand in an ordered set, so finding, storing and releasing cost O(log n). The set's
// node of a referenced entry is kept in the entry itself: giving a reference back allocates nothing and cannot fail.
//
// Nothing here takes a lock. image.flux says which nodes share the cache, and that keeps them apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace image {

struct cached_picture;

/// Which of two entries is to be evicted first.
struct less_used {
    bool operator()(const cached_picture *left, const cached_picture *right) const;
};

using idle_pictures = std::set<cached_picture *, less_used>;

/// An entry. Only `jpeg` is for users of the cache; it does not change while they hold a reference.
struct cached_picture {
    /// The bytes of a JPEG file.
    std::vector<unsigned char> jpeg;

    /// How often it was stored or found.
    std::uint64_t uses = 0;
    /// When it was last used, by the cache's own count.
    std::uint64_t last_use = 0;
    /// How many flows are using it.
    std::size_t references = 0;
    /// The key it is stored under, owned by the cache's table.
    const std::string *key = nullptr;
    /// Its place among the idle, kept here while it is in use.
    idle_pictures::node_type place{};
};

/// The cache. At any time, what it holds counts for at most its capacity.
class picture_cache {
public:
    /// An empty cache for `capacity_bytes`; one of 0 bytes keeps nothing.
    explicit picture_cache(std::size_t capacity_bytes);

    /// The entry under `key`, with a reference for the caller; null where there is none.
    const cached_picture *find(const std::string &key);

    /// Stores `jpeg` under `key`, with a reference for the caller. Where the key is there already, because another flow
    /// missed it at the same time, the entry that is there is returned and `jpeg` left alone. Where it cannot fit, as
    /// everything else is in use or it is larger than the cache, nothing is evicted, `jpeg` is left alone, and the
    /// result is null. Throws std::bad_alloc, the cache unchanged.
    const cached_picture *store(const std::string &key, std::vector<unsigned char> &jpeg);

    /// Gives back a reference that find() or store() gave.
    void release(const cached_picture *picture);

    /// What the entries count for: the bytes of the pictures, their keys and their places in the table.
    std::size_t size_bytes() const
    {
        return size_bytes_;
    }

    /// How many entries there are.
    std::size_t count() const
    {
        return pictures_.size();
    }

private:
    void use(cached_picture &picture);
    void evict_least_used();

    const std::size_t capacity_bytes_;
    std::size_t size_bytes_ = 0;
    std::size_t size_in_use_bytes_ = 0;
    std::uint64_t clock_ = 0;
    std::unordered_map<std::string, cached_picture> pictures_;
    idle_pictures idle_;
};

} // namespace image
