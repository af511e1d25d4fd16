// Options of generate() as JSON text.
#pragma once

#include <memory>
#include <string>

#include "clearformer/generation/generation_config.h"

namespace clearformer::test {

inline GenerationConfig options(const std::string& json) {
  GenerationConfig config;
  config.update(ConfigReader(json, "options", ErrorCode::invalid_argument),
                GenerationConfig::Unknown::refuse);
  return config;
}

inline std::shared_ptr<const GenerationConfig> shared(const std::string& json) {
  return std::make_shared<const GenerationConfig>(options(json));
}

}  // namespace clearformer::test
