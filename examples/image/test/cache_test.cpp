// The cache: what is found, what goes first, what cannot go, and its bound in bytes.
#include "../cache.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

using image::cached_picture;
using image::picture_cache;

namespace {

constexpr std::size_t picture_bytes = 10'000;
/// What an entry with a key of one letter counts for.
constexpr std::size_t entry_bytes = sizeof(cached_picture) + 1 + picture_bytes;

std::vector<unsigned char> picture(unsigned char value, std::size_t bytes = picture_bytes)
{
    return std::vector<unsigned char>(bytes, value);
}

/// Stores a picture that no flow keeps using.
void store_idle(picture_cache &cache, const std::string &key)
{
    std::vector<unsigned char> jpeg = picture(static_cast<unsigned char>(key.front()));
    const cached_picture *stored = cache.store(key, jpeg);
    ASSERT_NE(stored, nullptr) << key;
    cache.release(stored);
}

/// Whether `key` is there. Counts as a use of it, as any look does.
bool use(picture_cache &cache, const std::string &key)
{
    const cached_picture *found = cache.find(key);
    if (found == nullptr)
        return false;
    EXPECT_EQ(found->jpeg.front(), static_cast<unsigned char>(key.front()));
    cache.release(found);
    return true;
}

} // namespace

TEST(Cache, FindsWhatWasStored)
{
    picture_cache cache(3 * entry_bytes);
    EXPECT_EQ(cache.find("a"), nullptr);
    std::vector<unsigned char> jpeg = picture('a');
    const cached_picture *stored = cache.store("a", jpeg);
    ASSERT_NE(stored, nullptr);
    EXPECT_EQ(stored->jpeg, picture('a'));
    EXPECT_EQ(cache.find("a"), stored);
    EXPECT_EQ(cache.find("b"), nullptr);
    EXPECT_EQ(cache.size_bytes(), entry_bytes);
}

TEST(Cache, EvictsTheLeastFrequentlyUsed)
{
    picture_cache cache(3 * entry_bytes);
    store_idle(cache, "a");
    EXPECT_TRUE(use(cache, "a"));
    EXPECT_TRUE(use(cache, "a"));
    store_idle(cache, "b");
    EXPECT_TRUE(use(cache, "b"));
    store_idle(cache, "c");
    // The last one stored is the one used least often, though the most recently.
    store_idle(cache, "d");
    EXPECT_EQ(cache.count(), 3U);
    EXPECT_FALSE(use(cache, "c"));
    EXPECT_TRUE(use(cache, "a"));
    EXPECT_TRUE(use(cache, "b"));
    EXPECT_TRUE(use(cache, "d"));
}

TEST(Cache, OfThoseUsedEquallyOftenTheOneNotUsedForLongestGoes)
{
    picture_cache cache(3 * entry_bytes);
    store_idle(cache, "a");
    store_idle(cache, "b");
    store_idle(cache, "c");
    EXPECT_TRUE(use(cache, "b"));
    EXPECT_TRUE(use(cache, "a"));
    EXPECT_TRUE(use(cache, "c"));
    store_idle(cache, "d");
    EXPECT_FALSE(use(cache, "b"));
    EXPECT_TRUE(use(cache, "a"));
}

TEST(Cache, WhatIsInUseStays)
{
    picture_cache cache(2 * entry_bytes);
    std::vector<unsigned char> jpeg = picture('a');
    const cached_picture *held = cache.store("a", jpeg);
    store_idle(cache, "b");
    EXPECT_TRUE(use(cache, "b"));
    EXPECT_TRUE(use(cache, "b"));
    store_idle(cache, "c");
    EXPECT_FALSE(use(cache, "b")) << "the only one without references";
    EXPECT_EQ(held->jpeg, picture('a'));
    cache.release(held);
    store_idle(cache, "d");
    EXPECT_FALSE(use(cache, "a")) << "used once and not for longest, and free to go now";
    EXPECT_TRUE(use(cache, "c"));
}

