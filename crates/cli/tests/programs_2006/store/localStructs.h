// What the nodes of the store share.
#ifndef LS_H
#define LS_H
#include <string>
#include <vector>
#include <stdexcept>
#include <iostream.h>
#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>
using namespace std;
typedef char byte;
enum function { GET, PUT, SIZE, RANK };
// a linked list, and not the std one
struct list {
  string data;
  list *next, *prev;
  list(string s) : data(s), next(NULL), prev(NULL) {}
};
struct array { byte *bytes; int size; };
struct any { array a; };
class thread { public: int id; };
struct atomic { int value; };
struct optional { bool set; any value; };
struct span { int begin, end; };
struct hash { unsigned operator()(const string &s) const; };
class tuple {};
template <class T> class shared_ptr {
  T *p;
  int *n;
 public:
  shared_ptr(T *q) : p(q), n(new int(1)) {}
  shared_ptr(const shared_ptr &o) : p(o.p), n(o.n) { ++*n; }
  ~shared_ptr() { if (--*n == 0) { delete p; delete n; } }
  T *operator->() { return p; }
};
class missing : public exception {
 public:
  ~missing() throw() {}
  const char *what() const throw() { return "missing"; }
};
extern int rank(const string &);
extern int distance(const char *a, const char *b);
extern bool is_same(const string &a, const string &b);
#endif
