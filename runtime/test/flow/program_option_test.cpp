#include "flux/flow/program_option.hpp"

#include "flux/process/edit_distance.hpp"

#include <cstdlib>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <vector>

namespace {

flux::option_number port = 8080;
flux::option_number idle = 30'000;
flux::option_number limit = 512;
const char *root = "public";
const char *greeting = "hello";
bool verbose = false;

constexpr flux::option_info options[] = {
    flux::make_option<int, unsigned short>("port", flux::option_kind::integer, "8080", "Where it listens", port),
    flux::make_option<long>("idle-time", flux::option_kind::duration, "30s", "", idle),
    flux::make_option<unsigned>("limit", flux::option_kind::size, "512",
                                "How many bytes a request may have at most: the server reads no further", limit),
    flux::make_option("root", flux::option_kind::path, "public", "", root),
    flux::make_option("greeting", flux::option_kind::text, "hello", "", greeting),
    flux::make_option("verbose", flux::option_kind::truth, "false", "", verbose),
};

std::map<std::string, std::string> variables;

char *variable(const char *name)
{
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.data();
}

std::vector<std::string> given;
std::vector<std::string> rest;

// Gives what is said of a command line; its texts are in `given`, and what is left of it goes to `rest`.
std::string read(std::vector<std::string> arguments, bool takes_arguments = false,
                 std::span<const flux::option_info> known = options)
{
    given = std::move(arguments);
    std::vector<char *> pointers{const_cast<char *>("server")};
    for (std::string &argument : given) {
        pointers.push_back(argument.data());
    }
    pointers.push_back(nullptr);
    int argc = static_cast<int>(given.size()) + 1;
    const std::string problem =
        flux::read_program_options(known, "echo", argc, pointers.data(), variable, takes_arguments);
    if (problem.empty()) {
        EXPECT_EQ(pointers[static_cast<std::size_t>(argc)], nullptr);
        rest.assign(pointers.begin() + 1, pointers.begin() + argc);
    }
    return problem;
}

class ProgramOption : public testing::Test
{
  protected:
    void SetUp() override
    {
        variables.clear();
        verbose = false;
    }
};

TEST_F(ProgramOption, HasItsDefault)
{
    EXPECT_EQ(read({}), "");
    EXPECT_EQ(port, 8080);
    EXPECT_EQ(idle, 30'000);
    EXPECT_STREQ(root, "public");
}

TEST_F(ProgramOption, IsAFlagInBothForms)
{
    EXPECT_EQ(read({"--port", "9090", "--idle-time=2m", "--limit", "64k", "--root=/srv", "--greeting=", "--verbose"}),
              "");
    EXPECT_EQ(port, 9090);
    EXPECT_EQ(idle, 120'000);
    EXPECT_EQ(limit, 65'536);
    EXPECT_STREQ(root, "/srv");
    EXPECT_STREQ(greeting, "");
    EXPECT_TRUE(verbose);
    EXPECT_EQ(read({"--verbose=false"}), "");
    EXPECT_FALSE(verbose);
}

TEST_F(ProgramOption, ComesFromTheEnvironmentAndFlagsWin)
{
    variables = {{"ECHO_PORT", "81"}, {"ECHO_IDLE_TIME", "500ms"}, {"ECHO_ROOT", ""}};
    EXPECT_EQ(read({"--port=82"}), "");
    EXPECT_EQ(port, 82);
    EXPECT_EQ(idle, 500);
    variables = {{"ECHO_PORT", "many"}};
    EXPECT_EQ(read({}), "ECHO_PORT is to be a whole number from 0 to 65535, not `many`");
}

TEST_F(ProgramOption, IsHeldToItsKindAndToTheTypesItBecomes)
{
    for (const flux::option_number bound : {0, 65535}) {
        EXPECT_EQ(read({"--port=" + std::to_string(bound)}), "");
        EXPECT_EQ(port, bound);
    }
    EXPECT_EQ(read({"--port=65536"}), "--port is to be a whole number from 0 to 65535, not `65536`");
    EXPECT_EQ(read({"--port=-1"}), "--port is to be a whole number from 0 to 65535, not `-1`");
    EXPECT_EQ(read({"--port=8k"}), "--port is to be a whole number from 0 to 65535, not `8k`");
    EXPECT_EQ(read({"--port=99999999999999999999"}).substr(0, 9), "--port is");
    EXPECT_EQ(read({"--idle-time=-1s"}),
              "--idle-time is to be a duration, as 500ms, 2s, 5m or 30, which is seconds, up to 52560000m, not `-1s`");
    EXPECT_EQ(read({"--idle-time=30"}), "");
    EXPECT_EQ(idle, 30'000);
    EXPECT_EQ(read({"--limit=4G"}),
              "--limit is to be a size, as 512, 64k, 2M or 1G, from 0 to 4294967295 bytes, not `4G`");
    EXPECT_EQ(read({"--limit=9223372036854775807G"}).substr(0, 10), "--limit is");
    EXPECT_EQ(read({"--verbose=yes"}), "--verbose is to be true or false, not `yes`");
    EXPECT_EQ(read({"--root="}), "--root is to be a path, not ``");
    EXPECT_EQ(read({"--root"}), "--root needs a value: a path");
}

TEST_F(ProgramOption, IsGuessedWhereItIsMisspelt)
{
    EXPECT_EQ(read({"--prot", "80"}), "there is no option --prot; did you mean --port? (--help lists them)");
    EXPECT_EQ(read({"-port=80"}), "there is no option -port; did you mean --port? (--help lists them)");
    EXPECT_EQ(read({"--colour"}), "there is no option --colour (--help lists them)");
    EXPECT_EQ(read({"---"}), "there is no option --- (--help lists them)");
}

TEST_F(ProgramOption, LeavesOtherArgumentsToAProgramThatTakesThem)
{
    EXPECT_EQ(read({"page", "--port=1", "-", "--", "--port=x"}, true), "");
    EXPECT_EQ(rest, (std::vector<std::string>{"page", "-", "--", "--port=x"}));
    EXPECT_EQ(read({"page"}), "echo has no use for `page` (--help lists the options)");
}

TEST_F(ProgramOption, MustBeGivenWhereItHasNoDefault)
{
    flux::option_number number = 0;
    const flux::option_info required[] = {
        flux::make_option<int>("idle-time", flux::option_kind::duration, nullptr, "", number)};
    const std::string range = "a duration, as 500ms, 2s, 5m or 30, which is seconds, from 0 to 2147483647 ms";
    EXPECT_EQ(read({}, false, required), "--idle-time must be given, or ECHO_IDLE_TIME in the environment: " + range);
    EXPECT_EQ(read({"--idle-time=1s"}, false, required), "");
    EXPECT_EQ(number, 1000);
}

TEST_F(ProgramOption, HasADefaultOfItsTypes)
{
    flux::option_number number = 300;
    const flux::option_info narrow[] = {
        flux::make_option<unsigned char>("level", flux::option_kind::integer, "300", "", number)};
    EXPECT_EQ(read({}, false, narrow), "the default of --level is to be a whole number from 0 to 255, not `300`");
}

struct level {
    static constexpr std::int64_t least = 1;
    static constexpr std::int64_t most = 9;
};

TEST_F(ProgramOption, IsHeldToWhatAClassTakes)
{
    flux::option_number number = 5;
    const flux::option_info narrow[] = {
        flux::make_option<level, int>("level", flux::option_kind::integer, "5", "", number)};
    EXPECT_EQ(read({"--level=10"}, false, narrow), "--level is to be a whole number from 1 to 9, not `10`");
    EXPECT_EQ(read({"--level=9"}, false, narrow), "");
}

TEST_F(ProgramOption, DoesNothingWhereThereIsNone)
{
    EXPECT_EQ(read({"--anything", "else"}, false, {}), "");
    EXPECT_EQ(rest, (std::vector<std::string>{"--anything", "else"}));
    EXPECT_EQ(flux::program_help({}, "echo"), "");
}

TEST_F(ProgramOption, IsInTheHelpWithWhatItIsForItsDefaultAndItsVariable)
{
    const std::string help = flux::program_help(options, "image-server");
    for (const char *line : {
             "  --port INT                        Where it listens (8080, IMAGE_SERVER_PORT)\n",
             "  --idle-time DURATION              (30s, IMAGE_SERVER_IDLE_TIME)\n",
             "  --limit SIZE                      How many bytes a request may have at most: the server reads no\n"
             "                                    further (512, IMAGE_SERVER_LIMIT)\n",
             "  --verbose[=BOOL]                  (false, IMAGE_SERVER_VERBOSE)\n",
         }) {
        EXPECT_NE(help.find(line), std::string::npos) << line << help;
    }
}

TEST(EditDistance, CountsLetters)
{
    EXPECT_EQ(flux::edit_distance("port", "port"), 0u);
    EXPECT_EQ(flux::edit_distance("prot", "port"), 2u);
    EXPECT_EQ(flux::edit_distance("", "port"), 4u);
}

} // namespace
