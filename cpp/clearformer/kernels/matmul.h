// Matrix product with the right-hand side packed in panels, as used by linear layers and both products of
// attention.
#pragma once

#include <cstddef>

#include "clearformer/simd/dispatch.h"

namespace clearformer::kernels {

/// Operations fused into a product, applied before its elements are stored:
///   C = activation(scale · (A·B) + bias + residual)
struct Epilogue {
  float scale = 1.0f;
  const float* bias = nullptr;      // (N), or none
  const float* residual = nullptr;  // (M, N), or none; may be C
  std::size_t residual_stride = 0;  // floats from row to row
  void (*activation)(const float* in, float* out, std::size_t count) = nullptr;  // elementwise
};

/// Sizes and destination of a product. C: (M, N), rows `c_stride` floats apart.
struct ProductArgs {
  float* c = nullptr;
  std::size_t c_stride = 0;
  std::size_t m = 0, n = 0, k = 0;
  Epilogue epilogue;
};

/// How many groups of panels a single row of narrow weights reads in turn, side by side those of a group: the more, the
/// more streams come from memory (for_each_stream in epilogue.h).
inline constexpr std::size_t kUsualTurns = 2, kMostTurns = 4;

/// What the elements of B are stored in. Narrow ones are widened as they are read: the bits are those of the product with
/// the widened elements.
enum class PanelElement { f32, f16, i8 };

/// A: (M, K), rows `a_stride` floats apart, and columns `a_step`: of a transposed A the step is its row.
/// B: (K, N) in panels of W = panel_width() columns: panel p starts p * panel_stride elements after b and
/// holds element (k, j) at k * W + j, or, in f16, at k * W + 2 * j for j < W/2, else at k * W + 2 * (j - W/2) + 1 (halves
/// must be finite). The last panel is padded to W columns; columns past N are read but never
/// written to C, so their contents are arbitrary.
/// Each element is summed over k in order, for any M and N: results do not depend on how rows are grouped.
struct MatmulArgs : ProductArgs {
  const float* a = nullptr;
  std::size_t a_stride = 0;
  const void* b = nullptr;
  std::size_t panel_stride = 0;
  PanelElement element = PanelElement::f32;
  float* workspace = nullptr;  // for narrow elements: room for one panel of K * W floats
  std::size_t a_step = 1;
};

CLEARFORMER_KERNEL(void, matmul, const MatmulArgs& args)

/// Columns of one panel.
CLEARFORMER_KERNEL(std::size_t, panel_width, )

}  // namespace clearformer::kernels
