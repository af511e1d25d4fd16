// Rotary scalings in config.json: frequencies, attention factor and rotated vectors equal
// transformers' for every rope_type.
#include "clearformer/architectures/rotary_config.h"

#include <gtest/gtest.h>

#include <cmath>

#include "clearformer/layers/rotary_embedding.h"
#include "support/closeness.h"
#include "support/expect_error.h"
#include "support/fixture.h"
#include "support/json_text.h"
#include "support/rotations.h"

namespace clearformer::test {
namespace {

const Fixture& rotary_references() {
  static const Fixture fixture("rotary");
  return fixture;
}

RotaryConfig config_of(const Case& reference) {
  const auto head = static_cast<std::size_t>(reference.option("head_dim").number());
  const auto most = static_cast<std::size_t>(reference.option("max_position_embeddings").number());
  const std::string text =
      "{\"rope_parameters\": " + json_text(reference.option("rope_parameters")) + "}";
  return read_rotary(ConfigReader(text, "config.json"), head, most);
}

// A frequency in double rounded to float, as the reference is.
constexpr Bound kFrequencies{0.0, 2 * kRoundoff, 0.0};

std::vector<double> radians_of(const RotaryConfig& config, std::size_t length) {
  return rotary_frequencies(config, length).radians;
}

// x (H, T, d) rotated by the frequencies for `length`, like the reference. They are
// those of a sequence length, independent of the positions.
std::vector<double> rotated(const Tensor& x, const Tensor& positions,
                            const RotaryFrequencies& frequencies) {
  const std::size_t d = x.shape().back(0), pairs = frequencies.radians.size();
  const std::size_t count = positions.elements();
  std::vector<double> result(x.f32(), x.f32() + x.elements());
  for (std::size_t row = 0; row < x.elements() / d; ++row) {
    const double position = positions.view().as<std::int32_t>()[row % count];
    for (std::size_t i = 0; i < pairs; ++i) {
      const double a = x.f32()[row * d + i], b = x.f32()[row * d + i + pairs];
      const double angle = position * frequencies.radians[i];
      result[row * d + i] =
          frequencies.attention_factor * (a * std::cos(angle) - b * std::sin(angle));
      result[row * d + i + pairs] =
          frequencies.attention_factor * (b * std::cos(angle) + a * std::sin(angle));
    }
  }
  return result;
}

Tensor flat(const Tensor& x) { return Tensor::copy_of(x.view().reshaped({x.elements()})); }

TEST(RotaryScaling, EveryReferenceIsMet) {
  std::size_t cases = 0;
  for (const Case* reference : rotary_references().of_op("rope_scaling")) {
    SCOPED_TRACE(reference->name());
    const RotaryConfig config = config_of(*reference);
    const Json& given = reference->option("seq_len");
    const std::size_t length = given.is_null() ? 0 : static_cast<std::size_t>(given.number());
    const RotaryFrequencies frequencies = rotary_frequencies(config, length);
    expect_close("inv_freq", frequencies.radians, reference->output("inv_freq"), kFrequencies);
    expect_close("attention_factor", std::vector<double>{frequencies.attention_factor},
                 reference->output("attention_factor"), kFrequencies);
    const Tensor positions = reference->int32_input("positions");
    RotaryConfig turned_by = config;
    turned_by.rotary_dim = 2 * frequencies.radians.size();
    for (const char* part : {"query", "key"}) {
      const Tensor& x = reference->input(part);
      const Tensor& expected = reference->output(std::string("rotated_") + part);
      const auto bounds = rotation_bounds(x, turned_by, frequencies.attention_factor);
      expect_close(part, rotated(x, positions, frequencies), flat(expected), bounds);
      if (depends_on_length(config.scaling)) continue;
      expect_close(part, RotaryEmbedding(config).forward(x, positions),
                   expected.view().reshaped(x.shape()), bounds);
    }
    ++cases;
  }
  EXPECT_EQ(cases, 21u);
}

TEST(RotaryScaling, TheLongestPositionOfACallDecides) {
  std::size_t cases = 0;
  for (const Case* reference : rotary_references().of_op("rope_module")) {
    SCOPED_TRACE(reference->name());
    const RotaryConfig config = config_of(*reference);
    const RotaryEmbedding rotary(config);
    Arena arena;
    const Tensor positions = reference->int32_input("positions");
    const std::int32_t longest = positions.view().as<std::int32_t>()[2];
    for (int call = 0; call < 2; ++call) {  // no state between calls
      const RotaryTable table = rotary.table(positions, arena);
      expect_close("cos", table.cosines, reference->output("cos"), kAngleBound);
      expect_close("sin", table.sines, reference->output("sin"), kAngleBound);
      Tensor far({1, 1}, DType::i32);
      far.mutable_view().as<std::int32_t>()[0] = 100000;
      rotary.table(far, arena);
    }
    expect_close("inv_freq", radians_of(config, static_cast<std::size_t>(longest) + 1),
                 reference->output("inv_freq"), kFrequencies);
    ++cases;
  }
  EXPECT_EQ(cases, 4u);
}

RotaryConfig read(const std::string& text, std::size_t d_head = 16) {
  return read_rotary(ConfigReader(text, "config.json"), d_head, 256);
}

void expect_same(const RotaryConfig& a, const RotaryConfig& b) {
  EXPECT_EQ(a.rotary_dim, b.rotary_dim);
  for (const std::size_t length : {0, 100000}) {
    EXPECT_EQ(radians_of(a, length), radians_of(b, length));
  }
  EXPECT_EQ(rotary_frequencies(a, 0).attention_factor, rotary_frequencies(b, 0).attention_factor);
}

TEST(RotaryScaling, OldAndNewSpellingsAreTheSame) {
  expect_same(read(R"({})"), read(R"({"rope_parameters": {"rope_theta": 10000.0}})"));
  expect_same(read(R"({"rope_theta": 500.0, "rope_scaling": null})"),
              read(R"({"rope_parameters": {"rope_type": "default", "rope_theta": 500}})"));
  expect_same(
      read(R"({"rope_theta": 500.0, "rope_scaling": {"type": "linear", "factor": 4}})"),
      read(R"({"rope_parameters": {"rope_type": "linear", "rope_theta": 500, "factor": 4}})"));
  expect_same(read(R"({"partial_rotary_factor": 0.5, "rope_scaling": {}})"),
              read(R"({"rope_parameters": {"partial_rotary_factor": 0.5}})"));
  EXPECT_EQ(read(R"({"partial_rotary_factor": 0.4})", 80).rotary_dim, 32u);
}

TEST(RotaryScaling, AbsentValuesFollowTheContextsLength) {
  const std::string yarn = R"("rope_type": "yarn", "original_max_position_embeddings": 64)";
  expect_same(read("{\"rope_scaling\": {" + yarn + "}}"),
              read("{\"rope_scaling\": {" + yarn + ", \"factor\": 4.0}}"));
  expect_same(read("{\"rope_scaling\": {" + yarn + ", \"factor\": null, \"beta_fast\": 0}}"),
              read("{\"rope_scaling\": {" + yarn + ", \"factor\": 4.0, \"beta_fast\": 32}}"));
  // Outside the parameters, as in Phi-3, the original length takes precedence.
  expect_same(read("{\"original_max_position_embeddings\": 128, \"rope_scaling\": {" + yarn + "}}"),
              read(R"({"rope_scaling": {"rope_type": "yarn", "factor": 2.0,
                                        "original_max_position_embeddings": 128}})"));
  const RotaryConfig llama = read(R"({"rope_scaling": {"rope_type": "llama3", "factor": 8}})");
  EXPECT_EQ(llama.scaling.original_max_positions, 256.0);
}

// The fraction by which each pair is scaled, from frequencies f·share/s + f·(1 - share).
std::vector<double> slowed_shares(const RotaryConfig& config) {
  RotaryConfig plain = config;
  plain.scaling = {};
  const auto stretched = radians_of(config, 0), original = radians_of(plain, 0);
  std::vector<double> shares;
  for (std::size_t i = 0; i < stretched.size(); ++i) {
    shares.push_back((1.0 - stretched[i] / original[i]) / (1.0 - 1.0 / config.scaling.factor));
  }
  return shares;
}

TEST(RotaryScaling, TheBlendOfYarnStaysFiniteAndWithinTheHead) {
  RotaryConfig config{16, 0, 100.0};
  config.scaling.kind = RotaryScaling::Kind::yarn;
  config.scaling.factor = 4.0;
  // Pairs 2.87 and 16.07 have these numbers of rotations: the ramp goes from 2 to the last dimension, 15, not to 17.
  config.scaling.original_max_positions = 65536.0;
  config.scaling.beta_fast = 2000.0;
  const std::vector<double> shares = slowed_shares(config);
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_NEAR(shares[i], i < 2 ? 0.0 : (static_cast<double>(i) - 2.0) / 13.0, 1e-12);
  }
  // Six positions are less than one rotation of the fastest pair: both ends are 0, and only that pair is unscaled.
  config.scaling.original_max_positions = 6.0;
  const std::vector<double> ends = slowed_shares(config);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_NEAR(ends[i], i == 0 ? 0.0 : 1.0, 1e-12);
}

