#include "clearformer/models/cost.h"

#include <algorithm>

#include "clearformer/layers/waveform_embedding.h"
#include "clearformer/tensor/memory_budget.h"
#include "clearformer/tensor/rotation.h"

namespace clearformer {

namespace {

// Adds what layers without attention keep, and returns their number.
[[gnu::noinline]] std::uint64_t add_past(const StackConfig& stack, CacheBytes& bytes) {
  std::uint64_t layers = 0;
  for (const Mixer mixer : stack.mixers) {
    if (mixer < Mixer::convolution) continue;
    ++layers;
    if (mixer == Mixer::convolution) {
      bytes.per_last_position += stack.convolution->d_model * sizeof(float);
    } else {
      const GatedDeltaConfig& delta = *stack.delta;
      const std::uint64_t state = delta.matrices(1).elements() + delta.inputs(1).elements();
      bytes.per_sequence = bounded_sum(bytes.per_sequence, 2 * state * sizeof(float));
    }
  }
  return layers;
}

}  // namespace

CacheBytes cache_bytes(const ModelConfig& config, CacheFormat format) {
  if (!config.decodes()) return {};
  const StackConfig& stack = config.main().stack;
  const AttentionConfig& attention = stack.block.attention;
  const std::uint64_t heads = attention.num_heads, groups = attention.num_key_value_heads;
  CacheBytes all;
  const std::uint64_t others = stack.convolution || stack.delta ? add_past(stack, all) : 0;
  const std::uint64_t bytes = 2 * (config.n_layers() - others) * bytes_of(format, attention.d_head);
  all.per_position = bytes * (groups == 0 ? heads : groups);
  if (config.kind == ModelKind::encoder_decoder) all.per_source_position = bytes * heads;
  return all;
}

namespace {

std::uint64_t groups_of(const AttentionConfig& attention) {
  const std::size_t groups = attention.num_key_value_heads;
  return groups == 0 ? attention.num_heads : groups;
}

// Floats while attention runs: queries and their results, keys and values, packed once more if they are not packed into a
// cache.
std::uint64_t attention_floats(const AttentionConfig& attention, const PassSize& pass) {
  const std::uint64_t rows = bounded_product(pass.batch, pass.positions);
  const std::uint64_t groups = groups_of(attention), width = attention.d_head;
  const std::uint64_t gates = attention.gated ? attention.num_heads : 0;
  const std::uint64_t own =
      bounded_product(rows, (2 * (attention.num_heads + groups) + gates) * width);
  if (pass.cached) return own;
  const std::uint64_t capacity =
      bounded_product(pass.batch, PackedKeyValues::rounded(pass.positions));
  return bounded_sum(own,
                     bounded_product(capacity, groups * (width + PackedKeyValues::rounded(width))));
}

// Floats while a convolution runs: two gates, the products behind k − 1 rows, the weights and the results; or a delta
// rule: gate, what it convolves behind k − 1 rows, heads, the weights, the state of a call without a cache, and what is
// convolved or the results with β and decays.
[[gnu::noinline]] std::uint64_t mixer_floats(const StackConfig& stack, const PassSize& pass) {
  const std::uint64_t rows = bounded_product(pass.batch, pass.positions);
  const auto behind = [&](std::uint64_t times, std::uint64_t taps) {
    return bounded_sum(bounded_product(rows, times), bounded_product(pass.batch + 1, taps));
  };
  if (stack.convolution) {
    return bounded_product(behind(4, stack.convolution->taps), stack.convolution->d_model);
  }
  const GatedDeltaConfig& delta = *stack.delta;
  const std::uint64_t state = pass.cached ? 0 : delta.matrices(1).elements();
  const std::uint64_t values = delta.value_heads * std::uint64_t{delta.d_value};
  const std::uint64_t results = values + 2 * delta.value_heads + delta.key_heads;
  const std::uint64_t late = std::max<std::uint64_t>(delta.channels(), results);
  return bounded_sum(bounded_sum(bounded_product(behind(2, delta.taps), delta.channels()),
                                 bounded_product(rows, values + late)),
                     bounded_product(pass.batch, state));
}

// Floats while a block runs, beside the residual stream.
std::uint64_t block_floats(const StackConfig& stack, const PassSize& pass) {
  const BlockConfig& block = stack.block;
  const std::uint64_t rows = bounded_product(pass.batch, pass.positions);
  const FeedForwardConfig& transform = block.feed_forward;
  const std::uint64_t experts = transform.router.experts;
  const std::uint64_t hidden = transform.d_hidden * (transform.gate == Gate::present ? 2 : 1) +
                               (experts == 0 ? 0 : 2 * experts + 3 * transform.d_model);
  const bool after = block.order == NormOrder::both || block.order == NormOrder::behind;
  const bool before = block.order == NormOrder::pre || block.order == NormOrder::both;
  const bool changed = block.residual_scale != 1.0f || block.layer_scale == LayerScale::present;
  const bool parallel =
      block.order == NormOrder::parallel || block.order == NormOrder::parallel_two;
  const std::uint64_t copies = parallel ? 3 : (before ? 1 : 0) + (after || changed ? 1 : 0);
  return bounded_sum(bounded_product(rows, copies * block.attention.d_model),
                     std::max({attention_floats(block.attention, pass),
                               stack.convolution || stack.delta ? mixer_floats(stack, pass) : 0,
                               bounded_product(rows, hidden)}));
}

// Floats of a batch while images, audio or samples are embedded.
std::uint64_t embedding_floats(const TowerConfig& tower, const PassSize& pass) {
  const std::uint64_t rows = bounded_product(pass.batch, pass.positions), d_model = tower.d_model();
  if (tower.image) {
    const PatchConfig& patch = tower.image->patch;
    const std::uint64_t pixels = patch.channels * patch.patch_height * patch.patch_width;
    return bounded_sum(bounded_product(rows, d_model), pass.positions * pixels);
  }
  if (tower.waveform) return tower.waveform->floats(pass.batch, pass.positions);
  if (!tower.audio) return 0;
  const std::uint64_t taps = std::max<std::uint64_t>(tower.audio->mel_bins, (d_model + 1) / 2) * 3;
  return bounded_sum(bounded_product(2 * rows, d_model),
                     pass.positions * (2 * taps + d_model));  // two frames a position
}

}  // namespace

std::uint64_t arena_bytes(const TowerConfig& tower, const PassSize& pass) {
  const BlockConfig& block = tower.stack.block;
  const std::uint64_t rows = bounded_product(pass.batch, pass.positions);
  std::uint64_t tables = 1;  // the position
  for (const auto& rotary : {tower.rotary, tower.local_rotary}) {
    if (rotary) tables += rotary->rotary_dim == 0 ? rotary->d_head : rotary->rotary_dim;
  }
  if (tower.image) tables += 4 * tower.image->rotary_pairs;
  const std::uint64_t memory =
      bounded_product(bounded_product(pass.batch, pass.memory),
                      2 * groups_of(block.attention) * block.attention.d_head);
  const std::uint64_t blocks = bounded_sum(block_floats(tower.stack, pass), memory);
  const std::uint64_t floats = bounded_sum(bounded_product(rows, tower.d_model() + tables),
                                           std::max(blocks, embedding_floats(tower, pass)));
  return bounded_product(floats, sizeof(float));
}

std::uint64_t activation_bytes(const TowerConfig& tower, const PassSize& pass) {
  // Biases per query and key: two of disentangled attention.
  const std::uint64_t biases = (tower.relative_table ? 2
                                : tower.relative     ? 1
                                                     : 0) *
                               tower.stack.block.attention.num_heads;
  const std::uint64_t pairs =
      bounded_product(pass.positions, std::uint64_t{pass.past} + pass.positions);
  const std::uint64_t sequences = tower.relative_table ? pass.batch : 1;
  return bounded_sum(arena_bytes(tower, pass),
                     bounded_product(bounded_product(sequences, pairs), biases * sizeof(float)));
}

namespace {

// The tokens of an image or of a recording, or of a text of `positions`.
std::size_t positions_of(const TowerConfig& tower, std::size_t positions) {
  if (tower.image) return tower.image->prefix() + tower.image->grid().patches();
  return tower.audio ? tower.audio->positions : std::min(positions, tower.longest());
}

// The rounded inputs of the widest product of a pass: bytes, a scale and a correction a block. Plain SIMD,
// whose products are of 16-bit integers, takes twice that; what is told is the same everywhere.
std::uint64_t scratch_bytes(const TowerConfig& tower, std::size_t positions, MatrixFormat format) {
  if (!is_quantized(format)) return 0;
  const BlockConfig& block = tower.stack.block;
  const std::size_t widest = std::max({tower.d_model(), block.feed_forward.d_hidden,
                                       block.attention.num_heads * block.attention.d_head});
  constexpr std::size_t kBlockBytes = kBlock + 2 * sizeof(float);
  return bounded_product(positions, std::uint64_t{(widest + kBlock - 1) / kBlock} * kBlockBytes);
}

}  // namespace

std::uint64_t call_bytes(const ModelConfig& config, std::size_t positions, MatrixFormat format) {
  constexpr std::size_t kAhead = 256, kWritten = 128;  // see KeyValueCache
  const CacheBytes cache = cache_bytes(config);
  const bool generates = cache.any(), reads_source = cache.per_source_position != 0;
  const std::size_t read = positions_of(config.tower, positions);
  const auto of = [&](const TowerConfig& tower, const PassSize& pass) {
    return bounded_sum(activation_bytes(tower, pass), scratch_bytes(tower, pass.positions, format));
  };
  std::uint64_t pass =
      of(config.tower, {{}, 1, read, 0, 0, config.kind == ModelKind::decoder_only && generates});
  if (config.second) {
    const bool encodes = config.kind == ModelKind::encoder_decoder;
    const std::size_t written = reads_source ? 1 : positions_of(*config.second, positions);
    pass = std::max(pass, of(*config.second, {{}, 1, written, 0, encodes ? read : 0, generates}));
  }
  const std::uint64_t vocabulary = config.d_vocab(), d_model = config.d_model();
  const std::uint64_t outputs =
      generates ? 2 * vocabulary
                : bounded_product(read, config.task == Task::masked_lm ? vocabulary : d_model);
  const std::size_t held = std::min(reads_source ? kWritten : read + kAhead, config.longest());
  const std::uint64_t kept = bounded_sum(
      bounded_sum(bounded_product(held, cache.per_position), cache.per_sequence),
      bounded_product(read, bounded_sum(cache.per_source_position, cache.per_last_position)));
  return bounded_sum(bounded_sum(pass, kept), bounded_product(outputs, sizeof(float)));
}

}  // namespace clearformer
