#include "clearformer/models/sentence_pooling.h"

#include <algorithm>
#include <cmath>

#include "clearformer/weights/config_reader.h"

namespace clearformer {

namespace {

using Mode = SentencePooling::Mode;

struct NamedMode {
  std::string_view key;   // "pooling_mode_<key>": true
  std::string_view name;  // "pooling_mode": name
  Mode mode;
};
// In the order in which upstream joins their vectors.
constexpr NamedMode kModes[] = {
    {"cls_token", "cls", Mode::cls},
    {"max_tokens", "max", Mode::max},
    {"mean_tokens", "mean", Mode::mean},
    {"mean_sqrt_len_tokens", "mean_sqrt_len_tokens", Mode::mean_sqrt_len},
    {"weightedmean_tokens", "weightedmean", Mode::weighted_mean},
    {"lasttoken", "lasttoken", Mode::last_token},
};

std::size_t index_of(const ConfigReader& config, std::string_view key, std::string_view name,
                     std::string_view NamedMode::* member) {
  for (std::size_t i = 0; i < std::size(kModes); ++i) {
    if (kModes[i].*member == name) return i;
  }
  config.refuse(ErrorCode::unsupported, key, "asks for a pooling that is not supported: ", name);
}

// Older files have a flag for each mode, newer ones a name or a list of names.
std::vector<Mode> read_modes(const ConfigReader& config) {
  constexpr std::string_view kFlag = "pooling_mode_";
  bool chosen[std::size(kModes)] = {};
  const Json* names = config.root().find_set("pooling_mode");
  if (names != nullptr) {
    const std::vector<std::string> list =
        names->is_string() ? std::vector{names->string()} : config.texts("pooling_mode");
    for (const std::string& name : list) {
      chosen[index_of(config, "pooling_mode", name, &NamedMode::name)] = true;
    }
  }
  for (const auto& [key, value] : config.root().object()) {
    if (names != nullptr || !key.starts_with(kFlag) || !config.flag(key, false)) continue;
    chosen[index_of(config, key, key.substr(kFlag.size()), &NamedMode::key)] = true;
  }
  std::vector<Mode> modes;
  for (std::size_t i = 0; i < std::size(kModes); ++i) {
    if (chosen[i]) modes.push_back(kModes[i].mode);
  }
  if (modes.empty()) config.refuse_value("pooling_mode", "names no pooling at all");
  return modes;
}

std::string text_of(const Json& module, std::string_view key) {
  const Json* value = module.find_set(key);
  if (value == nullptr) return "";
  if (!value->is_string()) {
    fail(ErrorCode::malformed_config, "modules.json: \"", key, "\" must be a string");
  }
  return value->string();
}

void read_transformer(SentencePooling& pooling, const std::string& folder,
                      const SentencePooling::ReadFile& read_file) {
  const std::string name = folder + "sentence_bert_config.json";
  const auto text = read_file(name);
  if (!text) return;
  const ConfigReader config(*text, name);
  const std::size_t length = config.count("max_seq_length", 0);
  if (length > 0) pooling.max_seq_length = length;
  pooling.do_lower_case = config.flag("do_lower_case", false);
}

void read_pooling(SentencePooling& pooling, const std::string& folder,
                  const SentencePooling::ReadFile& read_file) {
  const std::string name = folder + "config.json";
  const auto text = read_file(name);
  if (!text) {
    fail(ErrorCode::malformed_config, "modules.json names ", name, ", which cannot be opened");
  }
  pooling.modes = read_modes(ConfigReader(*text, name));
}

// One text, its tokens' vectors one behind the other.
struct Tokens {
  const float* x;
  std::vector<std::size_t> kept;  // positions that are no padding
  std::size_t width;

