/// \file
/// The seeds of a test: `for (const std::uint64_t seed : each_seed(200))`. A failure says its seed and the command that
/// repeats it, and ends the loop.
///
/// `FLUX_SIMULATION_SEED=N` repeats that seed alone. With `FLUX_SIMULATION_SEEDS=M` each test runs M seeds, from N on
/// if that is given, too. With `FLUX_TEST_SLICE=N` a test that has many seeds runs a part of them, at least 100.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <gtest/gtest.h>
#include <optional>
#include <string>

class each_seed
{
  public:
    /// The seeds below `usual`, or those that the environment names. Slices are four at most, and share no seed.
    explicit each_seed(std::uint64_t usual)
    {
        const auto number = [](const char *variable) {
            const char *const value = std::getenv(variable);
            return value != nullptr ? std::optional(std::strtoull(value, nullptr, 10)) : std::nullopt;
        };
        const auto first = number("FLUX_SIMULATION_SEED");
        const auto seeds = number("FLUX_SIMULATION_SEEDS");
        is_one_ = first && !seeds;
        next_ = first.value_or(0);
        count_ = is_one_ ? 1 : seeds.value_or(usual);
        if (const auto slice = number("FLUX_TEST_SLICE"); slice && !first && !seeds) {
            const std::uint64_t slices = std::clamp<std::uint64_t>(usual / 100, 1, 4);
            const std::uint64_t part = *slice % slices;
            next_ = usual * part / slices;
            count_ = usual * (part + 1) / slices - next_;
        }
        end_ = next_ + count_;
    }
    each_seed(const each_seed &) = delete;
    each_seed &operator=(const each_seed &) = delete;

    /// How many there are, and whether that is one which is repeated.
    std::uint64_t count() const { return count_; }
    bool is_one() const { return is_one_; }

    class iterator
    {
      public:
        explicit iterator(each_seed &of) : of_(of) {}
        std::uint64_t operator*() { return of_.take(); }
        iterator &operator++()
        {
            of_.leave();
            return *this;
        }
        bool operator!=(const iterator &) const { return of_.has_next(); }

      private:
        each_seed &of_;
    };

    iterator begin() { return iterator(*this); }
    iterator end() { return iterator(*this); }

  private:
    std::uint64_t take()
    {
        const testing::TestInfo &test = *testing::UnitTest::GetInstance()->current_test_info();
        const std::string name = std::string(test.test_suite_name()) + "." + test.name();
        const std::string seed = std::to_string(next_);
        said_.emplace(__FILE__, __LINE__,
                      "seed " + seed + "; to repeat, in runtime: FLUX_SIMULATION_SEED=" + seed + " " +
                          program_invocation_name + " --gtest_filter='" + name + "'");
        return next_;
    }
    void leave()
    {
        said_.reset();
        ++next_;
    }
    bool has_next() const { return next_ != end_ && !testing::Test::HasFailure(); }

    std::uint64_t next_ = 0;
    std::uint64_t count_ = 0;
    std::uint64_t end_ = 0;
    bool is_one_ = false;
    std::optional<testing::ScopedTrace> said_;
};
