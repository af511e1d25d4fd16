#include "clearformer/loading/pretrained_folder.h"

#include <gtest/gtest.h>

#include "support/expect_error.h"
#include "support/files.h"

namespace clearformer::test {
namespace {

TEST(PretrainedFolder, ReadsConfigGenerationConfigAndWeights) {
  const std::string folder = fixture_path("llama_tiny/odd");
  const PretrainedFolder checkpoint = PretrainedFolder::read(folder);
  EXPECT_EQ(checkpoint.config, read_bytes(folder + "/config.json"));
  EXPECT_EQ(checkpoint.generation_config, read_bytes(folder + "/generation_config.json"));
  EXPECT_TRUE(checkpoint.weights.contains("model.embed_tokens.weight"));
}

TEST(PretrainedFolder, ReadsEveryShardThatTheIndexNames) {
  const PretrainedFolder checkpoint = PretrainedFolder::read(fixture_path("llama_tiny/sharded"));
  EXPECT_EQ(checkpoint.weights.names().size(), 3u * 9 + 3);
}

TEST(PretrainedFolder, AFolderThatIsNotThereIsNamed) {
  expect_error(ErrorCode::invalid_argument, {"no/such/folder", "config.json"},
               [] { PretrainedFolder::read("no/such/folder"); });
}

}  // namespace
}  // namespace clearformer::test
