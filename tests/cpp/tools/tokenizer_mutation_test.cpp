// A tokenizer.json cannot crash the program: whatever is done to one, it is read or refused with an Error.
#include <gtest/gtest.h>

#include "support/mutation.h"
#include "tools/tokenizer/tokenizer.h"

namespace clearformer::test {
namespace {

constexpr const char* kFiles[] = {
    R"({"added_tokens": [{"id": 7, "content": "<s>", "special": true, "lstrip": true}],
        "normalizer": {"type": "Sequence", "normalizers": [
          {"type": "NFKC"}, {"type": "Prepend", "prepend": "▁"}, {"type": "Strip"},
          {"type": "Replace", "pattern": {"Regex": "a+|[0-9]{2,}"}, "content": "▁"}]},
        "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first"},
        "post_processor": {"type": "TemplateProcessing",
          "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
          "special_tokens": {"<s>": {"ids": [7]}}},
        "decoder": {"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
          {"type": "ByteFallback"}, {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
        "model": {"type": "BPE", "unk_token": "<s>", "fuse_unk": true, "byte_fallback": true,
          "vocab": {"▁": 0, "b": 1, "é": 2, "▁b": 3, "<0x20>": 4, "bé": 5}, "merges": [["▁", "b"], "b é"]}})",
    R"({"normalizer": {"type": "BertNormalizer", "lowercase": true},
        "pre_tokenizer": {"type": "BertPreTokenizer"}, "decoder": {"type": "WordPiece", "prefix": "##"},
        "post_processor": {"type": "BertProcessing", "cls": ["[CLS]", 0], "sep": ["[SEP]", 1]},
        "model": {"type": "WordPiece", "unk_token": "[CLS]", "continuing_subword_prefix": "##",
          "max_input_chars_per_word": 9, "vocab": {"[CLS]": 0, "[SEP]": 1, "b": 2, "##e": 3, "12": 4}}})",
    R"({"normalizer": {"type": "Precompiled", "precompiled_charsmap": "CAAAAAAEAAAhBAAAYgA="},
        "pre_tokenizer": {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithNext", "invert": false},
        "decoder": {"type": "Metaspace"},
        "model": {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0], ["b", -1.5], ["bé", -2.25], [" ", -3]]}})"};

constexpr const char* kTexts[] = {"", " bé <s> 12 aa", "b é\xf0\x9f\x98\x80 \xff\xfe",
                                  "<s><s> é b12"};

void use(const std::string& file) {
  const tools::Tokenizer tokenizer(
      Json::parse(file, "tokenizer.json", ErrorCode::malformed_config));
  for (const char* text : kTexts) {
    try {
      tokenizer.decode(tokenizer.encode(text).ids);
    } catch (const Error&) {  // this text has no tokens; the next one may
    }
  }
}

TEST(TokenizerMutation, FilesAreReadAsTheyAre) {
  for (const char* file : kFiles) EXPECT_NO_THROW(use(file)) << file;
}

TEST(TokenizerMutation, DamagedFilesAreReadOrRefused) {
  Random random(20);
  std::size_t refused = 0, read = 0;
  for (int round = 0; round < 3000; ++round) {
    const std::string file = mutated(kFiles[round % 3], random);
    try {
      use(file);
      ++read;
    } catch (const Error&) {
      ++refused;
    } catch (const std::exception& other) {
      ADD_FAILURE() << other.what() << " for " << file;
    }
  }
  EXPECT_GT(refused, 500u);
  EXPECT_GT(read, 100u);
}

}  // namespace
}  // namespace clearformer::test
