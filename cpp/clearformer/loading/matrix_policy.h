// The format of each matrix for a requested dtype. Measured on trained checkpoints: web/examples/dtypes.md.
//
//   fp32  as stored in the file
//   fp16  all weights of linear layers and token embedding tables
//   q8    the same, but matrices of fewer than 65,536 elements stay in fp16: they take little memory, yet make up
//         small models, where rounding matters most. Products round their inputs to 13 bits instead of 7 (q8_fine) in
//         output layers (also those tied to the token embedding), which decide on tokens; in the value and output
//         projections of attention, whose errors are not averaged out, if they have at most 512 inputs (wider ones
//         average over more); and in all matrices of at most 256 inputs
//   q4    as q8, but output layers and the value projections of attention are those of q8
//
// Routers of mixtures of experts stay in fp16: they are small, and rounding would choose other experts.
// Never quantised: norms, biases, positions, token types, convolutions and patches, and output layers and heads of
// fewer than 32 outputs.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "clearformer/models/config.h"
#include "clearformer/weights/matrix_plan.h"

namespace clearformer {

/// The format of one matrix of a model loaded as `asked`.
MatrixFormat format_of(const MatrixRequest& matrix, MatrixFormat asked);

/// Maps each matrix that a model requests to its format.
using MatrixPolicy = std::function<MatrixFormat(const MatrixRequest&)>;

/// The plan for the checkpoint that config.json describes: each weight of a linear layer and its format, under every
/// name it may have. Throws malformed_config or unsupported, as load_model() does.
MatrixPlan plan_matrices(std::string_view config_text, std::optional<Task> task,
                         const MatrixPolicy& policy, std::string config_file = "config.json");
/// With format_of() as the policy.
MatrixPlan plan_matrices(std::string_view config_text, std::optional<Task> task, MatrixFormat asked,
                         std::string config_file = "config.json");

}  // namespace clearformer