// Which of the two places takes precedence depends on the type: transformers copies the outer value into the
// parameters before it computes a scaled type.
TEST(RotaryScaling, ThePartInsideCountsForThePlainKindTheOneOutsideForTheOthers) {
  const std::string outside = R"({"partial_rotary_factor": 0.5, "rope_parameters": {)";
  const std::string inside = R"("partial_rotary_factor": 0.25})";
  EXPECT_EQ(read(outside + inside + "}").rotary_dim, 4u);
  EXPECT_EQ(read(outside + R"("rope_type": "linear", "factor": 2, )" + inside + "}").rotary_dim,
            8u);
}

TEST(RotaryScaling, ModelsWhoseHeadsTurnWholeIgnoreThePart) {
  const RotaryKeys whole{.partial = RotaryKeys::Partial::ignored};
  const auto dim = [&](const char* text) {
    return read_rotary(ConfigReader(text, "config.json"), 16, 256, whole).rotary_dim;
  };
  EXPECT_EQ(dim(R"({"partial_rotary_factor": 0.5})"), 16u);
  EXPECT_EQ(dim(R"({"rope_parameters": {"partial_rotary_factor": 0})"
                R"(})"),
            16u);
  EXPECT_EQ(
      dim(R"({"rope_parameters": {"rope_type": "proportional", "partial_rotary_factor": 0.5}})"),
      8u);
  expect_error(ErrorCode::malformed_config, {"\"partial_rotary_factor\"", "0.5"}, [&] {
    dim(R"({"partial_rotary_factor": 0.5, "rope_scaling": {"rope_type": "linear", "factor": 2}})");
  });
}

