#include "clearformer/models/matrix_policy.h"

#include <algorithm>

namespace clearformer {

MatrixFormat format_of(const MatrixRequest& matrix, MatrixFormat asked) {
  constexpr std::size_t kFewOutputs = 32, kFewElements = 65536;
  if (matrix.role == MatrixRole::output && matrix.outputs < kFewOutputs) return MatrixFormat::f32;
  // Not multiplied: the sizes may come from a hostile config.
  if (matrix.inputs == 0 || matrix.outputs < kFewElements / matrix.inputs) {
    return std::min(asked, MatrixFormat::f16);
  }
  const bool exact =
      matrix.role == MatrixRole::output || matrix.path.ends_with("attn.v_proj.weight");
  return exact ? std::min(asked, MatrixFormat::q8) : asked;
}

MatrixPlan plan_matrices(std::string_view config_text, std::optional<Task> task, MatrixFormat asked,
                         std::string config_file) {
  if (asked == MatrixFormat::f32) return {};
  const auto policy = [asked](const MatrixRequest& matrix) { return format_of(matrix, asked); };
  return plan_matrices(config_text, task, policy, std::move(config_file));
}

}  // namespace clearformer
