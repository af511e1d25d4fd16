#include "clearformer/models/processed_weights.h"

#include <algorithm>
#include <vector>

#include "clearformer/models/lens_weights.h"

namespace clearformer {

namespace {

// The axes of a weight around those of its inputs: (outer, inputs, inner).
struct Extents {
  std::size_t outer, inputs, inner;
};

Extents extents_of(const Shape& shape) {
  return shape.rank() == 3 ? Extents{shape[0], shape[1], shape[2]} : Extents{1, shape[0], shape[1]};
}

// The scope and the leaf of a name: "blocks.0.attn" and "W_Q".
struct Split {
  std::string_view scope, leaf;

  explicit Split(std::string_view name) : leaf(name) {
    const std::size_t dot = name.rfind('.');
    if (dot == std::string_view::npos) return;
    scope = name.substr(0, dot);
    leaf = name.substr(dot + 1);
  }
};

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

[[noreturn]] void refuse(std::string_view name, std::string_view why) {
  fail(ErrorCode::unsupported, "parameter \"", name, "\" is not processed here: ", why);
}

const NormOrder& order_of(const ModelConfig& config) { return config.main().stack.block.order; }

// The scope of the norm whose output a weight reads.
std::string norm_before(const ModelConfig& config, const Parameters& parameters,
                        std::string_view name, std::string_view scope) {
  if (order_of(config) == NormOrder::post) refuse(name, "its norm follows the sum");
  if (config.kind == ModelKind::encoder_decoder || config.kind == ModelKind::dual_encoder) {
    refuse(name, "only models with one stack are");
  }
  if (scope.empty() || scope == "unembed") {
    if (config.kind != ModelKind::decoder_only || config.main().d_out > 0 || config.before_output ||
        config.head) {
      refuse(name, "a head has layers of its own");
    }
    return "ln_final";
  }
  const std::size_t expert = scope.find("mlp.experts."), dot = scope.rfind('.');
  const std::string block(scope.substr(0, std::min(expert, dot + 1)));
  const bool second = (expert != std::string_view::npos || scope.ends_with(".mlp")) &&
                      parameters.find(concat(block, "ln2.weight")) != nullptr;
  return concat(block, second ? "ln2" : "ln1");
}

// Whether there is such a norm: none precedes the first attention of normalized inputs (ModernBERT).
bool has_norm(const ModelConfig& config, const Parameters& parameters, const std::string& norm) {
  const StackConfig& stack = config.main().stack;
  if (norm == "ln_final") return stack.final_norm == FinalNorm::present;
  return !stack.normalized_input || parameters.find(concat(norm, ".weight")) != nullptr;
}

// Whether all that reads what a weight writes begins with a norm.
bool norms_follow(const ModelConfig& config, std::string_view leaf, const Shape& shape) {
  const TowerConfig& tower = config.main();
  const bool ends = tower.stack.final_norm == FinalNorm::present;
  const bool post = order_of(config) == NormOrder::post;
  if (!is_one_of(leaf, {"W_E", "W_pos"})) return ends || post;
  if (!tower.text) return ends;
  const bool normed = tower.text->norm || (ends && !post);
  const bool as_is = shape.back(0) == tower.d_model() ||
                     tower.text->projected == TextEmbeddingConfig::Projected::after_norm;
  return normed && as_is;
}

Tensor read_weight(const ModelConfig& config, const Parameters& parameters, std::string_view name,
                   const WeightProcessing& processing) {
  ParameterView view = lens_weight(config, parameters, name);
  view.with_updates = processing.with_adapters;
  return Parameters::read(view);
}

// A vector of the norm; empty if it has none.
Tensor of_norm(const ModelConfig& config, const Parameters& parameters, const std::string& norm,
               const char* leaf) {
  const bool present = parameters.find(concat(norm, *leaf == 'w' ? ".weight" : ".bias")) != nullptr;
  return present ? read_weight(config, parameters, concat(norm, ".", leaf), {}) : Tensor();
}

void fold_weight(Tensor& weight, const Tensor& norm_weight, bool center) {
  const auto [outer, inputs, inner] = extents_of(weight.shape());
  for (std::size_t o = 0; o < outer; ++o) {
    float* const first = weight.f32() + o * inputs * inner;
    for (std::size_t i = 0; i < inner; ++i) {
      double sum = 0.0;
      for (std::size_t d = 0; d < inputs; ++d) {
        float& number = first[d * inner + i];
        if (!norm_weight.empty()) number *= norm_weight.f32()[d];
        sum += number;
      }
      const double mean = sum / static_cast<double>(inputs);
      for (std::size_t d = 0; center && d < inputs; ++d) {
        first[d * inner + i] = static_cast<float>(first[d * inner + i] - mean);
      }
    }
  }
}

void fold_bias(Tensor& bias, const Tensor& weight, const Tensor& norm_bias) {
  const auto [outer, inputs, inner] = extents_of(weight.shape());
  for (std::size_t o = 0; o < outer; ++o) {
    for (std::size_t i = 0; i < inner; ++i) {
      double sum = bias.f32()[o * inner + i];
      for (std::size_t d = 0; d < inputs; ++d) {
        sum += static_cast<double>(weight.f32()[(o * inputs + d) * inner + i]) * norm_bias.f32()[d];
      }
      bias.f32()[o * inner + i] = static_cast<float>(sum);
    }
  }
}

void center_rows(Tensor& x) {
  const std::size_t width = x.shape().back(0);
  for (std::size_t first = 0; first < x.elements(); first += width) {
    float* const row = x.f32() + first;
    double sum = 0.0;
    for (std::size_t d = 0; d < width; ++d) sum += row[d];
    const double mean = sum / static_cast<double>(width);
    for (std::size_t d = 0; d < width; ++d) row[d] = static_cast<float>(row[d] - mean);
  }
}

}  // namespace

Tensor processed_weight(const ModelConfig& config, const Parameters& parameters,
                        std::string_view name, const WeightProcessing& processing) {
  Tensor tensor = read_weight(config, parameters, name, processing);
  const auto [scope, leaf] = Split(name);
  const bool centers = config.main().stack.block.norm.kind == NormKind::layer;
  const bool reads = is_one_of(leaf, {"W_Q", "W_K", "W_V", "W_in", "W_gate", "W_U"});
  const bool biases = is_one_of(leaf, {"b_Q", "b_K", "b_V", "b_in", "b_gate", "b_U"});
  if (processing.fold_ln && (reads || biases)) {
    const std::string norm = norm_before(config, parameters, name, scope);
    if (reads) {
      fold_weight(tensor, of_norm(config, parameters, norm, "w"),
                  centers && has_norm(config, parameters, norm));
    } else if (const Tensor shift = of_norm(config, parameters, norm, "b"); !shift.empty()) {
      const std::string weight = concat(scope, scope.empty() ? "" : ".", "W_", leaf.substr(2));
      fold_bias(tensor, read_weight(config, parameters, weight, processing), shift);
    }
  }
  const bool writes = is_one_of(leaf, {"W_E", "W_pos", "W_O", "b_O", "W_out", "b_out"});
  if (processing.center_writing_weights && writes) {
    if (!centers) refuse(name, "RMSNorm does not subtract the mean");
    if (order_of(config) == NormOrder::both) refuse(name, "a norm follows before the sum");
    if (!norms_follow(config, leaf, tensor.shape())) refuse(name, "no norm follows");
    center_rows(tensor);
  }
  return tensor;
}

}  // namespace clearformer
