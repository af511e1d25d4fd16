#include "clearformer/kernels/packed_matrix.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "clearformer/kernels/lifted_halves.h"
#include "clearformer/kernels/quantized_matmul.h"
#include "clearformer/kernels/row_turns.h"
#include "clearformer/kernels/transpose.h"
#include "clearformer/tensor/rotation.h"
#include "clearformer/tensor/rounding.h"
#include "clearformer/tensor/scratch.h"
#include "clearformer/tensor/thread_pool.h"

namespace clearformer::kernels {
namespace {

PanelFormat panel_format(MatrixFormat format) {
  switch (format) {
    case MatrixFormat::f16: return PanelFormat::f16;
    case MatrixFormat::q4: return PanelFormat::q4;
    case MatrixFormat::q8_fine: return PanelFormat::q8_fine;
    default: return PanelFormat::q8;
  }
}

// One for all formats: the fastest depends on the machine's memory, for each in much the same way.
constinit RowTurns row_turns;

// The panel layouts are those of quantized_matmul.h.

std::size_t bytes_of_panel(MatrixFormat format, std::size_t inputs) {
  return panel_bytes(panel_format(format), inputs);
}

std::size_t place16(std::size_t k, std::size_t column) {
  return 2 * (k * panel_width() + place_of_half(column));
}

// Of q8 and q4: the position of an output's elements and scales within a block.
struct BlockLayout {
  std::size_t step = panel_step();
  std::size_t width = panel_width(), columns,
              column;  // adjacent columns, and the output's index among them
  bool nibbles;
  int shift;  // q4: selects the nibble

  BlockLayout(MatrixFormat format, std::size_t output)
      : columns(format == MatrixFormat::q4 ? width / 2 : width),
        column(output % width % columns),
        nibbles(format == MatrixFormat::q4),
        shift(output % width < columns ? 0 : 4) {}

