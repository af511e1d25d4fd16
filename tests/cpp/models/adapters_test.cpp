// LoRA adapters: in every architecture those of all linear layers give the outputs of a model with W + s·B·A, and the
// bits of before once they are no longer in force. PEFT's own numbers are those of tests/web/adapters.test.ts.
#include "clearformer/models/adapters.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "clearformer/loading/load_model.h"
#include "clearformer/loading/matrix_policy.h"
#include "clearformer/loading/pretrained_folder.h"
#include "clearformer/models/processed_weights.h"
#include "support/architectures.h"
#include "support/expect_error.h"
#include "support/model_runs.h"
#include "support/random.h"

namespace clearformer::test {
namespace {

std::unique_ptr<Model> model_of(const std::string& folder, std::optional<Task> task,
                                MatrixFormat format = MatrixFormat::f32) {
  const std::string config = read_bytes(folder + "/config.json");
  Weights weights =
      PretrainedFolder::read(folder, [&](const std::string&) {
        return plan_matrices(config, task, [&](const MatrixRequest&) { return format; });
      }).weights;
  return load_model(std::move(weights), config, task);
}

Tensor random_tensor(const Shape& shape, int seed, float size = 1.0f) {
  return Random(static_cast<std::uint64_t>(seed)).tensor(shape, -size, size);
}

struct Layer {
  std::string weight;
  std::size_t outputs, inputs;
  bool turned;
};

// The weights of all linear layers in the checkpoint.
std::vector<Layer> linear_layers(const Model& model) {
  std::vector<Layer> layers;
  for (const Parameter& parameter : model.parameters().all()) {
    const std::string& name = parameter.stored.name;
    if (!parameter.is_adapted() || (!layers.empty() && layers.back().weight == name)) continue;
    const bool turned = parameter.turned();
    const bool known = std::any_of(layers.begin(), layers.end(),
                                   [&](const Layer& layer) { return layer.weight == name; });
    if (known) continue;
    layers.push_back(
        {name, parameter.stored_shape[turned ? 1 : 0], parameter.rows->inputs(), turned});
  }
  return layers;
}

constexpr float kScale = 0.75f;

std::vector<AdapterUpdate> updates_of(const std::vector<Layer>& layers, std::size_t rank,
                                      int seed) {
  std::vector<AdapterUpdate> updates;
  for (const Layer& layer : layers) {
    const float size = 1.0f / std::sqrt(static_cast<float>(layer.inputs * rank));
    updates.push_back({layer.weight, layer.weight,
                       random_tensor({rank, layer.inputs}, seed++, size),
                       random_tensor({layer.outputs, rank}, seed++), kScale});
  }
  return updates;
}

// s·B·A in the checkpoint's orientation.
Tensor product_of(const AdapterUpdate& update, bool turned) {
  const std::size_t outputs = update.up.dim(0), rank = update.up.dim(1),
                    inputs = update.down.dim(1);
  Tensor delta(turned ? Shape{inputs, outputs} : Shape{outputs, inputs});
  for (std::size_t o = 0; o < outputs; ++o) {
    for (std::size_t i = 0; i < inputs; ++i) {
      double sum = 0.0;
      for (std::size_t r = 0; r < rank; ++r) {
        sum += double{update.up.f32()[o * rank + r]} * update.down.f32()[r * inputs + i];
      }
      delta.f32()[turned ? i * outputs + o : o * inputs + i] = static_cast<float>(kScale * sum);
    }
  }
  return delta;
}

double worst_difference(ModelOutputs& found, ModelOutputs& expected) {
  double worst = 0.0;
  for (auto& [name, tensor] : found.tensors) {
    const Tensor& other = expected.at(name);
    double largest = 0.0, difference = 0.0;
    for (std::size_t i = 0; i < tensor.elements(); ++i) {
      largest = std::max(largest, std::abs(double{other.f32()[i]}));
      difference = std::max(difference, std::abs(double{tensor.f32()[i]} - other.f32()[i]));
    }
    worst = std::max(worst, difference / std::max(largest, 1e-6));
  }
  return worst;
}

class AdaptersOf : public ::testing::TestWithParam<const char*> {
 protected:
  std::string group = std::string("models/") + GetParam();
  Fixture fixture{group};
  const Case& reference = *fixture.of_op("model_forward").front();
  std::string folder = fixture_path(group + "/" + reference.option("checkpoint").string());
  std::optional<Task> task = task_named(reference.option("task").string());
};

TEST_P(AdaptersOf, AddTheirProductsToEveryLinearLayer) {
  CaseInputs given(reference);
  const auto model = model_of(folder, task), merged = model_of(folder, task);
  const std::vector<Layer> layers = linear_layers(*model);
  ASSERT_FALSE(layers.empty());
  ModelOutputs before = model->forward(given.inputs);
  const std::vector<AdapterUpdate> updates = updates_of(layers, 3, 7);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    merged->edit_parameter(layers[i].weight,
                           {ParameterEdit::Op::add, product_of(updates[i], layers[i].turned)});
  }
  model->add_adapter("one", updates_of(layers, 3, 7));
  ModelOutputs unused = model->forward(given.inputs);
  EXPECT_EQ(worst_difference(unused, before), 0.0);
  model->use_adapters({{"one"}});
  ModelOutputs adapted = model->forward(given.inputs);
  ModelOutputs expected = merged->forward(given.inputs);
  EXPECT_GT(worst_difference(adapted, before), 1e-3);
  EXPECT_LT(worst_difference(adapted, expected), 2e-4);

