// The accounts of a bank. There is no lock in here: bank.flux says what may be done at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bank {

/// Accounts 0, 1, 2 …, and the money on them.
class accounts
{
  public:
    /// `number` accounts with `balance` each. `rounds` is how much work an entry in an account is: rounds of a hash.
    accounts(std::size_t number, long balance, int rounds) : all_(number, account{balance, 0}), rounds_(rounds) {}

    /// How many there are.
    std::size_t number() const { return all_.size(); }

    /// Takes money from an account; false where there is not as much on it.
    bool withdraw(int from, long amount)
    {
        account &one = all_.at(static_cast<std::size_t>(from));
        if (one.balance < amount)
            return false;
        enter(one, -amount);
        return true;
    }

    /// Puts money on an account.
    void deposit(int to, long amount) { enter(all_.at(static_cast<std::size_t>(to)), amount); }

    /// The money on all accounts.
    long total() const
    {
        long sum = 0;
        for (const account &one : all_)
            sum += one.balance;
        return sum;
    }

  private:
    struct account {
        long balance;
        /// Seals all entries so far, as the statement of the account would show it.
        std::uint64_t seal;
    };

    void enter(account &in, long amount)
    {
        in.balance += amount;
        for (int round = 0; round < rounds_; ++round)
            in.seal = (in.seal ^ static_cast<std::uint64_t>(amount)) * 0x100000001b3; // FNV-1a (Fowler, Noll, Vo)
    }

    std::vector<account> all_;
    int rounds_;
};

} // namespace bank
