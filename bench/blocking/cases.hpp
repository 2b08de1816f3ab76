/// \file
/// The cases of cases.flux, by their names: what each gives. They run several times at once.
#pragma once

#include <functional>
#include <map>
#include <string>

using case_map = std::map<std::string, std::function<std::string()>>;

/// Locks, and what else threads wait for of each other.
case_map lock_cases();

/// Files, processes, names, and what is thrown.
case_map system_cases();