  // Half of it twice is the whole.
  model->add_adapter("two", updates_of(layers, 3, 7));
  model->use_adapters({{"two", 0.5f}, {"one", 0.5f}});
  ModelOutputs halves = model->forward(given.inputs);
  EXPECT_LT(worst_difference(halves, expected), 2e-4);
  model->remove_adapter("one");
  EXPECT_EQ(model->adapters().active().size(), 1u);
  model->use_adapters({});
  ModelOutputs after = model->forward(given.inputs);
  EXPECT_EQ(worst_difference(after, before), 0.0);
  const std::size_t bytes = model->weight_bytes();
  model->remove_adapter("two");
  EXPECT_LT(model->weight_bytes(), bytes);
}

// What the heads add is computed apart where it is edited.
TEST_P(AdaptersOf, ArePartOfTheHeadsResults) {
  CaseInputs given(reference);
  const auto model = model_of(folder, task), merged = model_of(folder, task);
  const std::vector<Layer> layers = linear_layers(*model);
  const std::vector<AdapterUpdate> updates = updates_of(layers, 3, 7);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    merged->edit_parameter(layers[i].weight,
                           {ParameterEdit::Op::add, product_of(updates[i], layers[i].turned)});
  }
  model->add_adapter("one", updates_of(layers, 3, 7));
  model->use_adapters({{"one"}});
  const auto without_a_head = [&](Model& of) {
    Trace trace;
    trace.edit({"*attn.hook_result", Edit::Op::zero, {1}});
    return of.forward(given.inputs, &trace);
  };
  ModelOutputs adapted = without_a_head(*model), expected = without_a_head(*merged);
  EXPECT_LT(worst_difference(adapted, expected), 2e-4);
}

