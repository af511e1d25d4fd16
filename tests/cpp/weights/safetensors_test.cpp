// Every rule of the safetensors header: violations are rejected by name, valid files are read.
#include "clearformer/weights/safetensors.h"

#include <gtest/gtest.h>

#include "support/expect_error.h"
#include "support/safetensors_file.h"

namespace clearformer::test {
namespace {

using namespace std::string_view_literals;

SafetensorsHeader parse_header(std::string_view json, std::uint64_t data_bytes) {
  return SafetensorsHeader::parse(json, data_bytes, "model.safetensors");
}

struct Broken {
  const char* rule;
  std::string_view header;
  std::uint64_t data_bytes;
  std::vector<std::string> parts;  // the message's parts besides the file's name
};

const Broken kBroken[] = {
    {"no JSON object", "[]", 0, {"\"{\""}},
    {"a space before the object", " {}", 0, {"\"{\""}},
    {"a byte-order mark", "\xef\xbb\xbf{}", 0, {"\"{\""}},
    {"text behind the object", "{}x", 0, {"not valid JSON"}},
    {"zero bytes behind the object", "{}\0\0"sv, 0, {"not valid JSON"}},
    {"cut off", R"({"a": {"dtype": "F32", )", 0, {"not valid JSON"}},
    {"no UTF-8 in a name",
     "{\"\xff\": {\"dtype\": \"F32\", \"shape\": [0], \"data_offsets\": [0, 0]}}",
     0,
     {"not valid JSON", "encoding"}},
    {"no UTF-8 in the metadata", "{\"__metadata__\": {\"a\": \"\xc3\x28\"}}", 0, {"encoding"}},
    {"a name twice",
     R"({"a": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]},
         "a": {"dtype": "U8", "shape": [1], "data_offsets": [1, 2]}})",
     2,
     {"\"a\"", "twice"}},
    {"a key of an entry twice",
     R"({"a": {"dtype": "U8", "dtype": "U8", "shape": [1], "data_offsets": [0, 1]}})",
     1,
     {"\"dtype\"", "twice"}},
    {"an entry that is no object", R"({"w": [1]})", 0, {"\"w\"", "JSON object"}},
    {"an unknown key",
     R"({"w": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1], "extra": 1}})",
     1,
     {"\"w\"", "unknown key \"extra\""}},
    {"no dtype", R"({"w": {"shape": [1], "data_offsets": [0, 1]}})", 1, {"\"w\"", "no dtype"}},
    {"a dtype that is no string",
     R"({"w": {"dtype": 32, "shape": [1], "data_offsets": [0, 1]}})",
     1,
     {"\"w\"", "no dtype"}},
    {"no shape", R"({"w": {"dtype": "U8", "data_offsets": [0, 1]}})", 1, {"\"w\"", "no shape"}},
    {"a shape that is no list",
     R"({"w": {"dtype": "U8", "shape": 1, "data_offsets": [0, 1]}})",
     1,
     {"\"w\"", "no shape"}},
    {"a negative extent",
     R"({"w": {"dtype": "U8", "shape": [-1], "data_offsets": [0, 1]}})",
     1,
     {"\"w\"", "shape entries", "whole numbers"}},
    {"a fractional extent",
     R"({"w": {"dtype": "U8", "shape": [1.0], "data_offsets": [0, 1]}})",
     1,
     {"\"w\"", "shape entries"}},
    {"an extent that is text",
     R"({"w": {"dtype": "U8", "shape": ["1"], "data_offsets": [0, 1]}})",
     1,
     {"\"w\"", "shape entries"}},
    {"an extent past 64 bits",
     R"({"w": {"dtype": "U8", "shape": [18446744073709551616], "data_offsets": [0, 1]}})",
     1,
     {"\"w\"", "shape entries"}},
    {"no offsets", R"({"w": {"dtype": "U8", "shape": [1]}})", 1, {"\"w\"", "data_offsets"}},
    {"one offset",
     R"({"w": {"dtype": "U8", "shape": [1], "data_offsets": [0]}})",
     1,
     {"\"w\"", "[begin, end]"}},
    {"three offsets",
     R"({"w": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1, 1]}})",
     1,
     {"\"w\"", "[begin, end]"}},
    {"a negative offset",
     R"({"w": {"dtype": "U8", "shape": [1], "data_offsets": [-1, 0]}})",
     1,
     {"\"w\"", "data_offsets", "whole numbers"}},
    {"a fractional offset",
     R"({"w": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1.5]}})",
     1,
     {"\"w\"", "data_offsets"}},
    {"an offset with an exponent",
     R"({"w": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1e0]}})",
     1,
     {"\"w\"", "data_offsets"}},
    {"offsets that run backwards",
     R"({"w": {"dtype": "U8", "shape": [1], "data_offsets": [1, 0]}})",
     1,
     {"\"w\"", "[1, 0]", "backwards"}},
    {"offsets past the end",
     R"({"w": {"dtype": "U8", "shape": [2], "data_offsets": [0, 2]}})",
     1,
     {"\"w\"", "end at 2", "1 data bytes"}},
    {"a span that does not fit shape and dtype",
     R"({"w": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 23]}})",
     23,
     {"\"w\"", "F32", "[2, 3]", "24", "23"}},
    {"a span longer than shape and dtype",
     R"({"w": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 25]}})",
     25,
     {"\"w\"", "F32", "[2, 3]", "24", "25"}},
    {"elements that fill no whole bytes",
     R"({"w": {"dtype": "F4", "shape": [3], "data_offsets": [0, 1]}})",
     1,
     {"\"w\"", "whole bytes"}},
    {"a shape of 2^32 x 2^32",
     R"({"w": {"dtype": "F32", "shape": [4294967296, 4294967296], "data_offsets": [0, 0]}})",
     0,
     {"\"w\"", "[4294967296, 4294967296]", "overflows 64-bit"}},
    {"a shape whose bits overflow",
     R"({"w": {"dtype": "U8", "shape": [2305843009213693952], "data_offsets": [0, 0]}})",
     0,
     {"\"w\"", "overflows 64-bit"}},
    {"a shape that overflows before a zero",
     R"({"w": {"dtype": "F32", "shape": [4294967296, 4294967296, 0], "data_offsets": [0, 0]}})",
     0,
     {"\"w\"", "overflows 64-bit"}},
    {"overlapping tensors",
     R"({"a": {"dtype": "U8", "shape": [3], "data_offsets": [0, 3]},
         "b": {"dtype": "U8", "shape": [3], "data_offsets": [2, 5]}})",
     5,
     {"\"b\"", "starts at 2", "overlaps", "3"}},
    {"the same bytes twice",
     R"({"a": {"dtype": "U8", "shape": [3], "data_offsets": [0, 3]},
         "b": {"dtype": "U8", "shape": [3], "data_offsets": [0, 3]}})",
     3,
     {"overlaps"}},
    {"a hole between tensors",
     R"({"a": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]},
         "b": {"dtype": "U8", "shape": [1], "data_offsets": [2, 3]}})",
     3,
     {"\"b\"", "starts at 2", "hole behind 1"}},
    {"a hole before the first tensor",
     R"({"a": {"dtype": "U8", "shape": [1], "data_offsets": [1, 2]}})",
     2,
     {"\"a\"", "hole behind 0"}},
    {"bytes behind the last tensor",
     R"({"a": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]}})",
     2,
     {"end at byte 1 of 2"}},
    {"data without tensors", "{}", 4, {"end at byte 0 of 4"}},
    {"metadata that is no object",
     R"({"__metadata__": "pt"})",
     0,
     {"__metadata__", "strings to strings"}},
    {"metadata with a number",
     R"({"__metadata__": {"format": 1}})",
     0,
     {"__metadata__", "\"format\""}},
    {"metadata with an object",
     R"({"__metadata__": {"format": {}}})",
     0,
     {"__metadata__", "\"format\""}},
    {"metadata with a key twice",
     R"({"__metadata__": {"a": "1", "a": "2"}})",
     0,
     {"\"a\"", "twice"}},
};

