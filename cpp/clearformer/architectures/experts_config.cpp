#include "clearformer/architectures/experts_config.h"

namespace clearformer {

bool is_only_loaded(const ConfigReader&, const ModelConfig&) { return false; }

void read_experts(const ConfigReader& config, std::string_view key, ModelConfig& model) {
  constexpr std::size_t kMost = 1 << 16;  // in all layers
  StackConfig& stack = model.tower.stack;
  RouterConfig& router = stack.block.feed_forward.router;
  router.experts = config.size(key);
  router.chosen = config.size("num_experts_per_tok");
  if (router.experts > kMost / stack.layers) {
    config.refuse_value(key, "is ", router.experts, ", too many for ", stack.layers, " layers");
  }
  if (router.chosen <= router.experts) return;
  config.refuse_value("num_experts_per_tok", "is ", router.chosen, " of ", router.experts);
}

}  // namespace clearformer