TEST_P(AdaptersOf, AreReadUnderTheirNames) {
  const auto model = model_of(folder, task);
  const std::vector<Layer> layers = linear_layers(*model);
  const std::vector<AdapterUpdate> updates = updates_of(layers, 2, 50);
  model->add_adapter("lora", updates_of(layers, 2, 50));
  const Parameters& parameters = model->adapters().parameters("lora");
  EXPECT_EQ(parameters.list().size(), 2 * layers.size());
  for (const AdapterUpdate& update : updates) {
    for (const auto& [leaf, tensor] :
         {std::pair(".lora_A.weight", &update.down), std::pair(".lora_B.weight", &update.up)}) {
      const auto view = parameters.stored(update.name + leaf);
      ASSERT_TRUE(view.has_value());
      const Tensor read = Parameters::read(*view);
      ASSERT_TRUE(read.shape() == tensor->shape());
      for (std::size_t i = 0; i < read.elements(); ++i) ASSERT_EQ(read.f32()[i], tensor->f32()[i]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Architectures, AdaptersOf, ::testing::ValuesIn(kArchitectures));
INSTANTIATE_TEST_SUITE_P(Sound, AdaptersOf, ::testing::ValuesIn(kSoundArchitectures));

std::unique_ptr<Model> gpt2(MatrixFormat format = MatrixFormat::f32) {
  return model_of(fixture_path("models/gpt2/odd"), Task::causal_lm, format);
}

// The update is the same number whatever W is stored in.
TEST(Adapters, AdaptQuantisedWeights) {
  for (const MatrixFormat format : {MatrixFormat::f16, MatrixFormat::q8, MatrixFormat::q4}) {
    const auto model = gpt2(format);
    Tensor ids({1, 4}, DType::i32);
    for (int i = 0; i < 4; ++i) ids.mutable_view().as<std::int32_t>()[i] = 3 * i + 1;
    ModelInputs inputs;
    inputs.input_ids = ids;
    ModelOutputs before = model->forward(inputs);
    model->add_adapter("lora", updates_of(linear_layers(*model), 4, 3));
    model->use_adapters({{"lora"}});
    ModelOutputs adapted = model->forward(inputs);
    EXPECT_GT(worst_difference(adapted, before), 1e-3);
    model->use_adapters({});
    ModelOutputs after = model->forward(inputs);
    EXPECT_EQ(worst_difference(after, before), 0.0);
  }
}

TEST(Adapters, AreRefusedWhereTheyDoNotFit) {
  const auto model = gpt2();
  const auto add = [&](std::string weight, Shape down, Shape up) {
    std::vector<AdapterUpdate> updates;
    updates.push_back(
        {"h.0.mlp.c_fc.weight", "fits", random_tensor({2, 30}, 1), random_tensor({37, 2}, 2)});
    updates.push_back({std::move(weight), "layer", random_tensor(down, 1), random_tensor(up, 2)});
    model->add_adapter("lora", std::move(updates));
  };
  expect_error(ErrorCode::invalid_argument, {"no weight \"h.9.mlp.c_fc.weight\""},
               [&] { add("h.9.mlp.c_fc.weight", {2, 30}, {37, 2}); });
  for (const char* weight : {"wte.weight", "wpe.weight", "ln_f.weight", "h.0.mlp.c_fc.bias"}) {
    expect_error(ErrorCode::unsupported, {weight, "linear layer"},
                 [&] { add(weight, {2, 30}, {30, 2}); });
  }
  const std::pair<Shape, Shape> wrong[] = {{{2, 31}, {30, 2}},
                                           {{2, 30}, {31, 2}},
                                           {{2, 30}, {30, 3}},
                                           {{30}, {30, 2}},
                                           {{0, 30}, {30, 0}}};
  for (const auto& [down, up] : wrong) {
    expect_error(ErrorCode::shape_mismatch, {"layer", "expected (r, 30) and (30, r)"},
                 [&, &down = down, &up = up] { add("h.0.attn.c_proj.weight", down, up); });
  }
  for (const auto& [down, up] : {std::pair(DType::u8, DType::f32), {DType::f32, DType::i32}}) {
    expect_error(ErrorCode::dtype_mismatch, {"expected float32"}, [&, &down = down, &up = up] {
      std::vector<AdapterUpdate> updates;
      updates.push_back({"h.0.attn.c_proj.weight", "layer", Tensor::zeros({2, 30}, down),
                         Tensor::zeros({30, 2}, up)});
      model->add_adapter("lora", std::move(updates));
    });
  }
  expect_error(ErrorCode::invalid_argument, {"none named \"lora\""},
               [&] { model->use_adapters({{"lora"}}); });
  model->add_adapter("lora", {});
  expect_error(ErrorCode::invalid_argument, {"exists already"},
               [&] { model->add_adapter("lora", {}); });
  expect_error(ErrorCode::invalid_argument, {"named twice"},
               [&] { model->use_adapters({{"lora"}, {"lora"}}); });
  expect_error(ErrorCode::invalid_argument, {"none named \"other\""},
               [&] { model->remove_adapter("other"); });
  model->add_adapter("large", updates_of(linear_layers(*model), 1, 5));
  for (const float scale : {std::numeric_limits<float>::infinity(), -NAN}) {
    expect_error(ErrorCode::invalid_argument, {"\"large\" scaled by", "not finite"},
                 [&] { model->use_adapters({{"large", scale}}); });
  }
}

// The synonyms by which an adapter's modules are found are names of the architecture's files, in each of its schemes.
TEST(Adapters, WeightsHaveTheSynonymsOfTheirSchemes) {
  const struct {
    const char *folder, *path;
    std::vector<std::string> synonyms;
  } all[] = {
      {"starcoder2/odd", "blocks.0.mlp.up_proj.weight", {"model.layers.0.mlp.c_fc.weight"}},
      {"whisper/odd",
       "encoder.0.attn.q_proj.weight",
       {"model.encoder.layers.0.self_attn.q_proj.weight"}},
      {"granitemoe/odd",
       "blocks.1.mlp.experts.2.down_proj.weight",
       {"model.layers.1.block_sparse_moe.output_linear.weight"}},
      {"mixtral/odd",
       "blocks.1.mlp.experts.2.up_proj.weight",
       {"model.layers.1.block_sparse_moe.experts.2.w3.weight"}},
      {"mixtral/odd", "blocks.0.attn.q_proj.weight", {"model.layers.0.self_attn.q_proj.weight"}},
      {"olmoe/odd",
       "blocks.1.mlp.experts.2.up_proj.weight",
       {"model.layers.1.mlp.experts.2.up_proj.weight"}},
      {"vit/odd_base",
       "blocks.0.ln1.weight",
       {"encoder.layer.0.layernorm_before.weight", "layers.0.layernorm_before.weight"}},
  };
  for (const auto& [folder, path, synonyms] : all) {
    const auto model = model_of(fixture_path(std::string("models/") + folder), std::nullopt);
    EXPECT_EQ(model->synonyms(path), synonyms) << folder;
  }
}

TEST(Adapters, BelongToProcessedWeightsWhereAsked) {
  const auto model = gpt2();
  const char* const name = "blocks.0.attn.W_O";  // the file's [in, out], in heads
  const auto read = [&](bool with_adapters) {
    return processed_weight(model->config(), model->parameters(), name,
                            {.with_adapters = with_adapters});
  };
  const Tensor before = read(false);
  std::vector<AdapterUpdate> updates;
  updates.push_back({"h.0.attn.c_proj.weight", "layer", random_tensor({2, 30}, 1),
                     random_tensor({30, 2}, 2), kScale});
  const Tensor delta = product_of(updates.front(), true);
  model->add_adapter("lora", std::move(updates));
  model->use_adapters({{"lora"}});
  const Tensor without = read(false), with = read(true);
  for (std::size_t i = 0; i < before.elements(); ++i) {
    ASSERT_EQ(without.f32()[i], before.f32()[i]);
    ASSERT_NEAR(with.f32()[i], before.f32()[i] + delta.f32()[i], 1e-6) << i;
  }
}

}  // namespace
}  // namespace clearformer::test
