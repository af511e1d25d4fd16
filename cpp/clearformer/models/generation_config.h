// GenerationConfig: the options of generate(), under Hugging Face's names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "clearformer/weights/config_reader.h"

namespace clearformer {

struct GenerationConfig {
  std::optional<std::size_t> max_new_tokens;
  std::size_t max_length = 20;  // prompt and new tokens, where max_new_tokens is not given
  std::size_t min_new_tokens = 0;
  bool do_sample = false;
  double temperature = 1.0;  // > 0, at least 1e-30
  std::size_t top_k = 50;    // 0: off
  double top_p = 1.0;        // in (0, 1]
  std::uint64_t seed = 0;
  std::vector<std::int32_t> eos_token_ids;
  std::optional<std::int32_t> pad_token_id;

  /// Takes over what `options` sets. A key of Hugging Face's generate() that this library does not
  /// have is accepted at its neutral value (num_beams 1) and refused otherwise: unsupported, by name.
  /// So is an unknown key, unless `unknown` says the object is a checkpoint's generation_config.json,
  /// which carries notes of all kinds.
  enum class Unknown { refuse, ignore };
  void update(const ConfigReader& options, Unknown unknown);
};

}  // namespace clearformer
