// Replays the fuzzers (tests/fuzz) in every build and with every compiler: seeds, earlier findings, and some simple
// mutations of both. Run this with the sanitizers as well.
#include <gtest/gtest.h>

#include <filesystem>

#include "fuzz/targets.h"
#include "support/files.h"
#include "support/mutation.h"

namespace clearformer::test {
namespace {

using fuzz::Target;

// Inputs of earlier findings.
std::vector<std::string> findings(const Target& target) {
  std::vector<std::string> all;
  const std::string folder = fixture_path("../fuzz/findings/" + std::string(target.name));
  if (!std::filesystem::exists(folder)) return all;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    all.push_back(read_bytes(entry.path().string()));
  }
  return all;
}

std::string printable(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char c : bytes.substr(0, 4000)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      text += c;
    } else {
      text += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return text;
}

void expect_promises(const Target& target, const std::string& bytes) {
  try {
    target.run(bytes);
  } catch (const std::exception& thrown) {
    ADD_FAILURE() << target.name << ": " << thrown.what() << "\n" << printable(bytes);
  }
}

class Fuzz : public ::testing::TestWithParam<Target> {};

TEST_P(Fuzz, PromisesHoldForSeedsFindingsAndMutations) {
  const Target& target = GetParam();
  std::vector<std::string> inputs = target.seeds();
  ASSERT_FALSE(inputs.empty());
  for (std::string& finding : findings(target)) inputs.push_back(std::move(finding));
  for (const std::string& input : inputs) expect_promises(target, input);
  Random random(1);
  for (std::size_t round = 0; round < target.rounds && !HasFailure(); ++round) {
    expect_promises(target, mutated(inputs[random.below(inputs.size())], random));
  }
}

TEST_P(Fuzz, HasADictionary) { EXPECT_GE(fuzz::dictionary(GetParam()).size(), 10u); }

INSTANTIATE_TEST_SUITE_P(Targets, Fuzz, ::testing::ValuesIn(fuzz::kTargets),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace clearformer::test
