// Every architecture in every dtype: the outputs equal those of the same model in fp32 with manually
// rounded matrices.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "clearformer/loading/load_model.h"
#include "clearformer/loading/matrix_policy.h"
#include "clearformer/loading/pretrained_folder.h"
#include "clearformer/models/model.h"
#include "support/architectures.h"
#include "support/closeness.h"
#include "support/expect_error.h"
#include "support/integer_products.h"

namespace clearformer::test {
namespace {

constexpr MatrixFormat kRounding[] = {MatrixFormat::f16, MatrixFormat::q8_fine, MatrixFormat::q8,
                                      MatrixFormat::q4};

struct Checkpoint {
  std::string folder, config;
  std::optional<Task> task;

  explicit Checkpoint(const std::string& group, const Case& reference)
      : folder(fixture_path(group + "/" + reference.option("checkpoint").string())),
        config(read_bytes(folder + "/config.json")),
        task(task_named(reference.option("task").string())) {}

  // All matrices in `format`, whatever their size.
  MatrixPlan plan(MatrixFormat format) const {
    return plan_matrices(config, task, [format](const MatrixRequest&) { return format; });
  }
  Weights weights(MatrixFormat format) const {
    return PretrainedFolder::read(folder, [&](const std::string&) { return plan(format); }).weights;
  }
  std::unique_ptr<Model> load(MatrixFormat format) const {
    return load_model(weights(format), config, task);
  }
};

Tensor turned(const Tensor& values) {
  Tensor out({values.dim(1), values.dim(0)});
  for (std::size_t r = 0; r < values.dim(0); ++r) {
    for (std::size_t c = 0; c < values.dim(1); ++c) {
      out.f32()[c * values.dim(0) + r] = values.f32()[r * values.dim(1) + c];
    }
  }
  return out;
}

// The checkpoint in fp32 with the values of the plan's matrices after rounding to `format`.
Weights rounded_by_hand(const Checkpoint& checkpoint, MatrixFormat format) {
  const MatrixPlan plan = checkpoint.plan(format);
  Weights stored = PretrainedFolder::read(checkpoint.folder).weights;
  Weights rounded;
  for (const std::string& name : stored.names()) {
    const Shape shape = *stored.shape(name);
    Tensor tensor = stored.take({name}, shape);
    if (tensor.empty()) continue;  // integers, which no layer uses
    const MatrixPlan::Entry* entry = plan.find(name);
    if (entry != nullptr && (shape.rank() == 2 || entry->stacked)) {
      tensor.reshape({shape.outer(1), shape.back(0)});
      const bool turns = entry->layout == Layout::in_out;
      Matrix matrix = Matrix::of(turns ? turned(tensor) : tensor.clone(), entry->format);
      const Tensor wide = std::move(matrix.widened().values());
      const Tensor back = turns ? turned(wide) : wide.clone();
      tensor = Weights::allocate(shape, DType::f32);
      std::copy_n(back.f32(), back.elements(), tensor.f32());
    }
    rounded.add(name, "by hand", std::move(tensor));
  }
  return rounded;
}

class Dtypes : public ::testing::TestWithParam<const char*> {
 protected:
  std::string group = std::string("models/") + GetParam();
  Fixture fixture{group};
};

double relative_error(const Tensor& found, const Tensor& expected) {
  double error = 0.0, size = 0.0;
  for (std::size_t i = 0; i < expected.elements(); ++i) {
    const double off = static_cast<double>(found.f32()[i]) - expected.f32()[i];
    error += off * off;
    size += static_cast<double>(expected.f32()[i]) * expected.f32()[i];
  }
  return std::sqrt(error / size);
}

// fp16 multiplies the same numbers in fp32. q8_fine rounds each activation to 1/4095 of its block's maximum, q4 to 1/127,
// q8 to 1/63, an error of up to half a step, 1/126: with the maximum of a rotated block at two to three times its RMS, a
// relative error of about 0.012 per matrix; the squares add up over some tens of matrices.
TEST_P(Dtypes, GiveTheNumbersOfWeightsRoundedByHand) {
  SKIP_WHERE_INTEGER_PRODUCTS_ARE_WRONG();
  std::set<std::string> seen;
  for (const Case* reference : fixture.of_op("model_forward")) {
    const Checkpoint checkpoint(group, *reference);
    if (!seen.insert(checkpoint.folder + reference->option("task").string()).second) continue;
    SCOPED_TRACE(reference->name());
    const CaseInputs given(*reference);
    for (const MatrixFormat format : kRounding) {
      const auto by_hand =
          load_model(rounded_by_hand(checkpoint, format), checkpoint.config, checkpoint.task);
      const auto model = checkpoint.load(format);
      ModelOutputs expected = by_hand->forward(given.inputs), found = model->forward(given.inputs);
      ASSERT_EQ(found.tensors.size(), expected.tensors.size());
      for (std::size_t i = 0; i < found.tensors.size(); ++i) {
        const auto& [name, value] = found.tensors[i];
        const std::string what = concat(to_string(format), ": ", name);
        if (format == MatrixFormat::f16) {
          expect_close(what, value, expected.tensors[i].second, kModelBound);
        } else {
          EXPECT_LT(relative_error(value, expected.tensors[i].second), 0.1) << what;
        }
      }
    }
  }
}

// The plan contains every weight of a linear layer under its stored name, and nothing else: norms, biases,
// positions, convolutions and small heads stay fp32.
TEST_P(Dtypes, LeaveNoLinearLayerInF32) {
  for (const Case* reference : fixture.of_op("model_forward")) {
    SCOPED_TRACE(reference->name());
    const Checkpoint checkpoint(group, *reference);
    Weights stored = checkpoint.weights(MatrixFormat::q8);
    const MatrixPlan plan = checkpoint.plan(MatrixFormat::q8);
    std::size_t rounded = 0;
    for (const std::string& name : stored.names()) {
      if (plan.find(name) != nullptr) ++rounded;
      const Shape& shape = *stored.shape(name);
      if (plan.find(name) != nullptr || shape.rank() != 2) continue;
      const bool may_stay =
          shape[0] < 32 || shape[1] < 32 || name.find("position") != std::string::npos ||
          name.find("wpe") != std::string::npos || name.find("token_type") != std::string::npos ||
          name.find("relative_attention_bias") != std::string::npos;
      const auto unexpected = checkpoint.load(MatrixFormat::q8)->unexpected_tensors();
      const bool unused = std::find(unexpected.begin(), unexpected.end(), name) != unexpected.end();
      EXPECT_TRUE(may_stay || unused || name.find("lm_head") != std::string::npos)
          << name << " " << shape.text();
    }
    EXPECT_GT(rounded, 0u);
  }
}

TEST_P(Dtypes, OfFp32AreBitForBitThoseWithoutADtype) {
  const Case& reference = *fixture.of_op("model_forward").front();
  const Checkpoint checkpoint(group, reference);
  const CaseInputs given(reference);
  const auto plain = load_folder(checkpoint.folder, "config.json", checkpoint.task);
  ModelOutputs expected = plain->forward(given.inputs);
  ModelOutputs found = checkpoint.load(MatrixFormat::f32)->forward(given.inputs);
  for (std::size_t i = 0; i < found.tensors.size(); ++i) {
    expect_same_bits(found.tensors[i].first, found.tensors[i].second, expected.tensors[i].second);
  }
}

INSTANTIATE_TEST_SUITE_P(Sound, Dtypes, ::testing::ValuesIn(kSoundArchitectures),
                         [](const auto& name) { return std::string(name.param); });
INSTANTIATE_TEST_SUITE_P(All, Dtypes, ::testing::ValuesIn(kArchitectures),
                         [](const auto& name) { return std::string(name.param); });

// --- Errors are those of fp32 ------------------------------------------------------------------------

TEST(DtypeErrors, AreThoseOfF32) {
  const std::string folder = fixture_path("llama_tiny/odd");
  const std::string config = read_bytes(folder + "/config.json");
  for (const MatrixFormat format : {MatrixFormat::f32, MatrixFormat::q8}) {
    const auto broken = [&](const char* ignored) {
      const auto plan_of = [&](const std::string& text) {
        return plan_matrices(text, std::nullopt, [&](const MatrixRequest&) { return format; });
      };
      Weights weights = PretrainedFolder::read(folder, plan_of).weights;
      weights.ignore(ignored);
      load_model(std::move(weights), config);
    };
    expect_error(ErrorCode::missing_tensor, {"q_proj.weight"}, [&] { broken("*q_proj.weight"); });
    expect_error(ErrorCode::missing_tensor, {"norm.weight"}, [&] { broken("*norm.weight"); });
  }
  expect_error(ErrorCode::unsupported, {"model_type", "unheard_of"}, [] {
    plan_matrices(R"({"model_type": "unheard_of"})", std::nullopt, MatrixFormat::q8);
  });
}

TEST(ShardedCheckpoint, IsRoundedLikeAWholeOne) {
  SKIP_WHERE_INTEGER_PRODUCTS_ARE_WRONG();
  const std::string folder = fixture_path("llama_tiny/sharded");
  // Small matrices are kept in fp16.
  const auto model = from_pretrained(folder, std::nullopt, MatrixFormat::q8);
  const std::size_t fp32 = from_pretrained(folder)->weight_bytes();
  EXPECT_LT(model->weight_bytes(), fp32 * 6 / 10);
  EXPECT_GT(model->weight_bytes(), fp32 / 2);
}

// --- The policy ---------------------------------------------------------------------------------------

MatrixFormat kept(MatrixRole role, std::size_t outputs, std::size_t inputs, MatrixFormat asked,
                  const char* path = "blocks.0.mlp.up_proj.weight") {
  return format_of({path, role, outputs, inputs}, asked);
}

TEST(MatrixPolicy, RoundsLessWhereItCostsLittleOrShowsMuch) {
  using enum MatrixFormat;
  using enum MatrixRole;
  for (const MatrixFormat asked : {f16, q8, q4}) {
    EXPECT_EQ(kept(projection, 512, 257, asked), asked);
    EXPECT_EQ(kept(words, 30522, 384, asked), asked);
    EXPECT_EQ(kept(projection, 255, 256, asked), f16);
    EXPECT_EQ(kept(output, 31, 768, asked), f32);
    EXPECT_EQ(kept(output, 50257, 768, asked), std::min(asked, q8_fine));
    EXPECT_EQ(kept(projection, 768, 768, asked, "blocks.3.attn.v_proj.weight"),
              std::min(asked, q8));
    EXPECT_EQ(kept(projection, 0, 0, asked), f16);
    EXPECT_EQ(kept(projection, ~std::size_t{0}, ~std::size_t{0}, asked), asked);
  }
  for (const char* values : {"blocks.3.attn.v_proj.weight", "blocks.3.cross_attn.o_proj.weight"}) {
    EXPECT_EQ(kept(projection, 512, 512, q8, values), q8_fine);
    EXPECT_EQ(kept(projection, 512, 513, q8, values), q8);
    EXPECT_EQ(kept(projection, 100, 512, q8, values), f16);
    EXPECT_EQ(kept(projection, 512, 512, f16, values), f16);
  }
  EXPECT_EQ(kept(projection, 256, 256, q8), q8_fine);
  EXPECT_EQ(kept(projection, 256, 256, q4), q4);
  EXPECT_EQ(kept(projection, 512, 512, q8, "blocks.3.attn.q_proj.weight"), q8);
  EXPECT_EQ(kept(projection, 512, 512, q4, "blocks.3.attn.v_proj.weight"), q8_fine);
  EXPECT_EQ(kept(projection, 512, 512, q4, "blocks.3.attn.o_proj.weight"), q4);
  EXPECT_EQ(kept(projection, 4096, 4096, f32), f32);
  EXPECT_EQ(kept(projection, 4, 4, f32), f32);
}

TEST(MatrixPolicies, ThereMustBeOne) {
  expect_error(ErrorCode::invalid_argument, {"no policy"},
               [] { plan_matrices(R"({"model_type": "gpt2"})", std::nullopt, MatrixPolicy()); });
}

}  // namespace
}  // namespace clearformer::test
