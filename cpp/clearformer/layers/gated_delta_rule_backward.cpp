#include <algorithm>
#include <cmath>
#include <cstring>

#include "clearformer/kernels/activation_derivatives.h"
#include "clearformer/kernels/activations.h"
#include "clearformer/kernels/delta_rule.h"
#include "clearformer/kernels/elementwise.h"
#include "clearformer/kernels/norm.h"
#include "clearformer/kernels/norm_backward.h"
#include "clearformer/layers/gated_delta_rule.h"
#include "clearformer/layers/heads.h"
#include "clearformer/layers/position_filters.h"
#include "clearformer/layers/weight_gradients.h"
#include "clearformer/tensor/portable_math.h"
#include "clearformer/tensor/thread_pool.h"

namespace clearformer {

namespace {

// d (B, T, H, w), by heads of values, summed over those of each head of keys: into `to` (B, T, G, w).
void add_up_heads(const TensorView& d, const MutableTensorView& to) {
  const std::size_t width = d.dim(3), repeats = d.dim(2) / to.dim(2);
  const std::size_t heads = to.elements() / width;
  for (std::size_t head = 0; head < heads; ++head) {
    float* const sum = to.f32() + head * width;
    const float* from = d.f32() + head * repeats * width;
    std::memcpy(sum, from, width * sizeof(float));
    for (std::size_t i = 1; i < repeats; ++i) kernels::add(sum, from + i * width, sum, width);
  }
}

// Columns first … of (rows, width) from each row of `from`.
void put_columns(const TensorView& from, std::size_t first, const MutableTensorView& to) {
  const std::size_t width = to.dim(2), count = from.dim(2) * from.dim(3);
  for (std::size_t row = 0; row < to.dim(0) * to.dim(1); ++row) {
    std::memcpy(to.f32() + row * width + first, from.f32() + row * count, count * sizeof(float));
  }
}

// One head of one sequence: its first position, and room for S before every `stride` positions, and before each of them.
struct HeadBackward {
  kernels::DeltaHead head;
  kernels::DeltaGradient d;
  std::size_t gradient_step;  // of dq and dk, from one position to the next
  float *marks, *states;
  std::size_t stride;

  std::size_t size() const { return head.keys * head.values; }
  void copy(const float* from, float* to) const { std::memcpy(to, from, size() * sizeof(float)); }

  // S after the position from S before it, in place.
  void advance(std::size_t position, float* state) const {
    kernels::DeltaHead at = head;
    at.q += position * at.key_step;
    at.k += position * at.key_step;
    at.v += position * at.value_step;
    at.decay += position * at.number_step;
    at.beta += position * at.number_step;
    at.state = state;
    at.out = d.change;
    kernels::delta_rule(at, 1);
  }

  void go_back(std::size_t position, const float* state) const {
    kernels::DeltaGradient at = d;
    const std::size_t key = position * head.key_step, value = position * head.value_step;
    const std::size_t number = position * head.number_step, gradient = position * gradient_step;
    at.q += key;
    at.k += key;
    at.v += value;
    at.decay = head.decay[number];
    at.beta = head.beta[number];
    at.state = state;
    at.d_out += value;
    at.dq += gradient;
    at.dk += gradient;
    at.dv += value;
    at.d_decay += number;
    at.d_beta += number;
    kernels::delta_rule_backward(at);
  }

