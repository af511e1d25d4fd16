// Which of a model's matrices are kept in how many bits when a dtype is asked for.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "clearformer/models/config.h"
#include "clearformer/weights/matrix_plan.h"

namespace clearformer {

/// The format for one matrix of a model that is loaded in `asked`.
MatrixFormat format_of(const MatrixRequest& matrix, MatrixFormat asked);

/// The plan for the checkpoint that config.json describes: under every name it may have, each
/// weight of a linear layer and its format. For f32 it is empty. Throws malformed_config or
/// unsupported as load_model() does.
MatrixPlan plan_matrices(std::string_view config_text, std::optional<Task> task, MatrixFormat asked,
                         std::string config_file = "config.json");

}  // namespace clearformer
