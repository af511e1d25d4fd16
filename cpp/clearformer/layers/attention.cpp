#include "clearformer/layers/attention.h"

#include <algorithm>

#include "clearformer/kernels/elementwise.h"
#include "clearformer/kernels/matmul.h"
#include "clearformer/kernels/softmax.h"

namespace clearformer {

namespace {

constexpr std::size_t kQueryBlock = 48;  // rows of scores in memory at a time

// One head of one sequence: its queries, its packed keys and values, its output.
struct Head {
  const PackedKeyValues& keys_values;
  const Mask& mask;
  std::size_t batch, head, group;
  const float* queries;      // row t at t · query_stride
  std::size_t query_stride;
  float* output;             // row t at t · output_stride
  std::size_t output_stride;

  // scores[r, :] = scale · q(first + r)·Kᵀ for the first `keys` keys.
  void score(std::size_t first, std::size_t rows, std::size_t keys, float scale, float* scores,
             std::size_t stride) const {
    kernels::MatmulArgs args;
    args.a = queries + first * query_stride;
    args.a_stride = query_stride;
    args.b = keys_values.keys(batch, group);
    args.panel_stride = keys_values.key_panel_stride();
    args.c = scores;
    args.c_stride = stride;
    args.m = rows;
    args.n = keys;
    args.k = keys_values.sizes().key_dim;
    kernels::matmul(args);
    for (std::size_t r = 0; r < rows; ++r) kernels::scale(scores + r * stride, scale, keys);
  }

  void hide(std::size_t first, std::size_t rows, std::size_t keys, float* scores,
            std::size_t stride) const {
    for (std::size_t r = 0; r < rows; ++r) {
      mask.apply(batch, head, first + r, scores + r * stride, keys);
    }
  }

  // output(first + r) = Σ_s pattern[r, s] · v(s)
  void gather(std::size_t first, std::size_t rows, std::size_t keys, const float* pattern,
              std::size_t stride) const {
    kernels::MatmulArgs args;
    args.a = pattern;
    args.a_stride = stride;
    args.b = keys_values.values(batch, group);
    args.panel_stride = keys_values.value_panel_stride();
    args.c = output + first * output_stride;
    args.c_stride = output_stride;
    args.m = rows;
    args.n = keys_values.sizes().value_dim;
    args.k = keys;
    kernels::matmul(args);
  }
};

template <class Visit>
void for_each_head(TensorView queries, const PackedKeyValues& keys_values, const Mask& mask,
                   MutableTensorView output, Visit visit) {
  const std::size_t length = queries.dim(1), heads = queries.dim(2);
  const std::size_t key_dim = queries.dim(3), value_dim = output.dim(3);
  const std::size_t per_group = heads / keys_values.sizes().heads;
  for (std::size_t batch = 0; batch < queries.dim(0); ++batch) {
    for (std::size_t head = 0; head < heads; ++head) {
      const std::size_t at = batch * length * heads + head;
      visit(Head{keys_values, mask, batch, head, head / per_group, queries.f32() + at * key_dim,
                 heads * key_dim, output.f32() + at * value_dim, heads * value_dim});
    }
  }
}

// Block by block; nothing of size T·S is ever in memory.
void fused(TensorView queries, const PackedKeyValues& keys_values, const Mask& mask, float scale,
           MutableTensorView output, Arena& arena) {
  const std::size_t length = queries.dim(1), keys = keys_values.length();
  float* scores = arena.take({std::min(length, kQueryBlock), keys}).f32();
  for_each_head(queries, keys_values, mask, output, [&](const Head& head) {
    for (std::size_t first = 0; first < length; first += kQueryBlock) {
      const std::size_t rows = std::min(kQueryBlock, length - first);
      const std::size_t seen = mask.key_limit(first + rows - 1, keys);
      head.score(first, rows, seen, scale, scores, keys);
      head.hide(first, rows, seen, scores, keys);
      kernels::softmax(scores, rows, seen, keys);
      head.gather(first, rows, seen, scores, keys);
    }
  });
}

// The same steps over whole matrices, with the trace between them.
void traced(TensorView queries, const PackedKeyValues& keys_values, const Mask& mask, float scale,
            MutableTensorView output, const Context& context) {
  constexpr std::string_view kLegend = "batch head query_pos key_pos";
  const std::size_t batches = queries.dim(0), length = queries.dim(1), heads = queries.dim(2);
  const std::size_t keys = keys_values.length();
  const MutableTensorView scores = context.arena.take({batches, heads, length, keys});
  const auto matrix = [&](const Head& head) {
    return scores.f32() + (head.batch * heads + head.head) * length * keys;
  };
  for_each_head(queries, keys_values, mask, output, [&](const Head& head) {
    head.score(0, length, keys, scale, matrix(head), keys);
  });
  context.trace("hook_attn_scores_raw", scores, kLegend);
  for_each_head(queries, keys_values, mask, output,
                [&](const Head& head) { head.hide(0, length, keys, matrix(head), keys); });
  context.trace("hook_attn_scores", scores, kLegend);
  kernels::softmax(scores.f32(), batches * heads * length, keys, keys);
  context.trace("hook_pattern", scores, kLegend);
  for_each_head(queries, keys_values, mask, output,
                [&](const Head& head) { head.gather(0, length, keys, matrix(head), keys); });
}

}  // namespace

void attention(TensorView queries, const PackedKeyValues& keys_values, const Mask& mask,
               float scale, MutableTensorView output, const Context& context) {
  const PackedKeyValues::Sizes& sizes = keys_values.sizes();
  if (queries.dim(0) != sizes.batch || queries.dim(3) != sizes.key_dim || sizes.heads == 0 ||
      queries.dim(2) % sizes.heads != 0) {
    fail(ErrorCode::shape_mismatch, "attention: queries ", queries.shape().text(),
         " (batch, queries, heads, head size) do not fit keys of batch ", sizes.batch, ", ",
         sizes.heads, " heads of size ", sizes.key_dim);
  }
  mask.check("attention", queries.dim(0), queries.dim(2), queries.dim(1), keys_values.length());
  Arena::Frame frame(context.arena);
  const bool seen = context.trace.wants("hook_pattern") ||
                    context.trace.wants("hook_attn_scores") ||
                    context.trace.wants("hook_attn_scores_raw");
  if (seen) {
    traced(queries, keys_values, mask, scale, output, context);
  } else {
    fused(queries, keys_values, mask, scale, output, context.arena);
  }
}

}  // namespace clearformer
