#include "clearformer/loading/matrix_policy.h"

#include <algorithm>

namespace clearformer {

MatrixFormat format_of(const MatrixRequest& matrix, MatrixFormat asked) {
  constexpr std::size_t kFewOutputs = 32, kFewElements = 65536, kFewInputs = 512;
  if (matrix.role == MatrixRole::output && matrix.outputs < kFewOutputs) return MatrixFormat::f32;
  // Not multiplied: sizes from a hostile config could overflow.
  if (matrix.inputs == 0 || matrix.outputs < kFewElements / matrix.inputs) {
    return std::min(asked, MatrixFormat::f16);
  }
  const bool to_values = matrix.path.ends_with("attn.v_proj.weight");
  const bool from_values = matrix.path.ends_with("attn.o_proj.weight");
  if (asked == MatrixFormat::q8 && (to_values || from_values) && matrix.inputs <= kFewInputs) {
    return MatrixFormat::q8_fine;
  }
  const bool exact = matrix.role == MatrixRole::output || to_values;
  return exact ? std::min(asked, MatrixFormat::q8) : asked;
}

MatrixPlan plan_matrices(std::string_view config_text, std::optional<Task> task, MatrixFormat asked,
                         std::string config_file) {
  if (asked == MatrixFormat::f32) return {};
  const auto policy = [asked](const MatrixRequest& matrix) { return format_of(matrix, asked); };
  return plan_matrices(config_text, task, policy, std::move(config_file));
}

}  // namespace clearformer
