#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>

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
  EXPECT_EQ(index.file_of_tensor.at("c"), "two.safetensors");
  EXPECT_EQ(index.total_size, 123u);
}

TEST(ShardIndex, TheTotalSizeMayBeAbsent) {
  EXPECT_EQ(parse_index(R"({"weight_map": {"a": "x"}})").total_size, 0u);
  EXPECT_EQ(parse_index(R"({"metadata": {}, "weight_map": {"a": "x"}})").total_size, 0u);
  EXPECT_EQ(
      parse_index(R"({"metadata": {"total_size": 1.5e9}, "weight_map": {"a": "x"}})").total_size,
      0u);
}

// What is left in the end is missing: a tensor is found in the file that the index names only.
TEST(ShardIndex, ATensorIsSettledByItsOwnFile) {
  ShardIndex index = parse_index(R"({"weight_map": {"a": "one", "b": "two"}})");
  StoredTensor tensor;
  for (const char* name : {"a", "b", "c"}) {
    tensor.name = name;
    index.settle(tensor, "one");
  }
  EXPECT_EQ(index.file_of_tensor.count("a"), 0u);
  EXPECT_EQ(index.file_of_tensor.at("b"), "two");
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

// The name of a generated tensor or of its file.
std::string numbered(const char* kind, std::size_t number) { return concat(kind, number); }

std::string index_of(std::size_t tensors) {
  std::string json;
  for (std::size_t i = 0; i < tensors; ++i) {
    json += concat(i == 0 ? R"({"weight_map":{")" : R"(,")", numbered("tensor", i), R"(":")",
                   numbered("file", i), R"(")");
  }
  return json + "}}";
}

// Parses an index of `tensors` tensors, each in its own file, and looks up each of them and as many unknown names; returns
// the processor time in seconds.
double seconds_of(std::size_t tensors) {
  const std::string json = index_of(tensors);
  const std::clock_t start = std::clock();
  const ShardIndex index = parse_index(json);
  EXPECT_EQ(index.files.size(), tensors);
  EXPECT_EQ(index.file_of_tensor.size(), tensors);
  StoredTensor tensor;
  for (std::size_t i = tensors; i-- != 0;) {  // not in the order of the index
    tensor.name = numbered("tensor", i);
    index.check(tensor, numbered("file", i));
    tensor.name += "?";
    index.check(tensor, "anywhere");
  }
  expect_error(ErrorCode::malformed_file, {kIndexFile, "is in file0, not in file1"}, [&] {
    tensor.name = "tensor1";
    index.check(tensor, "file0");
  });
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

// Linear searches would take 144 times as long.
TEST(ShardIndex, TwelveTimesTheTensorsTakeLittleMoreThanTwelveTimesAsLong) {
  seconds_of(10'000);
  EXPECT_LT(seconds_of(120'000), 60 * std::max(seconds_of(10'000), 0.001));
}

}  // namespace
}  // namespace clearformer::test
