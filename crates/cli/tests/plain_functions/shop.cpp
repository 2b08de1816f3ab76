// The functions of the shop, and what they show on standard output.
#include "shop.flux.h"

#include <cstdio>
#include <unistd.h>

int Ask(int &number)
{
    static int last = 0;
    if (last == 4) {
        pause();
    }
    number = ++last;
    return 0;
}

int Who(int number)
{
    return number;
}

flux::expected<item, int> Find(int number)
{
    if (number == 3) {
        return flux::unexpected(2);
    }
    return item{std::to_string(number), number};
}

void NotThere(Find_in *in, int error)
{
    std::printf("no %d: %d\n", in->number, error);
    std::fflush(stdout);
}

flux::expected<void, int> Check(item &&wanted, item &out)
{
    out = std::move(wanted);
    return {};
}

void Price(const item &wanted, item &same, long &cents)
{
    same = wanted;
    cents = 100L * wanted.size;
}

bool IsDear(const long &cents)
{
    return cents > 300;
}

int Lower(item wanted, long cents, item *out, long *lowered)
{
    *out = wanted;
    *lowered = cents - 1;
    return 0;
}

int Old(Old_in *in, Old_out *out)
{
    out->wanted = in->wanted;
    out->cents = in->cents;
    return 0;
}

std::string Label(const item *wanted, long cents)
{
    return wanted->name + ": " + std::to_string(cents) + "\n";
}

std::string Label(int)
{
    return "";
}

void Print(std::string text)
{
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
}
