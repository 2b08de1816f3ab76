// The bank of examples/bank, its program as it is, under the load of open_load.hpp. The number of a transfer is in its
// amount, above the money.
#include "bank.flux.h"
#include "../../../examples/bank/accounts.h"
#include "../open_load.hpp"

namespace {

constexpr long opening_balance = 1000;
constexpr std::size_t number_of_accounts = 10'000;
// Above each amount.
constexpr long above = 1000;
// An entry takes some hundred microseconds.
constexpr int rounds = 200'000;

bank::accounts &accounts()
{
    static bank::accounts *const all = new bank::accounts(number_of_accounts, opening_balance, rounds);
    return *all;
}

int any(open_load::draws &from, int most)
{
    return std::uniform_int_distribution<int>(0, most)(from);
}

} // namespace

int Order(Order_out *out)
{
    const long number = open_load::next();
    if (number < 0)
        return ECANCELED;
    // Others each time, as the same transfers again and again would leave accounts without money.
    open_load::draws draws(static_cast<int>(number), static_cast<int>(number / open_load::requests));
    out->from = any(draws, number_of_accounts - 1);
    out->to = any(draws, number_of_accounts - 1);
    out->amount = number * above + 1 + any(draws, 398);
    return 0;
}

int Withdraw(Withdraw_in *in)
{
    return accounts().withdraw(in->from, in->amount % above) ? 0 : EDOM;
}

int Deposit(Deposit_in *in)
{
    accounts().deposit(in->to, in->amount % above);
    open_load::end(static_cast<int>(in->amount / above));
    return 0;
}

void Refuse(Withdraw_in *in, int)
{
    open_load::end(static_cast<int>(in->amount / above));
}

int Audit()
{
    if (accounts().total() != opening_balance * static_cast<long>(number_of_accounts)) {
        std::fprintf(stderr, "bank: an audit finds another sum\n");
        std::abort();
    }
    return 0;
}

void init(int, char **)
{
    accounts();
}

void fini()
{
    open_load::write();
}
