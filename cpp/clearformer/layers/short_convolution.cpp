#include "clearformer/layers/short_convolution.h"

#include <cstring>

#include "clearformer/kernels/elementwise.h"
#include "clearformer/layers/position_filters.h"

namespace clearformer {

namespace {

constexpr std::string_view kConvolutionLegend = "batch pos d_model";

// The projection of x, which counts as zero at padded positions.
void project(const Linear& layer, const TensorView& x, const TensorView* padding,
             const MutableTensorView& out) {
  layer.forward(x, out);
  fill_padded(out, padding, layer.bias());
}

}  // namespace

ShortConvolution::ShortConvolution(const WeightScope& scope, const ShortConvolutionConfig& config)
    : PositionMixer("conv"), config_(config) {
  if (config.taps == 0) fail(ErrorCode::invalid_argument, "short convolution: it has 0 taps");
  const std::size_t width = config.d_model;
  b_ = Linear(scope / "b_proj", width, width, config.bias);
  c_ = Linear(scope / "c_proj", width, width, config.bias);
  x_ = Linear(scope / "x_proj", width, width, config.bias);
  output_ = Linear(scope / "out_proj", width, width, config.bias);
  const WeightScope filters = scope / "conv";
  weight_ = filters.take("weight", {width, 1, config.taps});
  if (config.bias == Bias::present) bias_ = filters.take("bias", {width});
}

// B ⊙ X behind k − 1 rows of zeros: (batch, k − 1 + T, D).
MutableTensorView ShortConvolution::window(const TensorView& b, const TensorView& x,
                                           Arena& arena) const {
  const std::size_t before = config_.taps - 1, length = x.dim(1), width = x.dim(2);
  const MutableTensorView rows = arena.take({x.dim(0), before + length, width});
  for (std::size_t sequence = 0; sequence < x.dim(0); ++sequence) {
    float* const to = rows.f32() + sequence * (before + length) * width;
    std::memset(to, 0, before * width * sizeof(float));
    const std::size_t from = sequence * length * width;
    kernels::multiply(b.f32() + from, x.f32() + from, to + before * width, length * width);
  }
  return rows;
}

void ShortConvolution::forward(const TensorView& x, const TensorView* padding,
                               std::unique_ptr<PastState>* past, const MutableTensorView& output,
                               Write write, const Context& context) const {
  Arena& arena = context.arena;
  const Arena::Frame frame(arena);
  const TraceScope& trace = context.trace;
  const MutableTensorView b = arena.take(x.shape()), c = arena.take(x.shape());
  const MutableTensorView y = arena.take(x.shape());
  project(b_, x, padding, b);
  project(c_, x, padding, c);
  project(x_, x, padding, y);
  trace("hook_b", b, kConvolutionLegend);
  trace("hook_c", c, kConvolutionLegend);
  trace("hook_x", y, kConvolutionLegend);
  trace.keep("b", b);
  trace.keep("c", c);
  trace.keep("x", y);
  const MutableTensorView rows = window(b, y, arena);
  if (past != nullptr) PastRows::in(*past).extend(rows, config_.taps - 1);
  convolve(rows, filter_rows(weight_, false, arena), bias_, y);
  trace("hook_conv", y, kConvolutionLegend);
  trace.keep("y", y);
  multiply_all(c, y, y);
  output_.forward(y, output, write);
}

void ShortConvolution::backward(const TensorView& x, const TensorView* padding,
                                const TensorView& d_output, const MutableTensorView& dx,
                                Write write, const Context& context) const {
  Arena& arena = context.arena;
  const Arena::Frame frame(arena);
  const TraceScope& trace = context.trace;
  const TensorView b = trace.kept("b"), c = trace.kept("c"), kept_x = trace.kept("x"),
                   y = trace.kept("y");
  const auto like = [&] { return arena.take(d_output.shape()); };
  const MutableTensorView product = like(), dy = like(), db = like(), dc = like();
  multiply_all(c, y, product);
  output_.backward(product, d_output, dy, Write::over, trace.weights(), arena);
  multiply_all(dy, y, dc);
  multiply_all(dy, c, dy);
  trace.back("hook_conv", dy, kConvolutionLegend);
  convolve_back(window(b, kept_x, arena), weight_, bias_, dy, product, context);
  const MutableTensorView& d_x = dy;
  multiply_all(product, b, d_x);
  multiply_all(product, kept_x, db);
  trace.back("hook_x", d_x, kConvolutionLegend);
  trace.back("hook_c", dc, kConvolutionLegend);
  trace.back("hook_b", db, kConvolutionLegend);
  project_back(b_, x, padding, db, dx, write, context);
  project_back(c_, x, padding, dc, dx, Write::onto, context);
  project_back(x_, x, padding, d_x, dx, Write::onto, context);
}

}  // namespace clearformer
