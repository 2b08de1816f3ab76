// What the program of named values includes.
#pragma once

#include <memory>
#include <string>
