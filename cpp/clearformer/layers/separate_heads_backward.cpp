#include <cstring>

#include "clearformer/kernels/elementwise.h"
#include "clearformer/layers/separate_heads.h"

namespace clearformer {

namespace {

// Rows (B·T, H, n): one head's part of each, among zeros.
void single_back(const TensorView& all, std::size_t head, const MutableTensorView& alone) {
  const std::size_t width = all.dim(3), heads = all.dim(2);
  std::memset(alone.data(), 0, alone.bytes());
  for (std::size_t at = head * width; at < all.elements(); at += heads * width) {
    std::memcpy(alone.f32() + at, all.f32() + at, width * sizeof(float));
  }
}

// Copies one head's part of rows (B·T, H, n), with `steps` the distances in memory between the rows of both.
struct Steps {
  std::size_t from, to;
};
void copy_back(const float* from, float* to, const Steps& steps, std::size_t rows,
               std::size_t width) {
  for (std::size_t row = 0; row < rows; ++row) {
    std::memcpy(to + row * steps.to, from + row * steps.from, width * sizeof(float));
  }
}

}  // namespace

bool read_own_input(std::string_view hook, const Context& context) {
  return context.trace.has_kept(concat("own_", hook));
}

void own_input_back(std::string_view hook, std::string_view legend, const MutableTensorView& d,
                    const InputReaders& readers) {
  const TraceScope& trace = readers.context.trace;
  const bool own = read_own_input(hook, readers.context);
  const bool changes = !own && trace.changes_back(hook);
  Tensor before;
  if (changes) before = Tensor::copy_of(d);
  trace.back(hook, d, legend);
  if (!own && !changes) return;
  for (std::size_t i = 0; changes && i < d.elements(); ++i) d.f32()[i] -= before.f32()[i];
  const std::size_t width = readers.stream.dim(2);
  const std::size_t copies = d.elements() / readers.stream.elements();
  for (std::size_t i = 0; i < d.elements() / width; ++i) {
    float* const sum = readers.stream.f32() + i / copies * width;
    kernels::add(sum, d.f32() + i * width, sum, width);
  }
}

bool head_inputs_back(std::string_view hook, const Linear& layer, const TensorView& d,
                      const InputReaders& readers) {
  const Context& context = readers.context;
  const TraceScope& trace = context.trace;
  if (!trace.concerns_back(hook)) return false;
  Arena& arena = context.arena;
  const Arena::Frame frame(arena);
  const bool own = read_own_input(hook, context);
  const Normalization* const norm = readers.norm;
  WeightGradients* const weights = own ? trace.weights() : nullptr;
  const std::size_t heads = d.dim(2), width = layer.in_features(), rows = d.dim(0) * d.dim(1);
  const MutableTensorView x = arena.take({d.dim(0), d.dim(1), width});
  const MutableTensorView dx = arena.take(x.shape());
  const MutableTensorView alone = arena.take({d.dim(0), d.dim(1), layer.out_features()});
  const MutableTensorView all = arena.take({d.dim(0), d.dim(1), heads, width});
  for (std::size_t head = 0; head < heads; ++head) {
    const Arena::Frame of_head(arena);
    single_back(d, head, alone);
    Normalization::Kept kept{TensorView(), TensorView()};
    TensorView in;
    if (own) {
      copy_back(trace.kept(concat("own_", hook)).f32() + head * width, x.f32(),
                {heads * width, width}, rows, width);
      in = x;
      if (norm != nullptr) {
        kept = norm->kept_of(x, arena);
        in = norm->output_of(kept.normalized, arena);
      }
    } else if (norm != nullptr) {
      kept = norm->kept(trace / "ln1");
    }
    layer.backward(in, alone, dx, Write::over, weights, arena);
    if (norm != nullptr) norm->backward(kept, dx, dx, Write::over, weights, arena);
    copy_back(dx.f32(), all.f32() + head * width, {width, heads * width}, rows, width);
  }
  own_input_back(
      hook, hook == "hook_q_input" ? "batch pos head d_model" : "batch pos key_value_head d_model",
      all, readers);
  return own;
}

bool head_results_back(const Linear& layer, const TensorView& z, const TensorView& d,
                       const MutableTensorView& dz, const Context& context) {
  const TraceScope& trace = context.trace;
  if (!trace.concerns_back("hook_result")) return false;
  Arena& arena = context.arena;
  const Arena::Frame frame(arena);
  const std::size_t heads = z.dim(2), width = d.dim(2), part = z.dim(3), rows = z.dim(0) * z.dim(1);
  const MutableTensorView results = arena.take({d.dim(0), d.dim(1), heads, width});
  for (std::size_t head = 0; head < heads; ++head) {
    copy_back(d.f32(), results.f32() + head * width, {width, heads * width}, rows, width);
  }
  const bool changes = trace.changes_back("hook_result");
  trace.back("hook_result", results, "batch pos head d_model");
  if (!changes) return false;
  const MutableTensorView of_head = arena.take(d.shape());
  const MutableTensorView x = arena.take({z.dim(0), z.dim(1), heads * part});
  const MutableTensorView dx = arena.take(x.shape());
  for (std::size_t head = 0; head < heads; ++head) {
    single_back(z, head, x);
    copy_back(results.f32() + head * width, of_head.f32(), {heads * width, width}, rows, width);
    layer.multiply_backward(x, of_head, dx, Write::over, trace.weights(), arena);
    copy_back(dx.f32() + head * part, dz.f32() + head * part, {heads * part, heads * part}, rows,
              part);
  }
  layer.bias_backward(d, trace.weights());
  return true;
}

}  // namespace clearformer
