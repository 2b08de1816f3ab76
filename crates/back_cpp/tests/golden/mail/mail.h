// What the program includes: only the types that its signatures name.
#include <string>
#include <vector>
