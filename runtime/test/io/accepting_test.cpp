#include "flux/io/accepting.hpp"

#include <gtest/gtest.h>

namespace {

class place final : public flux::accept_place
{
  public:
    void look() noexcept override { ++looks; }

    int looks = 0;
};

TEST(Accepting, BelongsToTheServerThatIsThere)
{
    flux::accepting &of_process = flux::accepting::current();
    {
        flux::accepting own;
        EXPECT_EQ(&flux::accepting::current(), &own);
        flux::entrance open;
        EXPECT_TRUE(own.any_open());
        EXPECT_FALSE(of_process.any_open());
        own.drain();
        EXPECT_TRUE(own.drains());
        open.close();
        open.close();
        EXPECT_FALSE(own.any_open());
    }
    EXPECT_EQ(&flux::accepting::current(), &of_process);
    EXPECT_FALSE(of_process.drains());
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
