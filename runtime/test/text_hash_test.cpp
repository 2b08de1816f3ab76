#include "flux/text_hash.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <unordered_set>

namespace {

using flux::hash_of_text;

TEST(TextHash, OfEqualTextsIsEqualWhereverTheyAre)
{
    const std::string all = "somewhere over the rainbow";
    for (std::size_t size = 0; size <= all.size(); ++size) {
        const std::string elsewhere = "x" + all.substr(0, size);
        const std::string_view here = std::string_view(all).substr(0, size);
        EXPECT_EQ(hash_of_text(here), hash_of_text(std::string_view(elsewhere).substr(1)));
    }
}

TEST(TextHash, EachBitOfATextCounts)
{
    for (std::size_t size = 1; size <= 40; ++size) {
        std::unordered_set<std::uint64_t> seen;
        std::string text(size, '\0');
        seen.insert(hash_of_text(text));
        for (char &byte : text) {
            for (int bit = 0; bit < 8; ++bit) {
                byte = static_cast<char>(1 << bit);
                EXPECT_TRUE(seen.insert(hash_of_text(text)).second) << size << " bytes";
            }
            byte = '\0';
        }
    }
}

TEST(TextHash, TextsOfOtherSizesDiffer)
{
    std::unordered_set<std::uint64_t> seen;
    for (std::size_t size = 0; size < 1000; ++size) {
        EXPECT_TRUE(seen.insert(hash_of_text(std::string(size, '\0'))).second);
    }
}

// Of 100,000 in 256 chains each has 391; chance gives about 20 more or less.
TEST(TextHash, NumberedKeysAreSpreadEvenly)
{
    for (const char *const before : {"", "key:", "memtier-", "a key that is rather long, as some are: "}) {
        std::array<int, 256> low{};
        std::array<int, 256> high{};
        for (int number = 0; number < 100'000; ++number) {
            const std::uint64_t hash = hash_of_text(before + std::to_string(number));
            ++low[hash % low.size()];
            ++high[hash >> 56];
        }
        for (const std::array<int, 256> &chains : {low, high}) {
            for (const int count : chains) {
                EXPECT_NEAR(count, 391, 120) << before;
            }
        }
    }
}

TEST(TextHash, ASeedMakesAnother)
{
    EXPECT_NE(hash_of_text("key", 1), hash_of_text("key", 2));
    EXPECT_EQ(flux::secret_text_hash()("key"), flux::secret_text_hash()(std::string("key")));
    EXPECT_NE(flux::secret_text_hash()("key"), hash_of_text("key"));
}

} // namespace
