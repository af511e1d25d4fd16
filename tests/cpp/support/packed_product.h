// The product of rows with a packed matrix, which reads and writes no number beside them.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "clearformer/kernels/matmul.h"
#include "clearformer/kernels/packed_matrix.h"
#include "support/guarded.h"

namespace clearformer::test {

/// x·Wᵀ of x (M, K), and what the epilogue does with it.
inline std::vector<float> product(const kernels::PackedMatrix& matrix, const std::vector<float>& x,
                                  const kernels::Epilogue& epilogue = {}) {
  const std::size_t rows = x.size() / matrix.inputs();
  Guarded in(x, 1), out(rows * matrix.outputs(), 3);
  matrix.multiply(in.data(), out.data(), rows, epilogue);
  EXPECT_TRUE(out.intact());
  return out.values();
}

}  // namespace clearformer::test
