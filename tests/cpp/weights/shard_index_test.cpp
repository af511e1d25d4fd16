#include <gtest/gtest.h>

#include "clearformer/weights/safetensors.h"
#include "support/expect_error.h"

namespace clearformer::test {
namespace {

const std::string kIndexFile = "model.safetensors.index.json";

ShardIndex parse_index(std::string_view json) { return ShardIndex::parse(json, kIndexFile); }

TEST(ShardIndex, ListsEachFileOnceInOrderOfFirstMention) {
  const ShardIndex index = parse_index(R"({"metadata": {"total_size": 123, "more": []},
      "weight_map": {"a": "two.safetensors", "b": "one.safetensors", "c": "two.safetensors"}})");
  EXPECT_EQ(index.files, (std::vector<std::string>{"two.safetensors", "one.safetensors"}));
  ASSERT_EQ(index.file_of_tensor.size(), 3u);
  EXPECT_EQ(index.file_of_tensor[2], (std::pair<std::string, std::string>("c", "two.safetensors")));
  EXPECT_EQ(index.total_size, 123u);
}

TEST(ShardIndex, TheTotalSizeMayBeAbsent) {
  EXPECT_EQ(parse_index(R"({"weight_map": {"a": "x"}})").total_size, 0u);
  EXPECT_EQ(parse_index(R"({"metadata": {}, "weight_map": {"a": "x"}})").total_size, 0u);
  EXPECT_EQ(
      parse_index(R"({"metadata": {"total_size": 1.5e9}, "weight_map": {"a": "x"}})").total_size,
      0u);
}

TEST(ShardIndex, EveryBrokenRuleIsRefusedByName) {
  const std::pair<const char*, std::vector<std::string>> broken[] = {
      {"", {"not valid JSON"}},
      {"[]", {"weight_map"}},
      {"{}", {"weight_map"}},
      {R"({"weight_map": []})", {"weight_map", "must map tensors to files"}},
      {R"({"weight_map": {}})", {"names no file"}},
      {R"({"weight_map": {"a": 1}})", {"\"a\"", "names no file"}},
      {R"({"weight_map": {"a": ""}})", {"not a plain file name"}},
      {R"({"weight_map": {"a": "../x.safetensors"}})", {"\"../x.safetensors\"", "plain file name"}},
      {R"({"weight_map": {"a": "/etc/passwd"}})", {"plain file name"}},
      {R"({"weight_map": {"a": "..\\x"}})", {"plain file name"}},
      {R"({"weight_map": {"a": ".."}})", {"\"..\"", "plain file name"}},
      {R"({"weight_map": {"a": "x\u0000y"}})", {"plain file name"}},
      {R"({"weight_map": {"a": "x", "a": "y"}})", {"\"a\"", "twice"}},
  };
  for (const auto& [json, parts] : broken) {
    SCOPED_TRACE(json);
    std::vector<std::string> all = parts;
    all.push_back(kIndexFile);
    expect_error(ErrorCode::malformed_file, all, [&, text = json] { parse_index(text); });
  }
}

}  // namespace
}  // namespace clearformer::test
