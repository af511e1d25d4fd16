#include "clearformer/loading/matrix_policy.h"

#include <algorithm>

namespace clearformer {

MatrixFormat format_of(const MatrixRequest& matrix, MatrixFormat asked) {
  constexpr std::size_t kFewOutputs = 32, kFewElements = 65536, kFewInputs = 512, kFewest = 256;
  if (matrix.role == MatrixRole::output && matrix.outputs < kFewOutputs) return MatrixFormat::f32;
  // Not multiplied: sizes from a hostile config could overflow.
  if (matrix.role == MatrixRole::router || matrix.inputs == 0 ||
      matrix.outputs < kFewElements / matrix.inputs) {
    return std::min(asked, MatrixFormat::f16);
  }
  const bool to_values = matrix.path.ends_with("attn.v_proj.weight");
  const bool from_values = matrix.path.ends_with("attn.o_proj.weight");
  const bool is_output = matrix.role == MatrixRole::output;
  const bool is_exact = is_output || to_values;
  if (asked != MatrixFormat::q8 && !(asked == MatrixFormat::q4 && is_exact)) return asked;
  const bool is_fine = is_output || matrix.inputs <= kFewest ||
                       ((to_values || from_values) && matrix.inputs <= kFewInputs);
  return is_fine ? MatrixFormat::q8_fine : MatrixFormat::q8;
}

MatrixPlan plan_matrices(std::string_view config_text, std::optional<Task> task, MatrixFormat asked,
                         std::string config_file) {
  const auto policy = [asked](const MatrixRequest& matrix) { return format_of(matrix, asked); };
  return plan_matrices(config_text, task, policy, std::move(config_file));
}

}  // namespace clearformer
