#include "clearformer/layers/functional.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "clearformer/kernels/elementwise.h"
#include "clearformer/kernels/matmul.h"
#include "clearformer/kernels/norm.h"
#include "clearformer/kernels/online_softmax.h"
#include "clearformer/kernels/packed_matrix.h"
#include "clearformer/kernels/softmax.h"
#include "clearformer/layers/convolution.h"
#include "clearformer/tensor/memory_budget.h"
#include "clearformer/tensor/portable_math.h"

namespace clearformer {

namespace {

// Packs y (K, N) into the panels of matmul.
std::vector<float> packed_columns(const float* y, std::size_t k, std::size_t n) {
  const std::size_t width = kernels::panel_width(), panels = (n + width - 1) / width;
  std::vector<float> packed(panels * width * k, 0.0f);
  for (std::size_t row = 0; row < k; ++row) {
    for (std::size_t column = 0; column < n; ++column) {
      packed[column / width * width * k + row * width + column % width] = y[row * n + column];
    }
  }
  return packed;
}

void multiply(const float* x, const float* y, float* out, std::size_t m, std::size_t k,
              std::size_t n) {
  const std::vector<float> packed = packed_columns(y, k, n);
  kernels::MatmulArgs args;
  args.a = x;
  args.a_stride = k;
  args.b = packed.data();
  args.panel_stride = kernels::panel_width() * k;
  args.c = out;
  args.c_stride = n;
  args.m = m;
  args.n = n;
  args.k = k;
  kernels::matmul(args);
}

// The last `axes` axes.
Shape inner_axes(std::string_view operation, const Shape& shape, std::size_t axes) {
  if (axes == 0 || axes > shape.rank()) {
    fail(ErrorCode::shape_mismatch, operation, ": cannot normalize ", axes, " axes of shape ",
         shape.text());
  }
  Shape inner;
  for (std::size_t axis = axes; axis-- > 0;) inner.append(shape.back(axis));
  return inner;
}

const float* affine(std::string_view operation, std::string_view what, const TensorView* values,
                    const Shape& expected) {
  if (values == nullptr) return nullptr;
  if (!(values->shape() == expected)) {
    fail(ErrorCode::shape_mismatch, operation, ": ", what, " of shape ", values->shape().text(),
         ", expected ", expected.text());
  }
  return values->f32();
}

// Resolves an axis, counted from the end if negative.
std::size_t axis_of(std::string_view operation, const TensorView& x, std::ptrdiff_t axis) {
  const auto rank = static_cast<std::ptrdiff_t>(x.shape().rank());
  if (axis < -rank || axis >= rank) {
    fail(ErrorCode::invalid_argument, operation, ": axis ", axis, " of a tensor with ", rank,
         " axes");
  }
  return static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
}

std::size_t elements_behind(const Shape& shape, std::size_t axis) {
  std::size_t inner = 1;
  for (std::size_t i = axis + 1; i < shape.rank(); ++i) inner *= shape[i];
  return inner;
}

// Copies x and applies apply(row, length) to every row along the axis. A scalar has an axis, too, as in torch.
Tensor over_axis(std::string_view operation, const TensorView& x, std::ptrdiff_t axis,
                 void (*apply)(float* row, std::size_t length)) {
  const TensorView with_axes = x.shape().rank() == 0 ? x.reshaped({1}) : x;
  const std::size_t along = axis_of(operation, with_axes, axis), length = with_axes.dim(along);
  const std::size_t inner = elements_behind(with_axes.shape(), along);
  Tensor result = Tensor::copy_of(x);
  if (result.elements() == 0) return result;
  std::vector<float> row(length);
  for (std::size_t i = 0; i < result.elements() / length; ++i) {
    float* first = result.f32() + i / inner * length * inner + i % inner;
    if (inner == 1) {
      apply(first, length);
      continue;
    }
    for (std::size_t j = 0; j < length; ++j) row[j] = first[j * inner];
    apply(row.data(), length);
    for (std::size_t j = 0; j < length; ++j) first[j * inner] = row[j];
  }
  return result;
}

}  // namespace

Tensor softmax(const TensorView& x, std::ptrdiff_t axis) {
  return over_axis("softmax", x, axis, [](float* row, std::size_t length) {
    kernels::softmax(row, 1, length, length);
  });
}

Tensor log_softmax(const TensorView& x, std::ptrdiff_t axis) {
  return over_axis("log_softmax", x, axis, [](float* row, std::size_t length) {
    std::vector<float> powers(row, row + length);
    float highest = 0.0f, total = 0.0f;
    kernels::OnlineSoftmaxArgs args;
    args.scores = powers.data();
    args.rows = 1;
    args.columns = length;
    args.highest = &highest;
    args.total = &total;
    kernels::begin_online_softmax(args);
    // All -inf: softmax gives zeros. The total also reveals a NaN, which the maximum may miss.
    const bool nothing = total == 0.0f;
    const double log_total = nothing ? 0.0 : portable_log(total);
    for (std::size_t i = 0; i < length; ++i) {
      if (!nothing) row[i] = static_cast<float>(double{row[i]} - highest - log_total);
    }
  });
}

Tensor masked_softmax(const TensorView& scores, const Mask& mask, EmptyRow empty_row) {
  const Shape& shape = scores.shape();
  if (shape.rank() != 3 && shape.rank() != 4) {
    fail(ErrorCode::shape_mismatch, "masked_softmax: scores of shape ", shape.text(),
         ", expected [batch, queries, keys] or [batch, heads, queries, keys]");
  }
  const std::size_t heads = shape.rank() == 4 ? shape[1] : 1;
  const std::size_t queries = shape.back(1), keys = shape.back(0);
  const Mask full = shape.rank() == 4 ? mask : mask.without_heads();
  full.check("masked_softmax", shape[0], heads, queries, keys);
  Tensor result = Tensor::copy_of(scores);
  float* row = result.f32();
  const std::size_t rows = keys == 0 ? 0 : shape[0] * heads * queries;
  for (std::size_t i = 0; i < rows; ++i, row += keys) {
    full.apply(i / (heads * queries), i / queries % heads, i % queries, row, keys);
    if (empty_row == EmptyRow::uniform) make_empty_row_uniform(row, keys);
    kernels::softmax(row, 1, keys, keys);
  }
  return result;
}

Tensor matmul(const TensorView& x, const TensorView& y) {
  const Shape& shape = x.shape();
  if (shape.rank() == 0 || y.shape().rank() != 2 || shape.back(0) != y.dim(0)) {
    fail(ErrorCode::shape_mismatch, "matmul: ", shape.text(), " times ", y.shape().text(),
         ": the last axis of the first must be the first of the second");
  }
  Shape out = shape;
  out[out.rank() - 1] = y.dim(1);
  Tensor result(out);
  multiply(x.f32(), y.f32(), result.f32(), shape.outer(1), y.dim(0), y.dim(1));
  return result;
}

Tensor bmm(const TensorView& x, const TensorView& y) {
  const Shape &a = x.shape(), &b = y.shape();
  if (a.rank() != 3 || b.rank() != 3 || a[0] != b[0] || a[2] != b[1]) {
    fail(ErrorCode::shape_mismatch, "bmm: ", a.text(), " times ", b.text(),
         ", expected [batch, n, k] times [batch, k, m]");
  }
  Tensor result({a[0], a[1], b[2]});
  for (std::size_t batch = 0; result.elements() != 0 && batch < a[0]; ++batch) {
    multiply(x.f32() + batch * a[1] * a[2], y.f32() + batch * b[1] * b[2],
             result.f32() + batch * a[1] * b[2], a[1], a[2], b[2]);
  }
  return result;
}

Tensor layer_norm(const TensorView& x, std::size_t axes, const TensorView* weight,
                  const TensorView* bias, float eps) {
  const Shape inner = inner_axes("layer_norm", x.shape(), axes);
  const float* factor = affine("layer_norm", "weight", weight, inner);
  const float* shift = affine("layer_norm", "bias", bias, inner);
  const std::size_t features = inner.elements();
  Tensor result(x.shape());
  const std::size_t rows = x.shape().outer(axes);
  std::vector<float> scale(room_for(rows));
  kernels::center_rows(x.f32(), result.f32(), scale.data(), rows, features, eps);
  kernels::divide_rows(result.f32(), scale.data(), result.f32(), rows, features);
  kernels::scale_shift_rows(result.f32(), factor, shift, result.f32(), rows, features);
  return result;
}

Tensor rms_norm(const TensorView& x, std::size_t axes, const TensorView* weight, float eps) {
  const Shape inner = inner_axes("rms_norm", x.shape(), axes);
  const float* factor = affine("rms_norm", "weight", weight, inner);
  const std::size_t features = inner.elements();
  Tensor result(x.shape());
  const std::size_t rows = x.shape().outer(axes);
  std::vector<float> scale(room_for(rows));
  kernels::root_mean_square(x.f32(), scale.data(), rows, features, eps);
  kernels::divide_rows(x.f32(), scale.data(), result.f32(), rows, features);
  kernels::scale_shift_rows(result.f32(), factor, nullptr, result.f32(), rows, features);
  return result;
}

Tensor activation(Activation kind, const TensorView& x) {
  Tensor result = Tensor::copy_of(x);
  apply(kind, result.f32(), result.elements());
  return result;
}

Tensor softplus(const TensorView& x, float beta, float threshold) {
  Tensor result = Tensor::copy_of(x);
  kernels::scale(result.f32(), beta, result.elements());
  const Tensor linear = result.clone();
  apply(Activation::softplus, result.f32(), result.elements());
  for (std::size_t i = 0; i < result.elements(); ++i) {
    float& y = result.f32()[i];
    y = linear.f32()[i] > threshold ? x.f32()[i] : y / beta;
  }
  return result;
}

Tensor gated(Activation gate, const TensorView& x, std::ptrdiff_t axis) {
  const std::size_t along = axis_of("gated", x, axis);
  if (x.dim(along) % 2 != 0) {
    fail(ErrorCode::shape_mismatch, "gated: axis ", axis, " of ", x.shape().text(),
         " cannot be halved");
  }
  Shape shape = x.shape();
  shape[along] /= 2;
  Tensor result(shape);
  const std::size_t half = shape[along] * elements_behind(shape, along);
  for (std::size_t done = 0; done < result.elements(); done += half) {
    float* out = result.f32() + done;
    std::copy_n(x.f32() + 2 * done + half, half, out);
    apply(gate, out, half);
    kernels::multiply(x.f32() + 2 * done, out, out, half);
  }
  return result;
}

Tensor conv1d(const TensorView& x, const TensorView& weight, const TensorView* bias,
              const ConvolutionOptions& options) {
  const Shape &input = x.shape(), &kernel = weight.shape();
  const std::size_t groups = options.groups;
  if (options.stride == 0 || options.dilation == 0) {
    fail(ErrorCode::invalid_argument, "conv1d: stride ", options.stride, ", dilation ",
         options.dilation, "; neither may be 0");
  }
  if (input.rank() < 2 || input.rank() > 3 || kernel.rank() != 3 || weight.elements() == 0 ||
      groups == 0 || kernel[0] % groups != 0 || input.back(1) != kernel[1] * groups) {
    fail(ErrorCode::shape_mismatch, "conv1d: input ", input.text(), ", weight ", kernel.text(),
         ", ", groups,
         " groups; expected [(batch,) in, frames], [out, in / groups, taps], out a multiple of "
         "groups");
  }
  const std::size_t outputs = kernel[0] / groups, frames = input.back(0),
                    width = kernel[1] * kernel[2];
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max() / 2;
  const std::uint64_t reach = bounded_sum(bounded_product(kernel[2] - 1, options.dilation), 1);
  const std::uint64_t added_frames = bounded_sum(options.padding, options.padding_behind);
  const std::uint64_t padded = bounded_sum(frames, added_frames);
  if (padded < reach || padded > kMost) {
    fail(ErrorCode::shape_mismatch, "conv1d: ", kernel[2], " taps, dilation ", options.dilation,
         ", over ", padded, " frames");
  }
  const float* added = affine("conv1d", "bias", bias, {kernel[0]});
  const auto steps = static_cast<std::size_t>((padded - reach) / options.stride + 1);
  Shape shape = input;
  shape[shape.rank() - 2] = kernel[0];
  shape[shape.rank() - 1] = steps;
  Tensor result(shape);
  const Taps taps{kernel[2], options.stride, options.padding, options.dilation};
  for (std::size_t part = 0; part < result.elements() / (outputs * steps); ++part) {
    Tensor rows({steps, width});
    gather_taps(x.f32() + part * kernel[1] * frames, {kernel[1], frames, frames, 1}, taps, steps,
                rows.f32());
    const std::size_t first = part % groups * outputs;  // output channels
    float* to = result.f32() + part * outputs * steps;
    kernels::PackedMatrix(std::move(rows)).multiply(weight.f32() + first * width, to, outputs, {});
    for (std::size_t i = 0; i < outputs * steps && added != nullptr; ++i) {
      to[i] += added[first + i / steps];
    }
  }
  return result;
}

}  // namespace clearformer
