#include "flux/server/options.hpp"

#include <gtest/gtest.h>
#include <map>
#include <vector>

namespace {

using namespace std::chrono_literals;

std::map<std::string, std::string> variables;

char *variable(const char *name)
{
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.data();
}

/// What came of a command line.
struct outcome {
    flux::options options;
    std::string problem;
    std::vector<std::string> rest;
};

outcome read(std::vector<std::string> arguments)
{
    std::vector<char *> pointers{const_cast<char *>("server")};
    for (std::string &argument : arguments) {
        pointers.push_back(argument.data());
    }
    pointers.push_back(nullptr);
    int argc = static_cast<int>(arguments.size()) + 1;
    outcome read;
    read.problem = flux::read_options(read.options, argc, pointers.data(), variable);
    if (read.problem.empty()) {
        EXPECT_EQ(pointers[static_cast<std::size_t>(argc)], nullptr);
        read.rest.assign(pointers.begin() + 1, pointers.begin() + argc);
    }
    return read;
}

class Options : public testing::Test
{
  protected:
    void SetUp() override { variables.clear(); }
};

TEST_F(Options, HaveDefaults)
{
    const outcome got = read({});
    EXPECT_EQ(got.problem, "");
    EXPECT_EQ(got.options.strategy, flux::strategy_kind::pool);
    EXPECT_EQ(got.options.drain, 30s);
    EXPECT_EQ(got.options.deadline, 0s);
    EXPECT_EQ(got.options.report, flux::report_kind::none);
    EXPECT_EQ(got.options.run, flux::run_kind::serve);
}

TEST_F(Options, ChooseHowEventLoopsWait)
{
    EXPECT_EQ(read({}).options.io, flux::io_kind::reactor);
    EXPECT_EQ(read({"--flux-io=proactor", "--flux-runtime=event"}).options.io, flux::io_kind::proactor);
    variables["FLUX_IO"] = "proactor";
    EXPECT_EQ(read({"--flux-runtime=event"}).options.io, flux::io_kind::proactor);
    EXPECT_EQ(read({"--flux-io=reactor", "--flux-runtime=event"}).options.io, flux::io_kind::reactor);
    const outcome simulated = read({"--flux-io=simulation:17"});
    EXPECT_EQ(simulated.options.io, flux::io_kind::simulation);
    EXPECT_EQ(simulated.options.seed, 17u);
    for (const char *const wrong : {"--flux-io=simulation:", "--flux-io=simulation:1x", "--flux-io=simulation"}) {
        EXPECT_NE(read({wrong}).problem, "") << wrong;
    }
}

TEST_F(Options, RefuseToChooseHowLoopsWaitWhereThereAreNone)
{
    const std::string problem =
        "--flux-io says how event loops wait, and this server has none: say --flux-runtime=event with it";
    EXPECT_EQ(read({"--flux-io=proactor"}).problem, problem);
    EXPECT_EQ(read({"--flux-runtime=thread", "--flux-io=reactor"}).problem, problem);
    EXPECT_EQ(read({"--flux-io=simulation:1"}).problem, "") << "a simulation has a loop of its own";
    variables = {{"FLUX_IO", "proactor"}};
    EXPECT_EQ(read({}).problem, problem);
}

TEST_F(Options, AreTakenOutOfTheArgumentsInBothForms)
{
    const outcome got = read({"--port", "80", "--flux-runtime", "thread", "page", "--flux-workers=3", "--flux-queue",
                              "7", "--flux-max-flows=9", "--flux-drain", "0.25", "--verbose",
                              "--flux-deadline=2.5"});
    EXPECT_EQ(got.problem, "");
    EXPECT_EQ(got.rest, (std::vector<std::string>{"--port", "80", "page", "--verbose"}));
    EXPECT_EQ(got.options.strategy, flux::strategy_kind::thread);
    EXPECT_EQ(got.options.workers, 3u);
    EXPECT_EQ(got.options.queue, 7u);
    EXPECT_EQ(got.options.max_flows, 9u);
    EXPECT_EQ(got.options.drain, 250ms);
    EXPECT_EQ(got.options.deadline, 2500ms);
}

TEST_F(Options, EndAtTwoDashes)
{
    const outcome got = read({"a", "--", "--flux-runtime", "nonsense"});
    EXPECT_EQ(got.problem, "");
    EXPECT_EQ(got.rest, (std::vector<std::string>{"a", "--", "--flux-runtime", "nonsense"}));
}

TEST_F(Options, ComeFromTheEnvironmentAndFlagsWin)
{
    variables = {{"FLUX_RUNTIME", "thread"}, {"FLUX_MAX_FLOWS", "5"}, {"FLUX_REPORT", "json"}, {"FLUX_QUEUE", ""}};
    const outcome got = read({"--flux-runtime=pool"});
    EXPECT_EQ(got.problem, "");
    EXPECT_EQ(got.options.strategy, flux::strategy_kind::pool);
    EXPECT_EQ(got.options.max_flows, 5u);
    EXPECT_EQ(got.options.report, flux::report_kind::json);
    variables = {{"FLUX_WORKERS", "many"}};
    EXPECT_EQ(read({}).problem, "FLUX_WORKERS is to be a number from 1 to 10000, not `many`");
}

TEST_F(Options, ChooseTheReport)
{
    EXPECT_EQ(read({"--flux-report"}).options.report, flux::report_kind::text);
    EXPECT_EQ(read({"--flux-report=text"}).options.report, flux::report_kind::text);
    EXPECT_EQ(read({"--flux-report=json"}).options.report, flux::report_kind::json);
    const outcome to_file = read({"--flux-report=json:a:b.json", "file"});
    EXPECT_EQ(to_file.options.report, flux::report_kind::json);
    EXPECT_EQ(to_file.options.report_file, "a:b.json");
    EXPECT_EQ(to_file.rest, (std::vector<std::string>{"file"}));
    EXPECT_EQ(read({"--flux-report=xml"}).problem,
              "--flux-report is to be text, json, text:FILE or json:FILE, not `xml`");
    EXPECT_NE(read({"--flux-report=json:"}).problem, "");
}

TEST_F(Options, ChooseWhichFlowsAreTraced)
{
    EXPECT_TRUE(read({}).options.names_keys);
    EXPECT_FALSE(read({"--flux-keys=off"}).options.names_keys);
    EXPECT_TRUE(read({"--flux-keys", "on"}).options.names_keys);
    EXPECT_EQ(read({"--flux-keys=no"}).problem, "--flux-keys is to be on or off, not `no`");
    EXPECT_EQ(read({}).options.times_one_in, 251u);
    EXPECT_EQ(read({"--flux-times-one-in=1"}).options.times_one_in, 1u);
    EXPECT_EQ(read({"--flux-times-one-in=0"}).problem,
              "--flux-times-one-in is to be a number from 1 to 1000000, not `0`");
    EXPECT_EQ(read({}).options.trace_one_in, 0u);
    EXPECT_EQ(read({"--flux-speed-up=Work=25%"}).options.speed_up, "Work=25%");
    EXPECT_NE(read({"--flux-speed-up=Work", "--flux-io=simulation:1"}).problem, "");
    EXPECT_EQ(read({"--flux-trace"}).options.trace_one_in, 1u);
    EXPECT_EQ(read({"--flux-trace=100"}).options.trace_one_in, 100u);
    EXPECT_NE(read({"--flux-trace=0"}).problem, "");
    EXPECT_NE(read({"--flux-trace=some"}).problem, "");
}

TEST_F(Options, SayWhatIsWrong)
{
    EXPECT_EQ(read({"--flux-io=epoll"}).problem,
              "--flux-io is to be reactor, proactor or simulation:SEED, not `epoll`");
    EXPECT_EQ(read({"--flux-runtime=fiber"}).problem, "--flux-runtime is to be thread, pool or event, not `fiber`");
    EXPECT_EQ(read({}).options.blocking, flux::most_blocking);
    EXPECT_EQ(read({"--flux-blocking=3"}).options.blocking, 3u);
    EXPECT_EQ(read({"--flux-blocking=0"}).problem, "--flux-blocking is to be a number from 1 to 10000, not `0`");
    EXPECT_EQ(read({"--flux-queue"}).problem, "--flux-queue needs a value: N");
    EXPECT_EQ(read({"--flux-queue=0"}).problem, "--flux-queue is to be a number from 1 to 1000000, not `0`");
    EXPECT_EQ(read({"--flux-queue=1x"}).problem, "--flux-queue is to be a number from 1 to 1000000, not `1x`");
    EXPECT_EQ(read({"--flux-queue=99999999999999999999"}).problem.substr(0, 12), "--flux-queue");
    EXPECT_EQ(read({"--flux-drain=-1"}).problem,
              "--flux-drain is to be a duration, as 500ms, 2s, 5m or 30, which is seconds, up to 52560000m, not `-1`");
    EXPECT_NE(read({"--flux-drain=9007199254740991"}).problem, "") << "no moment is so late";
    EXPECT_NE(read({"--flux-drain=nan"}).problem, "");
    EXPECT_EQ(read({"--flux-help=yes"}).problem, "--flux-help takes no value");
}

TEST_F(Options, NameThePathThatAServerIsTakenOverThrough)
{
    EXPECT_EQ(read({}).options.takeover, "");
    EXPECT_EQ(read({"--flux-takeover=/run/a"}).options.takeover, "/run/a");
    EXPECT_EQ(read({"--flux-takeover="}).problem, "--flux-takeover is to be a path of 1 to 107 bytes, not ``");
    EXPECT_NE(read({"--flux-takeover", std::string(108, 'a')}).problem, "");
}

TEST_F(Options, GuessWhatWasMeant)
{
    EXPECT_EQ(read({"--flux-worker=3"}).problem,
              "there is no option --flux-worker; did you mean --flux-workers? (--flux-help lists them)");
    EXPECT_EQ(read({"--flux-maxflows", "3"}).problem,
              "there is no option --flux-maxflows; did you mean --flux-max-flows? (--flux-help lists them)");
    EXPECT_EQ(read({"--flux-colour"}).problem, "there is no option --flux-colour (--flux-help lists them)");
    EXPECT_EQ(read({"--flux-"}).problem, "there is no option --flux- (--flux-help lists them)");
}

TEST_F(Options, AreDurationsWithUnits)
{
    EXPECT_EQ(read({"--flux-drain=500ms"}).options.drain, 500ms);
    EXPECT_EQ(read({"--flux-drain", "2s"}).options.drain, 2s);
    variables = {{"FLUX_DEADLINE", "5m"}};
    EXPECT_EQ(read({}).options.deadline, 5min);
}

TEST_F(Options, ShowHelp)
{
    EXPECT_EQ(read({"--help"}).options.run, flux::run_kind::show_help);
    EXPECT_EQ(read({"--flux-help"}).options.run, flux::run_kind::show_help);
    EXPECT_EQ(read({"--flux-version"}).options.run, flux::run_kind::show_version);
    const outcome own = read({"--", "--help"});
    EXPECT_EQ(own.options.run, flux::run_kind::serve);
    EXPECT_EQ(own.rest, (std::vector<std::string>{"--", "--help"}));
}

TEST_F(Options, AreAllInTheHelp)
{
    const std::string help = flux::help_text("image", "");
    for (const char *name : {"runtime", "workers", "max-flows", "queue", "blocking", "deadline", "drain",
                             "takeover", "report", "help", "version"}) {
        EXPECT_NE(help.find(std::string("--flux-") + name), std::string::npos) << name;
    }
    EXPECT_EQ(help.find("image, a server built with Flux"), 0u);
}

TEST_F(Options, TheHelpOfAServerOnLoopsAloneOffersNoOtherRuntime)
{
    const std::string help = flux::help_text("proxy", "", true);
    EXPECT_NE(help.find("--flux-runtime event "), std::string::npos) << help;
    EXPECT_EQ(help.find("pool of threads"), std::string::npos) << help;
}

TEST_F(Options, TheAdminInterfaceIsOfThisMachineAloneWhereOnlyAPortIsSaid)
{
    EXPECT_FALSE(read({}).options.admin.has_value());
    EXPECT_EQ(read({"--flux-admin=9100"}).options.admin->text(), "127.0.0.1:9100");
    EXPECT_EQ(read({"--flux-admin=:9100"}).options.admin->text(), "127.0.0.1:9100");
    EXPECT_EQ(read({"--flux-admin", "0.0.0.0:9100"}).options.admin->text(), "0.0.0.0:9100");
    EXPECT_EQ(read({"--flux-admin", "unix:/run/x"}).options.admin->text(), "unix:/run/x");
    EXPECT_EQ(read({"--flux-admin=localhost:9100"}).problem,
              "--flux-admin is to be a port of this machine alone, an address as 192.0.2.1:9100, or unix:PATH, not "
              "`localhost:9100`");
    EXPECT_EQ(read({"--flux-admin=70000"}).options.admin.has_value(), false);
    EXPECT_EQ(read({"--flux-admin=9100", "--flux-io=simulation:1"}).problem,
              "a simulated server has no admin interface: leave out --flux-admin");
}

} // namespace
