/// \file
/// What most tests include: compiled once, before the first of them.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <string>
#include <thread>
#include <vector>
