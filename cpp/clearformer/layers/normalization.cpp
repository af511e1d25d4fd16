#include "clearformer/layers/normalization.h"

#include <cstring>

#include "clearformer/kernels/norm.h"
#include "clearformer/tensor/thread_pool.h"

namespace clearformer {

namespace {
// Legends by the input's rank: one vector per sequence, per position, per head.
constexpr std::size_t kRanks = 5;
constexpr std::string_view kLegends[kRanks] = {"", "d_model", "batch d_model", "batch pos d_model",
                                               "batch pos head d_head"};
constexpr std::string_view kScaleLegends[kRanks] = {"", "1", "batch 1", "batch pos 1",
                                                    "batch pos head 1"};

// The stored weight beside the one that the norm multiplies by: with the offset, whose sum has fewer digits of it, or
// among those of other heads.
class OffsetRows : public Matrix {
 public:
  OffsetRows(const Tensor& stored, Tensor used, float offset, std::size_t first = 0)
      : Matrix(stored.share()), used_(std::move(used)), offset_(offset), first_(first) {}
  void set_row(std::size_t output, const float* row) override {
    Matrix::set_row(output, row);
    for (std::size_t i = 0; i < inputs(); ++i) {
      used_.f32()[first_ + output * inputs() + i] = row[i] + offset_;
    }
  }

  WeightPlace place() const override { return {used_.data(), first_, used_.elements(), false}; }

