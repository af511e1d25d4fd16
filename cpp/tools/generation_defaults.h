// The options of a generation: what the checkpoint says, then what the command line says.
#pragma once

#include "clearformer/generation/generation_config.h"
#include "clearformer/models/model.h"
#include "tools/commands.h"

namespace clearformer::tools {

/// generation_config.json over the special tokens of config.json (files from before it keep all options
/// in config.json), then options.options, then options.named. Throws invalid_argument for values that
/// cannot be used and unsupported, by name, for options this library does not have.
GenerationConfig generation_config(const GenerateOptions& options, const ModelConfig& model);

}  // namespace clearformer::tools
