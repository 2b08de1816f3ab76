// What the program of parallel steps includes.
#pragma once

#include <string>
