// What the table of the store can do.
extern int size, count;
void put(const string &key, const string &value);
string get(const string &key) throw(out_of_range);
void move(const string &from, const string &to);
