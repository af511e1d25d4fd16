// GenerationConfig: the options of generate(), with Hugging Face's names and defaults.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "clearformer/models/config.h"
#include "clearformer/weights/config_reader.h"

namespace clearformer {

/// A sequence of token ids.
using TokenIds = std::vector<std::int32_t>;

/// When beam search stops after num_beams sequences have finished.
enum class EarlyStopping {
  heuristic,     // false: if the best running beam, divided by its current length, is no better
  at_num_beams,  // true: at once
  never,         // "never": if no running beam can become better at any length
};

/// The options of generate(), with Hugging Face's names and defaults.
struct GenerationConfig {
  // Length. Counts the prompt; for an encoder-decoder, the decoder's.
  std::optional<std::size_t> max_new_tokens = {};
  std::optional<std::size_t> max_length = {};      // without max_new_tokens; none: 20 new tokens
  std::size_t min_length = 0;                      // without min_new_tokens
  std::optional<std::size_t> min_new_tokens = {};  // 0 takes min_length back
  std::optional<double> max_time = {};             // seconds; the step that exceeds it is the last
  /// Refused here: the caller's tokenizer detects them and calls end().
  std::vector<std::string> stop_strings = {};

  // Search
  bool do_sample = false;
  std::size_t num_beams = 1;
  std::size_t num_return_sequences = 1;  // at most num_beams, or independent samples
  EarlyStopping early_stopping = EarlyStopping::heuristic;
  double length_penalty = 1.0;  // scores of beams are divided by length ^ length_penalty
  std::uint64_t seed = 0;       // our own option

  // Processors; see logits_processors.h
  double repetition_penalty = 1.0;          // > 0
  double encoder_repetition_penalty = 1.0;  // > 0
  std::size_t no_repeat_ngram_size = 0;     // 0: off
  std::size_t encoder_no_repeat_ngram_size = 0;
  std::vector<TokenIds> bad_words_ids = {};
  /// Added to the score of the last token of `sequence` after its other tokens.
  struct SequenceBias {
    TokenIds sequence;
    float bias;
  };
  std::vector<SequenceBias> sequence_bias = {};
  std::optional<std::int32_t> forced_bos_token_id = {};
  TokenIds forced_eos_token_id = {};
  /// A token forced at a position.
  struct ForcedToken {
    std::size_t position;
    std::int32_t token;
  };
  std::vector<ForcedToken> forced_decoder_ids = {};
  TokenIds suppress_tokens = {};
  TokenIds begin_suppress_tokens = {};
  /// From `start` on, the end token's score grows by factor ^ (tokens since).
  struct LengthDecay {
    std::size_t start;  // new tokens
    double factor;
  };
  std::optional<LengthDecay> exponential_decay_length_penalty = {};
  bool remove_invalid_values = false;
  bool renormalize_logits = false;
  // Whisper: timestamp tokens, those above no_timestamps_token_id, between the text.
  bool return_timestamps = false;
  std::optional<std::int32_t> no_timestamps_token_id = {};
  std::optional<std::size_t> max_initial_timestamp_index = {};  // none: unlimited

  // Sampling; see sampler.h
  double temperature = 1.0;          // > 0, at least 1e-30
  std::size_t top_k = 50;            // 0: off
  double top_p = 1.0;                // in (0, 1]
  std::optional<double> top_h = {};  // in (0, 1]
  double min_p = 0.0;                // in [0, 1]
  double typical_p = 1.0;            // in (0, 1]
  double epsilon_cutoff = 0.0;
  double eta_cutoff = 0.0;

  // Special tokens: none but a decoder's start is taken from the model; see generation_config_of()
  TokenIds eos_token_ids = {};
  std::optional<std::int32_t> pad_token_id = {};
  std::optional<std::int32_t> bos_token_id = {};
  std::optional<std::int32_t> decoder_start_token_id = {};

  /// Sets the members given in `options`. A key of Hugging Face's generate() that is not implemented is accepted at
  /// its neutral value (num_beam_groups 1) and otherwise rejected by name: unsupported. So is an unknown key, unless
  /// `unknown` says that the object is a checkpoint's generation_config.json or config.json, which contain other keys,
  /// or that a caller has changed one. null leaves a file's key unset; from a caller it sets an option to what has no
  /// effect (temperature 1, top_k 0). Where `options` say do_sample false, temperature and
  /// the fractions of sampling (top_p, …) have no range.
  enum class Unknown { refuse, ignore, ignore_of_caller };
  void update(const ConfigReader& options, Unknown unknown);

  /// Throws invalid_argument for values outside their ranges, empty sequences and contradictory options.
  void check() const;
  /// The highest token id among the options, if any.
  std::optional<std::int32_t> largest_token() const;
};

/// The defaults with the special tokens of a model's config.json (`model.config()`), such as those that end its texts.
/// A folder's generation_config.json is not read: update() takes its members.
GenerationConfig generation_config_of(const ModelConfig& model);

}  // namespace clearformer
