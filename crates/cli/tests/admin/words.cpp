// What is done with a word.

#include "words.flux.h"

#include "flux/log.hpp"
#include "flux/sleep.hpp"

#include <chrono>
#include <utility>

namespace {

int words = 0;

} // namespace

int Rest(std::string line, std::string &out)
{
    out = std::move(line);
    return flux::sleep_for(std::chrono::seconds(2));
}

int Check(std::string line, std::string &out)
{
    out = std::move(line);
    if (out == "wrong") {
        flux::log("what was said is \"%s\"", out.c_str());
        return 5;
    }
    return 0;
}

void Excuse(const std::string &line, int, std::string &out)
{
    out = "no: " + line;
}

void Count(std::string line, std::string &out)
{
    ++words;
    out = std::move(line);
}
