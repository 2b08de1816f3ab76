// The table of the store.
#include "localStructs.h"
#include <map>
#include "table.h"

map<string, string> table;
int size, count, data;
atomic next, prev;
hash h;
span all = { 0, 0 };
array bytes[10];

unsigned hash::operator()(const string &s) const
{
  unsigned v = 0;
  for (string::const_iterator i = s.begin(); i != s.end(); i++) v = v * 31 + *i;
  return v;
}

bool is_same(const string &a, const string &b) { return h(a) == h(b); }

int distance(const char *a, const char *b)
{
  int d = 0;
  for (; *a && *b; a++, b++)
    if (*a != *b) d++;
  return d;
}

int rank(const string &key)
{
  int r = 0;
  for (map<string, string>::iterator i = table.begin(); i != table.end(); i++)
    if (i->first < key) r++;
  return r;
}

void move(const string &from, const string &to)
{
  table[to] = table[from];
  table.erase(from);
  size = table.size();
}

void put(const string &key, const string &value)
{
  shared_ptr<string> copy(new string(value));
  table[key] = copy->c_str();
  size = table.size();
  next.value++;
}

string get(const string &key) throw(out_of_range)
{
  if (table.find(key) == table.end()) throw out_of_range(key);
  prev.value++;
  return table[key];
}
