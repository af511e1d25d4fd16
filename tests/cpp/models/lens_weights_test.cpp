// Weights under TransformerLens' names, processed weights, composition scores, singular values of circuits, and logits
// of edited models, compared with PyTorch (tests/references/weights.py).
#include "clearformer/models/lens_weights.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "clearformer/layers/functional.h"
#include "clearformer/layers/svd.h"
#include "clearformer/models/composition.h"
#include "support/architectures.h"
#include "support/closeness.h"
#include "support/expect_error.h"

namespace clearformer::test {
namespace {

constexpr float kFloatEpsilon = std::numeric_limits<float>::epsilon();

float largest_of(const Tensor& x) {
  float most = 0.0f;
  for (std::size_t i = 0; i < x.elements(); ++i) most = std::max(most, std::fabs(x.f32()[i]));
  return most;
}

void expect_within(const Tensor& found, const Tensor& expected, float bound) {
  expect_close("found", found, expected, Bound{bound});
}

bool flagged(const Case& reference, const char* option) {
  return reference.options().find(option) != nullptr;
}

WeightProcessing processing_of(const Case& reference) {
  return {flagged(reference, "fold_ln"), flagged(reference, "center_writing_weights")};
}

std::unique_ptr<Model> weights_model(const Case& reference) {
  return load_folder(fixture_path(reference.option("checkpoint").string()));
}

Tensor processed(const Model& model, std::string_view name, const WeightProcessing& processing) {
  return processed_weight(model.config(), model.parameters(), name, processing);
}

// One head's matrix of [head, …].
Tensor head_matrix(const Tensor& weights, std::size_t head) {
  Tensor one({weights.dim(1), weights.dim(2)});
  std::copy_n(weights.f32() + head * one.elements(), one.elements(), one.f32());
  return one;
}

Tensor transpose_of(const Tensor& x) {
  Tensor out({x.dim(1), x.dim(0)});
  for (std::size_t i = 0; i < x.elements(); ++i) {
    out.f32()[i % x.dim(1) * x.dim(0) + i / x.dim(1)] = x.f32()[i];
  }
  return out;
}

TEST(LensWeights, AreThoseOfTransformerLens) {
  const Fixture fixture("weights");
  for (const Case* reference : fixture.of_op("weights")) {
    const auto model = weights_model(*reference);
    const WeightProcessing processing = processing_of(*reference);
    for (const std::string& name : reference->outputs()) {
      SCOPED_TRACE(reference->name() + ": " + name);
      const Tensor& expected = reference->output(name);
      const Tensor found = processed(*model, name, processing);
      // Unprocessed ones are the file's, of which Gemma scales one; others are rounded twice.
      const bool rounded = processing.fold_ln || processing.center_writing_weights;
      expect_within(found, expected, rounded ? 2 * kFloatEpsilon * largest_of(expected) : 0.0f);
    }
  }
}

// The sum of the columns' entries that is largest.
double most_of_column(const Tensor& x) {
  double most = 0.0;
  for (std::size_t column = 0; column < x.shape().back(0); ++column) {
    double sum = 0.0;
    for (std::size_t at = column; at < x.elements(); at += x.shape().back(0)) sum += x.f32()[at];
    most = std::max(most, std::fabs(sum));
  }
  return most;
}

// What no norm precedes is not folded, and not centred either, since what it multiplies does not have the mean 0.
TEST(LensWeights, WithoutANormWeightsAreReadAsTheyAre) {
  const auto modernbert = load_folder(fixture_path("models/modernbert/even_base"));
  for (const char* leaf : {"W_Q", "W_K", "W_V"}) {
    SCOPED_TRACE(leaf);
    const std::string first = concat("blocks.0.attn.", leaf);
    expect_within(processed(*modernbert, first, {.fold_ln = true}),
                  processed(*modernbert, first, {}), 0.0f);
    const std::string second = concat("blocks.1.attn.", leaf);
    EXPECT_GT(most_of_column(processed(*modernbert, second, {})), 0.01);
    EXPECT_LT(most_of_column(processed(*modernbert, second, {.fold_ln = true})), 1e-4);
  }
}

// Weights are centred where a norm subtracts the mean of what they write before anything else reads it.
TEST(LensWeights, WithoutANormWeightsAreNotCentred) {
  const WeightProcessing centred{.center_writing_weights = true};
  const auto refused = [&](const Model& model, const char* name) {
    SCOPED_TRACE(name);
    expect_error(ErrorCode::unsupported, {name, "no norm follows"},
                 [&] { processed(model, name, centred); });
  };
  const auto gpt = load_folder(fixture_path("models/openai_gpt/even"));
  refused(*gpt, "W_E");
  refused(*gpt, "W_pos");
  EXPECT_NO_THROW(processed(*gpt, "blocks.0.attn.W_O", centred));
  const auto bert = load_folder(fixture_path("models/bert/even_base"));
  EXPECT_NO_THROW(processed(*bert, "W_E", centred));
  const auto opt = load_folder(fixture_path("models/opt/plain_norms"));
  refused(*opt, "W_E");
  EXPECT_NO_THROW(processed(*opt, "W_pos", centred));
  const auto decoder = load_folder(fixture_path("models/modernbert_decoder/even"));
  for (const Model* model : {opt.get(), decoder.get()}) {
    expect_error(ErrorCode::unsupported, {"W_U", "layers of its own"},
                 [&] { processed(*model, "W_U", {.fold_ln = true}); });
  }
}

TEST(LensWeights, CompositionScoresAreThoseOfTransformerLens) {
  const Fixture fixture("weights");
  for (const Case* reference : fixture.of_op("composition")) {
    const auto model = weights_model(*reference);
    const auto layers = model->config().n_layers();
    const float bound = static_cast<float>(model->config().d_model() + 4) * kFloatEpsilon;
    for (const auto& [name, mode] : {std::pair("Q", Composition::queries),
                                     {"K", Composition::keys},
                                     {"V", Composition::values}}) {
      SCOPED_TRACE(reference->name() + ": " + name);
      const Tensor& expected = reference->output(name);
      const std::size_t row = expected.elements() / layers;
      for (std::size_t layer = 0; layer < layers; ++layer) {
        const Tensor found = composition_scores(model->config(), model->parameters(), layer, mode,
                                                processing_of(*reference));
        ASSERT_EQ(found.elements(), row);
        for (std::size_t i = 0; i < row; ++i) {
          ASSERT_NEAR(found.f32()[i], expected.f32()[layer * row + i], bound) << layer << ", " << i;
        }
      }
    }
  }
}

// ‖A·B‖ of matrices A (n, m), B (m, k).
double norm_of_product(const Tensor& a, const Tensor& b) {
  double squares = 0.0;
  for (std::size_t i = 0; i < a.dim(0) * b.dim(1); ++i) {
    double sum = 0.0;
    for (std::size_t j = 0; j < a.dim(1); ++j) {
      sum += static_cast<double>(a.f32()[i / b.dim(1) * a.dim(1) + j]) *
             b.f32()[j * b.dim(1) + i % b.dim(1)];
    }
    squares += sum * sum;
  }
  return std::sqrt(squares);
}

// The Cholesky factor then has rows of zeros.
TEST(LensWeights, CompositionScoresOfDependentFeaturesAreTheFormula) {
  const auto model = load_folder(fixture_path("models/gpt2/odd"));
  const auto read = [&](const std::string& name) {
    return Parameters::read(model->parameter(name));
  };
  Tensor key = read("blocks.1.attn.W_K");  // (H, D, d)
  const std::size_t heads = key.dim(0), d = key.dim(2);
  for (std::size_t row = 0; row < heads * key.dim(1); ++row) {
    float* const features = key.f32() + row * d;
    features[1] = features[0];
    features[4] = 0.0f;
  }
  model->edit_parameter("blocks.1.attn.W_K", {ParameterEdit::Op::replace, key});
  const Tensor found =
      composition_scores(model->config(), model->parameters(), 0, Composition::queries, {});
  const Tensor value = read("blocks.0.attn.W_V"), output = read("blocks.0.attn.W_O"),
               query = read("blocks.1.attn.W_Q");
  const std::size_t layers = model->config().n_layers();
  for (std::size_t one = 0; one < heads; ++one) {
    const Tensor ov = matmul(head_matrix(value, one), head_matrix(output, one));
    for (std::size_t other = 0; other < heads; ++other) {
      const Tensor from = head_matrix(query, other), to = transpose_of(head_matrix(key, other));
      const double wanted = norm_of_product(matmul(ov, from), to) /
                            (norm_of_product(head_matrix(value, one), head_matrix(output, one)) *
                             norm_of_product(from, to));
      EXPECT_NEAR(found.f32()[(one * layers + 1) * heads + other], wanted, 1e-5);
    }
  }
  expect_error(ErrorCode::invalid_argument, {concat("layer ", layers, " of ", layers)}, [&] {
    composition_scores(model->config(), model->parameters(), layers, Composition::keys, {});
  });
}

TEST(LensWeights, SingularValuesOfCircuitsAreTorchs) {
  const Fixture fixture("weights");
  for (const Case* reference : fixture.of_op("svd")) {
    const auto model = weights_model(*reference);
    const std::string block = concat("blocks.", reference->size_option("layer"), ".");
    const auto read = [&](const char* name) {
      return Parameters::read(model->parameter(block + name));
    };
    const Tensor query = read("attn.W_Q"), key = read("attn.W_K"), value = read("attn.W_V"),
                 output = read("attn.W_O");
    for (const auto& [name, one, other] :
         {std::tuple("QK", &query, &key), std::tuple("OV", &value, &output)}) {
      const Tensor& expected = reference->output(name);  // (H, D), of which d are not 0
      for (std::size_t head = 0; head < expected.dim(0); ++head) {
        const Tensor a = head_matrix(*one, head / (expected.dim(0) / one->dim(0)));
        Tensor b = head_matrix(*other, head / (expected.dim(0) / other->dim(0)));
        if (other == &key) b = transpose_of(b);
        const Svd found = svd(a, b);
        ASSERT_EQ(found.s.elements(), a.dim(1));
        for (std::size_t i = 0; i < found.s.elements(); ++i) {
          const float s = expected.f32()[head * expected.dim(1) + i];
          ASSERT_NEAR(found.s.f32()[i], s, kFloatEpsilon * expected.f32()[head * expected.dim(1)]);
        }
      }
    }
    const Tensor& expected = reference->output("W_in");
    expect_within(svd(read("mlp.W_in")).s, expected, kFloatEpsilon * largest_of(expected));
  }
}

// "at" of the edits: a number drops its axis.
Region asked_region(const Json* at, const Shape& shape) {
  Region region{Shape(), shape};
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
    region.start.append(0);
    if (at == nullptr || axis >= at->array().size()) continue;
    const Json& part = at->array()[axis];
    const auto bound = [&](const Json& number) {
      return static_cast<std::size_t>(number.number() < 0
                                          ? number.number() + static_cast<double>(shape[axis])
                                          : number.number());
    };
    const bool range = part.is_array();
    region.start[axis] = bound(range ? part.array()[0] : part);
    region.size[axis] = range ? bound(part.array()[1]) - region.start[axis] : 1;
  }
  return region;
}

TEST(LensWeights, EditedModelsGiveTorchsLogits) {
  const Fixture fixture("weights");
  for (const Case* reference : fixture.of_op("edit")) {
    SCOPED_TRACE(reference->name());
    const auto model = weights_model(*reference);
    const Json& asked = reference->option("edit");
    const std::string name = asked.find("name")->string(), op = asked.find("op")->string();
    const ParameterView view = model->parameter(name);
    ParameterEdit edit;
    edit.region = asked_region(asked.find("at"), view.shape);
    Tensor value = Tensor::zeros(Shape());
    if (op == "rank_one") {
      edit.op = ParameterEdit::Op::rank_one;
      value = reference->input("left").clone();
      edit.right = reference->input("right");
    } else if (op != "zero") {
      edit.op = op == "add"     ? ParameterEdit::Op::add
                : op == "scale" ? ParameterEdit::Op::scale
                                : ParameterEdit::Op::replace;
      value = reference->input("value").clone();
      value.reshape(edit.region.size);
    }
    edit.value = value;
    const Tensor ids = reference->int32_input("input_ids");
    ModelInputs inputs;
    inputs.input_ids = ids.view();
    const Tensor before = std::move(model->forward(inputs).at("logits"));
    model->edit_parameter(name, edit);
    const Tensor after = std::move(model->forward(inputs).at("logits"));
    const float error =
        static_cast<float>(reference->member("float32_error").find("logits")->number());
    expect_within(after, reference->output("logits"), 4 * error);
    model->undo_edits(1);
    expect_within(std::move(model->forward(inputs).at("logits")), before, 0.0f);
  }
}

TEST(LensWeights, NamesAndRegionsThatDoNotExistAreErrors) {
  const auto model = load_folder(fixture_path("models/gpt2/odd"));
  for (const char* name :
       {"", "W_X", "blocks.7.attn.W_Q", "blocks.0.mlp.W_gate", "blocks.0.attn.b_X"}) {
    expect_error(ErrorCode::invalid_argument, {concat("\"", name, "\"")},
                 [&] { model->parameter(name); });
  }
  const ParameterView view = model->parameter("W_E");
  expect_error(ErrorCode::invalid_argument, {"no region of shape [1, 1] at [9999, 0]"},
               [&] { Parameters::read(view, {{9999, 0}, {1, 1}}); });
  expect_error(ErrorCode::unsupported, {"\"b_U\"", "none"}, [&] {
    model->edit_parameter("b_U", {ParameterEdit::Op::add, Tensor::zeros(Shape())});
  });
  const Tensor wrong = Tensor::zeros({3});
  expect_error(ErrorCode::shape_mismatch, {"W_E", "[3]"},
               [&] { model->edit_parameter("W_E", {ParameterEdit::Op::add, wrong}); });
  expect_error(ErrorCode::invalid_argument, {"undo of 1 edits: 0 are in force"},
               [&] { model->undo_edits(1); });
  expect_error(ErrorCode::unsupported, {"follows the sum"}, [&] {
    const auto bert = load_folder(fixture_path("models/bert/even_base"));
    processed(*bert, "blocks.0.attn.W_Q", {.fold_ln = true});
  });
  expect_error(ErrorCode::unsupported, {"RMSNorm"}, [&] {
    const auto llama = load_folder(fixture_path("llama_tiny/sharded"));
    processed(*llama, "W_E", {.center_writing_weights = true});
  });
}

}  // namespace
}  // namespace clearformer::test
