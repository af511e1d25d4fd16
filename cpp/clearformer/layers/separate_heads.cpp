#include "clearformer/layers/separate_heads.h"

#include <cstring>

#include "clearformer/kernels/elementwise.h"

namespace clearformer {

namespace {

// Rows of `heads` parts, of which one is copied to or from rows of one part.
struct Parts {
  std::size_t rows, heads, width;
  float* part(const MutableTensorView& all, std::size_t row, std::size_t head) const {
    return all.f32() + (row * heads + head) * width;
  }
  const float* part(const TensorView& all, std::size_t row, std::size_t head) const {
    return all.f32() + (row * heads + head) * width;
  }
};

Parts parts_of(const TensorView& x) { return {x.dim(0) * x.dim(1), x.dim(2), x.dim(3)}; }

// The copies of x at one hook point, if they are edited.
TensorView offer_input(std::string_view hook, std::string_view legend, const TensorView& x,
                       std::size_t heads, const Normalization* norm, const Context& context) {
  if (!context.trace.wants(hook)) return {};
  const MutableTensorView own = context.arena.take({x.dim(0), x.dim(1), heads, x.dim(2)});
  const Parts parts = parts_of(own);
  for (std::size_t i = 0; i < parts.rows * heads; ++i) {
    std::memcpy(own.f32() + i * parts.width, x.f32() + i / heads * parts.width,
                parts.width * sizeof(float));
  }
  context.trace(hook, own, legend);
  if (!context.trace.edits(hook)) return {};
  keep_own_input(hook, own, context);
  if (norm == nullptr) return own;
  refuse_norm_edits(hook, context);
  norm->forward(own, own, {context.arena, TraceScope()});
  return own;
}

}  // namespace

void refuse_norm_edits(std::string_view hook, const Context& context) {
  for (const std::string_view of_norm : {"ln1.hook_scale", "ln1.hook_normalized"}) {
    if (!context.trace.edits(of_norm)) continue;
    fail(ErrorCode::unsupported, "edits at ", of_norm, " and at ", hook,
         " of one block: that norm is of the input that is shared");
  }
}

HeadInputs offer_head_inputs(const TensorView& x, const HeadCounts& heads,
                             const Normalization* norm, const Context& context) {
  if (!context.trace) return {};
  constexpr std::string_view kOfQueries = "batch pos head d_model";
  constexpr std::string_view kOfKeys = "batch pos key_value_head d_model";
  return {offer_input("hook_q_input", kOfQueries, x, heads.queries, norm, context),
          offer_input("hook_k_input", kOfKeys, x, heads.keys, norm, context),
          offer_input("hook_v_input", kOfKeys, x, heads.keys, norm, context)};
}

void project_heads(const Linear& layer, const TensorView& own, const MutableTensorView& y,
                   Arena& arena) {
  Arena::Frame frame(arena);
  const Parts from = parts_of(own), to = parts_of(y);
  const MutableTensorView x = arena.take({from.rows, from.width});
  const MutableTensorView all = arena.take({to.rows, layer.out_features()});
  for (std::size_t head = 0; head < to.heads; ++head) {
    for (std::size_t row = 0; row < from.rows; ++row) {
      std::memcpy(x.f32() + row * from.width, from.part(own, row, head),
                  from.width * sizeof(float));
    }
    layer.forward(x, all);
    for (std::size_t row = 0; row < to.rows; ++row) {
      std::memcpy(to.part(y, row, head), to.part(all, row, head), to.width * sizeof(float));
    }
  }
}

bool offer_head_results(const Linear& layer, const TensorView& z, const MutableTensorView& output,
                        Write write, const Context& context) {
  if (!context.trace.wants("hook_result")) return false;
  Arena::Frame frame(context.arena);
  const Parts from = parts_of(z);
  const std::size_t width = layer.out_features();
  const Parts to{from.rows, from.heads, width};
  const MutableTensorView results = context.arena.take({z.dim(0), z.dim(1), from.heads, width});
  const MutableTensorView x = context.arena.take({from.rows, from.heads * from.width});
  const MutableTensorView sum = context.arena.take({from.rows, width});
  for (std::size_t head = 0; head < from.heads; ++head) {
    std::memset(x.data(), 0, x.bytes());
    for (std::size_t row = 0; row < from.rows; ++row) {
      std::memcpy(from.part(x, row, head), from.part(z, row, head), from.width * sizeof(float));
    }
    layer.multiply(x, sum);
    for (std::size_t row = 0; row < from.rows; ++row) {
      std::memcpy(to.part(results, row, head), sum.f32() + row * width, width * sizeof(float));
    }
  }
  context.trace("hook_result", results, "batch pos head d_model");
  if (!context.trace.edits("hook_result")) return false;
  for (std::size_t row = 0; row < from.rows; ++row) {
    float* const of_row = sum.f32() + row * width;
    std::memcpy(of_row, to.part(results, row, 0), width * sizeof(float));
    for (std::size_t head = 1; head < from.heads; ++head) {
      kernels::add(of_row, to.part(results, row, head), of_row, width);
    }
    if (!layer.bias().empty()) kernels::add(of_row, layer.bias().f32(), of_row, width);
    float* const out = output.f32() + row * width;
    if (write == Write::onto) kernels::add(out, of_row, of_row, width);
    std::memcpy(out, of_row, width * sizeof(float));
  }
  return true;
}

void keep_own_input(std::string_view hook, const TensorView& own, const Context& context) {
  context.trace.keep(concat("own_", hook), own);
}

}  // namespace clearformer
