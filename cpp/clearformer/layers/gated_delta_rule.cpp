#include "clearformer/layers/gated_delta_rule.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "clearformer/kernels/activations.h"
#include "clearformer/kernels/delta_rule.h"
#include "clearformer/kernels/elementwise.h"
#include "clearformer/kernels/norm.h"
#include "clearformer/layers/delta_state.h"
#include "clearformer/layers/heads.h"
#include "clearformer/layers/position_filters.h"
#include "clearformer/tensor/portable_math.h"
#include "clearformer/tensor/thread_pool.h"

namespace clearformer {

namespace {

NormConfig norm_of(const GatedDeltaConfig& config) {
  return {.kind = NormKind::rms, .shape = {config.d_value}, .eps = config.eps};
}

void activate(Linear::Elementwise of, const MutableTensorView& x) {
  constexpr std::size_t kWork = 32, kLanes = 64;  // cost of an exponential; whole registers
  parallel_ranges(x.elements(), kWork, kLanes, [&](std::size_t first, std::size_t end) {
    of(x.f32() + first, x.f32() + first, end - first);
  });
}

// Copies `count` floats of each row of (rows, width) from column `first` on.
void take_columns(const TensorView& from, std::size_t first, const MutableTensorView& to) {
  const std::size_t width = from.dim(2), count = to.dim(2) * to.dim(3);
  for (std::size_t row = 0; row < from.dim(0) * from.dim(1); ++row) {
    std::memcpy(to.f32() + row * count, from.f32() + row * width + first, count * sizeof(float));
  }
}

// The last rows of window (B, rows, C), one sequence after another, as (B, kept, C).
void keep_last(const TensorView& window, Tensor& kept) {
  const std::size_t rows = window.dim(1), size = kept.dim(1) * window.dim(2);
  for (std::size_t sequence = 0; sequence < window.dim(0); ++sequence) {
    const float* const end = window.f32() + (sequence + 1) * rows * window.dim(2);
    std::memcpy(kept.f32() + sequence * size, end - size, size * sizeof(float));
  }
}

}  // namespace

GatedDeltaRule::GatedDeltaRule(const WeightScope& scope, const GatedDeltaConfig& config)
    : PositionMixer("delta"), config_(config), norm_(scope / "norm", norm_of(config)) {
  const std::size_t width = config.d_model, values = config.value_heads * config.d_value;
  qkv_ = Linear(scope / "qkv_proj", width, config.channels(), Bias::none);
  z_ = Linear(scope / "z_proj", width, values, Bias::none);
  b_ = Linear(scope / "b_proj", width, config.value_heads, Bias::none, MatrixRole::router);
  a_ = Linear(scope / "a_proj", width, config.value_heads, Bias::none, MatrixRole::router);
  output_ = Linear(scope / "out_proj", values, width, Bias::none);
  filters_ = (scope / "conv").take("weight", {config.channels(), 1, config.taps});
  a_log_ = scope.take("A_log", {config.value_heads});
  dt_bias_ = scope.take("dt_bias", {config.value_heads});
}

// projected (B, T, C) behind the inputs (B, k − 1, C) at the positions before, or zeros: window (B, k − 1 + T, C).
void GatedDeltaRule::fill_window(const TensorView& projected, const Tensor* before,
                                 const MutableTensorView& window) const {
  const std::size_t past = (config_.taps - 1) * config_.channels();
  const std::size_t own = projected.dim(1) * config_.channels();
  for (std::size_t sequence = 0; sequence < projected.dim(0); ++sequence) {
    float* const to = window.f32() + sequence * (past + own);
    if (before == nullptr) {
      std::memset(to, 0, past * sizeof(float));
    } else {
      std::memcpy(to, before->f32() + sequence * past, past * sizeof(float));
    }
    std::memcpy(to + past, projected.f32() + sequence * own, own * sizeof(float));
  }
}

// silu of the convolution of window (B, k − 1 + T, C).
GatedDeltaRule::Heads GatedDeltaRule::convolved(const MutableTensorView& window,
                                                Arena& arena) const {
  const std::size_t batch = window.dim(0), length = window.dim(1) + 1 - config_.taps;
  const std::size_t of_keys = config_.key_heads * config_.d_key;
  const auto take = [&](std::size_t heads, std::size_t width) {
    return arena.take({batch, length, heads, width});
  };
  const Heads heads{take(config_.key_heads, config_.d_key), take(config_.key_heads, config_.d_key),
                    take(config_.value_heads, config_.d_value)};
  const Arena::Frame frame(arena);
  const MutableTensorView mixed = arena.take({batch, length, config_.channels()});
  convolve(window, filter_rows(filters_, false, arena), {}, mixed);
  activate(kernels::silu, mixed);
  take_columns(mixed, 0, heads.q);
  take_columns(mixed, of_keys, heads.k);
  take_columns(mixed, 2 * of_keys, heads.v);
  return heads;
}

// Each head of x (B, T, G, d) gets this length: x / √(Σ x² + ε) = x / √(mean(x²) + ε / d) / √d.
void GatedDeltaRule::normalize(const MutableTensorView& x, double length, Arena& arena) const {
  const Arena::Frame frame(arena);
  const std::size_t width = config_.d_key, rows = x.elements() / width;
  const auto size = static_cast<double>(width);
  const MutableTensorView scales = arena.take({rows});
  parallel_ranges(rows, 8 * width, 1, [&](std::size_t first, std::size_t end) {
    float *const from = x.f32() + first * width, *const scale = scales.f32() + first;
    kernels::root_mean_square(from, scale, end - first, width,
                              static_cast<float>(kLengthEps / size));
    kernels::divide_rows(from, scale, from, end - first, width);
    kernels::scale(from, static_cast<float>(length / std::sqrt(size)), (end - first) * width);
  });
}

// exp(−exp(A)·softplus(x·W_a + dt)) (B, T, H)
MutableTensorView GatedDeltaRule::decays(const TensorView& x, const TensorView* padding,
                                         const Context& context) const {
  const std::size_t heads = config_.value_heads;
  const MutableTensorView decay = context.arena.take({x.dim(0), x.dim(1), heads});
  a_.forward(x, decay);
  fill_padded(decay, padding, {});
  context.trace.keep("a", decay);
  for (std::size_t i = 0; i < decay.elements(); ++i) {
    decay.f32()[i] = static_cast<float>(decay_of(decay.f32()[i], i % heads).decay);
  }
  return decay;
}

GatedDeltaRule::Decay GatedDeltaRule::decay_of(float a, std::size_t head) const {
  const double step = double{a} + dt_bias_.f32()[head], small = portable_exp(-std::abs(step));
  const double softplus = std::max(step, 0.0) + portable_log(1.0 + small);
  const double rate = portable_exp(double{a_log_.f32()[head]});
  return {step, rate, softplus, portable_exp(-rate * softplus)};
}

// All heads, a block of columns of S at a time; before: S (B, H, d_k, d_v) at the beginning, none or empty: zeros.
void GatedDeltaRule::recur(const Heads& heads, const TensorView& decay, const TensorView& beta,
                           const Tensor* before, const MutableTensorView& state,
                           const MutableTensorView& out) const {
  constexpr std::size_t kColumns = 16;
  const std::size_t count = config_.value_heads, keys = config_.d_key, values = config_.d_value;
  const std::size_t length = out.dim(1), blocks = (values + kColumns - 1) / kColumns;
  const bool begins = before == nullptr || before->empty();
  const auto run = [&](std::size_t task) {
    const std::size_t matrix = task / blocks, column = task % blocks * kColumns;
    const std::size_t columns = std::min(kColumns, values - column);
    const std::size_t first = matrix / count * length, head = matrix % count;  // of its sequence
    const std::size_t of_keys =
        (first * config_.key_heads + head / (count / config_.key_heads)) * keys;
    const std::size_t of_values = (first * count + head) * values + column;
    const std::size_t number = first * count + head;
    const std::size_t at = matrix * keys * values + column;
    for (std::size_t row = 0; row < keys; ++row) {
      float* const to = state.f32() + at + row * values;
      if (begins) {
        std::memset(to, 0, columns * sizeof(float));
      } else {
        std::memcpy(to, before->f32() + at + row * values, columns * sizeof(float));
      }
    }
    const kernels::DeltaHead block{heads.q.f32() + of_keys,
                                   heads.k.f32() + of_keys,
                                   heads.v.f32() + of_values,
                                   decay.f32() + number,
                                   beta.f32() + number,
                                   state.f32() + at,
                                   out.f32() + of_values,
                                   keys,
                                   values,
                                   columns,
                                   config_.key_heads * keys,
                                   count * values,
                                   count};
    kernels::delta_rule(block, length);
  };
  parallel_ranges(out.dim(0) * count * blocks, 4 * keys * kColumns * length, 1,
                  [&](std::size_t first, std::size_t end) {
                    for (; first < end; ++first) run(first);
                  });
}

void GatedDeltaRule::forward(const TensorView& x, const TensorView* padding,
                             std::unique_ptr<PastState>* past, const MutableTensorView& output,
                             Write write, const Context& context) const {
  Arena& arena = context.arena;
  const Arena::Frame frame(arena);
  const TraceScope& trace = context.trace;
  const std::size_t batch = x.dim(0), length = x.dim(1), channels = config_.channels();
  DeltaState* const kept = past == nullptr ? nullptr : &DeltaState::in(*past);
  const DeltaState::Moment* before = nullptr;
  MutableTensorView state;
  if (kept != nullptr) {
    before = &kept->advance(config_.matrices(batch), config_.inputs(batch), length);
    state = kept->now().matrices.mutable_view();
  } else {
    state = arena.take(config_.matrices(batch));
  }

  const MutableTensorView gate = arena.take({batch, length, config_.value_heads, config_.d_value});
  const MutableTensorView window = arena.take({batch, config_.taps - 1 + length, channels});
  {
    const Arena::Frame inner(arena);
    const MutableTensorView projected = arena.take({batch, length, channels});
    qkv_.forward(x, projected);
    fill_padded(projected, padding, {});
    trace.keep("qkv", projected);
    const bool begins = before == nullptr || before->length == 0;
    fill_window(projected, begins ? nullptr : &before->inputs, window);
  }
  if (kept != nullptr) keep_last(window, kept->now().inputs);
  const Heads heads = convolved(window, arena);
  trace("hook_q", heads.q, kHeadLegend);
  trace("hook_k", heads.k, kHeadLegend);
  trace("hook_v", heads.v, kHeadLegend);
  trace.keep("q", heads.q);
  trace.keep("k", heads.k);
  trace.keep("v", heads.v);
  normalize(heads.q, 1.0 / std::sqrt(static_cast<double>(config_.d_key)), arena);
  normalize(heads.k, 1.0, arena);
  const MutableTensorView beta = arena.take({batch, length, config_.value_heads});
  b_.forward(x, beta);
  fill_padded(beta, padding, {});
  trace.keep("b", beta);
  activate(kernels::sigmoid, beta);
  const MutableTensorView decay = decays(x, padding, context);
  trace("hook_beta", beta, kNumberLegend);
  trace("hook_decay", decay, kNumberLegend);
  trace.keep("beta", beta);
  trace.keep("decay", decay);
  const MutableTensorView out = arena.take(gate.shape());
  recur(heads, decay, beta, before == nullptr ? nullptr : &before->matrices, state, out);
  if (kept == nullptr && trace.edits("hook_state")) {
    fail(ErrorCode::invalid_argument, "an edit at ", trace.path(),
         ".hook_state needs past_key_values: the state after a call is read by the next one");
  }
  trace("hook_state", state, kStateLegend);
  trace("hook_o", out, kHeadLegend);
  norm_.forward(out, out, context / "norm");
  trace.keep("normed", out);
  z_.forward(x, heads_joined(gate));
  fill_padded(heads_joined(gate), padding, {});
  trace("hook_gate", gate, kHeadLegend);
  trace.keep("gate", gate);
  activate(kernels::silu, gate);
  multiply_all(out, gate, out);
  trace("hook_z", out, kHeadLegend);
  if (trace.edits("hook_z")) trace.keep("z", out);
  output_.forward(heads_joined(out), output, write);
}

}  // namespace clearformer
