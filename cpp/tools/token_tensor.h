// Token ids as the tensors that models read.
#pragma once

#include <algorithm>
#include <vector>

#include "clearformer/tensor/tensor.h"

namespace clearformer::tools {

/// (1, T) int32
inline Tensor token_tensor(const std::vector<std::int32_t>& ids) {
  Tensor tensor({1, ids.size()}, DType::i32);
  std::copy(ids.begin(), ids.end(), tensor.mutable_view().as<std::int32_t>());
  return tensor;
}

}  // namespace clearformer::tools