TEST(RotaryScaling, Phi3sOldNamesMeanLongrope) {
  const char* text =
      R"({"rope_scaling": {"type": "su", "short_factor": [1, 2], "long_factor": [3, 4],
                         "original_max_position_embeddings": 64}})";
  const RotaryKeys phi3{.names = RotaryKeys::Names::phi3};
  EXPECT_EQ(read_rotary(ConfigReader(text, "config.json"), 4, 256, phi3).scaling.kind,
            RotaryScaling::Kind::longrope);
  expect_error(ErrorCode::unsupported, {"\"su\""}, [&] { read(text, 4); });
}

TEST(RotaryScaling, UnknownTypesAreUnsupported) {
  expect_error(ErrorCode::unsupported,
               {"config.json", "rope_scaling", "rope_type", "spiral", "default", "longrope"},
               [] { read(R"({"rope_scaling": {"type": "spiral", "factor": 2}})"); });
  expect_error(ErrorCode::unsupported, {"config.json", "full_attention", "one type of layer"},
               [] { read(R"({"rope_parameters": {"full_attention": {"rope_theta": 1e6}}})"); });
}

// A head size not yet confirmed by weights allocates nothing.
TEST(RotaryScaling, AbsurdSizesAreReadAtOnce) {
  const std::size_t absurd = (static_cast<std::size_t>(1) << 31) - 2;
  EXPECT_EQ(read(R"({"rope_scaling": {"rope_type": "yarn", "factor": 2}})", absurd).d_head, absurd);
}

