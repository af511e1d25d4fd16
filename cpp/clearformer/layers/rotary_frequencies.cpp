#include "clearformer/layers/rotary_frequencies.h"

#include <algorithm>
#include <cmath>

#include "clearformer/tensor/portable_math.h"
#include "clearformer/tensor/tensor.h"

namespace clearformer {

namespace {

using Kind = RotaryScaling::Kind;
constexpr double kTau = 6.283185307179586476925286766559;

template <class... Parts>
void require(bool holds, const Parts&... rule) {
  if (!holds) fail(ErrorCode::invalid_argument, "rotary embedding: ", rule...);
}

void require_positive(double value, const char* name) {
  require(value > 0.0 && std::isfinite(value), name, " must be finite and > 0, it is ", value);
}

void check_longrope(const RotaryScaling& scaling, std::size_t pairs) {
  for (const auto* factors : {&scaling.short_factors, &scaling.long_factors}) {
    const char* name = factors == &scaling.short_factors ? "\"short_factor\"" : "\"long_factor\"";
    require(factors->size() == pairs, name, " must hold one number for each of the ", pairs,
            " pairs, it holds ", factors->size());
    for (const double factor : *factors) require_positive(factor, name);
  }
  const bool formula = !scaling.attention_factor && scaling.factor > 1.0;
  require(!formula || scaling.original_max_positions > 1.0,
          "the original positions must be > 1, they are ", scaling.original_max_positions);
}

std::size_t rotary_dim_of(const RotaryConfig& config) {
  return config.rotary_dim == 0 ? config.d_head : config.rotary_dim;
}

// θ^(-2i/dim) for i < pairs.
std::vector<double> geometric(double base, std::size_t dim, std::size_t pairs) {
  std::vector<double> radians;
  radians.reserve(room_for(pairs));
  for (std::size_t i = 0; i < pairs; ++i) {
    radians.push_back(portable_pow(base, -2.0 * static_cast<double>(i) / static_cast<double>(dim)));
  }
  return radians;
}

// A larger base stretches the longest wavelengths most and the shortest not at all.
double dynamic_base(const RotaryConfig& config, double dim, std::size_t length) {
  const double s = config.scaling.factor, trained = config.scaling.original_max_positions;
  const auto longest = static_cast<double>(length);
  const double stretch =
      longest > trained ? s * longest / trained - (s - 1.0) : config.scaling.alpha;
  return config.base * portable_pow(stretch, dim / (dim - 2.0));
}

double llama3_frequency(double frequency, const RotaryScaling& scaling) {
  const double wavelength = kTau / frequency;
  if (wavelength < scaling.original_max_positions / scaling.high_freq_factor) return frequency;
  if (wavelength > scaling.original_max_positions / scaling.low_freq_factor) {
    return frequency / scaling.factor;
  }
  const double smooth = (scaling.original_max_positions / wavelength - scaling.low_freq_factor) /
                        (scaling.high_freq_factor - scaling.low_freq_factor);
  return (1.0 - smooth) * frequency / scaling.factor + smooth * frequency;
}

// The pair, as a fractional index, that completes `rotations` rotations within the original length.
double pair_turning(double rotations, const RotaryConfig& config, double dim) {
  return dim * portable_log(config.scaling.original_max_positions / (rotations * kTau)) /
         (2.0 * portable_log(config.base));
}

void stretch_yarn(std::vector<double>& radians, const RotaryConfig& config, double dim) {
  const RotaryScaling& scaling = config.scaling;
  double first = pair_turning(scaling.beta_fast, config, dim);
  double last = pair_turning(scaling.beta_slow, config, dim);
  if (scaling.truncate) {
    first = std::floor(first);
    last = std::ceil(last);
  }
  first = std::max(first, 0.0);
  last = std::min(last, dim - 1.0);
  if (first == last) last += 0.001;  // as upstream, to keep the slope finite
  for (std::size_t i = 0; i < radians.size(); ++i) {
    const double ramp = std::clamp((static_cast<double>(i) - first) / (last - first), 0.0, 1.0);
    radians[i] = radians[i] / scaling.factor * ramp + radians[i] * (1.0 - ramp);
  }
}

double yarn_attention_factor(const RotaryScaling& scaling) {
  const auto magnitude = [&](double weight) {
    return scaling.factor <= 1.0 ? 1.0 : 0.1 * weight * portable_log(scaling.factor) + 1.0;
  };
  const bool both = scaling.mscale > 0.0 && scaling.mscale_all_dim > 0.0;
  return both ? magnitude(scaling.mscale) / magnitude(scaling.mscale_all_dim) : magnitude(1.0);
}

double longrope_attention_factor(const RotaryScaling& scaling) {
  if (scaling.factor <= 1.0) return 1.0;
  return std::sqrt(1.0 +
                   portable_log(scaling.factor) / portable_log(scaling.original_max_positions));
}

void divide(std::vector<double>& radians, const std::vector<double>& factors) {
  for (std::size_t i = 0; i < radians.size(); ++i) radians[i] /= factors[i];
}

}  // namespace

void check_rotary(const RotaryConfig& config) {
  const RotaryScaling& scaling = config.scaling;
  const std::size_t rotary_dim = rotary_dim_of(config);
  require(rotary_dim != 0 && rotary_dim % 2 == 0 && rotary_dim <= config.d_head,
          "the rotated dimensions must be even, from 2 to the head size ", config.d_head,
          ", they are ", rotary_dim);
  require_positive(config.base, "the base");
  require_positive(scaling.factor, "the factor");
  require_positive(scaling.original_max_positions, "the number of original positions");
  if (scaling.attention_factor) require_positive(*scaling.attention_factor, "the attention factor");
  if (scaling.kind == Kind::dynamic) {
    require(rotary_dim > 2, "dynamic scaling needs more than 2 rotated dimensions");
    require(scaling.factor >= 1.0, "a dynamic factor must be at least 1, it is ", scaling.factor);
    require_positive(scaling.alpha, "alpha");
  }
  if (scaling.kind == Kind::llama3) {
    require_positive(scaling.low_freq_factor, "low_freq_factor");
    require(scaling.high_freq_factor > scaling.low_freq_factor, "high_freq_factor ",
            scaling.high_freq_factor, " must exceed low_freq_factor ", scaling.low_freq_factor);
  }
  if (scaling.kind == Kind::yarn) {
    require(config.base > 1.0, "yarn needs a base > 1, it is ", config.base);
    require_positive(scaling.beta_fast, "beta_fast");
    require_positive(scaling.beta_slow, "beta_slow");
    require(scaling.mscale >= 0.0 && scaling.mscale_all_dim >= 0.0,
            "mscale and mscale_all_dim must not be negative, they are ", scaling.mscale, " and ",
            scaling.mscale_all_dim);
  }
  if (scaling.kind == Kind::longrope) check_longrope(scaling, rotary_dim / 2);
}

bool depends_on_length(const RotaryScaling& scaling) {
  return scaling.kind == Kind::dynamic || scaling.kind == Kind::longrope;
}

RotaryFrequencies rotary_frequencies(const RotaryConfig& config, std::size_t length) {
  const RotaryScaling& scaling = config.scaling;
  check_rotary(config);
  const std::size_t rotary_dim = rotary_dim_of(config);
  const auto dim = static_cast<double>(rotary_dim);
  const bool dynamic = scaling.kind == Kind::dynamic;
  const double base = dynamic ? dynamic_base(config, dim, length) : config.base;
  const bool proportional = scaling.kind == Kind::proportional;
  RotaryFrequencies result;
  std::vector<double>& radians = result.radians;
  radians = geometric(base, proportional ? config.d_head : rotary_dim, rotary_dim / 2);
  if (scaling.kind == Kind::linear || proportional) {
    for (double& frequency : radians) frequency /= scaling.factor;
  }
  if (proportional) radians.resize(room_for(config.d_head / 2), 0.0);
  if (scaling.kind == Kind::llama3) {
    for (double& frequency : radians) frequency = llama3_frequency(frequency, scaling);
  }
  if (scaling.kind == Kind::yarn) {
    stretch_yarn(radians, config, dim);
    result.attention_factor = scaling.attention_factor.value_or(yarn_attention_factor(scaling));
  }
  if (scaling.kind == Kind::longrope) {
    const bool beyond = static_cast<double>(length) > scaling.original_max_positions;
    divide(radians, beyond ? scaling.long_factors : scaling.short_factors);
    result.attention_factor = scaling.attention_factor.value_or(longrope_attention_factor(scaling));
  }
  return result;
}

}  // namespace clearformer
