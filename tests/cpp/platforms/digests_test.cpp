// Digests of the outputs of one model of every architecture and of the bundled models in every dtype. Targets that round
// products before adding them (sse2, simd128, neon) give those of tests/fixtures/digests.json, recorded from the
// WebAssembly module (tests/web/determinism.test.ts). Targets that fuse the two give those of digests_fused.json; avx2,
// avx512 and the ones of 128 bits (relaxed, neon_fma) differ, since each sums a softmax in as many lanes as its
// registers have. DIGESTS=write writes those of the selected target.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <map>
#include <set>

#include "clearformer/layers/functional.h"
#include "clearformer/loading/load_model.h"
#include "clearformer/simd/dispatch.h"
#include "clearformer/weights/json.h"
#include "clearformer/weights/json_writer.h"
#include "support/environment.h"
#include "support/files.h"
#include "support/integer_products.h"
#include "support/sha256.h"

namespace clearformer::test {
namespace {

TEST(Sha256, GivesTheDigestsOfItsStandard) {
  EXPECT_EQ(sha256("", 0), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc", 3), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  const std::string million(1'000'000, 'a');
  EXPECT_EQ(sha256(million.data(), million.size()),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

Json parsed(const std::string& path) {
  return Json::parse(read_bytes(path), path, ErrorCode::malformed_file);
}

std::size_t size_in(const Json& config, std::string_view key, std::size_t otherwise) {
  const Json* value = config.find_set(key);
  return value == nullptr ? otherwise : static_cast<std::size_t>(*value->unsigned_integer());
}

// Exact on every machine, unlike sines.
Tensor noise(const Shape& shape) {
  Tensor tensor(shape);
  for (std::size_t i = 0; i < tensor.elements(); ++i) {
    tensor.f32()[i] = static_cast<float>(static_cast<double>(i * 7919 % 1021) / 511 - 1);
  }
  return tensor;
}

// The inputs of digestsOf() in tests/web/support/digests.ts.
class Inputs {
 public:
  Inputs(const ModelConfig& config, const Json& json, bool is_bundled) {
    const std::size_t context = config.main().max_positions;
    const std::size_t rows = is_bundled ? 4 : 2;
    const std::size_t length =
        is_bundled ? std::min<std::size_t>(context == 0 ? 32 : context, 32) : 6;
    const Json* text = json.find_set("text_config");
    const std::size_t vocabulary =
        text == nullptr ? config.d_vocab() : size_in(*text, "vocab_size", config.d_vocab());
    ids_ = Tensor({rows, length}, DType::i32);
    for (std::size_t i = 0; i < ids_.elements() && vocabulary != 0; ++i) {
      ids_.mutable_view().as<std::int32_t>()[i] =
          static_cast<std::int32_t>((i * 37 + 5) % vocabulary);
    }
    const Json* is_encoder_decoder = json.find_set("is_encoder_decoder");
    if (is_encoder_decoder != nullptr && is_encoder_decoder->boolean()) {
      inputs.decoder_input_ids = ids_.view();
    }
    if (const std::size_t mels = size_in(json, "num_mel_bins", 0); mels != 0) {
      numbers_ = noise({2, mels, 2 * size_in(json, "max_source_positions", 0)});
      inputs.input_features = numbers_.view();
      return;
    }
    if (vocabulary != 0) inputs.input_ids = ids_.view();
    const Json* vision = json.find_set("vision_config");
    const Json& image = vision == nullptr ? json : *vision;
    const std::size_t size = size_in(image, "image_size", 0);
    if (size == 0) return;
    numbers_ = noise({2, size_in(image, "num_channels", 3), size, size});
    inputs.pixel_values = numbers_.view();
  }

  ModelInputs inputs;

 private:
  Tensor ids_, numbers_;
};

// Digests by the name of the output, of outputs that are not nested in others.
using Found = std::map<std::string, std::string>;

Found found_of(const std::string& subject) {
  const std::string folder = fixture_path("../../" + subject.substr(0, subject.find(' ')));
  const std::string dtype = subject.substr(subject.find(' ') + 1);
  const auto model = from_pretrained(folder, std::nullopt, *matrix_format_named(dtype));
  const Inputs given(model->config(), parsed(folder + "/config.json"), subject.starts_with("web/"));
  Found digests;
  for (const auto& [name, tensor] : model->forward(given.inputs).tensors) {
    if (name.find('.') != std::string::npos) continue;
    digests[name] = sha256(tensor.data(), tensor.view().bytes());
  }
  return digests;
}

Found recorded_of(const Json& all, const std::string& subject) {
  Found digests;
  const Json* outputs = all.find(subject);
  if (outputs == nullptr) return digests;
  for (const auto& [name, digest] : outputs->object()) digests[name] = digest.string();
  return digests;
}

std::vector<std::string> subjects() {
  std::vector<std::string> names;
  const Json all = parsed(fixture_path("digests.json"));
  for (const auto& [name, outputs] : all.object()) {
    // Not those of weights that the package has trained (tests/web/determinism.test.ts).
    if (matrix_format_named(name.substr(name.find(' ') + 1))) names.push_back(name);
  }
  return names;
}

// Whether this machine fuses: relaxed SIMD only does where the processor can.
bool fuses() {
  Tensor row({1, 2}), column({2, 1});
  row.f32()[0] = 1.0f;
  row.f32()[1] = 1.0f / 3.0f;
  column.f32()[0] = -1.0f;
  column.f32()[1] = 3.0f;
  return matmul(row, column).f32()[0] != 0.0f;  // 1/3 · 3 rounds to 1
}

// The section of digests_fused.json with the digests of this machine's target; empty: they are in digests.json.
std::string fused_section() {
  switch (simd::selected()) {
    case simd::Target::sse2:
    case simd::Target::neon:
    case simd::Target::simd128: return "";
    case simd::Target::avx2: return "avx2";
    case simd::Target::avx512: return "avx512";
    default: return fuses() ? "128 bits" : "";
  }
}

class Digests : public ::testing::TestWithParam<std::string> {};

TEST_P(Digests, AreTheRecordedOnes) {
  if (!GetParam().ends_with("fp32")) SKIP_WHERE_INTEGER_PRODUCTS_ARE_WRONG();
  const std::string section = fused_section();
  EXPECT_EQ(section.empty(), !fuses());
  const Json file = parsed(fixture_path(section.empty() ? "digests.json" : "digests_fused.json"));
  const Json* all = section.empty() ? &file : file.find(section);
  ASSERT_NE(all, nullptr) << section;
  EXPECT_EQ(found_of(GetParam()), recorded_of(*all, GetParam()));
}

// Keeps the sections of other targets.
TEST(WrittenDigests, OfTheSelectedTarget) {
  const std::string section = fused_section(), path = fixture_path("digests_fused.json");
  if (!is_set("DIGESTS") || section.empty()) GTEST_SKIP() << "only with DIGESTS=write";
  SKIP_WHERE_INTEGER_PRODUCTS_ARE_WRONG();
  const Json before = file_exists(path) ? parsed(path) : Json(Json::Object());
  std::set<std::string> sections{section};
  for (const auto& [name, digests] : before.object()) sections.insert(name);
  JsonWriter json;
  json.open('{');
  for (const std::string& name : sections) {
    json.key(name).open('{');
    for (const std::string& subject : subjects()) {
      json.key(subject).open('{');
      const Found digests =
          name == section ? found_of(subject) : recorded_of(*before.find(name), subject);
      for (const auto& [output, digest] : digests) json.key(output).text(digest);
      json.close('}');
    }
    json.close('}');
  }
  json.close('}');
  std::ofstream(path) << json.json() << "\n";
}

INSTANTIATE_TEST_SUITE_P(Subjects, Digests, ::testing::ValuesIn(subjects()), [](const auto& info) {
  std::string name = info.param;
  for (char& c : name) c = std::isalnum(c) != 0 ? c : '_';
  return name;
});

}  // namespace
}  // namespace clearformer::test
