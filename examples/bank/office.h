// What the nodes of the bank share: the accounts, the orders that come in, and what is counted for the end.
#pragma once

#include "accounts.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <random>

namespace bank {

/// What the command line says.
struct settings {
    /// How many transfers are ordered before the bank closes.
    std::uint64_t transfers = 1'000'000;
    std::size_t accounts = 10'000;
    /// How much work an entry in an account is, in rounds of a hash.
    int rounds = 0;
};

/// One transfer that somebody wants.
struct order {
    int from;
    int to;
    long amount;
};

/// The bank's office.
class office
{
  public:
    /// What each account has at the start.
    static constexpr long opening_balance = 1000;

    explicit office(const settings &how)
        : accounts(how.accounts, opening_balance, how.rounds), left_(how.transfers),
          account_(0, static_cast<int>(how.accounts) - 1), opened_(std::chrono::steady_clock::now())
    {
    }

    /// Gives the next order; false when the bank closes. Only the source of orders asks.
    bool next(order &given);

    /// What the audits hold the accounts against.
    long opening_total() const { return opening_balance * static_cast<long>(accounts.number()); }

    /// Says what has happened, after all of it. False where money is lost, or made.
    bool close() const;

    bank::accounts accounts;
    std::atomic<std::uint64_t> transferred{0};
    std::atomic<std::uint64_t> refused{0};
    std::atomic<std::uint64_t> audits{0};

  private:
    std::uint64_t left_;
    // Seeded with what it is by default, so that each run has the same orders.
    std::minstd_rand chance_;
    std::uniform_int_distribution<int> account_;
    std::uniform_int_distribution<long> amount_{1, 400};
    std::chrono::steady_clock::time_point opened_;
};

/// The one office, there from `init` on.
office &shared();

} // namespace bank
