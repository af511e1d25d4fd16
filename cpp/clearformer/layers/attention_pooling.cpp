#include "clearformer/layers/attention_pooling.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "clearformer/layers/attention_backward.h"

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
  Shape outer;  // all axes before the heads, as given by the caller
  bool
      has_heads;  // whether the axis before the positions is that of heads; otherwise there is one head
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

// (B, T, d) as one head, (B, 1, T, d), if the operands have no axis of heads.
TensorView with_head_axis(const TensorView& x) {
  const Shape& shape = x.shape();
  if (shape.rank() != 3) return x;
  return x.reshaped({shape[0], 1, shape[1], shape[2]});
}

Operands bring(TensorView q, TensorView k, TensorView v, const PoolingOptions& options) {
  Operands all;
  const std::size_t rank = std::max({q.shape().rank(), k.shape().rank(), v.shape().rank()});
  const bool grouped = options.groups == PoolingOptions::Groups::grouped;
  all.has_heads = rank > 3 || (rank == 3 && grouped);
  if (!all.has_heads) {
    q = with_head_axis(q);
    k = with_head_axis(k);
    v = with_head_axis(v);
  }
  const auto outer_of = [](const TensorView& x) { return leading(x.shape(), 3); };
  all.outer = broadcast_shape(broadcast_shape(outer_of(q), outer_of(k)), outer_of(v));
  const Shape key_heads = broadcast_shape({heads_of(k)}, {heads_of(v)});
  std::size_t heads = heads_of(q), groups = key_heads[0];
  if (!grouped) {
    heads = groups = broadcast_shape({heads}, key_heads)[0];
  } else if (groups == 0 || heads % groups != 0) {
    fail(ErrorCode::shape_mismatch, kName, ": ", heads, " query heads cannot be divided among ",
         groups, " key heads");
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
  if (!(options.softcap >= 0.0f && std::isfinite(options.softcap))) {
    fail(ErrorCode::invalid_argument, kName, ": softcap must be >= 0 and finite, it is ",
         options.softcap);
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

// A call: its operands as the core of attention reads them.
struct PoolingCall {
  PoolingCall(const TensorView& q, const TensorView& k, const TensorView& v,
              const PoolingOptions& options)
      : all((check_inner(q, k, v), bring(q, k, v, options))),
        queries(all.queries),
        keys(all.keys),
        core(compared(all, prepared, options)),
        mask(all.has_heads ? options.mask.folded(all.outer) : options.mask.without_heads()),
        outer(all.outer) {
    if (all.has_heads) outer.append(all.queries.dim(1));
  }
  Shape output_shape() const {
    return {all.queries.dim(0), all.queries.dim(1), all.queries.dim(2), all.values.dim(3)};
  }
  Shape given_shape() const { return joined_shape(outer, {all.queries.dim(2), all.values.dim(3)}); }
  Tensor forward(const Context& context, float* softmax = nullptr) const {
    Tensor output(output_shape());
    const PackedKeyValues packed =
        packed_in(context.arena, heads_first(all.keys), heads_first(all.values));
    attention(heads_first(all.queries), packed, mask, core, heads_first_mutable(output), context,
              softmax);
    return output;
  }

  Operands all;
  TensorView queries, keys;  // before they are prepared for the scoring function
  PreparedScoring prepared;
  AttentionOptions core;
  Mask mask;
  Shape outer;  // the axes of the output before (T, d_v)
};

// d (B, H, T, d), of an operand that was broadcast to it, as the gradient of the operand.
Tensor summed_to(const TensorView& given, const Operands& all, const Tensor& d) {
  const TensorView operand = all.has_heads ? given : with_head_axis(given);
  const Shape full = joined_shape(all.outer, {d.dim(1), d.dim(2), d.dim(3)});
  const std::size_t missing = full.rank() - operand.shape().rank();
  std::vector<double> sums(given.elements(), 0.0);
  for (std::size_t i = 0; i < d.elements(); ++i) {
    std::size_t rest = i, to = 0, stride = 1;
    for (std::size_t axis = full.rank(); axis-- > missing; rest /= full[axis]) {
      const std::size_t extent = operand.shape()[axis - missing];
      if (extent != 1) to += rest % full[axis] * stride;
      stride *= extent;
    }
    sums[to] += d.f32()[i];
  }
  Tensor result(given.shape());
  std::copy(sums.begin(), sums.end(), result.f32());
  return result;
}

}  // namespace

Pooled attention_pooling(const TensorView& queries, const TensorView& keys,
                         const TensorView& values, const PoolingOptions& options) {
  const PoolingCall call(queries, keys, values, options);
  // Without a softcap the softcapped scores are the raw ones.
  PoolingOptions::Keep keep = options.keep;
  if (keep == PoolingOptions::Keep::softcapped_scores && options.softcap == 0.0f) {
    keep = PoolingOptions::Keep::raw_scores;
  }
  const bool keeps = keep != PoolingOptions::Keep::nothing;
  Trace trace;
  if (keeps) trace.capture(hook_of(keep));
  Arena arena;
  Pooled pooled;
  pooled.output = call.forward({arena, TraceScope(keeps ? &trace : nullptr)});
  pooled.output.reshape(call.given_shape());
  if (keeps) {
    pooled.kept = std::move(trace.captured().front().value);
    pooled.kept.reshape(joined_shape(call.outer, {call.all.queries.dim(2), call.all.keys.dim(2)}));
  }
  return pooled;
}

PoolingGradients attention_pooling_backward(const TensorView& queries, const TensorView& keys,
                                            const TensorView& values, const PoolingOptions& options,
                                            const TensorView& d_output) {
  const PoolingCall call(queries, keys, values, options);
  if (!(d_output.shape() == call.given_shape())) {
    fail(ErrorCode::shape_mismatch, kName, ": a gradient of shape ", d_output.shape().text(),
         " of an output of shape ", call.given_shape().text());
  }
  const Operands& all = call.all;
  Arena arena;
  const Shape shape = call.output_shape();
  Tensor softmax({shape[0], shape[1], shape[2], 2});
  const Tensor output = call.forward({arena, TraceScope()}, softmax.f32());
  Tensor dq(all.queries.shape()), dk(all.keys.shape()), dv(all.values.shape()), d_weights;
  const AttentionKept kept{heads_first(all.queries), heads_first(all.keys), heads_first(all.values),
                           heads_first(output), softmax.f32()};
  AttentionGradients to{heads_first_mutable(dq), heads_first_mutable(dk), heads_first_mutable(dv)};
  if (call.core.score.weights != nullptr) {
    d_weights = Tensor::zeros(call.prepared.weights.shape());
    to.weights = d_weights.f32();
  }
  attention_backward(kept, call.mask, call.core, heads_first(d_output.reshaped(shape)), to, arena);
  PoolingGradients found;
  ScoringGradients scored{std::move(dq), std::move(dk), std::move(d_weights)};
  prepared_back(options.score, call.queries, call.keys, scored, arena);
  found.queries = summed_to(queries, all, scored.queries);
  found.keys = summed_to(keys, all, scored.keys);
  found.values = summed_to(values, all, dv);
  found.parameters = std::move(scored.parameters);
  return found;
}

}  // namespace clearformer
