// Which of a model's matrices are kept in how many bits when a dtype is asked for. Measured on trained
// checkpoints: web/examples/dtypes.md.
//
//   fp32  as the file has them
//   fp16  all weights of linear layers and tables of words
//   q8    the same; in fp16 stay matrices of fewer than 65,536 elements, which take no memory to speak
//         of, but make up small models, where rounding shows most; in blocks of 64 are the projections
//         to attention's values and from them, whose errors nothing averages out, where they have at
//         most 512 inputs (wider ones average over more)
//   q4    as q8; in q8 stay what makes logits (output layers, also where they share the table of
//         words) and the projections to attention's values
//
// Never rounded: norms, biases, positions, token types, convolutions and patches, and output layers
// and heads of fewer than 32 outputs.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "clearformer/models/config.h"
#include "clearformer/weights/matrix_plan.h"

namespace clearformer {

/// The format for one matrix of a model that is loaded in `asked`.
MatrixFormat format_of(const MatrixRequest& matrix, MatrixFormat asked);

/// The format for each matrix that a model asks for.
using MatrixPolicy = std::function<MatrixFormat(const MatrixRequest&)>;

/// The plan for the checkpoint that config.json describes: under every name it may have, each
/// weight of a linear layer and its format. Throws malformed_config or unsupported as load_model()
/// does.
MatrixPlan plan_matrices(std::string_view config_text, std::optional<Task> task,
                         const MatrixPolicy& policy, std::string config_file = "config.json");
/// By format_of(); for f32 it is empty, and the config is not read.
MatrixPlan plan_matrices(std::string_view config_text, std::optional<Task> task, MatrixFormat asked,
                         std::string config_file = "config.json");

}  // namespace clearformer
