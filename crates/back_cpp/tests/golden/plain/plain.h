// Plain functions of a shop.
#pragma once
#include <flux/expected.hpp>
#include <memory>
#include <string>

struct item {
    std::string name;
    int size = 0;
};

int Ask(int &number);
flux::expected<item, int> Find(int number);
flux::expected<void, int> Check(item &&wanted, item &out);
void Price(const item &wanted, item &same, long &cents);
std::string Label(const item *wanted, long cents);
std::string Label(int other);
namespace other { void Print(); }
void Print(std::string text);
bool IsDear(const long &cents);
int Who(int number);
int Old(struct Old_in *in, struct Old_out *out);
extern "C" int Lower(item wanted, long cents, item *out, long *lowered);
