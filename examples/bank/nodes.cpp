// The nodes of the bank: plain C++ that knows of no lock and no thread.
#include "bank.flux.h"
#include "office.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

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

int Withdraw(Withdraw_in *in)
{
    if (!bank::shared().accounts.withdraw(in->from, in->amount))
        return EDOM;
    return 0;
}

int Deposit(Deposit_in *in)
{
    bank::shared().accounts.deposit(in->to, in->amount);
    bank::shared().transferred.fetch_add(1, std::memory_order_relaxed);
    return 0;
}

void Refuse(Withdraw_in *, int)
{
    bank::shared().refused.fetch_add(1, std::memory_order_relaxed);
}

int Audit()
{
    const long total = bank::shared().accounts.total();
    if (total != bank::shared().opening_total()) {
        std::fprintf(stderr, "bank: an audit finds %ld of %ld\n", total, bank::shared().opening_total());
        std::abort();
    }
    bank::shared().audits.fetch_add(1, std::memory_order_relaxed);
    return 0;
}
