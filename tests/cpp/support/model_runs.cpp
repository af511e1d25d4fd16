#include "support/model_runs.h"

#include <algorithm>

#include "support/random.h"

namespace clearformer::test {

Tensor tokens(const std::vector<std::int32_t>& ids) {
  Tensor tensor({1, ids.size()}, DType::i32);
  std::copy(ids.begin(), ids.end(), tensor.mutable_view().as<std::int32_t>());
  return tensor;
}

Tensor columns(const Tensor& ids, std::size_t row, std::size_t first, std::size_t count) {
  const std::int32_t* from = ids.view().as<std::int32_t>() + row * ids.dim(1) + first;
  return tokens({from, from + count});
}

Tensor random_ids(std::uint64_t seed, std::size_t batch, std::size_t length,
                  std::size_t vocabulary) {
  Random random(seed);
  Tensor ids({batch, length}, DType::i32);
  for (std::size_t i = 0; i < ids.elements(); ++i) {
    ids.mutable_view().as<std::int32_t>()[i] =
        static_cast<std::int32_t>(3 + random.below(vocabulary - 3));
  }
  return ids;
}

Tensor logits_of(Model& model, const ModelInputs& inputs, Trace* trace) {
  return std::move(model.forward(inputs, trace).at("logits"));
}

Tensor forward(Model& model, const Tensor& ids, Trace* trace) {
  return std::move(model.forward(inputs_of(ids), trace).at("logits"));
}

Tensor forward(Model& model, const Tensor& ids, KeyValueCache& cache, Trace* trace) {
  ModelInputs inputs = inputs_of(ids);
  inputs.cache = &cache;
  return std::move(model.forward(inputs, trace).at("logits"));
}

std::string hook_of_output(const std::string& output, std::size_t layers) {
  const auto index = [&output] { return std::stoul(output.substr(output.find('.') + 1)); };
  if (output.rfind("attentions.", 0) == 0) return concat("blocks.", index(), ".attn.hook_pattern");
  if (output.rfind("hidden_states.", 0) != 0) return output;
  if (index() == 0) return "hook_embed";
  if (index() == layers) return "ln_final.hook_out";
  return concat("blocks.", index() - 1, ".hook_resid_post");
}

std::vector<std::int32_t> greedy_without_cache(Model& model, Tensor ids, std::size_t count) {
  const auto* first = ids.view().as<std::int32_t>();
  std::vector<std::int32_t> all(first, first + ids.elements());
  for (std::size_t step = 0; step < count; ++step) {
    const Tensor logits = forward(model, tokens(all));
    const std::size_t vocabulary = logits.dim(2);
    const float* last = logits.f32() + (all.size() - 1) * vocabulary;
    all.push_back(static_cast<std::int32_t>(std::max_element(last, last + vocabulary) - last));
  }
  return {all.end() - static_cast<std::ptrdiff_t>(count), all.end()};
}

}  // namespace clearformer::test
