#include "clearformer/layers/functional.h"

#include <cstring>
#include <vector>

#include "clearformer/kernels/matmul.h"
#include "clearformer/kernels/norm.h"
#include "clearformer/kernels/softmax.h"

namespace clearformer {

namespace {

// y (K, N) in the panels matmul reads.
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

// How many elements the last `axes` axes have.
std::size_t inner_elements(std::string_view operation, const Shape& shape, std::size_t axes) {
  if (axes == 0 || axes > shape.rank()) {
    fail(ErrorCode::shape_mismatch, operation, ": cannot normalize ", axes, " axes of shape ",
         shape.text());
  }
  std::size_t count = 1;
  for (std::size_t axis = 0; axis < axes; ++axis) count *= shape.back(axis);
  return count;
}

const float* affine(std::string_view operation, std::string_view what, const TensorView* values,
                    std::size_t features) {
  if (values == nullptr) return nullptr;
  if (values->elements() != features) {
    fail(ErrorCode::shape_mismatch, operation, ": ", what, " of shape ", values->shape().text(),
         ", the normalized axes have ", features, " elements");
  }
  return values->f32();
}

}  // namespace

Tensor softmax(TensorView x, std::ptrdiff_t axis) {
  const auto rank = static_cast<std::ptrdiff_t>(x.shape().rank());
  if (axis < -rank || axis >= rank) {
    fail(ErrorCode::invalid_argument, "softmax: axis ", axis, " of a tensor with ", rank, " axes");
  }
  const auto along = static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
  const std::size_t length = x.dim(along);
  std::size_t inner = 1;
  for (std::size_t i = along + 1; i < x.shape().rank(); ++i) inner *= x.dim(i);
  Tensor result = Tensor::copy_of(x);
  if (result.elements() == 0) return result;
  if (inner == 1) {
    kernels::softmax(result.f32(), result.elements() / length, length, length);
    return result;
  }
  std::vector<float> row(length);
  for (std::size_t outer = 0; outer < result.elements() / (length * inner); ++outer) {
    for (std::size_t i = 0; i < inner; ++i) {
      float* first = result.f32() + outer * length * inner + i;
      for (std::size_t j = 0; j < length; ++j) row[j] = first[j * inner];
      kernels::softmax(row.data(), 1, length, length);
      for (std::size_t j = 0; j < length; ++j) first[j * inner] = row[j];
    }
  }
  return result;
}

Tensor masked_softmax(TensorView scores, const Mask& mask, EmptyRow empty_row) {
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
  for (std::size_t i = 0; i < shape[0] * heads * queries; ++i, row += keys) {
    full.apply(i / (heads * queries), i / queries % heads, i % queries, row, keys);
    if (empty_row == EmptyRow::uniform) make_empty_row_uniform(row, keys);
    kernels::softmax(row, 1, keys, keys);
  }
  return result;
}

Tensor matmul(TensorView x, TensorView y) {
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

Tensor bmm(TensorView x, TensorView y) {
  const Shape &a = x.shape(), &b = y.shape();
  if (a.rank() != 3 || b.rank() != 3 || a[0] != b[0] || a[2] != b[1]) {
    fail(ErrorCode::shape_mismatch, "bmm: ", a.text(), " times ", b.text(),
         ", expected [batch, n, k] times [batch, k, m]");
  }
  Tensor result({a[0], a[1], b[2]});
  for (std::size_t batch = 0; batch < a[0]; ++batch) {
    multiply(x.f32() + batch * a[1] * a[2], y.f32() + batch * b[1] * b[2],
             result.f32() + batch * a[1] * b[2], a[1], a[2], b[2]);
  }
  return result;
}

Tensor layer_norm(TensorView x, std::size_t axes, const TensorView* weight, const TensorView* bias,
                  float eps) {
  const std::size_t features = inner_elements("layer_norm", x.shape(), axes);
  const float* factor = affine("layer_norm", "weight", weight, features);
  const float* shift = affine("layer_norm", "bias", bias, features);
  Tensor result(x.shape());
  const std::size_t rows = x.shape().outer(axes);
  std::vector<float> scale(rows);
  kernels::center_rows(x.f32(), result.f32(), scale.data(), rows, features, eps);
  kernels::divide_rows(result.f32(), scale.data(), result.f32(), rows, features);
  kernels::scale_shift_rows(result.f32(), factor, shift, result.f32(), rows, features);
  return result;
}

Tensor rms_norm(TensorView x, std::size_t axes, const TensorView* weight, float eps) {
  const std::size_t features = inner_elements("rms_norm", x.shape(), axes);
  const float* factor = affine("rms_norm", "weight", weight, features);
  Tensor result(x.shape());
  const std::size_t rows = x.shape().outer(axes);
  std::vector<float> scale(rows);
  kernels::root_mean_square(x.f32(), scale.data(), rows, features, eps);
  kernels::divide_rows(x.f32(), scale.data(), result.f32(), rows, features);
  kernels::scale_shift_rows(result.f32(), factor, nullptr, result.f32(), rows, features);
  return result;
}

Tensor activation(Activation kind, TensorView x) {
  Tensor result = Tensor::copy_of(x);
  apply(kind, result.f32(), result.elements());
  return result;
}

}  // namespace clearformer