TEST(Cache, WhatCannotFitIsLeftAloneAndEvictsNothing)
{
    picture_cache cache(2 * entry_bytes);
    std::vector<unsigned char> jpeg = picture('a');
    const cached_picture *held = cache.store("a", jpeg);
    store_idle(cache, "b");
    std::vector<unsigned char> large = picture('c', picture_bytes + 1);
    EXPECT_EQ(cache.store("c", large), nullptr);
    EXPECT_EQ(large, picture('c', picture_bytes + 1));
    EXPECT_TRUE(use(cache, "b"));
    std::vector<unsigned char> huge = picture('d', 3 * picture_bytes);
    EXPECT_EQ(cache.store("d", huge), nullptr);
    EXPECT_EQ(cache.count(), 2U);
    cache.release(held);
}

TEST(Cache, OfNoBytesKeepsNothing)
{
    picture_cache cache(0);
    std::vector<unsigned char> jpeg = picture('a');
    EXPECT_EQ(cache.store("a", jpeg), nullptr);
    EXPECT_EQ(jpeg, picture('a'));
    EXPECT_EQ(cache.find("a"), nullptr);
}

TEST(Cache, TwoFlowsThatMissTheSamePictureShareOneEntry)
{
    picture_cache cache(entry_bytes);
    EXPECT_EQ(cache.find("a"), nullptr);
    EXPECT_EQ(cache.find("a"), nullptr);
    std::vector<unsigned char> first_jpeg = picture('a');
    std::vector<unsigned char> second_jpeg = picture('a');
    const cached_picture *first = cache.store("a", first_jpeg);
    const cached_picture *second = cache.store("a", second_jpeg);
    EXPECT_EQ(first, second);
    EXPECT_EQ(second_jpeg, picture('a')) << "the second flow keeps its own";
    EXPECT_EQ(cache.size_bytes(), entry_bytes);

    cache.release(first);
    std::vector<unsigned char> other = picture('b');
    EXPECT_EQ(cache.store("b", other), nullptr) << "the second flow still holds a reference";
    cache.release(second);
    EXPECT_NE(cache.store("b", other), nullptr);
    EXPECT_EQ(cache.find("a"), nullptr);
}

/// Random operations, against a model that evicts by looking at everything.
TEST(Cache, AgreesWithAModel)
{
    struct model_entry {
        std::size_t bytes, uses, last_use, references;
    };
    std::mt19937 random(2006);
    for (int round = 0; round < 20; ++round) {
        const std::size_t capacity = 20'000;
        picture_cache cache(capacity);
        std::map<std::string, model_entry> model;
        std::vector<const cached_picture *> held;
        std::size_t clock = 0;
        const auto size_of = [&](bool in_use_only) {
            std::size_t total = 0;
            for (const auto &[key, entry] : model)
                total += in_use_only && entry.references == 0 ? 0 : entry.bytes;
            return total;
        };
        const auto evict = [&] {
            auto victim = model.end();
            for (auto at = model.begin(); at != model.end(); ++at) {
                const auto order = [](const auto &one) { return std::pair(one->second.uses, one->second.last_use); };
                if (at->second.references == 0 && (victim == model.end() || order(at) < order(victim)))
                    victim = at;
            }
            model.erase(victim);
        };
        for (int operation = 0; operation < 2000; ++operation) {
            const std::string key(1, static_cast<char>('a' + random() % 20));
            const auto present = model.find(key);
            if (random() % 3 == 0 && !held.empty()) {
                std::swap(held[random() % held.size()], held.back());
                --model.at(*held.back()->key).references;
                cache.release(held.back());
                held.pop_back();
                continue;
            }
            const bool is_store = random() % 2 == 0;
            std::vector<unsigned char> jpeg = picture(static_cast<unsigned char>(key.front()), random() % 5000);
            const std::size_t bytes = sizeof(cached_picture) + key.size() + jpeg.size();
            const cached_picture *got = is_store ? cache.store(key, jpeg) : cache.find(key);
            if (present != model.end()) {
                ASSERT_NE(got, nullptr);
                ++present->second.uses;
                present->second.last_use = ++clock;
                ++present->second.references;
            } else if (is_store && size_of(true) + bytes <= capacity) {
                ASSERT_NE(got, nullptr);
                while (size_of(false) + bytes > capacity)
                    evict();
                model[key] = {bytes, 1, ++clock, 1};
            } else {
                ASSERT_EQ(got, nullptr);
            }
            if (got != nullptr)
                held.push_back(got);
            ASSERT_EQ(cache.count(), model.size());
            ASSERT_EQ(cache.size_bytes(), size_of(false));
            ASSERT_LE(cache.size_bytes(), capacity);
        }
    }
}
