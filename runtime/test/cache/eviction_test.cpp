#include "flux/cache/eviction.hpp"

#include <deque>
#include <gtest/gtest.h>
#include <string>

namespace {

struct entry : flux::evictable {
    entry(char called, std::size_t cost) : flux::evictable(cost), name(called) {}
    char name;
};

/// A cache with room for so much, whose entries are letters.
class cache
{
  public:
    cache(const char *how, std::size_t room) : chosen_(flux::eviction::of(how)), room_(room) {}
    ~cache() { leave(0); }

    /// The letters are asked for, one after the other, each at this cost. A capital letter has a hint.
    void ask(const std::string &names, std::size_t cost = 1)
    {
        for (const char name : names) {
            if (entry *const known = find(name)) {
                chosen_->use(*known);
                continue;
            }
            leave(room_ - cost);
            entries_.emplace_back(name, cost);
            if (std::isupper(static_cast<unsigned char>(name)) != 0) {
                entries_.back().hint();
            }
            chosen_->add(entries_.back());
            in_ += name;
        }
    }

    /// Who is in, in order of their coming.
    const std::string &in() const { return in_; }
    std::size_t cost() const { return chosen_->cost(); }

  private:
    entry *find(char name)
    {
        for (entry &each : entries_) {
            if (each.name == name && in_.find(name) != std::string::npos) {
                return &each;
            }
        }
        return nullptr;
    }

    void leave(std::size_t most)
    {
        while (chosen_->cost() > most) {
            auto *const first = static_cast<entry *>(chosen_->first_out());
            chosen_->remove(*first);
            in_.erase(in_.find(first->name), 1);
            first->name = '-';
        }
    }

    std::unique_ptr<flux::eviction> chosen_;
    std::size_t room_;
    std::deque<entry> entries_;
    std::string in_;
};

TEST(Eviction, HasNoneOfAnotherName)
{
    EXPECT_EQ(flux::eviction::of("fifo"), nullptr);
    EXPECT_EQ(flux::eviction::of(""), nullptr);
}

TEST(Eviction, LruLetsGoWhatWasUsedLeastRecently)
{
    cache own("lru", 3);
    own.ask("abcad");
    EXPECT_EQ(own.in(), "acd");
    own.ask("ce");
    EXPECT_EQ(own.in(), "cde");
    EXPECT_EQ(own.cost(), 3u);
}

TEST(Eviction, LfuLetsGoWhatWasUsedLeastOften)
{
    cache own("lfu", 3);
    own.ask("aaabbc");
    own.ask("d");
    EXPECT_EQ(own.in(), "abd");
    own.ask("e");
    EXPECT_EQ(own.in(), "ade") << "b and d have the same rank, and b had it first";
}

TEST(Eviction, WhatWasUsedOftenLongAgoGrowsOld)
{
    cache own("lfu", 2);
    own.ask("aaaaa");
    own.ask("bcdefg");
    EXPECT_EQ(own.in(), "fg") << "each that leaves raises the rank of those that come";
}

TEST(Eviction, GdsfLetsGoLargeOnesFirst)
{
    cache own("gdsf", 10);
    own.ask("a", 6);
    own.ask("bcd");
    own.ask("e", 4);
    EXPECT_EQ(own.in(), "bcde");
}

TEST(Eviction, HintedLetsGoTheOthersFirst)
{
    cache own("hinted", 3);
    own.ask("ABcdeA");
    EXPECT_EQ(own.in(), "ABe");
    own.ask("C");
    EXPECT_EQ(own.in(), "ABC");
    own.ask("D");
    EXPECT_EQ(own.in(), "ACD") << "among them as lru";
}

TEST(Eviction, WhoHeedsNoHintsLetsGoByUse)
{
    cache own("lru", 2);
    own.ask("Abc");
    EXPECT_EQ(own.in(), "bc");
}

TEST(Eviction, WhatIsTakenOutIsNoneAnyMore)
{
    for (const char *how : {"lru", "lfu", "gdsf", "hinted"}) {
        const auto chosen = flux::eviction::of(how);
        EXPECT_EQ(chosen->first_out(), nullptr) << how;
        flux::evictable one(5);
        flux::evictable other(7);
        chosen->add(one);
        chosen->add(other);
        EXPECT_EQ(chosen->cost(), 12u) << how;
        chosen->remove(one);
        EXPECT_EQ(chosen->first_out(), &other) << how;
        EXPECT_EQ(chosen->cost(), 7u) << how;
        chosen->add(one);
        chosen->use(other);
        EXPECT_EQ(chosen->cost(), 12u) << how;
        chosen->remove(one);
        chosen->remove(other);
        EXPECT_EQ(chosen->first_out(), nullptr) << how;
    }
}

} // namespace
