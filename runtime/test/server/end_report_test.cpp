#include "flux/server/end_report.hpp"

#include "../support/sample_program.hpp"

#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

namespace {

TEST(EndReport, GoesToAFile)
{
    const std::string file = testing::TempDir() + "flux_end_report_test.json";
    flux::options how;
    how.report = flux::report_kind::json;
    how.report_file = file;
    const flux::run_facts facts = {flux::path_counts(sample::program), {}, {}};
    flux::report_end(sample::program, facts, how);
    std::stringstream content;
    content << std::ifstream(file).rdbuf();
    EXPECT_EQ(content.str(), flux::json_report(sample::program, facts, "pool"));
    std::remove(file.c_str());

    how.report_file = "/nowhere/at/all";
    testing::internal::CaptureStderr();
    flux::report_end(sample::program, facts, how);
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "flux: the report cannot be written to /nowhere/at/all: No such file or directory\n");
}

} // namespace