TEST(SafetensorsHeader, EveryBrokenRuleIsRefusedByName) {
  for (const Broken& broken : kBroken) {
    SCOPED_TRACE(broken.rule);
    std::vector<std::string> parts = broken.parts;
    parts.push_back("model.safetensors");
    expect_error(ErrorCode::malformed_file, parts,
                 [&] { parse_header(broken.header, broken.data_bytes); });
    // The same through the reader of whole files.
    if (broken.header.size() < 2) continue;
    const std::string data(static_cast<std::size_t>(broken.data_bytes), '\0');
    expect_error(ErrorCode::malformed_file, parts,
                 [&] { read_safetensors(safetensors(broken.header, data)); });
  }
}

std::vector<std::string> faults_of(std::string_view json, std::uint64_t data_bytes) {
  std::vector<std::string> found;
  const auto run = [](void* context, void (*check)(void*), void* of) {
    auto& to = *static_cast<std::vector<std::string>*>(context);
    try {
      check(of);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::malformed_file);
      to.emplace_back(error.what());
    }
    return to.size() < 5;
  };
  SafetensorsHeader::parse(json, data_bytes, "model.safetensors", {&found, run});
  return found;
}

TEST(SafetensorsHeader, EveryBrokenEntryIsReported) {
  // The first fault is the one that is thrown without a list.
  for (const Broken& broken : kBroken) {
    SCOPED_TRACE(broken.rule);
    std::string thrown, first;
    try {
      parse_header(broken.header, broken.data_bytes);
    } catch (const Error& error) {
      thrown = error.what();
    }
    try {
      const auto told = faults_of(broken.header, broken.data_bytes);
      if (!told.empty()) first = told.front();
    } catch (const Error& error) {
      first = error.what();  // it cannot be read as JSON
    }
    EXPECT_EQ(first, thrown);
  }
  const auto entries = faults_of(R"({"__metadata__": {"a": 1},
      "b": [], "c": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]},
      "d": {"dtype": "I16", "shape": [1], "data_offsets": [1, 2]},
      "e": {"dtype": "U8", "shape": [3], "data_offsets": [1, 2]}})",
                                 2);
  ASSERT_EQ(entries.size(), 4u);
  const char* parts[] = {"\"a\" is not a string", "\"b\": its entry",
                         "\"d\": I16 of shape [1] takes 2 bytes",
                         "\"e\": U8 of shape [3] takes 3 bytes"};
  for (std::size_t i = 0; i < entries.size(); ++i) {
    EXPECT_NE(entries[i].find(parts[i]), std::string::npos) << entries[i];
  }
}

