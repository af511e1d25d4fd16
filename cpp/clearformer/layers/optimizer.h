// Optimisers: AdamW and SGD over the sums of weights' gradients, the clipping of these, and learning rates by step.
//   AdamW: w -= η·λ·w;  m = β₁m + (1 - β₁)g;  v = β₂v + (1 - β₂)g²;  w -= η·m̂ / (√v̂ + ε),  m̂ = m / (1 - β₁ᵗ), v̂ likewise
//   SGD:   g += λ·w;  v = μ·v + (1 - τ)g (at first g);  w -= η·v, with nesterov η·(g + μ·v)
// Sources: Loshchilov & Hutter 2017, arXiv 1711.05101; Sutskever et al. 2013; torch.optim.
// Steps change the weights where the model's layers hold them. The bits are the same for any number of threads.
#pragma once

#include <vector>

#include "clearformer/layers/weight_gradients.h"

namespace clearformer {

/// Options of torch.optim.AdamW, with its defaults.
struct AdamWOptions {
  double learning_rate = 1e-3;
  double beta1 = 0.9, beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 1e-2;
};

/// Options of torch.optim.SGD, with its defaults.
struct SgdOptions {
  double learning_rate = 1e-3;
  double momentum = 0.0, dampening = 0.0;
  double weight_decay = 0.0;
  bool nesterov = false;
};

/// What optimisers have in common: the weights they change, and their state.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// Changes each weight that the passes reached, once. A weight that is tied is one weight. Throws invalid_argument for a
  /// learning rate that is negative or not finite, or out_of_memory; then nothing is changed.
  void step(const WeightGradients& gradients);
  /// Scales the gradients of its weights by max_norm / (norm + 1e-6) if that is below 1, and returns their norm before,
  /// the root of the sum of all squares, accumulated in double in the order of the weights; as
  /// torch.nn.utils.clip_grad_norm_. Throws invalid_argument for a max_norm below 0 or NaN.
  double clip_grad_norm(const WeightGradients& gradients, double max_norm) const;
  double learning_rate = 0.0;  // of the next step
  /// Bytes of the state: 8 a number for AdamW, 4 for SGD with momentum.
  std::size_t bytes() const;

 protected:
  /// `states`: numbers of state for each number of a weight. Throws unsupported, naming the weight, for weights that are
  /// not in fp32, and for numbers that torch refuses (invalid_argument).
  Optimizer(const std::vector<Parameter>& parameters, double learning_rate, std::size_t states);

  /// The state of one weight.
  struct State {
    std::size_t steps = 0;              // of this weight, with the one at hand
    double power1 = 1.0, power2 = 1.0;  // AdamW: β₁ᵗ, β₂ᵗ
    Tensor first, second;
  };
  /// A run of numbers of one weight; first and second are null if there is no such state.
  struct Run {
    float* weight;
    const float* gradient;
    float *first, *second;
    std::size_t count;
  };
  /// Called once before a weight's runs.
  virtual void begin(State& state) const = 0;
  virtual void update(const State& state, const Run& run) const = 0;

 private:
  struct Item {
    Parameter parameter;
    State state;
  };
  // With memory for two rows.
  void step(Item& item, const WeightRows& gradient, float* memory) const;

  std::vector<Item> items_;
};

/// torch.optim.AdamW
class AdamW : public Optimizer {
 public:
  AdamW(const std::vector<Parameter>& parameters, const AdamWOptions& options = {});

 private:
  void begin(State& state) const override;
  void update(const State& state, const Run& run) const override;

  AdamWOptions options_;
};

/// torch.optim.SGD
class Sgd : public Optimizer {
 public:
  Sgd(const std::vector<Parameter>& parameters, const SgdOptions& options = {});

 private:
  void begin(State&) const override {}
  void update(const State& state, const Run& run) const override;

  SgdOptions options_;
};

/// Learning rates by step, as factors of the optimiser's: transformers' get_scheduler with these names, constant that of
/// constant_with_warmup.
struct Schedule {
  enum class Kind { constant, linear, cosine } kind = Kind::constant;
  std::size_t warmup_steps = 0;  // the factor rises from 0 in these
  std::size_t steps = 0;         // in all; constant ignores it

  /// The factor of the step with that index, counted from 0.
  double factor(std::size_t step) const;
};

}  // namespace clearformer
