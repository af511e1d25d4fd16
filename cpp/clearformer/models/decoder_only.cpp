#include "clearformer/models/decoder_only.h"

#include <cstring>

#include "clearformer/models/pretrained_folder.h"

namespace clearformer {

namespace {

Embedding::Table table_of(const ModelConfig& config) {
  return config.tied ? Embedding::Table::shared_with_output : Embedding::Table::own;
}

OutputLayer output_layer(const ModelConfig& config, const WeightScope& scope,
                         const Embedding& embedding) {
  return config.tied ? OutputLayer(embedding)
                     : OutputLayer(scope / "unembed", config.d_model, config.d_vocab);
}

// Made once all weights are there in the config's shapes: its sizes are not absurd then.
RotaryEmbedding rotary_embedding(const ModelConfig& config, const Weights& weights) {
  weights.check(Weights::Unexpected::keep);
  return RotaryEmbedding(config.rotary);
}

}  // namespace

DecoderOnlyModel::DecoderOnlyModel(ModelConfig config, const Weights& weights,
                                   const WeightScope& scope)
    : config_(std::move(config)),
      embedding_(scope / "embed", config_.d_vocab, config_.d_model, table_of(config_)),
      blocks_(scope, {config_.block, config_.n_layers, FinalNorm::present}),
      output_(output_layer(config_, scope, embedding_)),
      rotary_(rotary_embedding(config_, weights)) {}

DecoderOnlyModel DecoderOnlyModel::load(Weights weights, std::string_view config_text,
                                        std::string config_file) {
  const ConfigReader reader(config_text, std::move(config_file));
  const Architecture& architecture = architecture_of(reader);
  const NameMap names = architecture.names(weights);
  DecoderOnlyModel model(architecture.read_config(reader), weights, WeightScope(weights, names));
  model.unexpected_ = weights.unused();
  return model;
}

DecoderOnlyModel DecoderOnlyModel::from_pretrained(const std::string& folder) {
  PretrainedFolder checkpoint = PretrainedFolder::read(folder);
  return load(std::move(checkpoint.weights), checkpoint.config);
}

void DecoderOnlyModel::check(const Request& request, std::size_t past) const {
  const Shape& ids = request.input_ids.shape();
  if (ids.rank() != 2 || ids.elements() == 0) {
    fail(ErrorCode::shape_mismatch, "forward: input_ids of shape ", ids.text(),
         ", expected [batch, tokens], neither of them 0");
  }
  const std::size_t total = past + ids[1];
  if (total > config_.n_ctx) {
    fail(ErrorCode::invalid_argument, "forward: ", past, " past and ", ids[1],
         " new tokens exceed the model's ", config_.n_ctx, " positions");
  }
  const Shape full{ids[0], total};
  if (request.attention_mask != nullptr && !(request.attention_mask->shape() == full)) {
    fail(ErrorCode::shape_mismatch, "forward: attention_mask of shape ",
         request.attention_mask->shape().text(), ", expected ", full.text(),
         " (batch, past and new tokens)");
  }
  if (request.position_ids != nullptr && !(request.position_ids->shape() == ids)) {
    fail(ErrorCode::shape_mismatch, "forward: position_ids of shape ",
         request.position_ids->shape().text(), ", input_ids have ", ids.text());
  }
  if (past != 0 && request.cache->batch() != ids[0]) {
    fail(ErrorCode::shape_mismatch, "forward: past_key_values hold ", request.cache->batch(),
         " sequences, input_ids have ", ids[0]);
  }
}

Mask DecoderOnlyModel::mask(const Request& request, std::size_t past) const {
  const Mask causal = Mask::causal(past);
  if (request.attention_mask == nullptr) return causal;
  const TensorView& given = *request.attention_mask;
  return causal & Mask::allow(Tensor::copy_of(given.reshaped({given.dim(0), 1, 1, given.dim(1)})));
}

TensorView DecoderOnlyModel::positions(const Request& request, std::size_t past) {
  if (request.position_ids != nullptr) return *request.position_ids;
  const std::size_t batch = request.input_ids.dim(0), length = request.input_ids.dim(1);
  const MutableTensorView ids = arena_->take({batch, length}, DType::i32);
  for (std::size_t row = 0; row < batch; ++row) {
    for (std::size_t t = 0; t < length; ++t) {
      ids.as<std::int32_t>()[row * length + t] = static_cast<std::int32_t>(past + t);
    }
  }
  return ids;
}

Tensor DecoderOnlyModel::forward(const Request& request, Trace* trace) {
  const std::size_t past = request.cache == nullptr ? 0 : request.cache->length();
  check(request, past);
  try {
    return run(request, past, trace);
  } catch (...) {  // some layers may have stored their keys, others not
    if (request.cache != nullptr) request.cache->crop(past);
    throw;
  }
}

Tensor DecoderOnlyModel::run(const Request& request, std::size_t past, Trace* trace) {
  const std::size_t batch = request.input_ids.dim(0), length = request.input_ids.dim(1);
  Arena::Frame frame(*arena_);
  const Context context{*arena_, TraceScope(trace)};
  const MutableTensorView x = arena_->take({batch, length, config_.d_model});
  embedding_.forward(request.input_ids, x);
  context.trace("hook_embed", x, "batch pos d_model");
  const RotaryTable rotary = rotary_.table(positions(request, past), *arena_);
  blocks_.forward(x, mask(request, past), &rotary, request.cache, context);
  if (request.logits == LogitsOf::all_positions) {
    Tensor logits({batch, length, config_.d_vocab});
    output_.forward(x, logits);
    return logits;
  }
  const MutableTensorView last = arena_->take({batch, 1, config_.d_model});
  for (std::size_t row = 0; row < batch; ++row) {
    std::memcpy(last.f32() + row * config_.d_model,
                x.f32() + ((row + 1) * length - 1) * config_.d_model,
                config_.d_model * sizeof(float));
  }
  Tensor logits({batch, 1, config_.d_vocab});
  output_.forward(last, logits);
  return logits;
}

}  // namespace clearformer
