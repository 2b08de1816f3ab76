// What the program includes: only the types that its signatures name.
#include <cstddef>
#include <string>
