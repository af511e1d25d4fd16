#include "clearformer/layers/mixture_of_experts.h"

#include <algorithm>
#include <cstring>

#include "clearformer/kernels/elementwise.h"
#include "clearformer/kernels/softmax.h"
#include "clearformer/kernels/softmax_backward.h"

namespace clearformer {

namespace {

constexpr std::string_view kExpertLegend = "batch pos expert";

// The rows of `weights` (B, T, E) that are not 0 for an expert, or all, in their order.
std::vector<std::size_t> rows_that_chose(const TensorView& weights, std::size_t expert, bool all) {
  const std::size_t experts = weights.shape().back(0), rows = weights.shape().outer(1);
  std::vector<std::size_t> chosen;
  for (std::size_t row = 0; row < rows; ++row) {
    if (all || weights.f32()[row * experts + expert] != 0.0f) chosen.push_back(row);
  }
  return chosen;
}

// These rows of x (B, T, D), as (1, n, D).
MutableTensorView gather_rows(const TensorView& x, const std::vector<std::size_t>& rows,
                              Arena& arena) {
  const std::size_t width = x.shape().back(0);
  const MutableTensorView some = arena.take({1, rows.size(), width});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::memcpy(some.f32() + i * width, x.f32() + rows[i] * width, width * sizeof(float));
  }
  return some;
}

// sum (B, T, D) += some (1, n, D) at these rows.
void scatter_rows(const TensorView& some, const std::vector<std::size_t>& rows,
                  const MutableTensorView& sum) {
  const std::size_t width = sum.shape().back(0);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    float* const to = sum.f32() + rows[i] * width;
    kernels::add(to, some.f32() + i * width, to, width);
  }
}

// Multiplies each of some (1, n, D) by its row's weight for an expert, which was not chosen where that is 0.
void weigh_rows(const MutableTensorView& some, const std::vector<std::size_t>& rows,
                const TensorView& weights, std::size_t expert) {
  const std::size_t width = some.shape().back(0), experts = weights.shape().back(0);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const float weight = weights.f32()[rows[i] * experts + expert];
    float* const row = some.f32() + i * width;
    if (weight == 0.0f) {
      std::fill_n(row, width, 0.0f);
    } else {
      kernels::scale(row, weight, width);
    }
  }
}

// out = sum, or out += sum.
void write_sum(const TensorView& sum, const MutableTensorView& out, Write write) {
  if (write == Write::over) {
    std::memcpy(out.data(), sum.data(), sum.bytes());
  } else {
    kernels::add(out.f32(), sum.f32(), out.f32(), out.elements());
  }
}

MutableTensorView zero_rows(const Shape& shape, Arena& arena) {
  const MutableTensorView all = arena.take(shape);
  std::memset(all.data(), 0, all.bytes());
  return all;
}

// The indices of the k largest of a row, largest first.
std::vector<std::size_t> largest(const float* row, std::size_t count, std::size_t k) {
  std::vector<std::size_t> found;
  std::vector<bool> taken(count, false);
  while (found.size() < k) {
    std::size_t best = count;
    for (std::size_t i = 0; i < count; ++i) {
      if (!taken[i] && (best == count || row[i] > row[best])) best = i;
    }
    taken[best] = true;
    found.push_back(best);
  }
  return found;
}

}  // namespace

MixtureOfExperts::MixtureOfExperts(const WeightScope& scope, const FeedForwardConfig& config)
    : config_(config),
      router_(scope / "gate", config.d_model, config.router.experts, Bias::none,
              MatrixRole::router) {
  const auto& [experts, chosen, by, normalized] = config.router;
  if (chosen == 0 || chosen > experts) {
    fail(ErrorCode::invalid_argument, "mixture of experts: ", chosen, " of ", experts,
         " experts cannot be chosen");
  }
  FeedForwardConfig expert = config;
  expert.router = {};
  expert.is_expert = true;
  for (std::size_t i = 0; i < config.router.experts; ++i) {
    experts_.emplace_back(scope / concat("experts.", i), expert);
  }
}

std::shared_ptr<const MixtureOfExperts> MixtureOfExperts::loaded(const WeightScope& scope,
                                                                 const FeedForwardConfig& config) {
  return std::make_shared<MixtureOfExperts>(scope, config);
}

Context MixtureOfExperts::of_expert(const Context& context, std::size_t expert) {
  if (!context.trace.keeps()) return {context.arena, TraceScope()};
  return context / concat("experts.", expert);
}

// The weights of the chosen, and 0 elsewhere, by the router's logits (B, T, E).
void MixtureOfExperts::choose(const TensorView& logits, const MutableTensorView& weights) const {
  const auto& [experts, k, by, normalized] = config_.router;
  const bool by_logit = by == RouterConfig::ChosenBy::logit;
  const std::size_t rows = logits.shape().outer(1);
  std::memcpy(weights.data(), logits.data(), logits.bytes());
  if (!by_logit) kernels::softmax(weights.f32(), rows, experts, experts);
  std::vector<float> of_chosen(k);
  for (std::size_t row = 0; row < rows; ++row) {
    float* const all = weights.f32() + row * experts;
    const std::vector<std::size_t> chosen = largest(all, experts, k);
    double sum = 0.0;
    for (std::size_t i = 0; i < k; ++i) sum += of_chosen[i] = all[chosen[i]];
    if (by_logit) {
      kernels::softmax(of_chosen.data(), 1, k, k);
    } else if (normalized) {
      for (float& weight : of_chosen) weight = static_cast<float>(weight / sum);
    }
    std::fill_n(all, experts, 0.0f);
    for (std::size_t i = 0; i < k; ++i) all[chosen[i]] = of_chosen[i];
  }
}

