#include "clearformer/models/model.h"

#include <algorithm>
#include <iterator>

namespace clearformer {

Tensor* ModelOutputs::find(std::string_view name) {
  for (auto& [key, tensor] : tensors) {
    if (key == name) return &tensor;
  }
  return nullptr;
}

Tensor& ModelOutputs::at(std::string_view name) {
  if (Tensor* tensor = find(name)) return *tensor;
  fail(ErrorCode::invalid_argument, "model: there is no output \"", name, "\"");
}

ModelOutputs Model::forward(const ModelInputs& inputs, Trace* trace) {
  const std::unique_ptr<ForwardPass> pass = start(inputs, trace);
  while (pass->step()) continue;
  return std::move(pass->outputs());
}

KeyValueCache Model::make_cache() const {
  fail(ErrorCode::unsupported, config_.model_type, " for the task ", to_string(config_.task),
       " generates no tokens: it keeps no keys and values");
}

std::unique_ptr<ForwardPass> Model::start_encoding(const ModelInputs&, Trace*) { return nullptr; }

std::unique_ptr<ForwardPass> Model::start_step(const ModelInputs&, Trace*) {
  fail(ErrorCode::unsupported, config_.model_type, " for the task ", to_string(config_.task),
       " generates no tokens");
}

void Model::expect_inputs(const ModelInputs& inputs, std::initializer_list<std::string_view> needed,
                          std::initializer_list<std::string_view> optional) const {
  const auto in = [](std::initializer_list<std::string_view> list, std::string_view name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  for (const InputName& entry : kInputNames) {
    const ModelInputs::Input& input = inputs.*entry.member;
    if (!input) {
      if (!in(needed, entry.name)) continue;
      fail(ErrorCode::invalid_argument, "forward: ", config_.model_type, " needs ", entry.name);
    }
    if (!in(needed, entry.name) && !in(optional, entry.name)) {
      fail(ErrorCode::unsupported, "forward: ", config_.model_type, " takes no ", entry.name);
    }
    if (input->dtype() != entry.dtype) {
      fail(ErrorCode::dtype_mismatch, "forward: ", entry.name, " holds ", to_string(input->dtype()),
           ", expected ", to_string(entry.dtype));
    }
    const auto given = [&](const InputName& other) {
      return other.name == entry.about && inputs.*other.member;
    };
    if (std::none_of(std::begin(kInputNames), std::end(kInputNames), given)) {
      fail(ErrorCode::invalid_argument, "forward: ", entry.name, " needs ", entry.about);
    }
  }
  if (inputs.interpolate_pos_encoding && !inputs.pixel_values) {
    fail(ErrorCode::invalid_argument, "forward: interpolate_pos_encoding needs pixel_values");
  }
  const bool generates =
      config_.kind == ModelKind::decoder_only || config_.kind == ModelKind::encoder_decoder;
  if (inputs.cache != nullptr && !generates) {
    fail(ErrorCode::unsupported, "forward: ", config_.model_type, " keeps no keys and values");
  }
}

}  // namespace clearformer
