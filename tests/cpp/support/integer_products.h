// Tests of q8 and q4 are skipped where the engine's integer products are wrong (the relaxed build in Node 20).
#pragma once

#include <gtest/gtest.h>

#include "clearformer/kernels/packed_matrix.h"

#define SKIP_WHERE_INTEGER_PRODUCTS_ARE_WRONG()             \
  if (!kernels::integer_products_are_right()) {             \
    GTEST_SKIP() << "this engine's dot products are wrong"; \
  }
