// The tokenizer against the tokenizers library: the bundled model's, and trained ones of every kind on lines
// in many scripts.
#include "tools/tokenizer/tokenizer.h"

#include <gtest/gtest.h>

#include <sstream>

#include "support/expect_error.h"
#include "support/files.h"
#include "support/fixture.h"

namespace clearformer::test {
namespace {

using tools::Ids;
using tools::SpecialTokens;
using tools::Tokenizer;

Json parsed(const std::string& text) {
  return Json::parse(text, "tokenizer.json", ErrorCode::malformed_config);
}

Ids ids_in(const Json& list) {
  Ids ids;
  for (const Json& id : list.array()) ids.push_back(static_cast<std::int32_t>(*id.integer()));
  return ids;
}

class Stories : public ::testing::Test {
 protected:
  Fixture fixture{"tokenizer"};
  Tokenizer tokenizer = tools::read_tokenizer(bundled_model("stories260K"));
};

TEST_F(Stories, IdsAndTextEqualTheReference) {
  const auto cases = fixture.of_op("tokenize");
  ASSERT_GT(cases.size(), 200u);
  for (const Case* reference : cases) {
    const std::string text = reference->member("text").string();
    SCOPED_TRACE(text);
    const Ids expected = ids_in(reference->member("ids"));
    EXPECT_EQ(tokenizer.encode(text).ids, expected);
    EXPECT_EQ(tokenizer.decode(expected, SpecialTokens::keep),
              reference->member("decoded").string());
    EXPECT_EQ(tokenizer.decode(expected),
              reference->member("decoded_skip_special_tokens").string());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(tokenizer.token(expected[i]), reference->member("tokens").array()[i].string());
    }
  }
}

TEST_F(Stories, BytesThatAreNoTextDecodeAsTheReference) {
  const auto cases = fixture.of_op("decode");
  ASSERT_FALSE(cases.empty());
  for (const Case* reference : cases) {
    const Ids ids = ids_in(reference->member("ids"));
    EXPECT_EQ(tokenizer.decode(ids, SpecialTokens::keep), reference->member("decoded").string());
    EXPECT_EQ(tokenizer.decode(ids), reference->member("decoded_skip_special_tokens").string());
  }
}

TEST_F(Stories, TruncationKeepsTheSpecialTokens) {
  bool cut = false;
  const Ids whole = tokenizer.encode("Once upon a time").ids;
  EXPECT_EQ(tokenizer.encode("Once upon a time", whole.size(), &cut).ids, whole);
  EXPECT_FALSE(cut);
  EXPECT_EQ(tokenizer.encode("Once upon a time", 3, &cut).ids, (Ids{whole[0], whole[1], whole[2]}));
  EXPECT_TRUE(cut);
}

// A file of the sample with the members that a case changes.
Json changed(Json file, const Case& reference) {
  const Json& options = reference.member("vocabulary");
  EXPECT_TRUE(options.is_string());
  Json::Object members = file.object();
  const Json& changes = reference.member("changes");
  for (const auto& [key, value] : changes.object()) {
    std::erase_if(members, [&](const auto& member) { return member.first == key; });
    members.emplace_back(key, value);
  }
  return Json(Json::Value(std::move(members)));
}

Json file_of(const Case& reference, bool has_changes) {
  const std::string name = reference.member("vocabulary").string();
  const std::string own = fixture_path("tokenizer_sample/" + name + ".json");
  const std::string path = file_exists(own) ? own : bundled_model(name) + "/tokenizer.json";
  Json file = parsed(read_bytes(path));
  return has_changes ? changed(std::move(file), reference) : std::move(file);
}

std::vector<std::string> sample_lines() {
  std::istringstream file(read_bytes(fixture_path("tokenizer_sample/sample.jsonl")));
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(parsed(line).string());
  return lines;
}

bool has_changes(const Case& reference) {
  try {
    return reference.member("changes").is_object();
  } catch (const std::exception&) {
    return false;
  }
}

TEST(TokenizerSample, EveryKindOfStepEqualsTheReference) {
  const std::vector<std::string> lines = sample_lines();
  const Fixture fixture("tokenizer_sample");
  const auto cases = fixture.of_op("tokenize_sample");
  ASSERT_GT(cases.size(), 20u);
  for (const Case* reference : cases) {
    SCOPED_TRACE(reference->name());
    const Tokenizer tokenizer(file_of(*reference, has_changes(*reference)));
    const auto every = static_cast<std::size_t>(*reference->member("every").integer());
    std::size_t compared = 0;
    for (const Json& line : reference->member("lines").array()) {
      const std::size_t place = static_cast<std::size_t>(*line.find("line")->integer()) * every;
      EXPECT_EQ(tokenizer.encode(lines.at(place)).ids, ids_in(*line.find("ids"))) << lines[place];
      ++compared;
    }
    EXPECT_GT(compared, 5u);
  }
}

// What a step is refused as: its kind and its name.
void expect_refused(const std::string& member, const std::vector<std::string>& parts) {
  const std::string model = R"("model": {"type": "WordLevel", "vocab": {"a": 0}})";
  SCOPED_TRACE(member);
  expect_error(ErrorCode::unsupported, parts,
               [&] { Tokenizer tokenizer(parsed("{" + member + ", " + model + "}")); });
}

TEST(Tokenizer, WhatItDoesNotKnowIsRefusedByName) {
  expect_refused(R"("normalizer": {"type": "Reverse"})", {"normalizer", "Reverse"});
  expect_refused(R"("pre_tokenizer": {"type": "UnicodeScripts"})",
                 {"pre-tokenizer", "UnicodeScripts"});
  expect_refused(R"("post_processor": {"type": "Other"})", {"post-processor", "Other"});
  expect_refused(R"("decoder": {"type": "Other"})", {"decoder", "Other"});
  expect_refused(R"("pre_tokenizer": {"type": "Split", "behavior": "Removed", "invert": false,
                     "pattern": {"Regex": "\\h+"}})",
                 {"\\h"});
  expect_error(ErrorCode::unsupported, {"model", "Lattice"}, [] {
    Tokenizer tokenizer(parsed(R"({"model": {"type": "Lattice", "vocab": {}}})"));
  });
  expect_error(ErrorCode::unsupported, {"dropout"}, [] {
    Tokenizer tokenizer(
        parsed(R"({"model": {"type": "BPE", "dropout": 0.1, "vocab": {"a": 0}, "merges": []}})"));
  });
}

