// Passes that begin later than at the ids: with token embeddings (inputs_embeds), against transformers, and with the
// residual stream before a layer (start_at_layer), which gives the bits of the whole pass.
#include <gtest/gtest.h>

#include <map>

#include "support/architectures.h"
#include "support/closeness.h"
#include "support/expect_error.h"
#include "support/model_runs.h"
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
  const auto clip = load_folder(fixture_path("models/clip/odd"), "config.json");
  ModelInputs embeds;
  embeds.inputs_embeds = wide.view();
  expect_error(ErrorCode::unsupported, {"takes no inputs_embeds"}, [&] { clip->forward(embeds); });
}

bool starts(const std::string& name, const std::string& prefix) {
  return name.rfind(prefix, 0) == 0;
}

// The inputs of the pass that begins in the stack whose hooks start with `prefix`.
ModelInputs without_start(ModelInputs inputs, const std::string& prefix) {
  if (starts(prefix, "decoder.")) {
    inputs.decoder_input_ids.reset();
  } else {
    inputs.input_ids.reset();
    inputs.pixel_values.reset();
    inputs.input_features.reset();
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
  ModelInputs later = without_start(inputs, prefix);
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

class StartAtLayer : public ::testing::TestWithParam<const char*> {};

TEST_P(StartAtLayer, GivesTheBitsOfTheWholePass) {
  const std::string group = std::string("models/") + GetParam();
  const Fixture fixture(group);
  std::map<std::string, const Case*> chosen;
  for (const Case* reference : fixture.of_op("model_forward")) {
    chosen[reference->option("checkpoint").string()] =
        reference;  // the last one: padded, if any is
  }
  for (const auto& [checkpoint, reference] : chosen) {
    SCOPED_TRACE(reference->name());
    const std::unique_ptr<Model> model = model_of(group, *reference);
    const CaseInputs given(*reference);
    if (model->config().kind == ModelKind::encoder_decoder) {
      expect_same_pass(*model, given.inputs, "encoder.");
      expect_same_pass(*model, given.inputs, "decoder.");
    } else if (model->config().kind != ModelKind::dual_encoder) {
      expect_same_pass(*model, given.inputs, "blocks.");
    }
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
