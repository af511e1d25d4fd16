#include "clearformer/layers/disentangled_attention.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "clearformer/kernels/matmul.h"
#include "clearformer/layers/key_value_cache.h"
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

// scale · x·positions, for each query and key the element of one of them with its relative position: (B, H, T, T).
Tensor term(const Heads& x, Side side, const PackedKeyValues& positions, const std::int32_t* row,
            float scale, Arena& arena) {
  Arena::Frame frame(arena);
  const std::size_t length = x.length, count = positions.length();
  Tensor scores({x.batch, x.heads, length, length});
  float* const memory = arena.take({num_threads(), length, count}).f32();
  parallel_for(x.batch * x.heads, [&](std::size_t task, std::size_t worker) {
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

RelativePositions RelativeTable::positions(std::size_t length, Arena& arena) const {
  const Tensor all = relative_rows(config_, length);
  const MutableTensorView row = arena.take(all.shape(), DType::i32);
  const std::int32_t* const given = all.view().as<std::int32_t>();
  const auto [least, most] = std::minmax_element(given, given + all.elements());
  const auto first = static_cast<std::size_t>(*least),
             count = static_cast<std::size_t>(*most) - first + 1;
  std::transform(given, given + all.elements(), row.as<std::int32_t>(),
                 [&](std::int32_t from) { return from - *least; });
  const MutableTensorView rows = arena.take({count, config_.d_model});
  std::memcpy(rows.data(), table_.f32() + first * config_.d_model, rows.bytes());
  if (norm_) norm_->forward(rows, rows, {arena, TraceScope()});
  return {rows, row.as<std::int32_t>()};
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

Mask DisentangledScores::biases(const Inputs& inputs, const Context& context) const {
  const auto add = [&](Mask& mask, const Heads& x, Side side, const Linear& projection,
                       std::string_view hook) {
    Arena::Frame frame(context.arena);
    const std::size_t count = inputs.positions.rows.dim(0);
    const MutableTensorView projected = context.arena.take({1, count, x.heads, x.width});
    projection.forward(inputs.positions.rows, projected);
    const Heads heads = positions_first(TensorView(projected));
    Heads nothing = heads;
    nothing.width = 0;
    const PackedKeyValues positions = packed_in(context.arena, heads, nothing);
    Tensor scores = term(x, side, positions, inputs.positions.row, inputs.scale, context.arena);
    context.trace(hook, scores.mutable_view(), "batch head query_pos key_pos");
    mask = mask & Mask::additive(std::move(scores));
  };
  const bool shared = config_.shares_projections;
  Mask mask;
  if (config_.content_to_position) {
    add(mask, inputs.queries, Side::query, shared ? inputs.key_projection : key_,
        "hook_attn_scores_c2p");
  }
  if (config_.position_to_content) {
    add(mask, inputs.keys, Side::key, shared ? inputs.query_projection : query_,
        "hook_attn_scores_p2c");
  }
  return mask;
}

}  // namespace clearformer