TEST(RotaryScaling, RefusalsNameTheFileTheKeyAndTheRule) {
  struct Refusal {
    const char* text;
    std::vector<std::string> parts;
  };
  const std::vector<Refusal> refusals = {
      {R"({"rope_theta": 0})", {"rope_theta", "> 0"}},
      {R"({"rope_theta": "big"})", {"rope_theta", "number"}},
      {R"({"rope_scaling": 3})", {"rope_scaling", "object"}},
      {R"({"rope_scaling": {"rope_type": "linear"}})", {"rope_scaling", "factor", "missing"}},
      {R"({"rope_scaling": {"rope_type": "linear", "factor": -1}})", {"factor", "> 0", "-1"}},
      {R"({"rope_scaling": {"rope_type": "dynamic", "factor": 0.5}})", {"dynamic", "0.5"}},
      {R"({"rope_scaling": {"rope_type": "llama3", "factor": 2, "high_freq_factor": 1}})",
       {"high_freq_factor 1", "low_freq_factor 1"}},
      {R"({"rope_scaling": {"rope_type": "llama3", "factor": 2, "low_freq_factor": 0}})",
       {"low_freq_factor", "> 0"}},
      {R"({"rope_scaling": {"rope_type": "yarn", "factor": 2, "truncate": 1}})",
       {"truncate", "true or false"}},
      {R"({"rope_scaling": {"rope_type": "yarn", "factor": 2, "beta_slow": -1}})", {"beta_slow"}},
      {R"({"rope_scaling": {"rope_type": "yarn", "factor": 2, "attention_factor": 0}})",
       {"attention_factor", "> 0"}},
      {R"({"rope_scaling": {"rope_type": "yarn", "factor": 2, "mscale": -0.7}})",
       {"mscale", "-0.7"}},
      {R"({"rope_theta": 1, "rope_scaling": {"rope_type": "yarn", "factor": 2}})", {"base > 1"}},
      {R"({"rope_scaling": {"rope_type": "longrope", "factor": 2}})", {"short_factor", "missing"}},
      {R"({"rope_scaling": {"rope_type": "longrope", "factor": 2, "short_factor": 1}})",
       {"short_factor", "list"}},
      {R"({"rope_scaling": {"rope_type": "longrope", "factor": 2, "short_factor": ["x"]}})",
       {"short_factor", "numbers only"}},
      {R"({"rope_scaling": {"rope_type": "longrope", "factor": 2, "short_factor": [1],
                            "long_factor": [1]}})",
       {"short_factor", "8 pairs", "holds 1"}},
      {R"({"rope_scaling": {"rope_type": "longrope", "short_factor": [1, 1, 1, 1, 1, 1, 1, 1],
                            "long_factor": [1, 1, 1, 1, 1, 1, 1, 0]}})",
       {"long_factor", "> 0"}},
      {R"({"partial_rotary_factor": 1.5})", {"partial_rotary_factor", "1.5"}},
      {R"({"partial_rotary_factor": 0.2})", {"even", "3"}},
      {R"({"partial_rotary_factor": 0.01})", {"0.01", "none of the 16"}},
  };
  for (const Refusal& refusal : refusals) {
    SCOPED_TRACE(refusal.text);
    std::vector<std::string> parts = refusal.parts;
    parts.push_back("config.json");
    expect_error(ErrorCode::malformed_config, parts, [&] { read(refusal.text); });
    expect_error(ErrorCode::invalid_argument, refusal.parts, [&] {
      read_rotary(ConfigReader(refusal.text, "options", ErrorCode::invalid_argument), 16, 256);
    });
  }
}

}  // namespace
}  // namespace clearformer::test