  void run(std::size_t length) const {
    const std::size_t last = (length - 1) / stride;
    std::fill_n(marks, size(), 0.0f);
    for (std::size_t mark = 0; mark < last; ++mark) {
      float* const next = marks + (mark + 1) * size();
      copy(next - size(), next);
      for (std::size_t i = 0; i < stride; ++i) advance(mark * stride + i, next);
    }
    for (std::size_t mark = last + 1; mark-- > 0;) {
      const std::size_t first = mark * stride, count = std::min(stride, length - first);
      copy(marks + mark * size(), states);
      for (std::size_t i = 1; i < count; ++i) {
        float* const next = states + i * size();
        copy(next - size(), next);
        advance(first + i - 1, next);
      }
      for (std::size_t i = count; i-- > 0;) go_back(first + i, states + i * size());
    }
  }
};

}  // namespace

void GatedDeltaRule::recur_back(const Positions& of, const TensorView& d_out,
                                const MutableTensorView& d_state, const PositionGradients& d,
                                Arena& arena) const {
  const Arena::Frame frame(arena);
  const std::size_t count = config_.value_heads, keys = config_.d_key, values = config_.d_value;
  const std::size_t length = d_out.dim(1), workers = num_threads(), size = keys * values;
  const auto stride = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(length))));
  const MutableTensorView room = arena.take({workers, (2 * stride + 1) * size + values});
  parallel_ranges(
      d_out.dim(0) * count, 16 * size * length, 1, workers,
      [&](std::size_t first, std::size_t end, std::size_t worker) {
        float* const marks = room.f32() + worker * room.dim(1);
        float* const states = marks + (stride + 1) * size;
        for (std::size_t matrix = first; matrix < end; ++matrix) {
          const std::size_t row = matrix / count * length, head = matrix % count;
          const std::size_t number = row * count + head;
          const std::size_t key =
              (row * config_.key_heads + head / (count / config_.key_heads)) * keys;
          const float *const q = of.q.f32() + key, *const k = of.k.f32() + key;
          const float* const v = of.v.f32() + number * values;
          const float *const decay = of.decay.f32() + number, *const beta = of.beta.f32() + number;
          const std::size_t key_step = config_.key_heads * keys, value_step = count * values;
          const HeadBackward back{
              {q, k, v, decay, beta, nullptr, nullptr, keys, values, values, key_step, value_step,
               count},
              {q, k, v, 0.0f, 0.0f, nullptr, d_out.f32() + number * values,
               d_state.f32() + matrix * size, d.q.f32() + number * keys, d.k.f32() + number * keys,
               d.v.f32() + number * values, d.decay.f32() + number, d.beta.f32() + number,
               states + stride * size, keys, values},
              count * keys,
              marks,
              states,
              stride};
          back.run(length);
        }
      });
}

// Of normalize() of x (B, T, G, d): with n = x / s, s = √(mean(x²) + ε / d), y = n · length / √d. d in place.
void GatedDeltaRule::normalize_back(const TensorView& x, double length, const MutableTensorView& d,
                                    Arena& arena) const {
  const Arena::Frame frame(arena);
  const std::size_t width = config_.d_key, rows = x.elements() / width;
  const auto size = static_cast<double>(width);
  const MutableTensorView scale = arena.take({rows}), d_scale = arena.take({rows});
  const MutableTensorView normalized = arena.take(x.shape());
  parallel_ranges(rows, 16 * width, 1, [&](std::size_t first, std::size_t end) {
    const std::size_t at = first * width, count = end - first;
    float *const n = normalized.f32() + at, *const dn = d.f32() + at,
                 *const s = scale.f32() + first;
    kernels::root_mean_square(x.f32() + at, s, count, width, static_cast<float>(kLengthEps / size));
    kernels::divide_rows(x.f32() + at, s, n, count, width);
    kernels::scale(dn, static_cast<float>(length / std::sqrt(size)), count * width);
    kernels::norm_scale_gradient(dn, n, s, d_scale.f32() + first, count, width);
    kernels::norm_input_gradient(
        {dn, n, d_scale.f32() + first, s, s, dn, count, width, false, false});
  });
}

// From that of the decays, in place, that of a (B, T, H), what they are computed of.
void GatedDeltaRule::decays_back(const TensorView& a, const MutableTensorView& d,
                                 const Context& context) const {
  const std::size_t heads = config_.value_heads;
  const WeightGradients* const weights = context.trace.weights();
  float* const of_rates = weights == nullptr ? nullptr : weights->of(a_log_);
  float* const of_steps = weights == nullptr ? nullptr : weights->of(dt_bias_);
  for (std::size_t head = 0; head < heads; ++head) {
    double rates = 0.0, steps = 0.0;
    for (std::size_t i = head; i < d.elements(); i += heads) {
      const Decay decay = decay_of(a.f32()[i], head);
      const double of_rate = -decay.decay * decay.rate * d.f32()[i];
      const double step = of_rate / (1.0 + portable_exp(-decay.step));
      rates += of_rate * decay.softplus;
      steps += step;
      d.f32()[i] = static_cast<float>(step);
    }
    if (of_rates != nullptr) of_rates[head] += static_cast<float>(rates);
    if (of_steps != nullptr) of_steps[head] += static_cast<float>(steps);
  }
}

