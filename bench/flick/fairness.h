// The flows of fairness.flux: what the generated header needs of the standard library.
#pragma once

#include <cstdint>
#include <string>
#include <vector>
