// The weights of every architecture, read under the checkpoint's names and changed in place.
#include "clearformer/models/parameters.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <set>

#include "clearformer/loading/load_model.h"
#include "clearformer/loading/matrix_policy.h"
#include "clearformer/loading/pretrained_folder.h"
#include "support/architectures.h"
#include "support/expect_error.h"
#include "support/model_runs.h"

namespace clearformer::test {
namespace {

using Op = ParameterEdit::Op;

struct StoredModel {
  std::string folder, config;
  std::optional<Task> task;

  explicit StoredModel(const std::string& group, const Case& reference)
      : folder(fixture_path(group + "/" + reference.option("checkpoint").string())),
        config(read_bytes(folder + "/config.json")),
        task(task_named(reference.option("task").string())) {}

  // As they are in the file.
  Weights weights() const { return PretrainedFolder::read(folder).weights; }
  Weights rounded(MatrixFormat format) const {
    const auto policy = [&](const MatrixRequest&) { return format; };
    const auto plan = [&](const std::string&) { return plan_matrices(config, task, policy); };
    return PretrainedFolder::read(folder, plan).weights;
  }
  std::unique_ptr<Model> load(MatrixFormat format = MatrixFormat::f32) const {
    return load_model(rounded(format), config, task);
  }
};

// A case of a forward pass for each checkpoint and task of the group.
std::vector<const Case*> cases_of(const Fixture& fixture) {
  std::set<std::string> seen;
  std::vector<const Case*> cases;
  for (const Case* reference : fixture.of_op("model_forward")) {
    const std::string key =
        reference->option("checkpoint").string() + reference->option("task").string();
    if (seen.insert(key).second) cases.push_back(reference);
  }
  return cases;
}

::testing::AssertionResult equal_bits(const Tensor& found, const Tensor& expected) {
  if (!(found.shape() == expected.shape())) {
    return ::testing::AssertionFailure()
           << found.shape().text() << " instead of " << expected.shape().text();
  }
  for (std::size_t i = 0; i < found.elements(); ++i) {
    if (std::memcmp(found.f32() + i, expected.f32() + i, sizeof(float)) == 0) continue;
    return ::testing::AssertionFailure()
           << "element " << i << ": " << found.f32()[i] << " instead of " << expected.f32()[i];
  }
  return ::testing::AssertionSuccess();
}

bool same_outputs(ModelOutputs& one, ModelOutputs& other) {
  bool same = one.tensors.size() == other.tensors.size();
  for (auto& [name, tensor] : one.tensors) same = same && equal_bits(tensor, other.at(name));
  return same;
}

class ParametersOf : public ::testing::TestWithParam<const char*> {
 protected:
  std::string group = std::string("models/") + GetParam();
  Fixture fixture{group};
};

bool is_frequencies(std::string_view name) { return name.ends_with("inv_freq"); }

TEST_P(ParametersOf, AreTheTensorsOfTheFile) {
  for (const Case* reference : cases_of(fixture)) {
    const StoredModel checkpoint(group, *reference);
    const auto model = checkpoint.load();
    Weights file = checkpoint.weights();
    std::map<std::string, Tensor> tensors;
    for (const std::string& name : file.names()) {
      Tensor tensor = file.take({name}, *file.shape(name));
      if (!tensor.empty()) tensors.emplace(name, std::move(tensor));  // others are integers
    }
    std::set<std::string> unread;
    for (const auto& [name, tensor] : tensors) unread.insert(name);
    for (const Parameters::Listed& listed : model->parameters().list()) {
      SCOPED_TRACE(listed.name);
      ASSERT_TRUE(tensors.contains(listed.name));
      const Tensor read = Parameters::read(model->parameter(listed.name));
      EXPECT_TRUE(read.shape() == listed.shape);
      EXPECT_TRUE(equal_bits(read, tensors.at(listed.name)));
      EXPECT_EQ(listed.format, MatrixFormat::f32);
      unread.erase(listed.name);
    }
    for (const std::string& name : model->unexpected_tensors()) unread.erase(name);
    unread.erase("positional_encoding.pos_embedding");  // sinusoids, which are computed
    std::erase_if(unread, [&](const std::string& name) {
      if (tensors.at(name).elements() == 0) return true;  // DINOv3's registers if it has none
      // Of the training of DINOv2, DINOv3 and of wav2vec 2.0.
      const bool training = name.ends_with("mask_token") || name.ends_with("masked_spec_embed");
      // ESM's: what no task reads, and frequencies, which are no weights.
      const bool apart = name.find("contact_head.") != std::string::npos || is_frequencies(name);
      const bool other =
          name.starts_with("mtp.") || name.starts_with("model.visual.");  // of Qwen3.5
      const bool idle = name == "esm.embeddings.position_embeddings.weight";
      return training || apart || other || idle;
    });
    // A file may hold a tied tensor twice.
    std::erase_if(unread, [&](const std::string& name) {
      return std::any_of(tensors.begin(), tensors.end(), [&](const auto& other) {
        return other.first != name && equal_bits(other.second, tensors.at(name));
      });
    });
    EXPECT_TRUE(unread.empty()) << *unread.begin() << " of " << checkpoint.folder;
  }
}

// Matrices in each format read as the numbers that the file's become when they are rounded.
TEST_P(ParametersOf, AreReadInEveryFormat) {
  const StoredModel checkpoint(group, *cases_of(fixture).front());
  for (const MatrixFormat format : {MatrixFormat::f16, MatrixFormat::q8, MatrixFormat::q4}) {
    const auto model = checkpoint.load(format);
    Weights file = checkpoint.rounded(format);
    bool some = false;
    for (const Parameters::Listed& listed : model->parameters().list()) {
      SCOPED_TRACE(listed.name);
      const MatrixPlan plan = plan_matrices(checkpoint.config, checkpoint.task,
                                            [&](const MatrixRequest&) { return format; });
      const MatrixPlan::Entry* entry = plan.find(listed.name);
      const bool turned = entry != nullptr && entry->layout == Layout::in_out;
      const Shape& shape = listed.shape;
      StoredName stored{listed.name};
      if (turned) stored.layout = Layout::in_out;
      Tensor rounded = file.take(stored, turned ? Shape{shape[1], shape[0]} : shape);
      if (rounded.elements() == shape.elements() && !turned) rounded.reshape(shape);
      Tensor read = Parameters::read(model->parameter(listed.name));
      if (turned) {
        Tensor back({shape[1], shape[0]});
        for (std::size_t i = 0; i < read.elements(); ++i) {
          back.f32()[i % shape[1] * shape[0] + i / shape[1]] = read.f32()[i];
        }
        read = std::move(back);
      }
      EXPECT_TRUE(equal_bits(read, rounded));
      if (entry == nullptr || listed.format == MatrixFormat::f32) continue;
      some = true;
      const Tensor number = Tensor::zeros(Shape());
      if (!is_quantized(format)) continue;
      expect_error(ErrorCode::unsupported, {"dtype 'fp32' or 'fp16'"},
                   [&] { model->edit_parameter(listed.name, {Op::replace, number}); });
    }
    EXPECT_TRUE(some);
    EXPECT_EQ(model->parameters().edits(), 0u);
  }
}

// An edit of every tensor gives the outputs of a checkpoint with those tensors, and undo those of before.
TEST_P(ParametersOf, AreEditedInPlace) {
  for (const MatrixFormat format : {MatrixFormat::f32, MatrixFormat::f16}) {
    const Case& reference = *cases_of(fixture).front();
    const StoredModel checkpoint(group, reference);
    CaseInputs given(reference);
    const auto model = checkpoint.load(format);
    ModelOutputs before = model->forward(given.inputs);
    Weights changed;
    Weights file = checkpoint.weights();
    Tensor factor{Shape()};
    *factor.f32() = 1.0f + 1.0f / 8;
    for (const std::string& name : file.names()) {
      Tensor tensor = file.take({name}, *file.shape(name));
      if (tensor.empty()) continue;
      const std::size_t count = is_frequencies(name) ? 0 : tensor.elements();
      for (std::size_t i = 0; i < count; ++i) tensor.f32()[i] *= *factor.f32();
      changed.add(name, "changed", std::move(tensor));
    }
    const std::string first = model->parameters().list().front().name;
    ParameterEdit sizeless{Op::scale, factor};
    sizeless.region.start = model->parameter(first).shape;
    expect_error(ErrorCode::invalid_argument, {first, "no region"},
                 [&] { model->edit_parameter(first, sizeless); });
    const std::size_t bytes = model->weight_bytes();
    for (const Parameters::Listed& listed : model->parameters().list()) {
      model->edit_parameter(listed.name, {Op::scale, factor});
    }
    ModelOutputs edited = model->forward(given.inputs);
    EXPECT_FALSE(same_outputs(edited, before));
    if (format == MatrixFormat::f32) {
      const auto loaded = load_model(std::move(changed), checkpoint.config, checkpoint.task);
      ModelOutputs expected = loaded->forward(given.inputs);
      EXPECT_TRUE(same_outputs(edited, expected));
    }
    EXPECT_GT(model->weight_bytes(), bytes);
    model->undo_edits(model->parameters().edits());
    ModelOutputs after = model->forward(given.inputs);
    EXPECT_TRUE(same_outputs(after, before));
    EXPECT_EQ(model->weight_bytes(), bytes);
  }
}

INSTANTIATE_TEST_SUITE_P(Architectures, ParametersOf, ::testing::ValuesIn(kArchitectures));
INSTANTIATE_TEST_SUITE_P(Sound, ParametersOf, ::testing::ValuesIn(kSoundArchitectures));

}  // namespace
}  // namespace clearformer::test
