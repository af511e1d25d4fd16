#include "clearformer/layers/disentangled_attention.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "clearformer/kernels/elementwise.h"
#include "clearformer/kernels/matmul.h"
#include "clearformer/layers/attention.h"
#include "clearformer/tensor/portable_math.h"
#include "clearformer/tensor/thread_pool.h"

namespace clearformer {

namespace {

// In float32, as in transformers: where the logarithm is an integer, the bucket depends on the rounding.
std::int64_t bucket_of(std::int64_t relative, const RelativeTableConfig& config) {
  const std::int64_t distance = std::abs(relative);
  const auto middle = static_cast<std::int64_t>(config.buckets / 2);
  if (config.buckets == 0 || distance <= middle) return relative;
  const auto log_of = [](float x) {
    return static_cast<float>(portable_log(static_cast<double>(x)));
  };
  const auto whole = static_cast<float>(middle);
  const auto farthest = static_cast<float>((static_cast<double>(config.max_distance) - 1.0) /
                                           static_cast<double>(middle));
  const float share = log_of(static_cast<float>(distance) / whole) / log_of(farthest);
  const float bucket = std::ceil(share * (whole - 1.0f)) + whole;
  if (!(std::abs(bucket) < 1e9f)) {
    fail(ErrorCode::invalid_argument, "relative positions: distance ", distance, " has no bucket");
  }
  return relative < 0 ? -static_cast<std::int64_t>(bucket) : static_cast<std::int64_t>(bucket);
}

enum class Side { query, key };

// The names under which the terms are kept for the backward pass.
constexpr std::string_view kKept[] = {"c2p", "p2c"};
constexpr std::string_view kMatrices = "batch head query_pos key_pos";

// scale · x·positions, for each query and key the element of one of them with its relative position: (B, H, T, T).
Tensor term(const Heads& x, Side side, const PackedKeyValues& positions, const std::int32_t* row,
            float scale, Arena& arena) {
  Arena::Frame frame(arena);
  const std::size_t length = x.length, count = positions.length();
  Tensor scores({x.batch, x.heads, length, length});
  const std::size_t workers = num_threads();
  float* const memory = arena.take({workers, length, count}).f32();
  parallel_for(x.batch * x.heads, workers, [&](std::size_t task, std::size_t worker) {
    const std::size_t head = task % x.heads;
    kernels::MatmulArgs args;
    args.a = x.row(task / x.heads, 0, head);
    args.a_stride = x.row_stride;
    args.b = positions.keys(0, head);
    args.panel_stride = positions.key_panel_stride();
    args.c = memory + worker * length * count;
    args.c_stride = count;
    args.m = length;
    args.n = count;
    args.k = x.width;
    args.epilogue.scale = scale;
    kernels::matmul(args);
    float* to = scores.f32() + task * length * length;
    for (std::size_t query = 0; query < length; ++query) {
      for (std::size_t key = 0; key < length; ++key) {
        const std::size_t from = side == Side::query ? query : key;
        *to++ = args.c[from * count + static_cast<std::size_t>(row[length - 1 + query - key])];
      }
    }
  });
  return scores;
}

// Scores (B, H, T, T) and their gradient d, one head after the other: adds to dx (B, T, H, d) and to d_positions
// (1, P, H, d).
void term_back(const Heads& x, Side side, const Heads& positions, const std::int32_t* row,
               const TensorView& d, const MutableHeads& dx, const MutableHeads& d_positions,
               float scale, Arena& arena) {
  const Arena::Frame frame(arena);
  const std::size_t length = x.length, count = positions.length;
  Heads nothing = positions, no_x = x;
  nothing.width = no_x.width = 0;
  const PackedKeyValues packed = packed_in(arena, nothing, positions);
  const PackedKeyValues packed_x = packed_in(arena, no_x, x);
  const std::size_t workers = num_threads();
  float* const memory = arena.take({workers, 2, length, count}).f32();
  parallel_for(x.heads, workers, [&](std::size_t head, std::size_t worker) {
    float* const sums = memory + worker * 2 * length * count;  // (T, P)
    float* const turned = sums + length * count;               // (P, T)
    for (std::size_t batch = 0; batch < x.batch; ++batch) {
      std::fill_n(sums, 2 * length * count, 0.0f);
      const float* from = d.f32() + (batch * x.heads + head) * length * length;
      for (std::size_t i = 0; i < length * length; ++i) {
        const std::size_t query = i / length, key = i % length;
        const std::size_t of = side == Side::query ? query : key;
        const auto at = static_cast<std::size_t>(row[length - 1 + query - key]);
        sums[of * count + at] += scale * from[i];
        turned[at * length + of] = sums[of * count + at];
      }
      const auto multiply = [&](const float* a, std::size_t rows, std::size_t depth,
                                const void* panels, std::size_t stride, float* to,
                                std::size_t to_stride) {
        kernels::MatmulArgs args{{to, to_stride, rows, x.width, depth, {}}};
        args.epilogue.residual = to;
        args.epilogue.residual_stride = to_stride;
        args.a = a;
        args.a_stride = depth;
        args.b = panels;
        args.panel_stride = stride;
        kernels::matmul(args);
      };
      multiply(sums, length, count, packed.values(0, head), packed.value_panel_stride(),
               dx.row(batch, 0, head), dx.row_stride);
      multiply(turned, count, length, packed_x.values(batch, head), packed_x.value_panel_stride(),
               d_positions.row(0, 0, head), d_positions.row_stride);
    }
  });
}

}  // namespace

Tensor relative_rows(const RelativeTableConfig& config, std::size_t length) {
  Tensor rows({2 * length - 1}, DType::i32);
  const auto span = static_cast<std::int64_t>(config.span);
  for (std::size_t i = 0; i < rows.elements(); ++i) {
    const auto relative = static_cast<std::int64_t>(i) - static_cast<std::int64_t>(length - 1);
    const std::int64_t row =
        std::clamp<std::int64_t>(span + bucket_of(relative, config), 0, 2 * span - 1);
    rows.mutable_view().as<std::int32_t>()[i] = static_cast<std::int32_t>(row);
  }
  return rows;
}

RelativeTable::RelativeTable(const WeightScope& scope, const RelativeTableConfig& config)
    : config_(config), table_(scope.take("weight", {2 * config.span, config.d_model})) {
  if (config.norm) norm_.emplace(scope / "norm", *config.norm);
}

RelativeTable::Selected RelativeTable::selected(std::size_t length) const {
  Tensor row = relative_rows(config_, length);
  std::int32_t* const at = row.mutable_view().as<std::int32_t>();
  const auto [least, most] = std::minmax_element(at, at + row.elements());
  const std::int32_t first = *least, last = *most;
  for (std::size_t i = 0; i < row.elements(); ++i) at[i] -= first;
  return {static_cast<std::size_t>(first), static_cast<std::size_t>(last - first) + 1,
          std::move(row)};
}

RelativePositions RelativeTable::positions(std::size_t length, Arena& arena) const {
  const Selected part = selected(length);
  const MutableTensorView row = arena.take(part.row.shape(), DType::i32);
  std::memcpy(row.data(), part.row.data(), row.bytes());
  const MutableTensorView rows = arena.take({part.count, config_.d_model});
  std::memcpy(rows.data(), table_.f32() + part.first * config_.d_model, rows.bytes());
  if (norm_) norm_->forward(rows, rows, {arena, TraceScope()});
  return {rows, row.as<std::int32_t>()};
}

void RelativeTable::backward(std::size_t length, const MutableTensorView& d_rows,
                             const WeightGradients* weights, Arena& arena) const {
  const Arena::Frame frame(arena);
  const Selected part = selected(length);
  if (norm_) {  // what it divided by was not kept: once a pass, of a small table
    Trace steps;
    steps.capture("*");
    const MutableTensorView rows = arena.take(d_rows.shape());
    std::memcpy(rows.data(), table_.f32() + part.first * config_.d_model, rows.bytes());
    norm_->forward(rows, rows, {arena, TraceScope(&steps)});
    norm_->backward({steps.at("hook_normalized"), steps.at("hook_scale")}, d_rows, d_rows,
                    Write::over, weights, arena);
  }
  float* const sums = weights == nullptr ? nullptr : weights->of(table_);
  if (sums == nullptr) return;
  float* const to = sums + part.first * config_.d_model;
  kernels::add(to, d_rows.f32(), to, d_rows.elements());
}

DisentangledScores::DisentangledScores(const WeightScope& scope, const DisentangledConfig& config,
                                       std::size_t d_model, std::size_t width)
    : config_(config) {
  if (config.shares_projections) return;
  if (config.content_to_position) {
    key_ = Linear(scope / "pos_k_proj", d_model, width, Bias::present);
  }
  if (config.position_to_content) {
    query_ = Linear(scope / "pos_q_proj", d_model, width, Bias::present);
  }
}

// Calls visit(contents, side, projection of the positions, hook) for each term.
template <class Visit>
void DisentangledScores::for_each_term(const Inputs& inputs, const Visit& visit) const {
  const bool shared = config_.shares_projections;
  if (config_.content_to_position) {
    visit(inputs.queries, Side::query, shared ? inputs.key_projection : key_,
          "hook_attn_scores_c2p");
  }
  if (config_.position_to_content) {
    visit(inputs.keys, Side::key, shared ? inputs.query_projection : query_,
          "hook_attn_scores_p2c");
  }
}

Mask DisentangledScores::kept_biases(const TraceScope& trace) {
  Mask mask;
  for (const std::string_view term : kKept) {
    if (trace.has_kept(term)) mask = mask & Mask::additive(Tensor::copy_of(trace.kept(term)));
  }
  return mask;
}

Mask DisentangledScores::biases(const Inputs& inputs, const Context& context) const {
  Mask mask;
  for_each_term(inputs, [&](const Heads& x, Side side, const Linear& projection, const char* hook) {
    Arena::Frame frame(context.arena);
    const std::size_t count = inputs.positions.rows.dim(0);
    const MutableTensorView projected = context.arena.take({1, count, x.heads, x.width});
    projection.forward(inputs.positions.rows, projected);
    const Heads heads = positions_first(TensorView(projected));
    Heads nothing = heads;
    nothing.width = 0;
    const PackedKeyValues positions = packed_in(context.arena, heads, nothing);
    Tensor scores = term(x, side, positions, inputs.positions.row, inputs.scale, context.arena);
    context.trace(hook, scores.mutable_view(), kMatrices);
    context.trace.keep(kKept[side == Side::query ? 0 : 1], scores);
    mask = mask & Mask::additive(std::move(scores));
  });
  return mask;
}

void DisentangledScores::backward(const Inputs& inputs, const TensorView& d_scores,
                                  const Gradients& gradients, const Context& context) const {
  const TraceScope& trace = context.trace;
  for_each_term(inputs, [&](const Heads& x, Side side, const Linear& projection, const char* hook) {
    Arena::Frame frame(context.arena);
    const MutableTensorView d = context.arena.take(d_scores.shape());
    std::memcpy(d.data(), d_scores.data(), d.bytes());
    trace.back(hook, d, kMatrices);
    const std::size_t count = inputs.positions.rows.dim(0);
    const MutableTensorView projected = context.arena.take({1, count, x.heads, x.width});
    projection.forward(inputs.positions.rows, projected);
    const MutableTensorView d_projected = context.arena.take(projected.shape());
    std::memset(d_projected.data(), 0, d_projected.bytes());
    term_back(x, side, positions_first(TensorView(projected)), inputs.positions.row, d,
              side == Side::query ? gradients.queries : gradients.keys,
              positions_first_mutable(d_projected), inputs.scale, context.arena);
    projection.backward(inputs.positions.rows, d_projected.reshaped({count, x.heads * x.width}),
                        gradients.rows, Write::onto, trace.weights(), context.arena);
  });
}

}  // namespace clearformer
