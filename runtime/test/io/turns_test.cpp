#include "flux/io/turns.hpp"

#include "../support/io_world.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <map>
#include <string>
#include <vector>

namespace {

namespace compute = flux::compute;

/// Where a flow runs that counts how often it lets others go first.
class polite_place final : public flux::waiter
{
  public:
    bool wait_until(flux::moment) noexcept override { return true; }
    void wake() noexcept override {}
    void give_way() noexcept override { ++times; }

    int times = 0;
};

/// A flow that runs there.
class Turns : public testing::Test
{
  protected:
    Turns()
    {
        own_.wait_at(place);
        here.run_on(own_);
        flux::running_flow = &here;
    }

    ~Turns() override { flux::running_flow = nullptr; }

    polite_place place;
    flux::flow here;

  private:
    flux::runner own_{sample::program};
};

template <std::int64_t count = compute::elements_of_turn, class Elements>
std::size_t length_of(const Elements &elements)
{
    std::size_t length = 0;
    for ([[maybe_unused]] const auto &element : compute::in_turns<count>(elements)) {
        ++length;
    }
    return length;
}

std::map<int, int> squares(int count)
{
    std::map<int, int> made;
    for (int number = 0; number < count; ++number) {
        made[number] = number * number;
    }
    return made;
}

TEST_F(Turns, AllElementsAreThereInOrder)
{
    for (const int count : {0, 1, 255, 256, 257, 512, 1000}) {
        std::vector<int> numbers;
        for (int number = 0; number < count; ++number) {
            numbers.push_back(number);
        }
        std::vector<int> seen;
        for (const int number : compute::in_turns(numbers)) {
            seen.push_back(number);
        }
        EXPECT_EQ(seen, numbers);
        EXPECT_EQ(length_of<1>(numbers), numbers.size());
        EXPECT_EQ(length_of(std::vector<bool>(numbers.size())), numbers.size());
        const std::map<int, int> map = squares(count);
        int next = 0;
        for (const auto &[key, value] : compute::in_turns(map)) {
            EXPECT_EQ(value, key * key);
            EXPECT_EQ(key, next++);
        }
        EXPECT_EQ(next, count);
    }
}

TEST_F(Turns, ALongLoopLetsOthersGoFirst)
{
    const std::size_t elements = flux::io_budget * compute::elements_of_turn;
    length_of(std::vector<char>(elements));
    EXPECT_EQ(place.times, 0) << "so many are the budget";
    length_of(std::vector<char>(2 * compute::elements_of_turn + 1));
    EXPECT_EQ(place.times, 1) << "of all loops of the flow";
    length_of(std::vector<char>(10 * elements));
    EXPECT_EQ(place.times, 10);
}

TEST_F(Turns, WhereAnElementIsATurnItComesSooner)
{
    length_of<1>(std::vector<char>(10 * flux::io_budget));
    EXPECT_EQ(place.times, 9);
    length_of<1>(squares(10 * flux::io_budget));
    EXPECT_EQ(place.times, 19);
}

TEST_F(Turns, ALoopOverLittleNeverLooks)
{
    here.cancel();
    for (int time = 0; time < 1000; ++time) {
        EXPECT_EQ(length_of(std::vector<char>(compute::elements_of_turn)), compute::elements_of_turn);
    }
    EXPECT_EQ(place.times, 0);
}

TEST_F(Turns, AFlowThatIsCancelledLeavesItsLoop)
{
    here.cancel();
    try {
        length_of(std::vector<char>(2 * flux::io_budget * compute::elements_of_turn));
        ADD_FAILURE() << "the loop came to its end";
    } catch (const compute::failure &failed) {
        EXPECT_EQ(failed.code, ECANCELED);
    }
}

TEST(TurnsOfNoFlow, AreOne)
{
    EXPECT_EQ(length_of(std::vector<char>(1 << 20)), std::size_t{1} << 20);
}

} // namespace
