// What a tower is given: its shape, whether it fits the model, and the positions of a text's tokens.

#include <algorithm>
#include <cstring>

#include "clearformer/layers/waveform_embedding.h"
#include "clearformer/models/tower.h"

namespace clearformer {

namespace {

// The number of unmasked positions (of B, S) up to each of the last ones (B, T), minus one; -1 for masked ones.
[[gnu::noinline]] void count_unmasked(const TensorView& mask, const MutableTensorView& positions) {
  const std::size_t keys = mask.dim(1), length = positions.dim(1), past = keys - length;
  auto* to = positions.as<std::int32_t>();
  for (std::size_t row = 0; row < mask.dim(0); ++row) {
    const std::uint8_t* flags = mask.as<std::uint8_t>() + row * keys;
    std::int32_t count = 0;
    for (std::size_t t = 0; t < keys; ++t) {
      count += flags[t] != 0 ? 1 : 0;
      if (t >= past) *to++ = flags[t] != 0 ? count - 1 : -1;
    }
  }
}

}  // namespace

// (B, T) of a text's tokens, which are given as ids, as embeddings or as a residual stream.
Shape Tower::tokens_shape(const TowerInputs& inputs) const {
  const bool given = inputs.embeds.has_value();
  if (inputs.ids) {
    const Shape& ids = inputs.ids->shape();
    if (ids.rank() == 2 && ids.elements() != 0) return ids;
    fail(ErrorCode::shape_mismatch, what_, ": ", side(), "input_ids of shape ", ids.text(),
         ", expected [batch, tokens], neither of them 0");
  }
  const Shape& shape = given ? inputs.embeds->shape() : inputs.residual->shape();
  const std::size_t width = given ? config_.text->word_width() : config_.d_model();
  if (shape.rank() != 3 || shape[2] != width || shape.elements() == 0) {
    fail(ErrorCode::shape_mismatch, what_, ": ", given ? side() : "",
         given ? "inputs_embeds" : "residual", " of shape ", shape.text(),
         ", expected [batch, positions, ", width, "]");
  }
  return {shape[0], shape[1]};
}

// There are not more positions than the model has: those given if it reads them, else all tokens', as always in a cache.
void Tower::expect_room(const TowerInputs& inputs, std::size_t tokens) const {
  const std::size_t past = past_of(inputs), longest = config_.longest();
  const bool placed = inputs.positions && config_.reads_positions();
  const bool counted = !placed || inputs.cache != nullptr;
  if (past + tokens > (counted ? longest : std::max(longest, TowerConfig::kMost))) {
    fail(ErrorCode::invalid_argument, what_, ": ", past, " past and ", tokens,
         " new tokens exceed the model's ", longest, " positions");
  }
  if (!placed || longest == TowerConfig::kMost) return;
  const std::size_t first = config_.text->uncounted_id ? config_.text->position_offset : 0;
  const auto* position = inputs.positions->as<std::int32_t>();
  const std::int32_t last = *std::max_element(position, position + inputs.positions->elements());
  if (last < 0 || static_cast<std::size_t>(last) < first + longest) return;
  fail(ErrorCode::invalid_argument, what_, ": ", side(), "position_ids reach ", last,
       ", the model has ", longest, " positions from ", first, " on");
}

Shape Tower::output_shape(const TowerInputs& inputs) const {
  if (!text_ && inputs.residual) {
    const Shape rows = tokens_shape(inputs);
    return {rows[0], rows[1], config_.d_model()};
  }
  if (image_) return image_->output_shape(inputs.images->shape(), inputs.interpolate);
  if (audio_) return audio_->output_shape(inputs.features->shape());
  if (waveform_) return waveform_->output_shape(inputs.samples->shape());
  const Shape ids = tokens_shape(inputs);
  const std::size_t past = past_of(inputs), total = past + ids[1];
  if (past != 0 && inputs.cache->batch() != ids[0]) {
    fail(ErrorCode::shape_mismatch, what_, ": past_key_values hold ", inputs.cache->batch(),
         " sequences, ", side(), "input_ids have ", ids[0]);
  }
  const auto expect = [&](const char* name, const std::optional<TensorView>& given,
                          const Shape& expected, const char* axes) {
    if (!given || given->shape() == expected) return;
    fail(ErrorCode::shape_mismatch, what_, ": ", side(), name, " of shape ", given->shape().text(),
         ", expected ", expected.text(), axes);
  };
  expect("attention_mask", inputs.attention_mask, {ids[0], total}, " (batch, past and new tokens)");
  const bool shared = inputs.positions && inputs.positions->shape() == Shape{1, ids[1]};
  if (!shared) expect("position_ids", inputs.positions, ids, " as input_ids");
  expect("token_type_ids", inputs.token_types, ids, " as input_ids");
  expect_room(inputs, ids[1]);
  return {ids[0], ids[1], config_.d_model()};
}

Tensor Tower::frame_mask(TowerInputs& inputs) const {
  if (!waveform_ || !inputs.attention_mask) return {};
  Tensor mask = waveform_->frame_mask(*inputs.attention_mask, output_shape(inputs));
  inputs.attention_mask = mask.view();
  return mask;
}

MutableTensorView Tower::positions(const TowerInputs& inputs, std::size_t past,
                                   Arena& arena) const {
  const Shape shape = tokens_shape(inputs);
  const MutableTensorView positions = arena.take(shape, DType::i32);
  if (inputs.positions) {
    const std::size_t bytes = inputs.positions->bytes();  // of one row for all, or of all
    for (std::size_t at = 0; at < positions.bytes(); at += bytes) {
      std::memcpy(static_cast<char*>(positions.data()) + at, inputs.positions->data(), bytes);
    }
  } else if (config_.text->uncounted_id && inputs.ids) {
    text_->count_positions(*inputs.ids, past, positions);
  } else if (config_.text->counts_unmasked && inputs.attention_mask) {
    count_unmasked(*inputs.attention_mask, positions);
  } else {
    // Embeddings do not tell which tokens are uncounted: all of them count.
    const std::size_t first =
        past + (config_.text->uncounted_id ? config_.text->position_offset : 0);
    for (std::size_t i = 0; i < positions.elements(); ++i) {
      positions.as<std::int32_t>()[i] = static_cast<std::int32_t>(first + i % shape[1]);
    }
  }
  return positions;
}

}  // namespace clearformer
