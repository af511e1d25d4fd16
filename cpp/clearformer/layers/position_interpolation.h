// Position-table interpolation: resizes a learned table of image positions to another grid, for
// images of another size than in training.
//   out(y, x) = Σ_{i,j = -1…2} w_i(u)·w_j(v)·in(⌊y'⌋ + i, ⌊x'⌋ + j),  edges repeated
//   y' = (y + 1/2)·h/h' - 1/2,  u = y' - ⌊y'⌋;  x', v likewise
//   w: cubic convolution with a = -3/4, as in torch.nn.functional.interpolate's bicubic mode
//      (align_corners False, no antialiasing)
// Antialiased, a = -1/2, the kernel is stretched by s = max(1, h/h') and its weights are divided by their sum; what is
// outside the table is left out.
// Sources: Keys 1981, doi 10.1109/TASSP.1981.1163711; transformers' interpolate_pos_encoding of ViT and, antialiased,
// of DINOv2 with registers.
// Shapes: h, w old grid, h', w' new grid, P tokens outside the grid, D model.
#pragma once

#include "clearformer/tensor/tensor.h"

namespace clearformer {

/// The numbers of patch rows and columns.
struct Grid {
  std::size_t rows = 0;
  std::size_t columns = 0;

  /// Throws out_of_memory if it does not fit size_t.
  std::size_t patches() const { return Shape{rows, columns}.elements(); }
  bool operator==(const Grid&) const = default;
};

/// Whether the kernel covers all of a table that is made smaller.
enum class Antialias { no, yes };

/// table (1, P + h·w, D) or (P + h·w, D) -> (1, P + h'·w', D) or (P + h'·w', D). The first P rows
/// (class token, distillation token) are unchanged. An equal grid gives the same bits. Accumulated in double.
Tensor interpolate_positions(const TensorView& table, Grid from, Grid to,
                             Antialias antialias = Antialias::no);

/// The backward pass of interpolate_positions(): from d, the gradient of the resized table, adds that of the table
/// (P + h·w, D) to d_table. Accumulated in double, in a fixed order.
void interpolate_positions_backward(const TensorView& d, Grid from, Grid to, Antialias antialias,
                                    float* d_table);

/// The square grid of a table of `rows` rows, `tokens` of which are outside the grid; throws
/// shape_mismatch if the rest is not a square.
Grid square_grid(std::size_t rows, std::size_t tokens);

}  // namespace clearformer
