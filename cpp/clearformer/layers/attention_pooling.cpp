#include "clearformer/layers/attention_pooling.h"

#include <algorithm>

namespace clearformer {

namespace {

constexpr std::string_view kName = "attention";

// The axes before (T, d), and before (H, T, d).
Shape leading(const Shape& shape, std::size_t inner) {
  Shape outer;
  for (std::size_t axis = 0; axis + inner < shape.rank(); ++axis) outer.append(shape[axis]);
  return outer;
}

Shape joined_shape(Shape outer, std::initializer_list<std::size_t> inner) {
  for (const std::size_t dim : inner) outer.append(dim);
  return outer;
}

// Operands reshaped to (B, H, T, d), copied only if they broadcast.
struct Operands {
  Tensor copies[3];
  TensorView queries, keys, values;
  Shape outer;       // all axes before the heads, as given by the caller
  std::size_t rank;  // of the largest operand
};

void check_inner(const TensorView& q, const TensorView& k, const TensorView& v) {
  for (const TensorView* x : {&q, &k, &v}) {
    if (x->shape().rank() < 2) {
      fail(ErrorCode::shape_mismatch, kName,
           ": operands need at least 2 axes (positions, features), "
           "found ",
           x->shape().text());
    }
  }
  if (k.shape().back(1) != v.shape().back(1)) {
    fail(ErrorCode::shape_mismatch, kName, ": keys have ", k.shape().back(1), " rows, values have ",
         v.shape().back(1));
  }
}

std::size_t heads_of(const TensorView& x) { return x.shape().rank() >= 3 ? x.shape().back(2) : 1; }

TensorView brought_to(const TensorView& x, const Shape& outer, std::size_t heads, Tensor& copy) {
  const std::size_t rows = x.shape().back(1), width = x.shape().back(0);
  const Shape full = joined_shape(outer, {heads, rows, width});
  const Shape folded{outer.elements(), heads, rows, width};
  if (x.elements() == full.elements()) return x.reshaped(folded);
  copy = broadcast_to(x, full);
  copy.reshape(folded);
  return copy;
}

// (B, T, d) as one head: (B, 1, T, d).
TensorView with_head_axis(const TensorView& x) {
  const Shape& shape = x.shape();
  if (shape.rank() != 3) return x;
  return x.reshaped({shape[0], 1, shape[1], shape[2]});
}

Operands bring(TensorView q, TensorView k, TensorView v, const PoolingOptions& options) {
  Operands all;
  all.rank = std::max({q.shape().rank(), k.shape().rank(), v.shape().rank()});
  if (all.rank == 3) {
    q = with_head_axis(q);
    k = with_head_axis(k);
    v = with_head_axis(v);
  }
  const auto outer_of = [](const TensorView& x) { return leading(x.shape(), 3); };
  all.outer = broadcast_shape(broadcast_shape(outer_of(q), outer_of(k)), outer_of(v));
  const Shape key_heads = broadcast_shape({heads_of(k)}, {heads_of(v)});
  std::size_t heads = heads_of(q), groups = key_heads[0];
  if (options.groups == PoolingOptions::Groups::equal) {
    heads = groups = broadcast_shape({heads}, key_heads)[0];
  } else if (groups == 0 || heads % groups != 0) {
    fail(ErrorCode::shape_mismatch, kName, ": ", heads, " query heads are no multiple of ", groups,
         " key heads");
  }
  all.queries = brought_to(q, all.outer, heads, all.copies[0]);
  all.keys = brought_to(k, all.outer, groups, all.copies[1]);
  all.values = brought_to(v, all.outer, groups, all.copies[2]);
  return all;
}

// Prepares queries and keys for the scoring function and replaces the operands by the result.
AttentionOptions compared(Operands& all, PreparedScoring& prepared, const PoolingOptions& options) {
  prepared = prepare(options.score, all.queries, all.keys);
  if (prepared.queries) all.queries = *prepared.queries;
  if (prepared.keys) all.keys = *prepared.keys;
  if (all.queries.dim(3) != all.keys.dim(3)) {
    fail(ErrorCode::shape_mismatch, kName, ": queries have ", all.queries.dim(3),
         " features, keys have ", all.keys.dim(3));
  }
  AttentionOptions core;
  core.score = prepared.spec;
  core.softcap = options.softcap;
  core.empty_row = options.empty_row;
  return core;
}

const char* hook_of(PoolingOptions::Keep keep) {
  switch (keep) {
    case PoolingOptions::Keep::raw_scores: return "hook_attn_scores_raw";
    case PoolingOptions::Keep::softcapped_scores: return "hook_attn_scores_softcapped";
    case PoolingOptions::Keep::masked_scores: return "hook_attn_scores";
    default: return "hook_pattern";
  }
}

}  // namespace

Pooled attention_pooling(const TensorView& queries, const TensorView& keys,
                         const TensorView& values, const PoolingOptions& options) {
  check_inner(queries, keys, values);
  Operands all = bring(queries, keys, values, options);
  PreparedScoring prepared;
  const AttentionOptions core = compared(all, prepared, options);
  const std::size_t heads = all.queries.dim(1), rows = all.queries.dim(2);
  const bool headless = all.rank <= 3;
  Mask mask = headless ? options.mask.without_heads() : options.mask.folded(all.outer);

  // Without a softcap the softcapped scores are the raw ones.
  PoolingOptions::Keep keep = options.keep;
  if (keep == PoolingOptions::Keep::softcapped_scores && options.softcap == 0.0f) {
    keep = PoolingOptions::Keep::raw_scores;
  }
  Trace trace;
  if (keep != PoolingOptions::Keep::nothing) trace.capture(hook_of(keep));
  Arena arena;
  const Context context{arena,
                        TraceScope(keep == PoolingOptions::Keep::nothing ? nullptr : &trace)};
  Arena::Frame frame(arena);
  Pooled pooled;
  pooled.output = Tensor({all.queries.dim(0), heads, rows, all.values.dim(3)});
  const PackedKeyValues packed = packed_in(arena, heads_first(all.keys), heads_first(all.values));
  attention(heads_first(all.queries), packed, mask, core, heads_first_mutable(pooled.output),
            context);
  if (keep != PoolingOptions::Keep::nothing)
    pooled.kept = std::move(trace.captured().front().value);

  Shape outer = all.outer;
  if (all.rank > 3) outer.append(heads);
  pooled.output.reshape(joined_shape(outer, {rows, all.values.dim(3)}));
  if (!pooled.kept.empty()) pooled.kept.reshape(joined_shape(outer, {rows, all.keys.dim(2)}));
  return pooled;
}

}  // namespace clearformer
