// GenerationConfig: the options of generate(), under Hugging Face's names and with its defaults.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "clearformer/weights/config_reader.h"

namespace clearformer {

/// Ids of tokens, in order.
using TokenIds = std::vector<std::int32_t>;

/// When a beam search that has num_beams finished sequences ends.
enum class EarlyStopping {
  heuristic,     // false: when the best running beam, divided by its length now, is no better
  at_num_beams,  // true: at once
  never,         // "never": when no running beam can become better, however long it gets
};

/// The options of generate() under Hugging Face's names, with its defaults.
struct GenerationConfig {
  // Length. Lengths count the prompt; of an encoder-decoder, the decoder's.
  std::optional<std::size_t> max_new_tokens;
  std::optional<std::size_t> max_length;  // where max_new_tokens is not given; none: 20 new tokens
  std::size_t min_length = 0;
  std::size_t min_new_tokens = 0;
  std::optional<double> max_time;  // seconds; the step that exceeds it is the last one
  /// Generation itself refuses these: who has a tokenizer looks for them and calls end().
  std::vector<std::string> stop_strings;

  // Search
  bool do_sample = false;
  std::size_t num_beams = 1;
  std::size_t num_return_sequences = 1;  // at most num_beams, or independent draws
  EarlyStopping early_stopping = EarlyStopping::heuristic;
  double length_penalty = 1.0;  // scores of beams are divided by length ^ length_penalty
  std::uint64_t seed = 0;       // ours

  // Which tokens may follow; see logits_processors.h
  double repetition_penalty = 1.0;          // > 0
  double encoder_repetition_penalty = 1.0;  // > 0
  std::size_t no_repeat_ngram_size = 0;     // 0: off
  std::size_t encoder_no_repeat_ngram_size = 0;
  std::vector<TokenIds> bad_words_ids;
  /// Added to the score of the last token of `sequence` where the tokens before it stand already.
  struct SequenceBias {
    TokenIds sequence;
    float bias;
  };
  std::vector<SequenceBias> sequence_bias;
  std::optional<std::int32_t> forced_bos_token_id;
  TokenIds forced_eos_token_id;
  /// A token that stands at a position whatever its score.
  struct ForcedToken {
    std::size_t position;
    std::int32_t token;
  };
  std::vector<ForcedToken> forced_decoder_ids;
  TokenIds suppress_tokens;
  TokenIds begin_suppress_tokens;
  /// From `start` on the end token's score grows by factor ^ (tokens since).
  struct LengthDecay {
    std::size_t start;  // new tokens
    double factor;
  };
  std::optional<LengthDecay> exponential_decay_length_penalty;
  bool remove_invalid_values = false;
  bool renormalize_logits = false;
  // Whisper: its text comes between tokens of time, those behind no_timestamps_token_id.
  bool return_timestamps = false;
  std::optional<std::int32_t> no_timestamps_token_id;
  std::optional<std::size_t> max_initial_timestamp_index;  // of the first one; none: any

  // What a draw may choose; see sampler.h
  double temperature = 1.0;     // > 0, at least 1e-30
  std::size_t top_k = 50;       // 0: off
  double top_p = 1.0;           // in (0, 1]
  std::optional<double> top_h;  // in (0, 1]
  double min_p = 0.0;           // in [0, 1]
  double typical_p = 1.0;       // in (0, 1]
  double epsilon_cutoff = 0.0;
  double eta_cutoff = 0.0;

  // Special tokens
  TokenIds eos_token_ids;
  std::optional<std::int32_t> pad_token_id;
  std::optional<std::int32_t> bos_token_id;
  std::optional<std::int32_t> decoder_start_token_id;

  /// Takes over what `options` sets. A key of Hugging Face's generate() that this library does not
  /// have is accepted at its neutral value (num_beam_groups 1) and refused otherwise: unsupported,
  /// by name. So is an unknown key, unless `unknown` says the object is a checkpoint's
  /// generation_config.json or config.json, which carry notes of all kinds.
  /// null leaves a file's key unset; from a caller it takes back a token, a list or a limit.
  enum class Unknown { refuse, ignore };
  void update(const ConfigReader& options, Unknown unknown);

  /// Throws invalid_argument for options that contradict each other.
  void check() const;
  /// The highest id among its tokens, if it has any.
  std::optional<std::int32_t> largest_token() const;
};

}  // namespace clearformer
