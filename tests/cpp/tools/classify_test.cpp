// classify: a text's and an image's labels with the reference's probabilities.
#include <gtest/gtest.h>

#include <cmath>

#include "clearformer/weights/safetensors.h"
#include "support/fixture.h"
#include "tools/command.h"

namespace clearformer::test {
namespace {

// The largest of a row of logits and its softmax.
std::pair<std::size_t, double> best_of(const float* logits, std::size_t count) {
  const float* best = std::max_element(logits, logits + count);
  double sum = 0.0;
  for (std::size_t i = 0; i < count; ++i) sum += std::exp(static_cast<double>(logits[i]) - *best);
  return {static_cast<std::size_t>(best - logits), 1.0 / sum};
}

TEST(Classify, ATextsLabelAndProbabilityAreTheReferences) {
  const Fixture fixture("models/bert");
  const Case& reference = fixture.at("odd_sequence_classification_plain");
  const TemporaryFolder folder(fixture_path("models/bert/odd_sequence_classification"));
  folder.write("tokenizer.json", numbered_words(97));
  const Tensor ids = reference.int32_input("input_ids");
  const Tensor& logits = reference.output("logits");
  for (std::size_t row = 0; row < ids.dim(0); ++row) {
    const auto* first = ids.view().as<std::int32_t>() + row * ids.dim(1);
    const Result result = run(
        {"classify", folder.path(), "--json", "--text", numbered_text(first, first + ids.dim(1))});
    ASSERT_EQ(result.code, 0) << result.err;
    const auto [label, probability] = best_of(logits.f32() + row * logits.dim(1), logits.dim(1));
    const Json json = result.json();
    EXPECT_EQ(json.array().size(), 3u);
    EXPECT_EQ(at(json.array()[0], "label").string(), concat("LABEL_", label));
    EXPECT_NEAR(at(json.array()[0], "score").number(), probability, 1e-5);
  }
}

// The bytes of the images in digits.safetensors, 28 x 28 each.
std::string digit_images() {
  const std::string path = fixture_path("real_models/digits.safetensors");
  const std::string bytes = read_bytes(path);
  const std::size_t prefix = SafetensorsHeader::kPrefixBytes;
  const auto header = static_cast<std::size_t>(SafetensorsHeader::header_bytes(
      reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), path));
  const SafetensorsHeader parsed = SafetensorsHeader::parse(
      std::string_view(bytes).substr(prefix, header), bytes.size() - prefix - header, path);
  for (const StoredTensor& tensor : parsed.tensors) {
    if (tensor.name != "images") continue;
    return bytes.substr(prefix + header + static_cast<std::size_t>(tensor.begin),
                        static_cast<std::size_t>(tensor.end - tensor.begin));
  }
  throw std::runtime_error("no images");
}

TEST(Classify, DigitsAreReadFromFilesOfBothKinds) {
  const Fixture fixture("real_models");
  const Tensor& logits = fixture.at("digits").output("logits");  // (20, 10)
  const std::string images = digit_images();
  const std::size_t area = 28 * 28;
  const TemporaryFolder folder;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string pixels = images.substr(i * area, area);
    folder.write("digit.pgm", "P5\n# a comment\n28 28\n255\n" + pixels);
    folder.write("digit.raw", pixels);
    const std::string model = bundled_model("vit-mnist");
    const Result pgm =
        run({"classify", model, "--image", folder.path("digit.pgm"), "--json", "--top-k", "2"});
    ASSERT_EQ(pgm.code, 0) << pgm.err;
    const auto [label, probability] = best_of(logits.f32() + i * 10, 10);
    const Json json = pgm.json();
    EXPECT_EQ(json.array().size(), 2u);
    EXPECT_EQ(at(json.array()[0], "label").string(), std::to_string(label));
    EXPECT_NEAR(at(json.array()[0], "score").number(), probability, 1e-5);
    const Result raw = run({"classify", model, "--image", folder.path("digit.raw"), "--width", "28",
                            "--height", "28", "--channels", "1", "--json", "--top-k", "2"});
    EXPECT_EQ(raw.out, pgm.out);
  }
}

TEST(Classify, FilesThatAreNoImagesAreRefused) {
  const std::string model = bundled_model("vit-mnist");
  const TemporaryFolder folder;
  folder.write("short.pgm", "P5 28 28 255\n" + std::string(4, 'a'));
  folder.write("text.pgm", "P2 1 1 255\n7");
  const Result cut = run({"classify", model, "--image", folder.path("short.pgm")});
  EXPECT_EQ(cut.code, 1);
  EXPECT_NE(cut.err.find("4 bytes of pixels, expected 28 x 28 x 1"), std::string::npos);
  const Result text = run({"classify", model, "--image", folder.path("text.pgm")});
  EXPECT_NE(text.err.find("not a binary PGM or PPM"), std::string::npos);
}

TEST(Classify, AModelWithoutSuchAHeadIsRefused) {
  const Result result = run({"classify", bundled_model("stories260K"), "--text", "a"});
  EXPECT_EQ(result.code, 1);
  EXPECT_NE(result.err.find("no head for the task sequence-classification"), std::string::npos);
  EXPECT_EQ(run({"classify", bundled_model("stories260K")}).code, 2);
}

}  // namespace
}  // namespace clearformer::test
