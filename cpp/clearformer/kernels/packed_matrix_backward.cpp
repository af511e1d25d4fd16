// The product with the transposed weight: the gradient of a linear layer's input.
#include <algorithm>

#include "clearformer/kernels/matmul.h"
#include "clearformer/kernels/packed_matrix.h"
#include "clearformer/kernels/transpose.h"
#include "clearformer/tensor/rotation.h"
#include "clearformer/tensor/thread_pool.h"

namespace clearformer::kernels {

constexpr std::size_t kMostInputs = 768;  // of a task of a transposed product; a multiple of kBlock

// `count` inputs of `depth` outputs as panels (depth, W) of the transposed weight; the columns past `count` are arbitrary.
void PackedMatrix::copy_transposed(const Part& part, float* panels) const {
  const std::size_t width = panel_width();
  const auto [n, depth, first, count] = part;
  if (format_ != MatrixFormat::f32) {
    for (std::size_t i = 0; i < depth; ++i) {
      float row[kMostInputs] = {};
      copy_part(n + i, first, first + count, row);
      for (std::size_t k = 0; k < count; k += width) {
        std::copy_n(row + k, width, panels + k * depth + i * width);
      }
    }
    return;
  }
  for (std::size_t i = 0; i < depth; i += width) {  // a panel's square blocks, each transposed
    const float* from = panels_.f32() + (n + i) * inputs_ + first * width;
    for (std::size_t k = 0; k < count; k += width) {
      transpose(from + k * width, width, std::min(width, count - k), std::min(width, depth - i),
                panels + k * depth + i * width, width);
    }
  }
}

// A task takes some inputs: their columns of the weight, as panels of the transposed weight in its workspace, for one
// block of outputs after the other. The more inputs, the longer are the runs in which the weight is read.
void PackedMatrix::multiply_transposed(const float* dy, float* dx, std::size_t rows,
                                       const float* residual, Arena& arena) const {
  constexpr std::size_t kDepth = 512;  // outputs at a time: up to 1.5 MB
  // Several tasks a thread even out what they take; one thread needs no more tasks than their size asks for.
  const std::size_t workers = num_threads(), shares = workers == 1 ? 1 : 3 * workers;
  const std::size_t blocks = (inputs_ + kBlock - 1) / kBlock;
  const std::size_t inputs = std::min((blocks + shares - 1) / shares * kBlock, kMostInputs);
  const std::size_t width = panel_width(), most = std::min(outputs_, kDepth);
  const Arena::Frame frame(arena);
  float* const memory = arena.take({workers, most, inputs}).f32();
  const auto multiply_block = [&](std::size_t task, std::size_t worker) {
    float* const panels = memory + worker * most * inputs;
    const std::size_t first = task * inputs, count = std::min(inputs, inputs_ - first);
    std::size_t n = 0;
    do {  // at least once: without outputs the products are 0
      const std::size_t depth = std::min(kDepth, outputs_ - n);
      copy_transposed({n, depth, first, count}, panels);
      MatmulArgs args{{dx + first, inputs_, rows, count, depth, {}}};
      const float* added = n == 0 ? residual : dx;
      args.epilogue.residual = added == nullptr ? nullptr : added + first;
      args.epilogue.residual_stride = inputs_;
      args.a = dy + n;
      args.a_stride = outputs_;
      args.b = panels;
      args.panel_stride = depth * width;
      matmul(args);
      n += kDepth;
    } while (n < outputs_);
  };
  parallel_ranges((inputs_ + inputs - 1) / inputs, rows * outputs_ * inputs, 1, workers,
                  [&](std::size_t first, std::size_t end, std::size_t worker) {
                    for (; first < end; ++first) multiply_block(first, worker);
                  });
}

}  // namespace clearformer::kernels
