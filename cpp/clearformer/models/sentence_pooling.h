// Sentence pooling: from a vector for every token to one for the text, as sentence-transformers defines
// it. With w_t = 1 for tokens of the text and 0 for padding:
//   cls = x_1,  max = max_t x_t,  mean = Σ w_t·x_t / Σ w_t,  mean_sqrt_len = Σ w_t·x_t / √(Σ w_t),
//   weighted mean = Σ t·w_t·x_t / Σ t·w_t (t from 1),  last token = the last x_t with w_t = 1
// and then, where it is asked for, y / ‖y‖.
// Source: Reimers & Gurevych 2019, arXiv 1908.10084, section 3; sentence_transformers.models.Pooling.
// Shapes: x (B, T, D), mask (B, T), y (B, modes·D).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "clearformer/tensor/tensor.h"

namespace clearformer {

struct SentencePooling {
  enum class Mode { cls, max, mean, mean_sqrt_len, weighted_mean, last_token };
  enum class Norm { none, unit };

  std::vector<Mode> modes{Mode::mean};  // their vectors are joined, in this order
  Norm norm = Norm::unit;
  std::optional<std::size_t> max_seq_length;  // tokens of a text, special ones included
  bool do_lower_case = false;                 // of the text, before the tokenizer

  /// The text of a file under its name in the checkpoint's folder; nothing where there is none.
  using ReadFile = std::function<std::optional<std::string>(const std::string&)>;
  /// What modules.json and the files of the steps it lists say; without modules.json mean and unit
  /// length. Throws malformed_config, and unsupported for a step or a mode this library does not have.
  static SentencePooling read(const ReadFile& read_file);

  /// mask: (B, T) uint8, 0 = padding; none: no padding. A text without a token has length 0 in every
  /// mean. Throws shape_mismatch when x is not (B, T, D) or the mask does not fit it, invalid_argument
  /// without modes.
  Tensor embed(TensorView x, const std::optional<TensorView>& mask) const;
};

}  // namespace clearformer
