#include "clearformer/models/composition.h"

#include <cmath>
#include <vector>

#include "clearformer/kernels/matmul.h"
#include "clearformer/kernels/packed_matrix.h"

namespace clearformer {

namespace {

// Reads the weights of one layer's attention as (heads, d, D).
class HeadRows {
 public:
  HeadRows(const ModelConfig& config, const Parameters& parameters,
           const WeightProcessing& processing)
      : config_(config), parameters_(parameters), processing_(processing) {}

  Tensor read(std::size_t layer, const char* leaf) const {
    const char* stack = config_.kind == ModelKind::encoder_decoder ? "decoder."
                        : config_.kind == ModelKind::dual_encoder  ? "text_model."
                                                                   : "";
    const std::string name = concat(stack, config_.main().stack.block_scope(layer), ".attn.", leaf);
    Tensor weight = processed_weight(config_, parameters_, name, processing_);
    if (leaf[2] == 'O') return weight;
    const std::size_t heads = weight.dim(0), inputs = weight.dim(1), d = weight.dim(2);
    Tensor rows({heads, d, inputs});
    for (std::size_t i = 0; i < weight.elements(); ++i) {
      const std::size_t head = i / (inputs * d), input = i / d % inputs;
      rows.f32()[(head * d + i % d) * inputs + input] = weight.f32()[i];
    }
    return rows;
  }

 private:
  const ModelConfig& config_;
  const Parameters& parameters_;
  WeightProcessing processing_;
};

// The upper triangular R (d, d) with RᵀR = M·Mᵀ of rows M (d, D): Cholesky, for semidefinite matrices as well.
std::vector<double> triangle_of(const float* rows, std::size_t d, std::size_t width) {
  std::vector<double> r(d * d, 0.0);
  double largest = 0.0;
  for (std::size_t i = 0; i < d; ++i) {
    for (std::size_t j = i; j < d; ++j) {
      double sum = 0.0;
      for (std::size_t k = 0; k < width; ++k) {
        sum += static_cast<double>(rows[i * width + k]) * rows[j * width + k];
      }
      r[i * d + j] = sum;
    }
    largest = std::max(largest, r[i * d + i]);
  }
  for (std::size_t i = 0; i < d; ++i) {
    const double pivot = r[i * d + i];
    const double root = pivot > 1e-14 * largest ? std::sqrt(pivot) : 0.0;  // else a dependent row
    for (std::size_t j = i; j < d; ++j) r[i * d + j] = root == 0.0 ? 0.0 : r[i * d + j] / root;
    for (std::size_t k = i + 1; k < d; ++k) {
      for (std::size_t j = k; j < d; ++j) r[k * d + j] -= r[i * d + k] * r[i * d + j];
    }
  }
  return r;
}

// For each head R·N (d, D), with the R of its rows of `m` and its rows N of `n`; and the norms of these products.
struct Folded {
  Tensor rows;  // (H·d, D)
  std::vector<double> norms;
};

Folded folded(const Tensor& m, const Tensor& n) {
  const std::size_t d = m.dim(1), width = m.dim(2), heads = std::max(m.dim(0), n.dim(0));
  Folded out{Tensor::zeros({heads * d, width}), std::vector<double>(heads, 0.0)};
  std::vector<double> row(width);
  for (std::size_t head = 0; head < heads; ++head) {
    const float* const rows = m.f32() + head / (heads / m.dim(0)) * d * width;
    const float* const from = n.f32() + head / (heads / n.dim(0)) * d * width;
    const std::vector<double> r = triangle_of(rows, d, width);
    for (std::size_t i = 0; i < d; ++i) {
      std::fill(row.begin(), row.end(), 0.0);
      for (std::size_t k = i; k < d; ++k) {
        for (std::size_t j = 0; j < width; ++j) row[j] += r[i * d + k] * from[k * width + j];
      }
      float* const to = out.rows.f32() + (head * d + i) * width;
      for (std::size_t j = 0; j < width; ++j) {
        to[j] = static_cast<float>(row[j]);
        out.norms[head] += row[j] * row[j];
      }
    }
    out.norms[head] = std::sqrt(out.norms[head]);
  }
  return out;
}

Folded second_head(const HeadRows& weights, std::size_t layer, Composition mode) {
  switch (mode) {
    case Composition::queries:
      return folded(weights.read(layer, "W_K"), weights.read(layer, "W_Q"));
    case Composition::keys: return folded(weights.read(layer, "W_Q"), weights.read(layer, "W_K"));
    default: return folded(weights.read(layer, "W_O"), weights.read(layer, "W_V"));
  }
}

}  // namespace

Tensor composition_scores(const ModelConfig& config, const Parameters& parameters,
                          std::size_t layer, Composition mode, const WeightProcessing& processing) {
  const std::size_t layers = config.n_layers();
  if (layer >= layers)
    fail(ErrorCode::invalid_argument, "layer ", layer, " of ", layers, " layers");
  const StackConfig& stack = config.main().stack;
  const std::size_t all = stack.block.attention.num_heads;
  if (!stack.attends(layer)) return Tensor::zeros({all, layers, all});
  const HeadRows weights(config, parameters, processing);
  const Folded first = folded(weights.read(layer, "W_V"), weights.read(layer, "W_O"));
  const std::size_t heads = first.norms.size(), d = first.rows.dim(0) / heads;
  const std::size_t width = heads * d;
  Tensor scores = Tensor::zeros({heads, layers, heads}), products({width, width});
  for (std::size_t later = layer + 1; later < layers; ++later) {
    if (!stack.attends(later)) continue;
    Folded second = second_head(weights, later, mode);
    const kernels::PackedMatrix packed(std::move(second.rows));
    packed.multiply(first.rows.f32(), products.f32(), width, {});
    for (std::size_t i = 0; i < heads * heads; ++i) {
      const std::size_t one = i / heads, other = i % heads;
      double squares = 0.0;
      for (std::size_t at = 0; at < d * d; ++at) {
        const double x = products.f32()[(one * d + at / d) * width + other * d + at % d];
        squares += x * x;
      }
      scores.f32()[(one * layers + later) * heads + other] =
          static_cast<float>(std::sqrt(squares) / (first.norms[one] * second.norms[other]));
    }
  }
  return scores;
}

}  // namespace clearformer