  std::size_t element(std::size_t k) const {
    return (k / step * columns + column) * step + k % step;
  }
  std::size_t scale() const { return kBlock * columns + 2 * (column + (shift != 0 ? columns : 0)); }
  std::size_t bytes() const { return kBlock * columns + (nibbles ? 2 : 4) * width; }
};

void pack_row16(const std::uint16_t* row, std::size_t inputs, std::size_t column, int lift,
                unsigned char* panel) {
  const std::size_t step = 2 * panel_width();
  unsigned char* to = panel + place16(0, column);
  for (std::size_t k = 0; k < inputs; ++k, to += step) {
    const std::uint16_t half = lifted(row[k], lift);
    std::memcpy(to, &half, sizeof half);
  }
}

void pack_block8(const unsigned char* numbers, const BlockLayout& layout, unsigned char* to) {
  unsigned char bytes[kBlock];
  int sum = 0;
  for (std::size_t k = 0; k < kBlock; ++k) {
    const int number = numbers[k] - kZero8;
    bytes[k] = static_cast<unsigned char>(number);
    sum += number;
  }
  for (std::size_t k = 0; k < kBlock; k += layout.step) {
    std::memcpy(to + layout.element(k), bytes + k, layout.step);
  }
  const auto sum16 = static_cast<std::int16_t>(sum);  // 64 numbers below 128
  std::memcpy(to + layout.scale() + 2 * layout.width, &sum16, sizeof sum16);
}

void pack_block4(const unsigned char* numbers, const BlockLayout& layout, unsigned char* to) {
  unsigned char nibbles[kBlock];
  for (std::size_t k = 0; k < kBlock; k += 2) {
    nibbles[k] = static_cast<unsigned char>((numbers[k / 2] & 15) << layout.shift);
    nibbles[k + 1] = static_cast<unsigned char>((numbers[k / 2] >> 4) << layout.shift);
  }
  for (std::size_t k = 0; k < kBlock; k += layout.step) {
    unsigned char* const step = to + layout.element(k);
    for (std::size_t i = 0; i < layout.step; ++i) step[i] |= nibbles[k + i];
  }
}

// Packs the elements of an output and, of q8 and q4, its scales.
void pack_row(const PackedMatrix& matrix, std::size_t output, const unsigned char* row,
              const std::uint16_t* scales, int lift, unsigned char* panel) {
  if (matrix.format() == MatrixFormat::f16) {
    const auto* halves = reinterpret_cast<const std::uint16_t*>(row);
    return pack_row16(halves, matrix.inputs(), output % panel_width(), lift, panel);
  }
  const BlockLayout layout(matrix.format(), output);
  const std::size_t blocks = blocks_of(matrix.inputs());
  for (std::size_t block = 0; block < blocks; ++block, panel += layout.bytes()) {
    if (layout.nibbles) {
      pack_block4(row + block * kBlock / 2, layout, panel);
    } else {
      pack_block8(row + block * kBlock, layout, panel);
    }
    std::memcpy(panel + layout.scale(), scales + block, sizeof *scales);
  }
}

// Restricts a product to the columns first … end - 1; the caller offsets the panels.
template <class Args>
void take_columns(Args& args, std::size_t first, std::size_t end) {
  args.c += first;
  args.n = end - first;
  if (args.epilogue.bias != nullptr) args.epilogue.bias += first;
  if (args.epilogue.residual != nullptr) args.epilogue.residual += first;
}

// Runs a product in parallel: by panels, or by rows if there are few panels.
void multiply_shared(const MatmulArgs& args) {
  constexpr std::size_t kRows = 12;  // a multiple of every target's tile
  const std::size_t width = panel_width(), panels = (args.n + width - 1) / width;
  if (panels >= 2 * num_threads() || args.m < 2 * kRows) {
    return parallel_ranges(panels, args.m * args.k * width, 1,
                           [&](std::size_t first, std::size_t end) {
                             MatmulArgs part = args;
                             part.b = static_cast<const float*>(args.b) + first * args.panel_stride;
                             take_columns(part, first * width, std::min(args.n, end * width));
                             matmul(part);
                           });
  }
  parallel_ranges(args.m, args.n * args.k, kRows, [&](std::size_t first, std::size_t end) {
    MatmulArgs part = args;
    part.a += first * args.a_stride;
    part.c += first * args.c_stride;
    part.m = end - first;
    if (args.epilogue.residual != nullptr) {
      part.epilogue.residual += first * args.epilogue.residual_stride;
    }
    matmul(part);
  });
}

}  // namespace

std::size_t place_of_half(std::size_t column) {
  const std::size_t half = panel_width() / 2;
  return column % half * 2 + column / half;
}

PackedMatrix::PackedMatrix(Matrix weight) {
  if (weight.empty()) return;
  format_ = weight.format();
  outputs_ = weight.outputs();
  inputs_ = weight.inputs();
  if (format_ == MatrixFormat::f32) {
    pack_floats(std::move(weight.values()));
  } else {
    pack(std::move(weight));
  }
}

void PackedMatrix::pack_floats(Tensor rows) {
  panels_ = std::move(rows);
  const std::size_t width = panel_width();
  const std::size_t panels = (outputs_ + width - 1) / width;
  if (panels_.capacity() < panels * width * inputs_) {
    Tensor roomy(Shape{outputs_, inputs_}, DType::f32, (panels * width - outputs_) * inputs_);
    std::memcpy(roomy.data(), panels_.data(), outputs_ * inputs_ * sizeof(float));
    panels_ = std::move(roomy);
  }
  // Rows p·W … p·W + W - 1 occupy the memory of panel p: transpose block by block.
  std::vector<float> block_rows(width * inputs_);
  for (std::size_t panel = 0; panel < panels; ++panel) {
    float* block = panels_.f32() + panel * width * inputs_;
    const std::size_t filled = std::min(width, outputs_ - panel * width);
    std::copy_n(block, filled * inputs_, block_rows.begin());
    std::fill(block_rows.begin() + static_cast<std::ptrdiff_t>(filled * inputs_), block_rows.end(),
              0.0f);
    transpose(block_rows.data(), inputs_, width, inputs_, block, width);
  }
}

// In place: a panel is at least as large as its rows, so from the last one on it overwrites only rows that have been
// packed.
void PackedMatrix::pack(Matrix weight) {
  const std::size_t width = panel_width(), panels = (outputs_ + width - 1) / width;
  const std::size_t bytes = bytes_of_panel(format_, inputs_);
  const std::size_t row = weight.values().view().bytes() / outputs_;
  // The panels overwrite them as well.
  const auto* stored = static_cast<const std::uint16_t*>(weight.scales().data());
  const std::vector<std::uint16_t> scales(stored, stored + weight.scales().elements());
  panels_ = std::move(weight.values());
  if (format_ == MatrixFormat::f16) {
    const auto* halves = static_cast<const std::uint16_t*>(panels_.data());
    lift_ = lift_of(largest_of(halves, outputs_ * inputs_));
  }
  if (this->bytes() < panels * bytes) {  // a matrix that was not allocated to be packed
    Tensor roomy({panels * bytes}, DType::u8);
    std::memcpy(roomy.data(), panels_.data(), outputs_ * row);
    panels_ = std::move(roomy);
  }
  const std::size_t blocks = is_quantized(format_) ? blocks_of(inputs_) : 0;
  std::vector<unsigned char> rows(width * row);
  auto* first = static_cast<unsigned char*>(panels_.data());
  for (std::size_t panel = panels; panel-- != 0;) {
    const std::size_t output = panel * width, filled = std::min(width, outputs_ - output);
    std::copy_n(first + output * row, filled * row, rows.begin());
    unsigned char* to = first + panel * bytes;
    std::memset(to, 0, bytes);
    for (std::size_t i = 0; i < filled; ++i) {
      pack_row(*this, output + i, rows.data() + i * row, scales.data() + (output + i) * blocks,
               lift_, to);
    }
  }
}

void PackedMatrix::copy_row(std::size_t output, float* to) const {
  copy_part(output, 0, inputs_, to);
}

// The inputs first … end - 1 of a row; `first` is a multiple of kBlock.
void PackedMatrix::copy_part(std::size_t output, std::size_t first, std::size_t end,
                             float* to) const {
  const std::size_t width = panel_width(), column = output % width;
  if (format_ == MatrixFormat::f32) {
    const float* from = panels_.f32() + output / width * width * inputs_ + column;
    for (std::size_t k = first; k < end; ++k) *to++ = from[k * width];
    return;
  }
  const auto* panel = static_cast<const unsigned char*>(panels_.data()) +
                      output / width * bytes_of_panel(format_, inputs_);
  if (format_ == MatrixFormat::f16) {
    const float factor = unlift();
    for (std::size_t k = first; k < end; ++k) {
      std::uint16_t half;
      std::memcpy(&half, panel + place16(k, column), sizeof half);
      *to++ = float_from_f16(half) * factor;
    }
    return;
  }
  const BlockLayout layout(format_, output);
  panel += first / kBlock * layout.bytes();
  for (; first < end; first += kBlock, to += kBlock, panel += layout.bytes()) {
    std::uint16_t scale;
    std::memcpy(&scale, panel + layout.scale(), sizeof scale);
    float numbers[kBlock];
    for (std::size_t k = 0; k < kBlock; ++k) {
      const unsigned char byte = panel[layout.element(k)];
      const int number =
          layout.nibbles ? (byte >> layout.shift & 15) - kZero4 : static_cast<signed char>(byte);
      numbers[k] = float_from_bf16(scale) * static_cast<float>(number);
    }
    rotate(numbers);
    std::copy_n(numbers, std::min(kBlock, end - first), to);
  }
}

void PackedMatrix::set_row(std::size_t output, const float* row) {
  const std::size_t width = panel_width(), column = output % width;
  if (format_ == MatrixFormat::f32) {
    float* to = panels_.f32() + output / width * width * inputs_ + column;
    for (std::size_t k = 0; k < inputs_; ++k) to[k * width] = row[k];
    return;
  }
  if (format_ != MatrixFormat::f16)
    fail(ErrorCode::unsupported, "quantised weights are not written");
  std::vector<std::uint16_t> halves(inputs_);
  std::transform(row, row + inputs_, halves.begin(), f16_from_float);
  const std::uint16_t largest = largest_of(halves.data(), inputs_);
  if (largest != 0) lower(std::min(lift_, lift_of(largest)));
  pack_row16(halves.data(), inputs_, column, lift_,
             static_cast<unsigned char*>(panels_.data()) +
                 output / width * bytes_of_panel(format_, inputs_));
}

float PackedMatrix::unlift() const { return power_of_two(-lift_); }

// Room for larger numbers.
void PackedMatrix::lower(int lift) {
  if (lift == lift_) return;
  auto* const halves = static_cast<std::uint16_t*>(panels_.data());
  const std::size_t width = panel_width(), panels = (outputs_ + width - 1) / width;
  for (std::size_t i = 0; i < panels * width * inputs_; ++i) {
    halves[i] = lifted_slowly(halves[i], lift - lift_);
  }
  lift_ = lift;
}

void PackedMatrix::multiply(const float* x, float* y, std::size_t rows,
                            const Epilogue& epilogue) const {
  const ProductArgs product{y, outputs_, rows, outputs_, inputs_, epilogue};
  if (format_ != MatrixFormat::f32) return multiply_quantized(x, product);
  MatmulArgs args{product};
  args.a = x;
  args.a_stride = inputs_;
  args.b = panels_.f32();
  args.panel_stride = panel_width() * inputs_;
  multiply_shared(args);
}

void PackedMatrix::multiply_quantized(const float* x, const ProductArgs& product) const {
  const std::size_t rows = product.m;
  QuantizedMatmulArgs args{product};
  args.format = panel_format(format_);
  args.x = x;
  args.x_stride = inputs_;
  args.panels = static_cast<const unsigned char*>(panels_.data());
  args.unlift = unlift();
  const bool integers = args.format != PanelFormat::f16;
  const std::size_t row_bytes = integers ? quantized_row_bytes(args.format, rows, inputs_) : 0;
  const std::size_t workspace = (panel_workspace_bytes(args.format, inputs_) + 63) / 64 * 64;
  const std::size_t workers = num_threads();
  unsigned char* memory = scratch(row_bytes + workers * workspace);
  args.rows = memory;
  if (integers) {
    parallel_ranges(rows, inputs_, 1,
                    [&](std::size_t first, std::size_t end) { quantize_rows(args, first, end); });
  }
  const std::size_t width = panel_width(), panels = (outputs_ + width - 1) / width;
  const auto multiply = [&](std::size_t turns) {
    args.turns = turns;
    parallel_ranges(panels, rows * inputs_ * width / 2, 1, workers,
                    [&](std::size_t first, std::size_t end, std::size_t worker) {
                      QuantizedMatmulArgs part = args;
                      part.panels += first * bytes_of_panel(format_, inputs_);
                      part.workspace = memory + row_bytes + worker * workspace;
                      take_columns(part, first * width, std::min(outputs_, end * width));
                      quantized_matmul(part);
                    });
  };
  if (rows > 1) return multiply(kUsualTurns);
  row_turns.run(bytes(), multiply);
}

namespace {

// Small integers of mixed sign and size, which q8 and q4 represent well.
float known_number(std::size_t i) {
  return static_cast<float>(static_cast<int>((i * 2654435761u >> 13) % 15) - 7);
}

// `count` numbers that are known_number(step · i + first) once they are rotated.
void fill_known(float* to, std::size_t count, std::size_t step, std::size_t first) {
  for (std::size_t block = 0; block < count; block += kBlock) {
    float numbers[kBlock];
    for (std::size_t i = 0; i < kBlock; ++i) numbers[i] = known_number(step * (block + i) + first);
    rotate(numbers);
    std::copy_n(numbers, kBlock, to + block);
  }
}

bool is_right(MatrixFormat format) {
  constexpr std::size_t kRows = 7, kOutputs = 40, kInputs = 2 * kBlock;
  Tensor weight({kOutputs, kInputs});
  float x[kRows * kInputs], y[kRows * kOutputs];
  fill_known(weight.f32(), kOutputs * kInputs, 1, 0);
  fill_known(x, kRows * kInputs, 3, 1);
  PackedMatrix(Matrix::of(weight, format)).multiply(x, y, kRows, {});
  for (std::size_t i = 0; i < kRows * kOutputs; ++i) {
    float sum = 0.0f, magnitude = 0.0f;
    for (std::size_t k = 0; k < kInputs; ++k) {
      const float product = known_number(3 * (i / kOutputs * kInputs + k) + 1) *
                            known_number(i % kOutputs * kInputs + k);
      sum += product;
      magnitude += std::fabs(product);
    }
    if (!(std::fabs(y[i] - sum) <= 0.02f * magnitude)) return false;
  }
  return true;
}

}  // namespace

bool integer_products_are_right() {
  static const bool right = is_right(MatrixFormat::q8) && is_right(MatrixFormat::q4);
  return right;
}

}  // namespace clearformer::kernels
