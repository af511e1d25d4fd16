#include "clearformer/kernels/packed_matrix.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

namespace clearformer::kernels {

namespace {

// Rows of x (rows, K) as a multiplication of whole numbers reads them: multiples of the row's largest
// magnitude / 127.
std::vector<float> in_eight_bits(const float* x, std::size_t rows, std::size_t inputs) {
  std::vector<float> rounded(x, x + rows * inputs);
  for (std::size_t row = 0; row < rows; ++row) {
    float* from = rounded.data() + row * inputs;
    float largest = 0.0f;
    for (std::size_t k = 0; k < inputs; ++k) largest = std::max(largest, std::fabs(from[k]));
    if (largest == 0.0f) continue;
    const float scale = largest / 127.0f;
    for (std::size_t k = 0; k < inputs; ++k) from[k] = scale * std::nearbyint(from[k] / scale);
  }
  return rounded;
}

}  // namespace

// For now every format is widened and multiplied in fp32.
PackedMatrix::PackedMatrix(Matrix weight) : format_(weight.format()) {
  if (weight.empty()) return;
  outputs_ = weight.outputs();
  inputs_ = weight.inputs();
  panels_ = std::move((format_ == MatrixFormat::f32 ? weight : weight = weight.widened()).values());
  const std::size_t width = panel_width();
  const std::size_t panels = (outputs_ + width - 1) / width;
  if (panels_.capacity() < panels * width * inputs_) {
    Tensor roomy(Shape{outputs_, inputs_}, DType::f32, (panels * width - outputs_) * inputs_);
    std::memcpy(roomy.data(), panels_.data(), outputs_ * inputs_ * sizeof(float));
    panels_ = std::move(roomy);
  }
  // Rows p·W … p·W + W - 1 fill the same memory as panel p: transpose block by block.
  std::vector<float> rows(width * inputs_);
  for (std::size_t panel = 0; panel < panels; ++panel) {
    float* block = panels_.f32() + panel * width * inputs_;
    const std::size_t filled = std::min(width, outputs_ - panel * width);
    std::copy_n(block, filled * inputs_, rows.begin());
    std::fill(rows.begin() + static_cast<std::ptrdiff_t>(filled * inputs_), rows.end(), 0.0f);
    for (std::size_t k = 0; k < inputs_; ++k) {
      for (std::size_t j = 0; j < width; ++j) block[k * width + j] = rows[j * inputs_ + k];
    }
  }
}

void PackedMatrix::unpack_row(std::size_t output, float* to) const {
  const std::size_t width = panel_width();
  const float* from = panels_.f32() + output / width * width * inputs_ + output % width;
  for (std::size_t k = 0; k < inputs_; ++k) to[k] = from[k * width];
}

void PackedMatrix::multiply(const float* x, float* y, std::size_t rows, const float* bias) const {
  std::vector<float> rounded;
  if (format_ == MatrixFormat::q8 || format_ == MatrixFormat::q4) {
    rounded = in_eight_bits(x, rows, inputs_);
  }
  MatmulArgs args;
  args.a = rounded.empty() ? x : rounded.data();
  args.a_stride = inputs_;
  args.b = panels_.f32();
  args.panel_stride = panel_width() * inputs_;
  args.c = y;
  args.c_stride = outputs_;
  args.m = rows;
  args.n = outputs_;
  args.k = inputs_;
  args.bias = bias;
  matmul(args);
}

}  // namespace clearformer::kernels
