#include "clearformer/architectures/rotary_config.h"

#include <algorithm>

namespace clearformer {

namespace {

using Kind = RotaryScaling::Kind;

struct NamedKind {
  std::string_view name;
  Kind kind;
};
constexpr NamedKind kKinds[] = {
    {"default", Kind::none},
    {"linear", Kind::linear},
    {"dynamic", Kind::dynamic},
    {"llama3", Kind::llama3},
    {"yarn", Kind::yarn},
    {"longrope", Kind::longrope},
    {"proportional", Kind::proportional},
};

Kind kind_of(const ConfigReader& rope, RotaryKeys::Names names) {
  std::string type = rope.text("rope_type", rope.text("type", "default"));
  if (names == RotaryKeys::Names::phi3 && (type == "su" || type == "yarn")) type = "longrope";
  std::string known;
  for (const NamedKind& entry : kKinds) {
    if (type == entry.name) return entry.kind;
    known += concat(known.empty() ? "" : ", ", entry.name);
  }
  rope.refuse(ErrorCode::unsupported, "rope_type", "is \"", type, "\"; supported: ", known);
}

// Here one set of parameters applies to all layers; sets per layer type are rejected.
void refuse_nested(const ConfigReader& rope) {
  for (const auto& [key, value] : rope.root().object()) {
    if (!value.is_object()) continue;
    rope.refuse(ErrorCode::unsupported, key, "holds parameters for one type of layer");
  }
}

// The parameters of one layer type: the older keys common to all layers take precedence over its own; "truncate" is
// read only from the set common to all layers.
ConfigReader parameters_of_layer(const ConfigReader& config, const RotaryKeys& keys) {
  const Json* all = config.find_set("rope_parameters");
  const Json* own = all == nullptr ? nullptr : all->find_set(keys.layer_type);
  const Json* before = keys.scaled ? config.find_set("rope_scaling") : nullptr;
  Json::Object merged;
  for (const Json* from : {all, before, own}) {
    if (from == nullptr) continue;
    if (!from->is_object()) {
      config.refuse_must(from == before ? "rope_scaling" : "rope_parameters",
                         from == own ? "hold objects" : "be an object");
    }
    if (from == all) continue;
    for (const auto& [key, value] : from->object()) {
      if (key == "truncate" || (from == own && before != nullptr && before->find(key))) continue;
      merged.emplace_back(key, value);
    }
  }
  const Json* truncate = all == nullptr ? nullptr : all->find("truncate");
  if (truncate != nullptr) merged.emplace_back("truncate", *truncate);
  // Without a set of its own a layer's rope_type is "default": "type" is ignored.
  if (own == nullptr && (before == nullptr || before->find("rope_type") == nullptr)) {
    merged.emplace_back("rope_type", Json(Json::Value("default")));
  }
  return config.nested("rope_parameters", std::move(merged));
}

std::optional<ConfigReader> parameters(const ConfigReader& config, const RotaryKeys& keys) {
  if (!keys.layer_type.empty()) return parameters_of_layer(config, keys);
  for (const char* key : {"rope_scaling", "rope_parameters"}) {
    auto rope = config.object(key);
    if (!rope || rope->root().object().empty()) continue;
    refuse_nested(*rope);
    return rope;
  }
  return std::nullopt;
}

double positive(const ConfigReader& reader, std::string_view key, double fallback) {
  const double value = reader.number(key, fallback);
  if (!(value > 0.0)) reader.refuse_must(key, "be > 0");
  return value;
}

// 0 and absence both select the default, as upstream.
double or_default(const ConfigReader& rope, std::string_view key, double fallback) {
  const double value = rope.number(key, 0.0);
  return value == 0.0 ? fallback : value;
}

// The factor is required except for yarn and longrope, where the context lengths imply it.
double read_factor(const ConfigReader& rope, const RotaryScaling& scaling, double max_positions) {
  if (rope.root().find_set("factor") != nullptr) return positive(rope, "factor", 1.0);
  if (scaling.kind == Kind::proportional) return 1.0;
  if (scaling.kind != Kind::yarn && scaling.kind != Kind::longrope) {
    rope.refuse_value("factor", "is missing");
  }
  return max_positions / scaling.original_max_positions;
}

void read_scaling(const ConfigReader& config, const ConfigReader& rope, double max_positions,
                  const RotaryKeys& keys, RotaryScaling& scaling) {
  constexpr std::string_view kOriginal = "original_max_position_embeddings";
  // Phi-3 stores it outside the rope parameters, where it takes precedence, but not in models with several layer types.
  const bool outside = config.knows(kOriginal) && config.is_set(kOriginal);
  scaling.original_max_positions = max_positions;
  if (scaling.kind != Kind::dynamic) {
    scaling.original_max_positions = positive(outside ? config : rope, kOriginal, max_positions);
  }
  scaling.factor = read_factor(rope, scaling, max_positions);
  if (keys.alpha && scaling.kind == Kind::dynamic) {
    scaling.alpha = or_default(rope, "alpha", scaling.alpha);
  }
  if (scaling.kind == Kind::llama3) {
    scaling.low_freq_factor = positive(rope, "low_freq_factor", scaling.low_freq_factor);
    scaling.high_freq_factor = positive(rope, "high_freq_factor", scaling.high_freq_factor);
  }
  if (scaling.kind == Kind::yarn) {
    scaling.beta_fast = or_default(rope, "beta_fast", scaling.beta_fast);
    scaling.beta_slow = or_default(rope, "beta_slow", scaling.beta_slow);
    scaling.truncate = rope.flag("truncate", true);
    scaling.mscale = rope.number("mscale", 0.0);
    scaling.mscale_all_dim = rope.number("mscale_all_dim", 0.0);
  }
  if (scaling.kind == Kind::longrope) {
    scaling.short_factors = rope.numbers("short_factor");
    scaling.long_factors = rope.numbers("long_factor");
  }
  if (rope.root().find_set("attention_factor") != nullptr) {
    scaling.attention_factor = positive(rope, "attention_factor", 1.0);
  }
}

// "partial_rotary_factor": the default type prefers the rope parameters, the other types the config itself. GPT-NeoX has
// an older key, which counts last.
double read_part(const ConfigReader& config, const ConfigReader* rope, Kind kind,
                 std::string_view older) {
  constexpr std::string_view kPart = "partial_rotary_factor";
  const bool inside = rope != nullptr && rope->is_set(kPart);
  const bool outside = config.is_set(kPart) && kind != Kind::none;
  const ConfigReader& reader = inside && !outside ? *rope : config;
  const std::string_view key = inside || outside ? kPart : older;
  const double part = reader.number(key, 1.0);
  if (!(part > 0.0 && part <= 1.0)) {
    reader.refuse_must(key, "be in (0, 1]");
  }
  return part;
}

// The number of rotated dimensions of a head; "proportional" counts whole pairs.
std::size_t read_rotary_dim(const ConfigReader& config, const ConfigReader* rope, Kind kind,
                            const RotaryConfig& rotary, const RotaryKeys& keys) {
  const bool ignored = keys.partial == RotaryKeys::Partial::ignored;
  if (ignored && kind == Kind::none) return rotary.d_head;
  const double part = read_part(config, rope, kind, keys.part);
  if (ignored && part != 1.0 && kind != Kind::proportional) {
    config.refuse_value("partial_rotary_factor", "is ", part,
                        ", heads of this model turn whole under a scaled rope_type");
  }
  const double dimensions = part * static_cast<double>(rotary.d_head);
  const std::size_t turned = kind == Kind::proportional
                                 ? 2 * static_cast<std::size_t>(dimensions / 2.0)
                                 : static_cast<std::size_t>(dimensions);
  if (turned % 2 != 0 && part != 1.0) {
    config.refuse_value("partial_rotary_factor", "is ", part, " and rotates ", turned, " of the ",
                        rotary.d_head, " dimensions of a head, which must be an even number");
  }
  if (turned == 0) {
    config.refuse_value("partial_rotary_factor", "is ", part, " and leaves none of the ",
                        rotary.d_head, " dimensions of a head to rotate");
  }
  return turned;
}

}  // namespace

RotaryConfig read_rotary(const ConfigReader& config, std::size_t d_head, std::size_t max_positions,
                         const RotaryKeys& keys) {
  constexpr double kUsualBase = 10000.0;
  RotaryConfig rotary;
  rotary.d_head = d_head;
  rotary.base = positive(config, keys.theta, kUsualBase);
  const auto rope = parameters(config, keys);
  if (rope) {
    rotary.base = positive(*rope, "rope_theta", rotary.base);
    rotary.scaling.kind = kind_of(*rope, keys.names);
    if (rotary.scaling.kind != Kind::none) {
      read_scaling(config, *rope, static_cast<double>(max_positions), keys, rotary.scaling);
    }
  }
  rotary.rotary_dim =
      read_rotary_dim(config, rope ? &*rope : nullptr, rotary.scaling.kind, rotary, keys);
  try {
    check_rotary(rotary);
  } catch (const Error& error) {
    fail(config.code(), config.file(), ": ", error.what());
  }
  return rotary;
}

}  // namespace clearformer