TEST(Tokenizer, BrokenFilesAreRefusedNamingTheRule) {
  expect_error(ErrorCode::malformed_config, {"\"model\" is missing"},
               [] { Tokenizer tokenizer(parsed("{}")); });
  expect_error(ErrorCode::malformed_config, {"merges", "a b"}, [] {
    Tokenizer tokenizer(
        parsed(R"({"model": {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": ["a b"]}})"));
  });
  expect_error(ErrorCode::malformed_config, {"precompiled_charsmap"}, [] {
    Tokenizer tokenizer(
        parsed(R"({"normalizer": {"type": "Precompiled", "precompiled_charsmap": "AAAA"},
                   "model": {"type": "WordLevel", "vocab": {"a": 0}}})"));
  });
  expect_error(ErrorCode::invalid_argument, {"no token stands for \"b\""}, [] {
    Tokenizer(parsed(R"({"model": {"type": "WordLevel", "vocab": {"a": 0}}})")).encode("b");
  });
}

TEST(Tokenizer, WordEndsAndContinuationsAreSpelledByBytePairs) {
  const Tokenizer ends(parsed(
      R"({"pre_tokenizer": {"type": "WhitespaceSplit"}, "decoder": {"type": "BPEDecoder"},
          "model": {"type": "BPE", "end_of_word_suffix": "</w>", "merges": ["a b</w>"],
                    "vocab": {"a": 0, "b</w>": 1, "ab</w>": 2, "a</w>": 3}}})"));
  EXPECT_EQ(ends.encode("ab a").ids, (Ids{2, 3}));
  EXPECT_EQ(ends.decode({2, 3}), "ab a");
  const Tokenizer continuations(parsed(
      R"({"model": {"type": "BPE", "continuing_subword_prefix": "##", "merges": ["a ##b"],
                    "vocab": {"a": 0, "##b": 1, "ab": 2, "##a": 3}}})"));
  EXPECT_EQ(continuations.encode("aba").ids, (Ids{2, 3}));
}

}  // namespace
}  // namespace clearformer::test
