// Prompt: the tokens that a generation continues, and those its encoder reads.
// Shapes: B batch, T prompt tokens.
#pragma once

#include "clearformer/generation/generation_config.h"
#include "clearformer/models/model.h"

namespace clearformer {

/// Something the caller should know that does not stop the generation.
struct GenerationWarning {
  const char* code = nullptr;  // "ambiguous_padding", "right_padding"; null: no warning
  std::string message;
};

/// The initial tokens of a generation and their mask.
struct Prompt {
  std::vector<TokenIds> tokens;   // (B) rows of T; for an encoder-decoder, the decoder's
  std::vector<TokenIds> encoder;  // (B) source or prompt, for the encoder_* options
  Tensor mask;                    // (B, T) uint8, 0 = padding; empty without padding
  GenerationWarning warning;
};

/// Reads the prompt from a generation's inputs, as upstream's generate() does:
/// - decoder-only: input_ids, or the bos token; without a mask, padding tokens that are not end tokens are masked,
///   with a warning if a row ends with one; padding tokens that are end tokens as well are attended to, with a
///   warning;
/// - encoder-decoder: the decoder's start token followed by decoder_input_ids, if any.
/// Throws shape_mismatch, dtype_mismatch, or invalid_argument for missing inputs, for a mask with padding on the
/// right; unsupported for positions, which generation computes itself, and for what only a single pass takes.
Prompt read_prompt(const Model& model, const ModelInputs& inputs, const GenerationConfig& config);

/// Positions of the tokens from `first` on, as upstream: those of the prompt, the first `prompt` tokens, count what is
/// not padding; padding has position 0; the others follow the prompt's last position, even if that is padding.
Tensor positions_from(const Tensor& mask, std::size_t first, std::size_t prompt);

}  // namespace clearformer