  double at(std::size_t position, std::size_t d) const { return x[position * width + d]; }
};

double weighted_mean(const Tokens& tokens, Mode mode, std::size_t d) {
  double sum = 0.0, weights = 0.0;
  for (const std::size_t t : tokens.kept) {
    const double weight = mode == Mode::weighted_mean ? static_cast<double>(t + 1) : 1.0;
    sum += weight * tokens.at(t, d);
    weights += weight;
  }
  return sum / std::max(mode == Mode::mean_sqrt_len ? std::sqrt(weights) : weights, 1e-9);
}

double pooled(const Tokens& tokens, Mode mode, std::size_t d) {
  if (mode == Mode::cls) return tokens.at(0, d);
  if (mode == Mode::last_token) return tokens.kept.empty() ? 0.0 : tokens.at(tokens.kept.back(), d);
  if (mode != Mode::max) return weighted_mean(tokens, mode, d);
  double most = -1e9;  // upstream's value of padding
  for (const std::size_t t : tokens.kept) most = std::max(most, tokens.at(t, d));
  return most;
}

void normalize(float* vector, std::size_t size) {
  double squares = 0.0;
  for (std::size_t i = 0; i < size; ++i) squares += static_cast<double>(vector[i]) * vector[i];
  const double norm = std::max(std::sqrt(squares), 1e-12);
  for (std::size_t i = 0; i < size; ++i) vector[i] = static_cast<float>(vector[i] / norm);
}

std::vector<std::size_t> kept_positions(const std::optional<TensorView>& mask, std::size_t row,
                                        std::size_t length) {
  std::vector<std::size_t> kept;
  const std::uint8_t* flags = mask ? mask->as<std::uint8_t>() + row * length : nullptr;
  for (std::size_t t = 0; t < length; ++t) {
    if (flags == nullptr || flags[t] != 0) kept.push_back(t);
  }
  return kept;
}

}  // namespace

SentencePooling SentencePooling::read(const ReadFile& read_file) {
  SentencePooling pooling;
  const auto text = read_file("modules.json");
  if (!text) return pooling;
  const Json modules = Json::parse(*text, "modules.json", ErrorCode::malformed_config);
  if (!modules.is_array()) fail(ErrorCode::malformed_config, "modules.json: not a JSON array");
  pooling.norm = Norm::none;
  pooling.modes.clear();
  for (const Json& module : modules.array()) {
    const std::string type = text_of(module, "type");
    const std::string kind = type.substr(type.rfind('.') + 1);
    const std::string path = text_of(module, "path"), folder = path.empty() ? "" : path + "/";
    if (kind == "Transformer") {
      read_transformer(pooling, folder, read_file);
    } else if (kind == "Pooling") {
      read_pooling(pooling, folder, read_file);
    } else if (kind == "Normalize") {
      pooling.norm = Norm::unit;
    } else {
      fail(ErrorCode::unsupported, "modules.json: a step of type \"", type,
           "\" is not supported; supported: Transformer, Pooling, Normalize");
    }
  }
  if (pooling.modes.empty()) {
    fail(ErrorCode::malformed_config, "modules.json: there is no step of type Pooling");
  }
  return pooling;
}

Tensor SentencePooling::embed(TensorView x, const std::optional<TensorView>& mask) const {
  if (modes.empty()) fail(ErrorCode::invalid_argument, "pooling: there is no mode");
  const Shape& shape = x.shape();
  if (shape.rank() != 3 || shape[1] == 0) {
    fail(ErrorCode::shape_mismatch, "pooling: hidden states of shape ", shape.text(),
         ", expected [batch, tokens, d_model] with at least one token");
  }
  if (mask && !(mask->shape() == Shape{shape[0], shape[1]})) {
    fail(ErrorCode::shape_mismatch, "pooling: mask of shape ", mask->shape().text(),
         ", hidden states of shape ", shape.text());
  }
  const std::size_t length = shape[1], width = shape[2], size = modes.size() * width;
  Tensor embedding({shape[0], size});  // (B, modes·D)
  for (std::size_t row = 0; row < shape[0]; ++row) {
    const Tokens tokens{x.f32() + row * length * width, kept_positions(mask, row, length), width};
    float* to = embedding.f32() + row * size;
    for (std::size_t i = 0; i < size; ++i) {
      to[i] = static_cast<float>(pooled(tokens, modes[i / width], i % width));
    }
    if (norm == Norm::unit) normalize(to, size);
  }
  return embedding;
}

}  // namespace clearformer
