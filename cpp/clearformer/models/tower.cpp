#include "clearformer/models/tower.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "clearformer/layers/waveform_embedding.h"
#include "clearformer/models/cost.h"
#include "clearformer/tensor/thread_pool.h"

namespace clearformer {

namespace {

// Reshapes (B, S) to `shape`, which broadcasts to (B, H, T, S).
Mask padding_mask(const TensorView& given, const Shape& shape) {
  const std::uint8_t* first = given.as<std::uint8_t>();
  if (std::find(first, first + given.elements(), 0) == first + given.elements()) return {};
  return Mask::allow(Tensor::copy_of(given.reshaped(shape)));
}

Mask padding_mask(const TensorView& given) {
  return padding_mask(given, {given.dim(0), 1, 1, given.dim(1)});
}

std::string under(std::string_view prefix, std::string_view name) {
  return prefix.empty() ? std::string(name) : concat(prefix, ".", name);
}

}  // namespace

Tower::Tower(const WeightScope& scope, const TowerConfig& config, std::string what,
             std::shared_ptr<const Embedding> tokens)
    : config_(config), what_(std::move(what)) {
  if (config.text) text_.emplace(scope, *config.text, std::move(tokens));
  if (config.image) image_ = ImageEmbedding::made(scope, *config.image);
  if (config.audio) audio_ = AudioEmbedding::made(scope, *config.audio);
  if (config.waveform) waveform_ = WaveformEmbedding::made(scope, *config.waveform);
  if (config.cross_attention) {
    decoder_.emplace(scope, config.stack);
  } else {
    encoder_.emplace(scope, config.stack);
  }
  if (config.d_out != 0) {
    project_out_.emplace(scope / "project_out", config.d_model(), config.d_out, Bias::none);
  }
  if (config.relative) {
    relative_bias_ =
        (scope / "relative")
            .take("weight", {config.relative->num_buckets, config.stack.block.attention.num_heads});
  }
  if (config.relative_table) relative_table_.emplace(scope / "relative", *config.relative_table);
}

std::size_t Tower::past_of(const TowerInputs& inputs) {
  return inputs.cache == nullptr ? 0 : inputs.cache->length();
}

PassSize Tower::size(std::string_view scope, const TowerInputs& inputs) const {
  const Shape shape = output_shape(inputs);
  return {scope, shape[0], shape[1], past_of(inputs), 0, inputs.cache != nullptr};
}

MutableTensorView Tower::finished(const TensorView& residual, bool normalize, Arena& arena) const {
  const Shape& shape = residual.shape();
  if (shape.rank() != 3 || shape[2] != config_.d_model() || shape.elements() == 0) {
    fail(ErrorCode::shape_mismatch, what_, ": a residual stream of shape ", shape.text(),
         ", expected [batch, positions, ", config_.d_model(), "]");
  }
  const MutableTensorView x = arena.take(shape);
  std::memcpy(x.data(), residual.f32(), x.bytes());
  if (normalize) finish(x, {arena, TraceScope()});
  return projected(x, {arena, TraceScope()});
}

MutableTensorView Tower::projected(const MutableTensorView& x, const Context& context) const {
  if (!project_out_) return x;
  const MutableTensorView out = context.arena.take({x.dim(0), x.dim(1), config_.d_out});
  project_out_->forward(x, out);
  (context / "project_out").trace("hook_out", out, "batch pos d_out");
  return out;
}

void Tower::finish(const MutableTensorView& x, const Context& context) const {
  decoder_ ? decoder_->finish(x, context) : encoder_->finish(x, context);
}

const Normalization* Tower::final_norm() const {
  return decoder_ ? decoder_->final_norm() : encoder_->final_norm();
}

const MultiHeadAttention& Tower::attention(std::size_t layer, KeyRole role) const {
  if (decoder_) return decoder_->block(layer).attention(role);
  const MultiHeadAttention* const attention = encoder_->block(layer).attention();
  if (attention == nullptr) {
    fail(ErrorCode::unsupported, "layer ", layer, " has no attention");
  }
  return *attention;
}

void Tower::prepare_rotary() {
  if (config_.rotary) rotary_.emplace(*config_.rotary);
  if (config_.local_rotary) local_rotary_.emplace(*config_.local_rotary);
}

void Tower::embed(const TowerInputs& inputs, const MutableTensorView& x,
                  const Context& context) const {
  if (image_) return image_->forward(*inputs.images, x, context);
  if (audio_) return audio_->forward(*inputs.features, x, context);
  if (waveform_) {
    const TensorView* mask = inputs.attention_mask ? &*inputs.attention_mask : nullptr;
    return waveform_->forward(*inputs.samples, mask, x, context);
  }
  Arena::Frame frame(context.arena);
  text_->forward(text_inputs(inputs, context.arena), x, context);
}

TextEmbedding::Inputs Tower::text_inputs(const TowerInputs& inputs, Arena& arena) const {
  TextEmbedding::Inputs text;
  if (inputs.ids) text.ids = *inputs.ids;
  if (inputs.embeds) text.embeds = &*inputs.embeds;
  if (inputs.token_types) text.token_types = &*inputs.token_types;
  text.positions = positions(inputs, past_of(inputs), arena);
  if (config_.text->clears_padding && inputs.attention_mask) text.mask = &*inputs.attention_mask;
  return text;
}

StackState Tower::state(const TowerInputs& inputs) const {
  StackState state;
  const std::size_t past = past_of(inputs);
  if (config_.attends == TowerConfig::Attends::to_the_past) state.mask = Mask::causal(past);
  if (inputs.attention_mask) {
    const TensorView& given = *inputs.attention_mask;
    state.mask = state.mask & padding_mask(given);
    if (config_.isolates_padding) {
      state.mask = state.mask & padding_mask(given, {given.dim(0), 1, given.dim(1), 1});
    }
  }
  if (config_.relative) {
    const std::size_t length = tokens_shape(inputs)[1];
    state.mask =
        state.mask & Mask::additive(relative_position_bias(relative_bias_, *config_.relative,
                                                           {length, past + length, past}));
  }
  if (config_.alibi) {
    const TensorView* mask = inputs.attention_mask ? &*inputs.attention_mask : nullptr;
    state.mask = state.mask & Mask::additive(alibi_key_bias(*config_.alibi,
                                                            config_.stack.block.attention.num_heads,
                                                            past + tokens_shape(inputs)[1], mask));
  }
  state.local_mask = state.mask & Mask::window(past, config_.window_before, config_.window_after);
  if (inputs.memory_mask) state.cross_mask = padding_mask(*inputs.memory_mask);
  if (inputs.attention_mask) state.padding = &*inputs.attention_mask;
  state.cache = inputs.cache;
  return state;
}

std::vector<std::string> Tower::hidden_state_hooks(std::string_view prefix) const {
  std::vector<std::string> hooks;
  const StackConfig& stack = config_.stack;
  for (std::size_t layer = 0; layer < stack.layers; ++layer) {
    hooks.push_back(under(prefix, concat(stack.block_scope(layer), ".hook_resid_pre")));
  }
  const bool normalized = stack.final_norm == FinalNorm::present &&
                          config_.last_hidden == TowerConfig::LastHidden::normalized;
  if (config_.d_out != 0) {
    hooks.push_back(under(prefix, "project_out.hook_out"));
  } else if (normalized) {
    hooks.push_back(under(prefix, "ln_final.hook_out"));
  } else {
    const bool post = stack.block.order == NormOrder::post;
    hooks.push_back(under(prefix, concat(stack.block_scope(stack.layers - 1), ".hook_",
                                         post ? "normalized_" : "", "resid_post")));
  }
  return hooks;
}

std::vector<std::string> Tower::attention_hooks(std::string_view prefix,
                                                std::string_view attention) const {
  std::vector<std::string> hooks;
  for (std::size_t layer = 0; layer < config_.stack.layers; ++layer) {
    if (!config_.stack.attends(layer)) continue;
    hooks.push_back(
        under(prefix, concat(config_.stack.block_scope(layer), ".", attention, ".hook_pattern")));
  }
  return hooks;
}

TowerRun::TowerRun(const Tower& tower, TowerInputs inputs, const Context& context)
    : tower_(tower),
      inputs_(inputs),
      context_{context.arena, context.trace.after(Tower::past_of(inputs_))},
      frames_(context.arena.frames()),
      x_(begin(tower, inputs_, context.arena)),
      first_(inputs_.residual ? inputs_.start_at_layer : 0) {
  const std::size_t layers = tower.config().stack.layers;
  const std::size_t stop = inputs_.stop_at_layer.value_or(layers);
  if (stop > layers) {
    fail(ErrorCode::invalid_argument, "stop_at_layer: ", stop, " of ", layers, " layers");
  }
  if (inputs_.start_at_layer > stop) {
    fail(ErrorCode::invalid_argument, "start_at_layer: ", inputs_.start_at_layer,
         ", but the pass ends before layer ", stop);
  }
  state_ = tower.state(inputs_);
  if (const Gradient* gradient = context.trace.gradient()) {
    d_ = context.arena.take(x_.shape());
    std::memset(d_.data(), 0, d_.bytes());
    kept_.resize(layers + 1);
    from_ = first_sought(context.trace.path(), gradient->places(), tower.config().stack);
    from_ = std::max(from_, first_);
    if (tower.waveform_ && from_ == 0) refuse_samples();
  }
  if (tower.text_) turn(tower.positions(inputs_, Tower::past_of(inputs_), context.arena));
  if (tower_.image_ || tower_.relative_table_) place(x_.dim(1));
  if (context.trace.gradient() != nullptr) sum_positions();
}

// The residual stream, at the beginning of the memory that the pass will take.
MutableTensorView TowerRun::begin(const Tower& tower, const TowerInputs& inputs, Arena& arena) {
  constexpr std::size_t kSmall = std::size_t{64} * 1024;  // scores of a block, alignment
  PassSize pass = tower.size({}, inputs);
  const bool projects = inputs.memory.data() != nullptr;
  if (projects) pass.memory = inputs.memory.dim(1);
  const std::uint64_t bytes = arena_bytes(tower.config(), pass) + (1 + num_threads()) * kSmall;
  if (bytes <= std::numeric_limits<std::size_t>::max())
    arena.reserve(static_cast<std::size_t>(bytes));
  return arena.take({pass.batch, pass.positions, tower.config().d_model()});
}

void TowerRun::place(std::size_t length) {
  if (tower_.image_) return place_patches(length);
  relative_ = tower_.relative_table_->positions(length, context_.arena);
  state_.relative = &relative_;
}

void TowerRun::place_patches(std::size_t length) {
  const ImageEmbedding& image = *tower_.image_;
  if (image.config().rotary_pairs == 0) return;
  Grid grid;  // a probe has none
  if (inputs_.images || inputs_.residual)
    grid = image.grid(inputs_.images ? &*inputs_.images : nullptr);
  const std::size_t expected = image.config().prefix() + grid.patches();
  if (inputs_.residual && length != expected) {
    fail(ErrorCode::shape_mismatch, "residual has ", length, " positions, ",
         inputs_.images ? "pixel_values" : "an image of the config's size", " ", expected,
         "; pixel_values beside it tell where the patches of other images are");
  }
  rotary_ = image.turns(grid, length, context_.arena);
  state_.rotary = &rotary_;
}

void TowerRun::turn(const TensorView& positions) {
  if (tower_.rotary_) {
    rotary_ = tower_.rotary_->table(positions, context_.arena);
    state_.rotary = state_.local_rotary = &rotary_;
  }
  if (tower_.local_rotary_) {
    local_rotary_ = tower_.local_rotary_->table(positions, context_.arena);
    state_.local_rotary = &local_rotary_;
  }
}

TowerRun::TowerRun(const Tower& tower, Probe, const Context& context)
    : tower_(tower),
      context_(context),
      frames_(context.arena.frames()),
      x_(context.arena.take({1, 1, tower.config().d_model()})) {
  std::memset(x_.data(), 0, x_.bytes());
  if (tower.config_.cross_attention) inputs_.memory = x_;
  const MutableTensorView position = context.arena.take({1, 1}, DType::i32);
  *position.as<std::int32_t>() = 0;
  turn(position);
  if (tower.image_ || tower.relative_table_) place(1);
  if (tower.text_) {
    TextEmbedding::Inputs text;
    text.ids = text.positions = position;
    tower.text_->forward(text, x_, context);
  } else if (tower.image_) {
    tower.image_->probe(x_, context);
  } else if (tower.audio_) {
    tower.audio_->probe(x_, context);
  } else {
    tower.waveform_->probe(x_, context);
  }
  next_ = 1;
  kept_.resize(tower.config_.stack.layers + 1);
}

void TowerRun::run_layer(std::size_t layer) {
  if (tower_.decoder_) {
    tower_.decoder_->forward_layer(layer, x_, inputs_.memory, state_, context_);
  } else {
    tower_.encoder_->forward_layer(layer, x_, state_, context_);
  }
}

void TowerRun::expect_alone() const {
  if (context_.arena.frames() == frames_) return;
  fail(ErrorCode::invalid_argument, tower_.what_,
       ": another pass of this model has begun before this one was complete");
}

bool TowerRun::step() {
  expect_alone();
  if (complete_) fail(ErrorCode::invalid_argument, tower_.what_, ": this pass is complete");
  const std::size_t layers = tower_.config_.stack.layers;
  const bool whole = !inputs_.stop_at_layer;
  if (Gradient* gradient = context_.trace.gradient()) begin_step(*gradient);
  if (next_ > first_) {
    run_layer(next_ - 1);
  } else if (inputs_.residual) {
    std::memcpy(x_.data(), inputs_.residual->data(), x_.bytes());
  } else {
    tower_.embed(inputs_, x_, context_);
  }
  if (whole && next_ == layers) tower_.finish(x_, context_);
  complete_ = next_++ == (whole ? layers : *inputs_.stop_at_layer);
  return !complete_;
}

}  // namespace clearformer
