#include "model_run.h"

#include <algorithm>

#include "clearformer/loading/load_model.h"
#include "clearformer/tensor/error.h"
#include "clearformer/tensor/matrix.h"
#include "clearformer/tensor/thread_pool.h"

namespace clearformer::bench {

namespace {

/// Token (index · 7919 + 13 · (row + 1)) mod vocabulary, starting at index `past`.
Tensor tokens(const ModelWork& work, std::size_t past, std::size_t length, std::size_t vocabulary) {
  Tensor ids({work.batch, length}, DType::i32);
  for (std::size_t row = 0; row < work.batch; ++row) {
    for (std::size_t i = 0; i < length; ++i) {
      const std::size_t token = ((past + i) * 7919 + 13 * (row + 1)) % vocabulary;
      ids.mutable_view().as<std::int32_t>()[row * length + i] = static_cast<std::int32_t>(token);
    }
  }
  return ids;
}

/// Values in [-1, 1) computed from their index.
Tensor pixels(std::size_t side) {
  Tensor image({1, 3, side, side});
  for (std::size_t i = 0; i < image.elements(); ++i) {
    const auto mixed = static_cast<std::int32_t>(static_cast<std::uint32_t>(i) * 0x9e3779b1u);
    image.f32()[i] = static_cast<float>(mixed >> 8) / 8388608.0f;
  }
  return image;
}

Task task_of(const std::string& task) {
  return task == "encode"  ? Task::base
         : task == "image" ? Task::image_classification
                           : Task::causal_lm;
}

void use_threads(std::size_t threads) {
  set_num_threads(threads);
  const std::size_t used = num_threads();
  if (used != threads) fail(ErrorCode::unsupported, threads, " threads: there is ", used);
}

std::unique_ptr<Model> load(const ModelWork& work) {
  const auto format = matrix_format_named(work.dtype);
  if (format.has_value()) return from_pretrained(work.folder, task_of(work.task), *format);
  fail(ErrorCode::unsupported, "dtype ", work.dtype, ": there is no such");
}

}  // namespace

ModelRun::ModelRun(const ModelWork& work) : work_(work) {
  use_threads(work.threads);
  model_ = load(work);
  if (work.task == "image") {
    input_ = pixels(work.length);
    return;
  }
  const std::size_t vocabulary = model_->config().tower.text->vocabulary;
  input_ = tokens(work, work.past, work.length, vocabulary);
  if (work.task != "decode") return;
  cache_ = std::make_unique<KeyValueCache>(model_->make_cache());
  const Tensor prompt = tokens(work, 0, work.past, vocabulary);
  ModelInputs inputs;
  inputs.input_ids = prompt.view();
  inputs.cache = cache_.get();
  inputs.logits_to_keep = {-1};
  model_->forward(inputs);
}

ModelOutputs ModelRun::forward() {
  ModelInputs inputs;
  (work_.task == "image" ? inputs.pixel_values : inputs.input_ids) = input_.view();
  if (work_.task == "prefill" || work_.task == "decode") inputs.logits_to_keep = {-1};
  // A prompt's keys and values are stored, as in generation.
  KeyValueCache fresh = work_.task == "prefill" ? model_->make_cache() : KeyValueCache(0, 0);
  inputs.cache = work_.task == "prefill" ? &fresh : cache_.get();
  ModelOutputs outputs = model_->forward(inputs);
  if (cache_) cache_->crop(work_.past);
  return outputs;
}

void ModelRun::run() { forward(); }

std::vector<float> ModelRun::sample(std::size_t& count) {
  ModelOutputs outputs = forward();
  const Tensor& all = outputs.at(work_.task == "encode" ? "last_hidden_state" : "logits");
  count = all.elements();
  const std::size_t stride = std::max<std::size_t>(1, count / 4096);
  std::vector<float> picked;
  for (std::size_t i = 0; i < count; i += stride) picked.push_back(all.f32()[i]);
  return picked;
}

}  // namespace clearformer::bench
