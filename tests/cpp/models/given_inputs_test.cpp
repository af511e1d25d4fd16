// Passes that begin later than at the ids: with token embeddings (inputs_embeds), against transformers, and with the
// residual stream before a layer (start_at_layer), which gives the bits of the whole pass.
#include <gtest/gtest.h>

#include "support/architectures.h"
#include "support/closeness.h"
#include "support/expect_error.h"
#include "support/model_runs.h"
#include "support/random.h"
#include "support/reference_outputs.h"

namespace clearformer::test {
namespace {

TEST(GivenEmbeddings, GiveTransformersOutputs) {
  const Fixture fixture("given_inputs");
  std::size_t cases = 0;
  for (const Case* reference : fixture.of_op("model_forward")) {
    SCOPED_TRACE(reference->name());
    const std::unique_ptr<Model> model = model_of("models", *reference);
    const CaseInputs given(*reference);
    ModelOutputs outputs = model->forward(given.inputs);
    expect_reference_outputs(*reference, *model, outputs, {});
    ++cases;
  }
  EXPECT_GE(cases, 50u);
}

TEST(GivenEmbeddings, ErrorsNameTheInput) {
  const auto gpt2 = load_folder(fixture_path("models/gpt2/odd"), "config.json");
  const Tensor ids = random_ids(1, 1, 4, 90), wide({1, 4, 31});
  ModelInputs inputs;
  inputs.inputs_embeds = wide.view();
  expect_error(ErrorCode::shape_mismatch, {"inputs_embeds", "[1, 4, 31]", "30"},
               [&] { gpt2->forward(inputs); });
  inputs.input_ids = ids.view();
  expect_error(ErrorCode::invalid_argument, {"input_ids", "inputs_embeds", "exclude"},
               [&] { gpt2->forward(inputs); });
  ModelInputs none;
  expect_error(ErrorCode::invalid_argument, {"needs input_ids"}, [&] { gpt2->forward(none); });
  const auto dino = load_folder(fixture_path("models/dinov3_vit/even_base"), "config.json");
  const Tensor patches = Tensor::zeros({1, 9, 32}), image = Tensor::zeros({1, 3, 8, 12});
  ModelInputs placed;
  placed.residual = patches.view();
  placed.start_at_layer = 0;
  expect_error(ErrorCode::shape_mismatch, {"residual has 9", "config's size 17"},
               [&] { dino->forward(placed); });
  placed.pixel_values = image.view();
  expect_error(ErrorCode::shape_mismatch, {"residual has 9", "pixel_values 7"},
               [&] { dino->forward(placed); });
  const auto clip = load_folder(fixture_path("models/clip/odd"), "config.json");
  ModelInputs embeds;
  embeds.inputs_embeds = wide.view();
  expect_error(ErrorCode::unsupported, {"takes no inputs_embeds"}, [&] { clip->forward(embeds); });
}

bool starts(const std::string& name, const std::string& prefix) {
  return name.rfind(prefix, 0) == 0;
}

// The inputs of the pass that begins in the stack whose hooks start with `prefix`; images stay if their size is needed.
ModelInputs without_start(const Model& model, ModelInputs inputs, const std::string& prefix) {
  const std::optional<ImageEmbeddingConfig>& image = model.config().tower.image;
  if (starts(prefix, "decoder.")) {
    inputs.decoder_input_ids.reset();
  } else {
    inputs.input_ids.reset();
    if (!image || image->rotary_pairs == 0) inputs.pixel_values.reset();
    inputs.input_features.reset();
    inputs.input_values.reset();
    inputs.token_type_ids.reset();
  }
  return inputs;
}

void expect_same_pass(Model& model, const ModelInputs& inputs, const std::string& prefix) {
  const ModelConfig& config = model.config();
  const TowerConfig& tower = starts(prefix, "decoder.") ? *config.second : config.tower;
  const std::size_t layer = tower.stack.layers - 1;
  Trace whole;
  const std::string hook = concat(prefix, layer, ".hook_resid_pre");
  whole.capture(hook);
  ModelOutputs expected = model.forward(inputs, &whole);
  ModelInputs later = without_start(model, inputs, prefix);
  later.residual = whole.at(hook).view();
  later.start_at_layer = layer;
  Trace trace;
  trace.capture("*");
  ModelOutputs found = model.forward(later, &trace);
  for (auto& [name, tensor] : found.tensors) {
    expect_same_bits(name, tensor, expected.at(name));
  }
  EXPECT_FALSE(found.tensors.empty());
  for (const Trace::Captured& entry : trace.captured()) {
    EXPECT_FALSE(starts(entry.name, concat(prefix, layer - 1, "."))) << entry.name;
  }
  later.stop_at_layer = layer;
  if (!later.decoder_input_ids) {
    expect_same_bits("residual", model.forward(later).at("residual"), whole.at(hook));
  }
}

// The gradients of a metric of all outputs, with respect to all weights.
void differentiate(Model& model, const ModelInputs& inputs, Gradient& gradient) {
  gradient.want_weights("*");
  Trace trace;
  model.gradient(inputs, trace, gradient);
}

// What the pass that begins at a layer, and the one that ends there, contribute to the weights' gradients adds up to those
// of the whole pass: also for weights that both use, for relative positions and for an encoder below.
void expect_parts_of_gradient(Model& model, const ModelInputs& inputs, const std::string& prefix,
                              std::size_t layer, Gradient::Memory memory) {
  SCOPED_TRACE(concat(prefix, layer));
  ModelInputs earlier = inputs;
  if (starts(prefix, "encoder.")) {
    earlier.decoder_input_ids.reset();
    earlier.decoder_attention_mask.reset();
    earlier.decoder_position_ids.reset();
  }
  earlier.stop_at_layer = layer;
  const Tensor residual = model.forward(earlier).at("residual").clone();
  ModelInputs later = without_start(model, inputs, prefix);
  later.residual = residual.view();
  later.start_at_layer = layer;
  Gradient whole, above, below;
  for (const auto& [name, value] : model.forward(inputs).tensors) {
    Random random(3);
    const Tensor weights = random.tensor(value.shape());
    whole.add_output({name, weights.clone()});
    above.add_output({name, weights.clone()});
  }
  const std::string place = starts(prefix, "blocks.")
                                ? "residual"
                                : concat(prefix.substr(0, prefix.find('.') + 1), "residual");
  above.want(place);
  above.set_memory(memory);
  differentiate(model, inputs, whole);
  differentiate(model, later, above);
  below.add_output({"residual", above.at(place).clone()});
  differentiate(model, earlier, below);
  for (const Parameters::Listed& weight : model.parameters().list()) {
    Tensor sum = model.weight_gradient(above, weight.name);
    const Tensor rest = model.weight_gradient(below, weight.name);
    for (std::size_t i = 0; i < sum.elements(); ++i) sum.f32()[i] += rest.f32()[i];
    expect_close(weight.name, sum, model.weight_gradient(whole, weight.name),
                 Bound{1e-5, 1e-5, 1e-4});  // biases of keys have roundings alone
  }
}

class StartAtLayer : public ::testing::TestWithParam<const char*> {
 protected:
  // Calls visit(model, inputs, prefix) for every stack that a residual stream can be given to.
  template <class Visit>
  void each_stack(const Visit& visit) {
    each_checkpoint(GetParam(), [&](Model& model, const ModelInputs& inputs) {
      if (model.config().kind == ModelKind::encoder_decoder) {
        if (!model.config().head) visit(model, inputs, "encoder.");  // a classifier reads input_ids
        visit(model, inputs, "decoder.");
      } else if (model.config().kind != ModelKind::dual_encoder) {
        visit(model, inputs, "blocks.");
      }
    });
  }
};

TEST_P(StartAtLayer, GivesTheBitsOfTheWholePass) {
  each_stack([](Model& model, const ModelInputs& inputs, const std::string& prefix) {
    expect_same_pass(model, inputs, prefix);
  });
}

TEST_P(StartAtLayer, HasItsPartOfTheGradients) {
  each_stack([](Model& model, const ModelInputs& inputs, const std::string& prefix) {
    const ModelConfig& config = model.config();
    const TowerConfig& tower = starts(prefix, "decoder.") ? *config.second : config.tower;
    const std::size_t layers = tower.stack.layers;
    if (tower.stack.delta) return;  // without gradients
    using Memory = Gradient::Memory;
    expect_parts_of_gradient(model, inputs, prefix, 0, Memory::keep);
    expect_parts_of_gradient(model, inputs, prefix, layers - 1, Memory::recompute);
    expect_parts_of_gradient(model, inputs, prefix, layers - 1, Memory::keep);
    expect_parts_of_gradient(model, inputs, prefix, layers, Memory::recompute);
  });
}

// What edits do to the residual stream given belongs to its gradient.
TEST(StartAtLayerGradients, AreOfTheInputBeforeItsEdits) {
  const auto gpt2 = load_folder(fixture_path("models/gpt2/odd"), "config.json");
  Random random(2);
  const Tensor stream = random.tensor({1, 4, gpt2->config().d_model()});
  ModelInputs inputs;
  inputs.residual = stream.view();
  inputs.start_at_layer = 1;
  const char* const hook = "blocks.1.hook_resid_pre";
  const auto gradient_at = [&](std::optional<float> scale) {
    Gradient gradient;
    gradient.add_hook({hook, Tensor::copy_of(stream)});
    gradient.want("residual");
    gradient.want(hook);
    Trace trace;
    Edit edit;
    edit.hook = hook;
    edit.op = Edit::Op::scale;
    edit.value = Tensor({1});
    *edit.value.f32() = scale.value_or(1.0f);
    if (scale) trace.edit(std::move(edit));
    gpt2->gradient(inputs, trace, gradient);
    expect_same_bits("at the hook", gradient.at(hook), stream);
    return gradient.at("residual").clone();
  };
  expect_same_bits("whole", gradient_at(std::nullopt), stream);
  const Tensor halved = gradient_at(0.5f), gone = gradient_at(0.0f);
  for (std::size_t i = 0; i < stream.elements(); ++i) {
    EXPECT_EQ(halved.f32()[i], 0.5f * stream.f32()[i]);
    EXPECT_EQ(gone.f32()[i], 0.0f);
  }
}

INSTANTIATE_TEST_SUITE_P(All, StartAtLayer, ::testing::ValuesIn(kArchitectures),
                         [](const auto& name) { return std::string(name.param); });

TEST(StartAtLayerErrors, NameWhatIsMissing) {
  const auto gpt2 = load_folder(fixture_path("models/gpt2/odd"), "config.json");
  const Tensor ids = random_ids(1, 1, 4, 90), stream = Tensor::zeros({1, 4, 30});
  ModelInputs inputs;
  inputs.residual = stream.view();
  expect_error(ErrorCode::invalid_argument, {"start_at_layer", "residual"},
               [&] { gpt2->forward(inputs); });
  inputs.start_at_layer = 2;
  inputs.stop_at_layer = 1;
  expect_error(ErrorCode::invalid_argument, {"start_at_layer: 2", "before layer 1"},
               [&] { gpt2->forward(inputs); });
  inputs.start_at_layer = 7;
  inputs.stop_at_layer.reset();
  expect_error(ErrorCode::invalid_argument, {"start_at_layer: 7"}, [&] { gpt2->forward(inputs); });
  inputs.input_ids = ids.view();
  expect_error(ErrorCode::invalid_argument, {"input_ids", "residual", "exclude"},
               [&] { gpt2->forward(inputs); });
  const auto clip = load_folder(fixture_path("models/clip/odd"), "config.json");
  ModelInputs either;
  either.residual = stream.view();
  either.start_at_layer = 0;
  expect_error(ErrorCode::unsupported, {"takes no residual"}, [&] { clip->forward(either); });
}

}  // namespace
}  // namespace clearformer::test
