#include "tiny.h"

#include <cmath>
#include <cstring>
#include <map>

#include "clearformer/loading/load_model.h"
#include "clearformer/loading/matrix_policy.h"
#include "support/safetensors_file.h"
#include "targets.h"

namespace clearformer::fuzz {

namespace {

const test::Case& case_of(const test::Fixture& fixture, const std::string& checkpoint) {
  for (const test::Case* each : fixture.of_op("model_forward")) {
    if (each->option("checkpoint").string() == checkpoint) return *each;
  }
  throw std::runtime_error("no reference case of " + checkpoint);
}

}  // namespace

Tiny::Tiny(const std::string& folder)
    : fixture("models/" + folder.substr(0, folder.find('/'))),
      reference(case_of(fixture, folder.substr(folder.find('/') + 1))),
      given(reference),
      task(task_named(reference.option("task").string())),
      config(test::read_bytes(test::fixture_path("models/" + folder + "/config.json"))),
      weights(test::read_bytes(test::fixture_path("models/" + folder + "/model.safetensors"))) {}

const Tiny& tiny(std::size_t index) {
  static std::map<std::size_t, Tiny> all;
  return all.try_emplace(index, tiny_folders()[index]).first->second;
}

std::unique_ptr<Model> load_tiny(const Tiny& checkpoint, const std::string& config,
                                 std::string_view weights, MatrixFormat format) {
  CheckpointReader reader(plan_matrices(config, checkpoint.task, format));
  test::feed(reader, "model.safetensors", weights);
  return load_model(reader.finish(), config, checkpoint.task);
}

bool same(const Tensor& a, const Tensor& b) {
  if (!(a.shape() == b.shape()) || a.dtype() != b.dtype()) return false;
  if (a.dtype() != DType::f32) return std::memcmp(a.data(), b.data(), a.view().bytes()) == 0;
  for (std::size_t i = 0; i < a.elements(); ++i) {
    const float x = a.f32()[i], y = b.f32()[i];
    if (x != y && !(std::isnan(x) && std::isnan(y))) return false;
  }
  return true;
}

void expect_same(const ModelOutputs& a, const ModelOutputs& b, const char* what) {
  promise(a.tensors.size() == b.tensors.size(), what);
  for (std::size_t i = 0; i < a.tensors.size(); ++i) {
    promise(a.tensors[i].first == b.tensors[i].first, what);
    promise(same(a.tensors[i].second, b.tensors[i].second), what);
  }
}

}  // namespace clearformer::fuzz
