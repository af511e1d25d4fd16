// The trained models bundled with the demo against transformers: sorting letters, classifying digits, translating
// sentences. Token ids come from the fixtures, so that no tokenizer is needed here.
#include <gtest/gtest.h>

#include <algorithm>

#include "clearformer/loading/load_model.h"
#include "clearformer/weights/safetensors.h"
#include "support/closeness.h"
#include "support/files.h"
#include "support/fixture.h"
#include "support/generations.h"
#include "support/json_text.h"
#include "support/model_runs.h"

namespace clearformer::test {
namespace {

const Fixture& fixture() {
  static const Fixture group("real_models");
  return group;
}

std::vector<std::int32_t> list_of(const Tensor& ids) {
  const auto* first = ids.view().as<std::int32_t>();
  return {first, first + ids.elements()};
}

constexpr std::size_t kLetters = 3, kTextLength = 6;

// All sequences of six letters out of three: (729, 6) int32.
Tensor all_texts() {
  std::size_t count = 1;
  for (std::size_t i = 0; i < kTextLength; ++i) count *= kLetters;
  Tensor ids({count, kTextLength}, DType::i32);
  auto* letter = ids.mutable_view().as<std::int32_t>();
  for (std::size_t text = 0; text < count; ++text) {
    for (std::size_t i = 0, rest = text; i < kTextLength; ++i, rest /= kLetters) {
      *letter++ = static_cast<std::int32_t>(rest % kLetters);
    }
  }
  return ids;
}

// The model has eleven positions: five letters are generated, and the sixth is the best one after them.
TEST(GptNanoSort, SortsEverySixLettersThereAre) {
  const auto model = from_pretrained(bundled_model("gpt-nano-sort"));
  const Tensor texts = all_texts();
  Generation generation(*model, inputs_of(texts),
                        options(R"({"max_new_tokens": 5, "eos_token_id": null})"));
  run(generation);
  const Tensor read = generation.sequences();  // (729, 11)
  ASSERT_EQ(read.shape(), (Shape{729, 2 * kTextLength - 1}));
  const Tensor logits = forward(*model, read);  // (729, 11, 3)
  const std::vector<std::int32_t> ids = list_of(read);
  for (std::size_t text = 0; text < read.dim(0); ++text) {
    const auto* begin = ids.data() + text * read.dim(1);
    std::vector<std::int32_t> expected(begin, begin + kTextLength);
    std::sort(expected.begin(), expected.end());
    std::vector<std::int32_t> written(begin + kTextLength, begin + read.dim(1));
    const float* last = logits.f32() + ((text + 1) * read.dim(1) - 1) * kLetters;
    written.push_back(static_cast<std::int32_t>(std::max_element(last, last + kLetters) - last));
    EXPECT_EQ(written, expected) << "text " << text;
  }
}

TEST(GptNanoSort, LogitsHiddenStatesAndAttentionsEqualTheReference) {
  const auto model = from_pretrained(bundled_model("gpt-nano-sort"));
  const Case& reference = fixture().at("sort_logits");
  Trace trace;
  trace.capture("*");
  const Tensor logits = forward(*model, reference.int32_input("input_ids"), &trace);
  const std::size_t layers = model->config().n_layers();
  ASSERT_EQ(reference.outputs().size(), 2 * layers + 2);
  for (const std::string& name : reference.outputs()) {
    // Learned positions: hidden_states.0 is the sum of token and position.
    const std::string hook =
        name == "hidden_states.0" ? "hook_full_embed" : hook_of_output(name, layers);
    expect_close(name, name == "logits" ? logits : trace.at(hook), reference.output(name),
                 kModelBound);
  }
}

// The images of digits.safetensors, (20, 28, 28) bytes, as model inputs: (20, 1, 28, 28).
Tensor digit_pixels() {
  const std::string path = fixture_path("real_models/digits.safetensors");
  const std::string bytes = read_bytes(path);
  const std::size_t prefix = SafetensorsHeader::kPrefixBytes;
  const auto header = static_cast<std::size_t>(SafetensorsHeader::header_bytes(
      reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), path));
  const SafetensorsHeader parsed = SafetensorsHeader::parse(
      std::string_view(bytes).substr(prefix, header), bytes.size() - prefix - header, path);
  const auto images = std::find_if(parsed.tensors.begin(), parsed.tensors.end(),
                                   [](const auto& stored) { return stored.name == "images"; });
  EXPECT_EQ(images->native_shape(), (Shape{20, 28, 28}));
  Tensor pixels({20, 1, 28, 28}, DType::f32);
  const char* from = bytes.data() + prefix + header + images->begin;
  std::transform(from, from + pixels.elements(), pixels.f32(), [](char byte) {
    return (static_cast<float>(static_cast<unsigned char>(byte)) / 255.0f - 0.5f) / 0.5f;
  });
  return pixels;
}

TEST(VitMnist, LogitsOfTwentyDigitsEqualTheReference) {
  const auto model = from_pretrained(bundled_model("vit-mnist"));
  const Tensor pixels = digit_pixels();
  ModelInputs inputs;
  inputs.pixel_values = pixels.view();
  expect_close("logits", logits_of(*model, inputs), fixture().at("digits").output("logits"),
               kModelBound);
}

TEST(MarianTinyEnFr, ThirtyTranslationsGreedyAndByBeamsEqualTheReference) {
  const auto model = from_pretrained(bundled_model("marian-tiny-en-fr"));
  std::size_t compared = 0;
  for (const Case& reference : fixture().cases()) {
    if (reference.name().rfind("translation_", 0) != 0) continue;
    const Tensor ids = reference.int32_input("input_ids");
    const Tensor mask = reference.uint8_input("attention_mask");
    Generation generation(*model, inputs_of(ids, &mask),
                          options(options_text(reference, {"checkpoint"})));
    run(generation);
    EXPECT_EQ(list_of(generation.sequences()), reference.int32_output("sequences"))
        << reference.name() << ": " << reference.member("text").string() << " is "
        << reference.member("translation").string();
    ++compared;
  }
  EXPECT_EQ(compared, 60u);
}

}  // namespace
}  // namespace clearformer::test
