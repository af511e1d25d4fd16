// Loads a model from a Hugging Face folder, sharded or not.
#pragma once

#include <string>

#include "clearformer/models/decoder_only.h"

namespace clearformer::test {

Weights read_weights(const std::string& folder);

DecoderOnlyModel load_model(const std::string& folder, const std::string& config = "config.json");

/// The model stories260K that the demo bundles.
DecoderOnlyModel load_stories();
/// A checkpoint of tests/fixtures/llama_tiny.
DecoderOnlyModel load_tiny(const std::string& name, const std::string& config = "config.json");

}  // namespace clearformer::test
