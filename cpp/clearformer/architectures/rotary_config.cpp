#include "clearformer/architectures/rotary_config.h"

#include <algorithm>
#include <limits>

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

Kind kind_of(const ConfigReader& rope) {
  const std::string type = rope.text("rope_type", rope.text("type", "default"));
  std::string known;
  for (const NamedKind& entry : kKinds) {
    if (type == entry.name) return entry.kind;
    known += concat(known.empty() ? "" : ", ", entry.name);
  }
  rope.refuse(ErrorCode::unsupported, "rope_type", "is \"", type, "\"; supported: ", known);
}

// One set of parameters for all layers; a set for each type of layer is another matter.
void refuse_nested(const ConfigReader& rope) {
  for (const auto& [key, value] : rope.root().object()) {
    if (!value.is_object()) continue;
    rope.refuse(ErrorCode::unsupported, key, "holds parameters for one type of layer");
  }
}

std::optional<ConfigReader> parameters(const ConfigReader& config, const RotaryKeys& keys) {
  for (const char* key : {"rope_scaling", "rope_parameters"}) {
    const auto rope = config.object(key);
    if (!rope || rope->root().object().empty()) continue;
    if (!keys.layer_type.empty()) {
      if (auto own = rope->object(keys.layer_type)) return own;
      if (!keys.scaled) continue;
    }
    refuse_nested(*rope);
    return rope;
  }
  return std::nullopt;
}

double positive(const ConfigReader& reader, std::string_view key, double fallback) {
  const double value = reader.number(key, fallback);
  if (!(value > 0.0)) reader.refuse_value(key, "must be > 0, it is ", value);
  return value;
}

// 0 and absence both mean the default, as upstream has it.
double or_default(const ConfigReader& rope, std::string_view key, double fallback) {
  const double value = rope.number(key, 0.0);
  return value == 0.0 ? fallback : value;
}

// The factor is required but for yarn and longrope, whose contexts tell it too.
double read_factor(const ConfigReader& rope, const RotaryScaling& scaling, double max_positions) {
  if (rope.root().find_set("factor") != nullptr) return positive(rope, "factor", 1.0);
  if (scaling.kind == Kind::proportional) return 1.0;
  if (scaling.kind != Kind::yarn && scaling.kind != Kind::longrope) {
    rope.refuse_value("factor", "is missing");
  }
  return max_positions / scaling.original_max_positions;
}

void read_scaling(const ConfigReader& config, const ConfigReader& rope, double max_positions,
                  RotaryScaling& scaling) {
  constexpr std::string_view kOriginal = "original_max_position_embeddings";
  const bool outside = config.root().find_set(kOriginal) != nullptr;  // Phi-3 writes it there
  scaling.original_max_positions = max_positions;
  if (scaling.kind != Kind::dynamic) {
    scaling.original_max_positions = positive(outside ? config : rope, kOriginal, max_positions);
  }
  scaling.factor = read_factor(rope, scaling, max_positions);
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

// The part of each head that turns; "proportional" counts whole pairs of it.
std::size_t read_rotary_dim(const ConfigReader& reader, std::size_t d_head, Kind kind,
                            double usual_part) {
  const double part = reader.number("partial_rotary_factor", usual_part);
  if (!(part > 0.0 && part <= 1.0)) {
    reader.refuse_value("partial_rotary_factor", "must be in (0, 1], it is ", part);
  }
  const double dimensions = part * static_cast<double>(d_head);
  const std::size_t turned = kind == Kind::proportional
                                 ? 2 * static_cast<std::size_t>(dimensions / 2.0)
                                 : static_cast<std::size_t>(dimensions);
  if (turned == 0) {
    reader.refuse_value("partial_rotary_factor", "is ", part, " and leaves none of the ", d_head,
                        " dimensions of a head to rotate");
  }
  return turned;
}

}  // namespace

RotaryConfig read_rotary(const ConfigReader& config, std::size_t d_head, std::size_t max_positions,
                         const RotaryKeys& keys) {
  RotaryConfig rotary;
  rotary.d_head = d_head;
  rotary.base = positive(config, keys.theta, keys.usual_theta);
  const auto rope = parameters(config, keys);
  if (rope) {
    rotary.base = positive(*rope, "rope_theta", rotary.base);
    rotary.scaling.kind = kind_of(*rope);
    if (rotary.scaling.kind != Kind::none) {
      read_scaling(config, *rope, static_cast<double>(max_positions), rotary.scaling);
    }
  }
  const bool outside = !rope || config.root().find_set("partial_rotary_factor") != nullptr;
  rotary.rotary_dim = read_rotary_dim(outside ? config : *rope, d_head, rotary.scaling.kind,
                                      keys.usual_partial_factor);
  try {
    check_rotary(rotary);
  } catch (const Error& error) {
    fail(config.code(), config.file(), ": ", error.what());
  }
  return rotary;
}

std::size_t reachable_positions(const RotaryConfig& rotary, std::size_t max_positions) {
  if (rotary.scaling.kind != Kind::dynamic) return max_positions;
  const double reach = static_cast<double>(max_positions) * rotary.scaling.factor;
  constexpr double kMost = std::numeric_limits<std::int32_t>::max();  // positions are int32
  return static_cast<std::size_t>(std::min(reach, kMost));
}

}  // namespace clearformer
