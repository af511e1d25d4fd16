// The same bits on every platform that rounds products before it adds them (sse2, simd128, neon): hashes of all outputs
// of the bundled models, in every dtype. A change of these numbers changes the results of every user.
#include <gtest/gtest.h>

#include <cstring>

#include "clearformer/loading/load_model.h"
#include "clearformer/simd/dispatch.h"
#include "support/files.h"
#include "support/model_runs.h"
#include "support/random.h"

namespace clearformer::test {
namespace {

struct Subject {
  const char* model;
  MatrixFormat dtype;
  std::uint64_t digest;
};

constexpr Subject kSubjects[] = {
    {"stories260K", MatrixFormat::f32, 0x3646b60ab6776070},
    {"gpt-nano-sort", MatrixFormat::f32, 0xb5450c9e890e4f1},
    {"bert-tiny-fill", MatrixFormat::f32, 0x1ee1ef83c8e88150},
    {"bert-tiny-fill", MatrixFormat::q8, 0x1d34627c497a078d},
    {"marian-tiny-en-fr", MatrixFormat::f32, 0xd8e80c49632d8142},
    {"marian-tiny-en-fr", MatrixFormat::q8, 0x551405417b87cf4d},
    {"marian-tiny-en-fr", MatrixFormat::q4, 0x30a95977f66c08a3},
    {"vit-mnist", MatrixFormat::f32, 0xddb7bafcf2de46b4},
};

// FNV-1a over the numbers' bits; both zeros count as equal, and so do all NaN.
class Digest {
 public:
  void add(const Tensor& tensor) {
    for (std::size_t i = 0; i < tensor.elements(); ++i) {
      std::uint32_t bits;
      const float value = tensor.f32()[i] == 0.0f ? 0.0f : tensor.f32()[i];
      std::memcpy(&bits, &value, sizeof bits);
      for (int byte = 0; byte < 4; ++byte) {
        value_ = (value_ ^ (bits >> 8 * byte & 255)) * 0x100000001b3u;
      }
    }
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325u;
};

bool rounds_products() {
  const simd::Target target = simd::selected();
  return target == simd::Target::sse2 || target == simd::Target::simd128 ||
         target == simd::Target::neon;
}

class Bits : public ::testing::TestWithParam<Subject> {};

TEST_P(Bits, AreTheSameOnEveryPlatform) {
  if (!rounds_products()) GTEST_SKIP() << "other roundings";
  const auto& [name, dtype, expected] = GetParam();
  const auto model = from_pretrained(bundled_model(name), std::nullopt, dtype);
  const ModelConfig& config = model->config();
  Tensor ids({2, 6},
             DType::i32);  // (B, T); not random, which would add a dependency
  Tensor pixels;
  ModelInputs inputs;
  if (config.d_vocab() == 0) {
    pixels = Random(7).tensor({2, 1, 28, 28});
    inputs.pixel_values = pixels.view();
  } else {
    for (std::size_t i = 0; i < ids.elements(); ++i) {
      ids.mutable_view().as<std::int32_t>()[i] =
          static_cast<std::int32_t>((i * 37 + 5) % config.d_vocab());
    }
    inputs.input_ids = ids.view();
    if (config.kind == ModelKind::encoder_decoder) inputs.decoder_input_ids = ids.view();
  }
  Trace trace;
  trace.capture("*");
  Digest digest;
  for (const auto& [output, tensor] : model->forward(inputs, &trace).tensors) digest.add(tensor);
  for (const Trace::Captured& captured : trace.captured()) digest.add(captured.value);
  EXPECT_EQ(digest.value(), expected) << std::hex << "0x" << digest.value();
}

INSTANTIATE_TEST_SUITE_P(BundledModels, Bits, ::testing::ValuesIn(kSubjects));

}  // namespace
}  // namespace clearformer::test