TEST(SafetensorsHeader, EveryMisplacedTensorIsReported) {
  const auto told = faults_of(R"({"a": {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]},
      "b": {"dtype": "U8", "shape": [2], "data_offsets": [1, 3]},
      "c": {"dtype": "U8", "shape": [1], "data_offsets": [4, 5]},
      "d": {"dtype": "U8", "shape": [1], "data_offsets": [7, 8]}})",
                              9);
  ASSERT_EQ(told.size(), 3u);
  EXPECT_NE(told[0].find("\"b\": starts at 1 and overlaps"), std::string::npos) << told[0];
  EXPECT_NE(told[1].find("\"d\": starts at 7, a hole behind 5"), std::string::npos) << told[1];
  EXPECT_NE(told[2].find("end at byte 8 of 9"), std::string::npos) << told[2];
}

TEST(SafetensorsHeader, NoMoreFaultsAreReportedThanWanted) {
  std::string json = "{";
  for (int i = 0; i < 1000; ++i) json += concat(i == 0 ? "" : ", ", "\"w", i, "\": []");
  const auto told = faults_of(json + "}", 0);
  ASSERT_EQ(told.size(), 5u);
  EXPECT_NE(told.back().find("\"w4\""), std::string::npos) << told.back();
}

TEST(SafetensorsHeader, AcceptsEveryDtypeOfTheFormat) {
  const std::pair<const char*, unsigned> dtypes[] = {
      {"BOOL", 8},    {"U8", 8},   {"I8", 8},      {"F8_E5M2", 8}, {"F8_E4M3", 8},
      {"F8_E8M0", 8}, {"F4", 4},   {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"I16", 16},
      {"U16", 16},    {"F16", 16}, {"BF16", 16},   {"I32", 32},    {"U32", 32},
      {"F32", 32},    {"C64", 64}, {"F64", 64},    {"I64", 64},    {"U64", 64}};
  for (const auto& [dtype, bits] : dtypes) {
    const unsigned bytes = 8 * bits / 8;
    const auto header =
        parse_header(concat(R"({"w": {"dtype": ")", dtype,
                            R"(", "shape": [2, 4], "data_offsets": [0, )", bytes, "]}}"),
                     bytes);
    ASSERT_EQ(header.tensors.size(), 1u) << dtype;
    EXPECT_EQ(header.tensors[0].dtype, dtype);
    EXPECT_EQ(header.tensors[0].end, bytes);
  }
}

TEST(SafetensorsHeader, AnUnknownDtypeHasAnyNumberOfBytes) {
  const auto header =
      parse_header(R"({"w": {"dtype": "I4", "shape": [5], "data_offsets": [0, 3]}})", 3);
  EXPECT_EQ(header.tensors[0].dtype, "I4");
  EXPECT_FALSE(SafetensorsHeader::bits_of("I4"));
  expect_error(ErrorCode::malformed_file, {"\"w\"", "end at 3"}, [] {
    parse_header(R"({"w": {"dtype": "I4", "shape": [5], "data_offsets": [0, 3]}})", 2);
  });
}

