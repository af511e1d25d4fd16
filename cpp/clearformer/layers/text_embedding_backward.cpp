
#include "clearformer/kernels/elementwise.h"
#include "clearformer/layers/text_embedding.h"

namespace clearformer {

namespace {

constexpr std::string_view kTextGradient = "batch pos d_model";

}  // namespace

// d of what the projection at `place` returned becomes that of what it was given.
MutableTensorView TextEmbedding::project_back(TextEmbeddingConfig::Projected place,
                                              const MutableTensorView& d,
                                              const Context& context) const {
  if (config_.projected != place) return d;
  const MutableTensorView before = context.arena.take({d.dim(0), d.dim(1), config_.word_width()});
  WeightGradients* const weights = context.trace.weights();
  const TensorView in = weights == nullptr ? TensorView() : context.trace.kept("unprojected");
  projection_->backward(in, d, before, Write::over, weights, context.arena);
  return before;
}

void TextEmbedding::positions_back(const TensorView& positions, const MutableTensorView& d,
                                   const Context& context) const {
  Arena::Frame frame(context.arena);
  MutableTensorView rows = d;
  if (positions.dim(0) != d.dim(0)) {  // the same for all sequences
    rows = context.arena.take({1, d.dim(1), d.dim(2)});
    std::memset(rows.data(), 0, rows.bytes());
    for (std::size_t at = 0; at < d.elements(); at += rows.elements()) {
      kernels::add(rows.f32(), d.f32() + at, rows.f32(), rows.elements());
    }
  } else if (context.trace.changes_back("hook_pos_embed")) {
    rows = context.arena.take_copy(d);
  }
  context.trace.back("hook_pos_embed", rows, kTextGradient);
  if (!positions_) return;
  positions_->backward(position_rows(positions, context.arena), rows, context.trace.weights(),
                       config_.uncounted_id);
}

void TextEmbedding::token_types_back(const Inputs& inputs, const MutableTensorView& d,
                                     const Context& context) const {
  Arena::Frame frame(context.arena);
  MutableTensorView types = d;
  if (context.trace.changes_back("hook_token_type_embed")) types = context.arena.take_copy(d);
  context.trace.back("hook_token_type_embed", types, kTextGradient);
  token_types_->backward(type_rows(inputs, d, context.arena), types, context.trace.weights());
}

void TextEmbedding::backward(const Inputs& inputs, const MutableTensorView& d,
                             const Context& context) const {
  using Projected = TextEmbeddingConfig::Projected;
  Arena::Frame frame(context.arena);
  if (has_more()) context.trace.back("hook_full_embed", d, kTextGradient);
  const bool given = inputs.embeds != nullptr;
  MutableTensorView sum = d;
  if (!given || !config_.given_whole) {
    if (inputs.mask != nullptr) clear_rows(d, *inputs.mask);
    sum = project_back(Projected::after_norm, d, context);
    if (norm_ && !config_.norm_first) norm_->backward(sum, sum, Write::over, context / "embed.ln");
    sum = project_back(Projected::before_norm, sum, context);
    if (token_types_) token_types_back(inputs, sum, context);
    if (config_.positions != TextEmbeddingConfig::Positions::none) {
      positions_back(inputs.positions, sum, context);
    }
    if (config_.norm_first) norm_->backward(sum, sum, Write::over, context / "embed.ln");
  }
  context.trace.back("hook_embed", sum, kTextGradient);
  // The gradient of what can be given in place of the tokens' rows, which is mostly not scaled.
  const bool late = !config_.scales_given && config_.projected != Projected::words;
  const auto scale_back = [&] {
    if (config_.scale == 1.0f || (given && !config_.scales_given)) return;
    kernels::scale(sum.f32(), config_.scale, sum.elements());
  };
  if (!late) scale_back();
  sum = project_back(Projected::words, sum, context);
  context.trace.back("inputs_embeds", sum, kTextGradient);
  if (late) scale_back();
  if (given) return;
  if (config_.dropped_id) drop_tokens(inputs, sum);
  tokens_->backward(inputs.ids, sum, context.trace.weights(), config_.padding_id);
}

}  // namespace clearformer
