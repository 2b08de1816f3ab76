// The nodes of a bank with locks by hand, as one writes them who knows how: a lock for each account, taken in the order
// of their numbers, and one for the ledger before both.
#include "../../../examples/bank/office.h"
#include "bank.flux.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <shared_mutex>
#include <unistd.h>
#include <vector>

static std::shared_mutex ledger;

static std::mutex &lock_of(int account)
{
    static std::vector<std::mutex> locks(bank::shared().accounts.number());
    return locks[static_cast<std::size_t>(account)];
}

int Order(Order_out *out)
{
    bank::order next{};
    if (!bank::shared().next(next)) {
        kill(getpid(), SIGTERM);
        pause();
        return ECANCELED;
    }
    out->from = next.from;
    out->to = next.to;
    out->amount = next.amount;
    return 0;
}

int Transfer(Transfer_in *in)
{
    const std::shared_lock shared(ledger);
    const std::lock_guard first(lock_of(std::min(in->from, in->to)));
    std::unique_lock<std::mutex> second;
    if (in->from != in->to)
        second = std::unique_lock(lock_of(std::max(in->from, in->to)));
    if (!bank::shared().accounts.withdraw(in->from, in->amount))
        return EDOM;
    bank::shared().accounts.deposit(in->to, in->amount);
    bank::shared().transferred.fetch_add(1, std::memory_order_relaxed);
    return 0;
}

void Refuse(Transfer_in *, int)
{
    bank::shared().refused.fetch_add(1, std::memory_order_relaxed);
}

int Audit()
{
    const std::unique_lock alone(ledger);
    const long total = bank::shared().accounts.total();
    if (total != bank::shared().opening_total()) {
        std::fprintf(stderr, "bank: an audit finds %ld of %ld\n", total, bank::shared().opening_total());
        std::abort();
    }
    bank::shared().audits.fetch_add(1, std::memory_order_relaxed);
    return 0;
}
