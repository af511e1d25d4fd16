// Random checkpoints of every architecture, at least two each, against transformers: every output, hidden
// state and attention map, padding on both sides; greedy tokens with and without cache.
#include "support/architectures.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "clearformer/generation/generation.h"
#include "clearformer/loading/load_model.h"
#include "support/closeness.h"
#include "support/expect_error.h"
#include "support/generations.h"
#include "support/json_text.h"
#include "support/reference_outputs.h"

namespace clearformer::test {
namespace {

class Architectures : public ::testing::TestWithParam<const char*> {
 protected:
  std::string group = std::string("models/") + GetParam();
  Fixture fixture{group};
};

TEST_P(Architectures, OutputsHiddenStatesAndAttentionsEqualTheReference) {
  for (const Case* reference : fixture.of_op("model_forward")) {
    SCOPED_TRACE(reference->name());
    const std::unique_ptr<Model> model = model_of(group, *reference);
    const CaseInputs given(*reference);
    Trace trace;
    trace.capture("*");
    ModelOutputs outputs = model->forward(given.inputs, &trace);
    expect_reference_outputs(*reference, *model, outputs, trace);
    expect_same_bits("untraced", model->forward(given.inputs).tensors.back().second,
                     outputs.tensors.back().second);
  }
}

// No input is silently ignored.
TEST_P(Architectures, InputsThatWouldNotBeReadAreRefused) {
  for (const Case* reference : fixture.of_op("model_forward")) {
    SCOPED_TRACE(reference->name());
    const std::unique_ptr<Model> model = model_of(group, *reference);
    const ModelConfig& config = model->config();
    const CaseInputs given(*reference);
    if (!config.decodes()) {
      KeyValueCache cache(1, 8);
      ModelInputs inputs = given.inputs;
      inputs.cache = &cache;
      expect_error(ErrorCode::unsupported, {"forward", config.model_type, "keys and values"},
                   [&] { model->forward(inputs); });
    }
    if (!given.inputs.pixel_values) {
      ModelInputs inputs = given.inputs;
      inputs.interpolate_pos_encoding = true;
      expect_error(ErrorCode::invalid_argument, {"interpolate_pos_encoding", "pixel_values"},
                   [&] { model->forward(inputs); });
    }
    for (const InputName& name : kInputNames) {
      if (name.about == name.name || !(given.inputs.*name.member)) continue;
      const std::string about(given.inputs.input_values ? "input_values" : name.about);
      ModelInputs inputs = given.inputs;
      for (const InputName& other : kInputNames) {
        if (other.name == about) inputs.*other.member = std::nullopt;
      }
      expect_error(ErrorCode::invalid_argument, {"needs " + about},
                   [&] { model->forward(inputs); });
    }
  }
}

TEST_P(Architectures, GreedyTokensEqualTheReference) {
  if (!model_of(group, *fixture.of_op("model_forward").front())->config().decodes()) {
    GTEST_SKIP() << GetParam() << " generates no tokens";
  }
  for (const Case* reference : fixture.of_op("generate")) {
    SCOPED_TRACE(reference->name());
    const std::unique_ptr<Model> model =
        load_folder(fixture_path(group + "/" + reference->option("checkpoint").string()));
    const CaseInputs given(*reference);
    Generation generation(*model, given.inputs, options(options_text(*reference, {"checkpoint"})));
    run(generation);
    const Tensor made = generation.sequences();
    const std::vector<std::int32_t> expected = reference->int32_output("sequences");
    const auto* first = made.view().as<std::int32_t>();
    EXPECT_EQ(std::vector<std::int32_t>(first, first + made.elements()), expected);
  }
}

TEST_P(Architectures, ACompletePassTakesNoMoreSteps) {
  each_checkpoint(GetParam(), [](Model& model, const ModelInputs& inputs) {
    const auto pass = model.start(inputs, nullptr);
    while (pass->step()) continue;
    const std::size_t outputs = pass->outputs().tensors.size();
    expect_error(ErrorCode::invalid_argument, {"this pass is complete"}, [&] { pass->step(); });
    EXPECT_EQ(pass->outputs().tensors.size(), outputs);
  });
}

// The hook points found by a probe are those that a pass offers.
TEST_P(Architectures, AProbeFindsTheHookPointsOfAPass) {
  for (const Case* reference : fixture.of_op("model_forward")) {
    SCOPED_TRACE(reference->name());
    const std::unique_ptr<Model> model = model_of(group, *reference);
    const CaseInputs given(*reference);
    Trace pass;
    pass.capture("*");
    model->forward(given.inputs, &pass);
    std::set<std::string> offered, found;
    std::size_t bytes = 0, scores = 0;
    for (const Trace::Captured& entry : pass.captured()) {
      offered.insert(entry.name);
      bytes += entry.value.elements() * sizeof(float);
      const std::size_t words = 1 + std::count(entry.legend.begin(), entry.legend.end(), ' ');
      EXPECT_EQ(words, entry.value.shape().rank()) << entry.name;
      if (entry.legend.ends_with("query_pos key_pos")) {
        scores = std::max(scores, entry.value.elements() * sizeof(float));
      }
    }
    for (const HookPoint& hook : model->hooks()) {
      if (!hook.on_request()) found.insert(hook.name);
    }
    EXPECT_EQ(found, offered);
    EXPECT_EQ(model->capture_bytes(given.inputs, pass), bytes + scores);
  }
}

// A model of new weights, of which there is only the config, has tensors of the sizes of a file's, in which some have older
// names, and older versions of transformers kept a table once.
TEST_P(Architectures, TheConfigTellsTheTensorsOfAModel) {
  const auto sizes_of = [](const Model& model) {
    std::set<std::size_t> sizes;
    for (const Parameter& parameter : model.parameters().all()) {
      sizes.insert(parameter.rows->outputs() * parameter.rows->inputs());
    }
    return sizes;
  };
  std::set<std::pair<std::string, std::string>> seen;
  for (const Case* reference : fixture.of_op("model_forward")) {
    const std::string checkpoint = reference->option("checkpoint").string(),
                      task = reference->option("task").string();
    if (!seen.insert({checkpoint, task}).second) continue;
    SCOPED_TRACE(reference->name());
    const std::string config = read_bytes(fixture_path(group + "/" + checkpoint + "/config.json"));
    Weights fresh;
    for (const Weights::Needed& tensor : needed_tensors(config, task_named(task))) {
      fresh.add(tensor.name, "model.safetensors", Tensor::zeros(tensor.shape));
    }
    const auto model = load_model(std::move(fresh), config, task_named(task));
    EXPECT_EQ(model->unexpected_tensors(), std::vector<std::string>());
    EXPECT_EQ(sizes_of(*model), sizes_of(*model_of(group, *reference)));
  }
}

INSTANTIATE_TEST_SUITE_P(Sound, Architectures, ::testing::ValuesIn(kSoundArchitectures),
                         [](const auto& name) { return std::string(name.param); });
INSTANTIATE_TEST_SUITE_P(All, Architectures, ::testing::ValuesIn(kArchitectures),
                         [](const auto& name) { return std::string(name.param); });

}  // namespace
}  // namespace clearformer::test