void GatedDeltaRule::backward(const TensorView& x, const TensorView* padding,
                              const TensorView& d_output, const MutableTensorView& dx, Write write,
                              const Context& context) const {
  Arena& arena = context.arena;
  const Arena::Frame frame(arena);
  const TraceScope& trace = context.trace;
  const std::size_t batch = d_output.dim(0), length = d_output.dim(1);
  const double query_length = 1.0 / std::sqrt(static_cast<double>(config_.d_key));

  const TensorView gate = trace.kept("gate"), normed = trace.kept("normed");
  const MutableTensorView open = arena.take(gate.shape()), z = arena.take(gate.shape());
  const MutableTensorView d_out = arena.take(gate.shape()), d_gate = arena.take(gate.shape());
  kernels::silu(gate.f32(), open.f32(), open.elements());
  multiply_all(normed, open, z);
  const TensorView used = trace.has_kept("z") ? trace.kept("z") : TensorView(z);
  const Shape rows = heads_joined(z).shape();
  output_.backward(used.reshaped(rows), d_output, heads_joined(d_out), Write::over, trace.weights(),
                   arena);
  trace.back("hook_z", d_out, kHeadLegend);
  multiply_all(d_out, normed, d_gate);
  kernels::silu_derivative(gate.f32(), d_gate.f32(), d_gate.elements());
  multiply_all(d_out, open, d_out);
  trace.back("hook_gate", d_gate, kHeadLegend);
  norm_.backward(d_out, d_out, Write::over, context / "norm");
  trace.back("hook_o", d_out, kHeadLegend);
  const MutableTensorView d_state = arena.take(config_.matrices(batch));
  std::memset(d_state.data(), 0, d_state.bytes());  // no later position reads it
  trace.back("hook_state", d_state, kStateLegend);

  const TensorView q = trace.kept("q"), k = trace.kept("k"), v = trace.kept("v");
  const MutableTensorView d_beta = arena.take(trace.kept("beta").shape());
  const MutableTensorView d_decay = arena.take(d_beta.shape());
  const MutableTensorView dq = arena.take(q.shape()), dk = arena.take(k.shape());
  const MutableTensorView dv = arena.take(v.shape());
  {
    const Arena::Frame inner(arena);
    const Shape by_values{batch, length, config_.value_heads, config_.d_key};
    const MutableTensorView read = arena.take_copy(q), written = arena.take_copy(k);
    normalize(read, query_length, arena);
    normalize(written, 1.0, arena);
    const PositionGradients d{arena.take(by_values), arena.take(by_values), dv, d_decay, d_beta};
    recur_back({read, written, v, trace.kept("decay"), trace.kept("beta")}, d_out, d_state, d,
               arena);
    add_up_heads(d.q, dq);
    add_up_heads(d.k, dk);
  }
  trace.back("hook_decay", d_decay, kNumberLegend);
  trace.back("hook_beta", d_beta, kNumberLegend);
  normalize_back(k, 1.0, dk, arena);
  normalize_back(q, query_length, dq, arena);
  trace.back("hook_v", dv, kHeadLegend);
  trace.back("hook_k", dk, kHeadLegend);
  trace.back("hook_q", dq, kHeadLegend);

  project_back(z_, x, padding, heads_joined(d_gate), dx, write, context);
  const TensorView b = trace.kept("b");
  kernels::sigmoid_derivative(b.f32(), d_beta.f32(), d_beta.elements());
  project_back(b_, x, padding, d_beta, dx, Write::onto, context);
  decays_back(trace.kept("a"), d_decay, context);
  project_back(a_, x, padding, d_decay, dx, Write::onto, context);

  const MutableTensorView d_mixed = arena.take({batch, length, config_.channels()});
  const MutableTensorView mixed = arena.take(d_mixed.shape());
  const std::size_t of_keys = config_.key_heads * config_.d_key;
  put_columns(dq, 0, d_mixed);
  put_columns(dk, of_keys, d_mixed);
  put_columns(dv, 2 * of_keys, d_mixed);
  const MutableTensorView window =
      arena.take({batch, config_.taps - 1 + length, config_.channels()});
  fill_window(trace.kept("qkv"), nullptr, window);
  convolve(window, filter_rows(filters_, false, arena), {}, mixed);
  kernels::silu_derivative(mixed.f32(), d_mixed.f32(), d_mixed.elements());
  convolve_back(window, filters_, {}, d_mixed, mixed, context);
  project_back(qkv_, x, padding, mixed, dx, Write::onto, context);
}

}  // namespace clearformer
