// inspect: right about every checkpoint of the fixtures, and about what is missing or not supported.
#include <gtest/gtest.h>

#include <sstream>

#include "clearformer/loading/load_model.h"
#include "clearformer/models/model.h"
#include "support/safetensors_file.h"
#include "tools/command.h"
#include "tools/commands.h"

namespace clearformer::test {
namespace {

Json inspected(const std::string& folder) {
  std::ostringstream out;
  EXPECT_EQ(tools::inspect({folder, tools::Format::json}, out), 0);
  return Json::parse(out.str(), "output", ErrorCode::malformed_file);
}

std::string all(const Json& list) {
  std::string text;
  for (const Json& entry : list.array()) text += entry.string() + "\n";
  return text;
}

TEST(Inspect, TellsWhatTheBundledModelIs) {
  const Result result = run({"inspect", bundled_model("stories260K"), "--json"});
  EXPECT_EQ(result.code, 0);
  const Json json = result.json();
  EXPECT_EQ(at(json, "model_type").string(), "llama");
  EXPECT_EQ(at(json, "kind").string(), "decoder-only");
  EXPECT_EQ(at(json, "saved_for").string(), "causal-lm");
  EXPECT_EQ(at(json, "parameters").integer(), 260032);
  EXPECT_EQ(at(at(json, "bytes"), "F32").integer(), 4 * 260032);
  EXPECT_EQ(at(json, "tensors").array().size(), 47u);
  EXPECT_EQ(at(at(json, "model"), "n_key_value_heads").integer(), 4);
  EXPECT_EQ(all(at(json, "problems")) + all(at(json, "unexpected")), "");
  EXPECT_EQ(at(json, "hooks").array().size(),
            from_pretrained(bundled_model("stories260K"))->hooks().size());
}

TEST(Inspect, TheTableNamesEveryTensor) {
  const Result result = run({"inspect", bundled_model("stories260K")});
  EXPECT_EQ(result.code, 0);
  for (const char* part : {"llama", "260032", "model.embed_tokens.weight", "[512, 64]", "F32"}) {
    EXPECT_NE(result.out.find(part), std::string::npos) << part;
  }
}

TEST(Inspect, FindsNothingMissingInAnyCheckpointOfTheFixtures) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(fixture_path("models"))) {
    if (entry.path().filename() != "config.json") continue;
    const std::filesystem::path folder = entry.path().parent_path();
    const bool has_weights = file_exists(folder / "model.safetensors") ||
                             file_exists(folder / "model.safetensors.index.json");
    if (!has_weights) continue;
    SCOPED_TRACE(folder.string());
    const Json json = inspected(folder);
    EXPECT_EQ(all(at(json, "problems")), "");
    EXPECT_FALSE(at(json, "hooks").array().empty());
    ++count;
  }
  EXPECT_GT(count, 40u);
}

TEST(Inspect, AnArchitectureThatIsNotSupportedStillHasItsTensorsListed) {
  const TemporaryFolder folder(bundled_model("stories260K"));
  folder.write("config.json", R"({"model_type": "mamba", "architectures": ["MambaForCausalLM"]})");
  const Json json = inspected(folder.path());
  EXPECT_FALSE(at(json, "supported").boolean());
  EXPECT_EQ(at(json, "model_type").string(), "mamba");
  EXPECT_EQ(at(json, "tensors").array().size(), 47u);
  EXPECT_NE(all(at(json, "problems")).find("\"mamba\"; supported:"), std::string::npos);
}

TEST(Inspect, MissingAndMisshapenTensorsAreToldOneByOne) {
  const TemporaryFolder folder(bundled_model("stories260K"));
  folder.write(
      "model.safetensors",
      safetensors(R"({"model.norm.weight": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]},
                               "other": {"dtype": "F64", "shape": [], "data_offsets": [4, 12]}})",
                  std::string(12, '\0')));
  const Json json = inspected(folder.path());
  const std::string problems = all(at(json, "problems"));
  EXPECT_NE(problems.find("\"model.norm.weight\" has shape [1], expected [64]\n"),
            std::string::npos);
  EXPECT_NE(problems.find("\"model.embed_tokens.weight\" of shape [512, 64] is missing\n"),
            std::string::npos);
  EXPECT_NE(problems.find("\"other\": dtype F64 is not supported"), std::string::npos);
}

TEST(Inspect, AShardThatIsNotThereIsAProblem) {
  const TemporaryFolder folder(bundled_model("stories260K"));
  folder.write(
      "model.safetensors.index.json",
      R"({"weight_map": {"model.norm.weight": "model.safetensors", "x": "b.safetensors"}})");
  const std::string problems = all(at(inspected(folder.path()), "problems"));
  EXPECT_NE(problems.find("b.safetensors"), std::string::npos);
  EXPECT_NE(problems.find("lacks tensor \"model.embed_tokens.weight\""), std::string::npos);
}

TEST(Inspect, AFolderThatIsNoneIsRefused) {
  const Result result = run({"inspect", "/there/is/none"});
  EXPECT_EQ(result.code, 1);
  EXPECT_NE(result.err.find("/there/is/none is no folder"), std::string::npos);
}

}  // namespace
}  // namespace clearformer::test