 private:
  Tensor used_;
  float offset_;
  std::size_t first_;  // of its numbers among those of used_
};

Tensor with_offset(Tensor stored, const WeightScope& scope, float offset) {
  if (stored.empty() || offset == 0.0f) return stored;
  Tensor used = stored.clone();
  for (std::size_t i = 0; i < used.elements(); ++i) used.f32()[i] += offset;
  stored.reshape({used.dim(0), used.elements() / used.dim(0)});
  scope.hold("weight", std::make_shared<OffsetRows>(stored, used.share(), offset));
  return used;
}
}  // namespace

Normalization::Normalization(const WeightScope& scope, const NormConfig& config) : config_(config) {
  if (config.kind == NormKind::none) return;
  if (config.heads != 0) load_heads(scope);
  if (config.weight && config.heads == 0) {
    weight_ = with_offset(scope.take("weight", config.shape), scope, config.weight_offset);
  }
  if (config.bias && config.kind == NormKind::layer) bias_ = scope.take("bias", config.shape);
}

// w (H, D), stored whole or, for each head, in a scope of its number.
void Normalization::load_heads(const WeightScope& scope) {
  const std::size_t features = config_.shape.elements();
  if (!config_.heads_apart) {
    weight_ = scope.take("weight", {config_.heads, features});
    return;
  }
  for (std::size_t head = 0; head < config_.heads; ++head) {
    const WeightScope place = scope / concat(head);
    Tensor own = place.take("weight", config_.shape);
    if (own.empty()) continue;
    if (weight_.empty()) weight_ = Tensor::zeros({config_.heads, features});
    std::memcpy(weight_.f32() + head * features, own.f32(), own.view().bytes());
    own.reshape({own.dim(0), features / own.dim(0)});
    place.hold("weight", std::make_shared<OffsetRows>(own, weight_.share(), 0.0f, head * features));
  }
}

// Calls body(first, count) for ranges of rows, in parallel.
template <class Body>
void Normalization::for_rows(std::size_t rows, const Body& body) const {
  constexpr std::size_t kWork = 8;  // per element, in multiply-adds of a matrix product
  parallel_ranges(rows, kWork * config_.shape.elements(), 1,
                  [&](std::size_t first, std::size_t end) { body(first, end - first); });
}

// The rows' scales and, for LayerNorm, the centered rows in `out`.
void Normalization::measure(const float* x, float* out, float* scale, std::size_t rows) const {
  const std::size_t features = config_.shape.elements();
  const auto eps = static_cast<float>(config_.eps);
  for_rows(rows, [&](std::size_t first, std::size_t count) {
    const std::size_t at = first * features;
    if (config_.kind == NormKind::layer) {
      kernels::center_rows(x + at, out + at, scale + first, count, features, eps);
    } else {
      kernels::root_mean_square(x + at, scale + first, count, features, eps);
    }
  });
}

void Normalization::forward(const TensorView& x, const MutableTensorView& out,
                            const Context& context) const {
  if (config_.kind == NormKind::none) {
    if (out.f32() != x.f32()) std::memcpy(out.f32(), x.f32(), x.bytes());
    if (context.trace.keeps_inputs()) context.trace.keep("normalized", x);
    return;
  }
  const std::size_t features = config_.shape.elements();
  if (x.shape().rank() == 0 || x.shape().back(0) != features) {
    fail(ErrorCode::shape_mismatch, "normalization: input of shape ", x.shape().text(),
         ", the weight has ", features, " features");
  }
  const std::size_t rows = x.shape().outer(1);
  Arena::Frame frame(context.arena);
  Shape scale_shape = x.shape();
  scale_shape[scale_shape.rank() - 1] = 1;
  const MutableTensorView scale = context.arena.take(scale_shape);
  measure(x.f32(), out.f32(), scale.f32(), rows);
  const TraceScope& trace = context.trace;
  if (trace.keeps() && trace.edits("hook_scale")) trace.keep("given_scale", scale);
  trace("hook_scale", scale, kScaleLegends[x.shape().rank() % kRanks]);
  trace.keep("scale", scale);
  const bool layer = config_.kind == NormKind::layer;
  const float* const numerator = layer ? out.f32() : x.f32();
  const float* const weight = weight_.empty() ? nullptr : weight_.f32();
  const float* const bias = bias_.empty() ? nullptr : bias_.f32();
  if (config_.heads == 0 && !trace.wants("hook_normalized") && !trace.keeps()) {
    return for_rows(rows, [&](std::size_t first, std::size_t count) {
      const std::size_t at = first * features;
      kernels::divide_scale_shift_rows(
          {numerator + at, scale.f32() + first, weight, bias, count, features}, out.f32() + at);
    });
  }
  for_rows(rows, [&](std::size_t first, std::size_t count) {
    kernels::divide_rows(numerator + first * features, scale.f32() + first,
                         out.f32() + first * features, count, features);
  });
  if (trace.keeps() && trace.edits("hook_normalized")) trace.keep("given_normalized", out);
  trace("hook_normalized", out, kLegends[x.shape().rank() % kRanks]);
  trace.keep("normalized", out);
  scale_shift(out);
}

// The second half, in place: rows · w + b.
void Normalization::scale_shift(const MutableTensorView& out) const {
  const std::size_t features = config_.shape.elements();
  const float* const weight = weight_.empty() ? nullptr : weight_.f32();
  const float* const bias = bias_.empty() ? nullptr : bias_.f32();
  for_rows(out.elements() / features, [&](std::size_t first, std::size_t count) {
    const std::size_t at_once = config_.heads == 0 ? count : 1;
    for (std::size_t at = first; at < first + count; at += at_once) {
      float* const row = out.f32() + at * features;
      const std::size_t head = config_.heads == 0 ? 0 : at % config_.heads;
      const float* const own = weight == nullptr ? nullptr : weight + head * features;
      kernels::scale_shift_rows(row, own, bias, row, at_once, features);
    }
  });
}

TensorView Normalization::output_again(const Shape& shape, const Context& context) const {
  return output_of(context.trace.kept("normalized").reshaped(shape), context.arena);
}

TensorView Normalization::output_of(const TensorView& normalized, Arena& arena) const {
  const MutableTensorView out = arena.take(normalized.shape());
  std::memcpy(out.data(), normalized.data(), out.bytes());
  if (config_.kind != NormKind::none) scale_shift(out);
  return out;
}

Normalization::Kept Normalization::kept_of(const TensorView& x, Arena& arena) const {
  if (config_.kind == NormKind::none) return {x, x};
  const std::size_t features = config_.shape.elements(), rows = x.elements() / features;
  const MutableTensorView normalized = arena.take(x.shape()), scale = arena.take({rows});
  measure(x.f32(), normalized.f32(), scale.f32(), rows);
  const TensorView numerator = config_.kind == NormKind::layer ? TensorView(normalized) : x;
  kernels::divide_rows(numerator.f32(), scale.f32(), normalized.f32(), rows, features);
  return {normalized, scale};
}

Normalization::Kept Normalization::kept(const TraceScope& trace) const {
  if (config_.kind == NormKind::none) return {TensorView(), TensorView()};
  Kept kept{trace.kept("normalized"), trace.kept("scale")};
  if (trace.has_kept("given_normalized")) kept.normalized = trace.kept("given_normalized");
  if (trace.has_kept("given_scale")) kept.scale = trace.kept("given_scale");
  return kept;
}

void Normalization::backward(const TensorView& dout, const MutableTensorView& dx, Write write,
                             const Context& context) const {
  const TraceScope& trace = context.trace;
  if (config_.kind == NormKind::none) {
    const TensorView nothing;
    return backward({nothing, nothing}, dout, dx, write, nullptr, context.arena);
  }
  const Kept kept = this->kept(trace);
  const Arena::Frame frame(context.arena);
  const MutableTensorView dn = write == Write::over ? dx : context.arena.take(dout.shape());
  const MutableTensorView ds = context.arena.take(kept.scale.shape());
  const std::size_t rank = dout.shape().rank() % kRanks;
  backward_weights(kept, dout, dn, trace.weights());
  trace.back("hook_normalized", dn, kLegends[rank]);
  backward_scale(kept, dn, ds);
  trace.back("hook_scale", ds, kScaleLegends[rank]);
  backward_input(kept, dn, ds, dx, write);
}

}  // namespace clearformer
