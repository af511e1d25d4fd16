// Reads the mixtures of experts of a config.json.
#pragma once

#include "clearformer/architectures/architecture.h"

namespace clearformer {

/// Makes experts of the feed-forward network of a gated decoder: as many as the key says, "num_experts_per_tok" of them for
/// each position. Throws for more than there are, and for more matrices than any model has.
void read_experts(const ConfigReader& config, std::string_view key, ModelConfig& model);

/// A KeyScheme::saved: transformers loads such names, and saves the older ones.
bool is_only_loaded(const ConfigReader& config, const ModelConfig& model);

/// Experts as transformers 5 holds them: [E, 2F, D] and [E, D, F].
inline constexpr std::string_view kStackedExperts = R"(
experts.*.gate_proj.weight experts.gate_up_proj 0/2/e
experts.*.up_proj.weight experts.gate_up_proj 1/2/e
experts.*.down_proj.weight experts.down_proj 0/1/e
)";
inline constexpr KeyScheme kExpertSchemes[] = {{"gate_up_proj", kStackedExperts, is_only_loaded}};

}  // namespace clearformer