TEST(SafetensorsHeader, OrdersTensorsByTheirData) {
  const auto header = parse_header(R"({"c": {"dtype": "U8", "shape": [2], "data_offsets": [3, 5]},
      "a": {"shape": [1, 3], "data_offsets": [0, 3], "dtype": "U8"},
      "__metadata__": {"format": "pt", "note": ""},
      "b": {"dtype": "F32", "shape": [0, 7], "data_offsets": [3, 3]}}   )",
                                   5);
  ASSERT_EQ(header.tensors.size(), 3u);
  EXPECT_EQ(header.tensors[0].name, "a");
  EXPECT_EQ(header.tensors[1].name, "b");
  EXPECT_EQ(header.tensors[2].name, "c");
  EXPECT_EQ(header.tensors[0].shape, (std::vector<std::uint64_t>{1, 3}));
  EXPECT_EQ(header.tensors[2].begin, 3u);
  ASSERT_EQ(header.metadata.size(), 2u);
  EXPECT_EQ(header.metadata[0], (std::pair<std::string, std::string>("format", "pt")));
}

// As in the safetensors library, where the metadata are optional.
TEST(SafetensorsHeader, MetadataMayBeNull) {
  EXPECT_TRUE(parse_header(R"({"__metadata__": null})", 0).metadata.empty());
}

TEST(SafetensorsHeader, ScalarsAndEmptyFilesAreFine) {
  EXPECT_TRUE(parse_header("{}", 0).tensors.empty());
  EXPECT_TRUE(parse_header("{}      ", 0).tensors.empty());
  const auto header =
      parse_header(R"({"s": {"dtype": "F64", "shape": [], "data_offsets": [0, 8]}})", 8);
  EXPECT_TRUE(header.tensors[0].shape.empty());
  EXPECT_EQ(header.tensors[0].native_shape(), Shape());
}

TEST(SafetensorsHeader, LengthIsCheckedAgainstTheFileAndTheLimit) {
  const auto check = [](std::uint64_t length, std::uint64_t file_bytes) {
    const std::string prefix = length_prefix(length);
    return SafetensorsHeader::header_bytes(reinterpret_cast<const unsigned char*>(prefix.data()),
                                           file_bytes, "model.safetensors");
  };
  EXPECT_EQ(check(2, 10), 2u);
  EXPECT_EQ(check(100'000'000, 200'000'000), 100'000'000u);
  const std::string file = "model.safetensors";
  expect_error(ErrorCode::malformed_file, {file, "100000001", "at most 100000000"},
               [&] { check(100'000'001, 300'000'000); });
  expect_error(ErrorCode::malformed_file, {file, "the header claims"},
               [&] { check(~std::uint64_t{0}, 10); });
  expect_error(ErrorCode::malformed_file, {file, "claims 3 bytes", "holds 2"},
               [&] { check(3, 10); });
  expect_error(ErrorCode::malformed_file, {file, "too few"}, [&] { check(1, 10); });
  expect_error(ErrorCode::malformed_file, {file, "too few"}, [&] { check(0, 8); });
  const std::string pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n";
  expect_error(ErrorCode::malformed_file, {file, "Git LFS"}, [&] {
    SafetensorsHeader::header_bytes(reinterpret_cast<const unsigned char*>(pointer.data()),
                                    pointer.size(), file);
  });
}

TEST(SafetensorsHeader, FilesOfTextAreNamedByTheirBeginning) {
  const auto expect_start = [](std::string text, std::string_view start) {
    const auto* prefix = reinterpret_cast<const unsigned char*>(text.data());
    expect_error(
        ErrorCode::malformed_file,
        {"model.safetensors: this is no safetensors file", concat("\"", start, "\"")},
        [&] { SafetensorsHeader::header_bytes(prefix, text.size(), "model.safetensors"); });
  };
  expect_start("<!DOCTYPE html><html></html>", "<!DOCTYP");
  expect_start("Entry not found", "Entry no");
  expect_start(R"({"error":"Repository not found"})", R"({"error")");
  expect_start(std::string("GGUF\3\0\0\0", 8), "GGUF");
  expect_start("%PDF-1.7\n", "%PDF-1.7");
}

TEST(StoredTensor, RefusesShapesThisLibraryCannotHold) {
  StoredTensor tensor{"w", "U8", {1, 1, 1, 1, 1, 1, 1, 1, 1}, 0, 1};
  expect_error(ErrorCode::unsupported, {"\"w\"", "more than 8 dimensions"},
               [&] { tensor.native_shape(); });
  tensor.shape.pop_back();
  EXPECT_EQ(tensor.native_shape(), (Shape{1, 1, 1, 1, 1, 1, 1, 1}));
  tensor.shape = {~std::uint64_t{0}, 2};
  expect_error(ErrorCode::out_of_memory, {}, [&] { tensor.native_shape().elements(); });
}

}  // namespace
}  // namespace clearformer::test
