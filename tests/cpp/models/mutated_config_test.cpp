// For any config.json of any architecture: a typed Error, or a model that runs or rejects
// its input. Values are replaced by hostile ones, key by key, and texts are damaged at random.
#include <gtest/gtest.h>

#include <filesystem>

#include "clearformer/loading/load_model.h"
#include "clearformer/loading/matrix_policy.h"
#include "clearformer/tensor/typed_memory.h"
#include "clearformer/weights/json.h"
#include "support/architectures.h"
#include "support/mutation.h"
#include "support/safetensors_file.h"

namespace clearformer::test {
namespace {

class MutatedConfigOf : public ::testing::TestWithParam<const char*> {
 protected:
  std::string group = std::string("models/") + GetParam();
  Fixture fixture{group};
  const Case& reference = *fixture.of_op("model_forward").front();
  std::string folder = fixture_path(group + "/" + reference.option("checkpoint").string());
  std::string config = read_bytes(folder + "/config.json");
  Task task = task_named(reference.option("task").string());
  CaseInputs given{reference};  // of the group's first forward pass
  // Read once: under WebAssembly that takes as long as the rest.
  std::vector<std::string> files = safetensors_in(folder);

  static std::vector<std::string> safetensors_in(const std::string& folder) {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() == ".safetensors")
        found.push_back(read_bytes(entry.path().string()));
    }
    return found;
  }

  Weights weights_of(MatrixPlan plan) const {
    CheckpointReader reader(std::move(plan));
    for (const std::string& file : files) feed(reader, "model.safetensors", file);
    return reader.finish();
  }

  // Whether it became a model; an error has a message.
  bool survives(const std::string& text, MatrixFormat format = MatrixFormat::f32) {
    try {
      return typed_memory([&] {
        const auto of = [format](const MatrixRequest&) { return format; };
        load_model(weights_of(plan_matrices(text, task, of)), text, task)->forward(given.inputs);
        return true;
      });
    } catch (const Error& error) {
      EXPECT_STRNE(error.what(), "");
      return false;
    }
  }
};

TEST_P(MutatedConfigOf, HostileValuesOfEachKey) {
  ASSERT_TRUE(survives(config));
  const Json json = Json::parse(config, "config.json", ErrorCode::malformed_config);
  for (const auto& [key, value] : json.object()) {
    bool quantised = false;
    for (const char* hostile : {"0", "1", "-1", "7", "2147483647", "1e300", "0.5", "\"x\"", "[]",
                                "{}", "null", "true", "[[1, 2]]"}) {
      SCOPED_TRACE(key + ": " + hostile);
      const std::size_t at = config.find("\"" + key + "\":");
      ASSERT_NE(at, std::string::npos);
      // A duplicate key would be rejected: the original is renamed.
      std::string text = config;
      text.replace(at, key.size() + 2, "\"was_" + key + "\"");
      text = "{\"" + key + "\": " + hostile + ", " + text.substr(text.find('{') + 1);
      // Quantised matrices reject no more: compared for one value of each key.
      if (survives(text) && !quantised) {
        quantised = true;
        EXPECT_TRUE(survives(text, MatrixFormat::q8));
      }
    }
  }
}

TEST_P(MutatedConfigOf, TextsDamagedAtRandom) {
  Random random(2);
  std::size_t models = 0;
  for (int round = 0; round < 100; ++round) {
    const std::string text = mutated(config, random);
    if (!survives(text)) continue;
    if (models++ % 8 == 0) {
      EXPECT_TRUE(survives(text, MatrixFormat::q8));
    }
  }
  EXPECT_LT(models, 100u);
}

INSTANTIATE_TEST_SUITE_P(Sound, MutatedConfigOf, ::testing::ValuesIn(kSoundArchitectures),
                         [](const auto& name) { return std::string(name.param); });
INSTANTIATE_TEST_SUITE_P(All, MutatedConfigOf, ::testing::ValuesIn(kArchitectures),
                         [](const auto& name) { return std::string(name.param); });

}  // namespace
}  // namespace clearformer::test