void MixtureOfExperts::forward(const TensorView& x, const MutableTensorView& output,
                               const Context& context, Write write) const {
  const TraceScope& trace = context.trace;
  const Arena::Frame frame(context.arena);
  const Shape shape{x.dim(0), x.dim(1), config_.router.experts};
  const MutableTensorView logits = context.arena.take(shape), weights = context.arena.take(shape);
  router_.forward(x, logits);
  trace("hook_router_logits", logits, kExpertLegend);
  trace.keep("router_logits", logits);
  choose(logits, weights);
  trace("hook_expert_weights", weights, kExpertLegend);
  trace.keep("expert_weights", weights);
  const bool all = trace.keeps() && trace.concerns_back("hook_expert_weights");
  const MutableTensorView sum = zero_rows(x.shape(), context.arena);
  for (std::size_t expert = 0; expert < experts_.size(); ++expert) {
    const std::vector<std::size_t> rows = rows_that_chose(weights, expert, all);
    if (rows.empty()) continue;
    const Arena::Frame of_rows(context.arena);
    const Context own = of_expert(context, expert);
    const MutableTensorView in = gather_rows(x, rows, context.arena);
    const MutableTensorView out = context.arena.take(in.shape());
    experts_[expert].forward(in, out, own);
    own.trace.keep("out", out);
    weigh_rows(out, rows, weights, expert);
    scatter_rows(out, rows, sum);
  }
  write_sum(sum, output, write);
}

// Of the logits, from d (B, T, E), that of the weights, which is 0 for experts not chosen.
MutableTensorView MixtureOfExperts::weights_back(const TensorView& logits,
                                                 const MutableTensorView& d,
                                                 const Context& context) const {
  const auto& [experts, k, by, normalized] = config_.router;
  const MutableTensorView weights = context.arena.take(logits.shape());
  choose(logits, weights);  // before edits
  for (std::size_t i = 0; i < d.elements(); ++i) {
    if (weights.f32()[i] == 0.0f) d.f32()[i] = 0.0f;
  }
  const std::size_t rows = logits.shape().outer(1);
  if (by == RouterConfig::ChosenBy::probability && !normalized) {
    std::memcpy(weights.data(), logits.data(), logits.bytes());
    kernels::softmax(weights.f32(), rows, experts, experts);
  }
  for (std::size_t row = 0; row < rows; ++row) {
    float *const of_row = d.f32() + row * experts, *const p = weights.f32() + row * experts;
    const auto shift = static_cast<float>(kernels::dot_of(p, of_row, experts));
    kernels::softmax_derivative(p, shift, of_row, experts);
  }
  return d;
}

void MixtureOfExperts::backward(const TensorView& x, const TensorView& d_out,
                                const MutableTensorView& dx, Write write,
                                const Context& context) const {
  const TraceScope& trace = context.trace;
  const Arena::Frame frame(context.arena);
  const TensorView weights = trace.kept("expert_weights"), logits = trace.kept("router_logits");
  const std::size_t experts = config_.router.experts, width = config_.d_model;
  const bool reads_x = trace.weights() != nullptr;
  const bool all = trace.concerns_back("hook_expert_weights");
  const MutableTensorView d = zero_rows(weights.shape(), context.arena);
  const MutableTensorView sum = zero_rows(d_out.shape(), context.arena);
  for (std::size_t expert = 0; expert < experts; ++expert) {
    const std::vector<std::size_t> rows = rows_that_chose(weights, expert, all);
    if (rows.empty()) continue;
    const Arena::Frame of_rows(context.arena);
    const Context own = context / concat("experts.", expert);
    const MutableTensorView dy = gather_rows(d_out, rows, context.arena);
    const TensorView out = own.trace.kept("out");
    for (std::size_t i = 0; i < rows.size(); ++i) {
      d.f32()[rows[i] * experts + expert] =
          static_cast<float>(kernels::dot_of(dy.f32() + i * width, out.f32() + i * width, width));
    }
    weigh_rows(dy, rows, weights, expert);
    const TensorView in = reads_x ? TensorView(gather_rows(x, rows, context.arena)) : TensorView();
    experts_[expert].backward(in, dy, dy, Write::over, own);
    scatter_rows(dy, rows, sum);
  }
  trace.back("hook_expert_weights", d, kExpertLegend);
  const MutableTensorView dl = weights_back(logits, d, context);
  trace.back("hook_router_logits", dl, kExpertLegend);
  router_.backward(x, dl, dx, write, trace.weights(), context.arena);
  kernels::add(dx.f32(), sum.f32(), dx.f32(), dx.elements());
}

}  // namespace clearformer
