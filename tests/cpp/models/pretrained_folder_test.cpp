#include "clearformer/loading/pretrained_folder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "clearformer/loading/inspection.h"
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

// As transformers does: its save_pretrained leaves an old index in the folder.
TEST(PretrainedFolder, ModelSafetensorsComesBeforeAnIndex) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "with_index";
  for (const char* index : {R"({"weight_map": {"a": "deleted.safetensors"}})", "no JSON"}) {
    std::filesystem::remove_all(folder);
    std::filesystem::copy(fixture_path("llama_tiny/odd"), folder);
    std::ofstream(folder / "model.safetensors.index.json") << index;
    EXPECT_TRUE(PretrainedFolder::read(folder.string()).weights.contains("lm_head.weight"));
    const Inspection found = inspect(InspectedFolder::read(folder.string()));
    EXPECT_TRUE(found.problems.empty());
    EXPECT_EQ(found.readable, std::vector<std::string>{"model.safetensors"});
  }
}

TEST(PretrainedFolder, WeightsInOtherFormatsAreRefusedWithTheWayOut) {
  const std::pair<const char*, const char*> formats[] = {
      {"pytorch_model.bin", "save_pretrained"},
      {"pytorch_model.bin.index.json", "save_pretrained"},
      {"onnx/model.onnx", "load the checkpoint that it was made from"},
      {"model.onnx", "load the checkpoint that it was made from"}};
  for (const auto& [name, remedy] : formats) {
    const std::filesystem::path folder =
        std::filesystem::path(::testing::TempDir()) / "other_formats";
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories((folder / name).parent_path());
    std::ofstream(folder / "config.json") << "{}";
    std::ofstream(folder / name) << "weights";
    expect_error(ErrorCode::unsupported, {name, "only safetensors", remedy},
                 [&] { PretrainedFolder::read(folder.string()); });
    const Problems problems = InspectedFolder::read(folder.string()).problems;
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_EQ(problems.front().code, ErrorCode::unsupported);
    EXPECT_NE(problems.front().text.find(remedy), std::string::npos) << problems.front().text;
  }
}

TEST(PretrainedFolder, AFolderThatIsNotThereIsNamed) {
  expect_error(ErrorCode::invalid_argument, {"no/such/folder", "config.json"},
               [] { PretrainedFolder::read("no/such/folder"); });
}

// It is not the root of the file system.
TEST(PretrainedFolder, AnEmptyNameIsRefused) {
  expect_error(ErrorCode::invalid_argument, {"config.json", "folder's name is empty"},
               [] { PretrainedFolder::read(""); });
  const Problems problems = InspectedFolder::read("").problems;
  ASSERT_EQ(problems.size(), 2u);
  for (const Problem& problem : problems) {
    EXPECT_NE(problem.text.find("folder's name is empty"), std::string::npos) << problem.text;
  }
}

TEST(PretrainedFolder, ADirectoryInPlaceOfAFileIsNamed) {
  for (const char* name : {"config.json", "generation_config.json", "model.safetensors"}) {
    const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "directory";
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder / name);
    if (!std::filesystem::exists(folder / "config.json")) {
      std::ofstream(folder / "config.json") << "{}";
    }
    expect_error(ErrorCode::invalid_argument, {name, "is a directory, not a file"},
                 [&] { PretrainedFolder::read(folder.string()); });
    const InspectedFolder inspected = InspectedFolder::read(folder.string());
    const auto is_named = [](const Problem& problem) {
      return problem.text.find("is a directory") != std::string::npos;
    };
    EXPECT_EQ(std::any_of(inspected.problems.begin(), inspected.problems.end(), is_named),
              name != std::string("generation_config.json"));
  }
}

}  // namespace
}  // namespace clearformer::test
