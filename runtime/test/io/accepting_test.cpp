#include "flux/io/accepting.hpp"

#include <gtest/gtest.h>
#include <memory>

namespace {

class place final : public flux::accept_place
{
  public:
    void look() noexcept override { ++looks; }

    int looks = 0;
};

TEST(Accepting, AnEntranceIsOpenUntilItIsClosed)
{
    const auto own = std::make_shared<flux::accepting>();
    {
        flux::entrance first(own);
        const flux::entrance second(own);
        first.close();
        first.close();
        EXPECT_TRUE(own->any_open()) << "the second";
    }
    EXPECT_FALSE(own->any_open());
}

TEST(Accepting, AllLookTheLateOnesToo)
{
    flux::accepting own;
    place early;
    place gone;
    place late;
    own.add(early);
    own.add(gone);
    own.look();
    own.remove(gone);
    own.drain();
    own.add(late);
    EXPECT_EQ(early.looks, 2);
    EXPECT_EQ(gone.looks, 1);
    EXPECT_EQ(late.looks, 1) << "it drains already";
}

} // namespace
