// validate: exit code 0 for good checkpoints; every fault of a bad one on a line of its own.
#include <gtest/gtest.h>

#include "tools/command.h"

namespace clearformer::test {
namespace {

bool has_line(const Result& result, const std::string& part) {
  const std::size_t place = result.out.find(part);
  if (place == std::string::npos) return false;
  return result.out.find('\n', place) != std::string::npos;
}

std::size_t lines_of(const Result& result) {
  return static_cast<std::size_t>(std::count(result.out.begin(), result.out.end(), '\n'));
}

TEST(Validate, TheBundledModelsAreValid) {
  for (const char* name : {"stories260K", "marian-tiny-en-fr", "vit-mnist", "gpt-nano-sort"}) {
    const Result result = run({"validate", bundled_model(name)});
    EXPECT_EQ(result.code, 0) << name << ": " << result.out << result.err;
    EXPECT_EQ(result.out.rfind("valid: ", 0), 0u) << result.out;
  }
}

TEST(Validate, NumbersThatAreNoneAreFoundInEveryFormat) {
  const TemporaryFolder folder(bundled_model("stories260K"));
  std::string bytes = read_bytes(folder.path("model.safetensors"));
  bytes.replace(bytes.size() - 8, 8, std::string("\x00\x00\xc0\x7f\x00\x00\x80\xff", 8));
  folder.write("model.safetensors", bytes);
  const Result result = run({"validate", folder.path()});
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(has_line(result, "has 2 values that are NaN or infinite")) << result.out;
  EXPECT_EQ(lines_of(result), 1u);

  const TemporaryFolder half(bundled_model("marian-tiny-en-fr"));
  bytes = read_bytes(half.path("model.safetensors"));
  bytes.replace(bytes.size() - 2, 2, std::string("\x00\xfc", 2));  // float16's -infinity
  half.write("model.safetensors", bytes);
  EXPECT_TRUE(has_line(run({"validate", half.path()}), "has 1 values that are NaN or infinite"));
}

TEST(Validate, EveryFileThatIsWrongHasItsLine) {
  const TemporaryFolder folder(bundled_model("stories260K"));
  folder.write("generation_config.json", R"({"temperature": -1})");
  folder.write("tokenizer.json", R"({"normalizer": {"type": "Reverse"},
                                     "model": {"type": "WordLevel", "vocab": {"a": 0}}})");
  folder.write("modules.json", R"([{"path": "", "type": "models.Dense"}])");
  const std::string weights = read_bytes(folder.path("model.safetensors"));
  folder.write("model.safetensors", weights.substr(0, weights.size() - 4));
  const Result result = run({"validate", folder.path()});
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(has_line(result, "model.safetensors: ")) << result.out;
  EXPECT_TRUE(has_line(result, "generation_config.json: \"temperature\" must be > 0"));
  EXPECT_TRUE(has_line(result, "tokenizer.json: normalizer Reverse is not known"));
  EXPECT_TRUE(has_line(result, "modules.json: a step of type \"models.Dense\""));
}

TEST(Validate, ATokenBeyondTheVocabularyIsTold) {
  const TemporaryFolder folder(bundled_model("stories260K"));
  folder.write("tokenizer.json", numbered_words(513));
  const Result result = run({"validate", folder.path()});
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(has_line(result, "token 512 (\"w512\") is beyond the model's vocabulary of 512"));
}

TEST(Validate, AnEmptyFolderHasTwoProblems) {
  const TemporaryFolder folder;
  const Result result = run({"validate", folder.path()});
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(has_line(result, "/model.safetensors"));
  EXPECT_TRUE(has_line(result, "/config.json"));
  EXPECT_EQ(lines_of(result), 2u);
}

}  // namespace
}  // namespace clearformer::test
