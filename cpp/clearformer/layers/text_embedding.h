// Text embedding: the input of a text model's first block,
//   x = Norm(scale·E_token + E_position + E_token_type)
// where each part is optional. Factorised: tables have E features, projected to D by W (E, D), in one of three places:
//   E_token·W + …,  x = Norm((…)·W),  x = Norm(…)·W + b
// Source: Devlin et al. 2018, arXiv 1810.04805, section 3; Vaswani et al. 2017, sections 3.4, 3.5;
//         factorised: Lan et al. 2019, arXiv 1909.11942, section 3.1; dropped tokens: transformers' EsmEmbeddings.
// Shapes: ids, token types, positions (B, T) or positions (1, T), x (B, T, D).
// Hook points: hook_embed (scaled), hook_pos_embed, hook_token_type_embed (B, T, E), embed.ln.…, and, if x is not
//              the token embedding alone, hook_full_embed (B, T, D).
#pragma once

#include <memory>

#include "clearformer/layers/embedding.h"
#include "clearformer/layers/linear.h"
#include "clearformer/layers/normalization.h"
#include "clearformer/layers/positional_encoding.h"

namespace clearformer {

/// The sizes and parts of a TextEmbedding.
struct TextEmbeddingConfig {
  enum class Positions { none, learned, sinusoidal };

  std::size_t vocabulary = 0;
  std::size_t d_model = 0;
  std::size_t d_words = 0;  // width of the token embedding table, if it is projected
  /// What is projected to d_model: the token embeddings alone (OPT-350m), the sum before its norm, or after it.
  enum class Projected { no, words, before_norm, after_norm } projected = Projected::no;
  Bias projection_bias = Bias::none;
  Positions positions = Positions::none;
  std::size_t position_rows = 0;  // of a learned table, or of sinusoids that files may hold
  std::size_t position_offset =
      0;  // added to each position: BART's table begins with 2 unused rows
  SinusoidLayout layout = SinusoidLayout::interleaved;
  std::size_t token_types = 0;  // without a table the input is ignored, as in transformers
  float scale = 1.0f;
  bool scales_given = false;  // also token embeddings that the caller gives (Granite)
  std::optional<NormConfig> norm = {};
  bool norm_first = false;  // BlenderbotSmall's decoder: of the token embeddings alone
  /// RoBERTa, M2M100: positions count the tokens other than this one, starting at position_offset; its own
  /// position is this id.
  std::optional<std::int32_t> uncounted_id = {};
  std::optional<std::int32_t> blank_row = {};  // M2M100, XGLM: zeros among the rows of sinusoids
  /// torch's padding_idx: the row of this token has no gradient where it is looked up, and so has the position row of
  /// uncounted_id.
  std::optional<std::int32_t> padding_id = {};
  bool unbounded = false;        // sinusoids continue past the model's max_positions
  bool counts_unmasked = false;  // OPT: the attention mask's ones are counted
  bool clears_padding = false;   // DeBERTa, ESM: x is 0 at padded positions
  bool given_whole = false;      // ESM: embeddings that the caller gives are x
  /// ESM's token_dropout: E_token of this token is 0, and of the others in a text whose share s is this token times
  /// (1 - 0.15·0.8) / (1 - s), since so many were masked in training; 0 in a text of this token alone.
  std::optional<std::int32_t> dropped_id = {};

  /// The width of the token embedding table.
  std::size_t word_width() const { return d_words == 0 ? d_model : d_words; }
  /// The width of the other tables.
  std::size_t width() const { return projected == Projected::words ? d_model : word_width(); }
};

/// Embeds token ids: token, position and token type embeddings, norm.
class TextEmbedding {
 public:
  /// Loads "embed" unless the table is shared with another layer, "pos_embed", "token_type_embed",
  /// "embed.ln", "embed.proj".
  TextEmbedding(const WeightScope& scope, const TextEmbeddingConfig& config,
                std::shared_ptr<const Embedding> tokens);

  const TextEmbeddingConfig& config() const { return config_; }
  const Embedding* tokens() const { return tokens_.get(); }

  /// The inputs of the embedding.
  struct Inputs {
    TensorView ids;
    const TensorView* embeds = nullptr;  // (B, T, E): in place of the ids' rows, see scales_given
    const TensorView* token_types = nullptr;  // none: zeros
    TensorView positions;                     // before the offset
    const TensorView* mask = nullptr;         // (B, T) uint8, for clears_padding
  };
  /// x (B, T, D). Throws invalid_argument, naming the id and its index, for an id outside a table.
  void forward(const Inputs& inputs, const MutableTensorView& x, const Context& context) const;

  /// Backward: d (B, T, D), the gradient of x, is overwritten; the tables' gradients are added.
  void backward(const Inputs& inputs, const MutableTensorView& d, const Context& context) const;

  /// The positions (B, T) of tokens after `past` others, for a model with an uncounted_id.
  void count_positions(const TensorView& ids, std::size_t past,
                       const MutableTensorView& positions) const;

 private:
  // Whether x is not the token embedding alone.
  bool has_more() const {
    return config_.positions != TextEmbeddingConfig::Positions::none || token_types_ || norm_ ||
           projection_ || config_.clears_padding;
  }
  MutableTensorView position_rows(const TensorView& positions, Arena& arena) const;
  TensorView type_rows(const Inputs& inputs, const TensorView& x, Arena& arena) const;
  void positions_back(const TensorView& positions, const MutableTensorView& d,
                      const Context& context) const;
  void token_types_back(const Inputs& inputs, const MutableTensorView& d,
                        const Context& context) const;
  static void clear_rows(const MutableTensorView& x, const TensorView& mask);
  void drop_tokens(const Inputs& inputs, const MutableTensorView& rows) const;
  MutableTensorView project_back(TextEmbeddingConfig::Projected place, const MutableTensorView& d,
                                 const Context& context) const;
  void add_positions(const TensorView& positions, const MutableTensorView& x,
                     const Context& context) const;
  void add_token_types(const Inputs& inputs, const MutableTensorView& x,
                       const Context& context) const;

  TextEmbeddingConfig config_;
  std::shared_ptr<const Embedding> tokens_;
  std::optional<Embedding> positions_, token_types_;
  std::optional<Linear> projection_;
  std::optional<Normalization> norm_;
};

}  // namespace clearformer
