// Prompt: the tokens a generation goes on from, and those its encoder read.
// Shapes: B batch, T prompt tokens.
#pragma once

#include "clearformer/generation/generation_config.h"
#include "clearformer/models/model.h"

namespace clearformer {

/// What a caller should know although the generation goes on.
struct GenerationWarning {
  const char* code =
      nullptr;  // "ambiguous_padding", "right_padding"; null: there is nothing to tell
  std::string message;
};

/// The tokens a generation begins with, without the padding, and what they were given with.
struct Prompt {
  std::vector<TokenIds>
      tokens;  // (B) rows of T; of an encoder-decoder what its decoder begins with
  std::vector<TokenIds> encoder;  // (B) what encoder_* options look at: the source, or the prompt
  Tensor mask;                    // (B, T) uint8, 0 = padding; empty without padding
  GenerationWarning warning;
};

/// Reads the prompt from the inputs of a generation, as upstream's generate() does:
/// - decoder-only: input_ids, or the bos token; where no mask is given, padding tokens that are no
///   end tokens are masked, with a warning where a row ends with one; padding tokens that are end tokens,
///   too, are read, with a warning;
/// - encoder-decoder: decoder_input_ids behind the decoder's start token, or that alone.
/// Throws shape_mismatch, dtype_mismatch, or invalid_argument for what is missing, for a mask with
/// padding on the right, and for positions, which generation counts itself.
Prompt read_prompt(const Model& model, const ModelInputs& inputs, const GenerationConfig& config);

/// Positions of the tokens from `first` on: tokens that are no padding are counted, padding itself
/// sits at 0, as upstream has it.
Tensor positions_from(const Tensor& mask, std::size_t first);

}  // namespace clearformer
