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
}

// The vector of the paper's appendix A.
TEST(TextHash, IsSipHash)
{
    std::string text;
    for (char byte = 0; byte < 15; ++byte) {
        text += byte;
    }
    flux::sip_hash<2, 4> all({0x0706050403020100, 0x0f0e0d0c0b0a0908});
    all.add(text);
    EXPECT_EQ(all.end(), 0xa129ca6149be45e5);
}

TEST(TextHash, ASecretOneIsOfTheProcess)
{
    EXPECT_EQ(flux::secret_text_hash()("key"), flux::secret_hash<std::string>()("key"));
    const flux::hash_key before = flux::hash_key::of_process();
    flux::hash_key::choose(1);
    const std::size_t first = flux::secret_hash<int>()(7);
    flux::hash_key::choose(2);
    EXPECT_NE(flux::secret_hash<int>()(7), first);
    flux::hash_key::choose(1);
    EXPECT_EQ(flux::secret_hash<int>()(7), first);
    EXPECT_NE(before.first, flux::hash_key::of_process().first);
}

// Keys that std::unordered_map would keep in one chain.
TEST(TextHash, ChosenKeysAreSpread)
{
    constexpr std::uint64_t chains = 10'273;
    std::unordered_set<std::uint64_t> used;
    for (std::int64_t number = 0; number < static_cast<std::int64_t>(chains); ++number) {
        used.insert(flux::secret_hash<std::int64_t>()(number * static_cast<std::int64_t>(chains)) % chains);
    }
    // Chance leaves a share of 1/e of them empty.
    EXPECT_GT(used.size(), chains / 2);
}

} // namespace
