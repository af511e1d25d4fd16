// embed: texts to the reference's sentence embeddings, and their cosines.
#include <gtest/gtest.h>

#include "support/closeness.h"
#include "support/fixture.h"
#include "tools/command.h"

namespace clearformer::test {
namespace {

const std::string kGroup = "models/sentence_transformers";

std::vector<double> numbers_in(const Json& list) {
  std::vector<double> numbers;
  for (const Json& number : list.array()) numbers.push_back(number.number());
  return numbers;
}

TEST(Embed, EmbeddingsEqualTheReference) {
  const Fixture fixture(kGroup);
  for (const Case* reference : fixture.of_op("sentence_embedding")) {
    SCOPED_TRACE(reference->name());
    const TemporaryFolder folder(
        fixture_path(kGroup + "/" + reference->option("checkpoint").string()));
    folder.write("tokenizer.json", numbered_words(200));
    const Tensor ids = reference->int32_input("input_ids");
    const Tensor mask = reference->uint8_input("attention_mask");
    std::vector<std::string> words{"embed", folder.path()};
    for (std::size_t row = 0; row < ids.dim(0); ++row) {
      const auto* first = ids.view().as<std::int32_t>() + row * ids.dim(1);
      const auto* flags = mask.view().as<std::uint8_t>() + row * ids.dim(1);
      const auto length = std::count(flags, flags + ids.dim(1), std::uint8_t{1});
      words.insert(words.end(), {"--text", numbered_text(first, first + length)});
    }
    const Result result = run(words);
    ASSERT_EQ(result.code, 0) << result.err;
    const Tensor& expected = reference->output("sentence_embedding");
    std::vector<double> made;
    const Json json = result.json();
    for (const Json& row : at(json, "embeddings").array()) {
      for (const double value : numbers_in(row)) made.push_back(value);
    }
    const std::vector<float> flat(expected.f32(), expected.f32() + expected.elements());
    expect_close("embedding", made, flat, kModelBound);
  }
}

TEST(Embed, SimilarityIsTheMatrixOfCosines) {
  const TemporaryFolder folder(fixture_path(kGroup + "/cls"));
  folder.write("tokenizer.json", numbered_words(60));
  const Result result = run({"embed", folder.path(), "--text", "w5 w6", "--text", "w7 w8", "--text",
                             "w5 w6", "--similarity"});
  ASSERT_EQ(result.code, 0) << result.err;
  const Json json = result.json();
  const auto& rows = at(json, "similarity").array();
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_NEAR(rows[0].array()[0].number(), 1.0, 1e-12);
  EXPECT_EQ(rows[0].array()[2].number(), rows[0].array()[0].number());
  EXPECT_EQ(rows[0].array()[1].number(), rows[1].array()[0].number());
  EXPECT_LT(rows[0].array()[1].number(), 0.999);
}

TEST(Embed, ALongTextIsCutAndThatIsSaid) {
  const TemporaryFolder folder(fixture_path(kGroup + "/cls"));
  folder.write("tokenizer.json", numbered_words(60));
  std::string text;
  for (int i = 0; i < 30; ++i) text += "w9 ";
  const Result result = run({"embed", folder.path(), "--text", text});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.err.find("cut to 24 tokens"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace clearformer::test
