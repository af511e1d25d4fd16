#include "clearformer/models/matrix_policy.h"

namespace clearformer {

MatrixFormat format_of(const MatrixRequest& matrix, MatrixFormat asked) {
  constexpr std::size_t kFewOutputs = 32;
  if (matrix.role == MatrixRole::output && matrix.outputs < kFewOutputs) return MatrixFormat::f32;
  return asked;
}

}  // namespace clearformer
