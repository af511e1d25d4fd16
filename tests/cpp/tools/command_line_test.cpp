// The command line itself: help, version, exit codes.
#include <gtest/gtest.h>

#include "tools/command.h"

namespace clearformer::test {
namespace {

TEST(CommandLine, HelpNamesEveryCommand) {
  const Result result = run({"--help"});
  EXPECT_EQ(result.code, 0);
  for (const char* name : {"inspect", "validate", "generate", "embed", "classify"}) {
    EXPECT_NE(result.out.find(name), std::string::npos) << name;
  }
}

TEST(CommandLine, TheVersionIsThePackages) {
  const Result result = run({"--version"});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.out, std::string(CLEARFORMER_VERSION) + "\n");
}

TEST(CommandLine, ArgumentsThatAreNotUnderstoodExitWithTwo) {
  EXPECT_EQ(run({}).code, 2);
  EXPECT_EQ(run({"explain"}).code, 2);
  EXPECT_EQ(run({"inspect"}).code, 2);
  EXPECT_EQ(run({"inspect", bundled_model("stories260K"), "--yaml"}).code, 2);
}

}  // namespace
}  // namespace clearformer::test
