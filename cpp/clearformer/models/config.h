// ModelConfig: what a config.json says, in terms every architecture shares.
// Each architecture has one file that fills it and names its weights (see llama.cpp).
#pragma once

#include <string>
#include <vector>

#include "clearformer/layers/encoder_block.h"
#include "clearformer/weights/config_reader.h"
#include "clearformer/weights/name_map.h"

namespace clearformer {

struct ModelConfig {
  std::string model_type;  // "llama"
  std::size_t n_layers = 0;
  std::size_t d_model = 0;
  std::size_t d_vocab = 0;
  std::size_t n_ctx = 0;  // positions the model was made for
  BlockConfig block;
  RotaryConfig rotary;
  bool tied = false;       // the output layer uses the embedding table
  std::string activation;  // as the config spells it
  std::vector<std::int32_t> eos_token_ids;
  std::optional<std::int32_t> bos_token_id;
  std::optional<std::int32_t> pad_token_id;
};

/// A known architecture: its "model_type", how to read its config, how its checkpoint spells names.
struct Architecture {
  std::string_view model_type;
  ModelConfig (*read_config)(const ConfigReader&);
  NameMap (*names)(const Weights&);
};

/// The architecture that `config` names; throws unsupported, listing the known ones.
const Architecture& architecture_of(const ConfigReader& config);

extern const Architecture kLlama;

}  // namespace clearformer
