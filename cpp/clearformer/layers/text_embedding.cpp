#include "clearformer/layers/text_embedding.h"

#include <algorithm>
#include <cstring>

#include "clearformer/kernels/elementwise.h"

namespace clearformer {

namespace {

constexpr std::string_view kTextLegend = "batch pos d_model";

// Adds row (T, D) to all sequences of x (B, T, D), or (B, T, D) to x.
void add_rows(const MutableTensorView& x, const TensorView& rows) {
  const std::size_t count = rows.elements();
  for (std::size_t at = 0; at < x.elements(); at += count) {
    kernels::add(x.f32() + at, rows.f32(), x.f32() + at, count);
  }
}

// The sinusoids of the positions `rows` (B, T), zeros at the blank one. Only some architectures have them:
// a function of its own, which the WASM's part of these holds.
[[gnu::noinline]] void take_sinusoids(const TextEmbeddingConfig& config, const TensorView& rows,
                                      const MutableTensorView& encoding) {
  const std::size_t width = config.width();
  const Tensor sinusoids = sinusoidal_encoding(rows, {width, 10000.0, config.layout});
  std::memcpy(encoding.data(), sinusoids.data(), encoding.bytes());
  for (std::size_t i = 0; config.blank_row && i < rows.elements(); ++i) {
    if (rows.as<std::int32_t>()[i] != *config.blank_row) continue;
    std::memset(encoding.f32() + i * width, 0, width * sizeof(float));
  }
}

}  // namespace

TextEmbedding::TextEmbedding(const WeightScope& scope, const TextEmbeddingConfig& config,
                             std::shared_ptr<const Embedding> tokens)
    : config_(config), tokens_(std::move(tokens)) {
  const auto exact = Embedding::Table::exact;
  if (!tokens_) {
    tokens_ = std::make_shared<Embedding>(scope / "embed", config.vocabulary, config.word_width(),
                                          Embedding::Table::words);
  }
  const bool stored = config.positions == TextEmbeddingConfig::Positions::sinusoidal &&
                      config.position_rows != 0 && (scope / "pos_embed").has("weight");
  if (stored || config.positions == TextEmbeddingConfig::Positions::learned) {
    positions_.emplace(scope / "pos_embed", config.position_rows, config.width(), exact);
  }
  if (config.token_types != 0) {
    token_types_.emplace(scope / "token_type_embed", config.token_types, config.width(), exact);
  }
  if (config.norm) norm_.emplace(scope / "embed.ln", *config.norm);
  if (config.projected != TextEmbeddingConfig::Projected::no) {
    projection_.emplace(scope / "embed.proj", config.word_width(), config.d_model,
                        config.projection_bias);
  }
}

// Clears the rows of x (B, T, D) where the mask (B, T) is 0.
void TextEmbedding::clear_rows(const MutableTensorView& x, const TensorView& mask) {
  const std::size_t width = x.dim(2);
  for (std::size_t row = 0; row < mask.elements(); ++row) {
    if (mask.as<std::uint8_t>()[row] == 0) std::fill_n(x.f32() + row * width, width, 0.0f);
  }
}

// Of dropped_id, see the config. The gradient of the rows is made in the same way.
void TextEmbedding::drop_tokens(const Inputs& inputs, const MutableTensorView& rows) const {
  constexpr float kKeptInTraining = 1.0f - 0.15f * 0.8f;
  const std::size_t length = rows.dim(1), width = rows.dim(2);
  for (std::size_t text = 0; text < rows.dim(0); ++text) {
    const std::int32_t* ids = inputs.ids.as<std::int32_t>() + text * length;
    const std::uint8_t* mask =
        inputs.mask == nullptr ? nullptr : inputs.mask->as<std::uint8_t>() + text * length;
    std::size_t dropped = 0, read = 0;
    for (std::size_t t = 0; t < length; ++t) {
      dropped += ids[t] == *config_.dropped_id ? 1 : 0;
      read += mask == nullptr || mask[t] != 0 ? 1 : 0;
    }
    const float share = static_cast<float>(dropped) / static_cast<float>(read);
    const float scale = dropped == read || read == 0 ? 0.0f : kKeptInTraining / (1.0f - share);
    for (std::size_t t = 0; t < length; ++t) {
      float* row = rows.f32() + (text * length + t) * width;
      kernels::scale(row, ids[t] == *config_.dropped_id ? 0.0f : scale, width);
    }
  }
}

void TextEmbedding::forward(const Inputs& inputs, const MutableTensorView& x,
                            const Context& context) const {
  Arena::Frame frame(context.arena);
  MutableTensorView sum = x;
  if (projection_) sum = context.arena.take({x.dim(0), x.dim(1), config_.word_width()});
  const auto project_at = [&](TextEmbeddingConfig::Projected place) {
    if (config_.projected != place) return;
    if (context.trace.keeps_inputs()) context.trace.keep("unprojected", sum);
    projection_->forward(sum, x);
    sum = x;
  };
  const bool given = inputs.embeds != nullptr;
  if (given) {
    std::memcpy(sum.data(), inputs.embeds->data(), sum.bytes());
  } else {
    tokens_->forward(inputs.ids, sum);
  }
  project_at(TextEmbeddingConfig::Projected::words);
  if (config_.scale != 1.0f && (!given || config_.scales_given))
    kernels::scale(sum.f32(), config_.scale, sum.elements());
  if (config_.dropped_id && !given) drop_tokens(inputs, sum);
  context.trace("hook_embed", sum, kTextLegend);
  if (!given || !config_.given_whole) {
    if (config_.norm_first) norm_->forward(sum, sum, context / "embed.ln");
    const bool placed = config_.positions != TextEmbeddingConfig::Positions::none;
    if (placed) add_positions(inputs.positions, sum, context);
    if (token_types_) add_token_types(inputs, sum, context);
    project_at(TextEmbeddingConfig::Projected::before_norm);
    if (norm_ && !config_.norm_first) norm_->forward(sum, sum, context / "embed.ln");
    project_at(TextEmbeddingConfig::Projected::after_norm);
    if (inputs.mask != nullptr) clear_rows(x, *inputs.mask);
  }
  if (has_more()) context.trace("hook_full_embed", x, kTextLegend);
}

MutableTensorView TextEmbedding::position_rows(const TensorView& positions, Arena& arena) const {
  const MutableTensorView rows = arena.take(positions.shape(), DType::i32);
  const std::int32_t offset =
      config_.uncounted_id ? 0 : static_cast<std::int32_t>(config_.position_offset);
  for (std::size_t i = 0; i < rows.elements(); ++i) {
    rows.as<std::int32_t>()[i] = positions.as<std::int32_t>()[i] + offset;
  }
  return rows;
}

TensorView TextEmbedding::type_rows(const Inputs& inputs, const TensorView& x, Arena& arena) const {
  if (inputs.token_types != nullptr) return *inputs.token_types;
  const MutableTensorView zeros = arena.take({x.dim(0), x.dim(1)}, DType::i32);
  std::memset(zeros.data(), 0, zeros.bytes());
  return zeros;
}

void TextEmbedding::add_positions(const TensorView& positions, const MutableTensorView& x,
                                  const Context& context) const {
  Arena::Frame frame(context.arena);
  const MutableTensorView rows = position_rows(positions, context.arena);
  const MutableTensorView encoding =
      context.arena.take({positions.dim(0), positions.dim(1), config_.width()});
  if (positions_) {
    positions_->forward(rows, encoding);
  } else {
    take_sinusoids(config_, rows, encoding);
  }
  context.trace("hook_pos_embed", encoding, kTextLegend);
  add_rows(x, encoding);
}

void TextEmbedding::add_token_types(const Inputs& inputs, const MutableTensorView& x,
                                    const Context& context) const {
  Arena::Frame frame(context.arena);
  const MutableTensorView types = context.arena.take(x.shape());
  token_types_->forward(type_rows(inputs, x, context.arena), types);
  context.trace("hook_token_type_embed", types, kTextLegend);
  kernels::add(x.f32(), types.f32(), x.f32(), x.elements());
}

void TextEmbedding::count_positions(const TensorView& ids, std::size_t past,
                                    const MutableTensorView& positions) const {
  const std::int32_t uncounted = *config_.uncounted_id;
  for (std::size_t row = 0; row < ids.dim(0); ++row) {
    auto next = static_cast<std::int32_t>(past + config_.position_offset);
    for (std::size_t t = 0; t < ids.dim(1); ++t) {
      const bool counted = ids.as<std::int32_t>()[row * ids.dim(1) + t] != uncounted;
      positions.as<std::int32_t>()[row * ids.dim(1) + t] = counted ? next++ : uncounted;
    }
  }
}

}  // namespace clearformer
