#include "clearformer/models/generation.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace clearformer {

namespace {

// Positions count the tokens that are no padding; padding itself sits at 0, as upstream has it.
Tensor positions_of(const Shape& shape, const Tensor& mask) {
  Tensor positions(shape, DType::i32);
  auto* position = positions.mutable_view().as<std::int32_t>();
  for (std::size_t row = 0; row < shape[0]; ++row) {
    std::int32_t seen = 0;
    for (std::size_t t = 0; t < shape[1]; ++t) {
      const bool token = mask.empty() || mask.view().as<std::uint8_t>()[row * shape[1] + t] != 0;
      position[row * shape[1] + t] = token ? seen : 0;
      seen += token ? 1 : 0;
    }
  }
  return positions;
}

// The same mask with one more column of ones.
Tensor grown(const Tensor& mask) {
  const std::size_t rows = mask.dim(0), columns = mask.dim(1);
  Tensor larger({rows, columns + 1}, DType::u8);
  auto* to = larger.mutable_view().as<std::uint8_t>();
  const auto* from = mask.view().as<std::uint8_t>();
  for (std::size_t row = 0; row < rows; ++row) {
    std::memcpy(to + row * (columns + 1), from + row * columns, columns);
    to[row * (columns + 1) + columns] = 1;
  }
  return larger;
}

std::size_t new_tokens(const GenerationConfig& config, std::size_t prompt, std::size_t n_ctx) {
  if (!config.max_new_tokens && prompt >= config.max_length) {
    fail(ErrorCode::invalid_argument, "generate: the prompt has ", prompt,
         " tokens, max_length allows ", config.max_length, " in all; set max_new_tokens");
  }
  const std::size_t wanted = config.max_new_tokens.value_or(config.max_length - prompt);
  if (wanted == 0) fail(ErrorCode::invalid_argument, "generate: max_new_tokens must be at least 1");
  if (prompt + wanted > n_ctx) {
    fail(ErrorCode::invalid_argument, "generate: ", prompt, " prompt tokens and ", wanted,
         " new ones exceed the model's ", n_ctx, " positions");
  }
  return wanted;
}

}  // namespace

Generation::Generation(DecoderOnlyModel& model, TensorView prompt, const TensorView* attention_mask,
                       GenerationConfig config)
    : model_(model), config_(std::move(config)), max_new_tokens_(0), cache_(model.make_cache()) {
  if (prompt.shape().rank() != 2 || prompt.elements() == 0) {
    fail(ErrorCode::shape_mismatch, "generate: input_ids of shape ", prompt.shape().text(),
         ", expected [batch, tokens], neither of them 0");
  }
  max_new_tokens_ = new_tokens(config_, prompt.dim(1), model.config().n_ctx);
  input_ = Tensor::copy_of(prompt);
  if (attention_mask != nullptr) {
    if (!(attention_mask->shape() == prompt.shape())) {
      fail(ErrorCode::shape_mismatch, "generate: attention_mask of shape ",
           attention_mask->shape().text(), ", input_ids have ", prompt.shape().text());
    }
    mask_ = Tensor::copy_of(*attention_mask);
    const auto* flags = mask_.view().as<std::uint8_t>();
    for (std::size_t row = 0; row < prompt.dim(0); ++row) {
      if (flags[(row + 1) * prompt.dim(1) - 1] == 0) {
        fail(ErrorCode::invalid_argument, "generate: sequence ", row,
             " ends with padding; pad on the left");
      }
    }
  }
  positions_ = positions_of(prompt.shape(), mask_);
  for (std::size_t row = 0; row < prompt.dim(0); ++row) samplers_.emplace_back(config_.seed + row);
  ended_.assign(prompt.dim(0), false);
}

bool Generation::is_end(std::int32_t token) const {
  const auto& ids = config_.eos_token_ids;
  return std::find(ids.begin(), ids.end(), token) != ids.end();
}

Tensor Generation::forward(Trace* trace) {
  DecoderOnlyModel::Request request;
  const TensorView mask = mask_.view(), positions = positions_.view();
  request.input_ids = input_;
  request.attention_mask = mask_.empty() ? nullptr : &mask;
  request.position_ids = &positions;
  request.cache = &cache_;
  request.logits = DecoderOnlyModel::LogitsOf::last_position;
  return model_.forward(request, trace);
}

void Generation::process(float* scores) const {
  const std::size_t count = model_.config().d_vocab;
  if (made_ < config_.min_new_tokens) {
    for (const std::int32_t id : config_.eos_token_ids) {
      if (static_cast<std::size_t>(id) < count) {
        scores[id] = -std::numeric_limits<float>::infinity();
      }
    }
  }
  if (!config_.do_sample) return;
  apply_temperature(scores, count, static_cast<float>(config_.temperature));
  if (config_.top_k != 0) apply_top_k(scores, count, config_.top_k);
  apply_top_p(scores, count, config_.top_p);
}

Generation::Step Generation::next(Trace* trace) {
  if (done_) fail(ErrorCode::invalid_argument, "generate: this generation is complete");
  const std::size_t batch = input_.dim(0), vocabulary = model_.config().d_vocab;
  Step step;
  step.logits = forward(trace);
  step.logits.reshape({batch, vocabulary});
  step.scores = step.logits.clone();
  Tensor tokens({batch, 1}, DType::i32), positions({batch, 1}, DType::i32);
  const std::size_t length = input_.dim(1);
  bool all_ended = true;
  for (std::size_t row = 0; row < batch; ++row) {
    float* scores = step.scores.f32() + row * vocabulary;
    process(scores);
    std::int32_t token =
        config_.do_sample ? samplers_[row].draw(scores, vocabulary) : largest(scores, vocabulary);
    if (ended_[row]) {
      token = config_.pad_token_id.value_or(config_.eos_token_ids.front());
    } else {
      ended_[row] = is_end(token);
    }
    all_ended = all_ended && ended_[row];
    step.tokens.push_back(token);
    tokens.mutable_view().as<std::int32_t>()[row] = token;
    positions.mutable_view().as<std::int32_t>()[row] =
        positions_.view().as<std::int32_t>()[(row + 1) * length - 1] + 1;
  }
  input_ = std::move(tokens);
  positions_ = std::move(positions);
  if (!mask_.empty()) mask_ = grown(mask_);
  done_ = ++made_ == max_new_tokens_ || all_ended;
  step.done = done_;
  return step;
}

}  // namespace clearformer
