#include "flux/list/intrusive_list.hpp"

#include <array>
#include <cstddef>
#include <gtest/gtest.h>
#include <list>
#include <random>
#include <vector>

namespace {

struct element : flux::listed<element> {
    int number = 0;
    bool is_in = false;
};

/// The numbers from the first on, and then once more backwards.
std::vector<int> numbers(const flux::intrusive_list<element> &of)
{
    std::vector<int> found;
    const element *last = nullptr;
    for (const element *each = of.first(); each != nullptr; each = each->next) {
        EXPECT_EQ(each->previous, last);
        found.push_back(each->number);
        last = each;
    }
    return found;
}

TEST(IntrusiveList, IsInTheOrderOfWhatWasPushed)
{
    flux::intrusive_list<element> list;
    std::array<element, 3> all;
    EXPECT_TRUE(list.empty());
    EXPECT_EQ(list.pop_front(), nullptr);
    list.push_back(all[0]);
    list.push_back(all[1]);
    list.push_front(all[2]);
    EXPECT_FALSE(list.empty());
    EXPECT_EQ(list.first(), &all[2]);
    EXPECT_EQ(list.pop_front(), &all[2]);
    EXPECT_EQ(list.pop_front(), &all[0]);
    EXPECT_EQ(list.pop_front(), &all[1]);
    EXPECT_TRUE(list.empty());
}

TEST(IntrusiveList, DoesWhatAListOfTheLibraryDoes)
{
    std::mt19937 draw(1);
    flux::intrusive_list<element> list;
    std::list<int> model;
    std::array<element, 6> all;
    for (std::size_t number = 0; number < all.size(); ++number) {
        all[number].number = static_cast<int>(number);
    }
    for (int step = 0; step < 5000; ++step) {
        element &one = all[draw() % all.size()];
        if (one.is_in) {
            list.remove(one);
            model.remove(one.number);
            one.is_in = false;
        } else if (draw() % 2 == 0) {
            list.push_back(one);
            model.push_back(one.number);
            one.is_in = true;
        } else {
            list.push_front(one);
            model.push_front(one.number);
            one.is_in = true;
        }
        ASSERT_EQ(numbers(list), std::vector<int>(model.begin(), model.end()));
        ASSERT_EQ(list.empty(), model.empty());
    }
}

} // namespace
